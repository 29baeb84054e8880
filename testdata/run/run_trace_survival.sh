#!/bin/bash
# What a traced program may do, and what may happen to its trace: see run_trace_survival.py.
#
# usage: run_trace_survival.sh ASYNCDBG PROFILE [NAME...]
#
# BINARIES=DIR uses a program `traced` that is built already. Exit status 77 where there is no cargo, and
# where the kernel refuses probes.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
build_traced "" traced
make_cache
"$testdata/run/run_trace_survival.py" "$asyncdbg" "$BINARIES/traced" "${@:3}"
