#!/bin/bash
# Traces the program `traced` across pid namespaces: see run_trace_namespaces.py.
#
# usage: run_trace_namespaces.sh ASYNCDBG PROFILE [LOCK]
#
# Builds the program in PROFILE with the newest lock, or LOCK. BINARIES=DIR uses
# one that is built already. Exit status 77 where there is no cargo, and where the kernel refuses
# probes or namespaces.
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
"$testdata/run/run_trace_namespaces.py" "$asyncdbg" "$BINARIES/traced"
