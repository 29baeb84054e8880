#!/bin/bash
# The cost of a task does not grow with their number: what ten times the tasks cost more, in
# instructions, is at most twelve times what the tasks of a tenth cost more than ten of them. And what
# a task of a live program costs in memory is at most what stands beside the command.
#
# usage: run_scale.sh ASYNCDBG PROFILE
#
# A third of the tasks waits in the queue of one mutex, a third on one Notify. Instructions and not
# times: they are the same on a busy machine. Exit status 77 where there is no cargo or no valgrind,
# and for a build with sanitizers, which valgrind cannot run.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
command -v valgrind >/dev/null || { echo "skipped: no valgrind" && exit 77; }
if grep -q __asan_init "$asyncdbg"; then
	echo "skipped: a build with sanitizers"
	exit 77
fi
build_traced "" many
make_cache
trap 'stop_program; rm -rf "$work"' EXIT
# No limit of time for the search through memory, which valgrind makes slow.
export ASYNCDBG_SCAN=4096,3600000
few=10 tenth=500 all=5000 most=12

for tasks in $few $tenth $all; do
	start_program "$BINARIES/many" "$tasks" queues || fail "many $tasks did not get ready"
	gcore -o "$work/$tasks" "$pid" >"$work/gcore" 2>&1 8>&- || fail "gcore: $(tail -n 1 "$work/gcore")"
	mv "$work/$tasks.$pid" "$work/$tasks.core"
	stop_program
done

# count TASKS WORD...: instructions of a command on a core. 1 is the exit code of a finding.
count() {
	local tasks=$1 collected
	shift

	timeout 900 valgrind --tool=callgrind --callgrind-out-file=/dev/null "$asyncdbg" \
		-c "$work/$tasks.core" "$@" >"$work/said" 2>"$work/problem" </dev/null || [ $? -eq 1 ] ||
		fail "$*: $(tail -n 3 "$work/problem")"
	collected=$(sed -n 's/^==[0-9]*== Collected *: *\([0-9]*\).*/\1/p' "$work/problem")
	[ "${collected:-0}" -gt 0 ] || fail "$*: $(tail -n 3 "$work/problem")"
	echo "$collected"
}

bad=0
while read -r -a words; do
	"$asyncdbg" -c "$work/$few.core" "${words[@]}" >/dev/null || [ $? -eq 1 ] # into the cache
	base=$(count "$few" "${words[@]}")
	less=$(($(count "$tenth" "${words[@]}") - base))
	more=$(($(count "$all" "${words[@]}") - base))
	echo "${words[*]}: $((less / tenth)) instructions a task of $tenth, $((more / all)) of $all"
	[ "$more" -le $((most * less)) ] || { echo "  more than $most times as many in all" && bad=1; }
done <<-EOF
	async backtrace all --group
	check
	report --output $work/page.html
	save $work/saved
	async deadlocks
EOF

# peak WORD...: bytes of memory that a command takes of the live program.
peak() {
	python3 - "$asyncdbg" -p "$pid" "$@" <<-'EOF'
		import os, subprocess, sys

		null = subprocess.DEVNULL
		command = subprocess.Popen(sys.argv[1:], stdin=null, stdout=null, stderr=null)
		status, used = os.wait4(command.pid, 0)[1:]
		if os.waitstatus_to_exitcode(status) not in (0, 1, 3):
		    sys.exit(f"{sys.argv[4:]}: status {status}")
		print(used.ru_maxrss * 1024)
	EOF
}

# all_peaks: the peak of each command, a line each.
all_peaks() {
	while read -r _ words; do
		read -r -a words <<<"$words"
		peak "${words[@]}" || fail "${words[*]}"
	done <<<"$memory"
}

memory="1700 async backtrace all --group
1900 check --interval 100ms
1950 report --output $work/page.html
2300 save $work/saved
1900 async deadlocks"
some=2000 many=50000
for tasks in $some $many; do
	start_program "$BINARIES/many" "$tasks" queues || fail "many $tasks did not get ready"
	all_peaks >/dev/null # into the cache
	all_peaks >"$work/peaks.$tasks"
	stop_program
done
while read -r limit words <&3 && read -r less <&4 && read -r more <&5; do
	bytes=$(((more - less) / (many - some)))
	echo "$words: $bytes bytes a task, $limit allowed"
	[ "$bytes" -le "$limit" ] || { echo "  more than that" && bad=1; }
done 3<<<"$memory" 4<"$work/peaks.$some" 5<"$work/peaks.$many"
exit $bad
