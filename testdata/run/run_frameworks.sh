#!/bin/bash
# Attaches to servers/frameworks, tasks that wait in the bodies of tonic and warp, as run_live.sh does to
# programs.
#
# usage: run_frameworks.sh ASYNCDBG PROFILE
#
# PROFILE: debug or release. Exit status 77 where there is no cargo.
set -euo pipefail

# shellcheck source=testdata/run/workspace.sh
. "$(dirname "$0")/workspace.sh" servers "$@"
build_with Cargo frameworks
live frameworks
