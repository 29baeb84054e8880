#!/bin/bash
# Attaches to compio/compio_tasks, tasks of compio, as run_live.sh does to programs; with Cargo.lock also
# again and again to compio/compio_http, a server under load: each leaf has a name, no verdict is given. Traces
# compio/traced_compio then, whose own counts the events equal: see run_trace_tasks.py, run_time_tasks.py; with
# compio 0.18.0, whose tasks are of async-task, in a debug build too. Where its tasks are spawned is compared with
# its source: see run_trace_spawned.py.
#
# usage: run_compio.sh ASYNCDBG PROFILE [LOCK...]
#
# PROFILE: debug, release or lto. LOCK: names of locks in compio/, such as compio-0.18.0; default all,
# and Cargo.lock. LOOKS: how many at the server, default 20. Exit status 77 where there is no cargo, or
# where the kernel forbids io_uring.
set -euo pipefail

# shellcheck source=testdata/run/workspace.sh
. "$(dirname "$0")/workspace.sh" compio "$@"
shift 2
need_io_uring
slow=()
[ "$profile" != debug ] || slow=(--allow-slow)
list_locks "$@"
for lock in "${locks[@]}"; do
	echo "$lock:"
	unset PARTIAL
	case $lock in
	compio-0.1[2-5].*) export PARTIAL='(compio) keeps no list of its tasks: a scan of memory found' ;;
	esac
	programs=(compio_tasks)
	[ "$lock" != Cargo ] || programs+=(compio_http traced_compio)
	[ "$lock" != compio-0.18.0 ] || programs+=(traced_compio)
	build_with "$lock" "${programs[@]}"
	live compio_tasks
	status=0
	# Those sections whose counts do not depend on the tasks and futures of compio itself.
	[ "$lock" != compio-0.18.0 ] || [ "$profile" != debug ] ||
		"$testdata/run/run_trace_tasks.py" "${slow[@]}" "$asyncdbg" "$binaries/traced_compio" \
			threads pingpong reuse dropped alikes stall || status=$?
	[ "$status" = 0 ] || [ "$status" = 77 ]
	for program in "${programs[@]}"; do
		[ "$program" != compio_http ] && [ "$profile" != lto ] || continue
		"$testdata/run/run_trace_spawned.py" "${slow[@]}" "$asyncdbg" "$binaries/$program" || status=$?
		[ "$status" = 0 ] || [ "$status" = 77 ]
	done
	[ "$lock" = Cargo ] || continue
	"$testdata/run/run_server_looks.py" --looks "${LOOKS:-20}" "$asyncdbg" "$binaries/compio_http"
	status=0
	"$testdata/run/run_trace_tasks.py" "${slow[@]}" "$asyncdbg" "$binaries/traced_compio" || status=$?
	[ "$status" = 0 ] || [ "$status" = 77 ] # the kernel may refuse probes
	[ "$status" = 77 ] ||
		"$testdata/run/run_time_tasks.py" "${slow[@]}" "$asyncdbg" "$binaries/traced_compio"
done
