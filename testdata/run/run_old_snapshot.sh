#!/bin/bash
# A snapshot that asyncdbg saved in version 1 of the format still gives its answers, in saved/.
#
# usage: run_old_snapshot.sh [--bless] ASYNCDBG
#
# --bless makes today's answers the expected ones.
set -euo pipefail

export LC_ALL=C.UTF-8
bless=
[ "$1" != --bless ] || { bless=yes && shift; }
asyncdbg=$(realpath "$1")
cd "$(dirname "$0")/../saved"
failed=0

while read -r name words; do
	for format in txt json; do
		expected=locks-1.38.v1/$name.$format
		option=()
		[ "$format" = txt ] || option=(--json)
		# shellcheck disable=SC2086 # words of a command
		answer=$("$asyncdbg" -c locks-1.38.v1.saved --color never "${option[@]}" $words </dev/null 2>/dev/null || true)
		if [ -n "$bless" ]; then
			mkdir -p "${expected%/*}"
			printf '%s\n' "$answer" >"$expected"
		elif ! diff "$expected" - <<<"$answer"; then
			echo "$name.$format: differs from $expected"
			failed=1
		fi
	done
done <<'COMMANDS'
info info
threads threads
runtimes runtimes
tasks tasks
async-backtrace async backtrace
async-backtrace-all async backtrace all
async-graph async graph
async-deadlocks async deadlocks
check check
COMMANDS
[ "$failed" = 0 ] || exit 1
