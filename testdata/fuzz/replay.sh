#!/bin/bash
# Runs a fuzzer that was built without a fuzzing engine on the inputs that were kept.
#
# usage: replay.sh NAME_fuzz DIRECTORY
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/../../scripts/lib.sh"
# shellcheck source=testdata/fuzz/environment.sh
. "$here/environment.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fuzz_environment "$(basename "$2")" "$work"
"$1" "$2"
