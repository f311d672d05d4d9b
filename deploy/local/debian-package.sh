#!/usr/bin/env bash
# Unpacks a Debian package into the working directory, and those of the libraries named after it that this system's lists
# know: debian-package.sh PACKAGE [LIBRARY]…
set -euo pipefail
package=$1
shift
# apt's own user cannot write into a private cache.
apt=(apt-get -q -o APT::Sandbox::User=root)
if ! "${apt[@]}" download "$package"; then
  # No package lists on this system: fetch them into a place of our own.
  mkdir -p apt/lists/partial
  apt+=(-o "Dir::State::Lists=$PWD/apt/lists" -o "Dir::Cache=$PWD/apt")
  "${apt[@]}" update
  "${apt[@]}" download "$package"
fi
# They have other names on other systems, and most are there already: the program itself decides.
for library in "$@"; do "${apt[@]}" download "$library" || true; done
for file in *.deb; do dpkg -x "$file" .; done
rm -rf apt ./*.deb
