#!/bin/bash
# Traces the program `traced` and compares the events with its own counts: see run_trace.py.
#
# usage: run_trace.sh ASYNCDBG PROFILE [LOCK]
#
# Builds the program in PROFILE with the newest lock, or LOCK. BINARIES=DIR uses one that is built
# already, SECTIONS="counts ..." takes only these. Debug builds are traced with --allow-slow. Exit status 77 where there is no cargo, and
# where the kernel refuses probes.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
build_traced "${3:-}" traced
make_cache
# shellcheck disable=SC2086 # words
"$testdata/run/run_trace.py" "${slow[@]}" "$asyncdbg" "$BINARIES/traced" ${SECTIONS:-}
