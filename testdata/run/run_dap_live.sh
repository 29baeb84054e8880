#!/bin/bash
# Clients of `asyncdbg dap` with programs: see run_dap_live.py, run_dap_more.py and run_dap_change.py.
#
# usage: run_dap_live.sh ASYNCDBG PROFILE [LOCK]
#
# Builds the programs in PROFILE with the newest lock, or LOCK. BINARIES=DIR uses those that are built
# already. Exit status 77 where there is no cargo.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
build_traced "${3:-}" steps panicked deadlocks locals
make_cache
"$testdata/run/run_dap_live.py" "$asyncdbg" "$BINARIES/steps"
"$testdata/run/run_dap_more.py" "$asyncdbg" "$BINARIES"
"$testdata/run/run_dap_change.py" "$asyncdbg" "$BINARIES"
