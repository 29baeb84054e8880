#!/bin/bash
# Compares what `metrics`, `top`, `profile` and `stalls` say of executors/traced_tasks, tasks of
# async-executor, with the program's own counts: see run_time_tasks.py.
#
# usage: run_time_tasks.sh ASYNCDBG PROFILE
#
# PROFILE: debug or release; debug builds are traced with --allow-slow. BINARIES=DIR uses a program that is
# built already. Exit status 77 where there is no cargo, and where the kernel refuses probes.
set -euo pipefail

# shellcheck source=testdata/run/workspace.sh
. "$(dirname "$0")/workspace.sh" executors "$@"
slow=()
[ "$profile" != debug ] || slow=(--allow-slow)
make_work
if [ -z "${BINARIES:-}" ]; then
	build_with Cargo traced_tasks
	BINARIES=$binaries
fi
"$testdata/run/run_time_tasks.py" "${slow[@]}" "$asyncdbg" "$BINARIES/traced_tasks"
