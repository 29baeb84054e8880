#!/bin/bash
# Runs the checks of run_live.sh on a program with futures that cannot be looked into: no answer may be
# complete, and the frames of these futures say why.
#
# usage: run_erased.sh ASYNCDBG PROFILE
#
# Exit status 77 where there is no cargo.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -eq 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
profile=$2
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
program=erased

trap 'stop_program; rm -rf "$work"' EXIT

fail() {
	echo "$program ($profile): $1"
	exit 1
}

find_cargo || { echo "skipped: $no_cargo" && exit 77; }
BINARIES=$("$testdata/make/build_programs.sh" "$(newest_lock)" "$profile" composite | tail -n 1)
export BINARIES
PARTIAL='what could not be read is marked' "$testdata/run/run_live.sh" "$asyncdbg" "$profile" "$program"
start_program "$BINARIES/$program" || fail "did not get ready"
"$asyncdbg" -p "$pid" --json async backtrace all >"$work/answer.json" 2>/dev/null || true
jq -r '.tasks[] | (.root.function | sub("^erased::"; "")) + ": " +
	([.. | .problem? // empty | sub(" alloc::.*"; "")] | join(", "))' "$work/answer.json" | sort >"$work/said"
diff - "$work/said" <<-END || fail "says something else about what it cannot enter"
	by_hand: it may poll more futures: the erased::Erased has a poll function beside an untyped pointer
	copied: it may poll more futures: no debug info says what is in the
	plain: 
END
stop_program
echo "$program ($profile): says what it cannot enter"
