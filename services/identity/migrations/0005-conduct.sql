-- How clients keep their duties (specification §5), counted for each client and day, for 90 days (R34).
-- after 0003

create table client_conduct (
  client_id text not null,                    -- of one that was registered when it was counted
  day date not null,                          -- of UTC
  act text not null,                          -- of services/identity/src/conduct/conduct.ts
  count bigint not null,
  last_at timestamptz not null,
  request_id text not null,                   -- of the last one; empty where it is not known
  primary key (client_id, day, act)
);
create index client_conduct_day on client_conduct (day);

-- The identity service adds and cleans, operators read.
grant select, insert, update, delete on client_conduct to identity_rw;
grant select on client_conduct to identity_operator;
