#!/usr/bin/env bash
# Makes a machine that has nothing but Node and npm, a minimal Debian in a chroot, and runs commands.sh there in the committed
# tree. Needs root. Variables: AS=user runs it without root's rights; FOLDER names the tree's folder.
# Usage: test/bare/debian.sh [ARGUMENT OF THE TEST COMMAND …]
set -euo pipefail
cd "$(dirname "$0")/../.."

not_run() { echo "NOT RUN bare: $*"; exit 0; }
[[ $(uname) == Linux && $(id -u) == 0 && -e .git ]] ||
  not_run 'a bare machine is a chroot with the committed tree, which only root makes, on Linux'
(($(node --print 'parseInt(process.versions.node)') < 25)) || not_run 'it gets the Node of this one, and 25 or newer lacks libatomic there'
command -v debootstrap >/dev/null || { apt-get -qq update && apt-get -qq install -y debootstrap >/dev/null; } ||
  not_run 'there is no debootstrap, and apt does not install it'

machine=$(mktemp -d /var/tmp/course-exchange-bare-XXXXXX)
chmod 755 "$machine"
inside=
# The trap calls it.
# shellcheck disable=SC2329
ends() {
  if [[ -n $inside ]]; then kill -KILL "$inside" && wait "$inside" || true; fi
  rm -rf --one-file-system "$machine" "$machine.log"
}
trap ends EXIT
trap 'exit 130' INT TERM
again() { "$@" || { sleep 5 && "$@"; }; }
again debootstrap --variant=minbase --include=ca-certificates bookworm "$machine" >"$machine.log" 2>&1 ||
  { tail -n 5 "$machine.log"; exit 1; }
# It reaches the package registries as this machine does.
cp -a /etc/ssl/certs/. "$machine/etc/ssl/certs/"
sources=()
if grep -q bookworm /etc/os-release; then sources=(/etc/apt/sources.list /etc/apt/sources.list.d); fi
for path in "${sources[@]}" /etc/apt/apt.conf.d /etc/pip.conf /etc/npmrc /etc/resolv.conf /etc/hosts; do
  rm -rf "${machine:?}$path"
  if [[ -e $path ]]; then cp -aL "$path" "$machine$path"; fi
done
mkdir -p "$machine/usr/lib/node_modules"
cp -L "$(command -v node)" "$machine/usr/bin/node"
cp -a "$(npm root --global)/npm" "$machine/usr/lib/node_modules/npm"
for name in npm npx; do ln -s "../lib/node_modules/npm/bin/$name-cli.js" "$machine/usr/bin/$name"; done

user=root home=/root
if [[ ${AS:-} == user ]]; then
  user=new
  chroot "$machine" useradd --create-home new
  home=$(chroot "$machine" sh -c 'echo ~new')
fi
if [[ -e ~/.npmrc ]]; then cp ~/.npmrc "$machine$home/"; fi
folder="$home/${FOLDER:-course-exchange}"
mkdir "$machine$folder"
git archive HEAD | tar --extract --directory "$machine$folder"
chroot "$machine" chown -R "$user:" "$home"

# Processes and mounts end with their namespaces. The environment is a new user's, but for certificates.
mapfile -t certificates < <(env | grep -E '^(NODE_EXTRA_CA_CERTS|SSL_CERT_|CURL_CA_|REQUESTS_CA_|PIP_CERT)')
# The words in single quotes are for the shell inside.
# shellcheck disable=SC2016
unshare --mount --pid --ipc --uts --fork --kill-child bash -euc '
  machine=$1 user=$2
  shift 2
  mount --make-rprivate /
  mount -t proc proc "$machine/proc"
  mount --rbind /sys "$machine/sys"
  mount -t tmpfs -o mode=1777 tmpfs "$machine/tmp"
  mount --rbind /dev "$machine/dev"
  exec chroot --userspec="$user" "$machine" /usr/bin/env --ignore-environment "$@"
' bare "$machine" "$user" HOME="$home" USER="$user" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  TERM=dumb LANG=C.UTF-8 "${certificates[@]}" "$folder/test/bare/commands.sh" "$@" &
inside=$!
code=0
wait "$inside" || code=$?
inside=
exit "$code"
