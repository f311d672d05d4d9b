-- The refresh families that an exchange ended (R11.5): Redis forgets them at once, and `explain` names that exchange.
-- after 0003
create table superseded_families (
  family_hash text primary key,               -- keyed, as in refusals
  client_id text not null,                    -- whose family it was
  request_id text not null,                   -- that ended it, or had revoked it before
  at timestamptz not null,
  revoked text not null                       -- a reason of the security event grant.revoked
);
create index superseded_families_at on superseded_families (at);

-- The identity service writes and cleans, and reads only what cleaning needs.
grant insert, delete, select (family_hash, at) on superseded_families to identity_rw;
grant select on superseded_families to identity_operator;
