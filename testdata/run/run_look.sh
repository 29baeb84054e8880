#!/bin/bash
# Looks at where the program `steps` stands: see run_look.py.
#
# usage: run_look.sh ASYNCDBG PROFILE [LOCK]
#
# Builds the program in PROFILE with the newest lock, or LOCK. BINARIES=DIR uses one that is built
# already. Exit status 77 where there is no cargo.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
build_traced "${3:-}" steps
make_cache
"$testdata/run/run_look.py" "$asyncdbg" "$BINARIES/steps"
