#!/bin/bash
# Records the programs `traced` and `deadlocks` with the flight recorder: see run_recorder.py.
#
# usage: run_recorder.sh ASYNCDBG PROFILE [LOCK]
#
# Builds the programs in PROFILE with the newest lock, or LOCK. BINARIES=DIR uses some that are built
# already. Debug builds are traced with --allow-slow. Exit status 77 where there is no cargo, and
# where the kernel refuses probes.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
build_traced "${3:-}" traced deadlocks
make_cache
"$testdata/run/run_recorder.py" "${slow[@]}" "$asyncdbg" "$BINARIES/traced" "$BINARIES/deadlocks"
