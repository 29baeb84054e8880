#!/usr/bin/python3
"""Compares the trees that asyncdbg sees with those that the program `dump` took of itself.

usage: compare_dump.py DOCUMENT OUTPUT_OF_PROGRAM
       compare_dump.py --self-test

A branch is the way from a task's root to one leaf: the program's own async functions, the line each
is at, how it forks to the next ("select", "join", "set"), and the leaf's type. Both sides must have
the same branches, each as often. Branches that no poll comes to are in no trace and left out.

Exit status: 0 and one line when they agree, 1 and a line for each difference when not, 2 when there
is nothing to compare.
"""

import copy
import json
import sys

CRATE = "dump::"
# A frame that tells how the coroutine above it forks; what is first below a macro's closure wins.
FORKS = (("JoinAll", "set"), ("FuturesUnordered", "set"), ("MaybeDone", "join"))


def without_hash(symbol):
    head, _, tail = symbol.rpartition("::h")
    return head if len(tail) == 16 else symbol


def own_function(symbol):
    """The async fn that a frame polls: "dump::tasks::nap::{{closure}}" is dump::tasks::nap."""
    name = without_hash(symbol)
    # A second closure is one of a macro, called by the poll function.
    if not name.startswith(CRATE) or name.count("{{closure}}") != 1:
        return None
    return name.removesuffix("::{{closure}}")


def fork(symbols):
    """What these frames between two coroutines make of the branch."""
    for symbol in symbols:
        for word, edge in FORKS:
            if word in symbol:
                return edge
    closure = any(symbol.startswith(CRATE) and "{{closure}}" in symbol for symbol in symbols)
    return "select" if closure else "await"


def branch_of_trace(frames):
    """((function, line, fork), ...) and the symbols below the last function."""
    own = [i for i, (symbol, _, _) in enumerate(frames) if own_function(symbol)]
    branch = []
    for here, following in zip(own, own[1:] + [len(frames)]):
        symbol, _, line = frames[here]
        between = [frame[0] for frame in frames[here + 1 : following]]
        branch.append((own_function(symbol), line, fork(between)))
    tail = [frame[0] for frame in frames[own[-1] + 1 :]] if own else []
    return tuple(branch), tail


def simple_edge(edge):
    for word in ("select", "join", "set"):
        if (edge or "").startswith(word):
            return word
    return "await"


def branches_of_future(future, above=()):
    """Each polled leaf as the branch to it and its type."""
    edge = simple_edge(future.get("edge"))
    if above and above[-1][2] == "await" and edge != "await":
        above = above[:-1] + (above[-1][:2] + (edge,),)
    function = future.get("function") or ""
    if future["kind"] == "async_fn" and function.startswith(CRATE):
        above += ((function, future["line"], "await"),)
    polled = [child for child in future["children"] if child["branch"] == "polled"]
    if not polled:
        yield above, function
    for child in polled:
        yield from branches_of_future(child, above)


def show(branch):
    return " -> ".join(
        "{}:{}{}".format(function, line, "" if edge == "await" else " [" + edge + "]")
        for function, line, edge in branch
    )


def compare_task(task_id, root, traces):
    have = list(branches_of_future(root)) if root else []
    want = [branch_of_trace(frames) for frames in traces]
    for branch, symbols in want:
        same = [other for other in have if other[0] == branch]
        # Of two branches to the same place, take the one with that leaf.
        fitting = [other for other in same if any(other[1] in symbol for symbol in symbols)]
        if fitting:
            have.remove(fitting[0])
        elif same:
            have.remove(same[0])
            yield f"task {task_id}: {show(branch)}: ends in {same[0][1]}, not {symbols[-1]}"
        else:
            yield f"task {task_id}: no branch {show(branch)}"
    for branch, leaf in have:
        yield f"task {task_id}: there should be no branch {show(branch)} to {leaf}"


def compare(document, dump):
    rows = {task["id"]: task for task in document["tasks"] if task.get("kind", "task") == "task"}
    for task_id, traces in dump.items():
        if task_id in rows:
            yield from compare_task(task_id, rows.pop(task_id)["root"], traces)
        else:
            yield f"task {task_id} is missing"
    for task_id in rows:
        yield f"task {task_id} should not be there"


def read_dump(path):
    """The traces by task, of the lines "dump ID [[[function, file, line], ...], ...]"."""
    dump = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("dump "):
                _, task_id, traces = line.split(" ", 2)
                dump[task_id] = json.loads(traces)
    if not any(dump.values()):
        raise ValueError("no traces in it")
    return dump


def self_test_data():
    def frame(symbol, line=0):
        return [symbol + "::h0123456789abcdef", "file.rs", line]

    poll_fn = frame("<core::future::poll_fn::PollFn<F> as core::future::future::Future>::poll")
    sleep = frame("<tokio::time::sleep::Sleep as core::future::future::Future>::poll")
    notified = frame("<tokio::sync::notify::Notified as core::future::future::Future>::poll")
    maybe_done = frame("<tokio::future::maybe_done::MaybeDone<Fut> as Future>::poll")
    unordered = frame("<futures_util::FuturesUnordered<Fut> as Stream>::poll_next")
    fork_frame = [
        frame("dump::fork::{{closure}}", 10), poll_fn, frame("dump::fork::{{closure}}::{{closure}}")
    ]
    both_frame = [
        frame("dump::both::{{closure}}", 20), poll_fn,
        frame("dump::both::{{closure}}::{{closure}}"), maybe_done,
    ]
    nap = [frame("dump::nap::{{closure}}", 30), sleep]
    dump = {
        "1": [
            fork_frame + both_frame + nap,
            fork_frame + both_frame + [notified],
            fork_frame + [sleep],
        ],
        "2": [[frame("dump::many::{{closure}}", 40), unordered] + nap] * 2,
    }

    def future(function, line=None, kind="async_fn", edge="await", branch="polled", children=()):
        return {
            "function": function, "line": line, "kind": kind, "edge": edge, "branch": branch,
            "children": list(children),
        }

    def nap_of(edge):
        return future("dump::nap", 30, edge=edge, children=[timer("await")])

    def timer(edge):
        return future("tokio::time::sleep::Sleep", kind="future", edge=edge)

    def poll_fn_of(*children):
        return future("core::future::poll_fn::PollFn", kind="future", children=children)

    notified_leaf = future("tokio::sync::notify::Notified", kind="future", edge="join arm 1")
    both = future(
        "dump::both", 20, edge="select arm 0",
        children=[poll_fn_of(nap_of("join arm 0"), notified_leaf)],
    )
    disabled = future("dump::nap", None, edge="select arm 1", branch="disabled")
    root = future(
        "dump::fork", 10, edge=None, children=[poll_fn_of(both, disabled, timer("select arm 2"))]
    )
    many = future("dump::many", 40, edge=None, children=[
        future("futures_util::Next", kind="future", children=[nap_of("set"), nap_of("set")])
    ])
    return {"tasks": [{"id": "1", "root": root}, {"id": "2", "root": many}]}, dump


def self_test():
    """Each case changes one thing in a document that agrees and expects a difference."""

    def arms(document):
        return document["tasks"][0]["root"]["children"][0]["children"]

    def members(document):
        return document["tasks"][1]["root"]["children"][0]["children"]

    cases = [
        ("no branch dump::fork:10 [select]", lambda doc: arms(doc).pop(2)),
        ("no branch dump::fork:10 [select] -> dump::both", lambda doc: arms(doc).pop(0)),
        ("no branch dump::many:40 [set]", lambda doc: members(doc).pop()),
        ("should be no branch", lambda doc: members(doc).append(members(doc)[0])),
        ("should be no branch", lambda doc: arms(doc)[1].update(branch="polled")),
        ("no branch", lambda doc: arms(doc)[2].update(branch="disabled")),
        ("dump::many:41", lambda doc: doc["tasks"][1]["root"].update(line=41)),
        ("dump::many:40 [join]", lambda doc: members(doc)[0].update(edge="join arm 0")),
        ("ends in app::Other", lambda doc: arms(doc)[2].update(function="app::Other")),
        ("task 2 is missing", lambda doc: doc["tasks"].pop()),
        ("task 3 should not", lambda doc: doc["tasks"].append(dict(doc["tasks"][0], id="3"))),
        ("no branch", lambda doc: doc["tasks"][0].update(root=None)),
    ]
    original, dump = self_test_data()
    failures = list(compare(original, dump))
    for wanted, change in cases:
        document = copy.deepcopy(original)
        change(document)
        found = list(compare(document, dump))
        if not any(wanted in difference for difference in found):
            failures.append(f"wanted {wanted!r}, got {found}")
    for failure in failures:
        print(f"self-test: {failure}")
    print("self-test: {}".format("failed" if failures else f"{len(cases) + 1} cases ok"))
    return 1 if failures else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 3:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            document = json.load(file)
        dump = read_dump(sys.argv[2])
    except (OSError, ValueError) as err:
        print(f"nothing to compare: {err}")
        return 2
    differences = list(compare(document, dump))
    for difference in differences:
        print(difference)
    if not differences:
        print("ok: {} tasks, {} branches".format(len(dump), sum(map(len, dump.values()))))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
