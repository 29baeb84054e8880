#!/bin/bash
# The cost of a task does not grow with their number: what ten times the tasks cost more, in
# instructions, is at most twelve times what the tasks of a tenth cost more than ten of them.
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
exit $bad
