#!/usr/bin/python3
"""Asks asyncdbg what the addresses in its own backtraces belong to.

usage: check_whatis.py ASYNCDBG --fixture NAME
       check_whatis.py ASYNCDBG OPTION...          (-p PID, or -c CORE --exe FILE)
       check_whatis.py --self-test

Takes the addresses of tasks, futures, runtimes, waits and native frames from the documents of
"async backtrace all" and "threads", and compares the answers of "whatis" with where each is from.
"""

import json
import os
import subprocess
import sys
import tempfile

TESTDATA = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COROUTINES = ("async_fn", "async_block", "async_closure")
# Of each sort: a fixture may have hundreds.
LIMIT = 40


def walk(future):
    if future:
        yield future
        for child in future["children"]:
            yield from walk(child)


class Expectation:
    """That some place has these keys and these words in its phrase, and the first is of a sort."""

    def __init__(self, addr, where, words=(), first=None, **keys):
        self.addr = addr
        self.where = where
        self.words = words
        self.first = first
        self.keys = keys

    def difference(self, places):
        def fits(place):
            return all(place[key] == value for key, value in self.keys.items()) and all(
                word in place["phrase"] for word in self.words
            )

        if self.first and (not places or places[0]["what"] not in self.first):
            return "{} {}: begins with {}".format(self.addr, self.where, places[:1])
        if not any(map(fits, places)):
            said = "; ".join(place["phrase"] for place in places)
            return "{} {}: {} {} is not in: {}".format(
                self.addr, self.where, self.keys, list(self.words), said or "nothing"
            )
        return None


def shifted(addr, by):
    return hex(int(addr, 16) + by)


def of_tree(root, task, thread):
    """Futures without size are nowhere, but a coroutine has at least its state."""
    memory = ("heap", "memory", "stack", "static", "module")
    for future in walk(root):
        if future["addr"] and future["kind"] in COROUTINES:
            yield Expectation(
                future["addr"], "future", what="future", task=task, thread=thread, first=memory,
                words=["future frame #{} {} of ".format(future["number"], future["function"])],
            )
        if future["wait"] and future["wait"]["object"]:
            yield Expectation(future["wait"]["object"], "wait", words=["waited for by "])


def expectations(backtraces, threads):
    kinds = {runtime["index"]: runtime.get("kind", "tokio") for runtime in backtraces["runtimes"]}
    for task in backtraces["tasks"]:
        if task["problem"] or task.get("kind", "task") != "task":
            continue
        cell = "cell of task {}, +{{}} in it: its header"
        if kinds.get(task.get("runtime"), "tokio") != "tokio":
            cell = "of task {}"
        cell = cell.format(task["id"])
        for offset in (0, 16):
            yield Expectation(
                shifted(task["addr"], offset), "task", what="task", task=task["id"],
                words=[cell.format(offset)], first=("heap", "memory"),
            )
        yield from of_tree(task["root"], task["id"], None)
    for thread in backtraces["threads"]:
        yield from of_tree(thread["root"], None, thread["number"])
        if thread.get("wait") and thread["wait"]["object"]:
            yield Expectation(thread["wait"]["object"], "thread's wait", words=["waited for by "])
    for runtime in backtraces["runtimes"]:
        if not runtime["addr"]:
            continue  # its crate keeps no object that tasks refer to
        yield Expectation(
            runtime["addr"], "runtime", what="runtime",
            words=[" of runtime {}".format(runtime["index"])],
        )
    for thread in threads["threads"]:
        # Other frames have return addresses, which may begin the next function.
        for frame in thread.get("frames", [])[:1]:
            if frame["module"]:
                yield Expectation(
                    frame["pc"], "pc", what="module", words=["module " + frame["module"]],
                    first=("module",),
                )
            if frame["file"] and frame["function"]:
                yield Expectation(
                    frame["pc"], "pc", what="function", words=["function " + frame["function"]]
                )
    yield Expectation("0x10", "nowhere", what="unmapped")


def sample(all_of_them):
    seen = {}
    for one in all_of_them:
        seen[one.where] = seen.get(one.where, 0) + 1
        if seen[one.where] <= LIMIT:
            yield one


def documents(text):
    decoder = json.JSONDecoder()
    while text.strip():
        text = text.lstrip()
        document, end = decoder.raw_decode(text)
        yield document
        text = text[end:]


def ask(asyncdbg, options, commands):
    done = subprocess.run(
        [asyncdbg, *options, "--json", "-x", "-"], input="\n".join(commands) + "\n",
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=600,
        check=False,
    )
    found = list(documents(done.stdout))
    if len(found) != len(commands):
        raise ValueError(
            "{} answers to {} commands: {}".format(len(found), len(commands), done.stderr[-500:])
        )
    return found


def compare(asyncdbg, options):
    backtraces, threads = ask(asyncdbg, options, ["async backtrace all", "threads"])
    wanted = list(sample(expectations(backtraces, threads)))
    answers = ask(asyncdbg, options, ["whatis " + one.addr for one in wanted])
    differences = []
    for one, answer in zip(wanted, answers):
        difference = one.difference(answer["places"])
        if difference:
            differences.append(difference)
    sorts = {one.where for one in wanted}
    return differences, len(wanted), sorts


def with_fixture(asyncdbg, name):
    with tempfile.TemporaryDirectory() as work:
        target = []
        for option, part in (("-c", "core"), ("--exe", "exe"), ("--layout", "layout")):
            packed = os.path.join(TESTDATA, "fixtures", "{}.{}.zst".format(name, part))
            unpacked = os.path.join(work, part)
            if part != "layout" or os.path.exists(packed):
                subprocess.run(["zstd", "-qdf", packed, "-o", unpacked], check=True)
                target += [option, unpacked]
        os.environ["XDG_CACHE_HOME"] = os.path.join(work, "cache")
        first, *_ = compare(asyncdbg, target)
        again, count, sorts = compare(asyncdbg, target)
        return first + again, count, sorts


def self_test():
    """Each expectation is met by its own answer and by no other."""
    def place(what, phrase, task=None, thread=None):
        return {"what": what, "phrase": phrase, "task": task, "thread": thread, "addr": "0x1"}

    child = {
        "addr": "0x30", "kind": "async_fn", "number": 1, "function": "app::b", "children": [],
        "wait": {"object": "0x50"},
    }
    root = dict(child, addr="0x20", number=0, function="app::a", wait=None, children=[child])
    frame = {"pc": "0x90", "module": "app", "file": "main.rs", "function": "app::spin"}
    backtraces = {
        "tasks": [{"id": "5", "kind": "task", "addr": "0x10", "root": root, "problem": None}],
        "threads": [{"number": 2, "root": None, "wait": {"object": "0x60"}}],
        "runtimes": [{"addr": "0x70", "index": 0}],
    }
    threads = {"threads": [{"frames": [frame]}]}
    heap = place("heap", "heap")
    module = place("module", "module app, +0x1 in it")
    answers = [
        ("0x10", [heap, place("task", "cell of task 5, +0 in it: its header: state", "5")]),
        ("0x20", [heap, place("task", "cell of task 5, +16 in it: its header: vtable", "5")]),
        ("0x20", [heap, place("future", "future frame #0 app::a of task 5: x", "5")]),
        ("0x30", [heap, place("future", "future frame #1 app::b of task 5", "5")]),
        ("0x50", [heap, place("lock", "waited for by task 5: mutex lock", "5")]),
        ("0x60", [heap, place("lock", "waited for by thread #2: std Mutex lock", None, 2)]),
        ("0x70", [heap, place("runtime", "handle of runtime 0, +8 in it")]),
        ("0x90", [module]),
        ("0x90", [module, place("function", "function app::spin at main.rs:1")]),
        ("0x10", [place("unmapped", "nothing is mapped")]),
    ]
    wanted = list(expectations(backtraces, threads))
    failures = int([one.addr for one in wanted] != [addr for addr, places in answers])
    for one, (_, places) in zip(wanted, answers):
        failures += one.difference(places) is not None
        failures += one.difference(places[:-1]) is None
        failures += one.difference([]) is None
        if one.first:
            failures += one.difference(places[1:]) is None
    if len(list(documents('{"a": 1}\n{"b": 2}\n'))) != 2:
        failures += 1
    print("self-test: {}".format("failed" if failures else "{} cases ok".format(len(wanted))))
    return 1 if failures else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    asyncdbg = os.path.abspath(sys.argv[1])
    if sys.argv[2] == "--fixture":
        differences, count, sorts = with_fixture(asyncdbg, sys.argv[3])
    else:
        differences, count, sorts = compare(asyncdbg, sys.argv[2:])
    for difference in differences:
        print(difference)
    # A program without tasks would make the test one that cannot fail.
    if "task" not in sorts:
        print("no task to ask for")
        return 1
    if not differences:
        print("ok: {} addresses, {}".format(count, ", ".join(sorted(sorts))))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
