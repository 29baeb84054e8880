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
# Crates in folders of their own, whose files have the same name.
mkdir -p "$work/app/src" "$work/extra/src"
cp host.rs "$work/app/src/part.rs"
cp plugin.rs "$work/extra/src/part.rs"
(cd "$work/app" && rustc -g --edition 2021 --crate-name host -o apart src/part.rs)
(cd "$work/extra" && rustc -g --edition 2021 --crate-name plugin --crate-type cdylib -o libapart.so src/part.rs)
"$testdata/run/run_plugin.py" "$asyncdbg" "$work/host" "$work/libplugin.so" "$work/app/apart" "$work/extra/libapart.so"
