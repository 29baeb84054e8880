#!/bin/bash
# Attaches to programs of actix/: actix_tasks, tasks of a System and its Arbiters, as run_live.sh does to
# programs; actix_load, a server of actix-web, at rest and under load, again and again: each leaf has a
# name, no verdict is given.
#
# usage: run_actix.sh ASYNCDBG PROFILE
#
# PROFILE: debug, release or lto. LOOKS: how many at the server, default 20. Exit status 77 where there is
# no cargo.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"

[ $# -eq 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
profile=$2
find_cargo || { echo "skipped: $no_cargo" && exit 77; }
target=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}/actix
options=(--quiet --locked -j "${JOBS:-2}")
case $profile in
debug) ;;
release | lto) options+=(--profile "$profile") ;;
*) fail "no profile $profile" ;;
esac

(cd "$testdata/actix" && cargo build "${options[@]}" --target-dir "$target")
BINARIES=$target/$profile "$testdata/run/run_live.sh" "$asyncdbg" "$profile" actix_tasks
looks() {
	"$testdata/run/run_server_looks.py" --looks "$1" "$asyncdbg" "$target/$profile/actix_load" "${@:2}"
}
looks 2 rest
looks "${LOOKS:-20}"
