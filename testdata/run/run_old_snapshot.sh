#!/bin/bash
# A snapshot that asyncdbg saved in version 1 of the format gives the answers of today: those of the
# fixture's core, which golden/ has. What a later asyncdbg reads in addition is not in it: paths that
# the layout has now, and where futures are defined.
#
# usage: run_old_snapshot.sh ASYNCDBG
set -euo pipefail

export LC_ALL=C.UTF-8
asyncdbg=$(realpath "$1")
testdata=$(cd "$(dirname "$0")/.." && pwd)
golden=$testdata/golden/locks-1.38
failed=0
saved_when='[0-9-]+ [0-9:]+ UTC'

# Without what only later versions read.
known() {
	sed -E -e '/^Layout: /d' -e '/^ +"(ok|absent)": [0-9]+,?$/d' \
		-e '/"defined_at": \{/,/\}/d' -e '/"defined_at": null/d'
}

# NAME OF THE GOLDEN asyncdbg's words
while read -r name words; do
	for format in txt json; do
		option=()
		[ "$format" = txt ] || option=(--json)
		# shellcheck disable=SC2086 # words of a command
		(cd "$testdata/saved" &&
			"$asyncdbg" -c locks-1.38.v1.saved --color never "${option[@]}" $words) </dev/null 2>/dev/null |
			sed -E -e "s/^(asyncdbg: )snapshot [^ ]+ of (.*\\)), saved $saved_when/\\1\\2/" \
				-e '/^Snapshot: /d' -e '/^ +"saved_(file|when)": /d' | known |
			diff - <(known <"$golden/$name.$format") || {
			echo "$name.$format: differs from $golden"
			failed=1
		}
	done
done <<'COMMANDS'
info info
threads threads
runtimes runtimes
tasks tasks
async-backtrace async backtrace
async-backtrace-all async backtrace all
async-graph async graph
async-deadlocks async deadlocks
check check
COMMANDS
[ "$failed" = 0 ] || exit 1
echo "the answers are those of the core"
