#!/bin/bash
# Compares what `top` says of the program `traced` with what it does: see run_top.py.
#
# usage: run_top.sh ASYNCDBG PROFILE [LOCK]
#
# Builds the program in PROFILE with the newest lock, or LOCK. BINARIES=DIR uses one that is built
# already. Debug builds are traced with --allow-slow. Exit status 77 where there is no cargo, and
# where the kernel refuses probes.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
build_traced "${3:-}" traced
make_cache
"$testdata/run/run_top.py" "${slow[@]}" "$asyncdbg" "$BINARIES/traced"
