#!/bin/bash
# Takes the program `steps` under control: see run_control.py, run_keys.py and run_moments.py.
#
# usage: run_control.sh ASYNCDBG PROFILE [LOCK]
#
# Builds the program in PROFILE with the newest lock, or LOCK. BINARIES=DIR uses one that is built
# already. Exit status 77 where there is no cargo.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
build_traced "${3:-}" steps
make_cache
"$testdata/run/run_control.py" "$asyncdbg" "$BINARIES/steps"
"$testdata/run/run_keys.py" "$asyncdbg" "$BINARIES/steps"
# Left out where the kernel gives cores to somebody else.
"$testdata/run/run_moments.py" "$asyncdbg" "$BINARIES/steps" || [ $? -eq 77 ]
