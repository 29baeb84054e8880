# What the scripts that build the programs of a workspace of testdata begin with; sourced, not run, with
# the name of the workspace and the script's own arguments.
# shellcheck shell=bash disable=SC2034

testdata=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -ge 3 ] || usage
workspace=$testdata/$1 asyncdbg=$(realpath "$2") profile=$3
find_cargo || { echo "skipped: $no_cargo" && exit 77; }
# Where Cargo.lock builds to; other locks beside it.
base=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}/$1
options=(--quiet --locked -j "${JOBS:-2}")
case $profile in
debug) ;;
release | lto) options+=(--profile "$profile") ;;
*) fail "no profile $profile" ;;
esac

# need_io_uring: where the kernel forbids it the script is left out.
need_io_uring() {
	[ "$(cat /proc/sys/kernel/io_uring_disabled 2>/dev/null || echo 0)" = 0 ] ||
		{ echo "skipped: io_uring is disabled" && exit 77; }
}

# make_work: $work, with asyncdbg's cache, which is empty; both go with the script.
make_work() {
	work=$(mktemp -d)
	export XDG_CACHE_HOME=$work/cache
	trap 'stop_program; rm -rf "$work"' EXIT
}

# list_locks [LOCK...]: sets locks to these, without .lock; default all of the workspace.
list_locks() {
	locks=("${@%.lock}")
	[ $# -gt 0 ] || mapfile -t locks < <(cd "$workspace" && basename -s .lock -- *.lock)
}

# build_with LOCK PROGRAM...: builds them with a lock of the workspace; sets binaries.
build_with() {
	local dir=$workspace target=$base lock=$1
	shift

	if [ "$lock" != Cargo ]; then
		target=$base-$lock
		dir=$target/src/${workspace##*/}
		copy_workspace "$workspace" "$target/src" "$workspace/$lock.lock"
	fi
	(cd "$dir" && cargo build "${options[@]}" "${@/#/--package=}" --target-dir "$target")
	binaries=$target/$profile
}

# live PROGRAM...: run_live.sh of programs that build_with has built.
live() {
	BINARIES=$binaries FILES=1 "$testdata/run/run_live.sh" "$asyncdbg" "$profile" "$@"
}
