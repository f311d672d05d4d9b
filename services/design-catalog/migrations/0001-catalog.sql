-- The designs of all users and, kept on write, one summary for each Event (R22): the event list costs what it
-- returns, however many designs there are. Then what the feed needs: revisions, resume points, an audit log.
-- A database that was made by another text of this file is refused.

-- Collation "C": order and equality by bytes, the same on every machine and after every upgrade of its C library.
create table designs (
  owner text collate "C" not null check (octet_length(owner) between 1 and 255),  -- the user's sub
  id text collate "C" not null check (octet_length(id) between 1 and 512),
  -- Texts are bounded in characters (R23).
  local_id text check (char_length(local_id) <= 1000),
  -- The stored identifier; '' counts as none (R22). The bound is that of event.ts (R20).
  event_id text collate "C" check (octet_length(event_id) <= 512),
  title text not null default '' check (char_length(title) <= 1000),
  event_name text not null default '' check (char_length(event_name) <= 1000),
  short_descr text not null default '' check (char_length(short_descr) <= 2000),
  author_name text check (char_length(author_name) <= 1000),
  -- Years 1 to 9999, so that every time has one ISO 8601 form (R23).
  event_date timestamptz check (event_date >= '0001-01-01 00:00Z' and event_date < '10000-01-01 00:00Z'),
  updated_at timestamptz check (updated_at >= '0001-01-01 00:00Z' and updated_at < '10000-01-01 00:00Z'),
  deleted_at timestamptz,
  -- Given by the platform. 0: not written by the feed; every change of the feed is later.
  revision numeric(20) not null default 0 check (revision between 0 and 18446744073709551615),
  primary key (owner, id)
);

-- The 500 of an Event in their order (R23), and an Event's summary from the index alone but for its name.
-- Texts are not included: an index row must stay below 2,704 bytes.
create index designs_by_event on designs (owner, event_id, updated_at desc nulls last, id)
  include (event_date)
  where deleted_at is null and event_id <> '';

-- ISO 8601, UTC, `Z` and milliseconds, finer parts cut off, in JSON's quotes (R23). The formats used here and
-- in event_json depend on no setting, hence immutable.
create function json_time(moment timestamptz) returns text
language sql immutable parallel safe
return coalesce(to_char(moment at time zone 'UTC', '"\""YYYY-MM-DD"T"HH24:MI:SS.MS"Z\""'), 'null');

-- An EventSummary as partners read it (specification §2). No other place knows this form; the public id is
-- base64url of the stored identifier (R22).
create function event_json(event_id text, name text, start_date timestamptz, end_date timestamptz,
  updated_at timestamptz, design_count integer) returns text
language sql immutable parallel safe
return '{"id":"' || translate(encode(convert_to(event_id, 'UTF8'), 'base64'), E'+/=\n', '-_')
  || '","name":' || to_json(name)
  || ',"startDate":' || json_time(start_date)
  || ',"endDate":' || json_time(end_date)
  || ',"updatedAt":' || json_time(updated_at)
  || ',"designCount":' || design_count || '}';

-- Written by the triggers below and by nobody else; exact at every commit. No index in the order of the list:
-- sorting 2,000 of these rows takes less than 1 ms, and with two indexes that begin with `owner` the planner may
-- read one Event through all of an owner's.
create table event_summaries (
  owner text collate "C" not null,
  event_id text collate "C" not null,
  name text not null default '',              -- of the design updated last
  start_date timestamptz,
  end_date timestamptz,
  updated_at timestamptz,
  design_count integer not null default 0,    -- the true count, not capped (R22)
  -- Crosses the wire as it stands here.
  public_json text not null generated always as
    (event_json(event_id, name, start_date, end_date, updated_at, design_count)) stored,
  primary key (owner, event_id)
);

-- Counts move by differences: each statement adds what it changed, in whichever order its triggers run (those of
-- an upsert's updates come before those of its inserts), and nothing is counted twice. The other columns are
-- either merged from the rows that were added or read from `designs`; doing both, in any order, comes to the same.
-- What an insert costs depends on what it inserts and not on what is there.
--
-- All of it happens under the lock of the summary. Two transactions at one Event: the second waits until the first
-- has ended, and a later statement takes the snapshot that it reads in (READ COMMITTED; under REPEATABLE READ it
-- fails with 40001). Keys come sorted and without doubles, so that two statements never wait for each other in a
-- circle. enable_seqscan is off because a plan made while the table was small would be kept when it is not.

-- The columns that are no count, read from `designs` for the named Events; an Event without designs does not exist
-- (R22). The caller has locked their summaries and set their counts.
create function refresh_summaries(owners text[], event_ids text[]) returns void
language plpgsql security definer set search_path = catalog, pg_temp set enable_seqscan = off as $$
begin
  update event_summaries as summary
  set name = latest.event_name, start_date = totals.start_date, end_date = totals.end_date,
    updated_at = latest.updated_at
  from unnest(owners, event_ids) as affected (owner, event_id)
  cross join lateral (
    select design.event_name, design.updated_at
    from designs as design
    where design.owner = affected.owner and design.event_id = affected.event_id
      and design.deleted_at is null and design.event_id <> ''
    order by design.updated_at desc nulls last, design.id
    limit 1
  ) as latest
  cross join lateral (
    select min(design.event_date) as start_date, max(design.event_date) as end_date
    from designs as design
    where design.owner = affected.owner and design.event_id = affected.event_id
      and design.deleted_at is null and design.event_id <> ''
  ) as totals
  where summary.owner = affected.owner and summary.event_id = affected.event_id
    and (summary.name, summary.start_date, summary.end_date, summary.updated_at, summary.public_json)
      is distinct from (latest.event_name, totals.start_date, totals.end_date, latest.updated_at,
        event_json(summary.event_id, latest.event_name, totals.start_date, totals.end_date, latest.updated_at,
          summary.design_count));

  delete from event_summaries as summary
  using unnest(owners, event_ids) as affected (owner, event_id)
  where summary.owner = affected.owner and summary.event_id = affected.event_id and summary.design_count <= 0;
end
$$;
revoke execute on function refresh_summaries(text[], text[]) from public;

-- Designs were changed or removed: the counts move by `differences`.
create function change_summaries(owners text[], event_ids text[], differences integer[]) returns void
language plpgsql security definer set search_path = catalog, pg_temp as $$
begin
  insert into event_summaries as summary (owner, event_id, design_count)
  select owner, event_id, difference
  from unnest(owners, event_ids, differences) with ordinality
    as affected (owner, event_id, difference, place)
  order by place
  -- Where nothing moves the row is locked and not written.
  on conflict (owner, event_id) do update set design_count = summary.design_count + excluded.design_count
  where excluded.design_count <> 0;

  perform refresh_summaries(owners, event_ids);
end
$$;
revoke execute on function change_summaries(text[], text[], integer[]) from public;

-- Counts the named Events anew: repairs what a verification found.
create function summarise_events(owners text[], event_ids text[]) returns void
language plpgsql security definer set search_path = catalog, pg_temp set enable_seqscan = off as $$
begin
  -- Locks what is there and makes what is not; `where false` locks without writing.
  insert into event_summaries as summary (owner, event_id)
  select affected.owner, affected.event_id
  from unnest(owners, event_ids) with ordinality as affected (owner, event_id, place)
  order by affected.place
  on conflict (owner, event_id) do update set design_count = summary.design_count where false;

  update event_summaries as summary
  set design_count = total.designs
  from unnest(owners, event_ids) as affected (owner, event_id)
  cross join lateral (
    select count(*) as designs
    from designs as design
    where design.owner = affected.owner and design.event_id = affected.event_id
      and design.deleted_at is null and design.event_id <> ''
  ) as total
  where summary.owner = affected.owner and summary.event_id = affected.event_id
    and summary.design_count <> total.designs;

  perform refresh_summaries(owners, event_ids);
end
$$;
revoke execute on function summarise_events(text[], text[]) from public;

-- The triggers run once for each statement, however many designs it touches. A design counts where it was and
-- where it is.
create function designs_inserted() returns trigger
language plpgsql security definer set search_path = catalog, pg_temp set enable_seqscan = off as $$
declare
  tied_owners text[];
  tied_events text[];
begin
  with added as (
    select owner, event_id, (array_agg(event_name order by updated_at desc nulls last, id))[1] as name,
      min(event_date) as start_date, max(event_date) as end_date, max(updated_at) as updated_at,
      count(*) as design_count
    from after
    where deleted_at is null and event_id <> ''
    group by owner, event_id
    order by owner, event_id
  ),
  merged as (
    insert into event_summaries as summary
      (owner, event_id, name, start_date, end_date, updated_at, design_count)
    select owner, event_id, name, start_date, end_date, updated_at, design_count from added
    on conflict (owner, event_id) do update
    set start_date = least(summary.start_date, excluded.start_date),
      end_date = greatest(summary.end_date, excluded.end_date),
      updated_at = greatest(summary.updated_at, excluded.updated_at),
      design_count = summary.design_count + excluded.design_count,
      name = case
        when excluded.updated_at > summary.updated_at
          or summary.updated_at is null and excluded.updated_at is not null then excluded.name
        else summary.name
      end
    returning owner, event_id, name, updated_at
  )
  -- Updated at the same time, or never, and of different names: the ids decide, which the summary does not hold.
  select array_agg(owner order by owner, event_id), array_agg(event_id order by owner, event_id)
  into tied_owners, tied_events
  from merged join added using (owner, event_id)
  where merged.updated_at is not distinct from added.updated_at and merged.name <> added.name;

  if tied_owners is not null then
    perform refresh_summaries(tied_owners, tied_events);
  end if;
  return null;
end
$$;
create trigger designs_inserted after insert on designs
  referencing new table as after for each statement execute function designs_inserted();

create function designs_deleted() returns trigger
language plpgsql security definer set search_path = catalog, pg_temp as $$
begin
  perform change_summaries(array_agg(owner), array_agg(event_id), array_agg(difference)) from (
    select owner, event_id, (- count(*))::integer as difference
    from before where deleted_at is null and event_id <> ''
    group by owner, event_id order by owner, event_id
  ) as affected having count(*) > 0;
  return null;
end
$$;
create trigger designs_deleted after delete on designs
  referencing old table as before for each statement execute function designs_deleted();

create function designs_updated() returns trigger
language plpgsql security definer set search_path = catalog, pg_temp as $$
begin
  perform change_summaries(array_agg(owner), array_agg(event_id), array_agg(difference)) from (
    select owner, event_id, sum(difference)::integer as difference from (
      select owner, event_id, -1 as difference from before where deleted_at is null and event_id <> ''
      union all
      select owner, event_id, 1 from after where deleted_at is null and event_id <> ''
    ) as moved
    group by owner, event_id order by owner, event_id
  ) as affected having count(*) > 0;
  return null;
end
$$;
create trigger designs_updated after update on designs
  referencing old table as before new table as after for each statement execute function designs_updated();

create function designs_truncated() returns trigger
language plpgsql security definer set search_path = catalog, pg_temp as $$
begin
  -- Not truncated: that would lock readers out and could wait for one that waits for `designs`.
  delete from event_summaries;
  return null;
end
$$;
create trigger designs_truncated after truncate on designs
  for each statement execute function designs_truncated();

-- How far each source of the feed is committed: written in the transaction of the batch that it tells of, gone
-- when the source has come to its end.
create table resume_points (
  source text collate "C" primary key check (octet_length(source) between 1 and 255),
  position numeric(20) not null check (position between 0 and 18446744073709551615),
  written_at timestamptz not null default now()
);

-- What the feed changed, who did it and when: one entry for each committed batch and each repair of summaries.
-- Of the same columns as the audit log of schema identity, so that the same code writes, reads and checks both.
-- No entry here is about a client.
create table audit_log (
  sequence bigint primary key check (sequence > 0),
  at timestamptz not null,
  actor text not null,
  action text not null,
  object text not null,
  client_id text check (client_id is null),
  request_id text not null,
  fields json not null,                             -- json keeps the text as it was hashed
  hash bytea not null check (octet_length(hash) = 32)
);
create index audit_log_object on audit_log (object, sequence);

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end
$$;
create trigger audit_log_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_audit_change();

-- catalog_ro answers partners. catalog_feed deletes no design, since a deletion leaves a tombstone; summaries are
-- written by the triggers alone, and counted anew by summarise_events.
grant usage on schema catalog to catalog_ro, catalog_feed;
grant select on designs, event_summaries, schema_migrations to catalog_ro;
grant select, insert, update on designs to catalog_feed;
grant select on event_summaries, schema_migrations to catalog_feed;
grant select, insert, update, delete on resume_points to catalog_feed;
grant select, insert on audit_log to catalog_feed;
grant execute on function summarise_events(text[], text[]) to catalog_feed;
