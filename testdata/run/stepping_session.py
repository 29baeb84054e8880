"""A session of asyncdbg with a program under control, for the tests of steps: commands go in one by one."""
import collections
import json
import os
import subprocess
import threading

LIMIT = 120  # seconds until a run counts as hung


class Hung(Exception):
    pass


class Ended(Exception):
    """asyncdbg has no more answers."""


class Session:
    """asyncdbg, which reads commands from a pipe. The program's own lines come between its answers."""

    def __init__(self, asyncdbg, *options, limit=LIMIT):
        self.process = subprocess.Popen(
            [asyncdbg, "--jsonl", *options, "-x", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env={**os.environ, "RUST_BACKTRACE": "0"})
        self.truth, self.hung, self.messages = None, False, collections.deque(maxlen=50)
        self.timer = threading.Timer(limit, self.give_up)
        self.timer.start()
        self.reader = threading.Thread(target=lambda: self.messages.extend(self.process.stderr))
        self.reader.start()

    def give_up(self):
        self.hung = True
        self.process.kill()

    def answer(self):
        for line in self.process.stdout:
            if line.startswith('{"schema"'):
                return json.loads(line)
            if line.startswith('{"scenario"'):
                self.truth = json.loads(line)["lines"]
        raise Hung if self.hung else Ended("".join(self.messages))

    def send(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def ask(self, command):
        self.send(command)
        return self.answer()

    def end(self):
        """Lets the program run to its end; the rest of what it says."""
        self.process.stdin.close()
        for line in self.process.stdout:
            if line.startswith('{"scenario"'):
                self.truth = json.loads(line)["lines"]
        self.process.wait()

    def close(self):
        self.timer.cancel()
        self.process.kill()
        self.process.wait()
        self.reader.join()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()
