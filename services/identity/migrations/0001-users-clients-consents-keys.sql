-- What identity keeps for long: users, clients, consents and signing keys. Codes, refresh families,
-- interactions and browser sessions are Redis's (docs/redis-keys.md).

create table users (
  sub text primary key,                       -- opaque and random, never reused (R19)
  email text not null,
  email_verified boolean not null default false,
  name text not null default '',
  password_hash text not null,                -- argon2id in PHC form (R18)
  disabled_at timestamptz,
  signed_out_at timestamptz,                  -- grants issued up to here are dead (R13)
  created_at timestamptz not null default now()
);
create unique index users_email on users (lower(email));

create table clients (
  client_id text primary key check (client_id ~ '^[A-Za-z0-9_-]{1,64}$' and client_id <> 'design-api'), -- R15
  name text not null,
  active boolean not null default true,
  scopes text[] not null check (cardinality(scopes) > 0 and scopes <@ array['openid', 'email', 'profile']),
  redirect_uris text[] not null check (cardinality(redirect_uris) > 0),
  created_at timestamptz not null default now()
);

-- Several may be valid at once, so that a secret can be rotated without a failed call.
create table client_secrets (
  client_id text not null references clients on delete cascade,
  secret_hash bytea not null check (octet_length(secret_hash) = 32),  -- SHA-256 of a 256-bit random value (R18)
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  retired_at timestamptz,
  primary key (client_id, secret_hash)
);

-- One row for each time a user began to agree with a client. Extending it keeps the row; after a
-- withdrawal a new agreement is a new row, so that what was issued under the old one stays dead (R13).
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

create table signing_keys (
  kid text primary key,
  algorithm text not null check (algorithm in ('RS256', 'ES256')),
  public_jwk jsonb not null,
  private_key bytea not null,                 -- PKCS #8, encrypted with AES-256-GCM under a key from outside (R18)
  state text not null default 'staged' check (state in ('staged', 'active', 'retired')),
  published_at timestamptz not null default now(),
  activated_at timestamptz,
  retired_at timestamptz                      -- published until its last token has expired (R17)
);
create unique index signing_keys_active on signing_keys (algorithm) where state = 'active';
