#!/bin/bash
# Tests the commands that find, watch and guard processes, on programs of testdata/programs.
#
# usage: run_incident.sh ASYNCDBG PROFILE
#
# Builds the programs in PROFILE with the newest lock. BINARIES=DIR uses programs that are built
# already. Exit status 77 where there is no cargo.
# shellcheck disable=SC2016 # scripts for sh stand in single quotes
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -eq 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
# shellcheck source=testdata/run/incident.sh
. "$testdata/run/incident.sh"

test_ps() {
	start joins
	local joins=$pid
	run "0|1" --json ps
	python3 - "$work/out" "$joins" <<-'EOF' || complain "ps"
		import json, sys
		answer = json.load(open(sys.argv[1]))
		found = [p for p in answer["processes"] if p["pid"] == int(sys.argv[2])]
		assert len(found) == 1, answer
		process = found[0]
		assert process["name"] == "joins" and process["problem"] is None, process
		assert process["executors"][0]["kind"] == "tokio", process
		assert process["executors"][0]["version"] and process["executors"][0]["supported"], process
		assert process["debug_info"] == "full", process
		assert answer["processes_total"] > len(answer["processes"]) or answer["processes_denied"] == 0
		assert all(p["name"] != "sleep" for p in answer["processes"])
	EOF
	"$testdata/check/validate_json.py" "$testdata/../docs/asyncdbg.schema.json" "$work/out" >/dev/null ||
		complain "not the schema"
	run "0|1" --json ps --tasks
	has out '"tasks": [1-9]'
	stop_all
}

# Of a program that the cache knows, the tasks of all processes are counted within the 80 ms that
# asyncdbg gives itself; on a busy machine these may be over after the first four.
test_ps_known() {
	local i took=

	for i in 1 2 3 4 5 6 7 8; do
		start joins
	done
	run "0|1" --json ps
	for ((i = 0; i < 100; i++)); do
		run "0|1" --log=ps --json ps
		took=$(sed -n 's/.* processes were opened in \([0-9]*\) us$/\1/p' "$work/err")
		[ "${took:-0}" -gt 0 ] || complain "the log does not say how long it took"
		[ "${took:-0}" -ge 80000 ] || break
	done
	if [ "$i" -eq 100 ]; then
		echo "left out: tasks of more than four processes are counted: it takes $took us here"
	elif [ "$(jq '[.processes[] | select(.name == "joins" and .tasks > 0)] | length' "$work/out")" -ne 8 ]; then
		complain "not all are counted in time"
	fi
	stop_all
}

# A stripped program, and one that has a layout file beside the debug files.
test_ps_stripped() {
	local id

	strip -o "$work/stripped" "$binaries/joins"
	"$work/stripped" >"$work/stripped.out" 2>&1 < <(exec sleep 600) &
	pid=$!
	started+=("$pid")
	wait_ready "$work/stripped.out" "$pid"
	run "0|1" ps
	has out "^ *$pid  tokio [0-9.]+ +- +none "
	[ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null ||
		{ echo "left out: layout files of the system need root" && stop_all && return; }
	id=$(readelf -n "$work/stripped" 2>/dev/null | sed -n 's/.*Build ID: //p')
	run 0 layout "$binaries/joins" -o "$work/joins.layout"
	cases=$((cases + 1))
	unshare --mount bash -euc 'mount -t tmpfs tmpfs /usr/lib/debug
		mkdir -p "/usr/lib/debug/.build-id/${2:0:2}"
		cp "$3" "/usr/lib/debug/.build-id/${2:0:2}/${2:2}.layout"
		status=0
		"$1" ps || status=$?
		[ $status -le 1 ]
		"$1" -p "$4" runtimes' - "$asyncdbg" "$id" "$work/joins.layout" "$pid" >"$work/out" 2>"$work/err" ||
		complain "ps with a layout file"
	has out "^ *$pid  tokio [0-9.]+ +[1-9][0-9]* +layout file "
	has out "multi_thread"
	stop_all
}

test_names() {
	local first

	start joins
	first=$pid
	run 0 --name '^joins$' runtimes
	has out "pid $first "
	# The shell that runs this test has the name in its command line, too: the name comes first.
	run 64 --name 'no such name.' runtimes
	has err 'no process matches'
	run 64 --name '(' runtimes
	has err 'Unmatched'
	run 64 --name joins -p "$first" runtimes
	has err 'only one of'
	start joins
	run 64 --name joins runtimes
	has err "2 processes match .*$first \(joins\).*$pid \(joins\)"
	stop_all
}

test_watchdog() {
	start deadlocks
	local deadlocks=$pid watchdog status=0
	mkfifo "$work/end"
	cat >"$work/hook" <<-EOF
		#!/bin/sh
		cat >"$work/finding.new" && mv "$work/finding.new" "$work/finding"
		exit 7
	EOF
	chmod +x "$work/hook"
	"$asyncdbg" -p "$deadlocks" check --every 200ms --interval 10ms --for 3 --save "$work/saved" \
		--keep 1 --run "$work/hook" >"$work/out" 2>"$work/err" </dev/null &
	watchdog=$!
	started+=("$watchdog")
	wait_for "$work/finding" '"event": "found"' || complain "no finding for --run"
	wait_for "$work/err" 'failed with status 7' || complain "no word of the failed command"
	kill -9 "$deadlocks"
	wait "$watchdog" || status=$?
	[ "$status" = 3 ] || complain "exit status $status of the watchdog, not 3"
	has out 'found by 3 checks in a row'
	has out 'error: deadlock: '
	[ "$(grep -c 'found by' "$work/out")" = 1 ] || complain "reported more than once"
	[ "$(find "$work/saved" -type f | wc -l)" = 2 ] || complain "not one pair of files"
	run "0|1" -c "$work"/saved/*.snapshot async deadlocks
	has out '^deadlock: '
	python3 "$testdata/check/validate_json.py" "$testdata/../docs/asyncdbg.schema.json" \
		"$work/finding" || complain "the finding is no document of the schema"
	stop_all

	# A healthy program, two watchdogs at a time, a directory that cannot be written, ^C.
	start joins
	"$asyncdbg" -p "$pid" check --every 50ms --interval 0 --for 1 >"$work/other" 2>&1 </dev/null &
	watchdog=$!
	started+=("$watchdog")
	wait_for "$work/other" 'checking process' || complain "the other watchdog did not start"
	status=0
	timeout -s INT 3 "$asyncdbg" -p "$pid" check --every 50ms --interval 0 --for 1 \
		--save /dev/null/nowhere >"$work/out" 2>"$work/err" </dev/null || status=$?
	[ ! -s "$work/out" ] || complain "a finding in a healthy program"
	has_not err 'has ended|exited'
	kill -INT "$watchdog"
	wait "$watchdog" || complain "the other watchdog has failed: $(cat "$work/other")"
	[ "$(wc -l <"$work/other")" = 1 ] || complain "the other watchdog: $(cat "$work/other")"
	stop_all
	run 64 -p 1 check --for 3
	has err '--for needs --every'
	run 64 -p 1 check --every 0
	run 64 -p 1 check --every 1s --keep 3
	run 64 -p 1 check --every 1s --on nothing
}

# A cgroup as systemd makes it for a service, for a process; where cgroups cannot be made, there is none.
put_in_unit() {
	local mount

	for mount in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified /sys/fs/cgroup; do
		mkdir -p "$mount/system.slice/$1.service" 2>/dev/null || continue
		cgroup=$mount/system.slice/$1.service
		echo "$2" 2>/dev/null >"$cgroup/cgroup.procs" && grep -q "/system.slice/$1.service$" "/proc/$2/cgroup" && return
		rmdir "$cgroup"
	done
	return 1
}

# The command of the unit of systemd, with the rights that the unit has, on another user's process,
# beside one that only has its name.
test_unit() {
	local unit=$testdata/../commands/systemd/asyncdbg-watch@.service words rights status=0

	[ "$(id -u)" -eq 0 ] || { echo "left out, as it needs root: the unit of systemd" && return; }
	rights=$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | tr 'A-Z' 'a-z' | sed 's/cap_/+/g; s/ /,/g')
	# As systemd reads it: %i is the instance.
	read -ra words < <(sed -n 's/^ExecStart=//p' "$unit" | sed "s|%i|asyncdbg-test-$$|; s|10s|100ms|
		s|^asyncdbg |$asyncdbg |; s|/var/lib/asyncdbg|$work/state|")
	mkdir "$work/state" "$work/user"
	chmod 711 "$work" "$work/user"
	cp "$binaries/deadlocks" "$work/user"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$work/user/deadlocks" >"$work/user.out" 2>&1 \
		< <(exec sleep 600) &
	pid=$!
	started+=("$pid")
	wait_ready "$work/user.out" "$pid"
	put_in_unit "asyncdbg-test-$$" "$pid" ||
		{ echo "left out, as cgroups cannot be made: the unit of systemd" && stop_all && return; }
	"$work/user/deadlocks" >"$work/claims.out" 2>&1 < <(exec sleep 600) &
	started+=($!)
	wait_ready "$work/claims.out" $!
	run 0 --unit "asyncdbg-test-$$" runtimes
	has out "pid $pid "
	run 64 --unit "asyncdbg-test-$$-other" runtimes
	has err 'no process belongs to the unit'
	run 64 --unit "asyncdbg-test-$$" -p "$pid" runtimes
	setpriv --bounding-set="-all,$rights" --no-new-privs "${words[@]}" >"$work/out" 2>"$work/err" </dev/null &
	watchdog=$!
	started+=("$watchdog")
	wait_for "$work/err" '^saved: ' || complain "the unit saves nothing"
	kill -9 "$pid"
	wait "$watchdog" || status=$?
	[ "$status" = 3 ] || complain "exit status $status of the unit, not 3"
	has out 'found by 3 checks in a row'
	[ "$(find "$work/state" -type f | wc -l)" = 2 ] || complain "not one pair of files"
	cases=$((cases + 1))
	stop_all
	rmdir "$cgroup"
}

test_guard() {
	local deadlocks=$binaries/deadlocks status=0

	run 7 guard --timeout 60s -- sh -c 'exit 7'
	run 0 guard --timeout 60s -- sh -c 'echo out; echo err >&2'
	[ "$(cat "$work/out" "$work/err")" = $'out\nerr' ] || complain "its output"
	run 143 guard --timeout 60s -- sh -c 'kill $$'
	run 127 guard --timeout 60s -- /nonexistent/program
	has err 'No such file'
	run 126 guard --timeout 60s -- /etc/passwd
	run 64 guard -- true
	run 64 guard --timeout 1s
	run 64 -p $$ guard --timeout 1s -- true
	# Options behind -- belong to the command.
	run 0 guard --timeout 60s -- sh -c '[ "$1" = --timeout ]' sh --timeout 3
	# Stops itself; ignores SIGTERM; leaves its process group and its parent.
	run 124 guard --timeout 1s -- sh -c 'kill -STOP $$'
	run 124 guard --timeout 1s -- sh -c 'trap "" TERM; setsid sleep 7654 & sleep 7654 & wait'
	! pgrep -f 'sleep 7654' >/dev/null || complain "a process is left"
	has err 'not async'
	# Output counts against --silence, through a pipe and in a file.
	run 0 guard --silence 3s -- sh -c 'for i in 1 2 3 4 5; do echo $i; sleep 1; done'
	"$asyncdbg" guard --silence 1s -- sh -c 'echo begin; sleep 1000' 2>"$work/err" | cat >"$work/out" ||
		status=$?
	has out begin
	has err 'no output for 1 s'
	# A reader that does not read: it fires all the same, and what hangs is ended.
	mkfifo "$work/unread"
	exec 8<>"$work/unread"
	status=0
	"$asyncdbg" guard --silence 1s -- sh -c 'yes | head -c 300000; exec sleep 7655' >&8 2>"$work/err" || status=$?
	exec 8>&-
	[ $status -eq 124 ] || complain "status $status of guard whose output nobody reads"
	has err 'nobody reads'
	! pgrep -f 'sleep 7655' >/dev/null || complain "a process is left where nobody reads the output"
	# Nobody reads the report either: the pipe has no room for it. The command ends all the same, and
	# guard when its reader has gone.
	exec 8<>"$work/unread"
	head -c 65536 /dev/zero >&8
	"$asyncdbg" guard --silence 1s -- sh -c 'echo $$ >"$1"; exec sleep 7656' sh "$work/held" >/dev/null 2>&8 8>&- &
	local guard=$!
	wait_for "$work/held" .
	tail --pid="$(cat "$work/held")" -f /dev/null
	exec 8<&-
	status=0
	wait "$guard" || status=$?
	[ $status -eq 124 ] || complain "status $status of guard whose report nobody reads"
}

# A program that hangs below a shell that has gone: guard is its parent by then.
test_guard_async() {
	mkfifo "$work/input"
	sleep 600 >"$work/input" &
	started+=($!)
	run 124 guard --timeout 10s --report "$work/reports" -- sh -c \
		'("$1" <"$2" & exit 0); exec sleep 600' sh "$binaries/deadlocks" "$work/input"
	has out '^ready'
	has err '=== process [0-9]+: .*deadlocks'
	has err 'error: deadlock'
	has err 'tasks in [0-9]+ groups'
	[ "$(find "$work/reports" -name '*.snapshot' | wc -l)" = 1 ] || complain "no snapshot"
	! pgrep -f "^$binaries/deadlocks" >/dev/null || complain "the program is left"
	stop_all
}

find_programs joins deadlocks
test_ps
test_ps_known
test_ps_stripped
test_names
test_watchdog
test_unit
test_guard
test_guard_async
finish
