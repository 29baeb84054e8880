#!/usr/bin/env python3
"""Where tasks were spawned by functions whose frames are aligned anew, as a trace tells it.

usage: run_trace_aligned.py ASYNCDBG PROFILE

The program spawns what has an alignment of its own, so that the return addresses of the functions that spawn are found
by the frame pointer. It is built under CARGO_TARGET_DIR. Exit status 77 without cargo, and where the kernel refuses
probes.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[1] / "make"))
from generated_program import build, read_options
from harness.trace import WAIT, leave_out_refused

TEXT = """\
use std::hint::black_box;
#[repr(align(128))]
struct Aligned([u64; 16]);
#[inline(never)]
fn aligned() -> Aligned { black_box(Aligned([7; 16])) }
#[inline(never)]
fn job() -> tokio::task::JoinHandle<u64> {
    let a = aligned();
    tokio::task::spawn_blocking(move || { let b = black_box(a); b.0[3] }) // generated::job
}
#[inline(never)]
fn task() -> tokio::task::JoinHandle<u64> {
    let a = aligned();
    tokio::spawn(async move { tokio::task::yield_now().await; let b = black_box(a); b.0[3] }) // generated::task
}
#[tokio::main]
async fn main() {
    job().await.unwrap();
    task().await.unwrap();
    let inline = aligned();
    tokio::task::spawn_blocking(move || { let b = black_box(inline); b.0[1] }).await.unwrap(); // generated::main
}
"""


def spawned(asyncdbg, profile, path):
    """The lines at which the program has spawned, by the function that did."""
    with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as file:
        words = ["--no-cache", "--jsonl", "trace", "-o", file.name, "--events", "task-spawn"]
        words += ["--allow-slow"] if profile == "debug" else []
        done = subprocess.run([asyncdbg, *words, "--", path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, timeout=WAIT)
        items = [json.loads(line) for line in open(file.name, encoding="utf-8")]
    leave_out_refused(done.stderr)
    if done.returncode:
        sys.exit(f"trace ended with {done.returncode}: {done.stderr}")
    own = [i for i in items if i.get("event") == "task-spawn" and i["type"].startswith("generated::")]
    return {"::".join(i["type"].split("::")[:2]): (i["spawned_at"] or {}).get("line") for i in own}


def main():
    options = read_options()
    path = build(TEXT, options.profile, "trace_aligned", "2021")
    lines = enumerate(TEXT.splitlines(), 1)
    wanted = {line.split("// ")[1]: number for number, line in lines if "// " in line}
    found = spawned(options.asyncdbg, options.profile, path)
    # Optimised code has inlined the function with the point of its spawn, whatever the alignment.
    if options.profile == "release":
        del wanted["generated::task"], found["generated::task"]
    if found != wanted:
        print(f"spawned at {found}, not at {wanted}")
    sys.exit(found != wanted)


if __name__ == "__main__":
    main()
