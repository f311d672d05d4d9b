-- What identity keeps for long: users, clients with their secrets and approvals, consents, signing keys, and the audit
-- log. Codes, refresh families, interactions and browser sessions are Redis's (docs/redis-keys.md). A database that was made by another text of this file is refused.

create table users (
  sub text primary key,                       -- opaque and random, never reused (R19)
  email text not null,
  email_verified boolean not null default false,
  name text not null default '',
  password_hash text not null,                -- argon2id in PHC form (R18), or as imported until the next login
  -- SHA-256 of the imported hash: importing the same record again leaves a password alone that was hashed anew since.
  imported_hash bytea check (octet_length(imported_hash) = 32),
  disabled_at timestamptz,
  signed_out_at timestamptz,                  -- grants issued up to here are dead (R13)
  created_at timestamptz not null default now()
);
create unique index users_email on users (lower(email));

-- Registration says draft; what is written without an approval state (a seed) counts as approved.
create table clients (
  client_id text primary key check (client_id ~ '^[A-Za-z0-9_-]{1,64}$' and client_id <> 'design-api'), -- R15
  name text not null,
  active boolean not null default true,
  approval_state text not null default 'approved' check (approval_state in ('draft', 'test', 'approved')),
  scopes text[] not null check (cardinality(scopes) > 0 and scopes <@ array['openid', 'email', 'profile']),
  redirect_uris text[] not null check (cardinality(redirect_uris) > 0),
  registration jsonb not null default '{}',   -- what a partner supplies and no column here holds (specification §1)
  version integer not null default 1,         -- grows by one with each change
  created_at timestamptz not null default now(),
  changed_at timestamptz not null default now()
);

create table client_approvals (
  position bigint generated always as identity primary key,
  client_id text not null references clients on delete cascade,
  state text not null check (state in ('draft', 'test', 'approved')),
  operator text not null,
  note text not null default '',
  approved_at timestamptz not null default now()
);
create index client_approvals_client on client_approvals (client_id, position);

-- Several may be valid at once, so that a secret can be rotated without a failed call.
create table client_secrets (
  client_id text not null references clients on delete cascade,
  secret_id text not null default gen_random_uuid()::text,
  secret_hash bytea not null check (octet_length(secret_hash) = 32),  -- SHA-256 of a 256-bit random value (R18)
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  retired_at timestamptz,
  suspended_at timestamptz,                   -- by a restore fence, until an operator resumes it
  last_used_at timestamptz,                   -- at most a minute behind
  primary key (client_id, secret_hash)
);
create unique index client_secrets_id on client_secrets (secret_id);

-- One row for each time a user began to agree with a client. Extending it keeps the row; after a withdrawal a new
-- agreement is a new row, so that what was issued under the old one stays dead (R13).
create table consents (
  consent_id text primary key,
  sub text not null references users on delete cascade,
  client_id text not null references clients on delete cascade,
  scopes text[] not null,
  granted_at timestamptz not null default now(),
  extended_at timestamptz,
  withdrawn_at timestamptz
);
create unique index consents_current on consents (sub, client_id) where withdrawn_at is null;
create index consents_of_user on consents (sub, granted_at, consent_id);
create index consents_of_client on consents (client_id, granted_at, consent_id);

-- The states are those of services/identity/src/keys/signing-key.ts.
create table signing_keys (
  kid text primary key,
  algorithm text not null check (algorithm in ('RS256', 'ES256')),
  public_jwk jsonb not null,
  private_key bytea not null,                 -- PKCS #8, encrypted with AES-256-GCM under a key from outside (R18)
  state text not null default 'staged' check (state in ('staged', 'active', 'superseded', 'retired')),
  published_at timestamptz not null default now(),
  activated_at timestamptz,
  superseded_at timestamptz,                  -- published until its last token has expired (R17)
  retired_at timestamptz                      -- out of the key set; the private half is erased with it
);
create unique index signing_keys_active on signing_keys (algorithm) where state = 'active';

-- Written in the transaction of the change that it records, as a chain of hashes (services/runtime/src/audit).
create table audit_log (
  sequence bigint primary key check (sequence > 0),
  at timestamptz not null,
  actor text not null,
  action text not null,
  object text not null,
  client_id text,
  request_id text not null,
  fields json not null,                       -- json keeps the text as it was hashed
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

-- The roles are made by deploy/postgres/roles.sql. The identity service reads, and writes consents; a login may hash a
-- password anew, a token request records which secret it used.
grant usage on schema identity to identity_rw;
grant select on users, clients, client_secrets, consents, signing_keys, schema_migrations to identity_rw;
grant insert, update on consents to identity_rw;
grant update (password_hash) on users to identity_rw;
grant update (last_used_at) on client_secrets to identity_rw;

-- What operators change. Nobody deletes.
grant usage on schema identity to identity_operator;
grant select on users, clients, client_approvals, client_secrets, consents, signing_keys, audit_log,
  schema_migrations to identity_operator;
grant insert, update on users, clients, client_secrets, signing_keys to identity_operator;
grant insert on client_approvals, audit_log to identity_operator;
grant update on consents to identity_operator;
