#!/bin/bash
# Attaches to programs of family/: what runs on async-task beside async-executor itself and smol 2, as
# run_live.sh does to programs. What keeps no list of its tasks is compared with what it prints of itself.
#
# usage: run_family.sh ASYNCDBG PROFILE [LOCK...]
#
# PROFILE: debug or release. LOCK: names of locks in family/, such as async-std-1.12.0, with which
# async_std_tasks is built; default all, and Cargo, with which located is too. Exit status 77 where
# there is no cargo.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"

[ $# -ge 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
profile=$2
shift 2
find_cargo || { echo "skipped: $no_cargo" && exit 77; }
base=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}/family
options=(--quiet --locked -j "${JOBS:-2}")
case $profile in
debug) ;;
release) options+=(--release) ;;
*) fail "no profile $profile" ;;
esac
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
trap 'stop_program; rm -rf "$work"' EXIT
if [ $# -eq 0 ]; then
	mapfile -t locks < <(cd "$testdata/family" && ls ./*.lock)
	set -- "${locks[@]}"
fi

# copy_sources DIR LOCK: the other locks are of this program alone.
copy_sources() {
	rm -rf "$1"
	mkdir -p "$1"
	cp -a "$testdata/family" "$testdata/programs" "$1"
	cp "$2" "$1/family/Cargo.lock"
	sed -i '/^members = \[/,/^\]/{/async_std_tasks\|members\|^\]/!d}; /^default-members/d' "$1/family/Cargo.toml"
}

# build DIR TARGET PROGRAM...
build() {
	local dir=$1 target=$2
	shift 2

	(cd "$dir" && cargo build "${options[@]}" "${@/#/--package=}" --target-dir "$target")
}

bad() {
	fail "located ($profile): $1: $(head -n 20 "$work/answer" "$work/stderr")"
}

# check_located OPTIONS...: each task is found, and where it was spawned.
check_located() {
	local status=0

	timeout 120 "$asyncdbg" "$@" --json async backtrace all >"$work/answer" 2>"$work/stderr" || status=$?
	[ "$status" -eq 1 ] || bad "asyncdbg $* ends with $status, not 1"
	"$testdata/check/validate_json.py" "$testdata/../docs/asyncdbg.schema.json" "$work/answer" >/dev/null ||
		bad "not the schema"
	jq -r '.notes[]' "$work/answer" | grep -qF 'a scan of memory found 5 (' || bad "not 5 tasks"
	jq -r '.tasks[] | select(.spawned_at) |
		"spawned \(.root.function) \(.spawned_at.file):\(.spawned_at.line)"' "$work/answer" |
		sort >"$work/places"
	grep '^spawned ' "$work/truth" | sort | diff "$work/places" - || bad "not where they were spawned"
}

run_located() {
	start_program "$1" || fail "located ($profile) did not get ready: $(cat "$work/stderr")"
	check_located -p "$pid"
	gcore -o "$work/core" "$pid" >"$work/answer" 2>&1 8>&- || bad "gcore failed"
	check_located -c "$work/core.$pid"
	stop_program
	rm -f "$work"/core.*
	echo "located ($profile): ok"
}

for lock; do
	lock=$(basename "$lock" .lock)
	dir=$testdata/family
	target=$base
	programs=(async_std_tasks located)
	if [ "$lock" != Cargo ]; then
		target=$base-$lock
		programs=(async_std_tasks)
		copy_sources "$target/src" "$dir/$lock.lock"
		dir=$target/src/family
	fi
	echo "$lock:"
	build "$dir" "$target" "${programs[@]}"
	BINARIES=$target/$profile "$testdata/run/run_live.sh" "$asyncdbg" "$profile" async_std_tasks
	[ "$lock" != Cargo ] || run_located "$target/$profile/located"
done
