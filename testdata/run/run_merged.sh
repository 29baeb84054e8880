#!/bin/bash
# Attaches to the program of merged/, whose functions have equal code in pairs, in three builds: by one codegen
# unit, and linked by lld and mold with --icf=all. Each task must be named by its own function, alone or among
# others of equal code, and a breakpoint on a function of such a pair must say so.
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
	local out=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}/merged-$build

	(cd "$testdata/merged" && RUSTFLAGS="$*" cargo build --locked --release -j "${JOBS:-2}" --target-dir "$out")
	program=$out/release/merged
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

# A breakpoint on each of a pair whose poll functions the linker has merged.
check_breaks() {
	local name

	for name in load_users load_orders; do
		"$asyncdbg" -e "break merged::$name; run --stop -- $program; info breakpoints; kill" \
			</dev/null >"$work/said" 2>&1 || true
		grep -q "merged its code with that of merged::load_" "$work/said" ||
			bad "break $name does not say that its code is shared: $(cat "$work/said")"
	done
}

check_build() {
	start_program "$program" || fail "$build: $program ended before it was ready"
	"$asyncdbg" -p "$pid" --json async backtrace all </dev/null >"$work/tasks.json"
	"$testdata/check/validate_json.py" "$testdata/../docs/asyncdbg.schema.json" "$work/tasks.json"
	check_names
	# One codegen unit leaves no symbol of the function that is gone.
	[ "$build" = one ] || check_breaks
	# That the pairs were merged at all.
	[ "$build" != one ] || jq -e '[.tasks[] | select(.root.aliases != null)] | length == 6' \
		"$work/tasks.json" >/dev/null || bad "not six tasks with several candidates"
	stop_program
}

for build in one lld mold; do
	case $build in
	one) make_program -C opt-level=3 ;;
	*)
		case $build in lld) linker=ld.lld ;; *) linker=$build ;; esac
		command -v "$linker" >/dev/null || { echo "$build: not installed, left out" && continue; }
		make_program -C codegen-units=16 "-Clink-arg=-fuse-ld=$build" -Clink-arg=-Wl,--icf=all
		;;
	esac
	before=$failures
	check_build
	[ "$failures" -ne "$before" ] || echo "$build: ok"
done
[ "$failures" -eq 0 ] || { echo "$failures failures" && exit 1; }
