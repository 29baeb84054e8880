"""asyncdbg's prompt, on a terminal of its own."""
import os
import pty
import select
import sys
import termios
import time

PROMPT = b"(asyncdbg) "
LIMIT = 120  # seconds until an answer is given up


class Prompt:
    """asyncdbg on a pseudo-terminal."""

    def __init__(self, command, folder):
        environment = {**os.environ, "TERM": "dumb", "HOME": folder, "LC_ALL": "C.UTF-8",
                       "XDG_STATE_HOME": folder, "XDG_CACHE_HOME": folder}
        self.rest = b""  # that came and was not read yet
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execve(command[0], command, environment)

    def read_more(self, what, deadline, got):
        if not select.select([self.fd], [], [], max(0, deadline - time.monotonic()))[0]:
            sys.exit(f"no {what!r} came, but {got!r}")
        try:
            more = os.read(self.fd, 65536)
        except OSError:
            more = b""
        if not more:
            sys.exit(f"the prompt has ended, with {got!r}")
        return more

    def read_until(self, end):
        """What came up to and without `end`, as lines without colours."""
        got, deadline = self.rest, time.monotonic() + LIMIT
        while end not in got:
            got += self.read_more(end, deadline, got)
        got, _, self.rest = got.partition(end)
        return got.decode("utf-8", "replace").replace("\r", "")

    def ask(self, line):
        """The answer to a line, without its echo."""
        os.write(self.fd, line.encode() + b"\n")
        return self.read_until(PROMPT).partition("\n")[2]

    def complete(self, line, rest=""):
        """The answer to what the line is after Tab, and the rest. The prompt may be drawn again meanwhile."""
        os.write(self.fd, line.encode() + b"\t" + rest.encode() + b"\n!echo E''ND\n")
        answer = self.read_until(b"\nEND\r\n")
        self.read_until(PROMPT)
        return answer

    def wait_for_modes(self, of_prompt):
        """Until the terminal is in the prompt's modes, or in those in which what is typed is a line."""
        deadline = time.monotonic() + LIMIT
        while True:
            modes = termios.tcgetattr(self.fd)
            has_lines = modes[3] & termios.ICANON and modes[3] & termios.ECHO
            if bool(has_lines) != of_prompt:
                return
            if time.monotonic() > deadline:
                sys.exit(f"the terminal stays in the modes {modes[:4]}")
            time.sleep(0.005)

    def wait_for_state(self, flags):
        """The state in which asyncdbg is when it has stopped or ended."""
        deadline = time.monotonic() + LIMIT
        while time.monotonic() < deadline:
            pid, status = os.waitpid(self.pid, flags | os.WNOHANG)
            if pid:
                return status
            time.sleep(0.005)
        sys.exit(f"asyncdbg has neither stopped nor ended, after {self.rest!r}")

    def end(self):
        os.write(self.fd, b"quit\n")
        self.wait_for_state(0)
