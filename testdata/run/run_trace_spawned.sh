#!/bin/bash
# Traces the program `traced` and compares where its tasks were spawned with its source: see
# run_trace_spawned.py.
#
# usage: run_trace_spawned.sh ASYNCDBG PROFILE [LOCK]
#
# PROFILE: debug or release, each with +unstable (tokio_unstable) or without. BINARIES=DIR uses a program that is built already. Exit status 77
# where there is no cargo, and where the kernel refuses probes.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
case $profile in debug*) slow=(--allow-slow) ;; esac
build_traced "${3:-}" traced
make_cache
"$testdata/run/run_trace_spawned.py" "${slow[@]}" "$asyncdbg" "$BINARIES/traced"
