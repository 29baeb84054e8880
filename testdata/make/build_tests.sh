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
	programs release+dwarf5+nopie tokio_tcp
	programs release+static+v0 tokio_tcp burn
	programs release+split tokio_tcp
	programs debug+installed tokio_tcp
	programs release+v0+installed tokio_tcp
	programs debug1 tokio_tcp notokio
	;;
servers) CARGO_PROFILE_RELEASE_DEBUG=2 workspace servers release ;;
executors) workspace executors dev release ;;
crates)
	workspace crates dev
	(cd "$testdata/crates" && cargo build --quiet --locked --target-dir "$target/crates" -j "${JOBS:-2}" \
		--package usdt_probes)
	;;
dump) RUSTFLAGS="--cfg tokio_unstable" workspace dump dev ;;
*) usage ;;
esac
