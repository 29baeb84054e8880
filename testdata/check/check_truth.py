#!/usr/bin/python3
"""Compares what asyncdbg says about a program with what the program says about itself.

The document is the output of "asyncdbg --json ... async backtrace all"; the truth is the line
that a test program prints after "ready" (a file with other lines before it is fine too).
Exit status: 0 and one line when they agree, 1 and a line for each difference when not, 2 when
there is nothing to compare.
"""

import argparse
import datetime
import collections
import json
import re
import sys

COROUTINES = ("async_fn", "async_block", "async_closure")
ALIVE = ("idle", "scheduled", "running")
# Waits that store no waker.
SILENT = {"pending", "nothing"}
# What the kernel tells of a wait, and a core not.
LIVE_KEYS = ("local", "peer", "fd")


def walk(future):
    """The futures from a root along the first child each."""
    while future:
        yield future
        future = (future.get("children") or [None])[0]


def as_debug(value):
    """The value without what `{:?}` does not print: where an Instant lies from now."""
    return re.sub(r"(tv_nsec: \d+), (?:in |at )?[^{}]*seconds(?: ago)? }", r"\1 }", value or "")


def readable(text):
    """What asyncdbg makes of the `{:?}` of a SystemTime."""
    found = re.fullmatch(r"SystemTime { tv_sec: (\d+), tv_nsec: (\d+) }", text)
    if not found:
        return text
    when = datetime.datetime.fromtimestamp(int(found[1]), datetime.timezone.utc)
    fraction = ".{:09}".format(int(found[2])) if int(found[2]) else ""
    return when.strftime("%Y-%m-%dT%H:%M:%S") + fraction + "Z"


def walk_all(future):
    """Every future of a tree."""
    if future:
        yield future
        for child in future.get("children") or []:
            yield from walk_all(child)


def leaves(future):
    """What a task waits for: the ends of all branches that are polled."""
    children = future.get("children") or [] if future else []
    polled = [child for child in children if child.get("branch", "polled") == "polled"]
    if future and not polled:
        yield future
    for child in polled:
        yield from leaves(child)


def crates_of(function):
    """Its crate; of "<a::T as b::Tr>::f" those of type and trait: the impl is in one of them."""
    head = re.match(r"<(\w+)::.*? as (\w+)::", function)
    return set(head.groups()) if head else {function.split("::", 1)[0]}


def show(items):
    return " -> ".join(str(item) for item in items) or "nothing"


class Tree:
    """The program's own coroutines in a tree of futures, compared with a tree of the truth.

    What libraries put between two of them is left out; of its edges the first that tells
    something counts. A branch that has no coroutine of the program is a node without function;
    what is held is one only where the truth has such nodes too.
    """

    PLAIN = ("await", "next", "holds", "deadline", None)
    BRANCHES = ("select arm ", "join arm ", "set")

    def __init__(self, crates, lines=True):
        self.crates = crates
        self.lines = lines
        self.differences = []

    def is_own(self, future):
        return (
            future.get("kind") in COROUTINES
            and future.get("function")
            and crates_of(future["function"]) & self.crates
        )

    def nodes(self, future, edge="await", branch="polled", notes=()):
        """The own coroutines nearest to this future, itself included."""
        notes += (future.get("note"),)
        if edge in self.PLAIN:
            edge = future.get("edge") or "await"
        if branch == "polled":
            branch = future.get("branch", "polled")
        if self.is_own(future):
            return [(edge, branch, dict(future, notes=notes))]
        found = []
        for child in future.get("children") or []:
            found += self.nodes(child, edge, branch, notes)
        if not found and (branch == "held" or edge.startswith(self.BRANCHES)):
            found = [(edge, branch, None)]
        return found

    def below(self, future):
        found = []
        for child in future.get("children") or []:
            found += self.nodes(child)
        return found

    def differ(self, path, text, *args):
        self.differences.append("{}: {}".format(show(path), text.format(*args)))

    @staticmethod
    def describe(edge, branch, function):
        return "{}{} ({})".format(
            edge, "" if branch in ("polled", edge) else ", " + branch, function or "a library's"
        )

    def fits(self, want, node):
        """Can this node be the wanted one, as seen without its children?"""
        edge, branch, future = node
        if want["branch"] != branch:
            return False
        if want["edge"] is not None and not (
            want["edge"] == edge or (want["edge"] in self.PLAIN and edge in self.PLAIN)
        ):
            return False
        # Of a finished branch the output is left; some types still tell what it was.
        if branch in ("done", "gone") and want["function"] is None:
            return True
        return want["function"] == (future and future["function"])

    def compare_root(self, want, root):
        found = self.nodes(root) if root else []
        self.compare_children([], [want], found)
        return self.differences

    def compare(self, path, want, future):
        if self.lines and want["line"] is not None and future.get("line") != want["line"]:
            self.differ(path, "is at line {}, not {}", future.get("line"), want["line"])
        if want["state"] is not None and future.get("state") != want["state"]:
            self.differ(path, "is {}, not {}", future.get("state"), want["state"])
        if want.get("note") == "" and any("moved" in note for note in future["notes"] if note):
            self.differ(path, "it is said to be moved perhaps")
        if want.get("note") and want["note"] not in future["notes"]:
            notes = filter(None, future["notes"])
            self.differ(path, "its notes are {}, not {}", show(notes), want["note"])
        if want["branch"] != "done":
            self.compare_children(path, want["children"], self.below(future))

    def matches(self, want, node):
        """Does this node agree with all of the wanted one?"""
        if not self.fits(want, node):
            return False
        if want["function"] is None or node[2] is None:
            return True
        trial = Tree(self.crates, self.lines)
        trial.compare([], want, node[2])
        return not trial.differences

    @staticmethod
    def is_held_of_library(want):
        return want["branch"] == "held" and want["function"] is None

    def compare_children(self, path, wanted, found):
        wanted = [want for want in wanted for _ in range(want.get("count", 1))]
        if not any(map(self.is_held_of_library, wanted)):
            found = [node for node in found if node[1] != "held" or node[2]]
        order = [edge for edge, _, _ in found if edge.startswith(("select arm ", "join arm "))]
        if order != sorted(order, key=lambda edge: int(edge.rsplit(" ", 1)[1])):
            self.differ(path, "its arms are not in order: {}", show(order))
        # Those that agree first, so that those that do not are reported against the rest.
        rest, found = [], list(found)
        for want in wanted:
            node = next((node for node in found if self.matches(want, node)), None)
            if node:
                found.remove(node)
            else:
                rest.append(want)
        for want in rest:
            node = next((node for node in found if self.fits(want, node)), None)
            if node:
                found.remove(node)
                self.compare(path + [want["function"]], want, node[2])
                continue
            said = self.describe(want["edge"] or "any edge", want["branch"], want["function"])
            self.differ(path, "no {}", said)
        for edge, branch, future in found:
            said = self.describe(edge, branch, future and future["function"])
            self.differ(path, "there should be no {}", said)


class Comparison:
    def __init__(self, document, truth, lines=True, with_locals=False, incomplete=False):
        self.with_locals = with_locals
        self.may_be_incomplete = incomplete
        # Blocking jobs have no tree: check_blocking() compares them.
        rows = document.get("tasks", [])
        self.jobs = [row for row in rows if row.get("kind") == "blocking"]
        self.has_kinds = any("kind" in row for row in rows)
        self.document = dict(document, tasks=[row for row in rows if row.get("kind") != "blocking"])
        self.truth = truth
        self.compare_lines = lines
        reason = document.get("target", {}).get("debug_info_reason")
        self.by_layout = (reason or "").startswith("from the layout file")
        self.differences = []
        rows = truth.get("tasks", []) + truth.get("block_on", [])
        names = [name for row in rows for name in row["chain"] if name[0] != "<"]
        self.crates = set().union({truth.get("program")}, *map(crates_of, names))
        # Where the truth's runtimes are in the document, known from their tasks.
        self.indexes = {}

    def differ(self, text, *args):
        self.differences.append(text.format(*args))

    def run(self):
        complete = self.document.get("complete", True) or self.lacks_places()
        if not complete and not self.may_be_incomplete:
            self.differ("incomplete: {}", "; ".join(map(str, self.document.get("notes", []))))
        if "tasks" not in self.truth:
            self.check_number()
            return self.differences
        self.check_runtimes()
        self.check_tasks()
        self.check_gone()
        self.check_block_on()
        self.check_blocking()
        self.check_workers()
        self.check_queues()
        if "threads" in self.truth:
            self.check_blocked()
        return self.differences

    def lacks_places(self):
        """A layout file has no variables of native frames, which place the futures of block_on."""
        roots = [thread["root"] for thread in self.document.get("threads", []) if thread.get("root")]
        notes = self.document.get("notes", [])
        return (
            self.by_layout
            and any(root.get("problem") for root in roots)
            and all(note.startswith("a layout file describes") for note in notes)
        )

    def summary(self):
        tasks = len(self.document.get("tasks", []))
        runtimes = len(self.document.get("runtimes", []))
        return "ok: {} tasks, {} runtimes".format(tasks, runtimes)

    def check_number(self):
        """A truth that counts tasks and says no more."""
        want = self.truth["num_alive_tasks"]
        counted = sum(runtime["tasks"] for runtime in self.document["runtimes"])
        listed = sum(task["state"] in ALIVE for task in self.document["tasks"])
        if counted != want:
            self.differ("the runtimes have {} tasks, not {}", counted, want)
        if listed != want:
            self.differ("{} live tasks are listed, not {}", listed, want)

    def check_runtimes(self):
        def key(runtime):
            # A current_thread runtime has one worker or none, as one likes.
            multi = runtime["flavor"] == "multi_thread"
            workers = runtime.get("workers") if multi else None
            kind = runtime.get("kind", "tokio")
            return runtime["flavor"], workers, runtime["tasks"], runtime.get("name"), kind

        def text(found):
            return "{} {} runtime {!r} with {} workers and {} tasks".format(
                found[4], found[0], found[3], found[1], found[2]
            )

        want = collections.Counter(map(key, self.truth["runtimes"]))
        have = collections.Counter(map(key, self.document["runtimes"]))
        for missing in sorted((want - have).elements(), key=str):
            self.differ("no {}", text(missing))
        for surplus in sorted((have - want).elements(), key=str):
            self.differ("there should be no {}", text(surplus))
        self.check_local_tasks()

    def check_local_tasks(self):
        """Tasks of LocalSets are in no list of a runtime, and are counted beside it."""
        counted = [runtime.get("local_set_tasks") for runtime in self.document["runtimes"]]
        if None in counted:
            return
        counted.append(self.document.get("undriven_tasks", 0))
        want = sum(row["count"] for row in self.truth["tasks"] if row["runtime"] is None)
        if sum(counted) != want:
            self.differ("LocalSets have {} tasks, not {}", sum(counted), want)

    def own_coroutines(self, root):
        """The coroutines of the program itself: which ones a library has, its version decides."""
        return [
            future
            for future in walk(root)
            if future.get("kind") in COROUTINES and crates_of(future["function"]) & self.crates
        ]

    def chain(self, root):
        return [future["function"] for future in self.own_coroutines(root)]

    def check_tasks(self):
        rows = {task["id"]: task for task in self.document["tasks"]}
        if len(rows) != len(self.document["tasks"]):
            ids = collections.Counter(task["id"] for task in self.document["tasks"])
            self.differ("listed twice: {}", show(i for i, n in ids.items() if n > 1))
        anonymous = []
        runtimes = {}
        for want in self.truth["tasks"]:
            ids = want.get("ids") or [want.get("id")]
            for task_id in ids + [None] * (want["count"] - len(ids)):
                if task_id is None:
                    anonymous.append(want)
                    continue
                row = rows.pop(task_id, None)
                if row is None:
                    self.differ("task {} is missing", task_id)
                    continue
                self.check_task(want, row)
                # A LocalSet's tasks belong to no runtime.
                if want.get("runtime") is not None:
                    runtimes.setdefault(want["runtime"], set()).add(row.get("runtime"))
        for own, theirs in runtimes.items():
            if len(theirs) != 1:
                self.differ("tasks of runtime {} are on {}", own, show(sorted(theirs, key=str)))
        if len(set().union(*runtimes.values(), set())) < len(runtimes):
            self.differ("tasks of {} runtimes are mixed up", len(runtimes))
        self.indexes = {own: min(theirs, key=str) for own, theirs in runtimes.items()}
        self.match_anonymous(anonymous, [row for row in rows.values() if row["state"] in ALIVE])

    def match_anonymous(self, wanted, rows):
        """Tasks whose ids the program does not know are identified by what they do."""
        for want in wanted:
            for row in rows:
                if row["state"] == want["state"] and self.chain(row.get("root")) == want["chain"]:
                    rows.remove(row)
                    self.check_task(want, row)
                    break
            else:
                self.differ("no {} task with {}", want["state"], show(want["chain"]))
        for row in rows:
            self.differ("task {} should not be there: {}", row["id"], row.get("type"))

    def check_task(self, want, row):
        name = "task {}".format(row["id"])
        if row["state"] != want["state"]:
            self.differ("{} is {}, not {}", name, row["state"], want["state"])
        if "undriven" in want and (row.get("runtime") is None) != want["undriven"]:
            self.differ("{} is said to be driven by runtime {}", name, row.get("runtime"))
        root = row.get("root")
        if want.get("tree"):
            self.check_tree(name, want["tree"], root)
        else:
            self.check_chain(name, want, root)
        if want["state"] == row["state"] == "idle":
            self.check_armed(name, want, root, row.get("wakers"))
        if want["state"] == "idle" and not want.get("tree"):
            for future in self.own_coroutines(root):
                if future.get("state") != "suspended":
                    self.differ("{}: {} is {}", name, future["function"], future.get("state"))
        self.check_defined(name, row)
        if want.get("leaf"):
            self.check_leaf(name, want["leaf"], root)
        for wait in want.get("beside", []):
            self.check_beside(name, wait, root)
        if "leaves" in want:
            self.check_leaves(name, want["leaves"], root)
        for key, property in want.get("properties", {}).items():
            self.check_property(name, key, property, root)
        if self.with_locals:
            for function, variables in want.get("locals", {}).items():
                self.check_locals(name, function, variables, root)

    def check_armed(self, name, want, root, wakers):
        """What a task waits for has its waker, unless the truth denies that."""
        waits = [wait for wait in [want.get("leaf"), *want.get("beside", [])] if wait]
        unarmed = {wait["kind"] for wait in waits if wait.get("armed") == "no"}
        have = [future.get("wait") or {} for future in leaves(root)]
        for wait in have:
            denied = wait.get("registered") is False or wait.get("kind") in unarmed | SILENT
            if wait.get("armed") == "no" and not denied:
                self.differ("{}: its waker is not stored in {}", name, wait["kind"])
        if wakers == 0 and any(wait.get("armed") != "no" for wait in have):
            self.differ("{} has no waker, but waits for {}", name, show(w.get("kind") for w in have))

    def check_defined(self, name, row):
        """An async fn or block begins at or before the line at which it awaits."""
        root, at = row.get("root"), row.get("defined_at")
        if "defined_at" not in row or not root or root["kind"] == "future":
            return
        if root.get("uncertain") or root.get("aliases"):
            return
        if at is None:
            self.differ("{}: where {} is defined is not reported", name, root["function"])
        elif at["file"] == root.get("file") and at["line"] > (root.get("line") or at["line"]):
            self.differ("{} is at line {}, defined at {}", name, root["line"], at["line"])

    def check_locals(self, name, function, variables, root):
        frames = [future for future in walk_all(root) if future["function"] == function]
        if len(frames) != 1:
            self.differ("{} has {} frames of {}", name, len(frames), function)
            return
        rows = {}
        for row in frames[0].get("locals") or []:
            if row.get("problem") is None and row["name"] not in rows:
                rows[row["name"]] = row
        for variable, text in variables.items():
            row = rows.get(variable)
            if text is None:
                if row is not None and not row.get("uncertain"):
                    self.differ(
                        "{}: {}: {} is gone, but shown as {}",
                        name, function, variable, row.get("value"),
                    )
            elif row is None:
                self.differ("{}: {}: {} is not shown", name, function, variable)
            elif as_debug(row.get("value")) != readable(text):
                self.differ(
                    "{}: {}: {} is {}, not {}", name, function, variable, row.get("value"), text
                )

    def check_chain(self, name, want, root):
        found = self.own_coroutines(root)
        functions = [future["function"] for future in found]
        if functions != want["chain"]:
            self.differ("{} has {}, not {}", name, show(functions), show(want["chain"]))
            return
        if not self.compare_lines:
            return
        files = want.get("files") or [None] * len(found)
        for future, line, file in zip(found, want["lines"], files):
            # A layout file has no lines of what runs, nor of what it does not place.
            unknown = future.get("running") or future.get("problem")
            if self.by_layout and unknown and future.get("line") is None:
                continue
            if line is not None and future.get("line") != line:
                self.differ(
                    "{}: {} is at line {}, not {}",
                    name, future["function"], future.get("line"), line,
                )
            if file is not None and not (future.get("file") or "").endswith(file):
                self.differ(
                    "{}: {} is in {}, not {}", name, future["function"], future.get("file"), file
                )

    def check_tree(self, name, want, root):
        tree = Tree(self.crates, self.compare_lines)
        for difference in tree.compare_root(want, root):
            self.differ("{}: {}", name, difference)

    def check_leaf(self, name, want, root):
        waits = [future["wait"] for future in walk(root) if future.get("wait")]
        have = waits[-1] if waits else {"kind": None}
        if have["kind"] != want["kind"]:
            self.differ("{} waits for {}, not {}", name, have["kind"], want["kind"])
        elif want.get("task") is not None and have.get("task") != want["task"]:
            self.differ("{} joins task {}, not {}", name, have.get("task"), want["task"])
        else:
            is_core = self.document.get("target", {}).get("kind") == "core"
            for key in want.keys() - {"kind", "task"}:
                if is_core and key in LIVE_KEYS and key not in have:
                    continue
                if have.get(key) != want[key]:
                    self.differ("{}: {} is {}, not {}", name, key, have.get(key), want[key])

    def check_leaves(self, name, number, root):
        kinds = [(future.get("wait") or {}).get("kind") for future in leaves(root)]
        if len(kinds) != number:
            self.differ("{} waits for {}, which are not {}", name, show(kinds), number)

    def check_beside(self, name, want, root):
        is_core = self.document.get("target", {}).get("kind") == "core"
        for future in walk_all(root):
            have = future.get("wait") or {}
            known = {key for key in want if not is_core or key not in LIVE_KEYS or key in have}
            if all(have.get(key) == want[key] for key in known):
                return
        self.differ("{}: no branch waits for {}", name, want)

    def check_property(self, name, key, want, root):
        """A property that one of the task's futures has; None: that no future of it may have."""
        have = [properties[key] for properties in (future.get("properties") or {} for future in walk_all(root))
                if key in properties]
        if (want is None and have) or (want is not None and want not in have):
            self.differ("{}: {} is {}, not {}", name, key, show(have), want)

    def check_gone(self):
        gone = {task_id for task_id in self.truth.get("gone", []) if task_id is not None}
        for row in self.document["tasks"]:
            if row["id"] in gone and row["state"] in ALIVE:
                self.differ("task {} has ended but is {}", row["id"], row["state"])

    def threads(self, role):
        return [thread for thread in self.document["threads"] if thread.get("role") == role]

    def check_block_on(self):
        # A job of the blocking pool may drive a future too; what else it runs is its own.
        surplus = self.threads("block_on")
        found = surplus + [thread for thread in self.threads("blocking") if thread.get("root")]
        for want in self.truth["block_on"]:
            for thread in found:
                if self.chain(thread.get("root")) == want["chain"]:
                    break
            else:
                self.differ("no thread blocks on {}", show(want["chain"]))
                continue
            found.remove(thread)
            surplus = [other for other in surplus if other is not thread]
            name = "thread {}".format(thread["number"])
            self.check_chain(name, want, thread["root"])
            if want.get("leaf"):
                self.check_leaf(name, want["leaf"], thread["root"])
        for thread in surplus:
            self.differ(
                "thread {} should not block on {}",
                thread["number"], show(self.chain(thread.get("root"))),
            )

    def check_blocking(self):
        def running(thread):
            return (thread.get("state") or "").startswith("running")

        found = [thread for thread in self.threads("blocking") if running(thread)]
        for want in self.truth["blocking"]:
            function = want.get("function")
            named = [t for t in found if function is None or function in json.dumps(t)]
            if named:
                found.remove(named[0])
            # A job that drives a future may be listed as a thread in block_on instead.
            elif not want.get("block_on"):
                self.differ("no thread of the blocking pool runs {}", function or "a job")
        for thread in found:
            self.differ("thread {} should not run a blocking job", thread["number"])
        self.check_jobs()

    def check_jobs(self):
        """The rows of blocking jobs agree with threads, and with the handles that wait for jobs."""
        have = {(row["thread"], row["job"]) for row in self.jobs if row["state"] == "running"}
        want = {(t["number"], t["job"]) for t in self.document["threads"] if t.get("job")}
        if self.has_kinds and have != want:
            self.differ("rows of running jobs: {}, threads: {}", have, want)
        ahead = {row["id"]: row["ahead"] for row in self.jobs if row["state"] == "scheduled"}
        waits = [leaf["wait"] for task in self.document["tasks"]
                 for leaf in leaves(task.get("root")) if leaf.get("wait")]
        for wait in waits:
            if wait.get("ahead") is None or not wait.get("job"):
                continue
            if ahead.get(wait["task"]) != wait["ahead"]:
                self.differ("the row of job {} has {} ahead, its handle {}", wait["task"],
                            ahead.get(wait["task"]), wait["ahead"])

    def check_workers(self):
        want = self.truth["workers_running"]
        # The only worker of a current_thread runtime is the thread in its block_on.
        threads = self.threads("worker") + self.threads("block_on")
        have = [t["task"] for t in threads if t.get("task") is not None]
        if None in want:
            if len(have) != len(want):
                self.differ("{} workers run a task, not {}", len(have), len(want))
        elif sorted(have) != sorted(want):
            self.differ("workers run {}, not {}", show(sorted(have)), show(sorted(want)))

    def is_kind(self, wait, kind):
        """A layout file knows no functions of std, and so of a lock only the system call."""
        return wait["kind"] == kind or (self.by_layout and wait["kind"] == "syscall")

    def check_blocked(self):
        """What each thread sits in that should be polling or working."""
        found = [thread for thread in self.document["threads"] if thread.get("wait")]
        for want in self.truth["threads"]:
            for thread in found:
                wait = thread["wait"]
                # An address may be unknown, but not another's.
                if (
                    self.is_kind(wait, want["kind"]) and thread.get("task") == want.get("task")
                    and (wait.get("object") is None or want.get("object") is None
                         or int(wait["object"], 16) == int(want["object"], 16))
                ):
                    found.remove(thread)
                    break
            else:
                self.differ("no thread with task {} sits in {}", want.get("task"), want["kind"])
        for thread in found:
            self.differ(
                "thread {} should not sit in {} ({})",
                thread["number"], thread["wait"]["kind"], thread["wait"].get("phrase"),
            )

    def check_queues(self):
        rows = {runtime.get("index"): runtime for runtime in self.document["runtimes"]}
        for own, want in enumerate(self.truth["runtimes"]):
            index = self.indexes.get(own)
            if want.get("local_queues") is None or index not in rows:
                continue
            workers = [t for t in self.threads("worker") if t.get("runtime") == index]
            local = sum(worker.get("queue_len") or 0 for worker in workers)
            injected = rows[index].get("injection_queue_len")
            if local != want["local_queues"]:
                self.differ("{} tasks are queued at workers, not {}", local, want["local_queues"])
            if injected != want["injection_queue"]:
                self.differ("{} tasks are injected, not {}", injected, want["injection_queue"])


def validate(document, schema):
    """Differences between a document and its JSON schema."""
    # Only needed with --schema: python3-jsonschema.
    import jsonschema

    validator = jsonschema.validators.validator_for(schema)(schema)
    for error in sorted(validator.iter_errors(document), key=lambda error: str(error.path)):
        # Of "any of these", the alternative that came furthest says what is wrong.
        while error.context:
            error = max(error.context, key=lambda inner: len(inner.absolute_path))
        place = "/".join(map(str, error.absolute_path))
        yield "schema: {}: {}".format(place, error.message[-200:])


def task_keys(truth):
    """By the address of each task without an id, which is all that a program knows: its key."""
    return {
        number: "{}:{}".format(truth["runtimes"][task["runtime"]]["kind"], number)
        for task in truth.get("tasks", [])
        for number in task.get("ids") or [task["id"]]
        if number and number.startswith("0x")
    }


def with_keys(truth, keys):
    """The truth with keys instead of addresses of tasks."""
    if isinstance(truth, dict):
        return {
            name: value if name in ("object", "addr") else with_keys(value, keys)
            for name, value in truth.items()
        }
    if isinstance(truth, list):
        return [with_keys(value, keys) for value in truth]
    return keys.get(truth, truth) if isinstance(truth, str) else truth


def read_truth(path):
    with open(path, encoding="utf-8") as file:
        # A loaded server says "held" before it.
        lines = [line[line.index("{") :] for line in file if "{" in line]
    if not lines:
        raise ValueError("no truth in it")
    truth = json.loads(lines[-1])
    return with_keys(truth, task_keys(truth))


def read_document(path):
    if path == "-":
        return json.load(sys.stdin)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def tree_self_test(expect):
    """Like self_test(), of one task with a tree; expect(what, differences, wanted). How many."""

    def node(function, edge="await", branch="polled", line=None, children=(), **more):
        row = {
            "function": function, "edge": edge, "branch": branch, "state": None, "line": line,
            "note": None, "count": 1, "children": list(children),
        }
        row.update(more)
        return row

    tree = node("app::fork", line=10, state="suspended", children=[
        node("app::nap", "select arm 0", line=20),
        node("app::nap", "select arm 1", "disabled", state="unresumed"),
        node("app::both", "select arm 2", line=30, note="span request", children=[
            node(None, "join arm 0", "done"),
            node("app::many", "join arm 1", children=[node("app::nap", "set", count=3)]),
            node(None, "join arm 2"),
        ]),
        node("app::nap", "held", "held", note=""),
    ])
    truth = {
        "program": "app",
        "runtimes": [{"flavor": "current_thread", "workers": 1, "tasks": 1, "name": None}],
        "tasks": [{
            "id": "1", "count": 1, "runtime": 0, "state": "idle", "chain": [], "lines": [],
            "files": [], "leaf": None, "tree": tree,
        }],
        "block_on": [], "blocking": [], "workers_running": [], "gone": [],
    }

    def future(function, edge="await", branch="polled", kind="async_fn", children=(), **more):
        row = {
            "function": function, "kind": kind, "edge": edge, "branch": branch, "line": 20,
            "state": "suspended", "wait": None, "note": None, "children": list(children),
        }
        row.update(more)
        return row

    def library(edge, *children, **more):
        return future("lib::Future", edge, kind="future", line=None, children=children, **more)

    def document():
        many = future("app::many", "holds", children=[
            library("await", *[library("set", future("app::nap", "holds")) for _ in range(3)])
        ])
        both = future("app::both", line=30, children=[
            library("await", library("join arm 0", branch="done"), library("join arm 1", many),
                    library("join arm 2"))
        ])
        root = future("app::fork", line=10, children=[
            library(
                "await",
                future("app::nap", "select arm 0"),
                future("app::nap", "select arm 1", "disabled", state="unresumed"),
                library("select arm 2", both, note="span request"),
            ),
            future("app::nap", "held", "held"),
            library("held", branch="held"),
        ])
        return {
            "complete": True, "notes": [], "threads": [],
            "runtimes": [
                {"index": 0, "flavor": "current_thread", "workers": 1, "tasks": 1, "name": None}
            ],
            "tasks": [{"id": "1", "state": "idle", "root": root, "runtime": 0, "type": "T"}],
        }

    def arms(doc):
        return doc["tasks"][0]["root"]["children"][0]["children"]

    def both_of(doc):
        return arms(doc)[2]["children"][0]["children"][0]["children"]

    def members(doc):
        return both_of(doc)[1]["children"][0]["children"][0]["children"]

    cases = [
        ("no await (app::fork)", lambda doc: doc["tasks"][0].update(root=None)),
        ("no select arm 0", lambda doc: arms(doc).pop(0)),
        ("no select arm 1, disabled", lambda doc: arms(doc).pop(1)),
        ("no select arm 1, disabled", lambda doc: arms(doc)[1].update(branch="polled")),
        ("is suspended, not unresumed", lambda doc: arms(doc)[1].update(state="suspended")),
        ("not in order", lambda doc: arms(doc).reverse()),
        ("there should be no select arm 3",
         lambda doc: arms(doc).append(dict(arms(doc)[0], edge="select arm 3"))),
        ("is at line 21, not 20", lambda doc: arms(doc)[0].update(line=21)),
        ("no select arm 0 (app::nap)", lambda doc: arms(doc)[0].update(function="app::doze")),
        ("should be no select arm 3",
         lambda doc: arms(doc).append(dict(
             arms(doc)[0], edge="select arm 3", function="<lib::T as app::Tr>::nap"))),
        ("no held (app::nap)", lambda doc: doc["tasks"][0]["root"]["children"].pop(1)),
        ("moved perhaps",
         lambda doc: doc["tasks"][0]["root"]["children"][1].update(note="may have been moved out")),
        ("not span request", lambda doc: arms(doc)[2].update(note=None)),
        ("no join arm 0, done", lambda doc: both_of(doc).pop(0)),
        ("no join arm 2 (a library's)", lambda doc: both_of(doc).pop(2)),
        ("no set (app::nap)", lambda doc: members(doc).pop()),
        ("no set (app::nap)", lambda doc: members(doc)[1].update(edge="await")),
        ("should be no set", lambda doc: members(doc).append(members(doc)[0])),
    ]
    expect("same tree", Comparison(document(), truth).run(), None)
    for wanted, change in cases:
        changed = document()
        change(changed)
        expect("changed tree", Comparison(changed, truth).run(), wanted)
    # What libraries hold counts where the truth knows of it.
    root = truth["tasks"][0]["tree"]
    held = dict(root, function=None, edge="held", branch="held", children=[])
    truth["tasks"][0]["tree"] = dict(root, children=[*root["children"], held])
    expect("held by a library", Comparison(document(), truth).run(), None)
    changed = document()
    changed["tasks"][0]["root"]["children"].pop(2)
    expect("not held", Comparison(changed, truth).run(), "no held (a library's)")
    return len(cases) + 3


def self_test():
    """Each case changes one thing in a document that agrees and expects one difference."""
    bare = {
        "runtimes": [{"kind": "tokio"}, {"kind": "x"}],
        "tasks": [{"id": "3", "runtime": 0}, {"id": None, "ids": ["0x10"], "runtime": 1}],
        "workers_running": ["0x10", "3"], "holds": [{"object": "0x10", "task": "0x10"}],
    }
    keyed = with_keys(bare, task_keys(bare))
    assert keyed["tasks"] == [bare["tasks"][0], {"id": None, "ids": ["x:0x10"], "runtime": 1}]
    assert keyed["workers_running"] == ["x:0x10", "3"]
    assert keyed["holds"] == [{"object": "0x10", "task": "x:0x10"}]
    truth = {
        "program": "app",
        "runtimes": [
            {
                "flavor": "multi_thread", "workers": 2, "tasks": 4, "name": None,
                "local_queues": 3, "injection_queue": 1,
            },
            {"flavor": "current_thread", "workers": 1, "tasks": 1, "name": "local"},
        ],
        "tasks": [
            {
                "id": "3", "count": 1, "runtime": 0, "state": "idle",
                "chain": ["app::outer", "app::inner"], "lines": [14, 22],
                "locals": {"app::outer": {"n": "5", "gone": None, "text": "\"t\""}},
                "files": ["app/src/main.rs", None], "leaf": {"kind": "sleep"},
            },
            {
                "id": "4", "count": 1, "runtime": 0, "state": "idle",
                "chain": ["app::join"], "lines": [30],
                "leaf": {"kind": "join", "task": "3", "task_state": "idle", "ahead": ["5", "7"]},
                "beside": [{"kind": "join", "task": "3"}], "leaves": 1,
            },
            {
                "id": "5", "count": 1, "runtime": 0, "state": "running",
                "chain": ["app::burn"], "lines": [None], "leaf": None,
            },
            {
                "id": None, "count": 1, "runtime": 0, "state": "scheduled",
                "chain": ["app::fresh"], "lines": [None], "leaf": None,
            },
            {
                "id": None, "ids": ["9"], "count": 1, "runtime": 1, "state": "idle",
                "chain": [], "lines": [], "leaf": None,
            },
        ],
        "block_on": [{"chain": ["app::main::{async_block#0}"], "lines": [50]}],
        "blocking": [{"function": "app::job::{closure#0}"}],
        "workers_running": ["5"],
        "gone": ["6"],
        "threads": [
            {"kind": "std_mutex", "task": "5", "object": "0x7f10"},
            {"kind": "syscall", "task": None, "object": None},
        ],
    }

    def future(function, line=None, kind="async_fn", children=(), **more):
        row = {
            "kind": kind, "function": function, "line": line, "file": "/src/app/src/main.rs",
            "state": "suspended", "wait": None, "children": list(children),
        }
        row.update(more)
        return row

    def document():
        sleep = future("tokio::time::Sleep", kind="future", wait={"kind": "sleep"})
        joined = {"kind": "join", "task": "3", "task_state": "idle", "ahead": ["5", "7"], "more": 1}
        join = future("tokio::task::JoinHandle", kind="future", wait=joined)
        lock = future("tokio::sync::Mutex::lock", 500, children=[sleep])
        inner = future("app::inner", 22, children=[lock])
        wrapper = future("app::Wrapper", kind="future", children=[inner])
        accept = future("tokio::net::TcpListener::accept", 9)
        main = future("app::main::{async_block#0}", 50, "async_block", [accept])

        def variable(name, value, uncertain=False):
            return {"name": name, "value": value, "uncertain": uncertain, "problem": None}

        def task(task_id, state, root, runtime=0):
            return {"id": task_id, "state": state, "root": root, "runtime": runtime, "type": "T"}

        def thread(number, role, **more):
            row = {"number": number, "role": role, "state": "parked", "task": None, "root": None}
            row.update(more)
            return row

        return {
            "schema": 1,
            "complete": True,
            "notes": [],
            "runtimes": [
                {
                    "index": 0, "flavor": "multi_thread", "workers": 2, "tasks": 4, "name": None,
                    "injection_queue_len": 1,
                },
                {"index": 1, "flavor": "current_thread", "workers": 1, "tasks": 1, "name": "local"},
            ],
            "threads": [
                thread(1, "block_on", root=main),
                thread(
                    2, "worker", task="5", state="running task 5", runtime=0, queue_len=2,
                    wait={"kind": "std_mutex", "object": "0x7F10"},
                ),
                thread(3, "worker", runtime=0, queue_len=1),
                thread(
                    4, "blocking", state="running", job="app::job::{closure#0}",
                    wait={"kind": "syscall", "object": None},
                ),
                thread(5, "blocking", state="idle"),
                thread(6, "other"),
            ],
            "tasks": [
                task("3", "idle", future("app::outer", 14, children=[wrapper], locals=[
                    variable("n", "5"), variable("gone", "1", uncertain=True),
                    variable("text", '"t"'), variable("other", "6"),
                ])),
                task("4", "idle", future("app::join", 30, children=[join])),
                task("5", "running", future("app::burn", 7, state=None)),
                task("6", "complete", None),
                task("7", "scheduled", future("app::fresh", 1, state="unresumed")),
                task("9", "idle", future("app::Parked", kind="future", state=None), 1),
            ],
        }

    def tasks(doc):
        return {row["id"]: row for row in doc["tasks"]}

    def swap_join(doc):
        tasks(doc)["4"]["root"]["children"][0]["wait"]["task"] = "5"

    def change_wait(doc, **details):
        tasks(doc)["4"]["root"]["children"][0]["wait"].update(details)

    def drop_wait(doc):
        tasks(doc)["4"]["root"]["children"][0]["wait"] = None

    def add_job(doc):
        doc["threads"].append(dict(doc["threads"][3], number=7))

    cases = [
        ("incomplete", lambda doc: doc.update(complete=False, notes=["task 3 unreadable"])),
        ("2 workers and 4 tasks", lambda doc: doc["runtimes"].pop(0)),
        ("should be no", lambda doc: doc["runtimes"].append(dict(doc["runtimes"][0], tasks=0))),
        ("task 3 is missing", lambda doc: doc["tasks"].pop(0)),
        ("listed twice", lambda doc: doc["tasks"].append(doc["tasks"][0])),
        ("task 8 should not", lambda doc: doc["tasks"].append(dict(doc["tasks"][0], id="8"))),
        ("task 3 is scheduled", lambda doc: doc["tasks"][0].update(state="scheduled")),
        ("task 3 has", lambda doc: doc["tasks"][0]["root"].update(children=[])),
        ("app::outer is defined is not reported", lambda doc: doc["tasks"][0].update(defined_at=None)),
        ("is at line 14, defined at 15", lambda doc: doc["tasks"][0].update(
            defined_at={"file": doc["tasks"][0]["root"]["file"], "line": 15})),
        ("line 15, not 14", lambda doc: doc["tasks"][0]["root"].update(line=15)),
        ("not app/src/main.rs", lambda doc: doc["tasks"][0]["root"].update(file="lib.rs")),
        ("is unresumed", lambda doc: doc["tasks"][0]["root"].update(state="unresumed")),
        ("joins task 5", swap_join),
        ("no branch waits for", swap_join),
        ("waits for None", drop_wait),
        ("task_state is None", lambda doc: change_wait(doc, task_state=None)),
        ("ahead is ['7', '5']", lambda doc: change_wait(doc, ahead=["7", "5"])),
        ("no scheduled task", lambda doc: doc["tasks"].pop(4)),
        ("has ended", lambda doc: doc["tasks"][3].update(state="idle")),
        ("mixed up", lambda doc: doc["tasks"][5].update(runtime=0)),
        ("no thread blocks on", lambda doc: doc["threads"].pop(0)),
        ("line 51, not 50", lambda doc: doc["threads"][0]["root"].update(line=51)),
        ("thread 6 should not", lambda doc: doc["threads"][5].update(role="block_on")),
        ("no thread of the blocking", lambda doc: doc["threads"][3].update(state="idle")),
        ("should not run a blocking", add_job),
        ("2 tasks are queued", lambda doc: doc["threads"][2].update(queue_len=0)),
        ("0 tasks are injected", lambda doc: doc["runtimes"][0].update(injection_queue_len=0)),
        ("sits in std_mutex", lambda doc: doc["threads"][1].update(wait=None)),
        ("sits in std_mutex", lambda doc: doc["threads"][1]["wait"].update(object="0x7f11")),
        ("sits in syscall", lambda doc: doc["threads"][3]["wait"].update(kind="compute")),
        (
            "thread 3 should not sit",
            lambda doc: doc["threads"][2].update(wait={"kind": "compute", "object": None}),
        ),
        ("workers run nothing", lambda doc: doc["threads"][1].update(task=None)),
    ]
    def variables(doc):
        return doc["tasks"][0]["root"]["locals"]

    cases += [
        ("n is 6, not 5", lambda doc: variables(doc)[0].update(value="6")),
        ("gone is gone, but", lambda doc: variables(doc)[1].update(uncertain=False)),
        ("text is not shown", lambda doc: variables(doc).pop(2)),
        ("text is not shown", lambda doc: variables(doc)[2].update(problem="hidden")),
        ("0 frames of app::outer", lambda doc: doc["tasks"][0]["root"].update(function="app::x")),
    ]
    failures = 0

    def expect(what, differences, wanted):
        nonlocal failures
        agrees = not differences if wanted is None else any(wanted in d for d in differences)
        if not agrees:
            failures += 1
            print("self-test: {}: wanted {!r}, got {}".format(what, wanted, differences))

    expect("same", Comparison(document(), truth, with_locals=True).run(), None)
    bare = document()
    del bare["tasks"][0]["root"]["locals"]
    expect("no locals asked", Comparison(bare, truth).run(), None)
    partial = dict(document(), complete=False, notes=["nothing of thread 4"])
    expect("may be incomplete", Comparison(partial, truth, incomplete=True).run(), None)
    for wanted, change in cases:
        changed = document()
        change(changed)
        expect("changed", Comparison(changed, truth, with_locals=True).run(), wanted)
    moved = document()
    moved["tasks"][0]["root"]["line"] = 15
    expect("lines left out", Comparison(moved, truth, lines=False).run(), None)
    expect("number", Comparison(document(), {"num_alive_tasks": 5}).run(), None)
    expect("number", Comparison(document(), {"num_alive_tasks": 6}).run(), "not 6")
    cases_of_trees = tree_self_test(expect)
    count = len(cases) + 6 + cases_of_trees
    print("self-test: {}".format("failed" if failures else "{} cases ok".format(count)))
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("document", nargs="?", help="JSON of asyncdbg, - for stdin")
    parser.add_argument("truth", nargs="?", help="what the program printed")
    parser.add_argument("--schema", help="JSON schema that the document must fit")
    parser.add_argument("--no-lines", action="store_true", help="do not compare lines and files")
    parser.add_argument("--locals", action="store_true", help="compare variables of frames too")
    parser.add_argument(
        "--incomplete", action="store_true", help="the document may say that it is incomplete"
    )
    parser.add_argument("--self-test", action="store_true", help="test this script")
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    if not args.document or not args.truth:
        parser.error("needs a document and a truth")
    try:
        document = read_document(args.document)
        truth = read_truth(args.truth)
        schema = read_document(args.schema) if args.schema else None
    except (OSError, ValueError) as err:
        print("nothing to compare: {}".format(err))
        return 2
    comparison = Comparison(
        document,
        truth,
        lines=not args.no_lines,
        with_locals=args.locals,
        incomplete=args.incomplete,
    )
    differences = list(validate(document, schema)) if schema else []
    try:
        differences += comparison.run()
    except (KeyError, TypeError, AttributeError) as err:
        differences.append("not such a document: {!r}".format(err))
    for difference in differences:
        print(difference)
    if not differences:
        print(comparison.summary())
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
