#!/bin/bash
# A program optimised for size, whose probe at the end of blocking jobs is slow and that of tasks is not: `trace`,
# `top`, `profile`, `stalls` and `metrics` have the ends of polls of tasks all the same.
#
# usage: run_job_ends.sh ASYNCDBG PROFILE
#
# Exit status 77 where there is no cargo, where the kernel refuses probes, and where the compiler has made the
# ends of jobs fast, or those of tasks slow.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
need_cargo
make_cache
trap 'stop_program; rm -rf "$work"' EXIT
cd "$work"

mkdir -p jobs/src
cat >jobs/Cargo.toml <<'END'
[package]
name = "jobs"
version = "0.1.0"
edition = "2021"
[workspace]
[dependencies]
tokio = { version = "1.24", features = ["macros", "rt-multi-thread", "time"] }
[profile.release]
debug = 2
opt-level = "s"
END
cat >jobs/src/main.rs <<'END'
use std::time::Duration;
async fn stalls() {
    loop {
        tokio::time::sleep(Duration::from_millis(50)).await;
        std::thread::sleep(Duration::from_millis(30));
    }
}
#[tokio::main(worker_threads = 2)]
async fn main() {
    tokio::spawn(stalls());
    println!("ready\n");
    loop {
        tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_millis(3))).await.unwrap();
    }
}
END
cp "$testdata/locks/tokio-1.54.1.lock" jobs/Cargo.lock
target=${CARGO_TARGET_DIR:-$work/target}/job_ends
(cd jobs && cargo build --quiet --release --target-dir "$target")
start_program "$target/release/jobs" || fail "the program ended before it was ready"

# of_tasks FILE: the ends that a document says are missing, of tasks.
of_tasks() {
	jq -c '[.missing[] | select(.event == "task-poll-end" and .kind != "blocking")]' "$1"
}

follow() {
	timeout 300 "$asyncdbg" -p "$pid" "$@" </dev/null 2>messages || :
}

follow --jsonl trace --duration 500ms -o trace.jsonl
head -n 1 trace.jsonl >head.json 2>/dev/null || :
jq -e .missing head.json >/dev/null 2>&1 || { cat messages && echo "skipped: no trace" && exit 77; }
jobs=$(jq -c '[.missing[] | select(.event == "task-poll-end" and .kind == "blocking")] | length' head.json)
[ "$jobs" -eq 1 ] && [ "$(of_tasks head.json)" = "[]" ] ||
	{ jq -c .missing head.json && echo "skipped: the ends of jobs are no slower than those of tasks" && exit 77; }
jq -se 'map(select(.event == "task-poll-end" and .kind == "task" and (.poll_ns | type) != "number")) | length == 0' \
	trace.jsonl >/dev/null || fail "trace: an end of a task is late"

follow --json top --group type --count 1 >top.json
[ "$(jq -c '.top.rows[] | select(.type | test("stalls")) | .poll_longest_ns >= 30000000' top.json)" = true ] ||
	fail "top: $(jq -c .top.rows top.json)"
follow --json profile --duration 1s >profile.json
[ "$(of_tasks profile.json)" = "[]" ] || fail "profile: $(jq -c .missing profile.json)"
follow --jsonl stalls --over 20ms --duration 1s >stalls.jsonl
jq -se 'map(select(.stall and .stall.ended and (.stall.type | test("stalls")) and .stall.poll_ns >= 30000000)) | length > 0' \
	stalls.jsonl >/dev/null || fail "stalls: $(jq -c .stall stalls.jsonl)"
follow metrics --duration 1s -o - >metrics.txt
polls=$(sed -n 's/^asyncdbg_polls_total{.*kind="task",type="jobs::stalls.*} //p' metrics.txt)
ends=$(sed -n 's/^asyncdbg_poll_duration_seconds_count{.*kind="task",type="jobs::stalls.*} //p' metrics.txt)
[ -n "$polls" ] && [ "$((polls - ends))" -le 1 ] && [ "$ends" -gt 0 ] || fail "metrics: $polls polls, $ends ends"
echo "the ends of tasks are all there"
