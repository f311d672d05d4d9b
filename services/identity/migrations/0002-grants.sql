-- What the identity service may do (deploy/postgres/roles.sql makes the role): it reads, and it writes
-- consents. Users, clients, secrets and keys are changed by operators and migrations.

grant usage on schema identity to identity_rw;
grant select on users, clients, client_secrets, consents, signing_keys, schema_migrations to identity_rw;
grant insert, update on consents to identity_rw;
