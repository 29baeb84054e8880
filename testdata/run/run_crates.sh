#!/bin/bash
# Attaches to every program of crates/, as run_live.sh does to those of programs/.
#
# usage: run_crates.sh ASYNCDBG PROFILE [PROGRAM...]
#
# PROFILE: debug or release. PROGRAM: default all that build in a minute. Exit status 77 where there is
# no cargo.
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
options=(--quiet --locked --target-dir "$target" -j "${JOBS:-2}")
case $profile in
debug) ;;
release) options+=(--release) ;;
*) fail "no profile $profile" ;;
esac
cd "$testdata/crates"
if [ $# -eq 0 ]; then
	cargo build "${options[@]}"
	mapfile -t programs < <(cargo metadata --locked --no-deps --format-version 1 |
		jq -r '.workspace_default_members[]' | sed 's/#.*//; s/.*\///')
	set -- "${programs[@]}"
else
	cargo build "${options[@]}" "${@/#/--package=}"
fi
BINARIES=$target/$profile "$testdata/run/run_live.sh" "$asyncdbg" "$profile" "$@"
