#!/bin/bash
# Halts programs at events of their tasks, panics, deadlocks and signals: see run_events.py.
#
# usage: run_events.sh ASYNCDBG PROFILE [LOCK]
#
# Builds the programs in PROFILE with the newest lock, or LOCK. BINARIES=DIR uses those that are built
# already. Exit status 77 where there is no cargo.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
build_traced "${3:-}" steps panicked deadlocks stepping instrumented
make_cache
"$testdata/run/run_events.py" "$asyncdbg" "$BINARIES"
