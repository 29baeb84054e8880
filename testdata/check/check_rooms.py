#!/usr/bin/env python3
"""Checks that each folder uses only the folders that it may know.

usage: check_rooms.py [--build DIR] [--prefixes] [ROOT]
       check_rooms.py --self-test BUILD_DIR

rooms.tsv beside this file has the folders in their order: a folder may use itself and the ones in
the rows above it. That holds for includes and, with --build, for links: a symbol that an object
file of a build takes from another one. Of the lower layers, commands/ includes only the public
headers that rooms.tsv lists; each is used there and named in docs/architecture.md. Calls within a folder may form a cycle; rooms.tsv says of
how many files at most, and why. Checked too: at most 25 .c files in a folder, a sentence about each
folder in docs/architecture.md, global symbols that begin with the name of their file or folder or
with a prefix of rooms.tsv, and names of runtimes outside their own folders.
"""

import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LAYERS = ("debugger", "dwarf", "runtimes", "commands")
RUNTIMES = ("tokio", "futures_executor", "async_executor", "compio", "actix")
# A runtime whose tasks are of the kind of another one's reads them by means of that.
BUILT_ON = {"compio": ("async_executor",)}
MAX_FILES = 25
SMALL_CYCLE = 5
LARGE_CYCLE = 13

# Where a runtime is still named outside its own folder: there and in the rows of runtimes/leaves, in
# string literals alone.
NAMED = {
    "runtimes/thread/block_on.c",  # functions that block on a future, of any crate
    "runtimes/thread/block_on_waker.c",  # what these wake
    "runtimes/inspect/other_executors.c",  # names of executors for messages
    "runtimes/analysis/field.c",  # help of a field: the name of a cfg
}

Room = collections.namedtuple("Room", "folder public prefixes cycle reason")


def read_rooms(root):
    rooms = []
    with open(os.path.join(root, "testdata/check/rooms.tsv"), encoding="utf-8") as table:
        for line in table:
            if line.startswith("#") or not line.strip():
                continue
            folder, public, prefixes, cycle, reason = (
                line.rstrip("\n").split("\t") + ["", "", "", ""])[:5]
            rooms.append(Room(folder, [stem for stem in public.split() if stem != "-"],
                              prefixes.split(), int(cycle or SMALL_CYCLE), reason))
    return rooms


def is_test(path):
    return "/test/" in path or re.search(r"_(test|fuzz)\.c$", path) is not None


def sources(root):
    for layer in LAYERS:
        for folder, _, names in os.walk(os.path.join(root, layer)):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    yield os.path.relpath(os.path.join(folder, name), root)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)


def check_folders(root, rooms, problems):
    known = {room.folder for room in rooms}
    count = collections.Counter()
    for path in sources(root):
        if is_test(path):
            continue
        folder = os.path.dirname(path)
        if folder not in known:
            problems.append(f"{path}: {folder} is not in rooms.tsv")
        if path.endswith(".c"):
            count[folder] += 1
    for folder, n in count.items():
        if n > MAX_FILES:
            problems.append(f"{folder}: {n} .c files, at most {MAX_FILES}")
    architecture = read(root, "docs/architecture.md")
    for room in rooms:
        if room.folder + "/" not in architecture and room.folder + "`" not in architecture:
            problems.append(f"{room.folder}: docs/architecture.md has no word about it")
        if room.cycle > SMALL_CYCLE and not room.reason:
            problems.append(f"{room.folder}: a cycle of {room.cycle} files without a reason")
        if room.cycle > LARGE_CYCLE:
            problems.append(f"{room.folder}: a cycle of {room.cycle} files, at most {LARGE_CYCLE}")


def check_includes(root, rooms, problems):
    """Tests keep to the order of layers, all other files to the order of folders, too."""
    order = {room.folder: i for i, room in enumerate(rooms)}
    for path in sources(root):
        user = os.path.dirname(path)
        text = read(root, path)
        for include in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', text, re.MULTILINE):
            number = text.count("\n", 0, include.start()) + 1
            used = os.path.dirname(include.group(1))
            if is_test(path):
                layer = include.group(1).split("/")[0]
                if layer not in LAYERS or LAYERS.index(layer) > LAYERS.index(user.split("/")[0]):
                    problems.append(f"{path}:{number}: includes {include.group(1)}")
            elif used not in order or "/test/" in include.group(1):
                problems.append(f"{path}:{number}: includes {include.group(1)}")
            elif order[used] > order.get(user, -1):
                problems.append(f"{path}:{number}: {user} must not know {used}")


def check_public(root, rooms, problems):
    """Commands include only public headers of the lower layers, and each public header is used."""
    public = {room.folder: room.public for room in rooms if not room.folder.startswith("commands/")}
    unused = {f"{folder}/{stem}.h" for folder, stems in public.items() for stem in stems
              if stem != "*"}
    for path in sources(root):
        if not path.startswith("commands/") or is_test(path):
            continue
        for include in re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', read(root, path),
                                  re.MULTILINE):
            folder, name = os.path.split(include)
            unused.discard(include)
            if folder in public and not {"*", name[:-len(".h")]} & set(public[folder]):
                problems.append(f"{path}: includes {include}, which is not public: rooms.tsv")
    for include in sorted(unused):
        problems.append(f"rooms.tsv: {include} is public, and no command includes it")
    architecture = read(root, "docs/architecture.md").split("\n")
    for folder, stems in public.items():
        names = [f"`{stem}.h`" for stem in stems if stem != "*"]
        if names and not any(line.startswith(f"| `{folder}` ") and all(n in line for n in names)
                             for line in architecture):
            problems.append(f"docs/architecture.md: no row has the public headers of {folder}")


def check_names(root, problems):
    """The name of a runtime is for its own folder; elsewhere it may stand in comments."""
    for path in sources(root):
        if is_test(path):
            continue
        # Crates that are no runtime have types of one as members.
        by_text = path in NAMED or path.startswith("runtimes/leaves/")
        own = path.split("/")[1]
        text = without_comments(read(root, path))
        if by_text:
            text = re.sub(r'"(\\.|[^"\\\n])*"', '""', text)
        lower = text.lower()
        for name in RUNTIMES:
            if name in (own, *BUILT_ON.get(own, ())) or path == "runtimes/inspect/registered.c":
                continue
            for line in text.split("\n") if name in lower else ():
                if name in line.lower():
                    problems.append(f"{path}: names {name}: {line.strip()}")


def read_objects(root, build):
    """Of the object files of the layers: a map from a source file to (defined, undefined) symbols.

    A build directory keeps the object files of sources that are gone: those do not count."""
    objects = {}
    for folder, _, names in os.walk(os.path.join(build, "CMakeFiles")):
        for name in names:
            path = os.path.join(folder, name)
            source = re.search(r"CMakeFiles/(?:\w+)\.dir/((?:%s)/.*\.c)\.o$" % "|".join(LAYERS),
                               path)
            if (source and not is_test(source.group(1))
                    and os.path.exists(os.path.join(root, source.group(1)))):
                objects[path] = source.group(1)
    symbols = {source: (set(), set()) for source in objects.values()}
    out = subprocess.run(["nm", "-A", *objects], check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        path, rest = line.split(":", 1)
        words = rest.split()
        defined, undefined = symbols[objects[path]]
        if len(words) == 2 and words[0] == "U":
            undefined.add(words[1])
        elif len(words) == 3 and words[1] in "TDBRCVW" and not words[2].startswith("__"):
            defined.add(words[2])
    return symbols


def links_of(symbols):
    """For each file, which others it takes symbols from: {file: {other: symbols}}."""
    owner = {symbol: source for source, (defined, _) in symbols.items() for symbol in defined}
    links = {}
    for source, (_, undefined) in symbols.items():
        links[source] = collections.defaultdict(set)
        for symbol in undefined:
            if owner.get(symbol, source) != source:
                links[source][owner[symbol]].add(symbol)
    return links


def cycles_of(links, files):
    """The strongly connected components of more than one file (Tarjan, without recursion)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for start in sorted(files):
        work = [(start, None)] if start not in index else []
        while work:
            node, successors = work.pop()
            if successors is None:
                index[node] = low[node] = len(index)
                stack.append(node)
                on_stack.add(node)
                successors = iter(sorted(to for to in links[node] if to in files))
            for to in successors:
                if to not in index:
                    work += [(node, successors), (to, None)]
                    break
                if to in on_stack:
                    low[node] = min(low[node], low[to])
            else:
                if low[node] == index[node]:
                    cycle = []
                    while not cycle or cycle[-1] != node:
                        cycle.append(stack.pop())
                        on_stack.discard(cycle[-1])
                    found.append(sorted(cycle))
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
    return [cycle for cycle in found if len(cycle) > 1]


def check_links(rooms, symbols, problems):
    order = {room.folder: i for i, room in enumerate(rooms)}
    links = links_of(symbols)
    for source, others in links.items():
        for other, names in sorted(others.items()):
            user, used = os.path.dirname(source), os.path.dirname(other)
            if order.get(used, len(order)) > order.get(user, -1):
                problems.append(f"{source}: {user} must not take {', '.join(sorted(names))} from {other}")
    for room in rooms:
        files = {source for source in links if os.path.dirname(source) == room.folder}
        for cycle in cycles_of(links, files):
            if len(cycle) > room.cycle:
                names = ", ".join(os.path.basename(file) for file in cycle)
                problems.append(f"{room.folder}: a cycle of {len(cycle)} files, "
                                f"rooms.tsv allows {room.cycle}: {names}")


def check_prefixes(rooms, symbols, problems):
    prefixes = {room.folder: room.prefixes for room in rooms}
    for source, (defined, _) in sorted(symbols.items()):
        folder = os.path.dirname(source)
        stem = os.path.basename(source)[:-len(".c")]
        allowed = [stem, os.path.basename(folder), *prefixes.get(folder, [])]
        for symbol in sorted(defined):
            if symbol != "main" and not any(
                    symbol == prefix or symbol.startswith(prefix.rstrip("_") + "_") or
                    prefix.startswith("_") and symbol.endswith(prefix) for prefix in allowed):
                problems.append(f"{source}: {symbol} has no prefix of its file or folder")


def check(root, build):
    problems = []
    rooms = read_rooms(root)
    check_folders(root, rooms, problems)
    check_includes(root, rooms, problems)
    check_public(root, rooms, problems)
    check_names(root, problems)
    if build:
        symbols = read_objects(root, build)
        if not symbols:
            problems.append(f"{build} has no object files")
        check_links(rooms, symbols, problems)
        check_prefixes(rooms, symbols, problems)
    return problems


def expect(what, problems, fragment):
    if any(fragment in problem for problem in problems):
        return True
    print(f"not noticed: {what}")
    return False


def self_test(build):
    """Each rule must notice a copy of the sources, or of the symbols, that breaks it."""
    root = os.path.normpath(os.path.join(HERE, "../.."))
    rooms = read_rooms(root)
    first, last = rooms[0].folder, rooms[-1].folder
    good = True
    copy = tempfile.mkdtemp()
    for folder in (*LAYERS, "docs", "testdata/check"):
        shutil.copytree(os.path.join(root, folder), os.path.join(copy, folder))
    for path, line, fragment in (
            (f"{first}/error.c", f'#include "{last}/execute.h"', f"must not know {last}"),
            ("dwarf/types/type.h", '#include "dwarf/values/path.h"', "must not know dwarf/values"),
            ("runtimes/model/model.h", '#include "model.h"', "includes model.h"),
            ("runtimes/model/model.h", '#include "debugger/test/target_fake.h"', "includes"),
            ("dwarf/types/type_test.c", '#  include "runtimes/model/model.h"', "includes runtimes"),
            ("runtimes/model/names.c", 'const char *runtime_name = "tokio";', "names tokio"),
            ("runtimes/leaves/want.c", "int tokio_number;", "names tokio"),
            ("commands/ask/list.c", '#include "dwarf/types/type.h"', "is not public"),
            ("testdata/check/rooms.tsv", "dwarf/nowhere\tnothing", "no command includes it"),
            ("testdata/check/rooms.tsv", "dwarf/nowhere\tnothing", "no row has the public"),
            ("dwarf/nowhere/new.c", "int new_one;", "is not in rooms.tsv")):
        changed = os.path.join(copy, path)
        before = read(copy, path) if os.path.exists(changed) else None
        os.makedirs(os.path.dirname(changed), exist_ok=True)
        with open(changed, "a", encoding="utf-8") as file:
            file.write(line + "\n")
        good = expect(f"{line} in {path}", check(copy, None), fragment) and good
        os.remove(changed)
        if before is not None:
            with open(changed, "w", encoding="utf-8") as file:
                file.write(before)
    shutil.rmtree(copy)
    symbols = read_objects(root, build)
    some = {folder: next(source for source in sorted(symbols) if os.path.dirname(source) == folder)
            for folder in (first, last)}
    problems = []
    broken = dict(symbols)
    broken[some[last]] = (symbols[some[last]][0] | {"upper_symbol"}, symbols[some[last]][1])
    broken[some[first]] = (symbols[some[first]][0], symbols[some[first]][1] | {"upper_symbol"})
    check_links(rooms, broken, problems)
    good = expect("a link from the first folder to the last", problems, "upper_symbol") and good
    problems = []
    check_prefixes(rooms, broken, problems)
    good = expect("a symbol without a prefix", problems, "upper_symbol") and good
    ring = {f"{first}/ring{i}.c": ({f"ring{i}"}, {f"ring{(i + 1) % 20}"}) for i in range(20)}
    problems = []
    check_links(rooms, ring, problems)
    good = expect("a cycle of 20 files", problems, "a cycle of 20 files") and good
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", help="a build directory: checks links and symbols too")
    parser.add_argument("--self-test", metavar="BUILD_DIR", help="each rule must be seen to fail")
    parser.add_argument("root", nargs="?", default=os.path.join(HERE, "../.."))
    args = parser.parse_args()
    if args.self_test:
        if not self_test(args.self_test):
            sys.exit(1)
        print("each violation was noticed")
        return
    problems = check(args.root, args.build)
    for problem in problems:
        print(problem)
    if problems:
        sys.exit(1)
    print("every folder keeps to what it may know")


main()
