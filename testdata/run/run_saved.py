#!/usr/bin/env python3
"""Saves what asyncdbg sees of a program, compares what the file says with what the program says,
and asks what moved between two looks.

usage: run_saved.py ASYNCDBG [EXECUTABLE...]

EXECUTABLE is programs/steps; without one it is built in debug and release with the newest lock.
Needs gcore. Exit status 77 where there is no cargo.
"""

import difflib
import gzip
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TESTDATA = pathlib.Path(__file__).resolve().parents[1]
SCHEMA = TESTDATA.parent / "docs" / "asyncdbg.schema.json"
COMMANDS = ["async backtrace all", "async backtrace all -v", "async backtrace", "tasks", "threads",
            "runtimes", "info", "info layout", "info threads", "bt", "async task %ID -v",
            "task %ID"]
OK, PARTIAL, STILL = 0, 1, 4
failures = []


def bad(what):
    print(what)
    failures.append(what)


def expect(what, seen, wanted):
    if seen != wanted:
        bad(f"{what}: {seen!r}, not {wanted!r}")


class Steps:
    """The program, at rest between orders."""

    def __init__(self, executable):
        self.process = subprocess.Popen([executable], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)
        self.truth = json.loads(self.process.stdout.readline())
        assert self.process.stdout.readline() == "ready\n"
        self.pid = self.process.pid

    def order(self, line):
        """What it says of it, a number or nothing."""
        print(line, file=self.process.stdin, flush=True)
        said = self.process.stdout.readline().split()
        assert said[:1] == ["done"], said
        return int(said[1]) if len(said) > 1 else None

    def end(self):
        self.process.kill()
        self.process.wait()


class Looks:
    def __init__(self, asyncdbg, work, program):
        self.asyncdbg, self.work, self.program = asyncdbg, work, program
        self.ndocuments = 0

    def run(self, *words, status=(OK,)):
        done = subprocess.run([self.asyncdbg, "--color", "never", *words], cwd=self.work,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=300, check=False)
        if done.returncode not in status:
            bad(f"{words}: exit code {done.returncode}: {done.stderr[-2000:]}")
        return done.stdout

    def ask(self, *words, status=(OK,)):
        text = self.run("--json", *words, status=status)
        self.ndocuments += 1
        (self.work / f"answer{self.ndocuments}.json").write_text(text)
        return json.loads(text)

    def save(self, name, *options):
        answer = self.ask("-p", str(self.program.pid), "save", *options, name)
        expect(f"{name}: bytes", answer["saved"]["bytes"], (self.work / name).stat().st_size)
        expect(f"{name}: mode", (self.work / name).stat().st_mode & 0o777, 0o600)
        return name

    def diff(self, *words, status):
        return self.ask(*words, status=(status,))["diff"]


def without_time(text):
    """An answer without what is another at each look at a process at rest."""
    text = re.sub(r", (paused|not stopped).*?(, complete)", r"\2", text)
    text = re.sub(r'"(pause_ms|longest_ms|bytes|stops|threads)": ?[0-9.e-]+', "", text)
    text = re.sub(r'"remaining_ms": ?-?\d+|remaining_ms -?\d+', "", text)
    return re.sub(r"(sleeping|, in|{ in) [0-9.]+ seconds", "", text)


SAID = re.compile(r"^(asyncdbg: )snapshot \S+ of (.*?\)), saved [0-9-]+ [0-9:]+ UTC"
                  r"|^Snapshot: +\S+, saved [0-9-]+ [0-9:]+ UTC\n"
                  r'|"saved_file": ?"[^"]+",\s*"saved_when": ?"[0-9-]+ [0-9:]+ UTC",\s*', re.M)


def without_origin(text, live):
    """An answer from a saved snapshot without what says that it is one, which it must."""
    if not SAID.search(text):
        bad(f"does not say that it is a saved snapshot: {text[:200]}")
    return SAID.sub(lambda said: f"{said[1]}{'live ' if live else ''}{said[2]}" if said[1] else "",
                    text)


def same_answers(looks, target, saved, exact):
    """Every command, in every format, of the target and of what was saved of it."""
    clean = (lambda text: text) if exact else without_time
    task = str(looks.program.truth["walkers"][0])
    for command in COMMANDS:
        words = command.replace("%ID", task).split()
        for form in ([], ["--json"], ["--jsonl"], ["--full-names", "--ascii"]):
            wanted = clean(looks.run(*target, *form, *words))
            seen = without_origin(looks.run("-c", saved, *form, *words), target[0] == "-p")
            seen = clean(seen)
            if seen != wanted:
                lines = difflib.unified_diff(wanted.splitlines(), seen.splitlines(), "target",
                                             "saved", lineterm="", n=0)
                bad("\n".join([f"{target}: {' '.join(form)} {command}: the saved one differs",
                               *itertools.islice((line[:2000] for line in lines), 20)]))


def check_secret(looks, name, values):
    secret = looks.program.truth["secret"]
    text = gzip.open(looks.work / name, "rt", encoding="utf-8").read()
    expect(f"{name}: has the value of a variable", secret in text, values)
    shown = looks.run("-c", name, "async", "backtrace", "all", "-v")
    expect(f"{name}: shows the value of a variable", secret in shown, values)
    expect(f"{name}: names the variable", "message: String" in shown, True)
    expect(f"{name}: says that it was not saved", "was not saved" in shown, not values)


def gcore(work, pid):
    done = subprocess.run(["gcore", "-o", work / "core", str(pid)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    if done.returncode:
        sys.exit(f"gcore: {done.stdout}")
    return f"core.{pid}"


def groups(diff, kind):
    return [group for group in diff["groups"] if group["kind"] == kind]


def only(diff, kind, task):
    """The one group that says that this task alone did that, or None."""
    found = groups(diff, kind)
    ids = [one["id"] for group in found for one in group["tasks"]]
    expect(kind, ids, [str(task)])
    quiet = {"unchanged", kind}
    moved = {name: n for name, n in diff["counts"].items() if n and name not in quiet}
    expect(f"beside what is {kind}", moved, {})
    return found[0] if ids == [str(task)] else None


def check_steps(looks):
    program = looks.program
    walkers, line = program.truth["walkers"], program.truth["line"]
    before = looks.save("before")
    again = looks.save("again")
    diff = looks.diff("diff", before, again, status=STILL)
    expect("at rest", diff["counts"]["unchanged"], len(walkers) + 2)
    expect("at rest", diff["has_moved"], False)

    second = program.order("walk 2")
    diff = looks.diff("diff", before, looks.save("walked"), status=OK)
    group = only(diff, "moved", walkers[2])
    if group:
        places = [(group[key]["function"], group[key]["line"], group[key]["on"])
                  for key in ("from", "to")]
        expect("from and to", places, [("steps::walk", line, "mpsc_recv"),
                                       ("steps::walk", second, "mpsc_recv")])
    # The other way round it went back; and the process is the later look.
    only(looks.diff("diff", "walked", before, status=OK), "moved", walkers[2])
    only(looks.diff("-p", str(program.pid), "diff", before, status=OK), "moved", walkers[2])

    program.order("alarm")
    only(looks.diff("diff", "walked", looks.save("alarmed"), status=STILL), "rearmed",
         program.truth["alarm"])
    new = program.order("spawn")
    only(looks.diff("diff", "alarmed", looks.save("spawned"), status=OK), "new", new)
    program.order("end 1")
    only(looks.diff("diff", "spawned", looks.save("ended"), status=OK), "gone", walkers[1])


def check_core(looks):
    core = gcore(looks.work, looks.program.pid)
    looks.ask("-c", core, "save", "--values", "of_core")
    same_answers(looks, ["-c", core], "of_core", True)
    looks.diff("diff", core, "of_core", status=STILL)
    live = looks.save("of_live", "--values")
    same_answers(looks, ["-p", str(looks.program.pid)], live, False)
    looks.diff("diff", core, live, status=STILL)
    looks.diff("-c", core, "diff", live, status=STILL)
    (looks.work / core).unlink()


def check_live(looks):
    """The process is made to move between two looks, and only then does it."""
    program, walker = looks.program, looks.program.truth["walkers"][3]
    watcher = subprocess.Popen([looks.asyncdbg, "-p", str(program.pid), "--jsonl", "diff",
                                "--interval", "100ms", "--count", "1000"],
                               stdout=subprocess.PIPE, text=True)
    try:
        for looked in (2, 3, 4):
            diff = json.loads(watcher.stdout.readline())["diff"]
            expect("nothing moves", diff["has_moved"], False)
            expect("looks", {group["looks"] for group in diff["groups"]}, {looked})
        program.order("walk 3")
        for _ in range(100):
            diff = json.loads(watcher.stdout.readline())["diff"]
            if diff["has_moved"]:
                break
        only(diff, "moved", walker)
        diff = json.loads(watcher.stdout.readline())["diff"]
        expect("nothing moves any more", diff["has_moved"], False)
        short = [one["id"] for group in diff["groups"] for one in group["tasks"]
                 if group["looks"] == 2]
        expect("stands for two looks", short, [str(walker)])
    finally:
        watcher.kill()
        watcher.wait()


def check_refusals(looks):
    """A saved snapshot says what it cannot do."""
    for words, wanted in ((("-c", "before", "print", "x"), "none of the program's memory"),
                          (("-c", "before", "whatis", "0x1000"), "none of the program's memory"),
                          (("-c", "before", "diff", "--interval", "1s"), "--interval needs a process"),
                          (("diff", "before", "missing"), "No such file"),
                          (("-p", str(looks.program.pid), "save", "kept"), "is not such a file")):
        (looks.work / "kept").write_text("a file of the user")
        done = subprocess.run([looks.asyncdbg, *words], cwd=looks.work, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=300, check=False)
        if done.returncode not in (2, 64) or wanted not in done.stderr or done.stdout:
            bad(f"{words}: exit code {done.returncode}, {done.stderr}")
    expect("kept", (looks.work / "kept").read_text(), "a file of the user")
    whole = (looks.work / "before").read_bytes()
    (looks.work / "cut").write_bytes(whole[:len(whole) * 3 // 4])
    answer = looks.ask("-c", "cut", "tasks", status=(PARTIAL,))
    expect("cut: complete", answer["complete"], False)
    expect("cut: notes", len(answer["notes"]), 1)


def check(asyncdbg, executable):
    work = pathlib.Path(tempfile.mkdtemp())
    os.environ["XDG_CACHE_HOME"] = str(work / "cache")
    program = Steps(executable)
    try:
        looks = Looks(asyncdbg, work, program)
        check_steps(looks)
        check_core(looks)
        check_live(looks)
        check_refusals(looks)
        check_secret(looks, looks.save("open", "--values"), True)
        check_secret(looks, looks.save("closed"), False)
        documents = sorted(work.glob("answer*.json"))
        done = subprocess.run([TESTDATA / "check/validate_json.py", SCHEMA, *documents], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            bad(f"the schema: {done.stdout[-2000:]}")
    finally:
        program.end()
        shutil.rmtree(work)


def build():
    locks = sorted((TESTDATA / "locks").glob("tokio-*.lock"),
                   key=lambda path: [int(n) for n in re.findall(r"\d+", path.stem)])
    for profile in ("debug", "release"):
        built = subprocess.run([TESTDATA / "make/build_programs.sh", locks[-1], profile, "steps"],
                               check=True, stdout=subprocess.PIPE, text=True)
        yield pathlib.Path(built.stdout.splitlines()[-1]) / "steps"


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 64
    asyncdbg = str(pathlib.Path(sys.argv[1]).resolve())
    if len(sys.argv) == 2 and not shutil.which("cargo"):
        print("skipped: no cargo")
        return 77
    for executable in sys.argv[2:] or build():
        check(asyncdbg, executable)
    print("saved: ok" if not failures else f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
