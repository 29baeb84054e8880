#!/bin/bash
# The program's own static probes: lists and traces those of usdt_probes. See run_usdt.py.
#
# usage: run_usdt.sh ASYNCDBG PROFILE
#
# PROFILE: debug or release. BINARIES=DIR uses programs that are built already. Exit status 77 where
# there is no cargo, and where the kernel refuses probes.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -ge 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1") profile=$2
if [ -z "${BINARIES:-}" ]; then
	find_cargo || { echo "skipped: $no_cargo" && exit 77; }
	target=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}/crates
	options=()
	[ "$profile" = debug ] || options=(--release)
	(cd "$testdata/crates" && cargo build --quiet --locked -j "${JOBS:-2}" --target-dir "$target" \
		"${options[@]}" --package usdt_probes)
	BINARIES=$target/$profile
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
options=()
[ "$profile" != debug ] || options=(--allow-slow)
"$testdata/run/run_usdt.py" "${options[@]}" "$asyncdbg" "$BINARIES/usdt_probes"
