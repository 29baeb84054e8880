#!/usr/bin/env python3
"""Types at asyncdbg's prompt, on a terminal of its own, while the program `steps` is started, runs and is
stepped: ^C brings the prompt back at any moment, and what is typed is taken in its order.

usage: run_keys.py ASYNCDBG STEPS
"""
import os
import pathlib
import re
import signal
import sys
import tempfile
import time

from harness.checks import expect
from harness.prompt import LIMIT, PROMPT, Prompt
from harness.steps import SECOND

CONTROL = b"(asyncdbg, attached) "
PROMPTS = re.compile(rb"\(asyncdbg(, attached)?\) $")


def state_of(pid):
    """The letter of its state; None: there is no such process, or it has ended."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state = stat.rpartition(")")[2].split()[0]
    return None if state in "ZX" else state


def children(pid):
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            if stat.read_text().rpartition(")")[2].split()[1] == str(pid):
                found.append(int(stat.parent.name))
        except (FileNotFoundError, ProcessLookupError):
            pass
    return [child for child in found if state_of(child)]


class Keys(Prompt):
    def __init__(self, asyncdbg, folder, *commands):
        words = [word for command in commands for word in ("-e", command)]
        super().__init__([os.path.abspath(asyncdbg), *words], folder)
        self.read_until(PROMPT)

    def type(self, text):
        os.write(self.fd, text.encode())

    def start(self, command):
        """A command, up to when the program has the terminal or may have it."""
        self.type(command + "\n")
        self.read_until(b"\n")
        self.wait_for_modes(of_prompt=False)

    def prompt_again(self):
        """The output up to the next prompt; whether a program is being debugged there."""
        text = self.read_until_match(PROMPTS)
        return text, text.endswith(CONTROL.decode())

    def read_until_match(self, pattern):
        got, deadline = self.rest, time.monotonic() + LIMIT
        self.rest = b""
        while not pattern.search(got):
            got += self.read_more(pattern.pattern, deadline, got)
        return got.decode("utf-8", "replace").replace("\r", "")

    def close(self, what):
        """quit; nothing of it is left."""
        below = children(self.pid)
        self.type("quit\n")
        self.wait_for_state(0)
        deadline = time.monotonic() + LIMIT
        while any(state_of(child) for child in below):
            if time.monotonic() > deadline:
                sys.exit(f"{what}: processes {below} are left")
            time.sleep(0.005)
        os.close(self.fd)


def check_stands(keys, what):
    """After ^C: the prompt is there, and the debuggee is stopped."""
    text, in_control = keys.prompt_again()
    below = children(keys.pid)
    expect(f"{what}: processes of a prompt {'with' if in_control else 'without'} control: {text!r}",
           1 if in_control else 0, len(below))
    if in_control:
        expect(f"{what}: state of the program", "t", state_of(below[0]))
        if "(asyncdbg, attached)" not in text:
            sys.exit(f"{what}: {text!r}")
        keys.type("backtrace 1\n")
        if "#0" not in keys.read_until(CONTROL):
            sys.exit(f"{what}: there is no backtrace")
    return text, in_control


def wait_for_child(keys):
    while not children(keys.pid):
        time.sleep(0.001)


def wait_for_terminal(keys):
    """The program has it for the first time while its libraries are loaded, and then as it runs."""
    deadline = time.monotonic() + LIMIT
    while os.tcgetpgrp(keys.fd) == keys.pid:
        if time.monotonic() > deadline:
            sys.exit("the program does not get the terminal")


# When ^C is typed after `run`: what is waited for before.
MOMENTS = {
    "at once": lambda keys: None,
    "as a process is there": wait_for_child,
    "as its libraries are loaded": wait_for_terminal,
    "as it is attached": lambda keys: keys.read_until(b"attached to process"),
    "as it runs": lambda keys: keys.read_until(b"ready"),
}


def check_interrupted_run(asyncdbg, steps, folder):
    for what, wait in MOMENTS.items():
        keys = Keys(asyncdbg, folder, f"break main.rs:{SECOND}", "break no_such::function")
        keys.start(f"run -- {steps}")
        wait(keys)
        keys.type("\x03")
        text, in_control = check_stands(keys, f"^C {what}")
        if what == "as it runs":
            expect(f"^C {what}", True, in_control and "SIGINT" in text)
        # It goes on as if nothing had been, or can be started anew. With ^C the terminal has discarded what was not
        # read yet: its lines, that it is ready, may be among that.
        keys.start("continue" if in_control else f"run -- {steps}")
        keys.type("walk 2\n")
        text = keys.read_until(CONTROL)
        if f"main.rs:{SECOND}" not in text:
            sys.exit(f"^C {what}: the program does not go on: {text!r}")
        keys.close(f"^C {what}")


def check_stopped(asyncdbg, steps, folder):
    """SIGSTOP halts a program that has the terminal: if it were stopped, ^C would not come through."""
    keys = Keys(asyncdbg, folder, f"break main.rs:{SECOND}")
    keys.start(f"run -- {steps}")
    keys.read_until(b"ready")
    os.kill(children(keys.pid)[0], signal.SIGSTOP)
    text, in_control = check_stands(keys, "SIGSTOP")
    expect("SIGSTOP", True, in_control and "signal SIGSTOP" in text)
    keys.start("continue")
    keys.type("walk 2\n")
    expect("after SIGSTOP", True, f"main.rs:{SECOND}" in keys.read_until(CONTROL))
    keys.close("after SIGSTOP")


def check_interrupted_step(asyncdbg, steps, folder):
    """^C in the middle of a step, which waits for what is never said to the program."""
    for command in ("next", "finish", "finish --whole", "until", "next 5"):
        keys = Keys(asyncdbg, folder, f"tbreak main.rs:{SECOND}")
        keys.start(f"run -- {steps}")
        keys.read_until(b"ready")
        keys.type("walk 1\n")
        keys.read_until(CONTROL)
        keys.start(command)
        keys.type("\x03")
        _, in_control = check_stands(keys, f"^C in {command}")
        expect(f"^C in {command}: attached", True, in_control)
        keys.close(f"^C in {command}")


def typed_ahead(keys, lines):
    """Types lines that print their numbers, and reads until the last has. The Enter key is a carriage return."""
    for n in range(lines):
        keys.type(f"!echo nu''mber {n}" + "\r\n"[n % 2])
    text = ""
    for n in range(lines):
        text += keys.read_until(f"number {n}\r\n".encode()) + f"number {n}\n"
    expect("numbers", [str(n) for n in range(lines)], re.findall(r"^number (\d+)$", text, re.M))
    keys.read_until(CONTROL)


def check_typed_ahead(asyncdbg, steps, folder):
    """Lines that are typed while a command runs are taken afterwards, in their order."""
    for what in ("at once", "as a process is there", "as it is attached"):
        # The program does not read before it is ready.
        keys = Keys(asyncdbg, folder, "break steps::walk")
        keys.type(f"run -- {steps}\n")
        MOMENTS[what](keys)
        typed_ahead(keys, 20)
        keys.type("delete 1\n")
        keys.read_until(CONTROL)
        keys.type(f"break main.rs:{SECOND}\n")
        keys.read_until(CONTROL)
        # What is typed while the program runs is its own; so is what comes at once with `continue`.
        keys.type("continue\rwalk 0\nwalk 1\n")
        if f"main.rs:{SECOND}, task" not in keys.read_until(CONTROL):
            sys.exit("the program has not read what was typed ahead")
        keys.type("disable\n")
        keys.read_until(CONTROL)
        keys.start("continue")
        for walker in (2, 3):
            keys.read_until(b"done")
            keys.type(f"walk {walker}\n")
        for _ in range(2):
            keys.read_until(b"done")
        keys.type("\x03")
        check_stands(keys, "^C behind what was typed")
        keys.close("typed ahead")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncdbg, steps = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        check_interrupted_run(asyncdbg, steps, folder)
        check_stopped(asyncdbg, steps, folder)
        check_interrupted_step(asyncdbg, steps, folder)
        check_typed_ahead(asyncdbg, steps, folder)
    print("keys: all as it should be")


main()
