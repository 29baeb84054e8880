#!/bin/bash
# Counts the instructions of what must stay cheap, with valgrind, and compares them with counts.tsv:
# a count that is more than TOLERANCE percent above it is a regression. Counts, not times: they
# are the same on a busy machine. They differ a little between compilers, and much between
# optimised and other builds.
#
# usage: run_counts.sh [--bless] ASYNCDBG [NAME...]
# NAME       of rows in counts.tsv, default all
# TOLERANCE  default 15
#
# --bless writes the counts of this ASYNCDBG, a release build, into counts.tsv. Exit code 77:
# valgrind is missing, or the build has a sanitizer, which valgrind cannot run.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
table=$testdata/run/counts.tsv
tolerance=${TOLERANCE:-15}
times=10
bless=
if [ "${1:-}" = --bless ]; then
	bless=yes
	shift
fi
[ $# -ge 1 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
shift
command -v valgrind >/dev/null || { echo "skipped: no valgrind" && exit 77; }
if grep -q __asan_init "$asyncdbg"; then
	echo "skipped: a build with sanitizers"
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The same work at each run: no limit of time for the search through memory, which valgrind makes
# slow, and no cache file that another test writes.
export ASYNCDBG_SCAN=4096,3600000 XDG_CACHE_HOME=$work/cache
cd "$work"

unpack() {
	local fixture=$1

	[ -f "$fixture.core" ] || zstd -qdf "$testdata/fixtures/$fixture.core.zst" -o "$fixture.core"
	[ -f "$fixture.exe" ] || zstd -qdf "$testdata/fixtures/$fixture.exe.zst" -o "$fixture.exe"
}

# The commands with the addresses of two tasks in them.
with_addresses() {
	local fixture=$1 commands=$2 addresses

	addresses=$("$asyncdbg" -c "$fixture.core" --exe "$fixture.exe" --jsonl tasks |
		sed -n 's/^{"id":"[^"]*","kind":"task","runtime":[0-9]*,"addr":"\(0x[0-9a-f]*\)".*/\1/p')
	[ "$(wc -l <<<"$addresses")" -ge 2 ] || { echo "$fixture has no two tasks" >&2 && exit 1; }
	commands=${commands//%A/$(sed -n 1p <<<"$addresses")}
	echo "${commands//%B/$(sed -n 2p <<<"$addresses")}"
}

# Callgrind takes the name of a function as the beginning of names: tokio_collect, which was renamed,
# counted tokio_collect_local_sets.
check_function() {
	local function=$1

	[ "$function" = - ] || nm "$asyncdbg" | grep -i " t $function\$" >/dev/null ||
		{ echo "asyncdbg has no function $function" >&2 && exit 1; }
}

# Whether that is the exit code of an answer: 1 is an incomplete one, 4 one of diff.
answered() {
	[ "$1" -le 1 ] || [ "$1" -eq 4 ]
}

# count FIXTURE FUNCTION OPTION COMMANDS: instructions in all calls of the function, or in all.
count() {
	local fixture=$1 function=$2 only=() option=() collected

	[ "$function" = - ] || only=(--toggle-collect="$function")
	[ "$3" = - ] || option=("$3")
	timeout 600 valgrind --tool=callgrind --callgrind-out-file=/dev/null "${only[@]}" \
		"$asyncdbg" -c "$fixture.core" --exe "$fixture.exe" "${option[@]}" -e "$4" \
		>out 2>err </dev/null || answered $? || { tail -n 5 err >&2 && exit 1; }
	collected=$(sed -n 's/^==[0-9]*== Collected *: *\([0-9]*\).*/\1/p' err)
	if [ "${collected:-0}" -eq 0 ]; then
		echo "$function was not called, or was inlined" >&2
		exit 1
	fi
	echo "$collected"
}

# The count of a row's commands, once.
measure() {
	local fixture=$1 function=$2 option=$3 before=$4 each=$5 all=() less=0 i more

	check_function "$function"
	unpack "$fixture"
	if [ "$before" = - ]; then
		count "$fixture" "$function" "$option" "$(with_addresses "$fixture" "$each")"
		return
	fi
	for ((i = 0; i < times; i++)); do
		all+=("$each")
	done
	more=$(printf '%s; ' "$before" "${all[@]}")
	less=$(count "$fixture" "$function" "$option" "$(with_addresses "$fixture" "$before")")
	more=$(count "$fixture" "$function" "$option" "$(with_addresses "$fixture" "$more")")
	echo $(((more - less) / times))
}

wanted() {
	local name=$1
	shift

	[ $# -eq 0 ] || printf '%s\n' "$@" | grep -qx -- "$name"
}

rows=0
bad=0
while IFS=$'\t' read -r name fixture function option before each blessed; do
	if [[ $name = \#* || $name = name ]] || ! wanted "$name" "$@"; then
		continue
	fi
	rows=$((rows + 1))
	now=$(measure "$fixture" "$function" "$option" "$before" "$each")
	echo "$name: $now instructions, $blessed blessed"
	if [ -n "$bless" ]; then
		awk -F '\t' -v OFS='\t' -v name="$name" -v now="$now" \
			'$1 == name { $7 = now } { print }' "$table" >table && cp table "$table"
	elif ((now * 100 > blessed * (100 + tolerance))); then
		echo "  more than $tolerance % above; if that is meant, run run_counts.sh --bless"
		bad=1
	elif ((now * 100 < blessed * (100 - tolerance))); then
		echo "  more than $tolerance % below: run run_counts.sh --bless to keep it so"
	fi
done < <(cat "$table")
[ "$rows" -gt 0 ] || { echo "no such row in counts.tsv" && exit 64; }
exit $bad
