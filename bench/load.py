#!/usr/bin/env python3
"""What an `async backtrace all` each second costs a server under load.

An axum server answers wrk for some seconds, as it is and while it is looked at, in turns. For
comparison, the same with `asyncdbg --version` each second, which does not attach: what it costs to
start a process next to the server. And the same beside a watchdog that checks it each ten seconds.
"""

import json
import signal
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import common

CONNECTIONS = 64


class EachSecond(threading.Thread):
    """Runs a command each second until it is ended."""

    def __init__(self, command, output):
        super().__init__()
        self.command, self.output, self.looks, self.ended = command, output, 0, threading.Event()

    def run(self):
        begin = time.monotonic()
        while not self.ended.wait(max(0, begin + self.looks + 1 - time.monotonic())):
            common.Run(self.command, output=self.output).expect(0, 1)
            self.looks += 1

    def end(self):
        self.ended.set()
        self.join()


class Watchdog:
    """A watchdog that runs until it is ended; a check is two looks."""

    def __init__(self, command, every):
        self.command, self.every = command, every

    def start(self):
        self.begin = time.monotonic()
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def end(self):
        self.looks = 2 * (1 + int((time.monotonic() - self.begin) / self.every))
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


def load(options, port):
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{options.seconds}s"]
    command += ["-s", common.HERE / "latency.lua", f"http://127.0.0.1:{port}/item/7"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(text.strip().splitlines()[-1])


def measure(options, program, output):
    look = [options.asyncdbg, "-p", program.pid, "async", "backtrace", "all"]
    watch = [options.asyncdbg, "-p", str(program.pid), "check", "--every", "10s"]
    ways = {
        "nothing": lambda: None,
        "a process that does not attach": lambda: EachSecond([options.asyncdbg, "--version"], output),
        "`async backtrace all`": lambda: EachSecond(look, output),
        "`check --every 10s`, once started": lambda: Watchdog(watch, 10),
    }
    results = {way: [] for way in ways}
    looks = dict.fromkeys(ways, 0)
    load(options, program.truth["port"])
    for _ in range(options.runs):
        for way, observe in ways.items():
            observer = observe()
            if observer:
                observer.start()
            results[way].append(load(options, program.truth["port"]))
            if observer:
                observer.end()
                looks[way] += observer.looks
    return results, looks


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--seconds", type=int, default=10, help="of load in each run")
    options = parser.parse_args()
    if not common.find_tool("wrk"):
        raise SystemExit("wrk is missing (Debian's package wrk)")
    print(
        f"## Under load\n\n{options.runs} runs of {options.seconds} s each, medians. "
        f"{CONNECTIONS} connections. {common.machine()}.\n"
    )
    server = options.build / "programs/release/server"
    with tempfile.TemporaryDirectory() as name, common.running(server) as program:
        results, looks = measure(options, program, Path(name) / "answer")
        state = program.state()
    rows = []
    for way, runs in results.items():
        middle = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        rows.append(
            [
                way,
                f"{middle['requests_per_second']:,.0f}",
                *[f"{middle[key]:.2f} ms" for key in ("p50_ms", "p99_ms", "p999_ms", "max_ms")],
                sum(run["errors"] for run in runs),
                looks[way],
            ]
        )
    common.table(
        [
            "each second",
            "requests a second",
            "50 %",
            "99 %",
            "99.9 %",
            "longest",
            "errors",
            "looks",
        ],
        rows,
    )
    print(f"The server afterwards: {state}.\n")
    common.write_json(options, {"results": results, "looks": looks})


if __name__ == "__main__":
    main()
