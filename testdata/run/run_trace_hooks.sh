#!/bin/bash
# Traces the program `traced`, built with tokio_unstable, and compares the events with what tokio's own
# hooks and counters have: see run_trace_hooks.py; and the lengths of polls under load with what the hooks have
# timed: see run_trace_load.py.
#
# usage: run_trace_hooks.sh ASYNCDBG PROFILE [LOCK]
#
# PROFILE: debug+unstable or release+unstable. BINARIES=DIR uses a program that is built already. Exit status 77 where there is no cargo, and
# where the kernel refuses probes.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
case $profile in debug*) slow=(--allow-slow) ;; esac
build_traced "${3:-}" traced
make_cache
"$testdata/run/run_trace_hooks.py" "${slow[@]}" "$asyncdbg" "$BINARIES/traced"
"$testdata/run/run_trace_load.py" "$asyncdbg" "$BINARIES/traced"
[ ${#slow[@]} -eq 0 ] || "$testdata/run/run_trace_load.py" "${slow[@]}" "$asyncdbg" "$BINARIES/traced"
