#!/bin/bash
# Large crates are not looked through whole: AS_LARGE, an asyncdbg that takes all crates for large
# ones, says what the other one says, and so does one whose cache knows a part of it, or all.
#
# usage: run_large.sh ASYNCDBG AS_LARGE FIXTURE...
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/../../scripts/lib.sh"
[ $# -ge 3 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
as_large=$(realpath "$2")
shift 2
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
trap 'rm -rf "$work"' EXIT
bad=0

complain() {
	echo "$fixture: $*" >&2
	bad=1
}

all='async backtrace all -v; async graph; async deadlocks'

# answer ASYNCDBG COMMANDS OPTIONS...
answer() {
	"$1" -c "$work/$fixture.core" --exe "$work/$fixture.exe" "${@:3}" --json -e "$2" 2>"$work/log" ||
		complain "exit code $?: $(cat "$work/log")"
}

for fixture; do
	unpack_fixture "$fixture" "$work"
	answer "$asyncdbg" "$all" --no-cache >"$work/small"
	answer "$as_large" "$all" --no-cache >"$work/large"
	cmp "$work/small" "$work/large" || complain "says something else of large crates"
	# Half of it from the cache, then all of it.
	answer "$asyncdbg" 'async backtrace all' >"$work/first"
	for _ in 1 2; do
		answer "$asyncdbg" "$all" >"$work/cached"
		cmp "$work/small" "$work/cached" || complain "says something else of what is cached"
	done
done
exit "$bad"
