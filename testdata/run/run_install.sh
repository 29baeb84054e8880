#!/bin/bash
# Installs a build, moves what was installed, and uses it there: nothing in it may name the directory
# that it was built in or installed to.
#
# usage: run_install.sh BUILD_DIR
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"

[ $# -eq 1 ] || usage
fixture=selects
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$1" --prefix "$work/first" --strip >"$work/log" || { cat "$work/log" && exit 1; }
mv "$work/first" "$work/moved"
# Sanitizers report by the names of sources.
paths=("$work/first" "$root/")
! grep -q '^ASYNCDBG_SANITIZE:BOOL=ON' "$1/CMakeCache.txt" || paths=("$work/first")
bad=$(grep -rlF "${paths[@]/#/-e}" "$work/moved" || true)
[ -z "$bad" ] || fail "these have the path of the build or installation: $bad"
for file in share/man/man1/asyncdbg.1 share/bash-completion/completions/asyncdbg \
	share/zsh/site-functions/_asyncdbg share/fish/vendor_completions.d/asyncdbg.fish \
	share/doc/asyncdbg/LICENSE-APACHE share/doc/asyncdbg/LICENSE-MIT \
	share/doc/asyncdbg/docs/incidents.md share/doc/asyncdbg/docs/asyncdbg.schema.json; do
	[ -s "$work/moved/$file" ] || fail "no $file"
done
# The unit finds the program wherever systemd looks for programs, as in /usr/local.
grep -q '^ExecStart=asyncdbg ' "$work/moved/lib/systemd/system/asyncdbg-watch@.service" ||
	fail "the unit has a path of the program"
unpack_fixture "$fixture" "$work"
(cd "$work" && XDG_CACHE_HOME=$work/cache LC_ALL=C.UTF-8 moved/bin/asyncdbg -c "$fixture.core" \
	--exe "$fixture.exe" --color never async backtrace all) >"$work/answer"
diff -u "$testdata/golden/$fixture/async-backtrace-all.txt" "$work/answer"
