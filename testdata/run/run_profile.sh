#!/bin/bash
# Profiles the programs `traced` and `burn` and compares the times with what is known: see run_profile.py.
#
# usage: run_profile.sh ASYNCDBG PROFILE [LOCK]
#
# Builds the programs in PROFILE with the newest lock, or LOCK. BINARIES=DIR uses those that are built
# already. Debug builds are traced with --allow-slow. Exit status 77 where there is no cargo, and
# where the kernel refuses probes.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
build_traced "${3:-}" traced burn
make_cache
"$testdata/run/run_profile.py" "${slow[@]}" "$asyncdbg" "$BINARIES/traced" "$BINARIES/burn"
