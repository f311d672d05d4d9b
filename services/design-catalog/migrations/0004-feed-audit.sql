-- What the feed changed, who did it and when: one entry for each committed batch and each mending of summaries.

-- Of the same columns as the audit log of schema identity, so that the same code adds to both, reads both and
-- checks both. No entry here is about a client.
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

grant select, insert on audit_log to catalog_feed;
