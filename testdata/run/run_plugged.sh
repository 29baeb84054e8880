#!/bin/bash
# Steps in the tasks of a runtime in a library that is loaded later: see run_plugged.py.
#
# usage: run_plugged.sh ASYNCDBG PROFILE
#
# Builds the library with cargo, and the program that loads it with rustc. Exit status 77 where there is
# no cargo.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
need_cargo
make_cache
target=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}/plugged
options=(--quiet --locked -j "${JOBS:-2}")
[ "$profile" = debug ] || options+=(--release)
(cd "$testdata/plugged" && cargo build "${options[@]}" --target-dir "$target")
cd "$testdata/plugin"
rustc -g --edition 2021 -o "$work/host" host.rs
"$testdata/run/run_plugged.py" "$asyncdbg" "$work/host" "$target/$profile/libplugged.so"
