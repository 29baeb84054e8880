#!/bin/bash
# Checks the table of wait kinds (runtimes/model/wait_kind.c): every key that runtimes/ gives a detail
# of a wait is in a row, docs/asyncdbg.schema.json describes the keys of all rows and no others, and
# lists all kinds; docs/json.md explains each kind.
#
# usage: check_details.sh [ROOT]
#        check_details.sh --self-test    a key and a kind that are not listed must be noticed
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)

used() {
	grep -rhoE --include='*.c' --exclude='*_test.c' \
		'(wait_(int|bool|string|list)\([^,]+, |add_detail\([^"]*|\.key = )"[a-z_]+"' runtimes |
		sed 's/.*"\(.*\)"/\1/' | sort -u
}

known() {
	perl -0ne 'print "$1\n" while /\.details =((?:[A-Z]+|"[^"]*"|\s)*)/g;
		print "$1\n" while /^#define [A-Z]+ +([A-Z]* ?".*)$/mg' \
		runtimes/model/wait_kind.c | grep -oE '"[a-z_ ]+"' | tr -d '"' | tr -s ' ' '\n' |
		grep . | sort -u
}

kinds() {
	grep -oE '(\.name = |(LOCK|CHANNEL|NATIVE)\()"[a-z_]+"' runtimes/model/wait_kind.c |
		sed 's/.*"\(.*\)"/\1/' | sort -u
}

described() {
	jq -r '.definitions.wait | .required as $own
		| .properties | keys[] | select(. as $key | $own + ["name", "armed"] | index($key) | not)' \
		docs/asyncdbg.schema.json | sort -u
}

if [ "${1:-}" = --self-test ]; then
	copy=$(mktemp -d)
	trap 'rm -rf "$copy"' EXIT
	cp -r "$root/runtimes" "$root/docs" "$copy"
	"$root/testdata/check/check_details.sh" "$copy"
	echo 'void f(void) { wait_int(l, "unheard_of", 1); }' >>"$copy/runtimes/future/leaf.c"
	! "$root/testdata/check/check_details.sh" "$copy" >/dev/null || { echo "a key was not noticed" && exit 1; }
	sed -i '$d' "$copy/runtimes/future/leaf.c"
	sed -i 's/"join_set"/"join_heap"/' "$copy/runtimes/model/wait_kind.c"
	! "$root/testdata/check/check_details.sh" "$copy" >/dev/null || { echo "a kind was not noticed" && exit 1; }
	exit 0
fi
cd "${1:-$root}"
bad=
# report WHAT LINES: LINES, if any, are wrong.
report() {
	[ -z "$2" ] && return
	bad=yes
	echo "$1: "$2
}

report "not in a row of wait_kind.c" "$(comm -23 <(used) <(known))"
report "not in both wait_kind.c and the schema" "$(comm -3 <(known) <(described))"
report "kinds not in both wait_kind.c and the schema" "$(comm -3 <(kinds) <(
	jq -r '.definitions.wait.properties.kind.examples[]' docs/asyncdbg.schema.json | sort -u))"
report "kinds that docs/json.md does not explain" "$(comm -23 <(kinds) <(
	grep -oE '`[a-z_]+`' docs/json.md | tr -d '`' | sort -u))"
[ -z "$bad" ]
