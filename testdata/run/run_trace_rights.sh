#!/bin/bash
# Traces with the rights that suffice and without them: which of CAP_BPF and CAP_PERFMON another user
# than root needs, and what asyncdbg says where one is missing or a filter refuses the system calls.
#
# usage: run_trace_rights.sh ASYNCDBG PROFILE
#
# BINARIES=DIR uses a program `traced` that is built already. Exit status 77 where there is no cargo, no
# root or no setpriv, and where the kernel has no probes even for root.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
[ $# -eq 2 ] || usage
[ "$(id -u)" = 0 ] && have setpriv || { echo "skipped: only root can give rights up, with setpriv" && exit 77; }
build_traced "" traced
work=$(mktemp -d)
chmod 755 "$work"
failures=0
target=
trap '[ -z "$target" ] || kill -9 "$target" 2>/dev/null || true; rm -rf "$work"' EXIT

# Another user reads neither the build directory nor root's cache.
cp "$asyncdbg" "$work/asyncdbg"
cp "$BINARIES/traced" "$work/traced"
user=(setpriv --reuid 65534 --regid 65534 --clear-groups)

# with CAPABILITIES: that user with these beside.
with() {
	local plus=+${1//,/,+}

	user_with=("${user[@]}" --inh-caps "$plus" --ambient-caps "$plus")
}

bad() {
	failures=$((failures + 1))
	echo "$1"
	sed -n '1,10s/^/    /p' "$work/out" "$work/err"
}

# start [COMMAND...]: the program, started by it; $target.
start() {
	[ -z "$target" ] || { exec 8>&- && wait "$target" 2>/dev/null || true; }
	rm -f "$work/stdin"
	mkfifo "$work/stdin"
	"$@" "$work/traced" <"$work/stdin" >"$work/ready" 2>/dev/null &
	target=$!
	exec 8>"$work/stdin"
	until grep -q ready "$work/ready"; do
		kill -0 "$target" || { echo "the program ended" && exit 1; }
		sleep 0.05
	done
}

# try WANT NAME COMMAND...: asyncdbg started by it; its exit status is WANT.
try() {
	local want=$1 name=$2 status=0

	shift 2
	"$@" env HOME=/nonexistent "$work/asyncdbg" -p "$target" --jsonl trace --duration 50ms \
		>"$work/out" 2>"$work/err" 8>&- || status=$?
	[ "$status" = "$want" ] || bad "$name: exit status $status, not $want"
}

# refused NAME PATTERN COMMAND...: one line that says why, and no more.
refused() {
	local name=$1 pattern=$2

	shift 2
	try 2 "$name" "$@"
	[ ! -s "$work/out" ] || bad "$name: something on standard output"
	[ "$(wc -l <"$work/err")" = 1 ] || bad "$name: not one line"
	grep -qE -- "$pattern" "$work/err" || bad "$name: no \"$pattern\""
	! grep -qE '^TracerPid:.[1-9]' "/proc/$target/status" || bad "$name: the program is still traced"
}

# allowed NAME COMMAND...
allowed() {
	local name=$1

	shift
	try 0 "$name" "$@"
	[ "$(tail -n 1 "$work/out" | jq -r .event)" = end ] || bad "$name: no end line"
}

start env
try 0 "root" env
if grep -qE 'probes are not available|refused' "$work/err"; then
	sed 's/^/skipped: /' "$work/err"
	exit 77
fi

start "${user[@]}"
with bpf,perfmon
allowed "two capabilities, the same user" "${user_with[@]}"
refused "no capability" 'lacks CAP_BPF and CAP_PERFMON: run it as root, or give it' "${user[@]}"
with perfmon
refused "without CAP_BPF" 'lacks CAP_BPF: run it as root' "${user_with[@]}"
with bpf
refused "without CAP_PERFMON" 'lacks CAP_PERFMON: run it as root' "${user_with[@]}"
# Newer kernels want more for perf.
with bpf,perfmon
perf=(env ASYNCDBG_PROBES=perf)
"${user_with[@]}" "${perf[@]}" env HOME=/nonexistent "$work/asyncdbg" -p "$target" trace --duration 1ms \
	>/dev/null 2>&1 8>&- ||
	refused "perf without CAP_SYS_ADMIN" 'it needs root or CAP_SYS_ADMIN' "${user_with[@]}" "${perf[@]}"
with bpf,perfmon,sys_admin
allowed "perf with CAP_SYS_ADMIN" "${user_with[@]}" "${perf[@]}"

without=("$testdata/run/run_without.py")
refused "bpf is filtered" 'in spite of CAP_BPF and CAP_PERFMON: a seccomp filter' "${without[@]}" bpf EPERM
refused "a kernel without bpf" 'this kernel has no BPF' "${without[@]}" bpf ENOSYS
refused "perf is filtered" 'in spite of CAP_BPF and CAP_PERFMON: a seccomp filter' \
	"${without[@]}" perf_event_open EPERM env ASYNCDBG_PROBES=perf
refused "a user namespace" 'user namespace' unshare --user --map-root-user

start env
with bpf,perfmon,sys_ptrace,dac_read_search
allowed "four capabilities, another user" "${user_with[@]}"
with bpf,perfmon,sys_ptrace
refused "no right to read the memory" 'CAP_SYS_PTRACE alone is not enough' "${user_with[@]}"
with bpf,perfmon
refused "the program of another user" 'not permitted to trace process' "${user_with[@]}"
with sys_ptrace,dac_read_search
refused "the right to trace alone" 'lacks CAP_BPF and CAP_PERFMON' "${user_with[@]}"

exec 8>&-
wait "$target" || bad "the program ended with $?"
target=
[ "$failures" = 0 ] || exit 1
echo "two capabilities suffice, and refusals say what is missing"
