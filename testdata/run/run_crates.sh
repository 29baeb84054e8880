#!/bin/bash
# Attaches to every program of crates/, as run_live.sh does to those of programs/.
#
# usage: run_crates.sh ASYNCDBG PROFILE [PROGRAM...]
#
# PROFILE: debug or release. PROGRAM: default all that build in a minute. LOCK=FILE: a lock file in
# place of Cargo.lock, such as crates/older.lock. Exit status 77 where there is no cargo.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"

[ $# -ge 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
profile=$2
shift 2
find_cargo || { echo "skipped: $no_cargo" && exit 77; }
target=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}/crates
options=(--quiet --locked -j "${JOBS:-2}")
case $profile in
debug) ;;
release) options+=(--release) ;;
*) fail "no profile $profile" ;;
esac
lock=${LOCK:+$(realpath "$LOCK")}
cd "$testdata/crates"
if [ -n "$lock" ]; then
	# A copy of the sources with that lock; the paths between the two workspaces stay the same.
	target=$target-$(basename "$lock" .lock)
	src=$target/src
	rm -rf "$src"
	mkdir -p "$src"
	cp -a "$testdata/crates" "$testdata/programs" "$src"
	cp "$lock" "$src/crates/Cargo.lock"
	cd "$src/crates"
fi
options+=(--target-dir "$target")
if [ $# -eq 0 ]; then
	cargo build "${options[@]}"
	mapfile -t programs < <(cargo metadata --locked --no-deps --format-version 1 |
		jq -r '.workspace_default_members[]' | sed 's/#.*//; s/.*\///')
	set -- "${programs[@]}"
else
	cargo build "${options[@]}" "${@/#/--package=}"
fi
BINARIES=$target/$profile "$testdata/run/run_live.sh" "$asyncdbg" "$profile" "$@"
