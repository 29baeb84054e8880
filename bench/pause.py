#!/usr/bin/env python3
"""How long the target stands still for an answer about all of its tasks.

For each number of tasks: what asyncdbg says of its own pause, the largest gap that a thread of the
target saw in its clock meanwhile, and what the shortest pause could be on this machine, measured
right after by a small program in C: stop as many threads, read their registers, copy as many bytes
of the same process, resume.

The thread that reads the clock never sleeps, so that it also sees when another process gets its
processor; its gap over the same time without asyncdbg is beside it.
"""

import os
import statistics
import tempfile
import time
from pathlib import Path

import common

TASKS = [100, 1_000, 10_000, 100_000]
# Bytes a task: what is taken where asyncdbg does not say how much it copied.
ASSUMED = 400


def favour_clock(pid):
    """Other processes shall not take the processor of the thread that reads the clock."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        if (thread / "comm").read_text() == "clock\n":
            try:
                os.setpriority(os.PRIO_PROCESS, int(thread.name), -20)
            except PermissionError:
                print("(The thread that reads the clock has no priority: run this as root.)\n")


def gap_ms(program):
    return int(program.ask()) / 1e6


def stop_of(document, tasks):
    """What asyncdbg says of its stop; `bytes_known` is false where the bytes are a guess."""
    stop = document.get("stop") or {"stops": 1, "longest_ms": document["pause_ms"]}
    return {
        "pause_ms": document["pause_ms"],
        "longest_ms": stop["longest_ms"],
        "stops": stop["stops"],
        "mode": stop.get("mode", "stopped"),
        "copied_bytes": stop.get("bytes", tasks * ASSUMED),
        "bytes_known": "bytes" in stop,
    }


def measure_once(options, program, tasks, output, probe):
    command = [options.asyncdbg, "-p", program.pid, *options.option, "--jsonl"]
    gap_ms(program)
    run = common.Run([*command, "async", "backtrace", "all"], output=output).expect(0, 1)
    gap = gap_ms(program)
    time.sleep(min(run.seconds, 5))
    quiet_gap = gap_ms(program)
    document, lines = common.head_of_jsonl(output)
    if lines != tasks:
        raise SystemExit(f"{lines} tasks instead of {tasks}")
    stop = stop_of(document, tasks)
    limit = common.probe(probe, program.pid, stop["copied_bytes"])
    return {
        **stop,
        "gap_ms": gap,
        "quiet_gap_ms": quiet_gap,
        "stop_ms": limit["stop_us"] / 1e3,
        "read_ms": limit["read_us"] / 1e3,
        "read_bytes": limit["bytes"],
        "threads": limit["threads"],
        "fifo": limit["fifo"],
        "seconds": run.seconds,
    }


def measure(options, tasks, probe):
    scale = options.build / "programs/release/scale"
    with tempfile.TemporaryDirectory() as name, common.running(scale, tasks, "--clock") as program:
        favour_clock(program.pid)
        output = Path(name) / "answer"
        # The first run fills the cache; the others are as all later ones.
        measure_once(options, program, tasks, output, probe)
        runs = [measure_once(options, program, tasks, output, probe) for _ in range(options.runs)]
        state = program.state()
    middle = {
        key: statistics.median(run[key] for run in runs)
        for key, value in runs[0].items()
        if not isinstance(value, str)
    }
    least = min(run["pause_ms"] for run in runs)
    shortest = min(run["stop_ms"] + run["read_ms"] for run in runs)
    return {
        "tasks": tasks,
        "runs": runs,
        "median": middle,
        "least_pause_ms": least,
        "least_ratio": least / shortest,
        "target": state,
    }


def row(result):
    middle = result["median"]
    shortest = middle["stop_ms"] + middle["read_ms"]
    copied = f"{middle['copied_bytes'] / 1e6:.2f} MB"
    return [
        f"{result['tasks']:,}",
        f"{middle['pause_ms']:.3f} ms",
        f"{middle['stops']:.0f}",
        f"{middle['gap_ms']:.2f} ms",
        f"{middle['quiet_gap_ms']:.2f} ms",
        copied if middle["bytes_known"] else f"{copied} (assumed)",
        f"{middle['stop_ms']:.3f} ms",
        f"{middle['read_ms']:.3f} ms",
        f"{middle['pause_ms'] / shortest:.1f}",
        f"{result['least_ratio']:.1f}",
        result["target"],
    ]


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--tasks", type=int, action="append", help=f"default: {TASKS}")
    parser.add_argument("--option", action="append", default=[], help="for asyncdbg")
    options = parser.parse_args()
    probe = common.compile_probe(options.build, "probe")
    print(f"## Pause\n\n{options.runs} runs, medians. {common.machine()}.\n")
    results = [measure(options, tasks, probe) for tasks in options.tasks or TASKS]
    common.table(
        [
            "tasks",
            "pause",
            "stops",
            "gap seen",
            "gap without asyncdbg",
            "copied",
            "shortest stop",
            "shortest copy",
            "pause / shortest",
            "the same of the best runs",
            "the target",
        ],
        [row(result) for result in results],
    )
    fifo = all(run["fifo"] for result in results for run in result["runs"])
    threads = {int(result["median"]["threads"]) for result in results}
    print(
        f"Threads: {', '.join(map(str, sorted(threads)))}; the stop was made "
        f"{'at SCHED_FIFO' if fifo else 'without SCHED_FIFO, which was not allowed'}.\n"
    )
    common.write_json(options, results)


if __name__ == "__main__":
    main()
