#!/usr/bin/env python3
"""What tracing costs a program that does nothing but poll.

The program `traced` counts for itself: `flat` polls one task as fast as it can, `rate` polls one
100,000 times a second. In each round it runs untraced, under `trace` with several choices of events,
in turns with programs of the kernel that do the least (`floor.c`), and afterwards under bpftrace scripts that
count the same polls. Processor time is that of the whole
program, as getrusage(2) has it: what the kernel does at a probe point is part of it. What a poll
costs more is the difference to the untraced run of the same round.
"""

import functools
import json
import os
import platform
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import common

STARTS_ENDS = "task-poll-start,task-poll-end"
ENDS = "task-poll-end"
# Name, options of `trace`; None: nothing traces. A tuple: a program of floor.bpf.c. A string: the rival's.
WAYS = [
    ("untraced", None),
    ("`trace`, all events", []),
    ("`trace`, starts and ends of polls", ["--events", STARTS_ENDS]),
    ("`trace --no-places`, starts and ends of polls", ["--events", STARTS_ENDS, "--no-places"]),
    ("`trace --no-places`, ends of polls", ["--events", ENDS, "--no-places"]),
    ("floor: programs that return at once", ("nothing",)),
    ("floor: start, id and end, a record for both", ("one_record",)),
    ("floor: start, id and end, a record for each", ("two_records",)),
    ("`trace`, starts alone", ["--events", "task-poll-start"]),
    ("`trace --over 1ms`", ["--over", "1ms"]),
    ("bpftrace, counts starts", "starts"),
    ("bpftrace, starts, id, length", "lengths"),
]
WAIT = 120


def parser():
    options = common.parser(__doc__)
    options.add_argument("--program", type=Path, help="the program `traced`, a release build")
    options.add_argument("--seconds", default=2, type=int, help="of each run")
    return options


class Traced:
    def __init__(self, path):
        self.process = subprocess.Popen(
            [path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.pid = self.process.pid
        self.lines_until("ready")

    def lines_until(self, last):
        lines = []
        for line in self.process.stdout:
            if line.strip() == last:
                return lines
            lines.append(line.split())
        raise SystemExit(f"the program ended before it printed {last}")

    def run(self, section):
        self.process.stdin.write(section + "\n")
        self.process.stdin.flush()
        lines = self.lines_until("done")
        return {words[1]: int(words[2]) for words in lines if words[0] == "truth"}

    def end(self):
        self.process.stdin.close()
        self.process.wait(WAIT)


class Trace:
    """asyncdbg, which is there when its header is."""

    def __init__(self, options, pid, words):
        self.file = tempfile.NamedTemporaryFile(suffix=".jsonl")
        begin = time.monotonic()
        self.process = subprocess.Popen(
            [options.asyncdbg, "-p", str(pid), "--jsonl", "trace", "-o", self.file.name, *words],
            stderr=subprocess.DEVNULL,
        )
        while not os.path.getsize(self.file.name):
            if self.process.poll() is not None:
                raise SystemExit("asyncdbg cannot trace here")
            time.sleep(0.001)
        self.attach = time.monotonic() - begin

    def end(self):
        _, _, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = 0
        with open(self.file.name, "rb") as file:
            head = json.loads(file.readline())
            file.seek(-min(4096, os.path.getsize(self.file.name)), os.SEEK_END)
            end = json.loads(file.read().splitlines()[-1])
        return {
            "attach_s": self.attach,
            "detach_s": end["detach_ns"] / 1e9,
            "lost": end["lost"],
            "events": end["events"],
            "points": head["probes"],
            "tracer_cpu_s": usage.ru_utime + usage.ru_stime,
        }


class Floor:
    """A program of the kernel at the points of starts and ends."""

    def __init__(self, options, pid, program):
        floor, kernel = compile_floor(options.build)
        self.process = subprocess.Popen(
            [floor, kernel, program, str(pid), options.program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.process.stdin.write(points(options) + "\n")
        self.process.stdin.flush()
        if self.process.stdout.readline().strip() != "attached":
            raise SystemExit("floor cannot attach")

    def end(self):
        return {"counted": int(self.process.communicate(timeout=WAIT)[0])}


@functools.cache
def compile_floor(build):
    """The paths of floor.c and of floor.bpf.c, compiled."""
    build.mkdir(parents=True, exist_ok=True)
    kernel = build / "floor.bpf.o"
    headers = f"/usr/include/{platform.machine()}-linux-gnu"
    words = "clang -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -isystem".split()
    source = common.HERE / "floor.bpf.c"
    subprocess.run([*words, headers, "-c", source, "-o", kernel], check=True)
    return common.compile_probe(build, "floor", "-lbpf"), kernel


@functools.cache
def known_points(asyncdbg, program):
    command = [asyncdbg, "--json", "probes", program]
    output = subprocess.run(command, check=True, capture_output=True).stdout
    return json.loads(output)["points"]


def points(options):
    """The points of polls, as floor.c reads them. Calls of other functions return elsewhere."""
    found = known_points(options.asyncdbg, options.program)
    starts = [p for p in found if p["at"] == "poll"]
    ends = [p for p in found if p["at"] == "return" and p["function"].endswith("::run_task")]
    return "".join(f"{is_end} {p['offset']}\n" for is_end, of in enumerate((starts, ends)) for p in of)


def poll_functions(program):
    """Symbols of the poll functions of tasks."""
    lines = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
    names = [line.split()[-1] for line in lines.splitlines()]
    return [name for name in names if "tokio7runtime4task3raw4poll" in name]


def script(program, kind):
    """A program for bpftrace: what does for starts, and for lengths with the header's address."""
    points = ",\n".join(f"uprobe:{program}:{name}" for name in poll_functions(program))
    if kind == "starts":
        return f"{points} {{ @starts = count(); }}"
    returns = points.replace("uprobe:", "uretprobe:")
    return (
        f"{points} {{ @start[tid] = nsecs; @task[tid] = arg0; @starts = count(); }}\n"
        f"{returns} /@start[tid]/ {{ @lengths = hist(nsecs - @start[tid]); "
        "delete(@start[tid]); delete(@task[tid]); }"
    )


class Bpftrace:
    def __init__(self, options, pid, kind):
        text = 'BEGIN { printf("attached\\n"); }\n' + script(options.program, kind)
        self.process = subprocess.Popen(
            [common.find_tool("bpftrace"), "-B", "line", "-p", str(pid), "-e", text],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for line in self.process.stdout:
            if line.strip() == "attached":
                return
        raise SystemExit("bpftrace cannot attach")

    def end(self):
        output = self.process.communicate(timeout=WAIT)[0]
        counts = [line for line in output.splitlines() if line.startswith("@starts")]
        return {"counted": int(counts[0].split()[-1]) if counts else 0}


def one_run(options, way, section):
    program = Traced(options.program)
    tracer = None
    if isinstance(way, list):
        tracer = Trace(options, program.pid, way)
    elif isinstance(way, tuple):
        tracer = Floor(options, program.pid, *way)
    elif way:
        tracer = Bpftrace(options, program.pid, way)
    truth = program.run(section)
    program.end()
    figures = tracer.end() if tracer else {}
    return dict(figures, **truth)


def rounds(options, section, *kinds):
    """The runs of ways of these types, each round with an untraced one."""
    runs = {name: [] for name, way in WAYS if way is None or isinstance(way, kinds)}
    for _ in range(options.runs):
        for name, way in WAYS:
            if name in runs:
                runs[name].append(one_run(options, way, section))
    return runs


def cpu_ns(run):
    return run["cpu_ns"] / run["polls"]


def speed(run):
    return run["polls"] / run["elapsed_ns"] * 1e9


def spread(values, form):
    return f"{form(statistics.median(values))} ({form(min(values))} to {form(max(values))})"


def row(name, runs, base):
    more = [cpu_ns(run) - cpu_ns(other) for run, other in zip(runs, base)]
    ratio = [speed(run) / speed(other) for run, other in zip(runs, base)]
    tracer = [run["tracer_cpu_s"] / (run["elapsed_ns"] / 1e9) for run in runs if "tracer_cpu_s" in run]
    lost = [run["lost"] for run in runs if "lost" in run]
    return [
        name,
        f"{statistics.median(map(cpu_ns, runs)):.0f} ns",
        spread(more, lambda ns: f"{ns:.0f}") + " ns" if runs is not base else None,
        spread(ratio, lambda r: f"{r:.2f}") if runs is not base else None,
        f"{statistics.median(tracer):.0%}" if tracer else None,
        f"{sum(n > 0 for n in lost)} of {len(lost)}" if lost else None,
    ]


def print_section(title, runs):
    base = runs["untraced"]
    print(f"{title}: {statistics.median(map(speed, base)):,.0f} polls a second untraced.\n")
    headings = [
        "",
        "processor time a poll",
        "more than untraced",
        "polls a second / untraced",
        "asyncdbg, of a processor",
        "runs with lost events",
    ]
    common.table(headings, [row(name, runs[name], base) for name in runs])


def without_loss(runs):
    """Events a second of the runs that lost none, all events."""
    kept = [run for run in runs if not run["lost"]]
    return [run["events"] / run["elapsed_ns"] * 1e9 for run in kept]


def print_times(flat, rate):
    traces = [run for runs in (flat, rate) for way in runs.values() for run in way if "attach_s" in run]
    points = max(run["points"] for run in traces)
    print(f"Attach (first event to come after) and detach, {len(traces)} runs, {points} probe points:\n")
    rows = [
        [what, *(common.duration(f([run[key] for run in traces])) for f in (statistics.median, min, max))]
        for what, key in (("from the start of asyncdbg to the header", "attach_s"), ("detach", "detach_s"))
    ]
    common.table(["", "median", "shortest", "longest"], rows)


def main():
    options = parser().parse_args()
    if not options.program:
        raise SystemExit("--program: no path of `traced`; testdata/make/build_programs.sh builds it")
    print("## Tracing\n")
    print(f"{options.runs} runs of {options.seconds} s of each, in turns; medians, and the smallest and "
          f"largest in brackets. {common.machine()}.\n")
    one_run(options, [], "flat 1 1")  # fills the cache of symbols
    flat = rounds(options, f"flat {options.seconds} 1", list, tuple)
    rate = rounds(options, f"rate {options.seconds}", list)
    print_section("One task, as fast as it can", flat)
    print_section("One task, 100,000 polls a second asked for", rate)
    speeds = without_loss(flat["`trace`, all events"] + flat["`trace`, starts and ends of polls"])
    if speeds:
        print(f"Most events a second in a run that lost none, with a buffer of 16 MB: {max(speeds):,.0f}.\n")
    print_times(flat, rate)
    rival = {}
    if common.find_tool("bpftrace"):
        # Afterwards: the kernel takes seconds to remove its breakpoints, and all others wait for it.
        rival = rounds(options, f"flat {options.seconds} 1", str)
        print_section("The same under bpftrace", rival)
    print(f"Load at the end: {os.getloadavg()[0]:.1f}.\n")
    common.write_json(options, {"flat": flat, "rate": rate, "bpftrace": rival})


if __name__ == "__main__":
    main()
