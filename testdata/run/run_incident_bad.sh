#!/bin/bash
# What can go wrong where processes are found, watched and guarded: a full disk, forty processes of
# one name, processes that come and go, none that may be looked at, commands that hang, hide or
# cannot start.
#
# usage: run_incident_bad.sh ASYNCDBG PROFILE
#
# Builds the programs in PROFILE with the newest lock. BINARIES=DIR uses programs that are built
# already. Exit status 77 where there is no cargo. Some of it needs root.
# shellcheck disable=SC2016 # scripts for sh stand in single quotes
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -eq 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
# shellcheck source=testdata/run/incident.sh
. "$testdata/run/incident.sh"
disk=$work/disk
trap '! mountpoint -q "$disk" || umount "$disk"; stop_all; rm -rf --one-file-system "$work"' EXIT

# needs_root WHAT: false, and said so, without it.
needs_root() {
	[ "$(id -u)" -ne 0 ] || return 0
	echo "left out, as it needs root: $1"
	return 1
}

# watch ARGUMENT...: starts a watchdog that looks at $pid each 50 ms; sets $watchdog.
watch() {
	rm -f "$work/out" "$work/err"
	"$asyncdbg" -p "$pid" check --every 50ms --interval 0 --for 1 "$@" >"$work/out" 2>"$work/err" \
		</dev/null &
	watchdog=$!
	started+=("$watchdog")
	wait_for "$work/err" 'checking process' || complain "the watchdog did not start"
}

# sleeps_of PID: how often its main thread has gone to sleep.
sleeps_of() {
	sed -n 's/^voluntary_ctxt_switches:\t//p' "/proc/$1/status"
}

# ended STATUS PID: a process that was started here ends with it.
ended() {
	local status=0

	wait "$2" || status=$?
	[ "$status" = "$1" ] || complain "exit status $status, not $1"
}

# Forty processes of one name: none is chosen, and the list of them is short.
test_forty() {
	local i pids=()

	for ((i = 0; i < 40; i++)); do
		"$binaries/joins" >"$work/$i.out" 2>&1 < <(exec sleep 600) &
		pids+=("$!")
		started+=("$!")
	done
	for ((i = 0; i < 40; i++)); do
		wait_ready "$work/$i.out" "${pids[i]}"
	done
	run 64 --name '^joins$' runtimes
	has err '40 processes match "\^joins\$"; choose one with -p PID:.* and 20 more$'
	[ "$(grep -oE '[0-9]+ \(joins\)' "$work/err" | wc -l)" = 20 ] || complain "not 20 of them are listed"
	run "0|1" --json ps
	[ "$(jq '[.processes[] | select(.name == "joins" and .problem == null)] | length' "$work/out")" = 40 ] ||
		complain "ps does not list 40"
	stop_all
}

# Processes that come and go while they are listed: those that stay are listed, and those that
# have gone are not. They run a copy of the program, so that no other has its file.
test_coming_and_going() {
	local i stays churn

	start joins
	stays=$pid
	cp "$binaries/deadlocks" "$work/shortlived"
	cat >"$work/churn" <<-'EOF_CHURN'
		while :; do
			for i in 1 2 3; do
				"$1" </dev/null >/dev/null 2>&1 &
				last=$!
			done
			sleep 0.0$((RANDOM % 10))
			kill -9 $(jobs -p) 2>/dev/null
			wait $last 2>/dev/null
		done
	EOF_CHURN
	setsid bash "$work/churn" "$work/shortlived" >/dev/null 2>&1 </dev/null &
	churn=$!
	for ((i = 0; i < 30; i++)); do
		run "0|1" --json ps --tasks
		jq -e --argjson pid "$stays" '.processes[] | select(.pid == $pid) | .tasks > 0' "$work/out" \
			>/dev/null || complain "the process that stays is not listed"
		[ "$(jq '[.processes[] | select(.name == "shortlived" and .problem != null)] | length' "$work/out")" = 0 ] ||
			complain "a process that has gone is a problem"
		has_not err 'no process [0-9]|has exited'
	done
	kill -9 -- "-$churn"
	wait "$churn" 2>/dev/null || true
	# One that has gone while it was looked at hides no other of the same program.
	"$work/shortlived" >"$work/late.out" 2>&1 < <(exec sleep 600) &
	pid=$!
	started+=("$pid")
	wait_ready "$work/late.out" "$pid"
	run "0|1" --json ps
	jq -e --argjson pid "$pid" '.processes[] | select(.pid == $pid)' "$work/out" >/dev/null ||
		complain "a program is taken for one that is not async"
	stop_all
}

# Without the right to most of them.
test_nobody() {
	local nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups) root_own own status=0 dir

	needs_root "ps as another user" || return 0
	dir=$(mktemp -d /tmp/asyncdbg-test.XXXXXX)
	cp "$asyncdbg" "$binaries/joins" "$dir"
	chmod -R a+rX "$dir"
	start joins
	root_own=$pid
	"${nobody[@]}" "$dir/joins" >"$work/own.out" 2>&1 < <(exec sleep 600) &
	own=$!
	started+=("$own")
	wait_ready "$work/own.out" "$own"
	cases=$((cases + 6))
	"${nobody[@]}" env HOME=/nonexistent XDG_CACHE_HOME=/root/.cache "$dir/asyncdbg" --json ps \
		>"$work/out" 2>"$work/err" || status=$?
	[ "$status" = 1 ] || complain "exit status $status of ps, not 1"
	jq -e --argjson own "$own" --argjson other "$root_own" \
		'.processes | map(.pid) | index($own) != null and index($other) == null' "$work/out" >/dev/null ||
		complain "not the processes of its own"
	jq -e '.processes_denied > 0 and (.processes_denied_problem | test("of user root .uid 0.: .*sudo"))' \
		"$work/out" >/dev/null || complain "the others are not counted"
	status=0
	"${nobody[@]}" env HOME=/nonexistent "$dir/asyncdbg" -p "$root_own" tasks >"$work/out" 2>"$work/err" || status=$?
	[ "$status" = 2 ] || complain "exit status $status of tasks, not 2"
	has err 'not permitted to trace process [0-9]+ of user root'
	# With the capability to trace, which does not make it the owner of files in /proc.
	capable() {
		local caps="-all,$1"

		status=0
		"${nobody[@]}" --inh-caps="$caps" --ambient-caps="$caps" --bounding-set="$caps" \
			env HOME=/nonexistent "$dir/asyncdbg" -p "$root_own" tasks >"$work/out" 2>"$work/err" || status=$?
	}
	capable +sys_ptrace
	[ "$status" = 2 ] || complain "exit status $status with CAP_SYS_PTRACE alone, not 2"
	has err 'CAP_SYS_PTRACE alone is not enough .*CAP_DAC_READ_SEARCH'
	capable +sys_ptrace,+dac_read_search
	[ "$status" = 0 ] || complain "exit status $status with both capabilities, not 0"
	# The list of secret names in a home that is not this user's.
	mkdir -m 700 "$dir/home"
	status=0
	"${nobody[@]}" env -u XDG_CONFIG_HOME HOME="$dir/home" "$dir/asyncdbg" -p "$own" tasks \
		>"$work/out" 2>"$work/err" || status=$?
	[ "$status" = 2 ] || complain "exit status $status without the list of secrets, not 2"
	has err 'home/.config/asyncdbg/redact, which may name secrets, cannot be read: set HOME .*denied'
	"${nobody[@]}" env -u XDG_CONFIG_HOME HOME="$dir/home" "$dir/asyncdbg" --show-secrets ps \
		>"$work/out" 2>"$work/err" || true
	has out "^ *$own "
	rm -r "$dir"
	stop_all
}

# saves_in_vain ARGUMENT...: the disk is full, and the watchdog goes on.
saves_in_vain() {
	local i

	start deadlocks
	watch "$@"
	wait_for "$work/err" 'No space left on device' || complain "the disk is not full"
	has err 'note: --save: .*No space left on device'
	kill -0 "$watchdog" || complain "a full disk ends the watchdog"
	kill -9 "$pid"
	ended 3 "$watchdog"
	has out 'error: deadlock: '
	has_not err '^saved'
	# A file is there as a whole, or not at all.
	for i in "$disk"/saved/*; do
		[ -e "$i" ] || continue
		[[ $i == *.snapshot ]] || complain "$i is left"
		run "0|1" -c "$i" async deadlocks
		has out '^deadlock: '
	done
	stop_all
}

# A disk that is full from the beginning, and one that gets full between the two files of a pair:
# then, too, no more of them are kept than --keep says.
test_full_disk() {
	local i

	needs_root "a full disk" || return 0
	mkdir "$disk"
	mount -t tmpfs -o size=4k tmpfs "$disk"
	cat /dev/zero >"$disk/full" 2>/dev/null || true
	saves_in_vain --save "$disk/saved" --run "cat >'$work/finding'"
	jq -e '.watched.event == "found"' "$work/finding" >/dev/null || complain "--run has no finding"
	umount "$disk"
	mount -t tmpfs -o size=240k tmpfs "$disk"
	for i in 1 2 3; do
		saves_in_vain --save "$disk/saved" --keep 1
	done
	[ "$(find "$disk/saved" -type f | wc -l)" = 1 ] || complain "not one file is kept"
	umount "$disk"
}

# --run: a command that hangs is ended with what it started, one that is still there is not started
# again, and the second ^C waits for none.
test_hanging_command() {
	local slept

	start deadlocks
	watch --run 'sleep 7651 & sleep 7651; true' --run-limit 500ms
	wait_for "$work/err" 'sleep 7651.* was killed after 0.5 s' || complain "the command was not ended"
	! pgrep -f '^sleep 7651' >/dev/null || complain "what the command started is left"
	kill -0 "$watchdog" || complain "a command that hangs ends the watchdog"
	kill -9 "$pid"
	ended 3 "$watchdog"
	stop_all

	start deadlocks
	watch --run 'echo begun >&2; exec sleep 7652'
	wait_for "$work/err" '^begun' || complain "the command did not start"
	kill -INT "$watchdog"
	# It has gone to sleep ten times since the first ^C: it has seen that.
	slept=$(sleeps_of "$watchdog")
	while kill -0 "$watchdog" 2>/dev/null && (($(sleeps_of "$watchdog") < slept + 10)); do sleep 0.1; done
	kill -0 "$watchdog" || complain "the first ^C does not wait for the command"
	# Until it is gone: two that come during one look are one.
	while kill -INT "$watchdog" 2>/dev/null; do sleep 0.5; done
	ended 3 "$watchdog"
	has err 'sleep 7652.* was killed by the interrupt'
	! pgrep -f '^sleep 7652' >/dev/null || complain "the command is left"
	stop_all
	run 64 -p 1 check --every 1s --run-limit 1s
	has err '--run-limit needs --run'
	run 64 -p 1 check --every 1s --run true --run-limit 0
	has err '--run-limit needs a time above 0'
}

# Two watchdogs on one process: both find, save and report it.
test_two_watchdogs() {
	local first

	start deadlocks
	watch --save "$work/one"
	first=$watchdog
	mv "$work/out" "$work/first.out"
	mv "$work/err" "$work/first.err"
	watch --save "$work/two"
	wait_for "$work/first.err" '^saved' || complain "the first one saved nothing"
	wait_for "$work/err" '^saved' || complain "the second one saved nothing"
	kill -9 "$pid"
	ended 3 "$first"
	ended 3 "$watchdog"
	[ "$(grep -c 'found by' "$work/out" "$work/first.out" | grep -c ':1$')" = 2 ] ||
		complain "not one report of each"
	stop_all
}

# Commands that do not behave: none is left behind, none is waited for without end.
test_guarded_commands() {
	local left

	printf '#!/nonexistent/interpreter\n' >"$work/script"
	printf 'no program\n' >"$work/text"
	chmod +x "$work/script" "$work/text"
	run 127 guard --timeout 60s -- "$work/nothing"
	run 127 guard --timeout 60s -- no-such-command-anywhere
	has err 'no-such-command-anywhere: No such file'
	run 127 guard --timeout 60s -- "$work/script"
	run 126 guard --timeout 60s -- "$work"
	has err 'denied'
	run 127 guard --silence 60s -- "$work/nothing"
	# Ends by itself and leaves a daemon: its status is passed through at once, and the daemon goes on,
	# as without guard.
	run 3 guard --timeout 60s -- sh -c 'setsid sh -c "echo \$\$ >\"$1\"; exec sleep 7653" >/dev/null 2>&1 &
		while [ ! -s "$1" ]; do sleep 0.1; done; exit 3' sh "$work/daemon"
	left=$(cat "$work/daemon")
	kill -0 "$left" || complain "the daemon was ended"
	kill -9 "$left"
	# Daemons are ended with a command that hangs: those that left the session, twice removed, and
	# those that ignore SIGTERM.
	run 124 guard --timeout 1s -- sh -c '(setsid sh -c "trap \"\" TERM HUP; (sleep 7653 &) ; sleep 7653" &) ;
		exec sleep 7653'
	! pgrep -f 'sleep 7653' >/dev/null || complain "a daemon is left"
	# All of it stopped, below a parent that ignores SIGTERM.
	run 124 guard --timeout 1s -- sh -c 'trap "" TERM; sh -c "kill -STOP \$\$" & kill -STOP $$; sleep 7653'
	! pgrep -f 'sleep 7653' >/dev/null || complain "a stopped process is left"
	# Stops itself, and goes on in time.
	run 5 guard --timeout 60s -- sh -c '
		(until grep -q "^State:.T" /proc/$$/status; do sleep 0.1; done; kill -CONT $$) & kill -STOP $$; exit 5'
	# Starts processes without end while it is ended.
	run 124 guard --timeout 1s -- sh -c 'trap "" TERM; while :; do sleep 7653 & sleep 0.05; done'
	! pgrep -f 'sleep 7653' >/dev/null || complain "one that was started late is left"
	# A stopped async program: what it waits for is shown all the same.
	run 124 guard --timeout 10s -- sh -c 'sleep 600 | "$1" >"$2" &
		until grep -qs ^ready "$2"; do sleep 0.1; done; kill -STOP $(pidof "$1"); wait' \
		sh "$binaries/deadlocks" "$work/stopped.out"
	has err 'error: deadlock'
	! pgrep -f "^$binaries/deadlocks" >/dev/null || complain "the stopped program is left"
	# A report that cannot be written.
	run 124 guard --timeout 10s --report /dev/null/reports -- sh -c 'sleep 600 | "$1"' sh "$binaries/deadlocks"
	has err 'error: deadlock'
	has err '/dev/null/reports'
	# Signals that are sent to it are passed on.
	"$asyncdbg" guard --timeout 60s -- sh -c 'trap "exit 9" TERM; echo begun; while :; do sleep 0.1; done' \
		>"$work/out" 2>"$work/err" </dev/null &
	left=$!
	started+=("$left")
	wait_for "$work/out" begun || complain "the command did not start"
	kill -TERM "$left"
	ended 9 "$left"
}

find_programs joins deadlocks
test_forty
test_coming_and_going
test_nobody
test_full_disk
test_hanging_command
test_two_watchdogs
test_guarded_commands
finish
