#!/usr/bin/env bash
# Runs once, after roles.sql, in a new Postgres container: gives each role the password of its secret.
set -euo pipefail
for role in identity_migrator catalog_migrator identity_rw identity_operator catalog_ro catalog_feed; do
  psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" \
    --set=role="$role" --set=password="$(<"/run/secrets/${role}_password")" \
    <<<'alter role :"role" password :'"'password'"
done
