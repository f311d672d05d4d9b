-- Added designs are merged into the summaries of their Events instead of having the Events counted anew: what an
-- insert costs depends on what it inserts and not on what is there.

-- Counts move by differences, in every trigger: each statement adds what it changed, in whichever order its
-- triggers run (those of an upsert's updates come before those of its inserts), and nothing is counted twice.
-- The other columns are either merged from rows that stand in `designs` now or read from there; doing both, in
-- any order, comes to the same. All of it happens under the lock of the summary, which is taken in the order
-- of the keys; what is read, is read by a later statement and so in a snapshot taken under that lock.

create or replace function designs_inserted() returns trigger
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
    perform read_extremes(tied_owners, tied_events);
  end if;
  return null;
end
$$;

-- The columns that are no count, read anew for the named Events. Their summaries are locked by this transaction.
create function read_extremes(owners text[], event_ids text[]) returns void
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
    and (summary.name, summary.start_date, summary.end_date, summary.updated_at)
      is distinct from (latest.event_name, totals.start_date, totals.end_date, latest.updated_at);
end
$$;
revoke execute on function read_extremes(text[], text[]) from public;

-- Designs were changed or removed: the counts move by `differences`, the rest is read anew. Keys come sorted
-- and without doubles.
create function change_summaries(owners text[], event_ids text[], differences integer[]) returns void
language plpgsql security definer set search_path = catalog, pg_temp set enable_seqscan = off as $$
begin
  insert into event_summaries as summary (owner, event_id, design_count)
  select owner, event_id, difference
  from unnest(owners, event_ids, differences) with ordinality
    as affected (owner, event_id, difference, place)
  order by place
  -- Where nothing moves the row is locked and not written.
  on conflict (owner, event_id) do update set design_count = summary.design_count + excluded.design_count
  where excluded.design_count <> 0;

  perform read_extremes(owners, event_ids);

  -- An Event without designs does not exist (R22).
  delete from event_summaries as summary
  using unnest(owners, event_ids) as affected (owner, event_id)
  where summary.owner = affected.owner and summary.event_id = affected.event_id and summary.design_count <= 0;
end
$$;
revoke execute on function change_summaries(text[], text[], integer[]) from public;

create or replace function designs_deleted() returns trigger
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

create or replace function designs_updated() returns trigger
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
