-- The database roles. A superuser, or the database's owner with CREATEROLE, runs this in the product's database; running
-- it again is safe. The operator or the local stack sets the passwords (ALTER ROLE … PASSWORD).
--   course_exchange_owner  owns schemas and tables; cannot log in
--   identity_migrator, catalog_migrator  run migrations as the owner
--   identity_rw  the identity service; each migration grants what it needs
--   identity_operator  the identity service's operator port; adds to the audit log and changes nothing in it
--   catalog_ro   the design-catalog service's public reads; SELECT only, in read-only transactions
--   catalog_feed the design-catalog service's feed: adds designs, deletes none

do $$
declare
  wanted record;
begin
  for wanted in
    select * from (values
      ('course_exchange_owner', false), ('identity_migrator', true), ('catalog_migrator', true),
      ('identity_rw', true), ('identity_operator', true),
      ('catalog_ro', true), ('catalog_feed', true)) as roles (name, can_login)
  loop
    if not exists (select from pg_roles where rolname = wanted.name) then
      execute format('create role %I nosuperuser nocreatedb nocreaterole %s', wanted.name,
        case when wanted.can_login then 'login' else 'nologin' end);
    end if;
  end loop;
  execute format('revoke all on database %I from public', current_database());
  execute format('grant create, connect, temporary on database %I to course_exchange_owner', current_database());
  execute format(
    'grant connect on database %I to identity_migrator, catalog_migrator, identity_rw, identity_operator, catalog_ro, catalog_feed',
    current_database());
end
$$;

revoke create on schema public from public;

-- Whatever a migrator creates belongs to the owner.
grant course_exchange_owner to identity_migrator, catalog_migrator;
alter role identity_migrator set role = 'course_exchange_owner';
alter role catalog_migrator set role = 'course_exchange_owner';

-- The services set shorter limits themselves; these are for people who log in by hand.
alter role identity_rw set statement_timeout = '5s';
alter role identity_rw set idle_in_transaction_session_timeout = '5s';
alter role identity_operator set statement_timeout = '15s';
alter role identity_operator set idle_in_transaction_session_timeout = '15s';
alter role catalog_ro set default_transaction_read_only = on;
alter role catalog_ro set statement_timeout = '5s';
alter role catalog_ro set idle_in_transaction_session_timeout = '5s';
alter role catalog_feed set statement_timeout = '60s';
alter role catalog_feed set idle_in_transaction_session_timeout = '5s';
