#!/bin/bash
# `asyncdbg guard` around `cargo test` and `cargo nextest run`, on a crate of which one test
# deadlocks, as the job of a CI runs them.
#
# usage: run_guard_cargo.sh ASYNCDBG
#
# Without cargo-nextest that part is left out. Exit status 77 where there is no cargo.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -eq 1 ] || usage
asyncdbg=$(realpath "$1")
find_cargo || { echo "skipped: $no_cargo" && exit 77; }
target=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}/hanging
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache CARGO_TARGET_DIR=$target
failures=0

complain() {
	failures=$((failures + 1))
	echo "FAILED: $1"
	tail -n 30 "$work/out" "$work/err" | cut -c 1-200
}

# guarded STATUS OPTION... -- COMMAND...
guarded() {
	local want=$1 status=0

	shift
	"$asyncdbg" guard "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
	[ "$status" = "$want" ] || complain "exit status $status, not $want: $*"
}

has() {
	grep -qE -- "$2" "$work/$1" || complain "$1 has no \"$2\""
}

# hangs NAME: what is to be seen of the test that hangs. nextest is an async program, too.
hangs() {
	local answer

	has err '=== process [0-9]+: .*/hanging-'
	has err '^error: deadlock: task [0-9]+ holds Mutex .*`(held|from)`.* and waits for Mutex'
	has err 'hanging::tests::transfer at src/lib.rs:14'
	! pgrep -f "^$target/" >/dev/null || complain "a test is left"
	[ "$(find "$work/$1" -name 'asyncdbg-hanging_*.html' | wc -l)" = 1 ] || complain "no report"
	answer=$("$asyncdbg" -c "$work/$1"/asyncdbg-hanging_*.snapshot tasks 2>/dev/null || true)
	[[ $answer == *"mutex lock"* ]] || complain "the snapshot tells nothing"
}

cd "$testdata/hanging"
cargo test --quiet --locked --no-run

# The test's own status and output.
guarded 0 --timeout 120s -- cargo test --quiet --locked transfers -- --exact tests::transfers
has out '1 passed'
guarded 101 --timeout 120s -- cargo test --quiet --locked no_such -- --no-such-option
# Silent after the other tests have ended.
guarded 124 --silence 10s --report "$work/cargo" -- cargo test --locked
has out 'test tests::transfers \.\.\. ok'
has err 'asyncdbg: no output for 10 s'
hangs cargo
guarded 124 --timeout 20s --report "$work/timeout" -- cargo test --locked both_directions
has err 'asyncdbg: not finished after 20 s'
hangs timeout

if cargo nextest --version >/dev/null 2>&1; then
	cargo nextest run --no-run >/dev/null 2>&1
	guarded 0 --timeout 120s -- cargo nextest run -E 'test(=tests::transfers)'
	has err '1 passed'
	# nextest runs each test in a process group of its own.
	guarded 124 --timeout 20s --report "$work/nextest" -- cargo nextest run
	hangs nextest
	has err 'PASS .*tests::transfers'
	tried=", $(cargo nextest --version | head -n 1)"
else
	tried=", without cargo-nextest, which is not installed"
fi
[ "$failures" = 0 ] || { echo "$failures failures" && exit 1; }
echo "ok: $(cargo --version)$tried"
