#!/bin/bash
# Attaches to executors/async_tasks, tasks of async-executor, as run_live.sh does to programs; and with
# Cargo.lock to async_sockets, between_tasks and smol_waits, whose blocking pool keeps no list of its tasks.
#
# usage: run_async_tasks.sh ASYNCDBG PROFILE [LOCK...]
#
# PROFILE: debug, release or lto. LOCK: names of locks in executors/, such as async-executor-1.5.0;
# default all, and Cargo.lock. Exit status 77 where there is no cargo.
set -euo pipefail

# shellcheck source=testdata/run/workspace.sh
. "$(dirname "$0")/workspace.sh" executors "$@"
shift 2
make_work

# A thread polls a future of its own, which has a task that no executor knows.
check_other() {
	local status=0

	start_program "$1" other || fail "between_tasks ($profile) did not get ready: $(cat "$work/stderr")"
	timeout 120 "$asyncdbg" -p "$pid" --json tasks >"$work/answer" 2>"$work/stderr" || status=$?
	stop_program
	[ "$status" -eq 1 ] || fail "between_tasks other ($profile): it ends with $status, not 1"
	grep -qF 'async code runs outside of async_executor' "$work/answer" ||
		fail "between_tasks other ($profile): $(jq -c .notes "$work/answer")"
}

list_locks "$@"
for lock in "${locks[@]}"; do
	echo "$lock:"
	programs=(async_tasks)
	[ "$lock" != Cargo ] || programs+=(async_sockets between_tasks)
	build_with "$lock" "${programs[@]}"
	live "${programs[@]}"
	[ "$lock" = Cargo ] || continue
	check_other "$binaries/between_tasks"
	build_with "$lock" smol_waits
	PARTIAL='keeps no list of its tasks' live smol_waits
done
