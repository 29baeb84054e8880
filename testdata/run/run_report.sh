#!/bin/bash
# Reports, and pages of profiles, in a real browser: they open, can be searched and walked through, take no text for
# markup, and stay small in memory with 100,000 tasks; all of them can be read on small and large
# screens, by day and by night. Screenshots are kept in OUTPUT.
#
# usage: run_report.sh ASYNCDBG REPORT_PAGES PROFILE_PAGES OUTPUT
#
# Skipped (77) where there is no npm or no chromium.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -eq 4 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
report_pages=$(realpath "$2")
profile_pages=$(realpath "$3")
output=$4

find_browser || { echo "$no_browser" && exit 77; }
mkdir -p "$output"
output=$(realpath "$output")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache

install_playwright "$output"
cd "$output"

unpack_fixture locks "$work"
(cd "$work" && "$asyncdbg" -c locks.core --exe locks.exe report "$output/locks.html")
"$report_pages" hostile "$output/hostile.html"
"$report_pages" deadlock "$output/deadlock.html"
"$report_pages" server "$output/server.html"
"$report_pages" plain "$output/plain.html"
"$report_pages" many "$output/many.html" 100000
for page in server hostile many empty rough; do
	"$profile_pages" "$page" "$output/profile-$page.html"
done
status=0
node "$testdata/report/check.js" "$output" "$browser" "$output" "$output" || status=1
node "$testdata/report/profile.js" "$output" "$browser" "$output" "$output" || status=1
pages=(locks server deadlock plain many)
node "$testdata/report/readable.js" "$output" "$browser" "$output" "${pages[@]/%/.html}" || status=1
exit $status
