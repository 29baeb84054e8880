#!/bin/bash
# Breakpoints in a library that is loaded later: see run_plugin.py.
#
# usage: run_plugin.sh ASYNCDBG PROFILE
#
# Builds the library and the program that loads it with rustc. Exit status 77 where there is no cargo.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
need_cargo
make_cache
cd "$testdata/plugin"
rustc -g --edition 2021 --crate-type cdylib -o "$work/libplugin.so" plugin.rs
rustc -g --edition 2021 -o "$work/host" host.rs
"$testdata/run/run_plugin.py" "$asyncdbg" "$work/host" "$work/libplugin.so"
