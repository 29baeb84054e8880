#!/bin/bash
# Compares the trees that asyncdbg sees with those that a program takes of itself by tokio's trace,
# branch by branch, live and from a core.
#
# usage: run_dump.sh ASYNCDBG [PROFILE...]
#
# PROFILE: debug, release; default both. Exit status 77 where there is no cargo.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"

[ $# -ge 1 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- debug release
find_cargo || { echo "skipped: $no_cargo" && exit 77; }
target=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}/dump
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
failures=0

trap 'stop_program; rm -rf "$work"' EXIT

# compare WHAT OPTIONS...: asyncdbg's answer with the program's.
compare() {
	local what=$1
	shift

	if timeout 120 "$asyncdbg" "$@" --json async backtrace all >"$work/document" 2>"$work/stderr" &&
		"$testdata/check/compare_dump.py" "$work/document" "$work/truth" >"$work/said" &&
		"$testdata/check/check_truth.py" "$work/document" "$work/truth" >>"$work/said"; then
		echo "dump ($what): $(head -n 1 "$work/said")"
	else
		echo "dump ($what): differs"
		head -n 20 "$work/said" "$work/stderr" | sed 's/^/    /'
		failures=$((failures + 1))
	fi
}

for profile; do
	flags=()
	[ "$profile" = debug ] || flags+=(--release)
	(
		cd "$testdata/dump"
		RUSTFLAGS="--cfg tokio_unstable" cargo build --quiet --locked --target-dir "$target" \
			-j "${JOBS:-2}" "${flags[@]}"
	)
	start_program "$target/$profile/dump" || fail "dump did not get ready: $(cat "$work/stderr")"
	compare "$profile, live" -p "$pid"
	gcore -o "$work/core" "$pid" >"$work/said" 2>&1 8>&- || fail "gcore: $(cat "$work/said")"
	compare "$profile, core" -c "$work/core.$pid"
	rm -f "$work/core.$pid"
	stop_program
done
[ "$failures" -eq 0 ] || { echo "$failures failures" && exit 1; }
