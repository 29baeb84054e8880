"""asyncdbg with a debuggee: commands go in one by one (Session) or as a file (run_commands)."""
import collections
import json
import os
import subprocess
import tempfile
import threading

LIMIT = 300  # seconds until a run counts as hung


class Hung(Exception):
    pass


class Ended(Exception):
    """asyncdbg has no more answers."""


class Session:
    """asyncdbg, which reads commands from a pipe. The lines of a program that it starts come between its answers."""

    def __init__(self, asyncdbg, *options, limit=LIMIT):
        self.process = subprocess.Popen(
            [asyncdbg, "--jsonl", *options, "-x", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env={**os.environ, "RUST_BACKTRACE": "0"})
        self.truth, self.hung, self.messages = None, False, collections.deque(maxlen=50)
        self.timer = threading.Timer(limit, self.give_up)
        self.timer.daemon = True
        self.timer.start()
        self.reader = threading.Thread(target=lambda: self.messages.extend(self.process.stderr), daemon=True)
        self.reader.start()

    def give_up(self):
        self.hung = True
        self.process.kill()

    def lines(self):
        """Its lines and the program's, without what the program says of itself, which is kept."""
        for line in self.process.stdout:
            if line.startswith('{"scenario"'):
                self.truth = json.loads(line)["lines"]
            else:
                yield line

    def answer(self, begin='{"schema"'):
        """The next answer; begin: {, also a row of a list."""
        for line in self.lines():
            if line.startswith(begin):
                return json.loads(line)
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
        collections.deque(self.lines(), maxlen=0)
        self.process.wait()

    def close(self):
        self.timer.cancel()
        self.process.kill()
        self.process.wait()
        self.reader.join()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()


def attach_session(asyncdbg, pid):
    return Session(asyncdbg, "-p", str(pid))


def run_commands(asyncdbg, commands, orders="", options=(), waits=False):
    """The answers of commands, one a line, and the process that gave them. orders: what the program reads; waits: its
    standard input does not end."""
    with tempfile.NamedTemporaryFile("w", suffix=".x") as script:
        script.write("\n".join(commands) + "\n")
        script.flush()
        ends = os.pipe() if waits else ()
        given = {"stdin": ends[0]} if waits else {"input": orders}
        done = subprocess.run([asyncdbg, "--jsonl", *options, "-x", script.name], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=LIMIT, check=False, **given)
        for end in ends:
            os.close(end)
    return documents(done.stdout), done


def documents(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith('{"schema"')]


def stops(answers):
    return [answer["stopped"] for answer in answers if "stopped" in answer]


def events(answers):
    return [(stop["event"]["kind"], stop["event"]["task"]) for stop in stops(answers) if stop["event"]]
