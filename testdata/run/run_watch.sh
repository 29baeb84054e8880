#!/bin/bash
# Takes the program `steps` under control, with nothing written to its code: see run_watch.py.
#
# usage: run_watch.sh ASYNCDBG PROFILE [LOCK]
#
# Builds the program in PROFILE with the newest lock, or LOCK. BINARIES=DIR uses one that is built
# already. Exit status 77 where there is no cargo.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
build_traced "${3:-}" steps
make_cache
"$testdata/run/run_watch.py" "$asyncdbg" "$BINARIES/steps"
