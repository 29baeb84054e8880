#!/usr/bin/env python3
"""What `top` costs with many tasks: a refresh, its share of a processor, and its memory.

The program `traced` has so many tasks, each of which sleeps all the time, or wakes up once a second.
A refresh is the time from when the interval is over until the whole frame has been read here. The share of a processor is that of asyncdbg between
its first frame and its last one.
"""

import json
import os
import statistics
import subprocess
import time
from pathlib import Path

import common
from trace import Traced

TASKS = [1_000, 10_000, 100_000]
WAYS = {"asleep": 1_000_000, "once a second": 1_000}  # the period of each task, ms
INTERVAL = 1.0  # seconds
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / TICKS


def peak_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        line = next(line for line in file if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1000


def measure(options, tasks, way):
    program = Traced(options.program)
    # It is ended when it has been measured.
    program.process.stdin.write(f"crowd {tasks} 1000 {WAYS[way]}\n")
    program.process.stdin.flush()
    program.lines_until("running")
    command = [options.asyncdbg, "-p", str(program.pid), "--jsonl", "top", "--rows", "40", "--interval", f"{INTERVAL:g}s"]
    top = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    frames, refreshes, begin = [], [], None
    for line in top.stdout:
        arrival = time.monotonic_ns()
        frames.append(json.loads(line)["top"])
        late = frames[-1]["interval_ns"] / 1e9 - INTERVAL
        refreshes.append((arrival - frames[-1]["time"]) / 1e9 + late)
        if len(frames) == 1:
            begin = cpu_seconds(top.pid)
        if len(frames) == options.runs + 1:
            break
    if len(frames) <= options.runs or frames[0]["sampled"]:
        raise SystemExit("asyncdbg cannot trace here")
    figures = {
        "tasks": tasks,
        "way": way,
        "seen": frames[-1]["tasks"],
        "refresh_s": refreshes[1:],
        "share": (cpu_seconds(top.pid) - begin) / ((frames[-1]["time"] - frames[0]["time"]) / 1e9),
        "peak_mb": peak_mb(top.pid),
        "polls_a_second": statistics.median(f["polls"] / f["interval_ns"] * 1e9 for f in frames[1:]),
        "lost": frames[-1]["lost"],
    }
    top.terminate()
    top.communicate()
    program.process.kill()
    program.process.wait()
    return figures


def row(figures):
    return [
        f"{figures['tasks']:,}, {figures['way']}",
        f"{figures['seen']:,}",
        f"{figures['polls_a_second']:,.0f}",
        f"{statistics.median(figures['refresh_s']) * 1e3:.0f} ms",
        f"{max(figures['refresh_s']) * 1e3:.0f} ms",
        f"{figures['share']:.1%}",
        f"{figures['peak_mb']:.0f} MB",
        f"{figures['lost']:,}",
    ]


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--program", type=Path, help="the program `traced`, a release build")
    parser.add_argument("--tasks", type=int, action="append", help=f"default: {TASKS}")
    options = parser.parse_args()
    if not options.program:
        raise SystemExit("--program: no path of `traced`; testdata/make/build_programs.sh builds it")
    print(f"## top\n\n{options.runs} refreshes of {INTERVAL:g} s. {common.machine()}.\n")
    results = [measure(options, tasks, way) for tasks in options.tasks or TASKS for way in WAYS]
    headings = ["tasks", "seen", "polls a second", "refresh", "longest", "of a CPU", "peak memory", "lost events"]
    common.table(headings, [row(figures) for figures in results])
    common.write_json(options, results)


if __name__ == "__main__":
    main()
