#!/bin/bash
# Attaches to headless/, a bevy app without a window: its three pools of tasks. Then to it in a hurry: in its
# core are as many tasks as its own counters say; again and again, each leaf has a name, no verdict is given.
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

# counter NAME: the value of an atomic static of the core.
counter() {
	"$asyncdbg" -c "$work/core.$pid" print "headless::$1" 2>"$work/stderr" | sed -n 's/^.* = \([0-9]*\)$/\1/p'
}

# start_hurry: the app in a hurry, as $pid.
start_hurry() {
	stop_program
	rm "$work/stdin"
	mkfifo "$work/stdin"
	"$binaries/headless" hurry <"$work/stdin" >"$work/truth" 2>"$work/stderr" 8>&- &
	pid=$!
	exec 8>"$work/stdin"
	until grep -q '^ready' "$work/truth"; do
		kill -0 "$pid" 2>/dev/null || fail "headless in a hurry did not get ready: $(cat "$work/stderr")"
		sleep 0.1
	done
}

# check_counts: in a core of the app in a hurry are all tasks that wait for frames; of those that end soon, two
# of each frame, as many as have not ended. Two may be counted that are not spawned yet, and one of each thread
# as ended that is not gone yet. The core may be of a moment in which a thread is between two tasks, and its
# answer be incomplete: tasks are listed all the same.
check_counts() {
	local frames ended found threads

	gcore -o "$work/core" "$pid" >"$work/answer" 2>&1 8>&- || bad "gcore failed"
	"$asyncdbg" -c "$work/core.$pid" --json async backtrace all >"$work/answer" 2>"$work/stderr" ||
		[ $? -eq 1 ] || bad "no answer"
	has 120 '.tasks[] | select(.root.function == "headless::follows")'
	found=$(jq '[.tasks[] | select(.root.function == "headless::ends")] | length' "$work/answer")
	threads=$(ls "/proc/$pid/task" | wc -l)
	frames=$(counter FRAMES)
	ended=$(counter ENDED)
	((found >= 2 * frames - 2 - ended && found <= 2 * frames - ended + threads)) ||
		bad "$found tasks found that end soon, in $frames frames of which $ended have ended"
	rm "$work/core.$pid"
}

build_with Cargo headless
start_program "$binaries/headless" || fail "headless did not get ready: $(cat "$work/stderr")"
check -p "$pid"
gcore -o "$work/core" "$pid" >"$work/answer" 2>&1 8>&- || bad "gcore failed"
check -c "$work/core.$pid"
rm "$work/core.$pid"
start_hurry
for _ in 1 2 3; do
	check_counts
done
stop_program
echo "headless ($profile): ok"
"$testdata/run/run_server_looks.py" --looks "${LOOKS:-20}" --tasks 120 "$asyncdbg" "$binaries/headless" hurry
