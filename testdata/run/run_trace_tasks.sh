#!/bin/bash
# Traces executors/traced_tasks, tasks of async-executor, and compares the events with the program's own
# counts, and where they were spawned with its source; that also with executors/smol_tasks: see
# run_trace_tasks.py, run_trace_spawned.py.
#
# usage: run_trace_tasks.sh ASYNCDBG PROFILE [LOCK...]
#
# PROFILE: debug, release or lto. LOCK: names of locks in executors/, such as async-executor-1.5.0; default
# all, and Cargo.lock. BINARIES=DIR uses programs that are built already. Debug builds are traced with
# --allow-slow. Exit status 77 where there is no cargo, and where the kernel refuses probes.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
shift 2
case $profile in
debug) options=(--profile dev) ;;
release | lto) options=(--profile "$profile") ;;
*) fail "no profile $profile" ;;
esac
make_cache

# build LOCK: sets BINARIES.
build() {
	local dir programs=(traced_tasks) target=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}/executors

	need_cargo
	dir=$testdata/executors
	[ "$1" != Cargo ] || programs+=(smol_tasks)
	if [ "$1" != Cargo ]; then
		target=$target-$1
		dir=$target/src/executors
		copy_workspace "$testdata/executors" "$target/src" "$testdata/executors/$1.lock"
	fi
	(cd "$dir" && cargo build --quiet --locked -j "${JOBS:-2}" "${options[@]}" "${programs[@]/#/--package=}" \
		--target-dir "$target")
	BINARIES=$target/$profile
}

# run LOCK. Places are compared with the newest version, and with smol, which the others do not have.
run() {
	local program

	"$testdata/run/run_trace_tasks.py" "${slow[@]}" "$asyncdbg" "$BINARIES/traced_tasks" || return
	[ "$1" = Cargo ] && [ "$profile" != lto ] || return 0
	for program in traced_tasks smol_tasks; do
		"$testdata/run/run_trace_spawned.py" "${slow[@]}" "$asyncdbg" "$BINARIES/$program" || return
	done
}

if [ -n "${BINARIES:-}" ]; then
	run Cargo
	exit
fi
if [ $# -eq 0 ]; then
	mapfile -t locks < <(cd "$testdata/executors" && ls ./*.lock)
	set -- "${locks[@]}"
fi
status=0
for lock; do
	lock=$(basename "$lock" .lock)
	echo "$lock:"
	build "$lock"
	run "$lock" || status=$?
done
exit "$status"
