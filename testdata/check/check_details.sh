#!/bin/bash
# Checks that every key that runtimes/ gives a detail of a wait is one that a saved snapshot may have
# (wait_detail_is_known() in runtimes/model/model.c) and that docs/asyncdbg.schema.json describes.
#
# usage: check_details.sh [ROOT]
#        check_details.sh --self-test    a key that is not listed must be noticed
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)

used() {
	grep -rhoE --include='*.c' --exclude='*_test.c' \
		'(wait_(int|bool|string|list)\([^,]+, |add_detail\([^"]*|\.key = )"[a-z_]+"' runtimes |
		sed 's/.*"\(.*\)"/\1/' | sort -u
}

known() {
	sed -n '/^bool wait_detail_is_known/,/^}/p' runtimes/model/model.c | grep -oE '"[a-z_]+"' | tr -d '"' | sort -u
}

described() {
	jq -r '.definitions.wait | .required as $own
		| .properties | keys[] | select(. as $key | $own + ["name"] | index($key) | not)' \
		docs/asyncdbg.schema.json | sort -u
}

if [ "${1:-}" = --self-test ]; then
	copy=$(mktemp -d)
	trap 'rm -rf "$copy"' EXIT
	cp -r "$root/runtimes" "$root/docs" "$copy"
	"$root/testdata/check/check_details.sh" "$copy"
	echo 'void f(void) { wait_int(l, "unheard_of", 1); }' >>"$copy/runtimes/future/leaf.c"
	! "$root/testdata/check/check_details.sh" "$copy" >/dev/null || { echo "a key was not noticed" && exit 1; }
	exit 0
fi
cd "${1:-$root}"
missing=$(comm -23 <(used) <(known))
differ=$(comm -3 <(known) <(described))
[ -z "$missing" ] || echo "not in wait_detail_is_known(): $missing"
[ -z "$differ" ] || echo "not in both wait_detail_is_known() and the schema: $differ"
[ -z "$missing$differ" ]
