#!/bin/bash
# What run_trace.sh does, through what kernels before 6.6 have: an event of perf for each probe point.
#
# usage: run_trace_perf.sh ASYNCDBG PROFILE [LOCK]
set -euo pipefail

ASYNCDBG_PROBES=perf exec "$(dirname "$0")/run_trace.sh" "$@"
