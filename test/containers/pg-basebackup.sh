#!/bin/sh
# For an image without pg_basebackup: a base.tar.gz like that of `pg_basebackup --format=tar --gzip`, made by the calls of
# Postgres that pg_basebackup stands on (its manual, "Making a Base Backup Using the Low Level API").
set -eu
for word in "$@"; do
  case $word in --pgdata=*) folder=${word#--pgdata=} ;; esac
done
mkdir -p "$folder"
# One session, for the backup ends with the one that began it.
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --tuples-only --no-align --dbname=postgres <<END
select pg_backup_start('base', fast => true) \g /dev/null
\! tar --create --file=$folder/base.tar --directory=$PGDATA --exclude='./pg_wal/*' --exclude=./postmaster.pid .
select labelfile from pg_backup_stop() \g $folder/backup_label
END
tar --append --file="$folder/base.tar" --directory="$folder" backup_label
gzip --force "$folder/base.tar"
