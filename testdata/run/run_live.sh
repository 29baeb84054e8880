#!/bin/bash
# Attaches asyncdbg to the programs while they run and checks every answer.
#
# usage: run_live.sh ASYNCDBG PROFILE [PROGRAM...]
#
# Builds the programs in PROFILE with the newest lock (see build_programs.sh) and for each:
# compares "async backtrace all" and who waits for whom with what the program says about itself,
# validates the JSON of all commands, makes a core with gcore and compares the answer about it with
# the one before, asks one of them with a layout file, kills asyncdbg while it is attached to some of
# them; then the program must run on with no thread stopped.
#
# Exit status 77 where there is no cargo. BINARIES=DIR uses programs that are built already;
# VERIFY=ASYNCDBG is one that verifies its shortcuts (run_verify.sh), and must say the same of the core.
# PARTIAL=TEXT: no answer can be complete, and each note of an answer has TEXT. FILES=1: `save`, `diff` and
# `report` are run, too.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
schema=$testdata/../docs/asyncdbg.schema.json

[ $# -ge 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
profile=$2
shift 2
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
failures=0

trap 'stop_program; rm -rf "$work"' EXIT

# bad WHAT [FILE]: one failure, with what FILE says.
bad() {
	echo "$program ($profile): $1"
	[ -z "${2:-}" ] || sed 's/^/    /' "$2" | head -n 20
	failures=$((failures + 1))
}

# ask NAME OPTIONS...: asyncdbg's answer to $work/NAME; a complete one.
ask() {
	local name=$1 status=0
	shift

	timeout 120 "$asyncdbg" "$@" >"$work/$name" 2>"$work/$name.err" </dev/null || status=$?
	[ "$status" -eq 0 ] || { [ -n "${PARTIAL:-}" ] && [ "$status" -eq 1 ]; } && return
	bad "asyncdbg $* ends with $status" "$work/$name.err"
}

# The program is there, no one traces it and none of its threads is stopped.
check_running() {
	local status

	# A thread that is let go needs a moment.
	for _ in $(seq 40); do
		kill -0 "$pid" 2>/dev/null || { bad "$1: the program is gone"; return; }
		status=$(cat "/proc/$pid/task"/*/status 2>/dev/null || true)
		if ! grep -qE '^State:.[tT]|^TracerPid:.[1-9]' <<<"$status"; then
			return
		fi
		sleep 0.05
	done
	bad "$1: threads are left stopped or traced"
}

check_truth() {
	local options=(--schema "$schema")

	[ -z "${PARTIAL:-}" ] || options+=(--incomplete)
	ask live.json -p "$pid" --json async backtrace all
	"$testdata/check/check_truth.py" "${options[@]}" "$work/live.json" "$work/truth" >"$work/said" ||
		bad "differs from the truth" "$work/said"
	[ -z "${PARTIAL:-}" ] || jq -e --arg text "$PARTIAL" '.notes | length > 0 and all(contains($text))' \
		"$work/live.json" >/dev/null || bad "has other notes, or none" "$work/live.json.err"
	ask locals.json -p "$pid" --json async backtrace all -v
	"$testdata/check/check_truth.py" "${options[@]}" --locals "$work/locals.json" "$work/truth" \
		>"$work/said" || bad "its variables differ from the truth" "$work/said"
}

# check_graph OPTIONS...: of the live program, or of its core.
check_graph() {
	grep -q '"graph":' "$work/truth" || return 0
	"$testdata/check/check_graph.py" "$asyncdbg" "$work/truth" "$@" >"$work/said" 2>&1 ||
		bad "who waits for whom differs from the truth" "$work/said"
}

# check_hidden OPTIONS...: of several variables of a name `print` means the innermost one, of which the place is not
# known; the argument that it hides is no answer.
check_hidden() {
	# It has no value: status 1.
	"$asyncdbg" "$@" -e 'task 6; frame 0; print text' >"$work/said" 2>&1 || true
	grep -q 'text ! another variable of this name hides' "$work/said" || bad "prints a hidden variable" "$work/said"
}

# check_print OPTIONS...: of the live program, or of its core.
check_print() {
	"$testdata/check/check_print.py" "$asyncdbg" "$work/live.json" "$@" >"$work/said" 2>&1 ||
		bad "what it prints is wrong" "$work/said"
}

# check_groups OPTIONS...: of the live program, or of its core.
check_groups() {
	ask groups.json "$@" --json async backtrace all --group
	ask groups.txt "$@" async backtrace all --group
	ask tally.json "$@" --json tasks --group waiting_on
	"$testdata/check/check_groups.py" "$work"/{groups.json,groups.txt,tally.json,truth} \
		>"$work/said" 2>&1 || bad "its groups differ from the truth" "$work/said"
	"$testdata/check/validate_json.py" "$schema" "$work"/{groups,tally}.json >"$work/said" ||
		bad "does not fit the schema" "$work/said"
}

# On a terminal many tasks are grouped; a command for each task looks at the same snapshot.
check_choosing() {
	ask each.txt -p "$pid" tasks --limit 3 --exec 'async task {} -v'
	[ "$(grep -c '^asyncdbg: live' "$work/each.txt")" = 1 ] ||
		bad "more than one snapshot for all tasks" "$work/each.txt"
	[ "$(grep -c '^Task: ' "$work/each.txt")" = 3 ] || bad "not three tasks" "$work/each.txt"
	# This one needs other snapshots.
	ask each.txt -p "$pid" tasks --with function kinds::work --limit 2 \
		--exec 'task {}; frame 1; print number'
	[ "$(grep -c ' = [0-9]*$' "$work/each.txt")" = 2 ] ||
		bad "not a value of each task" "$work/each.txt"
	ask each.txt -p "$pid" async backtrace all
	! grep -q -- --no-group "$work/each.txt" || bad "grouped without being asked"
	script -qec "timeout 120 '$asyncdbg' -p $pid --color never async backtrace all" /dev/null \
		>"$work/each.txt" </dev/null || bad "fails on a terminal" "$work/each.txt"
	grep -q -- '--no-group shows each task' "$work/each.txt" ||
		bad "many tasks on a terminal are not grouped" "$work/each.txt"
}

# check_holdings OPTIONS...: of the live program, or of its core.
check_holdings() {
	grep -q '"holds":' "$work/truth" || return 0
	"$testdata/check/check_holdings.py" "$asyncdbg" "$work/truth" "$@" >"$work/said" 2>&1 ||
		bad "who holds what differs from the truth" "$work/said"
}

# check_sockets OPTIONS...: of the live program, or of its core.
check_sockets() {
	grep -q '"owns":' "$work/truth" || return 0
	"$testdata/check/check_sockets.py" "$asyncdbg" "$work/truth" "$@" >"$work/said" 2>&1 ||
		bad "who owns sockets differs from the truth" "$work/said"
}

check_commands() {
	local words name files=()

	while read -r words; do
		name=${words// /-}
		# shellcheck disable=SC2086 # words of a command
		ask "$name.json" -p "$pid" --json $words
		# shellcheck disable=SC2086
		ask "$name.txt" -p "$pid" $words
		files+=("$work/$name.json")
	done <<-EOF
		info
		info layout
		info sockets
		threads
		runtimes
		tasks
		async backtrace
		bt all
	EOF
	"$testdata/check/validate_json.py" "$schema" "${files[@]}" >"$work/said" ||
		bad "does not fit the schema" "$work/said"
}

# What `save`, `diff` and `report` write and read. Each task is in all of them, and the same one in two looks; diff
# does not compare blocking jobs.
check_files() {
	local id status=0 lost=()

	ask saved.txt -p "$pid" save "$work/one.saved"
	ask saved.txt -p "$pid" save "$work/two.saved"
	ask saved.json -c "$work/one.saved" --json async backtrace all
	"$testdata/check/compare_answers.py" "$work/live.json" "$work/saved.json" >"$work/said" ||
		bad "the answer of a saved snapshot differs from the live one" "$work/said"
	# 4: both are complete, and nothing has moved.
	"$asyncdbg" --json diff "$work/one.saved" "$work/two.saved" >"$work/diff.json" 2>"$work/said" || status=$?
	[ "$status" -le 1 ] || [ "$status" -eq 4 ] || bad "diff ends with $status" "$work/said"
	jq -e --slurpfile live "$work/live.json" '.diff.counts.new == 0 and .diff.counts.gone == 0 and
		([.diff.groups[].tasks[].id] | sort) ==
		([$live[0].tasks[] | select(.kind != "blocking").id] | sort)' "$work/diff.json" >"$work/said" ||
		bad "diff does not have each task in both looks" "$work/diff.json"
	"$testdata/check/validate_json.py" "$schema" "$work/saved.json" "$work/diff.json" >"$work/said" ||
		bad "does not fit the schema" "$work/said"
	ask report.txt -p "$pid" report "$work/report.html"
	while read -r id; do
		grep -qF -- "$id" "$work/report.html" || lost+=("$id")
	done < <(jq -r '.tasks[].id' "$work/live.json")
	[ "${#lost[@]}" = 0 ] || bad "the report does not have the tasks ${lost[*]}"
}

check_verified() {
	asyncdbg=$VERIFY ask verified.json --no-cache "$@" --json async backtrace all
	cmp "$work/core.json" "$work/verified.json" >"$work/said" ||
		bad "says something else of large crates" "$work/said"
}

check_core() {
	if ! gcore -o "$work/core" "$pid" >"$work/said" 2>&1 8>&-; then
		bad "gcore failed" "$work/said"
		return
	fi
	ask core.json -c "$work/core.$pid" --json async backtrace all
	[ -z "${VERIFY:-}" ] || check_verified -c "$work/core.$pid"
	check_graph -c "$work/core.$pid"
	"$testdata/check/compare_answers.py" "$work/live.json" "$work/core.json" >"$work/said" ||
		bad "the core's answer differs from the live one" "$work/said"
	[ "$program" != locals ] || check_print -c "$work/core.$pid"
	[ "$program" != kinds ] || check_groups -c "$work/core.$pid"
	check_holdings -c "$work/core.$pid"
	check_sockets -c "$work/core.$pid"
	rm -f "$work/core.$pid"
}

# `ps` names each executor whose tasks an answer has, also where it is linked in and no thread shows it.
check_ps() {
	# 1: another process of this machine cannot be read.
	"$asyncdbg" --json ps >"$work/ps.json" 2>"$work/ps.json.err" </dev/null || [ $? -eq 1 ] ||
		bad "ps fails" "$work/ps.json.err"
	jq -e --argjson pid "$pid" --slurpfile live "$work/live.json" '[$live[0].runtimes[].kind] - [.processes[] |
		select(.pid == $pid).executors[] | select(.supported).kind] == []' "$work/ps.json" >"$work/said" ||
		bad "ps lacks an executor" "$work/ps.json"
}

# check_layout EXE: a stripped copy with a layout file is understood as the program was.
check_layout() {
	local words=(--no-cache --exe "$work/bare" --layout "$work/layout")

	ask layout.txt --no-cache -o "$work/layout" layout "$1"
	strip --strip-all -o "$work/bare" "$1"
	ask bare.json -p "$pid" "${words[@]}" --json async backtrace all
	"$testdata/check/check_truth.py" --schema "$schema" "$work/bare.json" "$work/truth" >"$work/said" ||
		bad "differs from the truth with a layout file" "$work/said"
}

# at_twenty_moments SIGNAL: sends it to asyncdbg after twenty different numbers of lines of its log.
at_twenty_moments() {
	local child i n lines now='' status

	ask signalled.txt --log all -p "$pid" bt all
	lines=$(wc -l <"$work/signalled.txt.err")
	mkfifo "$work/log"
	for i in $(seq 20); do
		"$asyncdbg" --log all -p "$pid" bt all >/dev/null 2>"$work/log" </dev/null 8>&- &
		child=$!
		exec 7<"$work/log"
		# A shell that gets the signal before it has become asyncdbg does what this one does
		# at its end: it ends the program and removes $work.
		while [ "/proc/$child/exe" -ef "/proc/$$/exe" ]; do :; done
		for ((n = 0; n < lines * i / 20; n++)); do read -r now <&7 || break; done
		# Every other time while the program is stopped, if it has not been yet.
		until ((i % 2)) || [[ $now == *TracerPid:$'\t'[1-9]* ]] || ! kill -0 "$child" 2>/dev/null; do
			read -r -d '' now <"/proc/$pid/status" || true
		done
		kill "-$1" "$child" 2>/dev/null || true
		{ cat <&7 >"$work/signalled"; } 2>/dev/null
		exec 7<&-
		status=0
		wait "$child" 2>/dev/null || status=$?
		# ^C before its handler is there is the shell's 130; anything else is a crash.
		[ "$1" = KILL ] || [ "$status" -le 2 ] || [ "$status" -eq 130 ] ||
			bad "SIG$1 ends asyncdbg with $status" "$work/signalled"
	done
	rm "$work/log"
	check_running "asyncdbg got SIG$1"
}

check_program() {
	rm -rf "${work:?}"/*
	if ! start_program "$1"; then
		bad "did not get ready" "$work/stderr"
		stop_program
		return
	fi
	check_truth
	check_graph -p "$pid"
	check_running "after a backtrace"
	check_commands
	check_ps
	[ "$program" != locals ] || check_print -p "$pid"
	[ "$program" != shadow ] || check_hidden -p "$pid"
	[ "$program" != kinds ] || check_groups -p "$pid"
	[ "$program" != kinds ] || check_choosing
	check_holdings -p "$pid"
	check_sockets -p "$pid"
	# Leaves of many kinds; what something else than tokio polls and is no task: futures that are
	# polled once, the timers of a crate, a stream that is read by way of another.
	case $program in
	sockets | services | pools | web | tls) check_layout "$1" ;;
	esac
	[ -z "${FILES:-}" ] || check_files
	check_core
	# One program of each shape: what is attached to differs in threads and load alone.
	case $program in
	burn | blocked | many | runtimes | tokio_tcp)
		at_twenty_moments KILL
		at_twenty_moments INT
		check_truth
		;;
	esac
	check_running "at the end"
	stop_program
}

if [ -n "${BINARIES:-}" ]; then
	dir=$BINARIES
elif find_cargo; then
	dir=$("$testdata/make/build_programs.sh" "$(newest_lock)" "$profile" "$@" | tail -n 1)
else
	echo "skipped: $no_cargo"
	exit 77
fi
obstacle=$(ptrace_obstacle)
[ -z "$obstacle" ] || { echo "cannot attach: $obstacle" && exit 1; }
programs=("$@")
if [ $# -eq 0 ]; then
	for manifest in "$testdata"/programs/*/src/main.rs; do
		program=$(basename "${manifest%/src/main.rs}")
		# They tell no truth about all of themselves: see run_nostop.py, run_saved.py.
		case $program in churn | stepping | steps | traced) continue ;; esac
		[ ! -x "$dir/$program" ] || programs+=("$program")
	done
fi
for program in "${programs[@]}"; do
	before=$failures
	check_program "$dir/$program"
	[ "$failures" -ne "$before" ] || echo "$program ($profile): ok"
done
[ "$failures" -eq 0 ] || { echo "$failures failures" && exit 1; }
