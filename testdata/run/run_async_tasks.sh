#!/bin/bash
# Attaches to executors/async_tasks, tasks of async-executor, as run_live.sh does to programs; and with
# Cargo.lock to async_sockets.
#
# usage: run_async_tasks.sh ASYNCDBG PROFILE [LOCK...]
#
# PROFILE: debug, release or lto. LOCK: names of locks in executors/, such as async-executor-1.5.0;
# default all, and Cargo.lock. Exit status 77 where there is no cargo.
set -euo pipefail

# shellcheck source=testdata/run/workspace.sh
. "$(dirname "$0")/workspace.sh" executors "$@"
shift 2
list_locks "$@"
for lock in "${locks[@]}"; do
	echo "$lock:"
	programs=(async_tasks)
	[ "$lock" != Cargo ] || programs+=(async_sockets)
	build_with "$lock" "${programs[@]}"
	live "${programs[@]}"
done
