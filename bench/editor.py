#!/usr/bin/env python3
"""How long a program with many tasks stands still for an editor: it is paused, its tasks are listed, one
of them is opened with its stack and variables, and the program goes on. By `asyncdbg dap`, in one session:
the first pause reads debug info that later ones have.

Tasks that wait at the same place are one row for an editor where there are more than `maxTasks`.
"""

import json
import statistics
import subprocess
import time

import common

TASKS = [1_000, 10_000]
EVERY = 1_000_000  # maxTasks with which each task has a row of its own
STEPS = ("pause", "threads", "stack", "variables", "continue")


class Editor:
    """A client that sends one request at a time."""

    def __init__(self, asyncdbg, pid, **more):
        self.process = subprocess.Popen(
            [asyncdbg, "dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.seq, self.kept = 0, []
        self.ask("initialize", adapterID="asyncdbg")
        attach = self.send("attach", pid=pid, **more)
        self.ask("configurationDone")
        self.wait(lambda m: m.get("request_seq") == attach)

    def send(self, command, **arguments):
        self.seq += 1
        text = json.dumps(
            {"seq": self.seq, "type": "request", "command": command, "arguments": arguments}
        ).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self.process.stdin.flush()
        return self.seq

    def wait(self, is_it):
        """The next message that is it; others are kept for later."""
        for message in filter(is_it, self.kept):
            self.kept.remove(message)
            return message
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit("asyncdbg has ended")
            if not line.startswith(b"Content-Length:"):
                continue
            self.process.stdout.readline()
            message = json.loads(self.process.stdout.read(int(line.split(b":")[1])))
            if is_it(message):
                return message
            self.kept.append(message)

    def ask(self, command, **arguments):
        seq = self.send(command, **arguments)
        answer = self.wait(lambda m: m.get("request_seq") == seq)
        if not answer["success"]:
            raise SystemExit(f"{command}: {answer}")
        return answer.get("body", {})

    def end(self):
        self.ask("disconnect")
        self.process.wait()


def pause(editor):
    """The time in ms at which each step was answered, and how many threads were listed."""
    begin, times = time.monotonic(), []

    def done():
        times.append((time.monotonic() - begin) * 1000)

    editor.kept.clear()
    editor.send("pause", threadId=1)
    editor.wait(lambda m: m.get("event") == "stopped")
    done()
    threads = editor.ask("threads")["threads"]
    done()
    frames = editor.ask("stackTrace", threadId=threads[-1]["id"])["stackFrames"]
    done()
    for scope in editor.ask("scopes", frameId=frames[0]["id"])["scopes"]:
        editor.ask("variables", variablesReference=scope["variablesReference"])
    done()
    editor.ask("continue", threadId=1)
    done()
    return times, len(threads)


def measure(options, ntasks, **more):
    """The times of the first pause, the medians of later ones, and the rows of the list."""
    with common.running(options.build / "programs/release/scale", ntasks) as program:
        editor = Editor(options.asyncdbg, program.pid, **more)
        first, rows = pause(editor)
        later = [pause(editor)[0] for _ in range(options.runs)]
        editor.end()
        state = program.state()
    return first, [statistics.median(times) for times in zip(*later)], rows, state


def main():
    options = common.parser(__doc__).parse_args()
    print(f"{options.runs} pauses after the first, medians. {common.machine()}.")
    print(f"\n| tasks, rows | which | {' | '.join(f'to the end of `{s}`' for s in STEPS)} | the target |")
    print(f"| --- | --- |{' ---: |' * len(STEPS)} ---: |")
    figures = []
    for ntasks in TASKS:
        for more in ({}, {"maxTasks": EVERY}):
            first, later, rows, state = measure(options, ntasks, **more)
            figures.append({"tasks": ntasks, "rows": rows, "first": first, "later": later})
            for which, times in (("first", first), ("later", later)):
                cells = " | ".join(f"{ms:.1f} ms" for ms in times)
                print(f"| {ntasks:,}, {rows:,} | {which} | {cells} | {state} |", flush=True)
    common.write_json(options, figures)


main()
