#!/bin/bash
# Attaches to the program of merged/, whose functions have equal code in pairs, in three builds: by one codegen
# unit, and linked by lld and mold with --icf=all. Each task must be named by its own function, alone or among others
# of equal code, and a breakpoint on a function of such a pair must say so; so must one on a plain function of a
# debug build that lld has linked so.
#
# usage: run_merged.sh ASYNCDBG
#
# Exit status 77 where there is no cargo. A linker that is not installed is left out.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -eq 1 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
find_cargo || { echo "skipped: $no_cargo" && exit 77; }
obstacle=$(ptrace_obstacle)
[ -z "$obstacle" ] || { echo "cannot attach: $obstacle" && exit 1; }
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
trap 'stop_program; rm -rf "$work"' EXIT
failures=0

bad() {
	echo "$build: $1"
	failures=$((failures + 1))
}

# make_program FLAGS...: into $program.
make_program() {
	local out=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}/merged-$build profile=release

	case $build in debug-*) profile=debug ;; esac
	(cd "$testdata/merged" && RUSTFLAGS="$*" cargo build --locked --profile "${profile/#debug/dev}" \
		-j "${JOBS:-2}" --target-dir "$out")
	program=$out/$profile/merged
}

# What a task is, as the answer has it: no function but its own may be named as a fact.
check_names() {
	local id name inner names

	while read -r _ id name inner; do
		names=$(jq -r --arg id "$id" '.tasks[] | select(.id == $id) | "\(.type) \(.root.type) \(.root.aliases // "")"' \
			"$work/tasks.json")
		grep -q "merged::$name\b" <<<"$names" || bad "task $id is $name, not $names"
		[ -z "$inner" ] || jq -e --arg id "$id" --arg name "merged::$inner" '.tasks[] | select(.id == $id) |
			[.. | objects | select(.uncertain == true or .function == $name)] != []' \
			"$work/tasks.json" >/dev/null || bad "task $id has no $inner"
		jq -e --arg id "$id" --arg name "merged::$name" '.tasks[] | select(.id == $id) | .root |
			.aliases != null or .function == $name or
			([.. | objects | .function? == $name] | any)' "$work/tasks.json" >/dev/null ||
			bad "task $id is named as another alone: $names"
		"$asyncdbg" -p "$pid" --json tasks --with type "merged::$name" </dev/null |
			jq -e --arg id "$id" '[.tasks[].id] | index($id) != null' >/dev/null ||
			bad "tasks --with type $name does not find task $id"
	done < <(grep '^truth ' "$work/truth")
	for name in narrow wide alone; do
		jq -e --arg name "merged::$name" '[.tasks[].root | select(.function == $name)] |
			length == 1 and .[0].aliases == null and .[0].uncertain == false' \
			"$work/tasks.json" >/dev/null || bad "$name is in doubt without a reason"
	done
	check_running
}

# What a function polls at a line has one name. Behind a trait object all that are possible are named.
check_running() {
	local outer inner

	while read -r outer inner; do
		jq -e --arg outer "merged::$outer" --arg inner "merged::$inner" '[.tasks[].root |
			select(.function == $outer) | .children[]] |
			length == 1 and .[0].function == $inner and .[0].aliases == null' \
			"$work/tasks.json" >/dev/null || bad "$outer does not poll $inner alone"
	done <<-'END'
		over_left deep_left
		over_right deep_right
		over_both deep_right
		over_times times
	END
	jq -e '[.tasks[].root | select(.function == "merged::hold" and .children[0].running) | .children[0] |
		.function + " " + .aliases | contains("deep_left") and contains("deep_right")] == [true, true]' \
		"$work/tasks.json" >/dev/null || bad "behind a trait object not both are named"
}

# A breakpoint on each of a pair stops in the body that both have, and says so. A function's own code is
# nobody else's.
check_breaks() {
	local name pair

	while read -r name pair; do
		"$asyncdbg" -e "break $name; run --stop -- $program; info breakpoints; kill" \
			</dev/null >"$work/said" 2>&1 || true
		grep -q "that of merged::$pair" "$work/said" ||
			bad "break $name does not say that its code is shared: $(cat "$work/said")"
		grep -q "async fn merged::\(${name#merged::}\|$pair\) at" "$work/said" ||
			bad "break $name is not in its body: $(cat "$work/said")"
	done <<-'END'
		load_users load_orders
		load_orders load_users
		boxed_users boxed_orders
		boxed_orders boxed_users
		deep_left deep_right
		merged::deep_right deep_left
	END
	"$asyncdbg" -e "break narrow; break alone; run --stop -- $program; info breakpoints; kill" \
		</dev/null >"$work/said" 2>&1 || true
	! grep -q "that of" "$work/said" || bad "the code of alone is shared: $(cat "$work/said")"
}

# The headline of a stop in shared code names the coroutine that the caller awaits, or all. The program runs as
# long as its standard input is open; main() spawns the tasks, so their ids are those of the other process.
check_headline() {
	local id outer inner stops=0

	rm -f "$work/open"
	mkfifo "$work/open"
	exec 7<>"$work/open"
	timeout 120 "$asyncdbg" -e "break deep_left; run -- $program; continue; continue; continue; continue; kill" \
		<&7 >"$work/said" 2>&1 || true
	exec 7>&-
	while read -r _ id outer inner; do
		grep -q "^breakpoint 1: .*, task $id," "$work/said" || continue
		stops=$((stops + 1))
		case "$outer $inner" in
		over_*deep_*) grep -q "^breakpoint 1: async fn merged::$inner at [^[]*, task $id," "$work/said" ||
			bad "a stop below $outer is not in $inner: $(cat "$work/said")" ;;
		"hold deep_"*) grep -q "^breakpoint 1: .*deep_.* \[or .*deep_.*\], task $id," "$work/said" ||
			bad "a stop below $outer does not name both: $(cat "$work/said")" ;;
		esac
	done < <(grep '^truth ' "$work/truth")
	[ "$stops" = 5 ] || bad "$stops stops in deep_left, not 5: $(cat "$work/said")"
}

# The same as JSON: aliases of a stop are the other functions that it may be in.
check_stops() {
	local id outer inner

	rm -f "$work/open"
	mkfifo "$work/open"
	exec 7<>"$work/open"
	timeout 120 "$asyncdbg" --json -e "break deep_left; run -- $program; continue; continue; continue; continue; kill" \
		<&7 2>"$work/said" | sed '/^ready$/d; /^truth /d' >"$work/stops.json" || true
	exec 7>&-
	while read -r _ id outer inner; do
		case "$outer $inner" in
		over_*deep_*) jq -se --arg id "$id" --arg name "merged::$inner::{async_fn#0}" '[.[] | .. | objects |
			select(.reason? == "breakpoint" and .task == $id)] |
			all(.function == $name and (has("aliases") | not))' "$work/stops.json" >/dev/null ||
			bad "JSON of a stop below $outer is not in $inner alone" ;;
		"hold deep_"*) jq -se --arg id "$id" '[.[] | .. | objects |
			select(.reason? == "breakpoint" and .task == $id)] | all(.function + " " + .aliases |
			contains("deep_left") and contains("deep_right"))' "$work/stops.json" >/dev/null ||
			bad "JSON of a stop below $outer does not name both" ;;
		esac
	done < <(grep '^truth ' "$work/truth")
	[ "$(jq -s '[.[] | .. | objects | select(.reason? == "breakpoint")] | length' "$work/stops.json")" = 5 ] ||
		bad "not five stops in JSON: $(cat "$work/said")"
}

# stops_at NAME: a breakpoint on that plain function of a debug build stops, and the stop names it.
stops_at() {
	timeout 120 "$asyncdbg" -e "break $1; run -- $program; info breakpoints; kill" \
		</dev/null >"$work/said" 2>&1 || true
	grep -q "^breakpoint 1: .*\(merged::$1\b\|and [0-9]* more: they share\)" "$work/said" ||
		bad "a stop in $1 does not name it: $(cat "$work/said")"
	grep -q "! the linker has merged its code with that of" "$work/said" ||
		bad "break $1 does not say that its code is shared: $(cat "$work/said")"
	shown_at "$1"
}

# shown_at NAME: so does the stack there, as text and JSON.
shown_at() {
	timeout 120 "$asyncdbg" -e "break $1; run -- $program; bt; kill" </dev/null >"$work/said" 2>&1 || true
	grep -q "^ *#0 .* in .*\(merged::$1\b\|and [0-9]* more\).* ()" "$work/said" ||
		bad "the stack in $1 does not name it: $(cat "$work/said")"
	timeout 120 "$asyncdbg" --json -e "break $1; run -- $program; bt; kill" </dev/null 2>"$work/said" |
		sed '/^ready$/d; /^truth /d' >"$work/stack.json" || true
	jq -se --arg name "merged::$1" '[.[] | .threads[]? | .frames[]? | select(.number == 0 and .aliases != null) |
		.function + ", " + .aliases | contains($name) or test("and [0-9]+ more")] == [true]' \
		"$work/stack.json" >/dev/null || bad "JSON of the stack in $1 does not name it"
	jq -se '[.[] | .threads[]? | .frames[]? | select(.function == "merged::main" and .aliases != null)] == []' \
		"$work/stack.json" >/dev/null || bad "the stack in $1 has other names for main"
}

# A linker merges plain functions of a debug build as well, and instances of generic ones. lld leaves the symbols of
# all; mold that of one, so that nothing tells.
check_plain() {
	local name

	for name in plain_left plain_right address_of place_of; do
		stops_at "$name"
	done
	"$testdata/run/run_dap_merged.py" "$asyncdbg" "$program" plain_left plain_right || bad "dap: plain functions"
}

# A task is followed to its end, whichever of a pair it is; "right" makes the program run the other one.
check_whole() {
	local side argument

	for side in left right; do
		argument=${side#left}
		"$asyncdbg" -e "tbreak merged::brief_$side; run -- $program $argument; finish --whole; kill" \
			</dev/null >"$work/said" 2>&1 || true
		grep -q "^returned: .*its task has finished" "$work/said" ||
			bad "finish --whole of brief_$side: $(cat "$work/said")"
	done
}

# Native frames have the names of the chain.
check_frames() {
	"$asyncdbg" -p "$pid" --json bt all </dev/null >"$work/stacks.json"
	jq -e '[.threads[].frames | [.[].function | select(. != null and test("deep_|over_(left|right|both)"))] |
		select(any(test("over_")))] | sort | . == [["merged::deep_left", "merged::over_left"],
		["merged::deep_right", "merged::over_both"], ["merged::deep_right", "merged::over_right"]]' \
		"$work/stacks.json" >/dev/null || bad "native frames have other names than the chain"
}

# A trace names each task by its own function, alone or among others, from its spawn on. Where the kernel refuses
# probes it is left out.
check_trace() {
	local id name

	"$asyncdbg" --jsonl trace -o "$work/trace.jsonl" --events task-spawn,task-poll-start -- "$program" \
		</dev/null >"$work/traced" 2>"$work/said" || true
	[ -s "$work/traced" ] || { echo "$build: trace: left out: $(head -n 1 "$work/said")" && return; }
	while read -r _ id name _; do
		jq -es --arg id "$id" --arg name "merged::$name" '[.[] | select(.task? == $id) | .type |
			split(" or ")] | length > 1 and all(any(contains($name + "::{")))' \
			"$work/trace.jsonl" >/dev/null || bad "a trace does not name task $id $name"
	done < <(grep '^truth ' "$work/traced")
	jq -es '[.[] | select(.type? // "" | contains("merged::alone::{")) | .type | contains(" or ")] | any | not' \
		"$work/trace.jsonl" >/dev/null || bad "a trace has alone in doubt without a reason"
}

check_build() {
	start_program "$program" || fail "$build: $program ended before it was ready"
	"$asyncdbg" -p "$pid" --json async backtrace all </dev/null >"$work/tasks.json"
	"$testdata/check/validate_json.py" "$testdata/../docs/asyncdbg.schema.json" "$work/tasks.json"
	check_names
	check_frames
	check_breaks
	check_headline
	check_stops
	check_whole
	check_trace
	"$testdata/run/run_dap_merged.py" "$asyncdbg" "$program" || bad "dap"
	# That the pairs were merged at all.
	[ "$build" != one ] || jq -e '[.tasks[] | select(.root.aliases != null)] | length == 6' \
		"$work/tasks.json" >/dev/null || bad "not six tasks with several candidates"
	stop_program
}

for build in one lld mold debug-lld; do
	case $build in
	one) make_program -C opt-level=3 ;;
	*)
		case $build in *lld) linker=ld.lld ;; *) linker=$build ;; esac
		command -v "$linker" >/dev/null || { echo "$build: not installed, left out" && continue; }
		make_program -C codegen-units=16 "-Clink-arg=-fuse-ld=${build#debug-}" -Clink-arg=-Wl,--icf=all
		;;
	esac
	before=$failures
	case $build in debug-*) check_plain ;; *) check_build ;; esac
	[ "$failures" -ne "$before" ] || echo "$build: ok"
done
[ "$failures" -eq 0 ] || { echo "$failures failures" && exit 1; }
