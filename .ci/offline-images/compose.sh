#!/usr/bin/env bash
# Builds the Compose client from its Go module where there is no package of it; prints its path. Needs Go.
set -euo pipefail
version=${COMPOSE_VERSION:-v2.40.3}
cache=${OFFLINE_IMAGE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/course-exchange/offline-images}
program=$cache/docker-compose-$version

# A proxy that does not answer for a moment is asked again.
again() { "$@" || { sleep 5 && "$@"; } || { sleep 20 && "$@"; }; }

mkdir -p "$cache"
if [[ ! -x $program ]]; then
  # Not `go install`: the module excludes versions, which only its own main module may.
  source=$(again go mod download -json "github.com/docker/compose/v2@$version" | sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p')
  work=$(mktemp -d)
  cp -r "$source/." "$work" && chmod -R u+w "$work"
  (cd "$work" && CGO_ENABLED=0 again go build -trimpath -ldflags="-s -w -X github.com/docker/compose/v2/internal.Version=$version" \
    -o "$program.new" ./cmd) >&2
  mv "$program.new" "$program"
  rm -rf "$work"
fi
printf '%s\n' "$program"
