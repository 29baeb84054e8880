#!/bin/bash
# Fuzzes a parser with clang's libFuzzer: builds it, then runs it for some time on one processor.
#
# usage: run.sh PARSER SECONDS [LIBFUZZER_OPTION...]
#
# PARSER is a directory beside this script, with the inputs to begin with; PARSER.dict, if there is
# one, has words. What was learnt is in build/fuzz/corpus/PARSER: another run goes on from there. An
# input that is a find goes to build/fuzz/finds/PARSER-*, and ends the run. Each run adds a line to
# build/fuzz/runs.tsv: date, parser, seconds, executions, status (0: no find).
#
# Make a find small with `build/fuzz/testdata/fuzz/PARSER_fuzz -minimize_crash=1 -runs=10000 FILE`,
# mend what it shows, and keep it in PARSER/.
#
# ASYNCDBG_BUILD_DIR  where builds go, default build
# FUZZ_NO_BUILD       if set, the fuzzer is run as it was built last
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/../../scripts/lib.sh"
[ $# -ge 2 ] && [ -d "$here/$1" ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
parser=$1 seconds=$2
shift 2
build=$build_root/fuzz
have clang || fail "needs clang with its runtime (Debian: clang, libclang-rt-dev)"
[ -n "${FUZZ_NO_BUILD:-}" ] || {
	cmake -S "$root" --preset fuzz -B "$build" >"$build.log" 2>&1 &&
		cmake --build "$build" -j "$jobs" --target "${parser}_fuzz" >>"$build.log" 2>&1
} || fail "does not build: see $build.log"

corpus=$build/corpus/$parser log=$build/$parser.log
mkdir -p "$corpus" "$build/finds"
# shellcheck source=testdata/fuzz/environment.sh
. "$here/environment.sh"
fuzz_environment "$parser" "$build"

options=(-max_total_time="$seconds" -timeout=25 -rss_limit_mb=3000 -malloc_limit_mb=2000
	-artifact_prefix="$build/finds/$parser-" -print_final_stats=1)
[ ! -f "$here/$parser.dict" ] || options+=(-dict="$here/$parser.dict")
status=0
start=$SECONDS
nice -n 19 "$build/testdata/fuzz/${parser}_fuzz" "${options[@]}" "$@" "$corpus" "$here/$parser" \
	>"$log" 2>&1 || status=$?
executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
[ -n "$executions" ] || executions=$(sed -n 's/^#\([0-9]*\).*/\1/p' "$log" | tail -n 1)
printf '%s\t%s\t%s\t%s\t%s\n' "$(date -u +%FT%TZ)" "$parser" $((SECONDS - start)) \
	"${executions:-0}" "$status" | tee -a "$build/runs.tsv"
[ "$status" -eq 0 ] || { grep -aE 'ERROR|SUMMARY|fuzzer:|runtime error|Test unit' "$log" >&2 || true; }
exit "$status"
