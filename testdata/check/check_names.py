#!/usr/bin/env python3
"""Checks that names and comments of the C sources, tests aside, say what they are about.

usage: check_names.py [ROOT]
       check_names.py --self-test

A name in a profile, a stack trace or the output of grep should say where it is from. So no function
is defined in two files of a layer, and no struct, union or enum has the tag of another one in the
whole tree. A static function that its file uses three times or more carries a noun of the file: a
word of the file's or the folder's name, or of a prefix that rooms.tsv allows. An include guard is the
path of its header. A file NAME_none.c takes the place of others in a build without a library, and
defines their functions. Names with capitals are put together by macros.

A comment begins with its subject: no first word is a pronoun, or begins a clause that has no noun.
"""

import collections
import os
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing is left in the source tree
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../.."))
LAYERS = ("debugger", "dwarf", "runtimes", "commands")
MANY_USES = 3
NO_NOUNS = {"of", "to", "by", "in"}

CODE = re.compile(r'"(?:\\.|[^"\\\n])*"|' r"'(?:\\.|[^'\\\n])+'|/\*.*?\*/|//[^\n]*", re.DOTALL)
# What clang-format leaves of a definition: its type at the begin of a line, its brace on one of its own.
DEFINITION = re.compile(r"^(?P<type>[a-z_](?:[\w *]|__attribute__\(\([^\n]*?\)\))*?[ *])(?P<name>\w+)"
                        r"\((?:[^;{}()]|\([^;{}()]*\))*\)\n\{", re.MULTILINE)
NO_SUBJECT = re.compile(r"(?:/\*|//)[\s*]*(Of|Likewise|What|Its?|That|Those|These|They|Who|Whose|Which|"
                        r"The same|Ones?|Others?|Such|So)\b")
TAG = re.compile(r"\b(?:struct|union|enum) (\w+)(?: __attribute__\(\(\w+\)\))? \{")
GUARD = re.compile(r"^#ifndef (\w+)\n#define (\w+)\n", re.MULTILINE)


def is_test(path):
    return "/test/" in path or re.search(r"_(test|fuzz)\.c$", path) is not None


def sources(root):
    """Path -> text."""
    found = {}
    for layer in LAYERS:
        for folder, _, names in os.walk(os.path.join(root, layer)):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), root)
                if name.endswith((".c", ".h")) and not is_test(path):
                    with open(os.path.join(root, path), encoding="utf-8") as file:
                        found[path] = file.read()
    return dict(sorted(found.items()))


def room_prefixes(root):
    prefixes = {}
    with open(os.path.join(root, "testdata/check/rooms.tsv"), encoding="utf-8") as table:
        for line in table:
            if line.strip() and not line.startswith("#"):
                folder, _, words = (line.rstrip("\n").split("\t") + ["", ""])[:3]
                prefixes[folder] = words.split()
    return prefixes


def forms(word):
    """A word, and what it is in the singular or plural, or as the name of an activity."""
    yield from (word, word + "s", word.removesuffix("s"))
    if word.endswith("ies"):
        yield word.removesuffix("ies") + "y"
    if word.endswith("y"):
        yield word.removesuffix("y") + "ies"
    if word.endswith("ing") and len(word) > len("ring"):
        yield from (word.removesuffix("ing"), word[:-len("ting")])


def nouns(path, prefixes):
    folder, name = os.path.split(path)
    names = [os.path.splitext(name)[0], os.path.basename(folder), *prefixes.get(folder, [])]
    words = {word for name in names for word in name.split("_") if word}
    return {form for word in words for form in forms(word)} - NO_NOUNS


def check_functions(files, prefixes, problems):
    owners = collections.defaultdict(list)
    for path, text in files.items():
        if path.endswith("_none.c"):
            continue
        allowed = nouns(path, prefixes)
        for definition in DEFINITION.finditer(text):
            name = definition["name"]
            if name == "main" or re.search("[A-Z]", name):
                continue
            owners[path.split("/")[0], name].append(path)
            if "static" not in definition["type"].split() or path.endswith(".h"):
                continue
            uses = len(re.findall(rf"(?<![\w.>]){name}\b", text)) - 1
            if uses >= MANY_USES and not allowed.intersection(name.split("_")):
                problems.append(f"{path}: {name} is used {uses} times and has no noun of its file")
    for (layer, name), paths in owners.items():
        if len(set(paths)) > 1:
            problems.append(f"{layer}: {name} is defined in {', '.join(sorted(set(paths)))}")


def check_tags(files, problems):
    owners = collections.defaultdict(set)
    for path, text in files.items():
        for tag in TAG.findall(text):
            owners[tag].add(path)
    for tag, paths in owners.items():
        if len(paths) > 1:
            problems.append(f"the tag {tag} is defined in {', '.join(sorted(paths))}")


def check_guards(files, problems):
    for path, text in files.items():
        expected = re.sub(r"[^A-Z0-9]", "_", path.upper())
        guard = GUARD.search(text)
        if path.endswith(".h") and (not guard or set(guard.groups()) != {expected}):
            problems.append(f"{path}: its include guard is not {expected}")


def check_comments(path, text, problems):
    for part in CODE.finditer(text):
        first = NO_SUBJECT.match(part[0])
        if first:
            line = text.count("\n", 0, part.start()) + 1
            problems.append(f"{path}:{line}: a comment begins with {first[1]!r}: name its subject")


def check(root):
    problems = []
    texts = sources(root)
    for path, text in texts.items():
        check_comments(path, text, problems)
    files = {path: CODE.sub(" ", text) for path, text in texts.items()}
    check_functions(files, room_prefixes(root), problems)
    check_tags(files, problems)
    check_guards(files, problems)
    return problems


def self_test():
    """Each rule must notice a copy of the sources that breaks it, and nothing else."""
    good = True
    for path, text, fragment in (
            ("debugger/base/map.c", "static void arena_strange(void)\n{\n}\n", None),
            ("debugger/base/map.c", "char *arena_strdup(struct arena *a, const char *s)\n{\n}\n",
             "arena_strdup is defined in"),
            ("runtimes/model/model.c", "struct arena {\n\tint n;\n};\n", "the tag arena is defined"),
            ("debugger/base/map.c",
             "static int strange(int n)\n{\n\treturn n;\n}\nint map_x = strange(strange(strange(1)));\n",
             "strange is used 3 times"),
            ("debugger/base/map.c",
             "static int map_odd(int n)\n{\n\treturn n;\n}\nint map_x = map_odd(map_odd(map_odd(1)));\n",
             None),
            ("debugger/base/new.h", "#ifndef BASE_NEW_H\n#define BASE_NEW_H\n#endif\n",
             "its include guard is not DEBUGGER_BASE_NEW_H"),
            ("debugger/base/map.c", "/* Those of a map. */\n/* \"It\" is a word. */\n",
             "a comment begins with 'Those'")):
        with tempfile.TemporaryDirectory() as copy:
            for folder in (*LAYERS, "testdata/check"):
                shutil.copytree(os.path.join(ROOT, folder), os.path.join(copy, folder))
            with open(os.path.join(copy, path), "a", encoding="utf-8") as file:
                file.write(text)
            problems = check(copy)
        noticed = any(fragment in problem for problem in problems) if fragment else not problems
        if not noticed or len(problems) > 1:
            print(f"{path} with {text!r}: {problems or 'nothing noticed'}")
            good = False
    return good


def main():
    if sys.argv[1:] == ["--self-test"]:
        if not self_test():
            sys.exit(1)
        print("each violation was noticed")
        return
    problems = check(*sys.argv[1:] or [ROOT])
    print("\n".join(problems) or "every name leads to one place")
    sys.exit(1 if problems else 0)


main()
