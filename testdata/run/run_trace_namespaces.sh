#!/bin/bash
# Traces the program `traced` across pid namespaces: see run_trace_namespaces.py.
#
# usage: run_trace_namespaces.sh ASYNCDBG PROFILE [LOCK]
#
# Builds the program in PROFILE with the newest lock, or LOCK. BINARIES=DIR uses
# one that is built already. Exit status 77 where there is no cargo, and where the kernel refuses
# probes or namespaces.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
build_traced "${3:-}" traced
make_cache
"$testdata/run/run_trace_namespaces.py" "$asyncdbg" "$BINARIES/traced"
