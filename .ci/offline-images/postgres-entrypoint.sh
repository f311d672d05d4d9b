#!/usr/bin/env bash
# Starts Postgres as the official image does: POSTGRES_USER, POSTGRES_PASSWORD(_FILE) and POSTGRES_DB say what a first
# start makes, /docker-entrypoint-initdb.d what it runs then, PGDATA where the data lies.
set -euo pipefail

[[ ${1:-postgres} == -* ]] && set -- postgres "$@"
if [[ ${1:-postgres} != postgres ]]; then exec "$@"; fi

if [[ $(id -u) == 0 ]]; then
  mkdir -p "$PGDATA" && chown -R 999:999 "$PGDATA" /var/run/postgresql
  exec setpriv --reuid=999 --regid=999 --clear-groups -- "$BASH" "$0" "$@"
fi

initialise() {
  local user=${POSTGRES_USER:-postgres} password=${POSTGRES_PASSWORD:-}
  local database=${POSTGRES_DB:-$user} file
  [[ -n ${POSTGRES_PASSWORD_FILE:-} ]] && password=$(<"$POSTGRES_PASSWORD_FILE")
  if [[ -z $password ]]; then
    echo 'POSTGRES_PASSWORD or POSTGRES_PASSWORD_FILE is missing: the database would have no password.' >&2
    exit 1
  fi
  mkdir -p "$PGDATA" && chmod 700 "$PGDATA"
  initdb --pgdata="$PGDATA" --username="$user" --pwfile=<(printf '%s\n' "$password") --auth-host=scram-sha-256 \
    --auth-local=trust --encoding=UTF8 --locale-provider=builtin --locale=C.UTF-8
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  echo 'host replication all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  pg_ctl --pgdata="$PGDATA" --wait --options="-c listen_addresses= -c unix_socket_directories=/var/run/postgresql" start
  export PGHOST=/var/run/postgresql PGUSER=$user
  [[ $database == postgres ]] || psql --no-psqlrc --dbname=postgres --set=name="$database" <<<'create database :"name"'
  for file in /docker-entrypoint-initdb.d/*; do
    case $file in
      *.sh) echo "running $file" && POSTGRES_USER=$user POSTGRES_DB=$database bash "$file" ;;
      *.sql) echo "running $file" && psql --no-psqlrc --set=ON_ERROR_STOP=1 --dbname="$database" --file="$file" ;;
    esac
  done
  unset PGHOST PGUSER
  pg_ctl --pgdata="$PGDATA" --wait --mode=fast stop
}

[[ -s $PGDATA/PG_VERSION ]] || initialise
exec "$@" -c listen_addresses='*' -c unix_socket_directories=/var/run/postgresql
