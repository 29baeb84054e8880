#!/bin/bash
# Calls asyncdbg in every way in which the same query can be typed, on a committed core: the answer
# must be the same. Files that commands write must be whole, and their owner's alone.
#
# usage: run_cli.sh ASYNCDBG
set -euo pipefail

export LC_ALL=C.UTF-8
testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -eq 1 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
cd "$work"
unpack_fixture tokio_tcp "$work"
umask 022
failures=0
cases=0

complain() {
	echo "$*"
	failures=$((failures + 1))
}

# expect WANTED ARGUMENT...: the same as the file WANTED.
expect() {
	local wanted=$1 status=0

	shift
	cases=$((cases + 1))
	"$asyncdbg" "$@" >out 2>err </dev/null || status=$?
	if [ $status -ne 0 ] || ! diff "$wanted" out >difference; then
		complain "exit code $status, or another answer: asyncdbg $*"
		head -n 3 err
		head -n 5 difference
	fi
}

# What coredumpctl passes, of systemd 252 as of 257 (run_debug() in src/coredump/coredumpctl.c): the
# words of --debugger-arguments, then the absolute path of the executable, "-c", the core.
exe=$work/tokio_tcp.exe
core=$work/tokio_tcp.core
"$asyncdbg" -c "$core" --exe "$exe" info >info
"$asyncdbg" -c "$core" --exe "$exe" async backtrace all >all
"$asyncdbg" -c "$core" --exe "$exe" --json tasks >tasks.json
"$asyncdbg" -c "$core" --exe "$exe" tasks >tasks
"$asyncdbg" -c "$core" --exe "$exe" async task 3 -v >task
expect info "$exe" -c "$core"
expect all --batch -e 'async bt all' "$exe" -c "$core"
expect all async bt all "$exe" -c "$core"
expect tasks.json --json tasks "$exe" -c "$core"
expect task async task 3 -v "$exe" -c "$core"

# The same by words.
expect info "$exe" "$core"
expect all "$exe" "$core" a bt all
expect tasks.json "$exe" "$core" tasks --json
expect tasks.json -c "$core" "$exe" --json tasks
expect task "$exe" -c "$core" async -v task 3
cat tasks task >both
expect both "$exe" "$core" tasks \; async task 3 -v
expect both "$exe" "$core" -e 'tasks; async task 3 -v' --batch
printf 'tasks\nasync task 3 -v\n' >script
expect both -x script "$exe" "$core"
# A negative number is no option of the program.
"$asyncdbg" "$exe" "$core" -e 'bt -2' --batch >outermost 2>err
expect outermost "$exe" "$core" bt -2
expect outermost bt -2 "$exe" -c "$core"
# A core without a slash, behind its executable: a command would win. The answer names it so.
"$asyncdbg" -c tokio_tcp.core --exe ./tokio_tcp.exe tasks >plain
expect plain ./tokio_tcp.exe tokio_tcp.core tasks

# written NAME: is there, not empty, and its owner's alone.
written() {
	cases=$((cases + 1))
	[ -s "$1" ] && [ "$(stat -c %a "$1")" = 600 ] || complain "$1 is not there, or open to others"
}

"$asyncdbg" "$exe" "$core" save a.snap >/dev/null && written a.snap
"$asyncdbg" "$exe" "$core" save -o b.snap >/dev/null && written b.snap
"$asyncdbg" "$exe" "$core" -o c.snap save >/dev/null && written c.snap
"$asyncdbg" "$exe" "$core" -e 'save --values -o d.snap' >/dev/null && written d.snap
"$asyncdbg" "$exe" "$core" save - >e.snap
"$asyncdbg" "$exe" "$core" report a.html 2>/dev/null && written a.html
"$asyncdbg" "$exe" "$core" report -o b.html 2>/dev/null && written b.html
"$asyncdbg" "$exe" "$core" report - >c.html 2>/dev/null
"$asyncdbg" layout "$exe" -o a.layout 2>/dev/null && written a.layout
"$asyncdbg" layout -o - "$exe" >b.layout 2>/dev/null
"$asyncdbg" "$exe" "$core" async graph -o a.dot 2>/dev/null && written a.dot
"$asyncdbg" "$exe" "$core" async graph --dot b.dot 2>/dev/null && written b.dot
"$asyncdbg" "$exe" "$core" async graph -o - >c.dot
for pair in a.layout:b.layout a.dot:b.dot a.dot:c.dot; do
	cases=$((cases + 1))
	cmp -s "${pair%:*}" "${pair#*:}" || complain "$pair: not the same"
done
# Each has the time in it.
for snap in a b c d e; do
	"$asyncdbg" -c $snap.snap tasks | tail -n +2 >shown
	cases=$((cases + 1))
	cmp -s shown <(tail -n +2 tasks) || complain "$snap.snap: another answer"
done
cases=$((cases + 1))
[ "$(tail -n 1 c.html)" = "$(tail -n 1 a.html)" ] || complain "c.html: not a whole page"

[ "$failures" -eq 0 ] || { echo "$failures of $cases failed" && exit 1; }
echo "$cases cases ok"
