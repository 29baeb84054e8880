#!/bin/bash
# Attaches to executors/async_tasks, tasks of async-executor, as run_live.sh does to programs; and with
# Cargo.lock to async_sockets.
#
# usage: run_async_tasks.sh ASYNCDBG PROFILE [LOCK...]
#
# PROFILE: debug or release. LOCK: names of locks in executors/, such as async-executor-1.5.0;
# default all, and Cargo.lock. Exit status 77 where there is no cargo.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"

[ $# -ge 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
profile=$2
shift 2
find_cargo || { echo "skipped: $no_cargo" && exit 77; }
base=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}/executors
options=(--quiet --locked -j "${JOBS:-2}")
case $profile in
debug) ;;
release) options+=(--release) ;;
*) fail "no profile $profile" ;;
esac
if [ $# -eq 0 ]; then
	mapfile -t locks < <(cd "$testdata/executors" && ls ./*.lock)
	set -- "${locks[@]}"
fi

for lock; do
	lock=$(basename "$lock" .lock)
	dir=$testdata/executors
	target=$base
	programs=(async_tasks async_sockets)
	if [ "$lock" != Cargo ]; then
		target=$base-$lock
		programs=(async_tasks)
		copy_executors "$target/src" "$dir/$lock.lock"
		dir=$target/src/executors
	fi
	echo "$lock:"
	(cd "$dir" && cargo build "${options[@]}" "${programs[@]/#/--package=}" --target-dir "$target")
	BINARIES=$target/$profile "$testdata/run/run_live.sh" "$asyncdbg" "$profile" "${programs[@]}"
done
