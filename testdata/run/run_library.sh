#!/bin/bash
# Installs the library of a build and compiles testdata/library/tasks.c against it in an empty directory:
# each public header compiles alone, too. Runs that program on a core, and on what `save` makes of it:
# it must list the tasks that asyncdbg lists, in the same states. A file that is neither is an error,
# reported as such.
#
# usage: run_library.sh ARCHIVE FIXTURE
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
fixtures=$testdata/fixtures
[ $# -eq 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
build=$(cd "$(dirname "$1")" && pwd)
asyncdbg=$build/asyncdbg
fixture=$2
if ! command -v cc >/dev/null || ! command -v pkg-config >/dev/null; then
	echo "left out: needs cc and pkg-config"
	exit 77
fi
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --component library --prefix "$work/built" >"$work/log" || { cat "$work/log" && exit 1; }
mv "$work/built" "$work/installed" # the installed files can be moved
packages=$(dirname "$(find "$work/installed" -name asyncdbg.pc)")
export PKG_CONFIG_PATH=$packages
flags=(-std=gnu11 -Wall -Wextra -Werror)
! grep -q '^ASYNCDBG_SANITIZE:BOOL=ON' "$build/CMakeCache.txt" || flags+=(-fsanitize=address,undefined)
mkdir "$work/empty"
cd "$work/empty"
cp "$testdata/library/tasks.c" .
read -ra options <<<"$(pkg-config --cflags --libs asyncdbg)"
cc "${flags[@]}" tasks.c -o tasks "${options[@]}"
tasks=$work/empty/tasks
(cd "$work/installed/include/asyncdbg" && find . -name '*.h') | while read -r header; do
	echo "#include \"${header#./}\"" >header.c
	cc "${flags[@]}" -fsyntax-only header.c "${options[@]}" || { echo "$header does not compile alone" && exit 1; }
done

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
