#!/usr/bin/env python3
"""Where the task of a program was spawned that has one type of tasks, so that the compiler inlines all of its spawn: only
the first poll shows it.

usage: run_trace_one_type.py ASYNCDBG release

A task of a build with tokio_unstable records the place, also in a program that is linked at its own addresses; for one
without it the trace says that the place is missing, and why. Built under CARGO_TARGET_DIR. Exit status 77 without cargo,
and where the kernel refuses probes.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[1] / "make"))
from generated_program import build, read_options
from harness.checks import check, check_true, end
from harness.trace import WAIT, leave_out_refused

TEXT = """\
async fn work(n: u64) -> u64 {
    tokio::task::yield_now().await;
    std::hint::black_box(n)
}
#[tokio::main]
async fn main() {
    let task = tokio::spawn(work(1));
    task.await.unwrap();
}
"""
SPAWN = 7
BUILDS = {
    "stable": "",
    "unstable": "--cfg tokio_unstable",
    "unstable, at its own addresses": "--cfg tokio_unstable -C relocation-model=static",
}


def trace(asyncdbg, path):
    """The first line, and the spawns of the program's own tasks."""
    with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as file:
        words = ["--no-cache", "--jsonl", "trace", "-o", file.name, "--events", "task-spawn", "--", path]
        done = subprocess.run([asyncdbg, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, timeout=WAIT)
        items = [json.loads(line) for line in open(file.name, encoding="utf-8")]
    leave_out_refused(done.stderr)
    if done.returncode:
        sys.exit(f"trace ended with {done.returncode}: {done.stderr}")
    return items[0], [i for i in items if i.get("event") == "task-spawn" and i["type"].startswith("generated::")]


def build_with(flags, number, profile):
    """Flags that are given beside a target are not those of procedural macros, which are libraries."""
    about = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    host = next(line.split()[1] for line in about.splitlines() if line.startswith("host: "))
    os.environ.update(RUSTFLAGS=flags, CARGO_BUILD_TARGET=host)
    path = build(TEXT, profile, f"trace_one_type_{number}", "2021")
    return path.parents[1] / host / profile / path.name


def main():
    options = read_options()
    for number, (name, flags) in enumerate(BUILDS.items()):
        path = build_with(flags, number, options.profile)
        head, spawns = trace(options.asyncdbg, path)
        check(f"{name}: spawns", len(spawns), 1)
        missing = [key["reason"] for key in head["missing_keys"] if key["key"] == "spawned_at"]
        for item in spawns:
            check(f"{name}: place", (item["spawned_at"] or {}).get("line"), SPAWN if flags else None)
            check(f"{name}: late", item["late"], True)
        check_true(f"{name}: said to be missing", bool(missing) != bool(flags))
    end()


if __name__ == "__main__":
    main()
