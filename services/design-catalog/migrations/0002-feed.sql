-- What the platform's feed needs besides the designs: which of two changes is the later one, how far each source
-- has come, and a role that writes.

-- Given by the platform. 0: written by somebody else than the feed; every change of the feed is later.
alter table designs add column revision numeric(20) not null default 0
  check (revision between 0 and 18446744073709551615);

-- Written in the transaction of the batch that it tells of; gone when the source has come to its end.
create table resume_points (
  source text collate "C" primary key check (octet_length(source) between 1 and 255),
  position numeric(20) not null check (position between 0 and 18446744073709551615),
  written_at timestamptz not null default now()
);

-- A deletion leaves a tombstone, so the feed deletes no design; summaries are written by the triggers alone.
grant usage on schema catalog to catalog_feed;
grant select, insert, update on designs to catalog_feed;
grant select on event_summaries, schema_migrations to catalog_feed;
grant select, insert, update, delete on resume_points to catalog_feed;
-- Counts anew and nothing else: to mend what a verification found.
grant execute on function summarise_events(text[], text[]) to catalog_feed;
