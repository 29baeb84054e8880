#!/bin/bash
# Makes what asyncdbg says now the expected answers: rewrites golden/. The diff is the review.
#
# usage: bless.sh ASYNCDBG [FIXTURE...]
set -euo pipefail
exec "$(dirname "$0")/../run/run_golden.sh" --bless "$@"
