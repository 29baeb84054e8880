#!/bin/bash
# Attaches to headless/, a bevy app without a window: its three pools of tasks. Then again and again to it
# in a hurry: each leaf has a name, no verdict is given.
#
# usage: run_headless.sh ASYNCDBG PROFILE
#
# PROFILE: debug, release or lto. It takes minutes to build. LOOKS: how many in a hurry,
# default 20. Exit status 77 where there is no cargo.
set -euo pipefail

# shellcheck source=testdata/run/workspace.sh
. "$(dirname "$0")/workspace.sh" headless "$@"
make_work

bad() {
	fail "headless ($profile): $1: $(head -n 20 "$work/answer" "$work/stderr")"
}

# ask WORDS...: a complete answer, to $work/answer.
ask() {
	local status=0

	timeout 120 "$asyncdbg" "$@" >"$work/answer" 2>"$work/stderr" </dev/null || status=$?
	[ "$status" -eq 0 ] || bad "asyncdbg $* ends with $status"
}

# has NUMBER FILTER: so many tasks or threads.
has() {
	[ "$(jq "[$2] | length" "$work/answer")" = "$1" ] || bad "not $1: $2"
}

# check OPTIONS...: its own tasks, each in its place; those that run on the threads of the pools; two of
# three threads are in a lock.
check() {
	ask "$@" --json async backtrace all
	"$testdata/check/validate_json.py" "$testdata/../docs/asyncdbg.schema.json" "$work/answer" >/dev/null ||
		bad "not the schema"
	has 3 '.runtimes[] | select(.kind == "async_executor")'
	has 3 '.threads[] | select(.role == "worker")'
	has 2 '.threads[] | select(.role == "worker" and .wait.kind == "std_mutex")'
	has 1 '.tasks[] | select(.root.function == "headless::loads" and .leaves == 1) |
		.. | .kind? // empty | select(. == "channel_recv")'
	has 1 '.tasks[] | select(.root.function == "headless::computes") |
		.. | .kind? // empty | select(. == "pending")'
	has 1 '.tasks[] | select(.root.function == "headless::blocks" and .state == "running")'
	has 1 '.tasks as $all | .tasks[] | select(.root.function == "headless::joins") |
		.. | .task? // empty | . as $id | $all[] | select(.id == $id and .root.function == "headless::computes")'
	has 0 '.tasks[] | .. | .wait? // empty | select(.kind == "unknown" or .kind == "waker")'
	ask "$@" --json async deadlocks
	has 0 '.verdicts[]'
}

build_with Cargo headless
start_program "$binaries/headless" || fail "headless did not get ready: $(cat "$work/stderr")"
check -p "$pid"
gcore -o "$work/core" "$pid" >"$work/answer" 2>&1 8>&- || bad "gcore failed"
check -c "$work/core.$pid"
echo "headless ($profile): ok"
"$testdata/run/run_server_looks.py" --looks "${LOOKS:-20}" --tasks 120 "$asyncdbg" "$binaries/headless" hurry
