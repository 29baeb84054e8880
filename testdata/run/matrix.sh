#!/bin/bash
# Checks asyncdbg against the programs, for many versions of tokio and several profiles.
#
# usage: matrix.sh [--slice] [--no-core] [--output FILE] [LOCK:PROFILE...]
#
# Builds each cell's programs, and for each program: starts it, waits until it is ready, asks
# asyncdbg for all backtraces, and where the program knows them for the graph, for who holds what and
# for groups, live and from a core, and compares that with the program's truth.
# Writes a Markdown table and exits with 1 unless all of it is ok.
#
# --slice        three rows for CI: the newest tokio in debug and release, and the oldest
# --no-core      live only
# --output FILE  the table goes there too
# LOCK:PROFILE   only these rows; see build_programs.sh for both
#
# ASYNCDBG          the program to test, default build/release/asyncdbg
# PROGRAMS          only these, separated by spaces
# SCHEMA            the JSON schema that the documents must fit, none if empty
# CARGO_TARGET_DIR  where to build; each row's files are removed after it unless KEEP=1
# OLD_CARGO, OLD_RUSTC  for locks made for an old rustc, default those in /usr/bin
set -uo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
asyncdbg=${ASYNCDBG:-$testdata/../build/release/asyncdbg}
schema=${SCHEMA-$testdata/../docs/asyncdbg.schema.json}
cores=yes
output=
rows=()

fail() {
	echo "${0##*/}: $*" >&2
	exit 2
}

lock_names() {
	find "$testdata/locks" -name 'tokio-*.lock' -printf '%f\n' | sed 's/\.lock$//' | sort -V
}

newest=$(lock_names | grep -v rustc | tail -1)
oldest=$(lock_names | grep -v rustc | head -1)

while [ $# -gt 0 ]; do
	case $1 in
	--slice) rows+=("$newest:debug" "$newest:release" "$oldest:debug") ;;
	--no-core) cores= ;;
	--output) output=${2:?} && shift ;;
	*:*) rows+=("$1") ;;
	*) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 2 ;;
	esac
	shift
done
if [ ${#rows[@]} -eq 0 ]; then
	for lock in $(lock_names); do
		rows+=("$lock:debug" "$lock:release")
	done
	rows+=("$newest:lto" "$newest:v0" "$newest:static" "$oldest:lto")
fi
[ -x "$asyncdbg" ] || fail "no asyncdbg at $asyncdbg"

programs=${PROGRAMS:-$(cd "$testdata/programs" && printf '%s\n' */Cargo.toml | grep -vE '^(truth|churn|stepping|steps|traced)' |
	xargs -n 1 dirname)}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
# A machine that is busy with other tests needs longer than a user would wait.
export ASYNCDBG_SCAN=${ASYNCDBG_SCAN:-1024,5000}
pid=

# Ends the program, and fails if it did not end by itself when its stdin did.
stop_program() {
	local status=0
	exec 9>&-
	[ -n "$pid" ] || return 0
	for _ in $(seq 200); do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	kill -9 "$pid" 2>/dev/null && status=1
	wait "$pid" 2>/dev/null
	pid=
	return $status
}
trap 'stop_program; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# Starts a program and waits for its truth; its stdin stays open as fd 9.
start_program() {
	find "$work" -mindepth 1 -maxdepth 1 ! -name cache -delete
	mkfifo "$work/stdin"
	"$1" <"$work/stdin" >"$work/truth" 2>"$work/stderr" &
	pid=$!
	exec 9>"$work/stdin"
	for _ in $(seq 1200); do
		tail -n +2 "$work/truth" | grep -q '}$' && return 0
		kill -0 "$pid" 2>/dev/null || return 1
		sleep 0.05
	done
	return 1
}

# Compares who waits for whom, where the program says that.
check_graph() {
	grep -q '"graph":' "$work/truth" || return 0
	"$testdata/check/check_graph.py" "$asyncdbg" "$work/truth" "$@" 2>&1
}

# Compares who holds what, where the program says that.
check_holdings() {
	grep -q '"holds":' "$work/truth" || return 0
	"$testdata/check/check_holdings.py" "$asyncdbg" "$work/truth" "$@" 2>&1
}

# Compares groups of tasks, of the program that is made for that.
check_groups() {
	grep -q '"program":"kinds"' "$work/truth" || return 0
	{
		timeout 120 "$asyncdbg" "$@" --json async backtrace all --group >"$work/groups.json" &&
			timeout 120 "$asyncdbg" "$@" async backtrace all --group >"$work/groups.txt" &&
			timeout 120 "$asyncdbg" "$@" --json tasks --group waiting_on >"$work/tally.json" &&
			"$testdata/check/check_groups.py" "$work"/{groups.json,groups.txt,tally.json,truth}
	} 2>&1
}

# Compares one document, asked for by the rest of the arguments; prints ok or why not.
check() {
	local what=$1 differences
	shift
	if ! timeout 120 "$asyncdbg" "$@" --json async backtrace all -v >"$work/$what.json" \
		2>"$work/$what.stderr" && [ ! -s "$work/$what.json" ]; then
		differences=$(tail -n 1 "$work/$what.stderr")
		echo "$what: ${differences:-no answer}"
		return
	fi
	differences=$("$testdata/check/check_truth.py" ${schema:+--schema "$schema"} --locals "$work/$what.json" \
		"$work/truth") && differences=$(check_graph "$@") &&
		differences=$(check_holdings "$@") && differences=$(check_groups "$@") &&
		echo ok && return
	# A table has room for one difference; the others go to stderr.
	echo "  $what: ${differences//$'\n'/$'\n'  $what: }" >&2
	echo "$what: $(echo "$differences" | head -n 1 | cut -c 1-80)"
}

cell() {
	local result
	if ! start_program "$1"; then
		stop_program
		echo "not ready: $(head -c 80 "$work/stderr" | tr '\n' ' ')"
		return
	fi
	result=$(check live -p "$pid")
	if [ "$result" = ok ] && [ -n "$cores" ]; then
		if gcore -o "$work/core" "$pid" >/dev/null 2>&1 9>&-; then
			result=$(check core -c "$work/core.$pid")
		else
			result="no core"
		fi
	fi
	stop_program || result="does not go on after asyncdbg left it"
	echo "$result"
}

# The directory of a row's executables, or nothing.
build() {
	local lock=$1 profile=$2
	case $lock in
	*-rustc-*)
		export CARGO=${OLD_CARGO:-/usr/bin/cargo} RUSTC=${OLD_RUSTC:-/usr/bin/rustc}
		"$RUSTC" --version 2>/dev/null | grep -q "^rustc ${lock##*-rustc-}\." || return 1
		;;
	esac
	# shellcheck disable=SC2086 # a list
	"$testdata/make/build_programs.sh" "$lock" "$profile" ${PROGRAMS:-} 2>"$work.log" | tail -n 1
}

table() {
	echo "$*" | tee -a ${output:+"$output"}
}

[ -z "$output" ] || : >"$output"
status=0
header='| tokio | profile |' rule='| --- | --- |'
for program in $programs; do
	header+=" $program |" rule+=' --- |'
done
table "$header"
table "$rule"
for row in "${rows[@]}"; do
	lock=${row%%:*} profile=${row#*:}
	line="| ${lock#tokio-} | $profile |"
	dir=$(build "$lock" "$profile")
	if [ ! -d "$dir" ]; then
		tail -n 5 "$work.log" >&2
		status=1
		dir=
	fi
	for program in $programs; do
		if [ -z "$dir" ]; then
			result='not built'
		elif [ ! -x "$dir/$program" ]; then
			# Its rustc is too old for this program.
			result='-'
		else
			result=$(cell "$dir/$program")
		fi
		case $result in
		ok | -) ;;
		*)
			echo "$row $program: $result" >&2
			status=1
			;;
		esac
		line+=" ${result//|/\\|} |"
	done
	table "$line"
	[ -n "${KEEP:-}" ] || [ -z "$dir" ] || rm -rf "${dir%/build/*}"
done
rm -f "$work.log"
exit $status
