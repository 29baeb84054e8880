#!/bin/bash
# Compares what `top` says of the program `traced` with what it does: see run_top.py.
#
# usage: run_top.sh ASYNCDBG PROFILE [LOCK]
#
# Builds the program in PROFILE with the newest lock, or LOCK. BINARIES=DIR uses one that is built
# already. Debug builds are traced with --allow-slow. Exit status 77 where there is no cargo, and
# where the kernel refuses probes.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -ge 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1") profile=$2
if [ -z "${BINARIES:-}" ]; then
	find_cargo || { echo "skipped: $no_cargo" && exit 77; }
	BINARIES=$("$testdata/make/build_programs.sh" "${3:-$(newest_lock)}" "$profile" traced | tail -n 1)
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
options=()
[ "$profile" != debug ] || options=(--allow-slow)
"$testdata/run/run_top.py" "${options[@]}" "$asyncdbg" "$BINARIES/traced"
