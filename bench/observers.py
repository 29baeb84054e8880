#!/usr/bin/env python3
"""What it costs an axum server under load that its tasks are observed.

wrk loads the server as it is, traced by asyncdbg, and under bpftrace with the script of `probes
--format bpftrace`: once as it is, which prints each event, and once counting them. And it loads the
same server built with console-subscriber, to which nobody is connected. All in turns. Processor time
is the server's, by schedstat: what the kernel does at a probe point is part of it.
"""

import json
import os
import re
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import common
import trace

CONNECTIONS = 64
SETTLE = 0.5  # seconds between two loads
EIGHT = (
    "task-spawn,task-poll-start,task-poll-end,task-terminate,worker-thread-start,worker-thread-stop,"
    "worker-thread-park,worker-thread-unpark"
)
CONSOLE = "built with console-subscriber"


def parser():
    options = common.parser(__doc__)
    options.add_argument("--seconds", type=int, default=5, help="of load in each run")
    options.add_argument(
        "--console", type=Path, help="the server with console-subscriber; --build/console by default"
    )
    return options


def cpu_ns(pid):
    """What the threads of a process have used that exist."""
    files = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(file.read_text().split()[0]) for file in files)


def load(options, port):
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{options.seconds}s"]
    command += ["-s", common.HERE / "latency.lua", f"http://127.0.0.1:{port}/item/7"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(text.strip().splitlines()[-1])


class Trace(trace.Trace):
    """`trace`, which is ended by a signal."""

    def end(self):
        self.process.send_signal(signal.SIGINT)
        figures = super().end()
        self.file.close()
        return figures


class Metrics:
    def __init__(self, options, pid):
        self.file = tempfile.NamedTemporaryFile(suffix=".prom")
        words = ["-p", str(pid), "metrics", "--every", "1s", "-o", self.file.name]
        self.process = subprocess.Popen(
            [options.asyncdbg, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while not os.path.getsize(self.file.name):
            if self.process.poll() is not None:
                raise SystemExit("asyncdbg cannot trace here")
            time.sleep(0.01)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        self.file.close()
        return {}


def script(options, pid, counts):
    """The script of asyncdbg; counts: each event is counted rather than printed."""
    command = [options.asyncdbg, "-p", str(pid), "probes", "--format", "bpftrace"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if counts:
        return re.sub(r'printf\("%llu %d ([a-z-]+).*?\);', count, text)
    return text


def count(match):
    return f"@n_{match[1].replace('-', '_')} = count();"


class Bpftrace:
    def __init__(self, options, pid, counts):
        self.output = tempfile.NamedTemporaryFile(suffix=".txt")
        self.script = tempfile.NamedTemporaryFile("w", suffix=".bt")
        self.script.write(script(options, pid, counts))
        self.script.flush()
        self.process = subprocess.Popen(
            [common.find_tool("bpftrace"), "-p", str(pid), self.script.name],
            stdout=self.output,
            stderr=subprocess.STDOUT,
        )
        # The program's first line is printed when all is attached, but in a buffer of its own.
        while "NANOSECONDS" not in self.text():
            if self.process.poll() is not None:
                raise SystemExit(f"bpftrace cannot attach: {self.text()[-1000:]}")
            time.sleep(0.05)

    def text(self):
        with open(self.output.name, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 16)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        with open(self.output.name, "rb") as file:
            text = file.read()
        lost = sum(int(n) for n in re.findall(rb"Lost (\d+) events", text))
        counted = sum(int(n) for n in re.findall(rb"@n_\w+: (\d+)", text))
        printed = len(re.findall(rb"^\d+ \d+ (?:task|worker)-", text, re.MULTILINE))
        self.output.close()
        self.script.close()
        return {"lost": lost, "events": counted or printed}


# Name, how it is observed; None: it is not.
WAYS = {
    "as it is": None,
    "`trace`, the eight events": lambda options, pid: Trace(options, pid, ["--events", EIGHT]),
    "`trace`, all events": lambda options, pid: Trace(options, pid, []),
    "`metrics --every 1s`": Metrics,
    "bpftrace, counts the eight": lambda options, pid: Bpftrace(options, pid, True),
    "bpftrace, prints the eight": lambda options, pid: Bpftrace(options, pid, False),
}


def one_run(options, program, observe):
    observer = observe(options, program.pid) if observe else None
    time.sleep(SETTLE)
    before = cpu_ns(program.pid)
    watched = cpu_ns(observer.process.pid) if observer else 0
    run = load(options, program.truth["port"])
    run["cpu_ns"] = cpu_ns(program.pid) - before
    if observer:
        run["observer_cpu_ns"] = cpu_ns(observer.process.pid) - watched
        run.update(observer.end())
    run["requests"] = run["requests_per_second"] * options.seconds
    return run


def measure(options, programs):
    ways = dict(WAYS)
    if not common.find_tool("bpftrace"):
        ways = {name: way for name, way in ways.items() if "bpftrace" not in name}
    runs = {name: [] for name in ways}
    for program in programs:
        load(options, program.truth["port"])
    for _ in range(options.runs):
        for name, observe in ways.items():
            runs[name].append(one_run(options, programs[0], observe))
        for program in programs[1:]:
            runs.setdefault(CONSOLE, []).append(one_run(options, program, None))
    return runs


def cost(run):
    """Microseconds of the server a request."""
    return run["cpu_ns"] / run["requests"] / 1000


def row(options, name, runs, base):
    def middle(figure):
        return statistics.median(map(figure, runs))

    more = [cost(run) - cost(other) for run, other in zip(runs, base)]
    ratio = [
        run["requests_per_second"] / other["requests_per_second"] for run, other in zip(runs, base)
    ]
    events = middle(lambda run: run["events"] / run["requests"]) if "events" in runs[0] else None
    return [
        name,
        f"{middle(lambda run: run['requests_per_second']):,.0f}",
        f"{statistics.median(ratio):.2f}" if runs is not base else None,
        f"{middle(cost):.1f} us",
        trace.spread(more, lambda us: f"{us:.1f}") + " us" if runs is not base else None,
        f"{middle(lambda run: run['observer_cpu_ns']) / options.seconds / 1e9:.0%}"
        if "observer_cpu_ns" in runs[0]
        else None,
        f"{middle(lambda run: run['p99_ms']):.2f} ms",
        f"{events:.1f}" if events is not None else None,
        sum(run["lost"] > 0 for run in runs) if "lost" in runs[0] else None,
    ]


def print_table(options, runs):
    headings = [
        "",
        "requests a second",
        "of those as it is",
        "processor time a request",
        "more than as it is",
        "the observer, of a processor",
        "99 %",
        "events a request",
        "runs with lost events",
    ]
    base = runs["as it is"]
    common.table(headings, [row(options, name, of, base) for name, of in runs.items()])


def main():
    options = parser().parse_args()
    if not common.find_tool("wrk"):
        raise SystemExit("wrk is missing (Debian's package wrk)")
    console = options.console or options.build / "console/release/server"
    print("## Observed under load\n")
    print(
        f"{options.runs} runs of {options.seconds} s each, in turns; medians, and the smallest and "
        f"largest in brackets. {CONNECTIONS} connections. {common.machine()}.\n"
    )
    with common.running(options.build / "programs/release/server") as plain:
        if console.exists():
            with common.running(console) as observed:
                runs = measure(options, [plain, observed])
        else:
            runs = measure(options, [plain])
    print_table(options, runs)
    print(f"Load at the end: {os.getloadavg()[0]:.1f}.\n")
    common.write_json(options, runs)


if __name__ == "__main__":
    main()
