#!/bin/bash
# The program's own static probes: lists and traces those of usdt_probes. See run_usdt.py.
#
# usage: run_usdt.sh ASYNCDBG PROFILE
#
# PROFILE: debug or release. BINARIES=DIR uses programs that are built already. Exit status 77 where
# there is no cargo, and where the kernel refuses probes.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
if [ -z "${BINARIES:-}" ]; then
	need_cargo
	target=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}/crates
	options=()
	[ "$profile" = debug ] || options=(--release)
	(cd "$testdata/crates" && cargo build --quiet --locked -j "${JOBS:-2}" --target-dir "$target" \
		"${options[@]}" --package usdt_probes)
	BINARIES=$target/$profile
fi
make_cache
"$testdata/run/run_usdt.py" "${slow[@]}" "$asyncdbg" "$BINARIES/usdt_probes"
