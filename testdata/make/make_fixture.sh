#!/bin/bash
# Makes one fixture: an executable, a core of it in its situation, and its truth.
#
# usage: make_fixture.sh NAME PROGRAM LOCK PROFILE [ARGUMENT...]
#
# LOCK and PROFILE are those of build_programs.sh; the executable is always linked statically,
# so that nothing of this machine is needed to read the core. ARGUMENTs go to the program.
# Writes NAME.exe.zst, NAME.core.zst and NAME.truth.json and adds a row to FIXTURES.tsv, whose
# checksums are those of the files before compression.
#
# FIXTURES  where to write, default fixtures/ of testdata
# WITH      programs that are built along, by default none: tokio has the features that any needs
#
# A fixture that exists is never made again: the tests compare addresses.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -ge 4 ] || usage
name=$1 program=$2 lock=$3 profile=$4
shift 4

mkdir -p "$fixtures"
fixtures=$(cd "$fixtures" && pwd)
index=$fixtures/FIXTURES.tsv
[ ! -e "$fixtures/$name.exe.zst" ] || fail "$name exists already"

# shellcheck disable=SC2086 # a list
dir=$("$testdata/make/build_programs.sh" "$lock" "$profile+static" "$program" ${WITH:-} | tail -n 1)
# The core names the place of its executable, so that must not be one of this machine.
place=/tmp/fixture
mkdir "$place" || fail "$place is in use"
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
cleanup() {
	stop_program
	rm -rf "$work" "$place"
}
trap cleanup EXIT

cp "$dir/$program" "$place/$program"
cd "$place"
start_program env -i MALLOC_ARENA_MAX=1 "./$program" "$@" || fail "$program ended before it was ready"
# Anonymous memory and huge pages; what files hold is in the executable.
echo 0x23 >"/proc/$pid/coredump_filter"
# Where memory is read-only, gdb sets its own breakpoints in registers; the core then
# has the program as it was, and no copy of .text.
gdb -nx -batch -iex 'mem 0 0 ro' -p "$pid" -ex "gcore $work/core" >"$work/gdb.log" 2>&1 8>&- ||
	fail "$(tail -n 1 "$work/gdb.log")"
[ -s "$work/core" ] || fail "$(tail -n 1 "$work/gdb.log")"

for file in "$place/$program" "$work/core"; do
	if strings -a "$file" | grep -F -e "$HOME/" -e "$testdata" -e "$work" -e "$dir"; then
		fail "${file##*/} names a place of this machine"
	fi
done

zstd -q -19 "$place/$program" -o "$fixtures/$name.exe.zst"
zstd -q -19 "$work/core" -o "$fixtures/$name.core.zst"
tail -n 1 "$work/truth" >"$fixtures/$name.truth.json"

sha256() {
	sha256sum "$1" | cut -d' ' -f1
}
tokio=$(tokio_version "${dir%/build/*}/src/Cargo.lock")
rustc=$("${RUSTC:-rustc}" --version | cut -d' ' -f2)
[ -e "$index" ] || printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' \
	name program tokio rustc profile exe_sha256 core_sha256 >"$index"
printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$program" "$tokio" "$rustc" "$profile+static" \
	"$(sha256 "$place/$program")" "$(sha256 "$work/core")" >>"$index"
ls -l "$fixtures/$name".*
