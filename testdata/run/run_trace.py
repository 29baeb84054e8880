#!/usr/bin/env python3
"""Traces the program `traced` and compares the events with what the program has counted itself.

usage: run_trace.py ASYNCDBG TRACED [--allow-slow] [--without EVENT]... [SECTION...]

TRACED    the program traced, of any build
EVENT     an event that this build is known to lack

With ASYNCDBG_PROBES=perf in the environment asyncdbg uses what kernels before 6.6 have. Ends with 77
where the kernel refuses probes to us.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter

from harness import checks, trace as shared
from harness.checks import check, failed, report
from harness.trace import CHECKS, WAIT, Program, Trace, check_calls, truth_of, wait_for

SECTIONS = ["counts", "current", "several", "pingpong", "boxed", "stall", "backtrace"]
START, END, SPAWN, TERMINATE = "task-poll-start", "task-poll-end", "task-spawn", "task-terminate"
REMOVAL = 600  # seconds for all breakpoints of all traces so far: with perf, about ten go in a second


def count(items, event, kind=None):
    return sum(1 for i in items if i["event"] == event and (not kind or i.get("kind") == kind))


def check_tasks(items, truth, has):
    for kind, key in (("task", "spawned"), ("blocking", "blocking")):
        if SPAWN in has:
            check(f"spawns of kind {kind}", count(items, SPAWN, kind), truth[key])
        ended = truth["terminated"] if kind == "task" else truth[key]
        if TERMINATE in has:
            check(f"ends of kind {kind}", count(items, TERMINATE, kind), ended)
    polls = truth["polls"] + truth["cancels"]
    check("polls", count(items, START, "task"), polls)
    if END in has:
        check("ends of polls", count(items, END, "task"), polls)
    check("jobs run", count(items, START, "blocking"), truth["blocking"])
    if "worker-thread-start" in has:
        check("workers", count(items, "worker-thread-start"), truth["workers"])
    if "worker-thread-stop" in has:
        check("workers' ends", count(items, "worker-thread-stop"), truth["workers"])
    names = Counter(i["type"].split("::{")[0].split("<")[-1] for i in items if i["event"] == START and i["kind"] == "task")
    for key, polls in truth.items():
        if key.startswith("polls."):
            name = key[len("polls."):]
            aborted = truth["cancels"] if name.endswith("::aborted") else 0
            check(key, names[name] - aborted, polls)


def check_order(items, has):
    """
    Each poll of a task begins after its last one has ended, and no task lives on. The end is seen a
    moment after it: another thread, to which the task went, may be seen before.
    """
    polled, ended = set(), set()
    for i in items:
        task, poll = i["task"], (i["task"], i["tid"])
        if i["event"] == START:
            check(f"task {task} polled within a poll", poll in polled and END in has, False)
            check(f"task {task} polled after its end", task in ended, False)
            polled.add(poll)
        elif i["event"] == END:
            polled.discard(poll)
        elif i["event"] == TERMINATE:
            ended.add(task)


def check_wakes(items, truth):
    types = {i["task"]: i["type"] for i in items if i["event"] == START}
    wakes = Counter(i["type"].split("::{")[0] for i in items if i["event"] == "task-wake" and i["by"])
    for key, number in truth.items():
        if key.startswith("wakes."):
            check(key, wakes[key[len("wakes."):]], number)
    for i in items:
        if i["event"] == "task-wake" and i["by"]:
            check("a task woken by itself", types[i["by"]] == i["type"], False)


# The functions of the chain in which each task of the sections sleeps, and what it awaits there.
CHAINS = {
    "yielder": (["yielder", "yields", "yield_now"], "yield_now::"),
    "sleeper": (["sleeper", "sleeps"], "Sleep"),
    "parent": (["parent", "has_children", "join"], "JoinHandle<"),
    "child": (["child", "yields", "yield_now"], "yield_now::"),
    "asker": (["asker", "asks", "join"], "JoinHandle<"),
    "panicker": (["panicker", "panics", "yield_now"], "yield_now::"),
    "aborted": (["aborted", "never"], "Pending<"),
}


def check_places(trace):
    """A poll that did not end its task has a place, which is the task's own await."""
    for i in trace.items:
        if i["event"] != END or i["kind"] != "task":
            continue
        check(f"a place of task {i['task']}", i["place"] is not None, not i["ready"] and "late" not in i)
        name = i["type"].split("::{")[0].split("<")[-1].split("::")[-1]
        if i["place"] is None or name not in CHAINS:
            continue
        place = trace.places[i["place"]]
        functions, leaf = CHAINS[name]
        check(f"chain of {name}", [f["function"].split("::")[-1] for f in place["frames"]], functions)
        check(f"what {name} awaits: {place['awaits']}", leaf in place["awaits"], True)
        check(f"lines of {name}", all(f["line"] for f in place["frames"]), True)


# The chains of the section boxed, and how often a poll ends in each.
BOXED_CHAINS = {
    ("boxer", "boxes", "naps", "nap", "Sleep"): 5,
    ("boxer", "boxes", "yields", "yield_now", "yield_now"): 5,
    ("hider", "hides", "dyn "): 5,
    ("whole", "nap", "Sleep"): 1,
}


def check_boxed(trace):
    """The chain of awaits goes on in a box, unless only the box's table tells what is in it."""
    seen = Counter()
    for i in trace.items:
        if i["event"] != END or i["kind"] != "task" or i["place"] is None:
            continue
        place = trace.places[i["place"]]
        functions = tuple(f["function"].split("::")[-1] for f in place["frames"])
        leaf = next((word for word in ("Sleep", "yield_now", "dyn ") if word in (place["awaits"] or "")), None)
        seen[(*functions, leaf)] += 1
    check("boxed: chains", dict(seen), BOXED_CHAINS)


def check_section(section, truth, trace, late):
    items, has = trace.items, trace.head["events"]
    check("events in the end line", trace.end["events"], len(items))
    check("lost events", trace.end["lost"], 0)
    if not late:
        check("ends seen late", trace.end["unmatched"], 0)
    check_tasks(items, truth, has)
    check_order(items, has)
    check_places(trace)
    if section == "boxed" and END in has:
        check_boxed(trace)
    if "worker-thread-park" in has:
        check("unparks", count(items, "worker-thread-unpark"), count(items, "worker-thread-park"))
    if "wakes" in truth and "task-wake" in has:
        check_wakes(items, truth)
    if "stall_ns" in truth and END in has:
        longest = max(i["poll_ns"] for i in items if i["event"] == END and i["kind"] == "task")
        check("the longest poll is the stall", truth["stall_ns"] <= longest, True)


def frames_without_trace(program):
    alone = Program(program)
    truth = alone.run("backtrace")
    alone.end()
    return truth["frames"]


def run(asyncdbg, program, section, options, without):
    traced = Program(program)
    trace = Trace(asyncdbg, traced.child.pid, options)
    if not trace.head:
        trace.child.wait(WAIT)
        message = trace.message()
        traced.end()
        shared.leave_out_refused(message)
        check(f"{section}: a trace", message, "")
        return
    before = failed()
    truth = traced.run(section)
    traced.end()
    trace.finish()
    missing = {m["event"] for m in trace.head["missing"]}
    check("missing events", missing, set(without))
    check("status", trace.status, 1 if missing else 0)
    check("the kernel's mechanism", trace.head["backend"], os.environ.get("ASYNCDBG_PROBES", "uprobe_multi"))
    check_section(section, truth, trace, END in missing)
    if "frames" in truth:
        check("frames of a backtrace", truth["frames"], frames_without_trace(program))
    report(section, before)


def executable_bytes(path, pid):
    """The code of a process beside that of its file, by segments of its mappings."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        for line in maps:
            words = line.split()
            if "x" not in words[1] or words[-1] != os.path.realpath(path):
                continue
            start, end = (int(part, 16) for part in words[0].split("-"))
            with open(f"/proc/{pid}/mem", "rb") as memory, open(path, "rb") as file:
                memory.seek(start)
                file.seek(int(words[2], 16))
                yield memory.read(end - start), file.read(end - start)


def is_untouched(path, pid):
    return all(memory[:len(file)] == file for memory, file in executable_bytes(path, pid))


def run_killed(asyncdbg, program, options):
    """asyncdbg is killed while it traces; another process of the same file runs beside."""
    traced, other = Program(program), Program(program)
    trace = Trace(asyncdbg, traced.child.pid, options)
    check("killed: the traced code is changed", is_untouched(program, traced.child.pid), False)
    check("killed: another process is untouched", is_untouched(program, other.child.pid), True)
    trace.child.kill()
    trace.child.wait(REMOVAL)
    check_untouched("killed", program, traced)
    traced.end()
    other.end()
    print("killed: done")


def check_untouched(what, program, traced):
    untouched = wait_for(lambda: is_untouched(program, traced.child.pid), REMOVAL)
    check(f"{what}: the code is as before", untouched, True)
    check(f"{what}: the program works", traced.run("pingpong 10")["wakes"], 20)


def run_detached(asyncdbg, program, options):
    """A trace that ends by itself: the program runs on, without breakpoints."""
    traced = Program(program)
    trace = Trace(asyncdbg, traced.child.pid, ["--duration", "100ms", *options])
    trace.finish()
    check_untouched("detached", program, traced)
    traced.end()
    print("detached: done")


def run_wrong(asyncdbg, program):
    """Calls that cannot be answered."""
    traced = Program(program)
    pid = str(traced.child.pid)
    calls = [
        (["-p", pid, "trace", "--events", "task-pol-end"], 64, "did you mean task-poll-end"),
        (["-p", pid, "trace", "--events", "task-wake", "--over", "1ms"], 64, "task-poll-end"),
        (["-p", pid, "trace", "--with", "colour", "red"], 64, "no field"),
        (["-p", pid, "trace", "--duration", "0"], 64, "above 0"),
        (["-p", str(os.getpid()), "trace"], 2, "no async runtime"),
        (["trace"], 64, "needs one running process"),
    ]
    check_calls(asyncdbg, calls)
    traced.end()
    print("wrong calls: done")


def run_events(asyncdbg, program, options):
    """Each event alone: as often as among all of them."""
    numbers = {}
    for events in (None, SPAWN, START, END, TERMINATE, "task-wake", "worker-thread-start", "worker-thread-stop"):
        traced = Program(program)
        trace = Trace(asyncdbg, traced.child.pid, ["--events", events] * bool(events) + options)
        traced.run("pingpong 30")
        traced.end()
        trace.finish()
        if not events:
            numbers = {event: sorted((str(i["task"]), i.get("type"), i.get("ready"), i.get("by"))
                                     for i in trace.items if i["event"] == event)
                       for event in trace.head["events"]}
            continue
        alone = sorted((str(i["task"]), i.get("type"), i.get("ready"), i.get("by")) for i in trace.items)
        check(f"events: {events} alone", alone, numbers.get(events, []))
    print("events: done")


def run_without_places(asyncdbg, program, options):
    """The same polls, without where they end."""
    counts = []
    for without in ([], ["--no-places"]):
        traced = Program(program)
        trace = Trace(asyncdbg, traced.child.pid, ["--events", f"{START},{END}", *without] + options)
        traced.run("pingpong 30")
        traced.end()
        trace.finish()
        counts.append(sorted((i["event"], str(i["task"])) for i in trace.items))
        has = any(i.get("place") for i in trace.items)
        check(f"places: {without}", has, not without and END in trace.head["events"])
    check("places: events without them", counts[1], counts[0])
    print("without places: done")


def run_filtered(asyncdbg, program, options):
    """--events, --with, --over and -o."""
    traced = Program(program)
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        trace = subprocess.Popen([asyncdbg, "-p", str(traced.child.pid), "--jsonl", "trace", "-o", file.name,
                                  "--over", "20ms", "--with", "type", "stalling", *options],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        wait_for(lambda: os.path.getsize(file.name) or trace.poll() is not None)
        traced.run("stall")
        traced.end()
        check("filtered: nothing on standard output", trace.communicate(timeout=WAIT)[0], b"")
        head, *items, end = [json.loads(line) for line in open(file.name, encoding="utf-8")]
        items = [i for i in items if "event" in i]
        check("filtered: events", [i["event"] for i in items], [END])
        check("filtered: polls over 20 ms", items[0]["poll_ns"] >= 20e6, True)
        shared.check_schema("filtered", file.name)
    print("filtered: done")


def documents(text):
    decoder, found, text = json.JSONDecoder(), [], text.strip()
    while text:
        document, end = decoder.raw_decode(text)
        found.append(document)
        text = text[end:].strip()
    return found


def run_stalls(asyncdbg, program, options):
    """
    A poll of 30 ms is seen while it runs, with its stack, and when it has ended. On a busy machine it may be over
    before its stack was read; then it is no running poll any more, and one of twice the length is looked at. There,
    the polls of the task that are short elsewhere may be too long, too.
    """
    for times in range(10):
        truth, seen, more = stall_reports(asyncdbg, program, options, 30 << times)
        ended = [d["stall"]["ended"] for d in seen]
        if False in ended:
            break
        check("stalls: a report of a poll that was over", all(ended) and len(ended) > 0, True)
    check("stalls: reports", [d["stall"]["ended"] for d in seen], [False, True])
    check("stalls: its length", seen[-1]["stall"]["poll_ns"] >= truth["stall_ns"], True)
    functions = [f["function"] or "" for t in seen[0]["threads"] for f in t["frames"]]
    check("stalls: threads that were stopped", seen[0]["stop"]["threads"] <= 1, True)
    # The program may have ended before the stack was read, and a note says so.
    unread = "ended before" in more or "its stack was not read: " in more
    check(f"stalls: its stack, {functions}, {more}", unread or any("planted_stall" in f for f in functions), True)
    print("stalls: done")


def stall_reports(asyncdbg, program, options, length):
    """The program's own measure of a stall of that many milliseconds, what `stalls` reports of it, and the messages."""
    traced = Program(program)
    words = ["--json", "stalls", "--over", f"{length // 6}ms", *options]
    stalls = subprocess.Popen([asyncdbg, "-p", str(traced.child.pid), *words],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    messages = ""
    while "watching process" not in messages:
        messages += stalls.stderr.readline()
    truth = traced.run(f"stall {length}")
    traced.end()
    answer, more = stalls.communicate(timeout=WAIT)
    return truth, [d for d in documents(answer) if "stalling" in d["stall"]["type"]], more


NO_PROBES = ["setpriv", "--bounding-set=-bpf,-perfmon,-sys_admin", "--inh-caps=-bpf,-perfmon,-sys_admin"]


def watch_spin(asyncdbg, program, options, before):
    """The first report of `stalls` on a poll of hours. before: a command that runs asyncdbg."""
    traced = Program(program)
    traced.begin("spin 3600000")
    traced.wait_for_task(asyncdbg, "running")
    words = [asyncdbg, "-p", str(traced.child.pid), "--jsonl", "stalls", "--over", "100ms", *options]
    stalls = subprocess.Popen([*before, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    document = json.loads(stalls.stdout.readline())
    stalls.send_signal(signal.SIGINT)
    stalls.communicate(timeout=WAIT)
    traced.kill()
    stall = document["stall"]
    check("spin: its type", "traced::load::spinning" in stall["type"], True)
    check("spin: its length", stall["poll_ns"] >= 100_000_000, True)
    functions = [f["function"] or "" for t in document["threads"] for f in t["frames"]]
    check("spin: its stack", any("planted_spin" in f for f in functions), True)
    check("spin: status", stalls.returncode, 1 if before else 0)
    return stall


def run_unseen_stalls(asyncdbg, program, options):
    """A poll that began before, and one without the right to use probes."""
    stall = watch_spin(asyncdbg, program, options, [])
    check("spin: it began before", (stall["began_before"], stall["looks"]), (True, None))
    if os.geteuid() == 0 and shutil.which("setpriv"):
        stall = watch_spin(asyncdbg, program, [], NO_PROBES)
        check("spin: looks", not stall["began_before"] and stall["looks"] > 1, True)
    else:
        print("left out: sampled stalls: only root can give rights up, with setpriv")
    print("unseen stalls: done")


def run_interrupted_stalls(asyncdbg, program, options):
    """^C is the end, whatever it interrupts: the first look at the tasks, or one for the stack of a poll."""
    traced = Program(program)
    traced.begin("spin 3600000")
    traced.wait_for_task(asyncdbg, "running")
    for words in ([], NO_PROBES):
        if words and (os.geteuid() != 0 or not shutil.which("setpriv")):
            continue
        for _ in range(5):
            command = [*words, asyncdbg, "-p", str(traced.child.pid), "stalls", "--over", "1us", *options]
            stalls = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            messages = ""
            while "watching process" not in messages:
                messages += stalls.stderr.readline()
            stalls.send_signal(signal.SIGINT)
            messages += stalls.communicate(timeout=WAIT)[1]
            check(f"interrupted stalls: status, {messages}", stalls.returncode, 1 if words else 0)
    traced.kill()
    print("interrupted stalls: done")


def check_launched_workers(asyncdbg, program, options):
    """Workers and runtimes are known from the moment the runtime is built, which is after the trace began."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        subprocess.run([asyncdbg, "--jsonl", "trace", "-o", file.name, *options, "--", program, "now", "crowd 20 1 100"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=WAIT)
        items = [i for i in map(json.loads, open(file.name, encoding="utf-8")) if "t" in i and "tid" in i]
    starts = [i["worker"] for i in items if i["event"] == "worker-thread-start"]
    check("launched: workers that start", sorted(starts, key=str), [0, 1])
    for event in ["task-poll-start", "task-poll-end", "worker-thread-park", "worker-thread-stop"]:
        known = {(i["worker"] in starts, i["runtime"]) for i in items if i["event"] == event}
        check(f"launched: worker and runtime of {event}", known, {(True, 0)})
    check("launched: one worker a thread", len({(i["tid"], i["worker"]) for i in items if i["worker"] is not None}), 2)
    check("launched: runtimes that spawn", {i["runtime"] for i in items if i["event"] == "task-spawn"}, {0})


def check_brief_runtimes(asyncdbg, program, options):
    """Workers that end before anybody can look at them, of runtimes that may get the memory of the last one."""
    runtimes = 20
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        subprocess.run([asyncdbg, "--jsonl", "trace", "-o", file.name, *options, "--", program, "now", f"brief {runtimes}"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=WAIT)
        items = [i for i in map(json.loads, open(file.name, encoding="utf-8")) if "t" in i and "tid" in i]
    workers = [(runtime, worker) for runtime in range(runtimes) for worker in (0, 1)]
    for event in ["worker-thread-start", "worker-thread-stop"]:
        seen = [(i["runtime"], i["worker"]) for i in items if i["event"] == event]
        check(f"brief: runtimes and workers of {event}", sorted(seen, key=str), sorted(workers, key=str))
    polled = [i["runtime"] for i in items if i["event"] == START and i["kind"] == "task" and i["worker"] in (0, 1)]
    # A look may see a later runtime first, whose number comes before those of earlier ones then.
    check("brief: runtimes that poll", sorted(polled), list(range(runtimes)))


def run_launched(asyncdbg, program, options):
    """A program that asyncdbg starts: nothing of it is missed."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        done = subprocess.run([asyncdbg, "--jsonl", "trace", "-o", file.name, *options, "--", program, "now", "counts"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=WAIT)
        head, *items, end = [json.loads(line) for line in open(file.name, encoding="utf-8")]
        items = [i for i in items if "event" in i]
        lines = done.stdout.splitlines()
        truth = truth_of(lines)
        check("launched: the program's own output", lines[-1:], ["done"])
        check("launched: ends seen late", end["unmatched"], 0)
        check_tasks(items, truth, head["events"])
    check_launched_workers(asyncdbg, program, options)
    check_brief_runtimes(asyncdbg, program, options)
    check_calls(asyncdbg, [
        (["trace", "--", "/nonexistent/program"], 2, "cannot start"),
        (["trace", "--", "true"], 2, "no async runtime"),
        (["-p", str(os.getpid()), "trace", "--", program], 64, "one running process"),
    ])
    print("launched: done")


def decode_perfetto(path, *options, open_flows=5):
    """
    The counts of check_perfetto.py; None where Perfetto's package is not installed. open_flows: tasks
    that may be woken at the end and not polled.
    """
    script = os.path.join(CHECKS, "check_perfetto.py")
    for python in (os.environ.get("PERFETTO_PYTHON", ""), sys.executable):
        if shutil.which(python) and subprocess.run([python, "-c", "import perfetto"],
                                                   stderr=subprocess.DEVNULL).returncode == 0:
            break
    else:
        print("left out: decoding of traces: no python has the package perfetto")
        return None
    done = subprocess.run([python, script, "--json", "--open-flows", str(open_flows), *options, path],
                          capture_output=True, text=True)
    check(f"perfetto: {done.stdout[-500:]}{done.stderr[-500:]}", done.returncode, 0)
    return json.loads(done.stdout.splitlines()[0])


def run_perfetto(asyncdbg, program, options):
    """A trace for Perfetto, decoded where its package is installed."""
    traced = Program(program)
    with tempfile.NamedTemporaryFile(suffix=".pftrace") as file:
        trace = subprocess.Popen([asyncdbg, "-p", str(traced.child.pid), "trace", "-o", file.name, *options],
                                 stderr=subprocess.DEVNULL)
        wait_for(lambda: os.path.getsize(file.name) or trace.poll() is not None)
        truth = traced.run("pingpong 100")
        traced.end()
        check("perfetto: status", trace.wait(WAIT) in (0, 1), True)
        counts = decode_perfetto(file.name, "--max-bytes", "40")
        if counts:
            check("perfetto: polls of ping", counts["names"]["slice_begin"]["async fn traced::tasks::ping"],
                  truth["polls.traced::tasks::ping"])
    print("perfetto: done")


def run_busy(asyncdbg, program, options):
    """A program whose tasks run while the points are attached: nothing is before the beginning."""
    traced = Program(program)
    traced.begin("rate 3600")
    trace = Trace(asyncdbg, traced.child.pid, ["--duration", "500ms", *options])
    trace.finish()
    check("busy: polls", count(trace.items, START) > 0, True)
    check("busy: the first event", min(i["t"] for i in trace.items) >= trace.head["start"], True)
    with tempfile.NamedTemporaryFile(suffix=".pftrace") as file:
        subprocess.run([asyncdbg, "-p", str(traced.child.pid), "trace", "--duration", "1500ms", "-o", file.name,
                        *options], stderr=subprocess.DEVNULL, timeout=WAIT)
        counts = decode_perfetto(file.name)
        numbers = counts["names"]["counter"] if counts else {}
        parks = {"worker-thread-park", "worker-thread-unpark"} <= set(trace.head["events"])
        wanted = {"alive tasks", "polls a second"} | ({"worker 0/0 busy"} if parks else set())
        check("busy: numbers", wanted - set(numbers) if counts else set(), set())
        queues = {"queue of worker 0/0", "injection queue of runtime 0"}
        check("busy: lengths of queues", queues - set(numbers) if counts else set(), set())
    traced.kill()
    print("busy: done")


# What bpftrace calls events, and the keys of the program's own counts.
BPFTRACE_COUNTS = [
    ("task-spawn", ("spawned", "blocking")),
    ("task-poll-start", ("polls", "cancels", "blocking")),
    ("task-poll-end", ("polls", "cancels", "blocking")),
    ("task-terminate", ("terminated", "blocking")),
    ("worker-thread-start", ("workers",)),
    ("worker-thread-stop", ("workers",)),
]


def bpftrace_lines(tracer, workers):
    """What it prints up to the end of the last worker, and when it is ended; of one that hangs, so far."""
    limit = threading.Timer(WAIT, tracer.send_signal, [signal.SIGINT])
    limit.start()
    lines, ended = [], 0
    for line in tracer.stdout:
        lines.append(line)
        ended += "worker-thread-stop" in line
        if ended == workers:
            break
    limit.cancel()
    tracer.send_signal(signal.SIGINT)
    lines += tracer.stdout.readlines()
    tracer.wait(5 * WAIT)
    return lines


def bpftrace_events(asyncdbg, program, section):
    """The events that the script for bpftrace prints, and what the program has counted."""
    traced = Program(program)
    with tempfile.NamedTemporaryFile("w+", suffix=".bt") as script:
        subprocess.run([asyncdbg, "-p", str(traced.child.pid), "probes", "--format", "bpftrace"],
                       stdout=script, check=True, timeout=WAIT)
        tracer = subprocess.Popen(["bpftrace", script.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first = None
        for line in tracer.stdout:
            first = line
            if line.startswith("NANOSECONDS"):
                break
        if not first or not first.startswith("NANOSECONDS"):
            check(f"bpftrace runs: {tracer.stderr.read()}", first, "NANOSECONDS TID EVENT TASK TYPE")
            return [], {}
        truth = traced.run(section)
        traced.end()
        return [line.split(None, 4) for line in bpftrace_lines(tracer, truth["workers"]) if line.strip()], truth


def run_bpftrace(asyncdbg, program):
    if not shutil.which("bpftrace"):
        print("bpftrace: left out: it is not installed")
        return
    before = failed()
    lines, truth = bpftrace_events(asyncdbg, program, "counts")
    events = Counter(line[2] for line in lines)
    if truth:
        for event, keys in BPFTRACE_COUNTS:
            check(f"bpftrace: {event}", events[event], sum(truth[key] for key in keys))
        check("bpftrace: unparks", events["worker-thread-unpark"], events["worker-thread-park"])
        polls = Counter(line[4] for line in lines if line[2] == "task-poll-start")
        check("bpftrace: polls of a type", polls["async fn traced::tasks::yielder"],
              truth["polls.traced::tasks::yielder"])
        ended = {line[3] for line in lines if line[2] == "task-terminate"}
        check("bpftrace: each task that ends was spawned",
              ended <= {line[3] for line in lines if line[2] == "task-spawn"}, True)
    report("bpftrace", before)


def main(arguments):
    options, without, words = [], [], []
    while arguments:
        word = arguments.pop(0)
        if word == "--allow-slow":
            options.append(word)
        elif word == "--without":
            without.append(arguments.pop(0))
        else:
            words.append(word)
    if len(words) < 2:
        sys.exit(__doc__)
    asyncdbg, program, *sections = words
    for section in sections or SECTIONS:
        run(asyncdbg, program, section, options, without)
    if not sections:
        run_killed(asyncdbg, program, options)
        run_detached(asyncdbg, program, options)
        run_events(asyncdbg, program, options)
        run_wrong(asyncdbg, program)
        run_filtered(asyncdbg, program, options)
        run_without_places(asyncdbg, program, options)
        run_stalls(asyncdbg, program, options)
        run_unseen_stalls(asyncdbg, program, options)
        run_interrupted_stalls(asyncdbg, program, options)
        run_launched(asyncdbg, program, options)
        run_perfetto(asyncdbg, program, options)
        run_busy(asyncdbg, program, options)
        if not options and os.environ.get("WITH_BPFTRACE"):
            run_bpftrace(asyncdbg, program)
    checks.end()


if __name__ == "__main__":
    main(sys.argv[1:])
