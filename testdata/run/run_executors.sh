#!/bin/bash
# Attaches asyncdbg to programs whose tasks are run by other executors than tokio, alone or beside
# it, and to one that only looks so: what is not understood gets no all-clear. smol is understood; a
# task of its own, which waits for processes, counts too.
#
# usage: run_executors.sh ASYNCDBG [PROFILE...]
#
# PROFILE: debug, release; default both. Each program is examined live, by its core, by a saved
# snapshot, and without its symbols. Exit status 77 where there is no cargo.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
schema=$testdata/../docs/asyncdbg.schema.json

[ $# -ge 1 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- debug release
find_cargo || { echo "skipped: $no_cargo" && exit 77; }
obstacle=$(ptrace_obstacle)
[ -z "$obstacle" ] || { echo "cannot attach: $obstacle" && exit 1; }
target=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}/executors
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
failures=0

trap 'stop_program; rm -rf "$work"' EXIT

# What each has: tasks that are listed (none: no runtime), and who runs the others, or why there may be
# others, by asyncdbg's text; - nobody: the answer is complete.
programs='
smol_tasks    2    -
futures_pool  2    keeps no list of its tasks
handmade      none in handmade::run: asyncdbg does not know what runs it
mixed_smol    4    -
static_tasks  6    keeps no list of its tasks
ended_tasks   2    keeps no list of its tasks
task_queue    3    keeps no list of its tasks
mixed_local   3    -
mixed_pool    3    keeps no list of its tasks
bystander     2    -
'

bad() {
	echo "$program ($profile): $1"
	cat "$work/stderr" "$work/stdout" | sed 's/^/    /' | head -n 20
	failures=$((failures + 1))
}

# ask STATUS WORDS...: asyncdbg ends with STATUS; its answer is in $work/stdout.
ask() {
	local wanted=$1 status=0
	shift

	timeout 120 "$asyncdbg" "$@" >"$work/stdout" 2>"$work/stderr" </dev/null || status=$?
	[ "$status" -eq "$wanted" ] || bad "asyncdbg $* ends with $status, not $wanted"
}

# has TEXT: the answer's notes have it.
has() {
	jq -r '.notes[]' "$work/stdout" | grep -qF -- "$1" || bad "no note has '$1'"
}

# is_of_runtimes CONDITION: is it, in jq's words, true of the runtimes in the answer?
is_of_runtimes() {
	jq -e ".runtimes | $1" "$work/stdout" >"$work/true"
}

# A program that is not understood at all: listings say so, and say nothing else.
check_unknown() {
	local words

	ask 1 "$@" --json async backtrace all
	[ "$(jq '.complete, has("other_executors")' "$work/stdout" | xargs)" = "false true" ] ||
		bad "complete, or nothing about other executors"
	"$testdata/check/validate_json.py" "$schema" "$work/stdout" >/dev/null || bad "not the schema"
	has "$text"
	for words in 'check --interval 0' 'async deadlocks' 'async graph' '--json check'; do
		# shellcheck disable=SC2086 # words of a command
		ask 2 "$@" $words
		[ ! -s "$work/stdout" ] || bad "$words prints an answer"
		[ "$(wc -l <"$work/stderr")" = 1 ] || bad "$words does not say why in one line"
	done
}

# One that has tokio too: tokio's tasks are shown, and the others named.
check_mixed() {
	ask 1 "$@" --json check --interval 0
	"$testdata/check/validate_json.py" "$schema" "$work/stdout" >/dev/null || bad "not the schema"
	[ "$(jq '[.tasks[] | select(.kind == "task")] | length' "$work/stdout")" = 0 ] || bad "check has tasks"
	has "$text"
	jq -r '.unsearched[]' "$work/stdout" | grep -qE 'another executor|scan of memory|no queue and no' ||
		bad "the tasks of others are not among what was not searched"
	ask 1 "$@" --json async backtrace all
	[ "$(jq '[.tasks[] | select(.kind == "task")] | length' "$work/stdout")" = "$tasks" ] || bad "not $tasks tasks"
	has "$text"
	[ "$text" = "${text#keeps no list}" ] ||
		is_of_runtimes 'any(has("rejected") or .completeness == "all that queues and wakers lead to")' ||
		bad "no runtime is said to be read without a list"
}

check_complete() {
	ask 0 "$@" --json check --interval 0
	ask 0 "$@" --json async backtrace all
	[ "$(jq '[.tasks[] | select(.kind == "task")] | length' "$work/stdout")" = "$tasks" ] || bad "not $tasks tasks"
	[ "$(jq '.complete, has("other_executors")' "$work/stdout" | xargs)" = "true false" ] ||
		bad "it is not complete"
	is_of_runtimes 'all(.kind == "tokio" or .completeness == "complete")' ||
		bad "a runtime is not said to be complete"
}

# check OPTIONS...: of the target.
check() {
	if [ "$tasks" = none ]; then
		check_unknown "$@"
	elif [ "$text" = - ]; then
		check_complete "$@"
	else
		check_mixed "$@"
	fi
}

# Without symbols nothing tells whose tasks there are.
check_stripped() {
	strip --strip-all -o "$work/bare" "$1"
	text="this program has async code, but not the debug info"
	check_unknown -p "$pid" --no-cache --exe "$work/bare"
}

# Without a scan of memory no task is found: that does not make the executor an unknown one, nor one
# without tasks.
check_unscanned() {
	ASYNCDBG_SCAN=0 ask 1 -p "$pid" --json async backtrace all
	has "async-executor (smol), whose tasks were not found"
	! grep -q 'has no tasks' "$work/stdout" || bad "it says that there are no tasks"
}

# by_layout STATUS TASKS EXE: the answer about the stripped program with its layout file.
by_layout() {
	"$asyncdbg" layout "$3" -o "$work/layout" 2>/dev/null || bad "no layout file"
	ask "$1" -p "$pid" --no-cache --exe "$work/bare" --layout "$work/layout" --json async backtrace all
	[ "$(jq '[.tasks[] | select(.kind == "task")] | length' "$work/stdout")" = "$2" ] ||
		bad "not $2 tasks with a layout file"
}

for profile; do
	flags=()
	[ "$profile" = debug ] || flags+=(--release)
	cargo build --quiet --locked --manifest-path "$testdata/executors/Cargo.toml" \
		--target-dir "$target" -j "${JOBS:-2}" "${flags[@]}"
	while read -r program tasks text; do
		[ -n "$program" ] || continue
		before=$failures
		exe=$target/$profile/$program
		start_program "$exe" || fail "$program did not get ready: $(cat "$work/stderr")"
		check -p "$pid" # the second time from the cache
		check -p "$pid"
		gcore -o "$work/core" "$pid" >"$work/stdout" 2>&1 8>&- || bad "gcore failed"
		check -c "$work/core.$pid"
		status=1
		[ "$text" != - ] || status=0
		ask "$status" -c "$work/core.$pid" save "$work/saved"
		[ "$tasks" != none ] || check_unknown -c "$work/saved"
		check_stripped "$exe"
		case $program in smol_tasks) check_unscanned ;; esac
		case $program in
		bystander | mixed_local | mixed_smol | smol_tasks) by_layout 0 "$tasks" "$exe" ;;
		ended_tasks | mixed_pool | static_tasks) by_layout 1 "$tasks" "$exe" ;;
		esac
		stop_program
		rm -f "$work"/core.* "$work/saved"
		[ "$failures" -ne "$before" ] || echo "$program ($profile): ok"
	done <<<"$programs"
done
[ "$failures" -eq 0 ] || { echo "$failures failures" && exit 1; }
