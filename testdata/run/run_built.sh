#!/bin/bash
# Builds programs and runs scripts that test asyncdbg with them.
#
# usage: run_built.sh ASYNCDBG PROFILE "SCRIPT PROGRAM... [--OPTION...] [-- ARGUMENT...]"...
#
# Each SCRIPT gets ASYNCDBG, the path of each PROGRAM, or the folder of NAME,NAME..., and what follows.
# The programs are built in PROFILE with the newest lock, or LOCK; BINARIES=DIR uses those that are built
# already. Exit status 77 where there is no cargo, and where no SCRIPT can run: each ends with 77.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
shift 2

# split SCRIPT...: sets the names of its programs and its arguments.
split() {
	local word rest=

	names=() arguments=("$asyncdbg")
	for word in "${@:2}"; do
		[[ $word != --* ]] || rest=1
		if [ -n "$rest" ]; then
			[ "$word" = -- ] || arguments+=("$word")
			continue
		fi
		names+=("${word//,/ }")
		[[ $word != *,* ]] || word=
		arguments+=("${BINARIES:-}/$word")
	done
}

programs=()
for step; do
	# shellcheck disable=SC2086 # words
	split $step
	programs+=("${names[@]}")
done
# shellcheck disable=SC2048,SC2086 # words
mapfile -t programs < <(printf '%s\n' ${programs[*]} | sort -u)
build_traced "${LOCK:-}" "${programs[@]}"
make_cache
left_out=0
for step; do
	status=0
	# shellcheck disable=SC2086 # words
	split $step
	"$testdata/run/${step%% *}" "${arguments[@]}" || status=$?
	[ "$status" -eq 0 ] || [ "$status" -eq 77 ] || exit "$status"
	left_out=$((left_out + (status == 77)))
done
[ "$left_out" -lt $# ] || exit 77
