#!/usr/bin/env python3
"""Profiles the programs `traced` and `burn`, and compares the times with what they say and the kernel.

usage: run_profile.py ASYNCDBG TRACED BURN [--allow-slow]

TRACED, BURN    these programs, of any build; debug builds need --allow-slow

Ends with 77 where the kernel refuses probes to us.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from harness import checks
from pprof import Pprof
from harness.checks import check
from harness.trace import WAIT, Asyncdbg, Program, check_calls
from harness.trace import check_schema_of, has_jsonschema, leave_out_refused, slow, take_slow

STATES = ("polling", "off_processor", "runnable", "waiting", "unknown")
FOLDED = re.compile(r"^([^;]+(?:;[^;]+)*);\[(polling|off-processor|runnable|waiting|unknown)\] (\d+)$")
BUILD = 600  # seconds for a tool of go
RATE = 733  # samples a second, out of step with rounds of a millisecond
TRIES = 3  # of a profile of a busy program


class Profile(Asyncdbg):
    """asyncdbg on a program, from the moment on at which it sees what happens."""

    def __init__(self, asyncdbg, program, *options, form=("--json",), without=()):
        self.begin = time.time()
        super().__init__(*without, asyncdbg, "-p", str(program.child.pid), *form, "profile", *slow, *options)
        self.wait_for_message("profiling process")
        if "profiling process" not in self.message():
            leave_out_refused(self.message())
            sys.exit(f"asyncdbg does not profile: {self.message()}")

    def finish(self):
        """What it has printed."""
        printed = self.child.communicate(timeout=WAIT)[0]
        self.ended = time.time()
        return printed

    def lasted(self, ns, wanted):
        """Whether it may have lasted so long: at least what was asked for, at most as long as it was there."""
        return wanted <= ns <= (self.ended - self.begin) * 1e9

    def lost(self):
        return "events were lost" in self.message()

    def end(self):
        """Ends it with ^C; returns what it has printed."""
        self.child.send_signal(signal.SIGINT)
        return self.finish()

    def document_of(self, text):
        """Its answer in JSON, of what it has printed."""
        if not text:
            sys.exit(f"asyncdbg ends with {self.child.returncode} and no profile: {self.message()}")
        return json.loads(text)

    def status(self):
        # A snapshot of a program that starts and ends threads may be incomplete, which a note says.
        excused = "not all tasks that exist could be read" in self.message() or self.lost()
        return 0 if excused and self.child.returncode == 1 else self.child.returncode


def total(ns):
    return sum(ns[state] or 0 for state in STATES)


def check_sums(what, document):
    """Each nanosecond of a task is in one state, and in one stack."""
    profile = document["profile"]
    check(f"{what}: lost", profile["lost"], 0)
    for state in STATES:
        if profile["ns"][state] is None:
            continue
        for rows in ("types", "stacks"):
            check(f"{what}: {state} of all {rows}", sum(row["ns"][state] for row in profile[rows]), profile["ns"][state])
    for row in profile["types"]:
        check(f"{what}: states of {row['type']}", total(row["ns"]), row["lifetime_ns"])


def of_type(profile, name, rows="types"):
    return [row for row in profile[rows] if (row["type"] or "").startswith(f"{name}::{{")]


def run(asyncdbg, path, section):
    """The truth of a section, and the profile of it."""
    program = Program(path)
    profiled = Profile(asyncdbg, program, "--duration", "1h")
    truth = program.run(section)
    text = profiled.end()
    document = profiled.document_of(text)
    program.end()
    check(f"{section}: status", profiled.status(), 0)
    check_sums(section, document)
    if has_jsonschema():
        check_schema_of(section, [text])
    profile = document["profile"]
    for kind, key in (("task", "spawned"), ("blocking", "blocking")):
        check(f"{section}: {key}", sum(row["tasks"] for row in profile["types"] if row["kind"] == kind), truth[key])
    polls = sum(row["polls"] for row in profile["types"] if row["kind"] == "task")
    check(f"{section}: polls", polls, truth["polls"] + truth["cancels"])
    for key, number in truth.items():
        if key.startswith("polls.") and not key.endswith("::aborted"):
            rows = of_type(profile, key[len("polls."):])
            check(f"{section}: {key}", sum(row["polls"] for row in rows), number)
    print(f"{section}: done")
    return truth, profile


def in_polls(row):
    return row["ns"]["polling"] + (row["ns"]["off_processor"] or 0)


def run_stall(asyncdbg, path):
    """The time of a poll belongs to the await from which the task went on."""
    truth, profile = run(asyncdbg, path, "stall")
    stacks = of_type(profile, "traced::load::stalling", "stacks")
    longest = max(stacks, key=in_polls)
    if not profile["off_processor_missing"]:
        off = longest["ns"]["off_processor"]
        check(f"stall: {off} ns of it off the processor", off >= 0.9 * truth["stall_ns"], True)
    check("stall: its length", truth["stall_ns"] <= in_polls(longest), True)
    # Debug builds may have a box on the way.
    functions = [frame["function"] for frame in longest["frames"]]
    check("stall: its place", functions[:2], ["traced::load::stalling", "traced::load::stalls"])
    check("stall: the file of its place", longest["frames"][1]["file"].endswith("load.rs"), True)
    check("stall: what the place awaits is no part of it", longest["awaits"], None)


def share_of(stacks, function):
    """Of the time of these stacks, that of which the function is a part."""
    times = [row["ns"]["polling"] for row in stacks]
    of = [row["ns"]["polling"] for row in stacks if any(frame["function"] == function for frame in row["code"])]
    return sum(of) / sum(times)


def run_shares(asyncdbg, path):
    """Functions that take a known share of what a task computes."""
    program = Program(path)
    profiled = Profile(asyncdbg, program, "--duration", "1h", "--cpu", "--rate", str(RATE))
    truth = program.run("share 4")
    text = profiled.end()
    document = profiled.document_of(text)
    program.end()
    check_sums("share", document)
    if has_jsonschema():
        check_schema_of("share", [text])
    profile = document["profile"]
    cpu = profile["cpu"]
    if not cpu["samples"]:
        check("share: why", bool(cpu["missing"]), True)
        print("left out: samples of processors: " + cpu["missing"])
        return
    check("share: rate", cpu["rate"], RATE)
    check("share: samples of stacks", sum(row["samples"] for row in profile["stacks"]), cpu["in_polls"])
    stacks = of_type(profile, "traced::load::sharing", "stacks")
    third = share_of(stacks, "traced::load::burns_a_third")
    rest = share_of(stacks, "traced::load::burns_the_rest")
    samples = sum(row["samples"] for row in stacks)
    wanted = 1 / truth["parts"]
    # Five times the standard deviation of so many samples, and what the loop itself takes.
    within = 5 * (wanted * (1 - wanted) / max(samples, 1)) ** 0.5 + 0.01
    check(f"share: {third:.3f} of {samples} samples", abs(third - wanted) < within, True)
    check(f"share: {rest:.3f} of {samples} samples", abs(rest - 1 + wanted) < within, True)
    check(f"share: {cpu['cut']} stacks of {cpu['samples']} are cut", cpu["cut"] <= 0.02 * cpu["samples"], True)
    functions = {frame["function"] for row in stacks for frame in row["code"]}
    check("share: functions of the runtime", [name for name in functions if name.startswith("tokio::runtime::task::harness")], [])
    print(f"share: {third:.3f} and {rest:.3f} of {samples} samples")


def read_folded(what, text):
    """Microseconds by state."""
    times = dict.fromkeys(STATES, 0)
    seen = set()
    for line in text.splitlines():
        match = FOLDED.match(line)
        check(f"{what}: a folded line: {line}", bool(match), True)
        if match:
            stack, state, number = match.groups()
            check(f"{what}: the only line of {stack} {state}", (stack, state) in seen, False)
            seen.add((stack, state))
            times[state.replace("-", "_")] += int(number)
    return times


def check_pprof(path, tasks, profile):
    """A profile of two seconds for pprof, of so many tasks that were there all the time."""
    pprof = Pprof(path)
    names = [name for name, unit in pprof.types]
    check("pprof: units", {unit for _, unit in pprof.types}, {"nanoseconds"})
    check("pprof: types", [name for name in names if name != "off-processor"], ["polling", "runnable", "waiting"])
    check("pprof: default", pprof.default, "polling")
    check("pprof: time", profile.begin <= pprof.time / 1e9 <= profile.ended, True)
    total = sum(sum(values) for _, values in pprof.samples)
    check("pprof: all times", total, tasks * pprof.duration)
    check(f"pprof: {pprof.duration} ns", profile.lasted(pprof.duration, 2e9), True)
    stacks = [tuple(stack) for stack, _ in pprof.samples]
    check("pprof: each stack once", len(set(stacks)), len(stacks))
    check("pprof: types of tasks", all("traced::" in stack[0][0] for stack in stacks), True)
    frames = {frame for stack in stacks for frame in stack}
    check("pprof: a place", any(name.startswith("traced::") and file.endswith(".rs") and line for name, file, line in frames), True)
    go = shutil.which("go") or ("/usr/local/go/bin/go" if os.path.exists("/usr/local/go/bin/go") else None)
    if not go:
        print("left out: go tool pprof: there is no go")
        return
    # Newer versions of go build that tool at its first use, into their own cache.
    own = {name: value for name, value in os.environ.items() if name != "XDG_CACHE_HOME"}
    done = subprocess.run([go, "tool", "pprof", "-sample_index=waiting", "-unit=ns", "-top", path],
                          capture_output=True, text=True, timeout=BUILD, env=own)
    match = re.search(r"Total samples = (\d+)ns", done.stdout)
    check(f"pprof: what go says: {done.stdout}{done.stderr}", bool(match), True)
    if match:
        check("pprof: waiting by go", int(match.group(1)), pprof.total("waiting"))


def check_page(path, tasks, profile):
    """The data of a page of two seconds, with all times of its nodes."""
    with open(path, encoding="utf-8") as f:
        page = f.read()
    check("page: its beginning", page.startswith("<!doctype html>"), True)
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))
    columns = 6 + len(data["states"])
    rows = [data["nodes"][at:at + columns] for at in range(0, len(data["nodes"]), columns)]
    check("page: parents come first", all(row[0] <= at for at, row in enumerate(rows)), True)
    check("page: all times", sum(sum(row[6:]) for row in rows), tasks * data["duration_ns"])
    check(f"page: {data['duration_ns']} ns", profile.lasted(data["duration_ns"], 2e9), True)
    check("page: tasks", data["tasks"], tasks)


def run_whole(asyncdbg, path):
    """Tasks that live all the time, of which two are never off their processors."""
    program = Program(path)
    program.begin("rate 3600")
    program.wait_for_task(asyncdbg, "paced")
    with tempfile.TemporaryDirectory() as directory:
        file = os.path.join(directory, "rate.folded")
        page = os.path.join(directory, "rate.html")
        pprof_file = os.path.join(directory, "rate.pb.gz")
        json_profile = Profile(asyncdbg, program, "--duration", "2s")
        folded_profile = Profile(asyncdbg, program, "--duration", "2s", "-o", file, form=())
        pprof_profile = Profile(asyncdbg, program, "--duration", "2s", "-o", pprof_file, form=())
        page_profile = Profile(asyncdbg, program, "--duration", "2s", "-o", page, form=())
        text_profile = Profile(asyncdbg, program, "--duration", "2s", form=())
        document = json_profile.document_of(json_profile.finish())
        check("rate: on standard output", folded_profile.finish(), "")
        check("rate: pprof on standard output", pprof_profile.finish(), "")
        check("rate: page on standard output", page_profile.finish(), "")
        tasks = sum(row["tasks"] for row in document["profile"]["types"])
        if not page_profile.lost():
            check_page(page, tasks, page_profile)
        text = text_profile.finish()
        if not pprof_profile.lost():
            check_pprof(pprof_file, tasks, pprof_profile)
        check("rate: mode", os.stat(file).st_mode & 0o777, 0o600)
        with open(file, encoding="utf-8") as f:
            folded = read_folded("rate", f.read())
    program.kill()
    if document["profile"]["lost"]:
        print("left out: times of a busy program: events were lost")
        return
    check("rate: status", [p.status() for p in (json_profile, folded_profile, text_profile)], [0, 0, 0])
    check_sums("rate", document)
    for row in document["profile"]["types"]:
        check(f"rate: lifetime of {row['type']}", row["lifetime_ns"], row["tasks"] * document["profile"]["duration_ns"])
        check(f"rate: text has {row['type']}", row["type"].split("::{")[0] in text, True)
    microseconds = sum(folded.values())
    # Of each line less than a microsecond is cut off.
    if not folded_profile.lost():
        check(f"rate: {microseconds} us in the folded file", folded_profile.lasted(microseconds * 1e3 / tasks, 1.999e9), True)
    seconds = re.match(r"(\d+\.\d) s: ", text)
    check("rate: heading", bool(seconds) and text_profile.lasted(float(seconds.group(1)) * 1e9 - 0.05e9, 1.95e9), True)
    print("rate: done")


def on_processors(pid):
    """For how long the threads of a process were on processors, in ns."""
    times = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as f:
            times += int(f.read().split()[0])
    return times


class Kernel:
    """What the kernel's schedstat says of a process again and again, with the times before and after each look."""

    def __init__(self, pid):
        self.pid = pid
        self.looks = []

    def look(self):
        before = time.monotonic_ns()
        ran = on_processors(self.pid)
        self.looks.append((before, ran, time.monotonic_ns()))

    def between(self, start, end):
        """The least and the most that it ran between two times."""
        inside = [look for look in self.looks if look[0] >= start and look[2] <= end]
        first = max((look for look in self.looks if look[2] <= start), default=self.looks[0])
        last = min((look for look in self.looks if look[0] >= end), default=self.looks[-1])
        return inside[-1][1] - inside[0][1] if inside else 0, last[1] - first[1]


def run_busy(asyncdbg, burn, *before, beside=0):
    """
    The kernel does not count what interrupts and the hypervisor take, which may be much in one profile: it is
    wrong only where several are.
    """
    for rest in reversed(range(TRIES)):
        within, what = busy_share(asyncdbg, burn, *before, beside=beside)
        if within or not rest:
            break
        print(f"again: {what}")
    check(what, within, True)
    print(what)


def busy_share(asyncdbg, burn, *before, beside):
    """
    Two polls that began before the profile and go on after it; all of the program's time is theirs. before:
    a command that starts the program. beside: how many others compute. Whether the share is that of the kernel.
    """
    program = Program(*before, burn)
    others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(beside)]
    kernel = Kernel(program.child.pid)
    kernel.look()
    profiled = Profile(asyncdbg, program, "--duration", "4s")
    while profiled.child.poll() is None:
        kernel.look()
        time.sleep(0.001)
    kernel.look()
    document = profiled.document_of(profiled.finish())
    program.kill()
    for other in others:
        other.kill()
        other.wait(WAIT)
    profile = document["profile"]
    check("burn: status", profiled.status(), 0)
    check_sums("burn", document)
    duration = profile["duration_ns"]
    for row in profile["types"]:
        check(f"burn: lifetime of {row['type']}", row["lifetime_ns"], row["tasks"] * duration)
    polling = [row for row in profile["types"] if in_polls(row)]
    check("burn: in polls", sum(in_polls(row) for row in polling), sum(row["tasks"] for row in polling) * duration)
    if profile["off_processor_missing"]:
        check("burn: why", profile["off_processor_missing"] in profiled.message(), True)
        return True, "left out: what is off its processor: " + profile["off_processor_missing"]
    share = profile["ns"]["polling"] / duration
    low, high = (ran / duration for ran in kernel.between(document["start"], document["start"] + duration))
    # The kernel counts at ticks: of what goes on, the last milliseconds are missing.
    within = 0.97 * low - 0.01 <= share <= 1.03 * high + 0.01
    return within, f"burn beside {beside}: on {share:.4f} processors, by the kernel {low:.4f} to {high:.4f}"


def run_sampled(asyncdbg, burn):
    """Without the right to use probes it looks again and again."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        print("left out: sampling: only root can give rights up, with setpriv")
        return
    rights = "-bpf,-perfmon,-sys_admin"
    program = Program(burn)
    profiled = Profile(asyncdbg, program, "--duration", "4s",
                       without=("setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"))
    document = profiled.document_of(text := profiled.finish())
    program.kill()
    messages = profiled.message()
    check("sampled: status", profiled.child.returncode, 1)
    check(f"sampled: {messages}", "sampling" in messages and "CAP_BPF" in messages and "looked " in messages, True)
    if has_jsonschema():
        check_schema_of("sampled", [text])
    check_sums("sampled", document)
    profile = document["profile"]
    check("sampled: backend", document["backend"], "samples")
    check(f"sampled: {profile['samples']} samples", profile["samples"] > 0, True)
    for row in profile["types"]:
        check(f"sampled: lifetime of {row['type']}", row["lifetime_ns"], row["tasks"] * profile["duration_ns"])
        state = {"burn::work": "polling", "burn::fill_queues": "polling", "burn::nap": "waiting",
                 "burn::never_polled": "runnable", "burn::receive": "runnable"}[row["type"].split("::{")[0]]
        got = in_polls(row) if state == "polling" else row["ns"][state]
        check(f"sampled: {state} of {row['type']}", got, row["lifetime_ns"])
    print("sampled: done")


def run_without_ends(asyncdbg, path):
    """The end of a poll takes a single step in this build: nobody has allowed that."""
    program = Program(path)
    words = [asyncdbg, "-p", str(program.child.pid), "--json", "profile", "--duration", "300ms"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=WAIT)
    program.end()
    check(f"without ends: status: {done.stderr}", done.returncode, 1)
    check(f"without ends: {done.stderr}", "needs task-poll-end" in done.stderr and "--allow-slow" in done.stderr, True)
    check("without ends: backend", json.loads(done.stdout)["backend"], "samples")
    print("without ends: done")


def run_killed(asyncdbg, path):
    """The end of the program ends the profile."""
    program = Program(path)
    profiled = Profile(asyncdbg, program, "--duration", "1h")
    truth = program.run("pingpong 100")
    program.child.kill()
    document = profiled.document_of(profiled.finish())
    program.child.wait(WAIT)
    check("kill: status", profiled.status(), 0)
    check_sums("kill", document)
    check("kill: polls", sum(row["polls"] for row in document["profile"]["types"]), truth["polls"])
    print("kill: done")


def run_wrong(asyncdbg, path):
    program = Program(path)
    pid = str(program.child.pid)
    calls = [
        (["-p", pid, "profile", "--duration", "0"], 64, "above 0"),
        (["-p", pid, "profile", "--format", "svg"], 64, "use text"),
        (["-p", pid, "profile", "-o", ""], 64, "the file name is empty"),
        (["-p", pid, "profile", "--cpu", "--rate", "0"], 64, "from 1 to"),
        (["-p", pid, "profile", "--rate", "99"], 64, "--cpu"),
        (["-p", pid, "--json", "profile", "--format", "folded"], 64, "cannot be combined"),
        (["-p", pid, "profile", "--duration", "10ms", "-o", "/dev/full"], 64, "is a device"),
        (["-p", str(os.getpid()), "profile"], 2, "no async runtime"),
        (["profile"], 64, "needs a running process"),
    ]
    check_calls(asyncdbg, calls)
    program.end()
    print("wrong calls: done")


def main(arguments):
    arguments = take_slow(arguments)
    if len(arguments) != 3:
        sys.exit(__doc__)
    burn = arguments.pop()
    for section in ("counts", "current", "several"):
        run(*arguments, section)
    run_stall(*arguments)
    run_shares(*arguments)
    if os.environ.get("SLOW_ASYNCDBG"):
        print("left out: programs that do nothing but poll, for which this build of asyncdbg is too slow")
    else:
        run_whole(*arguments)
    run_busy(arguments[0], burn)
    # Its threads wait for a processor when the profile begins.
    run_busy(arguments[0], burn, "nice", "-n", "19", beside=os.cpu_count())
    run_sampled(arguments[0], burn)
    if slow:
        run_without_ends(*arguments)
    run_killed(*arguments)
    run_wrong(*arguments)
    checks.end()


if __name__ == "__main__":
    main(sys.argv[1:])
