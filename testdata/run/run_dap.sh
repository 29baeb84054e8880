#!/bin/bash
# A client of `asyncdbg dap` on committed cores, and clients that send what is no request: see
# run_dap.py.
#
# usage: run_dap.sh ASYNCDBG
set -euo pipefail

export LC_ALL=C.UTF-8
testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -eq 1 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
for fixture in locals selects; do
	unpack_fixture "$fixture" "$work"
done
"$testdata/run/run_dap.py" "$asyncdbg" "$work"
