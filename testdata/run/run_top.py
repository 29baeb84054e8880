#!/usr/bin/env python3
"""Compares what `top` says of the program `traced` with what the program does and counts itself.

usage: run_top.py ASYNCDBG TRACED [--allow-slow]

TRACED    the program traced, of any build; debug builds need --allow-slow

Ends with 77 where the kernel refuses probes to us.
"""
import json
import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

from harness import checks
from harness.checks import check, check_true
from harness.trace import HERE, WAIT, Asyncdbg, Program, check_calls
from harness.trace import check_schema_of, has_jsonschema, slow, take_slow, wait_for

# Seconds that the section "top" takes, and where the machine is too busy for enough frames in it.
LONGER = (6, 12, 24, 48, 96, 192)
TASKS = ["polled_most", "stalled", "wakes_itself", "waker", "woken", "idle", "large", "hog"]


def start(asyncdbg, program, options, words):
    return Asyncdbg(asyncdbg, "-p", str(program.child.pid), *options, "top", *slow, *words)


def frames_of(child):
    """The documents of --jsonl, as they come."""
    for line in child.stdout:
        document = json.loads(line)
        if document["top"]["sampled"]:
            print(f"left out: {document['top']['why_sampled']}")
            child.kill()
            sys.exit(77)
        yield document["top"]


def name_of(kind):
    return kind.split("::{")[0].split("::")[-1] if kind else None


def check_tasks(frame, truth):
    """A frame in the middle of the section."""
    rows = {name_of(row["type"]): row for row in frame["rows"]}
    check("tasks", sorted(rows), sorted(TASKS))
    for name in TASKS:
        check(f"id of {name}", int(rows[name]["task"]), truth[f"id.{name}"])
    most = max(frame["rows"], key=lambda row: row["polls"])
    check("polled most", name_of(most["type"]), "polled_most")
    longest = max(frame["rows"], key=lambda row: row["poll_longest_ns"])
    check("the longest poll", name_of(longest["type"]), "hog")
    check("state of the one that does not yield", rows["hog"]["state"], "polling")
    check_true("its poll takes all of the interval", rows["hog"]["polled_ns"] > 0.99 * frame["interval_ns"])
    check("polls of the one that does not yield", rows["hog"]["polls"], 0)
    check_true(f"the stalled one polls {rows['stalled']['poll_longest_ns']} ns", rows["stalled"]["poll_longest_ns"] >= 40e6)
    check_true("and its p99", rows["stalled"]["poll_p99_ns"] is None or rows["stalled"]["poll_p99_ns"] >= 40e6)
    check("the idle one: polls, wakes", (rows["idle"]["polls"], rows["idle"]["wakes"]), (0, 0))
    check("the idle one waits", rows["idle"]["state"], "waiting")
    check_wakes(rows, truth)
    place = rows["woken"]["place"]["frames"][-1]
    check("where the woken one waits", place["function"].split("::")[-1], "waits_for")
    check_true(f"its file {place['file']}", place["file"].endswith("src/top.rs"))


def check_wakes(rows, truth):
    by = rows["woken"]["woken_by"]
    check("who wakes it", (int(by["task"]), name_of(by["type"])), (truth["id.waker"], "waker"))
    check("all its wake-ups", by["wakes"], rows["woken"]["wakes"])
    check("none by no task", rows["woken"]["wakes_by_no_task"], 0)
    check("the waker's own wake-ups", rows["waker"]["own_wakes"], 0)
    own, all_wakes = rows["wakes_itself"]["own_wakes"], rows["wakes_itself"]["wakes"]
    # Nine of ten are its own.
    check_true(f"own wake-ups: {own} of {all_wakes}", 0.8 < own / all_wakes < 0.95)
    check("who wakes itself", rows["wakes_itself"]["woken_by"]["task"], rows["wakes_itself"]["task"])


def check_hints(frame, truth):
    hints = {(hint["hint"], name_of(hint["type"])): hint for hint in frame["hints"]}
    for hint, name in (("self-waking", "wakes_itself"), ("self-waking", "polled_most"), ("never-yields", "hog"),
                       ("lost-waker", "idle"), ("large-future", "large")):
        check(f"the hint {hint} for {name}", int(hints.pop((hint, name), {"task": 0})["task"]), truth[f"id.{name}"])
    check("other hints", list(hints), [])


def check_workers(frame):
    workers = [w for w in frame["workers"] if w["worker"] is not None]
    check("workers", sorted(w["worker"] for w in workers), [0, 1, 2, 3])
    for w in workers:
        known = w["busy_ns"] + w["parked_ns"]
        check_true(f"worker {w['worker']}: {known} of {frame['interval_ns']}", abs(known - frame["interval_ns"]) < 0.1 * frame["interval_ns"])
    check_true("one worker is busy all the time", any(w["parked_ns"] == 0 for w in workers))


def frames_of_section(asyncdbg, path, seconds):
    """All frames, those in which all tasks run, and the program's own counts."""
    program = Program(path)
    program.begin(f"top {seconds}")
    program.lines_until("running")
    top = start(asyncdbg, program, ["--jsonl"], ["--interval", "500ms"])
    frames = list(frames_of_until_end(program, top.child))
    truth = frames.pop()
    busy = [f for f in frames[3:] if len(f["rows"]) == len(TASKS)
            and next(r for r in f["rows"] if name_of(r["type"]) == "hog")["polls"] == 0]
    check("status", top.child.wait(WAIT), 0)
    check("messages", top.message(), "")
    return frames, busy, truth


def run_tasks(asyncdbg, path):
    for seconds in LONGER:
        frames, busy, truth = frames_of_section(asyncdbg, path, seconds)
        if len(busy) > 3:
            break
    check_true(f"{len(busy)} frames of {len(frames)} in which all of them run", len(busy) > 3)
    check("numbers of frames", [f["frame"] for f in frames], list(range(1, len(frames) + 1)))
    check("lost", frames[-1]["lost"], 0)
    check_tasks(busy[2], truth)
    check_hints(busy[2], truth)
    check_workers(busy[2])
    stalls = sum(1 for f in frames for s in f["stalls"] if s["ended"] and name_of(s["type"]) == "stalled")
    # Each of its polls is one, but that in which it ends; how many there are from the first frame on time decides.
    polls = sum(r["polls"] for f in frames for r in f["rows"] if name_of(r["type"]) == "stalled")
    check_true(f"{stalls} stalls in {polls} polls", abs(polls - stalls) <= 2)
    check_true(f"{stalls} stalls of {truth['stalls']}", 0 < stalls <= truth["stalls"])
    print("tasks: done")


def findings_of_section(asyncdbg, path, seconds):
    """What `check` finds, and the program's own counts; None: the section was over before."""
    program = Program(path)
    program.begin(f"top {seconds}")
    program.lines_until("running")
    words = [asyncdbg, "-p", str(program.child.pid), "--json", "check", "--interval", "1s"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=WAIT)
    over = bool(select.select([program.child.stdout], [], [], 0)[0])
    truth = program.truth()
    program.end()
    return None if over else json.loads(done.stdout)["findings"], truth


def run_check(asyncdbg, path):
    """The hints that a snapshot shows are findings of `check` too."""
    for seconds in LONGER:
        findings, truth = findings_of_section(asyncdbg, path, seconds)
        if findings is not None:
            break
    check_true("check: it looks while the tasks run", findings is not None)
    for name, task in (("huge-future", "large"), ("no-waker", "idle"), ("long-poll", "hog")):
        found = {int(id) for f in findings or [] if f["check"] == name for id in f["tasks"]}
        check_true(f"check: {name} of {task}: {findings}", truth[f"id.{task}"] in found)
    print("check: done")


def frames_of_until_end(program, child):
    """Frames until the program has ended the section, then its truth."""
    truth = None
    for frame in frames_of(child):
        yield frame
        if truth is None and frame["tasks"] <= 1:
            truth = program.truth()
            program.end()
    yield truth if truth is not None else program.truth()


def run_counts(asyncdbg, path):
    """All frames together have what the program has counted, group by group."""
    for section in ("counts", "several", "pingpong 300"):
        program = Program(path)
        top = start(asyncdbg, program, ["--jsonl"], ["--interval", "300ms", "--group", "type"])
        frames = frames_of(top.child)
        rows, totals = [], {"spawned": 0, "ended": 0, "polls": 0, "wakes": 0}
        first = next(frames, None)
        if first is None:
            sys.exit(f"asyncdbg has ended: {top.message()}")
        truth = program.run(section)
        program.end()
        for frame in frames:
            check(f"{section}: lost", frame["lost"], 0)
            rows += frame["rows"]
            for key in totals:
                totals[key] += frame[key]
        top.child.wait(WAIT)
        jobs = truth["blocking"]
        check(f"{section}: spawned", totals["spawned"], truth["spawned"] + jobs)
        check(f"{section}: ended", totals["ended"], truth["terminated"] + jobs)
        check(f"{section}: polls", totals["polls"], truth["polls"] + truth["cancels"] + jobs)
        for key, number in truth.items():
            if key.startswith("polls.") and not key.endswith("::aborted"):
                kind = key[len("polls."):] + "::{async_fn_env#0}"
                check(f"{section}: {key}", sum(r["polls"] for r in rows if r["type"] == kind), number)
            if key.startswith("wakes."):
                kind = key[len("wakes."):] + "::{async_fn_env#0}"
                by = [r for r in rows if r["type"] == kind]
                woken = sum(r["wakes"] - r["wakes_by_no_task"] for r in by)
                check(f"{section}: {key}", woken, number)
    print("counts: done")


def run_text(asyncdbg, path):
    program = Program(path)
    program.begin("top 3600")
    program.lines_until("running")
    top = start(asyncdbg, program, [], ["--count", "2", "--sort", "polls", "--interval", "700ms"])
    text = top.child.communicate(timeout=WAIT)[0]
    check("text: status", top.child.returncode, 0)
    check("text: messages", top.message(), "")
    first, second = text.split("\n\n")
    for frame in (first, second):
        check("text: the program", frame.splitlines()[0].split(":")[1].strip(), f"process {program.child.pid}")
        lines = frame.splitlines()
        head = next(i for i, line in enumerate(lines) if line.split()[0] == "TASK")
        rows = lines[head + 1:]
        check("text: rows", len(rows), len(TASKS))
        check("text: columns in line", {line[:8].strip().isdigit() for line in rows}, {True})
        check_true("text: polled most", "polled_most" in rows[0])
    check_true("text: who wakes", any("traced::top::waker" in line and "traced::top::woken" in line for line in second.splitlines()))
    top = start(asyncdbg, program, [], ["--count", "1", "--rows", "2", "--with", "type", "traced::top::w"])
    text = top.child.communicate(timeout=WAIT)[0]
    check_true("text: more rows", text.endswith("1 more rows\n"))
    top = start(asyncdbg, program, [], ["--interval", "100ms"])
    for _ in range(21):
        top.child.stdout.readline()
    top.child.send_signal(signal.SIGINT)
    top.child.communicate(timeout=WAIT)
    check("text: status after ^C", top.child.returncode, 0)
    program.kill()
    print("text: done")


def sampled_frames(asyncdbg, path, seconds):
    """
    Three frames of looks, the program's own counts, and the processor time that asyncdbg took up to them. No
    frames: the section was over before.
    """
    program = Program(path)
    program.begin(f"top {seconds}")
    program.lines_until("running")
    refuse = [sys.executable, os.path.join(HERE, "run_without.py"), "bpf", "EPERM"]
    child = subprocess.Popen([*refuse, asyncdbg, "-p", str(program.child.pid), "--jsonl", "top", "--interval", "1s"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = [child.stdout.readline() for _ in range(3)]
    over = bool(select.select([program.child.stdout], [], [], 0)[0])
    with open(f"/proc/{child.pid}/stat", encoding="ascii") as f:
        used = sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")
    truth = program.truth()
    program.end()
    child.communicate(timeout=WAIT)
    if over:
        return [], truth, used
    if has_jsonschema():
        check_schema_of("sampled", lines)
    check("sampled: status", child.returncode, 1)
    return [json.loads(line)["top"] for line in lines], truth, used


def run_sampled(asyncdbg, path):
    """Without the right to trace: looks at the program tell what is busy and where all of it waits."""
    for seconds in LONGER:
        frames, truth, used = sampled_frames(asyncdbg, path, seconds)
        if frames and len(frames[-1]["rows"]) == len(TASKS):
            break
    check("sampled: frames while all tasks run", len(frames), 3)
    for frame in frames:
        check("sampled: it says so", (frame["sampled"], "refused" in frame["why_sampled"]), (True, True))
        check("sampled: no polls are known", (frame["polls"], frame["wakes"]), (None, None))
        rows = {name_of(row["type"]): row for row in frame["rows"]}
        check("sampled: tasks", sorted(rows), sorted(TASKS))
        check("sampled: ids", {name: int(row["task"]) for name, row in rows.items()},
              {name: truth[f"id.{name}"] for name in TASKS})
        check("sampled: the one that does not yield", rows["hog"]["polled_ns"], frame["interval_ns"])
        check("sampled: the idle one", rows["idle"]["polled_ns"], 0)
        # Unknown where it was polled, or was about to be, at each of few looks.
        place = rows["woken"]["place"]
        check_true(f"sampled: where one waits, with {frame['looks']} looks", place or frame["looks"] < 10)
        if place:
            check("sampled: where one waits", place["frames"][-1]["function"], "traced::top::waits_for")
        busy = [w for w in frame["workers"] if w["parked_ns"] == 0]
        check_true("sampled: a worker is busy", busy)
    looks = sum(frame["looks"] for frame in frames)
    check_true(f"sampled: {looks} looks", looks >= 3)
    # Of the stalled one a fifth, where there are looks enough to tell.
    if looks >= 60:
        share = sum(r["polled_ns"] for f in frames for r in f["rows"] if name_of(r["type"]) == "stalled") / \
            sum(f["interval_ns"] for f in frames)
        check_true(f"sampled: the stalled one is busy for {share}", 0.05 < share < 0.5)
    print(f"sampled: done, {looks} looks, {used:.2f} s of a processor")


def line_of(path):
    """The line of a file; None: it is not there, or not all of it."""
    if not os.path.exists(path):
        return None
    with open(path, encoding="ascii") as file:
        text = file.read()
    return text if text.endswith("\n") else None


class Screen:
    """asyncdbg on a terminal of its own, which is tmux."""

    def __init__(self, asyncdbg, program, words, width=150, height=24):
        self.directory = tempfile.TemporaryDirectory()
        self.tmux = ["tmux", "-S", os.path.join(self.directory.name, "socket"), "-f", "/dev/null"]
        self.file = os.path.join(self.directory.name, "after")
        command = [*asyncdbg.split(" "), "-p", str(program.child.pid), "top", *slow, *words]
        script = (f"stty -g >{self.file}.before; {shlex.join(command)}; echo status $?; "
                  f"stty -g >{self.file}; exec sleep 1000")
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        environment.pop("TMUX", None)
        subprocess.run([*self.tmux, "new-session", "-d", "-x", str(width), "-y", str(height), script],
                       check=True, env=environment)

    def text(self):
        return subprocess.run([*self.tmux, "capture-pane", "-p"], check=True, capture_output=True, text=True).stdout

    def keys(self, *keys):
        subprocess.run([*self.tmux, "send-keys", *keys], check=True)

    def wait(self, what, shown):
        """The screen, when a function finds on it what it waits for."""
        text = wait_for(lambda: next(filter(shown, [self.text()]), None))
        if text is None:
            text = self.text()
            check(f"the screen: {what}: {text}", False, True)
        return text

    def pid(self):
        """Of asyncdbg, which the shell of the terminal has started."""
        shell = subprocess.run([*self.tmux, "display-message", "-p", "#{pane_pid}"], check=True,
                               capture_output=True, text=True).stdout.strip()
        with open(f"/proc/{shell}/task/{shell}/children", encoding="ascii") as f:
            return int(f.read().split()[0])

    def check_end(self, what, status):
        """The terminal is as it was, and has what was on it before."""
        text = self.wait(f"{what}: the end", lambda text: "status" in text)
        check(f"{what}: the last line", text.strip().splitlines()[-1], f"status {status}")
        check(f"{what}: what is left of the screen", "WAITS AT" in text, False)
        check(f"{what}: settings of the terminal", wait_for(lambda: line_of(self.file)), line_of(self.file + ".before"))
        alternate = subprocess.run([*self.tmux, "display-message", "-p", "#{alternate_on} #{cursor_flag}"],
                                   check=True, capture_output=True, text=True).stdout.strip()
        check(f"{what}: alternate screen, cursor", alternate, "0 1")
        self.close()

    def close(self):
        subprocess.run([*self.tmux, "kill-server"], check=False, stderr=subprocess.DEVNULL)
        self.directory.cleanup()


def lines_with(text, *words):
    return [line for line in text.splitlines() if all(word in line for word in words)]


def run_screen_keys(asyncdbg, path):
    program = Program(path)
    program.begin("top 40")
    program.lines_until("running")
    screen = Screen(asyncdbg, program, ["--interval", "300ms", "--sort", "polls"], width=230)
    text = screen.wait("tasks", lambda text: lines_with(text, "self-waking", "wakes_itself") and
                       lines_with(text, "never-yields", "hog"))
    rows = text.splitlines()[text.splitlines().index(lines_with(text, "POLLS/S", "WAITS AT")[0]) + 1:]
    check("screen: rows", sum(1 for line in rows if "traced::top::" in line), len(TASKS))
    check("screen: polled most", "polled_most" in rows[0], True)
    check("screen: who wakes", len(lines_with(text, "top::waker", "top::woken", "waiting")), 1)
    check("screen: how it is sorted", "sorted by polls" in text, True)
    screen.keys("o")
    screen.keys("id", "Enter")
    text = screen.wait("sorted by id", lambda text: "sorted by id" in text)
    screen.keys("r")
    screen.wait("reversed", lambda text: "reversed" in text)
    screen.keys("r", "g")
    text = screen.wait("by type", lambda text: "by type" in text and "TASKS" in text)
    screen.keys("g", "g", "/")
    screen.keys("top::woken", "Enter")
    text = screen.wait("the filter", lambda text: 'with "top::woken"' in text and "row 1 of 1" in text)
    screen.keys("Enter")
    text = screen.wait("the task", lambda text: "notify" in text and "waits_for" in text)
    check("screen: its backtrace", "src/top.rs" in text, True)
    screen.keys("Escape")
    screen.wait("back", lambda text: "row 1 of 1" in text)
    screen.keys("Escape")
    screen.wait("no filter", lambda text: f"of {len(TASKS)}" in text)
    screen.keys("w")
    text = screen.wait("workers", lambda text: "worker 3" in text)
    check("screen: busy workers", len(lines_with(text, "busy 100.0%")) >= 1, True)
    screen.keys("s")
    screen.wait("stalls", lambda text: lines_with(text, "still polls", "hog") and lines_with(text, "stalled", "ms"))
    screen.keys("?")
    screen.wait("help", lambda text: "page up" in text)
    screen.keys("t", "p")
    screen.wait("paused", lambda text: "paused" in text)
    subprocess.run([*screen.tmux, "resize-window", "-x", "70", "-y", "12"], check=True)
    text = screen.wait("a small terminal", lambda text: "BUSY" in text and "WAITS AT" not in text)
    check("screen: no line is too long", max(map(len, text.splitlines())) <= 70, True)
    screen.keys("q")
    screen.check_end("q", 0)
    program.kill()
    print("screen: done")


def run_no_screen(asyncdbg, path):
    """A terminal that cannot place the cursor gets frames of text."""
    program = Program(path)
    program.begin("top 40")
    program.lines_until("running")
    screen = Screen("env TERM=dumb " + asyncdbg, program, ["--interval", "300ms", "--count", "1"], height=60)
    text = screen.wait("frames of text", lambda text: "status 0" in text)
    check("no screen: it says so", "no full screen" in text and "POLLS/S" in text, True)
    screen.close()
    program.kill()


def run_screen_ends(asyncdbg, path):
    """However it ends, the terminal is as it was."""
    ways = [
        ("^C", lambda screen, program: screen.keys("C-c"), 0),
        ("SIGTERM", lambda screen, program: os.kill(screen.pid(), signal.SIGTERM), 0),
        ("SIGHUP", lambda screen, program: os.kill(screen.pid(), signal.SIGHUP), 0),
        ("twice", lambda screen, program: [os.kill(screen.pid(), s) for s in (signal.SIGSTOP, signal.SIGTERM,
                                                                           signal.SIGINT, signal.SIGCONT)], None),
        ("SIGABRT", lambda screen, program: os.kill(screen.pid(), signal.SIGABRT), 128 + signal.SIGABRT),
        ("the program's end", lambda screen, program: program.child.kill(), 0),
    ]
    for name, end, status in ways:
        program = Program(path)
        program.begin("top 40")
        program.lines_until("running")
        screen = Screen(asyncdbg, program, ["--interval", "300ms"])
        screen.wait("tasks", lambda text: "WAITS AT" in text)
        end(screen, program)
        if status is None:
            screen.wait(f"{name}: the end", lambda text: "status" in text)
            screen.close()
        else:
            screen.check_end(name, status)
        program.kill()
    print("ends of the screen: done")


def run_screen(asyncdbg, path):
    if not shutil.which("tmux"):
        print("left out: tmux, which is the terminal of the screen")
        return
    run_screen_keys(asyncdbg, path)
    run_screen_ends(asyncdbg, path)
    run_no_screen(asyncdbg, path)


def run_wrong(asyncdbg, path):
    program = Program(path)
    pid = str(program.child.pid)
    calls = [
        (["-p", pid, "top", "--interval", "0"], 64, "above 0"),
        (["-p", pid, "top", "--count", "0"], 64, "at least 1"),
        (["-p", pid, "top", "--sort", "pols"], 64, "did you mean polls?"),
        (["-p", pid, "top", "--group", "task"], 64, "use one of type, place"),
        (["-p", pid, "top", "--with", "name", "x"], 64, "use one of id, type, place"),
        (["-p", str(os.getpid()), "top", "--count", "1"], 2, "no async runtime"),
        (["top"], 64, "needs a running process"),
    ]
    check_calls(asyncdbg, calls)
    program.end()
    print("wrong calls: done")


def main(arguments):
    arguments = take_slow(arguments)
    if len(arguments) != 2:
        sys.exit(__doc__)
    run_tasks(*arguments)
    run_check(*arguments)
    run_counts(*arguments)
    run_text(*arguments)
    run_sampled(*arguments)
    run_screen(*arguments)
    run_wrong(*arguments)
    checks.end()


if __name__ == "__main__":
    main(sys.argv[1:])
