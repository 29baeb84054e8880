#!/bin/bash
# Compares the answers of commands about fixtures with those in golden/.
#
# usage: run_golden.sh [--bless] ASYNCDBG [FIXTURE...]
# FIXTURES  where fixtures are, default fixtures/ of testdata
#
# golden/FIXTURE.txt is a transcript, a page to be read: lines "$ asyncdbg WORDS" are the commands, and
# behind each stands its answer, as a terminal shows it. To ask more of a fixture, add such a line and
# bless. A few fixtures have a folder golden/FIXTURE in its place, with the answers of all commands in all
# formats: COMMAND.{txt,json}, what went to standard error, if anything, in COMMAND.FORMAT.stderr, and the
# exit codes in status. Cores keep addresses where they are, so nothing is normalised.
#
# Each command is run three times: the second time most is answered from the cache, the third time all
# from a snapshot that `save` made of the core; every byte must be the same. Of each fixture JSON is valid
# and JSON lines are the same documents, and the backtraces are what the fixture's program said of itself.
# --bless rewrites golden/; review the diff.
#
# A fixture with a layout file has no debug info: asyncdbg uses the file.
set -euo pipefail

# Trees are drawn for the locale.
export LC_ALL=C.UTF-8
testdata=$(cd "$(dirname "$0")/.." && pwd)
fixture_dir=${FIXTURES:-$testdata/fixtures}
schema=$testdata/../docs/asyncdbg.schema.json
bless=
if [ "${1:-}" = --bless ]; then
	bless=yes
	shift
fi
[ $# -ge 1 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
shift
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
trap 'rm -rf "$work"' EXIT

# Of a new fixture's transcript.
first_commands=('info' 'runtimes' 'tasks' 'async backtrace all -v' 'async graph' 'async deadlocks' 'check')

# has_folder FIXTURE: whether golden/ has all answers about it.
has_folder() {
	[ -d "$testdata/golden/$1" ]
}

# commands FIXTURE: NAME asyncdbg's words; %ID is the first task's id. Beside a transcript only what is
# compared with the truth.
commands() {
	local only=.

	has_folder "$1" || only='^async-backtrace-all-v '
	grep "$only" <<-EOF
		info info
		info-layout info layout
		info-threads info threads
		threads threads
		runtimes runtimes
		tasks tasks
		tasks-group tasks --group waiting_on
		tasks-with tasks --with state idle --without function main --limit 5
		async-backtrace async backtrace
		async-backtrace-all async backtrace all
		async-backtrace-all-v async backtrace all -v
		async-backtrace-all-group async backtrace all --group
		async-graph async graph
		async-graph-id async graph %ID
		async-deadlocks async deadlocks
		check check
		async-task async task %ID
		async-task-v async task %ID -v
		task task %ID
		bt bt
	EOF
}

has_layout() {
	[ -f "$fixture_dir/$1.layout.zst" ]
}

# What an answer of a saved snapshot says more: that it is one.
saved_when='[0-9-]+ [0-9:]+ UTC'
is_saved=(
	-e "s/^(asyncdbg: )snapshot [^ ]+\\.saved of (.*\\)), saved $saved_when/\\1\\2/"
	-e "/^Snapshot: +[^ ]+\\.saved, saved $saved_when\$/d"
	-e "/^ +\"saved_file\": \"[^\"]+\\.saved\",\$/d"
	-e "/^ +\"saved_when\": \"$saved_when\",\$/d"
	-e "s/\"saved_file\":\"[^\"]+\\.saved\",\"saved_when\":\"$saved_when\",//"
)

# answer FIXTURE NAME FORMAT WORDS...: into $work/$out/FIXTURE/NAME.FORMAT.
answer() {
	local fixture=$1 name=$2 format=$3 option=() status=0 file
	shift 3

	[ "$format" = txt ] || option=("--$format")
	file=$work/$out/$fixture/$name.$format
	# Relative names: where the files are must not matter.
	(cd "$work" && timeout 300 "$asyncdbg" -c "${target[@]}" --color never \
		"${option[@]}" "$@") >"$file" 2>"$file.stderr" </dev/null || status=$?
	[ -s "$file.stderr" ] || rm "$file.stderr"
	printf '%s %s %s\n' "$name" "$format" "$status" >>"$work/$out/$fixture/status"
}

first_task() {
	python3 -c 'import json, sys; tasks = json.load(sys.stdin).get("tasks") or [{"id": "1"}]
print(tasks[0]["id"])' <"$work/out/$1/tasks.json" 2>/dev/null || echo 1
}

# Whether the first of the tasks is a job: its frames are native, which a saved snapshot does not have.
first_is_job() {
	python3 -c 'import json, sys; tasks = json.load(sys.stdin).get("tasks")
sys.exit(not tasks or tasks[0]["kind"] != "blocking")' <"$work/out/$1/tasks.json" 2>/dev/null
}

# run_commands FIXTURE OUT FORMAT...: into $work/OUT/FIXTURE.
run_commands() {
	local fixture=$1 out=$2 name words format
	shift 2

	mkdir -p "$work/$out/$fixture"
	while read -r name words; do
		[ "$words" = "${words/\%ID/}" ] || words=${words/\%ID/$(first_task "$fixture")}
		for format; do
			# shellcheck disable=SC2086 # words of a command
			answer "$fixture" "$name" "$format" $words
		done
	done < <(commands "$fixture")
	has_folder "$fixture" || return 0
	# Several commands, one focus; in JSON these are several documents.
	answer "$fixture" tasks-exec txt -e "tasks --limit 2 --exec 'task {}; frame 0'; tasks --limit 1"
	first_is_job "$fixture" || answer "$fixture" focus txt -e "task $(first_task "$fixture"); frame 0; locals"
}

# transcript FIXTURE OUT: into $work/OUT/FIXTURE.txt.
transcript() {
	local file=$work/$2/$1.txt line words status

	has_folder "$1" && return
	: >"$file"
	while read -r line; do
		eval "words=(${line#\$ asyncdbg })"
		status=0
		(cd "$work" && timeout 300 "$asyncdbg" -c "${target[@]}" --color never "${words[@]}") \
			>"$work/said" 2>"$work/notes" </dev/null || status=$?
		# The line about the program, and notes about all of it, are shown once.
		[ ! -s "$file" ] || sed -Ei '/^asyncdbg: (core|snapshot) /d' "$work/said"
		{
			echo "$line"
			cat "$work/said"
			grep -vxFf "$file" "$work/notes" || true
			[ "$status" -eq 0 ] || echo "exit status $status"
			echo
		} >"$work/more"
		cat "$work/more" >>"$file"
	done < <(grep '^\$ asyncdbg ' "$testdata/golden/$1.txt" 2>/dev/null || printf '$ asyncdbg %s\n' "${first_commands[@]}")
}

# What a saved snapshot has no answer to: into $work/types/FIXTURE.
run_types() {
	local fixture=$1 out=types format

	mkdir -p "$work/$out/$fixture" "$work/locals/src"
	# In place of the source, which changes; older than any executable.
	seq -f '    line %g' 30 >"$work/locals/src/plain.rs"
	touch -d 2001-01-01 "$work/locals/src/plain.rs"
	for format in txt json; do
		answer "$fixture" types "$format" types '^truth::' --limit 5
		answer "$fixture" type-struct "$format" type truth::Place
		answer "$fixture" type-coroutine "$format" type locals::plain::compounds
		answer "$fixture" list "$format" list locals/src/plain.rs:20
		answer "$fixture" x-words "$format" x/9xg '$sp'
		answer "$fixture" x-addresses "$format" x/3a '$sp'
		answer "$fixture" info-registers "$format" info registers
	done
	answer "$fixture" native txt -e 'thread 1; frame 18; locals; down; info registers'
}

run_fixture() {
	local fixture=$1

	zstd -qdf "$fixture_dir/$fixture.core.zst" -o "$work/$fixture.core"
	zstd -qdf "$fixture_dir/$fixture.exe.zst" -o "$work/$fixture.exe"
	target=("$fixture.core" --exe "$fixture.exe")
	if has_layout "$fixture"; then
		zstd -qdf "$fixture_dir/$fixture.layout.zst" -o "$work/$fixture.layout"
		target+=(--layout "$fixture.layout")
	fi
	run_commands "$fixture" out txt json jsonl
	transcript "$fixture" out
	run_commands "$fixture" again txt json
	transcript "$fixture" again
	[ "$fixture" != locals ] || run_types "$fixture"
	# 1: the snapshot is incomplete, and says so.
	(cd "$work" && timeout 300 "$asyncdbg" -c "${target[@]}" save --values "$fixture.saved" >/dev/null) ||
		[ $? -eq 1 ]
	local of_core=("${target[@]}")
	target=("$fixture.saved")
	run_commands "$fixture" saved txt json
	transcript "$fixture" saved
	find "$work/saved/$fixture"* -type f ! -name status -exec sed -Ei "${is_saved[@]}" {} +
	check_cache "$fixture" "${of_core[@]}" || uncached+=("$fixture")
	rm -f "$work/$fixture".{core,exe,layout,saved}
}

# check_cache FIXTURE TARGET...: the same answer where the cache must not or cannot be written, and
# nothing written.
check_cache() {
	local fixture=$1 where option
	shift

	while read -r where option; do
		# shellcheck disable=SC2086 # one option, or none
		(cd "$work" && XDG_CACHE_HOME=$where timeout 300 "$asyncdbg" $option -c "$@" \
			--color never async backtrace all -v) >"$work/tasks" 2>/dev/null </dev/null || true
		if ! cmp -s "$work/tasks" "$work/out/$fixture/async-backtrace-all-v.txt" || [ -e "$work/none" ]; then
			echo "$fixture: another answer, or a cache, with $where $option"
			return 1
		fi
	done <<-EOF
		$work/none --no-cache
		/dev/null
		/proc/self/fd
	EOF
}

# Exit codes of a complete and of an incomplete answer, and of a check that found something; anything
# else is no answer.
check_status() {
	if grep -vE ' [013]$' "$work/out/$1/status" || grep -hs '^exit status [^13]' "$work/out/$1.txt"; then
		echo "$1: these commands gave no answer"
		return 1
	fi
}

# same FIXTURE OUT: what was answered again is what was answered first; prints what differs.
same() {
	diff -ru --exclude='*.jsonl*' --exclude=status "$work/out/$1" "$work/$2/$1" >"$work/diff" &&
		{ has_folder "$1" || diff -u "$work/out/$1.txt" "$work/$2/$1.txt" >"$work/diff"; } &&
		diff -u <(grep -v ' jsonl ' "$work/out/$1/status") "$work/$2/$1/status" >"$work/diff" && return
	head -n 200 "$work/diff"
	return 1
}

check_fixture() {
	local fixture=$1 bad=0 option=() golden=$testdata/golden/$1 answers=$work/out/$1

	# What a layout file does not know is in golden/, as notes.
	! has_layout "$fixture" || option=(--incomplete)

	if ! same "$fixture" again; then
		echo "$fixture: the second answer, from the cache, is another"
		bad=1
	fi
	if ! has_layout "$fixture" && ! ls "$XDG_CACHE_HOME"/asyncdbg/*.facts >/dev/null; then
		echo "$fixture: nothing was cached"
		bad=1
	fi
	if ! same "$fixture" saved; then
		echo "$fixture: the answer from a saved snapshot is another"
		bad=1
	fi
	if [ -d "$work/types/$fixture" ]; then
		cat "$work/types/$fixture/status" >>"$work/out/$fixture/status"
		rm "$work/types/$fixture/status"
		mv "$work/types/$fixture"/* "$work/out/$fixture/"
	fi
	check_status "$fixture" || bad=1
	"$testdata/check/validate_json.py" "$schema" "$answers"/*.json "$answers"/*.jsonl || bad=1
	rm "$answers"/*.jsonl*
	if [ -f "$fixture_dir/$fixture.truth.json" ]; then
		"$testdata/check/check_truth.py" "${option[@]}" "$answers/async-backtrace-all-v.json" \
			"$fixture_dir/$fixture.truth.json" >"$work/said" || { cat "$work/said" && bad=1; }
	fi
	has_folder "$fixture" || golden+=.txt answers+=.txt
	if [ -n "$bless" ]; then
		rm -rf "$golden"
		cp -r "$answers" "$golden"
	elif ! diff -ru "$golden" "$answers" >"$work/diff"; then
		head -n 200 "$work/diff"
		echo "$fixture: differs from $golden; if that is meant, run bless.sh"
		bad=1
	fi
	return $bad
}

fixtures=("$@")
if [ $# -eq 0 ]; then
	for file in "$fixture_dir"/*.core.zst; do
		[ -f "$file" ] || { echo "no fixtures" >&2 && exit 2; }
		file=${file##*/}
		fixtures+=("${file%.core.zst}")
	done
fi
failed=()
uncached=()
for fixture in "${fixtures[@]}"; do
	run_fixture "$fixture"
	check_fixture "$fixture" || failed+=("$fixture")
done
failed+=("${uncached[@]}")
if [ ${#failed[@]} -gt 0 ]; then
	echo "failed: ${failed[*]}"
	exit 1
fi
echo "${#fixtures[@]} fixtures ok"
