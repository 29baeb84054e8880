# What tests of the commands that find, watch and guard processes share; sourced after lib.sh, with
# the arguments ASYNCDBG and PROFILE and with $testdata.
# shellcheck shell=bash disable=SC2154
asyncdbg=$(realpath "$1")
profile=$2
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
started=()
failures=0
cases=0

stop_all() {
	local pid

	for pid in ${started[@]+"${started[@]}"}; do
		kill -9 "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	started=()
}
trap 'stop_all; rm -rf "$work"' EXIT

# complain WHAT: counts a failure and shows what the last command printed.
complain() {
	failures=$((failures + 1))
	echo "FAILED: $1"
	sed -n '1,20s/^/    out: /p' "$work/out"
	sed -n '1,20s/^/    err: /p' "$work/err"
}

# run STATUS ARGUMENT...: asyncdbg, into $work/out and $work/err.
run() {
	local want=$1 status=0

	shift # WANT may be several, with | between
	cases=$((cases + 1))
	timeout 120 "$asyncdbg" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
	[[ $status =~ ^($want)$ ]] || complain "exit status $status, not $want: $*"
}

# has FILE REGEX: a line of $work/FILE matches.
has() {
	grep -qE -- "$2" "$work/$1" || complain "$1 has no \"$2\""
}

has_not() {
	! grep -qE -- "$2" "$work/$1" || complain "$1 has \"$2\""
}

# start PROGRAM [ARGUMENT...]: sets $pid.
start() {
	local program=$1

	shift
	: >"$work/$program.out"
	"$binaries/$program" "$@" >"$work/$program.out" 2>&1 < <(exec sleep 600) &
	pid=$!
	started+=("$pid")
	wait_ready "$work/$program.out" "$pid"
}

# wait_for FILE REGEX: until a line of it matches, for 60 seconds.
wait_for() {
	local i

	for ((i = 0; i < 600; i++)); do
		! grep -qE -- "$2" "$1" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}

# find_programs PROGRAM...: sets $binaries, where BINARIES=DIR says or where they are built.
find_programs() {
	if [ -n "${BINARIES:-}" ]; then
		binaries=$(realpath "$BINARIES")
		return
	fi
	find_cargo || { echo "skipped: $no_cargo" && exit 77; }
	binaries=$("$testdata/make/build_programs.sh" "$(newest_lock)" "$profile" "$@" | tail -n 1)
}

finish() {
	[ "$failures" = 0 ] || { echo "$failures failures" && exit 1; }
	echo "$cases commands ($profile)"
}

touch "$work/out" "$work/err"
