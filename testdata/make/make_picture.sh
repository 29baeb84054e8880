#!/bin/bash
# Makes the picture of a report that README shows: docs/report.png, of the fixture `locks`.
#
# usage: make_picture.sh ASYNCDBG [OUTPUT.png]
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -ge 1 ] && [ $# -le 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
picture=$(realpath "${2:-$root/docs/report.png}")

find_browser || fail "$no_browser"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache

install_playwright "$work"
unpack_fixture locks "$work"
(cd "$work" && "$asyncdbg" -c locks.core --exe locks.exe report locks.html)
node "$testdata/report/picture.js" "$work" "$browser" "$work/locks.html" "$picture"
