#!/bin/bash
# Faults that users met in other debuggers for async Rust, each shown to be absent here.
#
# usage: run_rival_faults.sh ASYNCDBG
#
# Exit status 77 where there is no cargo.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"

[ $# -eq 1 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
find_cargo || { echo "skipped: $no_cargo" && exit 77; }
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
failures=0

trap 'stop_program; rm -rf "$work"' EXIT

start() {
	start_program "$1" || fail "$1 did not get ready"
}

ask() {
	timeout 120 "$asyncdbg" -p "$pid" "$@" </dev/null
}

# expect WHAT GOT WANTED
expect() {
	if [ "$2" = "$3" ]; then
		echo "ok: $1"
	else
		echo "$1: got '$2', not '$3'"
		failures=$((failures + 1))
	fi
}

debug=$("$testdata/make/build_programs.sh" "$(newest_lock)" debug | tail -n 1)
release=$("$testdata/make/build_programs.sh" "$(newest_lock)" release | tail -n 1)

# They follow Header.queue_next, and list about one task a shard.
start "$release/many"
expect "every task of 10,000 is listed" "$(ask async backtrace all 2>/dev/null | grep -c '^Task: ')" 10000
# They read 8 bytes a system call.
calls=$(ask --log target async backtrace all 2>&1 >/dev/null |
	sed -n 's/^\[target\] stopped for .* us, \([0-9]*\) reads.*/\1/p' | tail -n 1)
expect "10,000 tasks are not read one by one" "$([ "${calls:-10000}" -lt 1000 ] && echo yes)" yes

# They know multi_thread runtimes only, and one of them.
start "$release/runtimes"
expect "three runtimes" "$(ask --json runtimes | jq -r '[.runtimes[].flavor] | join(" ")')" \
	"multi_thread multi_thread current_thread"

# They know debug builds only, and stop at the first struct.
start "$release/boxed"
expect "wrappers in release do not end a chain" \
	"$(ask --json async backtrace all | jq '[.tasks[] | select(.kind == "task") | select([.root | .. | objects | .wait? // empty] == [])] | length')" 0
# One odd task fails their whole command.
expect "nothing is missing" "$(ask --json async backtrace all | jq .complete)" true

# They match CONTEXT by its bare name.
start "$debug/contexts"
expect "other variables called CONTEXT do not disturb" \
	"$(ask --json async backtrace all | jq '[.tasks[] | select(.kind == "task")] | length')" 2

# They print await points without source lines.
start "$debug/nested"
expect "every suspended coroutine has its line" \
	"$(ask --json async backtrace all | jq '[.tasks[].root | .. | objects | select(.state? == "suspended" and .line == null)] | length')" 0
# Their "async task 4" is a regular expression on names.
id=$(ask --json tasks | jq -r '.tasks[0].id')
expect "a task is named by its id" "$(ask async task "$id" 2>/dev/null | grep '^Task: ' | cut -d' ' -f2)" "$id"

# They need function names in legacy mangling.
v0=$("$testdata/make/build_programs.sh" "$(newest_lock)" release+static+v0 tokio_tcp burn | tail -n 1)
start "$v0/burn"
expect "workers and their tasks with v0 mangling" \
	"$(ask --json async backtrace | jq '[.threads[] | select(.role == "worker" and .task != null)] | length')" 2

[ "$failures" -eq 0 ] || { echo "$failures failures" && exit 1; }
