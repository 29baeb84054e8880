#!/bin/bash
# Makes one fixture: a core of a program in its situation, the stripped executable, a layout file and
# the truth.
#
# usage: make_fixture.sh NAME PROGRAM LOCK PROFILE [ARGUMENT...]
#        make_fixture.sh --layout NAME
#
# LOCK and PROFILE are those of build_programs.sh. LOCK is the name of another workspace, and PROFILE
# `release`, for a program of that workspace; WORKSPACE:NAME builds it with the lock NAME there. The
# executable is always linked statically, so that nothing of this machine is needed to read the core.
# ARGUMENTs go to the program.
# Writes NAME.{core,exe,layout}.zst and, where it has tasks or runtimes, NAME.truth.json, and adds a
# row to FIXTURES.tsv, whose
# checksums are those of the core and of the executable with its debug info. The row names a program
# of another workspace as crates/PROGRAM.
#
# ASYNCDBG  makes the layout file, default build/release/asyncdbg
# FIXTURES  where to write, default fixtures/ of testdata
# WITH      programs that are built along, by default none: tokio has the features that any needs
# FULL      not empty: the executable keeps its debug info, 2 to 4 MB, and there is no layout file
#
# A fixture that exists is never made again: the tests compare addresses. Its layout file is, with
# --layout, where asyncdbg reads another format of layout files, or more of the debug info: the
# program is built again, and must be the same, byte for byte.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
mkdir -p "$fixtures"
fixtures=$(cd "$fixtures" && pwd)
index=$fixtures/FIXTURES.tsv
asyncdbg=$(realpath "${ASYNCDBG:-$build_root/release/asyncdbg}")
[ -n "${FULL:-}" ] || [ -x "$asyncdbg" ] || fail "no $asyncdbg: see ASYNCDBG"
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache

sha256() {
	sha256sum "$1" | cut -d' ' -f1
}

# build_crate PROGRAM WORKSPACE[:NAME]: into $dir, by $lock_file.
build_crate() {
	local registry flags=(-C target-feature=+crt-static "--remap-path-prefix=$testdata=/src")
	local workspace=${2%:*} target sources
	local out=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}/${2/:/-}-static

	sources=$testdata/$workspace lock_file=$testdata/$workspace/Cargo.lock
	if [ "$workspace" != "$2" ]; then
		lock_file=$testdata/$workspace/${2#*:}.lock
		copy_workspace "$sources" "$out/src" "$lock_file"
		sources=$out/src/$workspace
		flags+=("--remap-path-prefix=$out/src=/src")
	fi
	target=$("${RUSTC:-rustc}" --version --verbose | sed -n 's/^host: //p')
	for registry in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*; do
		flags+=("--remap-path-prefix=$registry=/cargo/registry")
	done
	flags+=("--remap-path-prefix=$("${RUSTC:-rustc}" --print sysroot)/lib/rustlib/src/rust=/rustc/src")
	(cd "$sources" && CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f'; echo "${flags[*]}") \
		cargo build --locked --release -j "${JOBS:-2}" --target "$target" --target-dir "$out" -p "$1")
	dir=$out/$target/release
}

is_workspace() {
	case ${1%:*} in
	actix | compio | crates | executors | family | futures | headless | uring) ;;
	*) return 1 ;;
	esac
}

# build PROGRAM LOCK PROFILE: into $dir, by $lock_file.
build() {
	if is_workspace "$2"; then
		build_crate "$1" "$2"
		return
	fi
	# shellcheck disable=SC2086 # a list
	dir=$("$testdata/make/build_programs.sh" "$2" "$3" "$1" ${WITH:-} | tail -n 1)
	lock_file=${dir%/build/*}/src/Cargo.lock
}

# pack FILE NAME
pack() {
	zstd -q -19 -f "$1" -o "$fixtures/$2.zst"
	chmod 644 "$fixtures/$2.zst"
}

# layout EXECUTABLE NAME
layout() {
	"$asyncdbg" layout "$1" -o "$work/layout"
	pack "$work/layout" "$2.layout"
}

if [ "${1:-}" = --layout ] && [ $# -eq 2 ]; then
	trap 'rm -rf "$work"' EXIT
	[ -f "$fixtures/$2.layout.zst" ] || fail "no fixture $2 with a layout file"
	IFS=$'\t' read -r name program lock _ profile exe _ < <(grep "^$2"$'\t' "$index")
	case $program in */*) lock=${program%/*} program=${program#*/} ;; esac
	build "$program" "$lock" "$profile"
	[ "$(sha256 "$dir/$program")" = "$exe" ] || fail "$dir/$program is not what $index says: another rustc?"
	layout "$dir/$program" "$name"
	exit
fi
[ $# -ge 4 ] || usage
name=$1 program=$2 lock=$3 profile=$4
shift 4
[ ! -e "$fixtures/$name.exe.zst" ] || fail "$name exists already"

build "$program" "$lock" "$profile+static"
# The core names the place of its executable, so that must not be one of this machine.
place=/tmp/fixture
mkdir "$place" || fail "$place is in use"
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
	if strings -a "$file" | grep -F -e "$HOME/" -e "$testdata" -e "$work" -e "${dir%/*/*}/"; then
		fail "${file##*/} names a place of this machine"
	fi
done

if [ -n "${FULL:-}" ]; then
	pack "$place/$program" "$name.exe"
else
	layout "$place/$program" "$name"
	strip --strip-all -o "$work/stripped" "$place/$program"
	pack "$work/stripped" "$name.exe"
fi
pack "$work/core" "$name.core"
# One without tasks and runtimes says nothing: a scan finds those of its program.
tail -n 1 "$work/truth" >"$fixtures/$name.truth.json"
jq -e '.runtimes + .tasks | length > 0' "$fixtures/$name.truth.json" >/dev/null ||
	rm "$fixtures/$name.truth.json"
tokio=$(tokio_version "$lock_file" || echo -) # none in compio
if is_workspace "$lock"; then
	program=$lock/$program
fi
rustc=$("${RUSTC:-rustc}" --version | cut -d' ' -f2)
[ -e "$index" ] || printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' \
	name program tokio rustc profile exe_sha256 core_sha256 >"$index"
printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$program" "$tokio" "$rustc" "$profile+static" \
	"$(sha256 "$place/${program#*/}")" "$(sha256 "$work/core")" >>"$index"
ls -l "$fixtures/$name".*
