#!/bin/bash
# Looks at a program that has secrets in its variables, in every way that shows many values: no
# secret may be shown unless it is asked for.
#
# usage: run_secrets.sh ASYNCDBG [PROFILE...]
#
# PROFILE: debug, release; default both. Exit status 77 where there is no cargo.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
schema=$testdata/../docs/asyncdbg.schema.json

[ $# -ge 1 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- debug release
find_cargo || { echo "skipped: $no_cargo" && exit 77; }
obstacle=$(ptrace_obstacle)
[ -z "$obstacle" ] || { echo "cannot attach: $obstacle" && exit 1; }
target=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}/executors
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache XDG_CONFIG_HOME=$work/config
failures=0

trap 'stop_program; rm -rf "$work"' EXIT

# expect yes|no WHAT FILE: is a secret in it?
expect() {
	local has=no

	! grep -qa hunter2 "$3" || has=yes
	[ "$has" = "$1" ] || { echo "secrets ($profile): $2: secret shown: $has" && failures=$((failures + 1)); }
}

# redacted FILE: the names of the variables that are marked.
redacted() {
	jq -c '[.. | select(.redacted? == true) | .name]' "$1"
}

# ask yes|no WORDS...: whether asyncdbg's answer has a secret.
ask() {
	local wanted=$1
	shift

	timeout 120 "$asyncdbg" "$@" >"$work/answer" 2>"$work/said" </dev/null ||
		{ echo "secrets ($profile): asyncdbg $* ends with $?" && cat "$work/said" && failures=$((failures + 1)); }
	expect "$wanted" "$*" "$work/answer"
}

check() {
	local id marked

	ask no "$@" async backtrace all -v
	ask no "$@" --json async backtrace all -v
	"$testdata/check/validate_json.py" "$schema" "$work/answer" >/dev/null || failures=$((failures + 1))
	marked=$(redacted "$work/answer")
	[ "$(jq length <<<"$marked")" -ge 7 ] ||
		{ echo "secrets ($profile): too few variables are redacted" && failures=$((failures + 1)); }
	id=$(jq -r '.tasks[0].id' "$work/answer")
	ask yes "$@" --show-secrets async backtrace all -v
	ask no "$@" -e "task $id; frame 0; locals" --batch
	ask no "$@" report "$work/report.html" -v
	expect no "report -v" "$work/report.html"
	ask no "$@" save "$work/saved" --values
	expect no "save --values" "$work/saved"
	ask no -c "$work/saved" --show-secrets async backtrace all -v
	ask no -c "$work/saved" --json async backtrace all -v
	[ "$(redacted "$work/answer")" = "$marked" ] ||
		{ echo "secrets ($profile): others are redacted in a saved snapshot" && failures=$((failures + 1)); }
	# Without values none is.
	ask no "$@" save "$work/saved"
	ask no -c "$work/saved" --json async backtrace all -v
	[ "$(redacted "$work/answer")" = '[]' ] ||
		{ echo "secrets ($profile): values that are not there are redacted" && failures=$((failures + 1)); }
	ask yes "$@" -e "task $id; frame 0; print headers" --batch
	# One's own list: without "key" and with "keyboard".
	mkdir -p "$work/config/asyncdbg"
	printf -- '-key\nkeyboard\n' >"$work/config/asyncdbg/redact"
	ask yes "$@" async backtrace all -v
	! grep -q qwertz "$work/answer" || { echo "keyboard is shown" && failures=$((failures + 1)); }
	rm -rf "$work/config/asyncdbg"
}

for profile; do
	flags=()
	[ "$profile" = debug ] || flags+=(--release)
	cargo build --quiet --locked --manifest-path "$testdata/executors/Cargo.toml" -p secrets \
		--target-dir "$target" -j "${JOBS:-2}" "${flags[@]}"
	start_program "$target/$profile/secrets" || fail "secrets did not get ready: $(cat "$work/stderr")"
	check -p "$pid"
	gcore -o "$work/core" "$pid" >"$work/said" 2>&1 8>&- || fail "gcore: $(cat "$work/said")"
	check -c "$work/core.$pid"
	stop_program
	rm -f "$work"/core.* "$work/saved"
	[ "$failures" -ne 0 ] || echo "secrets ($profile): ok"
done
[ "$failures" -eq 0 ] || { echo "$failures failures" && exit 1; }
