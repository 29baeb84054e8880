#!/bin/bash
# Counts events of the program `traced` and compares them with its own counts: see run_metrics.py.
#
# usage: run_metrics.sh ASYNCDBG PROFILE [LOCK]
#
# Builds the program in PROFILE with the newest lock, or LOCK. BINARIES=DIR uses one that is built
# already. Debug builds are traced with --allow-slow. Exit status 77 where there is no cargo, and
# where the kernel refuses probes.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
build_traced "${3:-}" traced
make_cache
"$testdata/run/run_metrics.py" "${slow[@]}" "$asyncdbg" "$BINARIES/traced"
