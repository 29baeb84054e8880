#!/bin/bash
# Attaches to compio/compio_tasks, tasks of compio, as run_live.sh does to programs; with Cargo.lock also
# again and again to compio/compio_http, a server under load: each leaf has a name, no verdict is given.
#
# usage: run_compio.sh ASYNCDBG PROFILE [LOCK...]
#
# PROFILE: debug, release or lto. LOCK: names of locks in compio/, such as compio-0.18.0; default all,
# and Cargo.lock. LOOKS: how many at the server, default 20. Exit status 77 where there is no cargo, or
# where the kernel forbids io_uring.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"

[ $# -ge 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
profile=$2
shift 2
find_cargo || { echo "skipped: $no_cargo" && exit 77; }
[ "$(cat /proc/sys/kernel/io_uring_disabled 2>/dev/null || echo 0)" = 0 ] ||
	{ echo "skipped: io_uring is disabled" && exit 77; }
base=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}/compio
options=(--quiet --locked -j "${JOBS:-2}")
case $profile in
debug) ;;
release | lto) options+=(--profile "$profile") ;;
*) fail "no profile $profile" ;;
esac
if [ $# -eq 0 ]; then
	mapfile -t locks < <(cd "$testdata/compio" && ls ./*.lock)
	set -- "${locks[@]}"
fi

for lock; do
	lock=$(basename "$lock" .lock)
	dir=$testdata/compio
	target=$base
	if [ "$lock" != Cargo ]; then
		target=$base-$lock
		mkdir -p "$target/src"
		rm -rf "$target/src/compio" "$target/src/programs"
		cp -a "$dir" "$testdata/programs" "$target/src"
		dir=$target/src/compio
		cp "$testdata/compio/$lock.lock" "$dir/Cargo.lock"
	fi
	echo "$lock:"
	(cd "$dir" && cargo build "${options[@]}" --target-dir "$target")
	BINARIES=$target/$profile "$testdata/run/run_live.sh" "$asyncdbg" "$profile" compio_tasks
	[ "$lock" != Cargo ] ||
		"$testdata/run/run_server_looks.py" --looks "${LOOKS:-20}" "$asyncdbg" "$target/$profile/compio_http"
done
