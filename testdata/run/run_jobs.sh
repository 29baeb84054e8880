#!/bin/bash
# Types that two threads have learnt: the answer is what one alone says, also from the cache that
# both have filled. Large crates are not looked through whole: AS_LARGE, an asyncdbg that takes all
# for large ones, says the same.
#
# usage: run_jobs.sh ASYNCDBG AS_LARGE FIXTURE...
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
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

# answer JOBS COMMANDS OPTIONS...
answer() {
	ASYNCDBG_JOBS=$1 "$asyncdbg" -c "$work/$fixture.core" --exe "$work/$fixture.exe" --log inspect "${@:3}" \
		--json -e "$2" 2>"$work/log" || complain "$1 threads: exit code $?"
}

for fixture; do
	unpack_fixture "$fixture" "$work"
	answer 1 "$all" --no-cache >"$work/one"
	! grep -q "are for a second thread" "$work/log" || complain "a second thread unasked"
	answer 2 "$all" --no-cache >"$work/two"
	grep -q "are for a second thread" "$work/log" || complain "no second thread"
	cmp "$work/one" "$work/two" || complain "two threads say something else"
	for jobs in 1 2; do
		asyncdbg=$as_large answer "$jobs" "$all" --no-cache >"$work/large"
		cmp "$work/one" "$work/large" || complain "$jobs threads say something else of large crates"
	done
	# Half of it from the cache, all of it, and by one of what two have cached.
	answer 2 'async backtrace all' >"$work/two"
	for jobs in 2 2 1; do
		answer "$jobs" "$all" >"$work/cached"
		cmp "$work/one" "$work/cached" || complain "$jobs threads say something else of what is cached"
	done
done
exit "$bad"
