#!/bin/bash
# Attaches to uring/uring_tasks, tasks of tokio-uring at operations in flight, as run_live.sh does to
# programs.
#
# usage: run_uring.sh ASYNCDBG PROFILE
#
# PROFILE: debug, release or lto. Exit status 77 where there is no cargo, or where the kernel forbids
# io_uring.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"

[ $# -eq 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
profile=$2
find_cargo || { echo "skipped: $no_cargo" && exit 77; }
[ "$(cat /proc/sys/kernel/io_uring_disabled 2>/dev/null || echo 0)" = 0 ] ||
	{ echo "skipped: io_uring is disabled" && exit 77; }
target=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}/uring
options=(--quiet --locked -j "${JOBS:-2}")
case $profile in
debug) ;;
release | lto) options+=(--profile "$profile") ;;
*) fail "no profile $profile" ;;
esac

(cd "$testdata/uring" && cargo build "${options[@]}" --target-dir "$target")
BINARIES=$target/$profile "$testdata/run/run_live.sh" "$asyncdbg" "$profile" uring_tasks
