#!/usr/bin/env python3
"""What it costs an axum server under load that its tasks are observed.

wrk loads the server as it is, traced by asyncdbg, and under bpftrace with the script of `probes
--format bpftrace`: once as it is, which prints each event, and once counting them. And it loads the
same server built with console-subscriber: nobody is connected to it, or a client takes what it sends,
as tokio-console does. Each run has a server of its own, which has been loaded before somebody begins to
observe it. All in turns; each round begins with another way. Processor time is the server's, by
schedstat: what the kernel does at a probe point is part of it, and so is what console-subscriber does
in its own thread.
"""

import json
import os
import re
import signal
import socket
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import common
import trace

CONNECTIONS = 64
SETTLE = 0.5  # seconds between two loads
WARM = 1  # seconds of load before
EIGHT = (
    "task-spawn,task-poll-start,task-poll-end,task-terminate,worker-thread-start,worker-thread-stop,"
    "worker-thread-park,worker-thread-unpark"
)
PLAIN = "as it is"
EIGHT_TRACED = "`trace`, the eight events"
WITHOUT_PLACES = "the same with `--no-places`"
COUNTED = "bpftrace, counts the eight"
ALONE = "built with console-subscriber"
CONNECTED = "the same, a client connected"


def parser():
    options = common.parser(__doc__)
    options.add_argument("--seconds", type=int, default=5, help="of load in each run")
    options.add_argument("--only", nargs="+", default=[""], metavar="TEXT",
                         help="the server as it is, and what has one of these in its name")
    return options


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def cpu_ns(pid):
    """What the threads of a process have used that exist."""
    files = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(file.read_text().split()[0]) for file in files)


def load(seconds, port):
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s"]
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


class Client:
    """Takes the updates of console-subscriber."""

    def __init__(self, options, port):
        self.process = subprocess.Popen(
            [options.build / "console/release/console_client", f"http://127.0.0.1:{port}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        if self.process.stdout.readline() != "ready\n":
            raise SystemExit("console-subscriber sends nothing")

    def end(self):
        received = json.loads(self.process.communicate()[0])
        if received["updates"] < 2:
            raise SystemExit(f"console-subscriber has sent no updates: {received}")
        return received


# Name, how it is observed; None: it is not.
WAYS = {
    PLAIN: None,
    EIGHT_TRACED: lambda options, pid: Trace(options, pid, ["--events", EIGHT]),
    WITHOUT_PLACES: lambda options, pid: Trace(options, pid, ["--no-places", "--events", EIGHT]),
    "`trace`, all events": lambda options, pid: Trace(options, pid, []),
    "`metrics --every 1s`": Metrics,
    COUNTED: lambda options, pid: Bpftrace(options, pid, True),
    "bpftrace, prints the eight": lambda options, pid: Bpftrace(options, pid, False),
    ALONE: None,
    CONNECTED: Client,
}


def ways_here(options):
    names = list(WAYS)
    if not common.find_tool("bpftrace"):
        names = [name for name in names if "bpftrace" not in name]
    if not (options.build / "console/release/console_client").exists():
        names = [name for name in names if name not in (ALONE, CONNECTED)]
    return [name for name in names if name == PLAIN or any(text in name for text in options.only)]


def one_run(options, name):
    console = name in (ALONE, CONNECTED)
    port = free_port()
    path = options.build / ("console" if console else "programs") / "release/server"
    env = dict(os.environ, TOKIO_CONSOLE_BIND=f"127.0.0.1:{port}")
    with common.running(path, env=env) as program:
        load(WARM, program.truth["port"])
        observe = WAYS[name]
        observer = observe(options, port if console else program.pid) if observe else None
        time.sleep(SETTLE)
        return observed_load(options, program, observer)


def observed_load(options, program, observer):
    before = cpu_ns(program.pid)
    watched = cpu_ns(observer.process.pid) if observer else 0
    run = load(options.seconds, program.truth["port"])
    run["cpu_ns"] = cpu_ns(program.pid) - before
    if observer:
        run["observer_cpu_ns"] = cpu_ns(observer.process.pid) - watched
        run.update(observer.end())
    run["requests"] = run["requests_per_second"] * options.seconds
    return run


def measure(options):
    names = ways_here(options)
    runs = {name: [] for name in names}
    for turn in range(options.runs):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            runs[name].append(one_run(options, name))
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
        trace.spread([run["requests_per_second"] for run in runs], lambda n: f"{n:,.0f}"),
        f"{statistics.median(ratio):.2f}" if runs is not base else None,
        trace.spread([cost(run) for run in runs], lambda us: f"{us:.1f}") + " us",
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
    base = runs[PLAIN]
    common.table(headings, [row(options, name, of, base) for name, of in runs.items()])


def print_rival(runs, traced, rival):
    """Differences within each round, between the eight events traced and a rival."""
    if rival not in runs or traced not in runs:
        return
    more = [cost(other) - cost(run) for run, other in zip(runs[traced], runs[rival])]
    name = "`trace --no-places`" if traced == WITHOUT_PLACES else "`trace`"
    print(
        f"- {rival}: {trace.spread(more, lambda us: f'{us:.1f}')} us more a request than {name} of the "
        f"eight events within a round; more in {sum(us > 0 for us in more)} rounds of {len(more)}"
    )


def main():
    options = parser().parse_args()
    if not common.find_tool("wrk"):
        raise SystemExit("wrk is missing (Debian's package wrk)")
    print("## Observed under load\n")
    print(
        f"{options.runs} runs of {options.seconds} s each, in turns; medians, and the smallest and "
        f"largest in brackets. {CONNECTIONS} connections. {common.machine()}.\n"
    )
    runs = measure(options)
    print_table(options, runs)
    print_rival(runs, WITHOUT_PLACES, COUNTED)
    for rival in (COUNTED, ALONE, CONNECTED):
        print_rival(runs, EIGHT_TRACED, rival)
    print(f"\nLoad at the end: {os.getloadavg()[0]:.1f}.\n")
    common.write_json(options, runs)


if __name__ == "__main__":
    main()
