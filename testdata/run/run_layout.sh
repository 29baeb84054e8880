#!/bin/bash
# A stripped executable with its layout file must be understood as the one with debug info is:
# the same tasks, tree by tree, and what the fixture's program said of itself.
#
# usage: run_layout.sh ASYNCDBG FIXTURE...
# FIXTURES  where fixtures are, default fixtures/ of testdata
set -euo pipefail

export LC_ALL=C.UTF-8
testdata=$(cd "$(dirname "$0")/.." && pwd)
fixture_dir=${FIXTURES:-$testdata/fixtures}
[ $# -ge 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
shift
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
	echo "FAILED $1"
	failures=$((failures + 1))
}

ask() {
	timeout 300 "$asyncdbg" "$@" </dev/null
}

# The answer to $2... in JSON, into $work/$1.
answer() {
	local name=$1 status=0
	shift
	ask -c core "$@" --json async backtrace all >"$name" 2>"$name.stderr" || status=$?
	[ "$status" -le 1 ] || fail "$name: no answer: $(cat "$name.stderr")"
}

check_fixture() {
	local fixture=$1 size status

	ask layout exe -o exe.layout 2>said || fail "$fixture: no layout file: $(cat said)"
	ask layout exe -o again.layout 2>/dev/null
	cmp -s exe.layout again.layout || fail "$fixture: two layout files differ"
	size=$(stat -c %s exe.layout)
	[ "$size" -lt 1000000 ] || fail "$fixture: the layout file has $size bytes"
	strip --strip-all -o stripped exe
	answer by-debug-info --no-cache --exe exe
	answer by-layout --exe stripped --layout exe.layout
	"$testdata/check/compare_tasks.py" by-debug-info by-layout ||
		fail "$fixture: the tasks differ"
	ask -c core --no-cache --exe exe --json async backtrace all -v >variables 2>said || true
	ask -c core --exe stripped --layout exe.layout --json async backtrace all -v \
		>with-variables 2>said || true
	"$testdata/check/compare_tasks.py" --but-objects variables with-variables || fail "$fixture: the variables differ"
	"$testdata/check/validate_json.py" "$testdata/../docs/asyncdbg.schema.json" by-layout || fail "$fixture"
	grep -q '"debug_info_reason": "from the layout file exe.layout"' by-layout ||
		fail "$fixture: the answer does not say what it is from"
	# Without it there is nothing to be had, so the answer is from the file.
	answer alone --exe stripped
	"$testdata/check/compare_tasks.py" alone by-layout >/dev/null &&
		fail "$fixture: the layout file makes no difference"
	# The same code under another build-id, and none; another program; --force.
	objcopy --remove-section .note.gnu.build-id stripped no-id
	status=0
	ask -c core --exe no-id --force --layout exe.layout --json async backtrace all >by-code \
		2>said || status=$?
	"$testdata/check/compare_tasks.py" by-layout by-code || fail "$fixture: by its code: $status $(cat said)"
	grep -q 'of another build' by-code && fail "$fixture: the same code is taken for another"
	if ask -c core --exe stripped --layout other.layout async backtrace all >said 2>&1; then
		fail "$fixture: a layout file of another program was accepted"
	fi
	grep -q 'belongs to another program: its build-id is' said || fail "$fixture: $(cat said)"
	ask -c core --exe stripped --force --layout other.layout async backtrace all >said 2>&1 || true
	grep -q 'is used although it is of another build' said || fail "$fixture: $(cat said)"
	for bad in stripped core no-such-file /dev/zero .; do
		status=0
		ask -c core --exe stripped --layout "$bad" async backtrace all >said 2>&1 || status=$?
		[ "$status" = 2 ] || fail "$fixture: $bad as layout file: status $status"
	done
}

# Bytes flipped in the layout file: a reason or an answer, never a crash.
check_hostile() {
	local fixture=$1 seed status

	for seed in $(seq "${SEEDS:-12}"); do
		"$testdata/run/flip_records.py" "$seed" exe.layout flipped.layout
		status=0
		ask -c core --exe stripped --layout flipped.layout async backtrace all -v >said \
			2>&1 || status=$?
		[ "$status" -le 2 ] || fail "$fixture: seed $seed: status $status: $(tail -3 said)"
	done
}

cd "$work"
for fixture in "$@"; do
	zstd -qdf "$fixture_dir/$fixture.core.zst" -o core
	zstd -qdf "$fixture_dir/$fixture.exe.zst" -o exe
	other=boxed
	[ "$fixture" != boxed ] || other=locals
	zstd -qdf "$fixture_dir/$other.exe.zst" -o other
	ask layout other -o other.layout 2>/dev/null
	check_fixture "$fixture"
	check_hostile "$fixture"
	if [ -f "$fixture_dir/$fixture.truth.json" ]; then
		"$testdata/check/check_truth.py" by-layout "$fixture_dir/$fixture.truth.json" >said ||
			fail "$fixture: $(cat said)"
	fi
done
[ "$failures" -eq 0 ] || exit 1
echo "$# fixtures ok"
