#!/bin/bash
# The unit of systemd in the package: systemd finds nothing to complain about.
#
# usage: run_unit.sh ASYNCDBG
#
# Exit status 77 where there is no systemd-analyze.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -eq 1 ] || usage
asyncdbg=$(realpath "$1")
have systemd-analyze || { echo "skipped: no systemd-analyze" && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# verify UNIT: an instance of it, with this asyncdbg; what systemd says of it. Its exit status is 0
# also where it has ignored a line.
verify() {
	sed "s|^ExecStart=asyncdbg |ExecStart=$asyncdbg |" "$1" >"$work/asyncdbg-watch@server.service"
	systemd-analyze verify --man=no "$work/asyncdbg-watch@server.service" 2>&1 | grep -F asyncdbg-watch || true
}

unit=$root/commands/systemd/asyncdbg-watch@.service
bad=$(verify "$unit")
[ -z "$bad" ] || fail "$bad"
# What is wrong is seen.
for change in 's/^Nice=/Nicer=/' 's|^ExecStart=.*|ExecStart=/nonexistent/program|'; do
	sed "$change" "$unit" >"$work/changed"
	[ -n "$(verify "$work/changed")" ] || fail "no complaint of a unit with $change"
done
echo "ok: $(systemd-analyze --version | head -n 1)"
