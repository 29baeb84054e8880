#!/bin/bash
# A reader that goes away, as in `asyncdbg ... | head`: asyncdbg ends at once, in silence, with exit
# code 0, in every format; and says so where writing fails for another reason.
#
# usage: run_pipe.sh ASYNCDBG
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
[ $# -eq 1 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
fixture=boxed
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
zstd -qdf "$testdata/fixtures/$fixture.core.zst" -o core
zstd -qdf "$testdata/fixtures/$fixture.exe.zst" -o exe
bad=0

complain() {
	echo "$*"
	head -n 3 err
	bad=1
}

# More than any pipe holds, so that the reader is gone before the last command.
times=400
commands=$(for ((i = 0; i < times; i++)); do printf 'async backtrace all; '; done)
for format in text json jsonl; do
	option=()
	[ "$format" = text ] || option=("--$format")
	run=(timeout 60 "$asyncdbg" -c core --exe exe "${option[@]}")
	size=$("${run[@]}" async backtrace all 2>/dev/null | wc -c)
	[ $((size * times)) -gt $((1 << 20)) ] || complain "$format: $size bytes are too few"
	status=0
	"${run[@]}" -e "$commands" 2>err | head -n 1 >first || status=${PIPESTATUS[0]}
	[ "$status" -eq 0 ] || complain "$format: exit code $status when the reader went away"
	[ ! -s err ] || complain "$format: words when the reader went away"
	[ "$(wc -l <first)" -eq 1 ] || complain "$format: no first line"
	status=0
	"${run[@]}" async backtrace all >/dev/full 2>err || status=$?
	[ "$status" -eq 2 ] || complain "$format: exit code $status on a full disk"
	[ "$(cat err)" = 'asyncdbg: standard output: No space left on device' ] ||
		complain "$format: not the reason when a disk is full"
	# What is opened must not become standard output.
	status=0
	"${run[@]}" save saved >&- 2>err || status=$?
	[ "$status" -eq 2 ] || complain "$format: exit code $status with standard output closed"
	[ "$(cat err)" = 'asyncdbg: standard output: Bad file descriptor' ] ||
		complain "$format: nothing about a closed standard output"
	{ "${run[@]}" save again >/dev/null 2>&- <&- && "$asyncdbg" -c again tasks >/dev/null 2>err; } ||
		complain "$format: no snapshot with standard error closed"
done
exit $bad
