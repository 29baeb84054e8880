#!/bin/bash
# Verifies the shortcuts with which asyncdbg decides what is a future. VERIFY is an asyncdbg that
# runs the full search beside each, ends at the first difference, and takes all crates for large
# ones (see verify.h). Of each fixture it says what ASYNCDBG says, and so does ASYNCDBG when its cache
# knows a part of it, or all.
#
# usage: run_verify.sh ASYNCDBG VERIFY [FIXTURE...]
# FIXTURE  default: all with debug info, and then the live tests of programs, executors and servers
#          with VERIFY in place of asyncdbg
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/../../scripts/lib.sh"
[ $# -ge 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
verify=$(realpath "$2")
shift 2
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
trap 'rm -rf "$work"' EXIT
bad=0

complain() {
	echo "$*" >&2
	bad=1
}

# answer ASYNCDBG COMMANDS OPTIONS...
answer() {
	"$1" -c "$work/$fixture.core" --exe "$work/$fixture.exe" "${@:3}" --json -e "$2" 2>"$work/log" ||
		complain "$fixture: exit code $?: $(cat "$work/log")"
}

# check_fixture NAME
check_fixture() {
	local fixture=$1 all='async backtrace all -v; async graph; async deadlocks; tasks'

	unpack_fixture "$fixture" "$work"
	answer "$asyncdbg" "$all" --no-cache >"$work/said"
	answer "$verify" "$all" --no-cache >"$work/verified"
	cmp "$work/said" "$work/verified" || complain "$fixture: says something else of large crates"
	# Half of it from the cache, then all of it.
	answer "$asyncdbg" 'async backtrace all' >"$work/first"
	for _ in 1 2; do
		answer "$asyncdbg" "$all" >"$work/cached"
		cmp "$work/said" "$work/cached" || complain "$fixture: says something else of what is cached"
	done
	rm "$work/$fixture".{core,exe}
}

# check_live SCRIPT ARGUMENT...
check_live() {
	local status=0

	"$here/$1" "$verify" "${@:2}" || status=$?
	# 77: there is no cargo.
	[ "$status" -eq 0 ] || [ "$status" -eq 77 ] || complain "$*: exit code $status"
}

if [ $# -gt 0 ]; then
	for name; do
		check_fixture "$name"
	done
	exit "$bad"
fi
for core in "$fixtures"/*.core.zst; do
	# A layout file has the answers and not what they were found in.
	[ -f "${core%.core.zst}.layout.zst" ] || check_fixture "$(basename "$core" .core.zst)"
done
# To read all debug info takes time that the search through memory then lacks.
export ASYNCDBG_SCAN=${ASYNCDBG_SCAN:-1024,5000}
for profile in debug release; do
	check_live run_live.sh "$profile"
	check_live run_servers.py "$profile"
done
check_live run_executors.sh
exit "$bad"
