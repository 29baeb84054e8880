#!/bin/bash
# Attaches to compio_twice/, a program with two versions of compio: each task is shown once, no runtime has
# tasks of both, none is one of async-executor's; a note names what is not known.
#
# usage: run_compio_twice.sh ASYNCDBG PROFILE
#
# PROFILE: debug, release or lto. Exit status 77 where there is no cargo, or where the kernel forbids
# io_uring.
set -euo pipefail

# shellcheck source=testdata/run/workspace.sh
. "$(dirname "$0")/workspace.sh" compio_twice "$@"
need_io_uring
make_work

bad() {
	fail "compio_twice ($profile): $1: $(head -n 20 "$work/answer" "$work/stderr")"
}

# holds FILTER: is it true of the answer?
holds() {
	jq -e "$1" "$work/answer" >/dev/null || bad "not: $1"
}

# check OPTIONS...
check() {
	local status=0

	timeout 120 "$asyncdbg" "$@" --json async backtrace all >"$work/answer" 2>"$work/stderr" || status=$?
	[ "$status" -eq 1 ] || bad "asyncdbg $* ends with $status, not 1"
	"$testdata/check/validate_json.py" "$testdata/../docs/asyncdbg.schema.json" "$work/answer" >/dev/null ||
		bad "not the schema"
	holds '[.tasks[] | select(.root.function == "compio_twice::older")] | length == 3'
	holds '[.tasks[] | select(.root.function == "compio_twice::newer")] | length == 4'
	holds '[.tasks[].addr] | length == (unique | length)'
	holds '.runtimes | length > 0 and all(.kind == "compio" and .version == null)'
	holds '[.tasks[] | select(.kind == "task")] | group_by(.runtime) | all(
		[.[].root.function | select(startswith("compio_twice::"))] | unique | length <= 1)'
	holds '.complete == false and any(.notes[]; contains("several copies of compio-runtime"))'
}

build_with Cargo compio_twice
start_program "$binaries/compio_twice" || fail "compio_twice did not get ready: $(cat "$work/stderr")"
check -p "$pid"
check -p "$pid" # from the cache
gcore -o "$work/core" "$pid" >"$work/answer" 2>&1 8>&- || bad "gcore failed"
check -c "$work/core.$pid"
echo "compio_twice ($profile): ok"
