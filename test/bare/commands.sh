#!/usr/bin/env bash
# The README's commands on a machine that has nothing but Node and npm, in the tree that lies here: start under a closed umask,
# one connection by the demo partner, stop, then the tests. Arguments are for the test command: without any, the whole of it.
set -euo pipefail
cd "$(dirname "$0")/../.."
pnpm() { npx --yes pnpm@12 "$@"; }

(umask 077 && pnpm start --detach)
trap 'pnpm stop' EXIT
pnpm exec node test/bare/connect.ts
pnpm stop
trap - EXIT
said=$(mktemp)
trap 'rm "$said"' EXIT
pnpm test "$@" | tee "$said"
# Here every suite can have its program.
! grep '^suites that did not run' "$said"
