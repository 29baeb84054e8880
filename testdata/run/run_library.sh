#!/bin/bash
# Runs the program that links the library on a core, and on what `save` makes of it: it must list the
# tasks that asyncdbg lists, in the same states. A file that is neither is an error, reported as such.
#
# usage: run_library.sh ASYNCDBG TASKS FIXTURE
set -euo pipefail

fixtures=$(cd "$(dirname "$0")/.." && pwd)/fixtures
asyncdbg=$1
tasks=$2
fixture=$3
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
trap 'rm -rf "$work"' EXIT

# expect FILE [EXECUTABLE]
expect() {
	"$tasks" "$@" | cut -f 1,2 >"$work/listed"
	diff -u "$work/expected" "$work/listed"
}

zstd -qdf "$fixtures/$fixture.core.zst" -o "$work/core"
zstd -qdf "$fixtures/$fixture.exe.zst" -o "$work/exe"
"$asyncdbg" -c "$work/core" --exe "$work/exe" --json tasks |
	python3 -c 'import json, sys
for task in json.load(sys.stdin)["tasks"]: print(task["id"], task["state"], sep="\t")' >"$work/expected"
[ -s "$work/expected" ] || { echo "$fixture has no tasks" && exit 1; }
expect "$work/core" "$work/exe"
"$asyncdbg" -c "$work/core" --exe "$work/exe" save "$work/saved" >/dev/null
expect "$work/saved"
[ ! -e "$work/cache/asyncdbg" ] || rm -r "$work/cache/asyncdbg"
"$tasks" "$work/core" "$work/exe" >/dev/null
[ ! -e "$work/cache/asyncdbg" ] || { echo "a cache that nobody asked for was written" && exit 1; }
status=0
"$tasks" "$0" 2>"$work/error" || status=$?
[ $status = 2 ] && grep -q '^tasks: .*run_library.sh' "$work/error" ||
	{ echo "no error of a file that is no core: $status, $(cat "$work/error")" && exit 1; }
echo "$(wc -l <"$work/expected") tasks of $fixture"
