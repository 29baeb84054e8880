# What the scripts that trace programs begin with; sourced, not run, with the script's own arguments.
# shellcheck shell=bash disable=SC2034

testdata=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -ge 2 ] || usage
asyncdbg=$(realpath "$1") profile=$2
slow=()
[ "$profile" != debug ] || slow=(--allow-slow)

# need_cargo: where there is none the script is left out.
need_cargo() {
	find_cargo || { echo "skipped: $no_cargo" && exit 77; }
}

# build_traced LOCK PROGRAM...: builds programs with LOCK, or where that is empty with the newest lock,
# into $BINARIES; unless that says where they are already.
build_traced() {
	local lock=$1

	shift
	[ -z "${BINARIES:-}" ] || return 0
	need_cargo
	BINARIES=$("$testdata/make/build_programs.sh" "${lock:-$(newest_lock)}" "$profile" "$@" | tail -n 1)
}

# make_cache: asyncdbg's cache, which is empty and goes with the script.
make_cache() {
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	export XDG_CACHE_HOME=$work/cache
}
