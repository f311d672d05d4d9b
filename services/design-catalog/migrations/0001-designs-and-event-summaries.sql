-- The designs of all users and, kept on write, one summary for each Event (R22): the event list costs what it
-- returns, whatever stands behind it.

-- Collation "C": order and equality by bytes, the same on every machine and after every upgrade of its C library.
create table designs (
  owner text collate "C" not null check (octet_length(owner) between 1 and 255),  -- the user's sub
  id text collate "C" not null check (octet_length(id) between 1 and 512),
  local_id text,
  -- The stored identifier; '' counts as none (R22). The bound is that of event-id.ts (R20).
  event_id text collate "C" check (octet_length(event_id) <= 512),
  title text not null default '',
  event_name text not null default '',
  short_descr text not null default '',
  author_name text,
  -- Years 1 to 9999, so that every time has one ISO 8601 form (R23).
  event_date timestamptz check (event_date >= '0001-01-01 00:00Z' and event_date < '10000-01-01 00:00Z'),
  updated_at timestamptz check (updated_at >= '0001-01-01 00:00Z' and updated_at < '10000-01-01 00:00Z'),
  deleted_at timestamptz,
  primary key (owner, id)
);

-- The 500 of an Event in their order (R23), and an Event's summary from the index alone but for its name.
-- Texts without a bound are not included: an index row must stay below 2,704 bytes.
create index designs_by_event on designs (owner, event_id, updated_at desc nulls last, id)
  include (event_date)
  where deleted_at is null and event_id <> '';

-- Written by the triggers below and by nobody else; exact at every commit. No index in the order of the list:
-- sorting 2,000 of these rows takes less than 1 ms, and with two indexes that begin with `owner` the planner may
-- look one Event up through all of an owner's.
create table event_summaries (
  owner text collate "C" not null,
  event_id text collate "C" not null,
  name text not null default '',              -- of the design updated last
  start_date timestamptz,
  end_date timestamptz,
  updated_at timestamptz,
  design_count integer not null default 0,    -- the true count, not capped (R22)
  primary key (owner, event_id)
);

-- Counts the named Events anew. Two transactions at one Event: the second waits at the lock until the first
-- has ended, and only then takes the snapshot it counts in (READ COMMITTED; under REPEATABLE READ it fails
-- with 40001). The keys come sorted and without doubles, so that two statements never wait for each other in
-- a circle. enable_seqscan is off because a plan made while the table was small would be kept when it is not.
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
  set name = latest.event_name, start_date = totals.start_date, end_date = totals.end_date,
    updated_at = latest.updated_at, design_count = totals.design_count
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
    select min(design.event_date) as start_date, max(design.event_date) as end_date,
      count(*) as design_count
    from designs as design
    where design.owner = affected.owner and design.event_id = affected.event_id
      and design.deleted_at is null and design.event_id <> ''
  ) as totals
  where summary.owner = affected.owner and summary.event_id = affected.event_id
    and (summary.name, summary.start_date, summary.end_date, summary.updated_at, summary.design_count)
      is distinct from (latest.event_name, totals.start_date, totals.end_date, latest.updated_at,
        totals.design_count);

  -- An Event without designs does not exist (R22).
  delete from event_summaries as summary
  using unnest(owners, event_ids) as affected (owner, event_id)
  where summary.owner = affected.owner and summary.event_id = affected.event_id
    and not exists (
      select from designs as design
      where design.owner = affected.owner and design.event_id = affected.event_id
        and design.deleted_at is null and design.event_id <> '');
end
$$;
revoke execute on function summarise_events(text[], text[]) from public;

-- Once for each statement, however many designs it touches. A design counts where it was and where it is.
create function designs_inserted() returns trigger
language plpgsql security definer set search_path = catalog, pg_temp as $$
begin
  perform summarise_events(array_agg(owner), array_agg(event_id)) from (
    select distinct owner, event_id from after where deleted_at is null and event_id <> '' order by 1, 2
  ) as affected having count(*) > 0;
  return null;
end
$$;
create trigger designs_inserted after insert on designs
  referencing new table as after for each statement execute function designs_inserted();

create function designs_deleted() returns trigger
language plpgsql security definer set search_path = catalog, pg_temp as $$
begin
  perform summarise_events(array_agg(owner), array_agg(event_id)) from (
    select distinct owner, event_id from before where deleted_at is null and event_id <> '' order by 1, 2
  ) as affected having count(*) > 0;
  return null;
end
$$;
create trigger designs_deleted after delete on designs
  referencing old table as before for each statement execute function designs_deleted();

create function designs_updated() returns trigger
language plpgsql security definer set search_path = catalog, pg_temp as $$
begin
  perform summarise_events(array_agg(owner), array_agg(event_id)) from (
    select owner, event_id from before where deleted_at is null and event_id <> ''
    union
    select owner, event_id from after where deleted_at is null and event_id <> ''
    order by 1, 2
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

grant usage on schema catalog to catalog_ro;
grant select on designs, event_summaries, schema_migrations to catalog_ro;
