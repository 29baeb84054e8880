#!/bin/bash
# Looks at a process in its own mount, PID and user namespaces from a sibling that shares only the PID
# namespace, as a debug container does: with the right to trace it, and without.
#
# usage: run_namespaces.sh ASYNCDBG PROFILE
#
# BINARIES=DIR uses programs that are built already. Exit status 77 where there is no cargo, no root, or
# where no such namespaces can be made.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -eq 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
work=$(mktemp -d)
chmod 755 "$work"
failures=0
started=()

stop_all() {
	local process

	for process in ${started[@]+"${started[@]}"}; do
		kill -9 "$process" 2>/dev/null || true
		wait "$process" 2>/dev/null || true
	done
}
trap 'stop_all; rm -rf "$work"' EXIT

[ "$(id -u)" = 0 ] || { echo "skipped: only root can enter namespaces" && exit 77; }
unshare --user --map-root-user --mount --pid --fork --mount-proc true 2>/dev/null ||
	{ echo "skipped: no namespaces can be made here" && exit 77; }
if [ -n "${BINARIES:-}" ]; then
	binaries=$(realpath "$BINARIES")
else
	find_cargo || { echo "skipped: $no_cargo" && exit 77; }
	binaries=$("$testdata/make/build_programs.sh" "$(newest_lock)" "$2" joins | tail -n 1)
fi

# Another user reads neither the build directory nor root's cache.
cp "$asyncdbg" "$work/asyncdbg"
cp "$binaries/joins" "$work/joins"

mkfifo "$work/stdin"
sleep 600 >"$work/stdin" &
started+=($!)
unshare --user --map-root-user --mount --pid --fork --kill-child --mount-proc \
	"$work/joins" <"$work/stdin" >"$work/truth" 2>&1 &
outside=$!
started+=("$outside")
wait_ready "$work/truth" "$outside"
target=$(pgrep -P "$outside")

# sibling WANT NAME COMMAND...: runs a command in the PID namespace of the target and a mount namespace
# of its own; its exit status is WANT.
sibling() {
	local want=$1 name=$2 status=0

	shift 2
	nsenter -t "$target" --pid -- unshare --mount sh -c \
		'mount -t proc proc /proc && exec env HOME=/nonexistent "$@"' sh "$@" >"$work/out" 2>"$work/err" ||
		status=$?
	[ "$status" = "$want" ] || bad "$name: exit status $status, not $want"
}

bad() {
	failures=$((failures + 1))
	echo "$1"
	sed -n '1,10s/^/    /p' "$work/out" "$work/err"
}

has() {
	grep -qE -- "$2" "$work/$1" || bad "$1 has no \"$2\""
}

no_right=(setpriv --reuid 65534 --regid 65534 --clear-groups)

sibling 0 "with the right" "$work/asyncdbg" -p 1 async backtrace all
has out 'live pid 1 \(joins\).* 6 tasks.*complete$'
has out '^Task: 8 \(idle\)'
sibling 0 "with the right, by name" "$work/asyncdbg" --name '^joins$' tasks
sibling 0 "with the right, saved" "$work/asyncdbg" -p 1 save "$work/saved"
sibling 2 "without the right" "${no_right[@]}" "$work/asyncdbg" -p 1 async backtrace all
has err 'not permitted to trace process 1 of user .*: run asyncdbg as that user, or with sudo'
sibling 1 "ps without the right" "${no_right[@]}" "$work/asyncdbg" ps
has out 'not permitted'
sibling 64 "a name without the right" "${no_right[@]}" "$work/asyncdbg" --name nothing ps
# Root of the machine without the capability: the kernel refuses processes of other namespaces only
# where they belong to another user.
sibling 0 "the same user without the capability" setpriv --bounding-set=-sys_ptrace \
	"$work/asyncdbg" -p 1 runtimes
kill -0 "$target" || bad "the process is gone"
[ "$failures" = 0 ] || exit 1
echo "a process in its own namespaces was looked at, and refusals say what is missing"
