#!/bin/bash
# Attaches to the programs of futures/, tasks of a ThreadPool, as run_live.sh does to programs. No list
# of such tasks is complete, and every answer says so. With Cargo.lock also to four_executors, in which
# each waker must be known, and with it whom it wakes. By a layout file the tasks must be the same.
#
# usage: run_futures.sh ASYNCDBG PROFILE [LOCK...]
#
# PROFILE: debug, release or lto. LOCK: names of locks in futures/, such as futures-0.3.5; default all,
# of lto the newest. Exit status 77 where there is no cargo.
set -euo pipefail

# shellcheck source=testdata/run/workspace.sh
. "$(dirname "$0")/workspace.sh" futures "$@"
shift 2
make_work

# check_wakers EXE: three tasks wait for threads in a block_on, each of another crate.
check_wakers() {
	local said

	start_program "$1" || fail "$1 did not get ready"
	said=$("$asyncdbg" --no-cache -p "$pid" tasks 2>&1 </dev/null || true)
	stop_program
	if [ "$(grep -c 'receiver alive in thread' <<<"$said")" != 3 ] || grep -q 'unknown waker' <<<"$said"; then
		echo "four_executors ($profile): not every waker is known"
		echo "$said"
		exit 1
	fi
}

# check_layout EXE: its layout file gives the tasks and trees of its debug info, in a core too.
check_layout() {
	local exe=$1 name=${1##*/}

	start_program env MALLOC_ARENA_MAX=1 "$exe" || fail "$exe did not get ready"
	gcore -o "$work/core" "$pid" >"$work/said" 2>&1 8>&- || fail "$name: no core: $(cat "$work/said")"
	mv "$work/core.$pid" "$work/core"
	stop_program
	"$asyncdbg" layout "$exe" -o "$work/layout" 2>"$work/said" || fail "$name: $(cat "$work/said")"
	strip --strip-all -o "$work/stripped" "$exe"
	"$asyncdbg" --no-cache -c "$work/core" --exe "$exe" --json async backtrace all >"$work/by-dwarf" || true
	"$asyncdbg" --no-cache -c "$work/core" --exe "$work/stripped" --layout "$work/layout" --json \
		async backtrace all >"$work/by-layout" || true
	"$testdata/check/compare_tasks.py" "$work/by-dwarf" "$work/by-layout" >"$work/said" ||
		fail "$name ($profile): by its layout file the tasks differ: $(cat "$work/said")"
	rm "$work/core"
	echo "$name ($profile): the same by its layout file"
}

make_work
[ "$profile" != lto ] || [ $# -gt 0 ] || set -- Cargo
list_locks "$@"
export PARTIAL='(thread_pool) keeps no list of its tasks: the ones shown are all that its queues and wakers lead to'
for lock in "${locks[@]}"; do
	echo "$lock:"
	programs=(thread_pool)
	[ "$lock" != Cargo ] || programs+=(four_executors)
	build_with "$lock" "${programs[@]}"
	live "${programs[@]}"
	[ "$lock" != Cargo ] || check_wakers "$binaries/four_executors"
	for program in "${programs[@]}"; do
		check_layout "$binaries/$program"
	done
done
