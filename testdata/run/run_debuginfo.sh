#!/bin/bash
# One program with its debug info in every form that it comes in: each must give the whole truth,
# or say what it is and what to do.
#
# usage: run_debuginfo.sh ASYNCDBG
#
# Exit status 77 where there is no cargo.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"

[ $# -eq 1 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
program=tokio_tcp
find_cargo || { echo "skipped: $no_cargo" && exit 77; }
work=$(mktemp -d)
failures=0
options=()

trap 'stop_program; rm -rf "$work"' EXIT

bad() {
	echo "$1: $2"
	[ -z "${3:-}" ] || sed 's/^/    /' "$3" | head -n 10
	failures=$((failures + 1))
}

# Runs the executable $2 and leaves asyncdbg's answer in $work/answer and $work/notes.
look() {
	start_program "$1" || return 1
	status=0
	timeout 120 "$asyncdbg" --no-cache "${options[@]}" -p "$pid" --json async backtrace all >"$work/answer" \
		2>"$work/notes" </dev/null || status=$?
	stop_program
}

# whole NAME EXE: nothing is missing.
whole() {
	look "$2" || { bad "$1" "did not get ready"; return; }
	if [ "$status" -ne 0 ]; then
		bad "$1" "ends with $status" "$work/notes"
	elif ! "$testdata/check/check_truth.py" "$work/answer" "$work/truth" >"$work/said"; then
		bad "$1" "differs from the truth" "$work/said"
	else
		echo "$1: whole"
	fi
}

# says NAME EXE TEXT: an incomplete answer whose notes name the reason.
says() {
	look "$2" || { bad "$1" "did not get ready"; return; }
	if [ "$status" -ne 1 ]; then
		bad "$1" "ends with $status" "$work/notes"
	elif ! jq -r '.notes[]' "$work/answer" | grep -q -- "$3"; then
		bad "$1" "does not say '$3'" "$work/answer"
	else
		echo "$1: said"
	fi
}

# stripped NAME EXE: nothing is missing of a copy without symbols, with a layout file.
stripped() {
	if ! "$asyncdbg" layout "$2" -o "$work/layout" 2>"$work/said"; then
		bad "$1" "has no layout file" "$work/said"
		return
	fi
	strip --strip-all -o "$work/bare" "$2"
	options=(--layout "$work/layout")
	whole "$1, stripped, with a layout file" "$work/bare"
	options=()
}

# spawned NAME EXE: each task and job states where tasksets has spawned it.
spawned() {
	local file=tasksets/src/main.rs what text

	whole "$1" "$2"
	while read -r what text; do
		grep -n -F -- "$text" "$testdata/programs/$file" |
			sed "s,^\([0-9]*\):.*,$file:\1," | sort -u >"$work/expected"
		jq -r --arg what "$what" '.tasks[] | select((.job // .root.function) == $what) |
			"\(.spawned_at.file):\(.spawned_at.line)"' "$work/answer" |
			sed "s,^.*$file,$file," | sort -u >"$work/said"
		diff "$work/expected" "$work/said" >"$work/differs" ||
			bad "$1" "$what was not spawned there" "$work/differs"
	done <<-'SPAWNED'
		tasksets::join_some tokio::spawn(join_some(
		tasksets::nap .spawn(nap(
		tasksets::wait_for tokio::spawn(wait_for(
		tasksets::start_job::{closure#0} spawn_blocking(move
	SPAWNED
}

# built PROFILE [PROGRAM...]: as build_tests.sh does, since others ask for other features of tokio.
built() {
	local profile=$1
	shift

	"$testdata/make/build_programs.sh" "$(newest_lock)" "$profile" "$program" "$@" | tail -n 1
}

plain=$(built release)/$program
whole plain "$plain"
objcopy --compress-debug-sections=zlib "$plain" "$work/zlib"
whole "compressed with zlib" "$work/zlib"
objcopy --compress-debug-sections=zlib-gnu "$plain" "$work/zlib-gnu"
whole "compressed the GNU way" "$work/zlib-gnu"
objcopy --strip-all "$plain" "$work/linked"
says stripped "$work/linked" "it is stripped"
objcopy --only-keep-debug "$plain" "$work/separate"
(cd "$work" && objcopy --add-gnu-debuglink=separate linked)
whole "debug link" "$work/linked"
objcopy --remove-section=.symtab --remove-section=.strtab "$plain" "$work/nosym" 2>/dev/null
whole "no symbol table" "$work/nosym"
if objcopy --compress-debug-sections=zstd "$plain" "$work/zstd" 2>/dev/null; then
	says "compressed with zstd" "$work/zstd" "compressed with zstd"
fi
stripped plain "$plain"
stripped debug "$(built debug)/$program"
for form in "dwarf5+nopie" "static+v0 burn"; do
	# shellcheck disable=SC2086 # words
	exe=$(built release+$form)/$program
	whole "$form" "$exe"
	stripped "$form" "$exe"
done
says "line tables only" "$(built debug1 notokio)/$program" "line tables only"
split=$(built release+split)/$program
says "split into .dwp" "$split" "split into .dwo or .dwp"
program=tasksets
exe=$(built release+unstable)/$program
spawned "release, tokio_unstable" "$exe"

[ "$failures" -eq 0 ] || { echo "$failures failures" && exit 1; }
