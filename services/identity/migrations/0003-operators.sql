-- What operators keep: dossiers and approvals of clients, the last use of secrets, where an imported password
-- came from, keys taken out of the key set, and the audit log. Written by role identity_operator alone
-- (deploy/postgres/roles.sql makes it).

-- Clients from before this migration, and those that seeds bring in, count as approved; registration says draft.
alter table clients
  add column version integer not null default 1,
  add column dossier jsonb not null default '{}',
  add column approval_state text not null default 'approved'
    check (approval_state in ('draft', 'test', 'approved')),
  add column changed_at timestamptz not null default now();

create table client_approvals (
  position bigint generated always as identity primary key,
  client_id text not null references clients on delete cascade,
  state text not null check (state in ('draft', 'test', 'approved')),
  operator text not null,
  note text not null default '',
  approved_at timestamptz not null default now()
);
create index client_approvals_client on client_approvals (client_id, position);
insert into client_approvals (client_id, state, operator) select client_id, 'approved', 'migration' from clients;

alter table client_secrets
  add column secret_id text not null default gen_random_uuid()::text,
  add column last_used_at timestamptz;              -- at most a minute behind
create unique index client_secrets_id on client_secrets (secret_id);

-- SHA-256 of the hash that the import brought: the same record again leaves a password alone that was hashed anew.
alter table users add column imported_hash bytea check (octet_length(imported_hash) = 32);

-- Out of the key set by an operator's word; the private half is erased with it.
alter table signing_keys add column removed_at timestamptz;

create index consents_of_user on consents (sub, granted_at, consent_id);
create index consents_of_client on consents (client_id, granted_at, consent_id);

create table audit_log (
  sequence bigint primary key check (sequence > 0),
  at timestamptz not null,
  actor text not null,
  action text not null,
  object text not null,
  client_id text,
  request_id text not null,
  fields json not null,                             -- json keeps the text as it was hashed
  hash bytea not null check (octet_length(hash) = 32)
);
create index audit_log_object on audit_log (object, sequence);
create index audit_log_client on audit_log (client_id, sequence) where client_id is not null;

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end
$$;
create trigger audit_log_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_audit_change();

grant usage on schema identity to identity_operator;
grant select on users, clients, client_approvals, client_secrets, consents, signing_keys, audit_log,
  schema_migrations to identity_operator;
grant insert, update on users, clients, client_secrets, signing_keys to identity_operator;
grant insert on client_approvals, audit_log to identity_operator;
grant update on consents to identity_operator;

-- A login may hash a password anew, a token request may leave word of the secret that it used.
grant update (password_hash) on users to identity_rw;
grant update (last_used_at) on client_secrets to identity_rw;
