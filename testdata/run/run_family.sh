#!/bin/bash
# Attaches to programs of family/: what runs on async-task beside async-executor itself and smol 2, as
# run_live.sh does to programs. What keeps no list of its tasks is compared with what it prints of itself.
#
# usage: run_family.sh ASYNCDBG PROFILE [LOCK...]
#
# PROFILE: debug, release or lto. LOCK: names of locks in family/, such as async-std-1.12.0, each of one
# program; default all, and Cargo, with which all are built. Exit status 77 where
# there is no cargo.
set -euo pipefail

# shellcheck source=testdata/run/workspace.sh
. "$(dirname "$0")/workspace.sh" family "$@"
shift 2
make_work

bad() {
	fail "located ($profile): $1: $(head -n 20 "$work/answer" "$work/stderr")"
}

# check_located OPTIONS...: each task is found, and where it was spawned.
check_located() {
	local status=0

	timeout 120 "$asyncdbg" "$@" --json async backtrace all >"$work/answer" 2>"$work/stderr" || status=$?
	[ "$status" -eq 1 ] || bad "asyncdbg $* ends with $status, not 1"
	"$testdata/check/validate_json.py" "$testdata/../docs/asyncdbg.schema.json" "$work/answer" >/dev/null ||
		bad "not the schema"
	jq -r '.notes[]' "$work/answer" | grep -qF 'a scan of memory found 5 (' || bad "not 5 tasks"
	jq -r '.tasks[] | select(.spawned_at) |
		"spawned \(.root.function) \(.spawned_at.file):\(.spawned_at.line)"' "$work/answer" |
		sort >"$work/places"
	grep '^spawned ' "$work/truth" | sort | diff "$work/places" - || bad "not where they were spawned"
}

run_located() {
	start_program "$1" || fail "located ($profile) did not get ready: $(cat "$work/stderr")"
	check_located -p "$pid"
	gcore -o "$work/core" "$pid" >"$work/answer" 2>&1 8>&- || bad "gcore failed"
	check_located -c "$work/core.$pid"
	stop_program
	rm -f "$work"/core.*
	echo "located ($profile): ok"
}

list_locks "$@"
for lock in "${locks[@]}"; do
	echo "$lock:"
	case $lock in
	Cargo) programs=(async_std_tasks smol_1_tasks) ;;
	async-std-*) programs=(async_std_tasks) ;;
	smol-*) programs=(smol_1_tasks) ;;
	esac
	build_with "$lock" "${programs[@]}"
	live "${programs[@]}"
	[ "$lock" = Cargo ] || continue
	build_with Cargo located
	run_located "$binaries/located"
done
