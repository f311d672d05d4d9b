-- Why identity refused requests, for support (R34): written behind the answer, kept for seven days.
-- after 0003

-- Requests of authenticated clients and those of strangers are numbered apart: neither pushes out the records of the others.
create sequence refusals_of_clients;
create sequence refusals_of_strangers;

create table refusals (
  client_authenticated boolean not null,
  position bigint not null,                   -- in the order of writing
  request_id text not null,                   -- as the caller sent it: several may have one
  at timestamptz not null,
  endpoint text not null check (endpoint in ('token', 'authorization', 'userinfo')),
  client_id text,                             -- authenticated or only named
  code text not null,
  reason text not null,                       -- of services/identity/src/refusals/reasons.ts
  user_hash text,                             -- keyed, as in logs (R27)
  family_hash text,                           -- keyed
  -- The request that used the code, replaced the token or revoked the family.
  earlier_request_id text,
  earlier_at timestamptz,
  earlier_revoked text,
  primary key (client_authenticated, position)
);
create index refusals_at on refusals (at);
create index refusals_request on refusals (request_id, at);
create index refusals_client on refusals (client_id, at);
create index refusals_code on refusals (code, at);

-- The identity service writes and cleans, and reads only what cleaning needs. A record is never changed.
grant usage on sequence refusals_of_clients, refusals_of_strangers to identity_rw;
grant insert, delete, select (client_authenticated, position, at) on refusals to identity_rw;
grant select on refusals to identity_operator;
