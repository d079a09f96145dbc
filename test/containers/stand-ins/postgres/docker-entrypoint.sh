#!/bin/bash
# Like the real image: at the first start, a server on its socket creates the role and the database and stops. Then the
# real one starts.
set -Eeo pipefail
if [ "$1" != postgres ]; then exec "$@"; fi
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"
  chmod 700 "$PGDATA"
  find "$PGDATA" \! -user postgres -exec chown postgres '{}' +
  chown postgres /var/run/postgresql 2>/dev/null || true
  exec gosu postgres "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  user=${POSTGRES_USER:-postgres}
  password=$POSTGRES_PASSWORD
  [ -z "$POSTGRES_PASSWORD_FILE" ] || password=$(cat "$POSTGRES_PASSWORD_FILE")
  [ -n "$password" ] || { echo 'POSTGRES_PASSWORD must be set' >&2; exit 1; }
  eval "initdb --username='$user' --pwfile=<(printf '%s\n' \"\$password\") $POSTGRES_INITDB_ARGS"
  printf '\nhost all all all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"
  pg_ctl -D "$PGDATA" -o "-c listen_addresses=''" -w start
  [ "${POSTGRES_DB:-$user}" = postgres ] || createdb -U "$user" --maintenance-db postgres "${POSTGRES_DB:-$user}"
  pg_ctl -D "$PGDATA" -m fast -w stop
fi
exec "$@"
