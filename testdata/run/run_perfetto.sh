#!/bin/bash
# Decodes what the trace writer writes with the protobuf classes of Perfetto's own package.
#
# usage: run_perfetto.sh PERFETTO_SAMPLE DIR
#
# PERFETTO_SAMPLE is built from perfetto_sample.c. PyPI's package perfetto is installed into
# DIR/perfetto, unless it is there or this Python has it. Checked with check_perfetto.py: a trace with all
# that there is, in which everything is as often as the sample says, in at most 40 bytes an event; one
# that ends on a full disk; a long one, for which memory may not grow.
#
# Exit status 77 where the package cannot be had.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -eq 2 ] || usage
sample=$(realpath "$1")
mkdir -p "$2"
venv=$(realpath "$2")/perfetto
version='perfetto>=0.59,<0.60'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Sets $python to one that has the package.
find_python() {
	local candidate

	for candidate in python3 "$venv/bin/python"; do
		python=$candidate
		! "$python" -c 'from perfetto.protos.perfetto.trace import perfetto_trace_pb2' 2>/dev/null ||
			return 0
	done
	rm -rf "$venv"
	python3 -m venv "$venv" >"$work/log" 2>&1 &&
		"$python" -m pip install --quiet --disable-pip-version-check --retries 1 --timeout 20 \
			"$version" >"$work/log" 2>&1
}

# check TRACE OPTION...: its counts go to $work/counts.
check() {
	local trace=$1
	shift

	"$python" "$testdata/check/check_perfetto.py" --json "$@" "$trace" >"$work/counts" ||
		fail "$trace is no valid trace"
}

# expect KEY VALUE: of the counts.
expect() {
	local found

	found=$(jq -r --arg key "$1" '.[$key]' "$work/counts")
	[ "$found" = "$2" ] || fail "$1: $found, not $2"
}

# A row of what the sample says.
truth() {
	sed -n "s/^truth $1 //p" "$work/truth"
}

find_python || { echo "skipped: no package perfetto: $(tail -n 1 "$work/log")" && exit 77; }
"$python" "$testdata/check/check_perfetto.py" --self-test

"$sample" 20000 >"$work/trace" 2>"$work/truth"
# Who is woken last is not polled any more.
check "$work/trace" --open-flows 1 --max-bytes 40
for key in events bytes slice_begin slice_end instant counter flows; do
	expect "$key" "$(truth $key)"
done
[ "$(truth unmatched)" = 1 ] || fail "$(truth unmatched) ends without a begin, not 1"
jq -e '.names.slice_begin == {polling: 20000, waiting: 20000, "app::handle": 20000}' "$work/counts" >/dev/null ||
	fail "other names: $(jq -c .names.slice_begin "$work/counts")"

# As on a full disk, of which the writer must say so once: a file of at most 500 blocks.
status=0
(
	ulimit -f 500
	trap '' XFSZ
	exec "$sample" 20000 >"$work/trace" 2>"$work/truth"
) || status=$?
[ "$status" -eq 1 ] || fail "a full disk: status $status"
[ "$(wc -l <"$work/truth")" = 1 ] || fail "a full disk: $(cat "$work/truth")"
check "$work/trace" --partial --max-bytes 40
[ "$(jq .events "$work/counts")" -gt 10000 ] || fail "too little is left of a full disk"

# So many places that the table of strings is begun anew several times; only its memory is checked.
"$sample" 1500000 2>"$work/truth" >/dev/null
[ "$(truth growth)" -lt 4096 ] || fail "$(truth events) events: memory grew by $(truth growth) kB"
echo "$(truth events) events in $(truth bytes) bytes; memory grew by $(truth growth) kB"
