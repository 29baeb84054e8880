"""Runs BugStalker, which wants a terminal, and reads what it says."""

import fcntl
import os
import re
import select
import struct
import subprocess
import tempfile
import termios
import time
from pathlib import Path

# What its line editor writes when it waits for the next command.
PROMPT = b"\x1b[?2004h"
WHERE_IS_THE_CURSOR = b"\x1b[6n"
TYPING = 0.03
COMMANDS = [b"async backtrace all\r", b"quit\r"]


def type_slowly(terminal, text):
    """Its editor stalls when a line comes at once. Returns the seconds that this took."""
    begin = time.monotonic()
    for i in range(len(text)):
        time.sleep(TYPING)
        os.write(terminal, text[i : i + 1])
    return time.monotonic() - begin


class Session:
    """Attaches to a process and asks `async backtrace all`; as common.Run, with the answer's text.

    `seconds` is the time until the prompt after the answer. `status` is None where it was ended
    because that took too long.
    """

    def __init__(self, program, pid, deadline):
        ours, its = os.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        with tempfile.TemporaryDirectory() as home:
            begin = time.monotonic()
            process = subprocess.Popen(
                [program, "-p", str(pid), "-t", "none"],
                stdin=its,
                stdout=its,
                stderr=its,
                env=dict(os.environ, HOME=home),
                start_new_session=True,
            )
            os.close(its)
            self.seconds = None
            self.output = bytearray()
            finished = self.converse(ours, begin, deadline)
            if not finished:
                process.kill()
            _, status, usage = os.wait4(process.pid, 0)
            os.close(ours)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.status = process.returncode if finished else None
        self.cpu = usage.ru_utime + usage.ru_stime
        self.peak_mb = usage.ru_maxrss / 1024
        text = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", bytes(self.output))
        self.text = text.decode(errors="replace")

    def converse(self, terminal, begin, deadline):
        """Gives the commands, each at its prompt; true where the program has ended."""
        asked = 0
        waited = 0
        while time.monotonic() - begin < deadline:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    piece = os.read(terminal, 1 << 16)
                except OSError:
                    return True
                self.output += piece
                if WHERE_IS_THE_CURSOR in piece:
                    os.write(terminal, b"\x1b[1;1R")
                if self.output.count(PROMPT) == 2 and self.seconds is None:
                    self.seconds = time.monotonic() - begin - waited
            elif asked < len(COMMANDS) and self.output.count(PROMPT) > asked:
                waited += 0.1 + type_slowly(terminal, COMMANDS[asked])
                asked += 1
        return False

    @property
    def tasks(self):
        return self.text.count("Task id: ")


def find(options):
    """The program, or None."""
    return str(options.bugstalker) if Path(options.bugstalker or "").is_file() else None
