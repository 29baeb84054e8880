#!/bin/bash
# Lets the program `panicked` end in each of its ways, and looks at the cores that the kernel writes.
#
# usage: run_crash.sh ASYNCDBG PROFILE
#
# BINARIES=DIR uses programs that are built already. Exit status 77 where there is no cargo, or
# where the kernel gives cores to somebody else.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"

[ $# -eq 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
profile=$2
case $(cat /proc/sys/kernel/core_pattern) in
core | core.%p) ;;
*) echo "skipped: cores are not written where the program is" && exit 77 ;;
esac
if [ -n "${BINARIES:-}" ]; then
	dir=$BINARIES
elif find_cargo; then
	dir=$("$testdata/make/build_programs.sh" "$(newest_lock)" "$profile" panicked | tail -n 1)
else
	echo "skipped: $no_cargo"
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ulimit -c unlimited
failures=0

# crash HOW WORDS: the program ends so, and the thread that did it is shown with these words.
crash() {
	rm -f core*
	("$dir/panicked" "$1" || true) >/dev/null 2>&1
	"$asyncdbg" --no-cache -c core* threads >said 2>&1 || true
	if ! grep -F "$2" said | grep -q 'panicked::crash::'; then
		echo "$1 ($profile): no '$2'"
		grep '^Thread' said | sed 's/^/    /'
		failures=$((failures + 1))
	fi
}

crash abort 'killed by SIGABRT (it called abort) in frame'
crash panic 'killed by SIGABRT (a panic that aborts) in frame'
crash segv 'killed by SIGSEGV in frame'
# Thousands of frames, and the task is behind them.
crash overflow 'killed by SIGABRT (it called abort) in frame'
if ! grep -q 'async fn panicked::crash::run running' said; then
	echo "overflow ($profile): the task is not shown"
	failures=$((failures + 1))
fi

# A stack that is not known whole: the answer reports that.
rm -f core*
("$dir/panicked" jump || true) >/dev/null 2>&1
if "$asyncdbg" --no-cache -c core* threads >said 2>&1 || [ $? -ne 1 ] ||
	! grep -q 'stacks are incomplete' said || ! grep -q '^   ! ' said; then
	echo "jump ($profile): nothing says that the stack is not known whole"
	failures=$((failures + 1))
fi
[ "$failures" -eq 0 ] || exit 1
echo "crashes ($profile): ok"
