#!/bin/bash
# Builds what the live tests run, so that they need not: they run one after the other, and cargo
# beside tests of other kinds.
#
# usage: build_tests.sh PART
#
# PART  debug or release, the programs in that profile; forms, some of them in other profiles; or a
#       workspace: servers, executors, crates, dump
#
# Exit status 77 where there is no cargo.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
find_cargo || { echo "skipped: $no_cargo" && exit 77; }
[ $# -eq 1 ] || usage
lock=$(newest_lock)
target=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}

# programs PROFILE [PROGRAM...]: as the tests build them, with WHOLE.
programs() {
	"$testdata/make/build_programs.sh" "$lock" "$@" >/dev/null
}

# workspace NAME PROFILE...: a workspace of testdata.
workspace() {
	local name=$1 profile
	shift

	for profile; do
		(cd "$testdata/$name" && cargo build --quiet --locked --target-dir "$target/$name" \
			-j "${JOBS:-2}" --profile "$profile")
	done
}

case $1 in
debug | release) programs "$1" ;;
forms)
	for profile in dwarf5 nopie static v0 split; do
		programs release+$profile tokio_tcp
	done
	for profile in debug release release+v0; do
		programs $profile+installed tokio_tcp
	done
	programs debug1 tokio_tcp notokio
	programs release+v0 burn
	;;
servers) CARGO_PROFILE_RELEASE_DEBUG=2 workspace servers release ;;
executors) workspace executors dev release ;;
crates) workspace crates release ;;
dump) RUSTFLAGS="--cfg tokio_unstable" workspace dump dev release ;;
*) usage ;;
esac
