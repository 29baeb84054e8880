#!/bin/bash
# Steps through the programs smol_steps and compio_steps, as run_stepping.py does through `stepping`:
# coroutines on executors of smol and of compio.
#
# usage: run_stepping_others.sh ASYNCDBG PROFILE
#
# PROFILE: debug or release. BINARIES=DIR uses programs that are built already. RUNS=N runs each scenario
# so often. Exit status 77 where there is no cargo; compio is left out where the kernel forbids io_uring.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
options=(--quiet --locked -j "${JOBS:-2}")
[ "$profile" = debug ] || options+=(--release)
make_cache

# steps FOLDER PACKAGE PROGRAM
steps() {
	local target=${BINARIES:-}

	if [ -z "$target" ]; then
		need_cargo
		target=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}/$1
		(cd "$testdata/$1" && cargo build "${options[@]}" --package "$2" --bin "$3" --target-dir "$target")
		target=$target/$profile
	fi
	"$testdata/run/run_stepping.py" "$asyncdbg" "$target/$3" --runs "${RUNS:-1}"
}

steps executors smol_tasks smol_steps
if [ "$(cat /proc/sys/kernel/io_uring_disabled 2>/dev/null || echo 0)" = 0 ]; then
	steps compio compio_tasks compio_steps
else
	echo "left out: compio, as io_uring is disabled"
fi
