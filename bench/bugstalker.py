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
COMMANDS = [b"async backtrace all\r", b"quit\r"]


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
            asked = 0
            finished = False
            while time.monotonic() - begin < deadline:
                if not select.select([ours], [], [], 1)[0]:
                    continue
                try:
                    piece = os.read(ours, 1 << 16)
                except OSError:
                    finished = True
                    break
                self.output += piece
                if WHERE_IS_THE_CURSOR in piece:
                    os.write(ours, b"\x1b[1;1R")
                if asked < len(COMMANDS) and self.output.count(PROMPT) > asked:
                    if asked == 1:
                        self.seconds = time.monotonic() - begin
                    os.write(ours, COMMANDS[asked])
                    asked += 1
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

    @property
    def tasks(self):
        return self.text.count("Task id: ")


def find(options):
    """The program, or None."""
    return str(options.bugstalker) if Path(options.bugstalker or "").is_file() else None
