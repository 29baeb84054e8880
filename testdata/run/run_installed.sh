#!/bin/bash
# A program whose debug info says that `cargo install` has built it: its sources lie in Cargo's
# registry, as those of its dependencies do. Where a task awaits must still be shown in its own code,
# live, from a core, from a saved snapshot, and stripped with a layout file.
#
# usage: run_installed.sh ASYNCDBG
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -eq 1 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
find_cargo || { echo "left out: $no_cargo" && exit 77; }
obstacle=$(ptrace_obstacle)
[ -z "$obstacle" ] || { echo "left out: $obstacle" && exit 77; }
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
started=
failures=0

stop() {
	[ -z "$started" ] || kill -9 "$started" 2>/dev/null || true
	started=
}
trap 'stop; rm -rf "$work"' EXIT

# says WHO ARGUMENT...: every task awaits at the line of the program's own code that its truth has,
# and its frames of tokio are those of a library.
says() {
	local who=$1

	shift
	if ! "$asyncdbg" "$@" --json async backtrace all >"$work/answer" 2>"$work/err" ||
		! python3 - "$work/answer" "$work/truth" <<-'END'; then
			import json, sys
			answer = json.load(open(sys.argv[1]))
			truth = json.loads(open(sys.argv[2]).read().split("ready\n")[1].splitlines()[0])
			lines = {t["id"]: t["lines"][-1] for t in truth["tasks"]}

			def frames(future):
			    if future:
			        yield future
			        yield from (f for child in future["children"] for f in frames(child))

			for task in answer["tasks"]:
			    own = [f for f in frames(task["root"]) if f["file_short"] and not f["library"]]
			    assert own and own[-1]["line"] == lines[task["id"]], (task["id"], own)
			    for f in own:
			        assert f["file_short"].startswith("programs-1.0.0/tokio_tcp/src/"), f
			    for f in frames(task["root"]):
			        tokio = f["function"] and f["function"].startswith("tokio::")
			        assert not tokio or f["library"] or not f["file"], f
		END
		echo "$who: not shown in its own code"
		head -n 3 "$work/err"
		failures=$((failures + 1))
	fi
	"$asyncdbg" "$@" tasks >"$work/tasks" 2>/dev/null
	if ! grep -q ' programs-1.0.0/tokio_tcp/src/main.rs:[0-9]' "$work/tasks"; then
		echo "$who: tasks names another place"
		head -n 3 "$work/tasks"
		failures=$((failures + 1))
	fi
}

for profile in debug release+v0; do
	dir=$("$testdata/make/build_programs.sh" "$(newest_lock)" $profile+installed tokio_tcp 2>"$work/log" |
		tail -n 1) || { tail -n 20 "$work/log" && exit 1; }
	"$asyncdbg" layout "$dir/tokio_tcp" -o "$work/layout" 2>/dev/null
	for kind in whole stripped; do
		cp "$dir/tokio_tcp" "$work/program"
		[ $kind = whole ] || strip "$work/program"
		rm -f "$work/stdin" "$work/truth" && mkfifo "$work/stdin"
		"$work/program" <"$work/stdin" >"$work/truth" &
		started=$!
		exec 8>"$work/stdin"
		wait_ready "$work/truth" $started
		option=()
		[ $kind = whole ] || option=(--layout "$work/layout")
		says "$profile $kind live" -p $started "${option[@]}"
		says "$profile $kind again" -p $started "${option[@]}"
		gcore -o "$work/core" $started >/dev/null 2>&1
		says "$profile $kind core" -c "$work/core.$started" --exe "$work/program" "${option[@]}"
		"$asyncdbg" -p $started "${option[@]}" save "$work/snap" >/dev/null 2>&1
		says "$profile $kind snapshot" -c "$work/snap"
		rm -f "$work/core.$started"
		exec 8>&-
		wait $started || true
		started=
	done
done
[ "$failures" -eq 0 ] || { echo "$failures failed" && exit 1; }
echo "ok"
