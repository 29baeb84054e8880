#!/bin/bash
# Runs hostile_memory on every fixture.
#
# usage: run_hostile_memory.sh HOSTILE_MEMORY
#
# SEEDS       changes of each core, default 1000
# FIRST_SEED  default 0
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -eq 1 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=

for core in "$fixtures"/*.core.zst; do
	name=$(basename "$core" .core.zst)
	[ ! -f "${core%.core.zst}.layout.zst" ] || continue # it has no debug info
	unpack_fixture "$name" "$work"
	printf '%s: ' "$name"
	ASAN_OPTIONS=detect_leaks=1:hard_rss_limit_mb=6000 "$1" "$work/$name.core" "$work/$name.exe" \
		"${SEEDS:-1000}" "${FIRST_SEED:-0}" || failed=yes
	rm -f "$work/$name".{core,exe}
done
[ -z "$failed" ]
