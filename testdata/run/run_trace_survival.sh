#!/bin/bash
# What a traced program may do, and what may happen to its trace: see run_trace_survival.py.
#
# usage: run_trace_survival.sh ASYNCDBG PROFILE [NAME...]
#
# BINARIES=DIR uses a program `traced` that is built already. Exit status 77 where there is no cargo, and
# where the kernel refuses probes.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -ge 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1") profile=$2
shift 2
if [ -z "${BINARIES:-}" ]; then
	find_cargo || { echo "skipped: $no_cargo" && exit 77; }
	BINARIES=$("$testdata/make/build_programs.sh" "$(newest_lock)" "$profile" traced | tail -n 1)
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
"$testdata/run/run_trace_survival.py" "$asyncdbg" "$BINARIES/traced" "$@"
