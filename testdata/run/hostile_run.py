"""
Changes a core or its executable in ways that a broken program or file may show, and checks
what asyncdbg makes of it; see run_hostile.sh.
"""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import time

from hostile_files import Elf, Memory

TIMEOUT = 60
CRASH = re.compile(r"Sanitizer|runtime error:|[Aa]ssert|core dumped")


class Hostile:
    def __init__(self, asyncdbg, core, exe, work):
        self.asyncdbg = asyncdbg
        self.failures = 0
        self.cases = 0
        self.slowest = (0, "")
        shutil.copy(core, work + "/core")
        shutil.copy(exe, work + "/exe")
        self.core = Elf(work + "/core")
        self.exe = Elf(work + "/exe")
        self.memory = Memory(self.core, self.exe)
        self.base = self.run("unchanged")
        if not self.base or not self.base["tasks"]:
            sys.exit("the unchanged core has no tasks")
        self.plans = self.read_plans()

    # ---- running it

    def start(self, *words):
        options = "detect_leaks=1:hard_rss_limit_mb=4000:" + os.environ.get("ASAN_OPTIONS", "")
        return subprocess.run(
            [self.asyncdbg, "--no-cache", "-c", self.core.path, "--exe", self.exe.path, "--json", *words],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT,
            env=dict(os.environ, ASAN_OPTIONS=options))

    def fail(self, what, reason, text=""):
        self.failures += 1
        print(f"FAILED {what}: {reason}", flush=True)
        for line in text.splitlines()[:12]:
            print("    " + line[:200], flush=True)

    def run(self, what):
        """The answer; None when there is none. Whatever happens, it must end well."""
        self.cases += 1
        started = time.monotonic()
        try:
            done = self.start("async", "backtrace", "all", "-v")
        except subprocess.TimeoutExpired:
            self.fail(what, f"still running after {TIMEOUT} seconds")
            return None
        self.slowest = max(self.slowest, (time.monotonic() - started, what))
        errors = done.stderr.decode(errors="replace")
        if done.returncode not in (0, 1, 2) or CRASH.search(errors):
            self.fail(what, f"exit code {done.returncode}", errors)
            return None
        if done.returncode == 2:
            if done.stdout or len(errors.splitlines()) != 1:
                self.fail(what, "exit code 2, but not one line on standard error", errors)
            return None
        try:
            answer = json.loads(done.stdout.decode())
        except ValueError as error:
            self.fail(what, f"no valid JSON: {error}", errors)
            return None
        answer["tasks"] = [row for row in answer["tasks"] if row["kind"] == "task"]
        if answer["complete"] != (done.returncode == 0):
            self.fail(what, f"exit code {done.returncode}, complete: {answer['complete']}")
        if not answer["complete"] and not answer["notes"]:
            self.fail(what, "incomplete, and no note says why")
        return answer

    def read_plans(self):
        """Sums of offsets from the last pointer on, by key of the layout."""
        done = self.start("info", "layout")
        return {row["key"]: [sum(int(n) for n in re.findall(r"\+(\d+)", part))
                             for part in row["plan"].split("*")]
                for row in json.loads(done.stdout)["layout"] if row["plan"] is not None}

    # ---- places

    def task(self, i):
        return int(self.base["tasks"][i]["addr"], 16)

    def trailer(self, task):
        at, offset = self.plans["task.trailer"]
        return task + self.memory.read(self.memory.read(task + at) + offset)

    def next_of(self, task):
        return self.trailer(task) + self.plans["task.next"][0]

    def shards(self):
        """Address of the slice of shards of the first runtime; None where there are none."""
        runtime = self.base["runtimes"][0]
        flavor = "mt" if runtime["flavor"] == "multi_thread" else "ct"
        if flavor + ".shards" not in self.plans:
            return None
        return (int(runtime["addr"], 16) - self.plans[flavor + ".shared"][-1] +
                self.plans[flavor + ".owned"][-1] + self.plans[flavor + ".shards"][0])

    # ---- expectations

    def expect(self, what, answer, ok, reason):
        if answer is None:
            self.fail(what, "no answer")
        elif not ok(answer):
            self.fail(what, reason, json.dumps(answer["notes"]))

    def others_unchanged(self, answer, changed):
        """All tasks but changed are shown as they are in the unchanged core."""
        shown = {task["addr"]: task for task in answer["tasks"]}
        return all(shown.get(task["addr"]) == task for task in self.base["tasks"]
                   if int(task["addr"], 16) != changed)

    # ---- the cases

    def list_with_a_cycle(self):
        """A task's link leads to itself, or that of the one behind it back to it."""
        for i in range(min(8, len(self.base["tasks"]))):
            task = self.task(i)
            follower = self.memory.read(self.next_of(task))
            for at in [self.next_of(task)] + ([self.next_of(follower)] if follower else []):
                what = f"list of tasks runs back from 0x{at:x} to 0x{task:x}"
                self.core.write(at, task)
                answer = self.run(what)
                self.core.undo()
                self.expect(what, answer, lambda a: not a["complete"] and len(a["notes"]) == 1,
                            "not one note")
                self.expect(what, answer, lambda a: any(
                    int(t["addr"], 16) == task for t in a["tasks"]), "the task itself is missing")

    def bad_vtable(self):
        heap = self.core.segment_of(self.task(0))
        for value in 0, 1, 8, 0xdead000, self.task(0), heap[1] - 8, 2**64 - 8, 2**63:
            for i in {0, len(self.base["tasks"]) - 1}:
                task = self.task(i)
                what = f"vtable of task 0x{task:x} is 0x{value:x}"
                self.core.write(task + self.plans["task.trailer"][0], value)
                answer = self.run(what)
                self.core.undo()
                self.expect(what, answer, lambda a: not a["complete"] and a["notes"],
                            "no note, or complete")
                self.expect(what, answer, lambda a: all(
                    int(t["addr"], 16) != task or t["problem"] for t in a["tasks"]),
                            "the task is shown without a problem")
                if self.lists_are_short():
                    self.expect(what, answer, lambda a: self.others_unchanged(a, task),
                                "another task changed")

    def lists_are_short(self):
        """No list holds two tasks."""
        return all(self.memory.read(self.next_of(self.task(i))) == 0
                   for i in range(len(self.base["tasks"])))

    def state_byte(self, task, root):
        """Where the coroutine at root has its state: found by trying."""
        low, high = 0, self.trailer(task) - root
        while high - low > 1:
            middle = (low + high) // 2
            self.core.put(self.core.offset_of(root + low), b"\xfe" * (middle - low))
            answer = self.run(f"bytes [{low}, {middle}) of the future at 0x{root:x}")
            self.core.undo()
            problem = next((t["root"]["problem"] for t in answer["tasks"]
                            if int(t["addr"], 16) == task and t["root"]), None) if answer else None
            if problem and "no variant 254" in problem and f"0x{root:x}" in problem:
                high = middle
            else:
                low = middle
        return root + low

    def impossible_state(self):
        for i in range(min(2, len(self.base["tasks"]))):
            task, root = self.base["tasks"][i], self.base["tasks"][i]["root"]
            if not root or root["state"] != "suspended" or root["dyn"]:
                continue
            at = self.state_byte(self.task(i), int(root["addr"], 16))
            for state in 0x7f, 0xff:
                what = f"state {state} of the future at {root['addr']}"
                self.core.write(at, state, 1)
                answer = self.run(what)
                self.core.undo()
                self.expect(what, answer, lambda a: not a["complete"] and any(
                    t["addr"] == task["addr"] and t["root"] and
                    f"no variant {state}" in (t["root"]["problem"] or "") for t in a["tasks"]),
                            "the task has no problem")
                self.expect(what, answer, lambda a: self.others_unchanged(a, self.task(i)),
                            "another task changed")

    def absurd_shards(self):
        shards = self.shards()
        if shards is None:
            return
        count = self.memory.read(shards + 8)
        assert 0 < count <= 65536, count
        for value in 0, count - 1, count + 1, 5000, 65536, 2**17, 2**17 + 1, 2**32, 2**64 - 1:
            self.core.write(shards + 8, value)
            answer = self.run(f"{value} shards")
            self.core.undo()
            if value > count:
                self.expect(f"{value} shards", answer,
                            lambda a: value == count + 1 or not a["complete"], "complete")
            if count < value <= 2**17:
                self.expect(f"{value} shards", answer,
                            lambda a: self.others_unchanged(a, 0), "tasks are missing")
                self.expect(f"{value} shards", answer, lambda a: len(a["notes"]) <= 100,
                            "a note for each shard")
        for value in 0, 1, 8, self.task(0), 2**64 - 16:
            self.core.write(shards, value)
            self.run(f"shards at 0x{value:x}")
            self.core.undo()

    def bad_handle(self):
        """Every pointer to the first runtime's handle leads elsewhere."""
        runtime = self.base["runtimes"][0]
        key = "mt.shared" if runtime["flavor"] == "multi_thread" else "ct.shared"
        handle = int(runtime["addr"], 16) - self.plans[key][-1]
        word = handle.to_bytes(8, "little")
        places = []
        for low, high, offset, _ in self.core.writable():
            data = self.core.at(offset, high - low)
            places += [low + i for i in range(0, len(data) - 7, 8) if data[i:i + 8] == word]
        # The first leads to a runtime at address 0.
        for value in -self.plans[key][-1], 0, 1, 2**64 - 8, self.task(0), handle + 8:
            for addr in places:
                self.core.write(addr, value)
            self.run(f"handle 0x{handle:x} is 0x{value & (2**64 - 1):x}")
            self.core.undo()

    def windows(self):
        """Where what is read lies: tasks, the runtime, stacks and thread-locals."""
        ret = []
        for i in range(min(64, len(self.base["tasks"]))):
            task, runtime = self.task(i), self.base["tasks"][i]["runtime"]
            tokio = self.base["runtimes"][runtime]["kind"] == "tokio"
            ret.append((task, self.trailer(task) + 64 if tokio else task + 128))
        for runtime in self.base["runtimes"]:
            ret.append((int(runtime["addr"], 16) - 128, int(runtime["addr"], 16) + 1200))
        return ret

    def place(self, rng, windows):
        if rng.random() < 0.7:
            low, high = rng.choice(windows)
        else:
            low, high = rng.choice(self.core.writable())[:2]
        return rng.randrange(low, high)

    def spoil_bytes(self, rng, windows):
        for _ in range(rng.choice((1, 2, 8, 64))):
            offset = self.core.offset_of(self.place(rng, windows))
            if offset is not None:
                self.core.put(offset, bytes([rng.randrange(256)]))

    def spoil_pointers(self, rng, windows):
        """Pointers lead to other places that exist: circles, and one type for another."""
        heap = self.core.segment_of(self.task(0))
        for _ in range(rng.choice((1, 2, 8, 32))):
            low, high = rng.choice(windows)
            words = [addr for addr in range(low // 8 * 8, high, 8)
                     if self.core.offset_of(addr) is not None and
                     self.core.segment_of(self.memory.read(addr))]
            if not words:
                continue
            goal = rng.choice((self.memory.read(rng.choice(words)), rng.choice(words),
                               rng.choice(windows)[0], rng.randrange(heap[0], heap[1]) // 8 * 8))
            self.core.write(rng.choice(words), goal)

    def random_memory(self, first, count):
        windows = self.windows()
        for seed in range(first, first + count):
            rng = random.Random(seed)
            (self.spoil_pointers if seed % 2 else self.spoil_bytes)(rng, windows)
            self.run(f"memory, seed {seed}")
            self.core.undo()

    def truncated(self):
        size = self.core.size()
        whole = self.core.at(0, size)
        for keep in [0, 1, 63, 64, 100, 4096] + [size * i // 16 for i in range(1, 16)] + [size - 1]:
            os.truncate(self.core.path, keep)
            self.run(f"the first {keep} bytes of the core")
            with open(self.core.path, "r+b") as file:
                file.write(whole)

    def random_sections(self, first, count):
        sections = self.exe.sections()
        wanted = [name for name in (".debug_info", ".debug_abbrev", ".debug_line", ".debug_aranges",
                                    ".debug_str", ".debug_ranges", ".debug_loc", ".eh_frame",
                                    ".symtab") if name in sections]
        for seed in range(first, first + count):
            for name in wanted:
                rng = random.Random(f"{seed} {name}")
                offset, size = sections[name]
                flips = rng.choice((1, 4, 32, 1000, size // 97 + 1))
                for _ in range(min(flips, 20000)):
                    self.exe.put(offset + rng.randrange(size), bytes([rng.randrange(256)]))
                self.run(f"{name}, seed {seed}")
                self.exe.undo()


def main():
    asyncdbg, core, exe, seeds, first, work = sys.argv[1:7]
    only = sys.argv[7:]
    hostile = Hostile(asyncdbg, core, exe, work)
    seeds, first = int(seeds), int(first)
    cases = {
        "cycle": hostile.list_with_a_cycle,
        "vtable": hostile.bad_vtable,
        "state": hostile.impossible_state,
        "shards": hostile.absurd_shards,
        "handle": hostile.bad_handle,
        "truncated": hostile.truncated,
        "memory": lambda: hostile.random_memory(first, seeds),
        "sections": lambda: hostile.random_sections(first, (seeds + 9) // 10),
    }
    for name, case in cases.items():
        if not only or name in only:
            case()
    print(f"{hostile.cases} cases, {hostile.failures} failures, slowest "
          f"{hostile.slowest[0]:.1f} s ({hostile.slowest[1]})")
    sys.exit(1 if hostile.failures else 0)


main()
