#!/bin/bash
# Attaches to the programs of futures/, tasks of a ThreadPool, as run_live.sh does to programs. No list
# of such tasks is complete, and every answer says so. With Cargo.lock also to four_executors, in which
# each waker must be known, and with it whom it wakes.
#
# usage: run_futures.sh ASYNCDBG PROFILE [LOCK...]
#
# PROFILE: debug, release or lto. LOCK: names of locks in futures/, such as futures-0.3.5; default all,
# of lto the newest. Exit status 77 where there is no cargo.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"

[ $# -ge 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
profile=$2
shift 2
find_cargo || { echo "skipped: $no_cargo" && exit 77; }
base=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}/futures
options=(--quiet --locked -j "${JOBS:-2}")
case $profile in
debug) ;;
release) options+=(--release) ;;
lto) options+=(--profile lto) ;;
*) fail "no profile $profile" ;;
esac
if [ $# -eq 0 ]; then
	mapfile -t locks < <(cd "$testdata/futures" && ls ./*.lock)
	[ "$profile" != lto ] || locks=(Cargo.lock)
	set -- "${locks[@]}"
fi

# copy_sources DIR LOCK: the other locks are of this program alone.
copy_sources() {
	rm -rf "$1"
	mkdir -p "$1"
	cp -a "$testdata/futures" "$testdata/programs" "$1"
	cp "$2" "$1/futures/Cargo.lock"
	sed -i '/^members = \[/s/\[.*\]/["thread_pool"]/' "$1/futures/Cargo.toml"
}

# check_wakers EXE: three tasks wait for threads in a block_on, each of another crate.
check_wakers() {
	local said

	start_program "$1" || fail "$1 did not get ready"
	said=$("$asyncdbg" --no-cache -p "$pid" tasks 2>&1 </dev/null || true)
	stop_program
	if [ "$(grep -c 'receiver alive in thread' <<<"$said")" != 3 ] || grep -q 'unknown waker' <<<"$said"; then
		echo "four_executors ($profile): not every waker is known"
		echo "$said"
		exit 1
	fi
}

work=$(mktemp -d)
trap 'stop_program; rm -rf "$work"' EXIT
export PARTIAL='(thread_pool) keeps no list of its tasks: these are all that queues and wakers lead to'
for lock; do
	lock=$(basename "$lock" .lock)
	dir=$testdata/futures
	target=$base
	programs=(thread_pool four_executors)
	if [ "$lock" != Cargo ]; then
		target=$base-$lock
		programs=(thread_pool)
		copy_sources "$target/src" "$dir/$lock.lock"
		dir=$target/src/futures
	fi
	echo "$lock:"
	(cd "$dir" && cargo build "${options[@]}" "${programs[@]/#/--package=}" --target-dir "$target")
	BINARIES=$target/$profile "$testdata/run/run_live.sh" "$asyncdbg" "$profile" "${programs[@]}"
	[ "$lock" != Cargo ] || check_wakers "$target/$profile/four_executors"
done
