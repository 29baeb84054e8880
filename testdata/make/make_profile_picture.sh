#!/bin/bash
# Makes the picture of a profile that README shows: docs/profile.png, of the program `traced`.
#
# usage: make_profile_picture.sh ASYNCDBG [OUTPUT.png]
#
# BINARIES=DIR uses a program that is built already. Times differ from run to run.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -ge 1 ] && [ $# -le 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
picture=$(realpath "${2:-$root/docs/profile.png}")

find_browser || fail "$no_browser"
if [ -z "${BINARIES:-}" ]; then
	find_cargo || fail "$no_cargo"
	BINARIES=$("$testdata/make/build_programs.sh" "$(newest_lock)" release traced | tail -n 1)
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache

install_playwright "$work"
mkfifo "$work/stdin" "$work/stdout" "$work/said"
"$BINARIES/traced" <"$work/stdin" >"$work/stdout" 2>/dev/null &
exec 8>"$work/stdin" 7<"$work/stdout"
grep -q -m 1 ready <&7
"$asyncdbg" -p $! profile --duration 1h -o "$work/profile.html" 2>"$work/said" 7<&- 8>&- &
exec 6<"$work/said"
grep -q -m 1 profiling <&6
# The end of the program ends the profile.
printf '%s\n' counts current stall spin stall >&8
exec 8>&-
cat <&7 >"$work/truth"
wait
node "$testdata/report/profile_picture.js" "$work" "$browser" "$work/profile.html" "$picture"
