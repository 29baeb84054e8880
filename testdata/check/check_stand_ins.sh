#!/bin/bash
# Checks that the stand-ins for code that needs an optional library (probe_none.c and the like) have every function that
# the rest of the program calls in that code: builds without these libraries are not made by the tests.
#
# usage: check_stand_ins.sh BUILD "OBJECT;..." "REAL;..."
#
# OBJECT is a stand-in's object file, REAL a source for which one stands in. BUILD has the libraries.
set -euo pipefail

missing=$({
	IFS=';'
	# shellcheck disable=SC2086 # a list
	nm --print-file-name --defined-only $2 | sed 's/^/stand-in /'
	nm --print-file-name "$1"/lib*.a | sed 's/^/library /'
} | awk -v real="$3" '
	BEGIN { n = split(real, path, ";"); for (i = 1; i <= n; i++) { sub(".*/", "", path[i]); is_real[path[i] ".o"] } }
	$1 == "stand-in" { has[$NF]; next }
	{ split($2, file, ":") }
	$(NF - 1) == "T" && file[2] in is_real { defined[$NF] }
	$(NF - 1) == "U" && !(file[2] in is_real) { called[$NF] }
	END { for (name in defined) if (name in called && !(name in has)) print name }')
[ -z "$missing" ] || {
	echo "the stand-ins lack $missing" >&2
	exit 1
}
