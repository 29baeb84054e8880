#!/bin/bash
# Changes cores and executables in ways that broken programs and files may show, and checks that
# asyncdbg ends in time, without a crash, with valid JSON, and shows what is not affected.
#
# usage: run_hostile.sh ASYNCDBG [CORE EXECUTABLE [CASE...]]
#
# Without a core the fixtures are used. CASE is one of cycle, vtable, state, shards, handle,
# truncated (a fixed change each, with what must come of it), memory and sections (random ones);
# default all. Use a build with sanitizers.
#
# SEEDS       random changes of a core, default 200; a tenth of them for each debug section
# FIRST_SEED  default 0
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -eq 1 ] || [ $# -ge 3 ] ||
	{ sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=

# run NAME CORE EXECUTABLE [CASE...]
run() {
	echo "$1:"
	PYTHONDONTWRITEBYTECODE=1 python3 "$testdata/run/hostile_run.py" "$asyncdbg" "$2" "$3" \
		"${SEEDS:-200}" "${FIRST_SEED:-0}" "$work" "${@:4}" || failed=yes
}

if [ $# -gt 0 ]; then
	run "${1##*/}" "$@"
else
	for name in tokio_tcp boxed runtimes-1.41; do
		unpack_fixture "$name" "$work"
		run "$name" "$work/$name.core" "$work/$name.exe"
	done
fi
[ -z "$failed" ]
