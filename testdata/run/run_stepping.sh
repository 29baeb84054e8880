#!/bin/bash
# Steps through the program `stepping`: see run_stepping.py.
#
# usage: run_stepping.sh ASYNCDBG PROFILE [LOCK]
#
# Builds the program in PROFILE with the newest lock, or LOCK. BINARIES=DIR uses one that is built
# already. RUNS=N runs each scenario so often. Exit status 77 where there is no cargo.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
build_traced "${3:-}" stepping
make_cache
program=$BINARIES/stepping
"$testdata/run/run_stepping.py" "$asyncdbg" "$program" --breaks
"$testdata/run/run_stepping.py" "$asyncdbg" "$program" --runs "${RUNS:-1}"
"$testdata/run/run_step_commands.py" "$asyncdbg" "$program"
"$testdata/run/run_step_gdb.py" "$asyncdbg" "$program" || [ $? -eq 77 ]
