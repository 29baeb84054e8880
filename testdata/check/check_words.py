#!/usr/bin/env python3
"""The words of words.tsv, private ones that have a standard term, must be in no text of help and,
with --sources, in no source.

usage: check_words.py ASYNCDBG
       check_words.py --sources
       check_words.py --self-test

words.tsv has regular expressions of whole words. Where: "identifier" is a part of a name in C,
between underscores, or the whole name; "text" is comments, documents and scripts; "any" is both;
"message" is what a user reads: help, the README, the manual page, and strings of more than one word in
C sources that are no tests.
"""
import csv
import json
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]


def ask(*words):
    return subprocess.run([sys.argv[1], *words], capture_output=True, text=True, check=True,
                          stdin=subprocess.DEVNULL).stdout


# What the programs of the fixtures are called is in golden/; names of third parties are theirs.
NOT_OURS = ("bench/programs/", *("testdata/" + folder for folder in (
    "golden/", "fixtures/", "programs/", "executors/", "futures/", "servers/", "dump/", "unit/", "fuzz/")))
# This table; and the text of a license.
NOT_SEARCHED = ("words.tsv", "check_words.py", "LICENSE-APACHE", "LICENSE-MIT")
COMMENT, STRING = r"/\*.*?\*/|//[^\n]*", r"([\"'])(?:\\.|(?!\1)[^\\\n])*\1"
TOKENS = re.compile(f"{STRING}|{COMMENT}|\\w+", re.S)


NAMES, TEXT, MESSAGES = "identifier", "text", "message"
WHERE = {NAMES: {NAMES}, TEXT: {TEXT}, "any": {NAMES, TEXT}, MESSAGES: {MESSAGES}}
READ_BY_USERS = ("README.md", "commands/asyncdbg.1", *(f"docs/{page}.md" for page in (
    "commands", "editors", "incidents", "install", "metrics")))


def banned_words():
    """(pattern, where it is banned, what to write instead)"""
    with open(root / "testdata/check/words.tsv", encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            pattern = re.compile(r"(?<![a-z])(?:" + row["word"].replace(" ", r"\s+(?:\*\s+)?") +
                                 r")(?![a-z])", re.I)
            yield pattern, WHERE[row["where"]], row["instead"]


def parts_of_code(text):
    """(offset, text, what it is) of names, comments and strings; adjacent strings are one."""
    strings, start, end = "", 0, 0
    for t in TOKENS.finditer(text):
        if t[1]:
            if not strings or text[end:t.start()].strip(" \t\n\\"):
                yield start, strings, MESSAGES
                strings, start = "", t.start()
            strings, end = strings + t[0][1:-1].replace("\\n", " "), t.end()
        else:
            yield t.start(), t[0], TEXT if t[0][0] == "/" else NAMES
    yield start, strings, MESSAGES


def banned_in(text, is_code, words, clean, kinds=(TEXT,), strings=True):
    """(line, word, instead) of each. clean: names in C without such a word, which this adds to. kinds: of a
    text that is no code."""
    parts = parts_of_code(text) if is_code else [(0, text, kind) for kind in kinds]
    for start, part, kind in parts:
        if kind == MESSAGES and is_code and (not strings or " " not in part):
            continue
        if kind == NAMES and part in clean:
            continue
        hits = [(hit, instead) for pattern, where, instead in words if kind in where
                for hit in pattern.finditer(part)]
        if kind == NAMES and not hits:
            clean.add(part)
        for hit, instead in hits:
            yield text.count("\n", 0, start + hit.start()) + 1, hit[0], instead


def check_sources():
    files = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True,
                           check=True).stdout.split("\0")
    words, clean, bad, n = list(banned_words()), set(), 0, 0
    for name in filter(None, files):
        path = root / name
        if path.name in NOT_SEARCHED or name.startswith(NOT_OURS):
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        n += 1
        kinds = (TEXT, MESSAGES) if name in READ_BY_USERS else (TEXT,)
        is_test = name.startswith("testdata/") or path.name.endswith(("_test.c", "_fuzz.c"))
        for line, word, instead in banned_in(text, path.suffix in (".c", ".h"), words, clean, kinds,
                                             not is_test and "/test/" not in name):
            print(f"{name}:{line}: {' '.join(word.split())}: {instead}")
            bad += 1
    print(f"{n} files, {len(words)} rows of words.tsv, {bad} such words")
    return bad


def self_test():
    words = list(banned_words())
    code = '''int told_before; /* Nothing
 * is
 * said. */ const char *s = "told"; bool fact; struct artefact twin_of; // rehearsed
'''
    found = [(line, word.split()[-1]) for line, word, _ in banned_in(code, True, words, set())]
    assert found == [(1, "told"), (2, "said"), (3, "fact"), (3, "twin"), (3, "rehearsed")], found
    code = 'f("the old one runs "\n  "anew", "anew", x("it " PRI " goes for good"));'
    found = [(line, word) for line, word, _ in banned_in(code, True, words, set())]
    assert found == [(1, "anew"), (2, "for good")], found
    found = [word for _, word, _ in banned_in("A fact. It was not said; he asked.", False, words, set())]
    assert found == ["was not said"], found
    print(f"{len(words)} rows ok")


def main():
    if sys.argv[1:] == ["--sources"]:
        sys.exit(bool(check_sources()))
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    commands = [c["name"] for c in json.loads(ask("--json", "help"))["commands"]]
    wrong = []
    for name in commands:
        assert ask("help", *name.split()).startswith(name), name
    words = list(banned_words())
    for name in ("", *commands):
        wrong += [f"help {name}: {word}: {instead}"
                  for _, word, instead in banned_in(ask("help", *name.split()), False, words, set(),
                                                  (TEXT, MESSAGES))]
    for line in wrong:
        print(line)
    print(f"{len(commands)} commands")
    sys.exit(bool(wrong))


main()
