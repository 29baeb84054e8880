#!/usr/bin/env python3
"""
Checks that asyncdbg opens files for writing in one place only: debugger/base/new_file.c, which follows no
link of somebody else, opens no device or pipe, and replaces only what is of the format that is written.

usage: check_writes.py [--self-test]

Looks at every source of the four layers but tests and fuzzers. Exit status 1 where one opens, creates or
renames files by itself.
"""
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
LAYERS = ("debugger", "dwarf", "runtimes", "commands")
# What may create folders: path.c is the second half of the one place.
OWNERS = {"debugger/base/new_file.c": None, "debugger/base/path.c": {"mkdir", "mkdirat"}}

FORBIDDEN = [
    ("creates or truncates", re.compile(r"\bO_(CREAT|TRUNC|TMPFILE|APPEND)\b")),
    ("opens for writing", re.compile(r"\bopen(at)?\([^;]*\bO_(WRONLY|RDWR)\b")),
    ("opens a stream for writing", re.compile(r"\b(fopen|freopen|fopen64)\([^;]*\"(w|a|r\+)[^\"]*\"\s*(,[^;]*)?\)")),
    ("opens a stream in a way that is not plain to see", re.compile(r"\bfopen\((?![^;]*\"r[^\"]*\"\s*\))")),
    ("creates", re.compile(r"\b(creat|mkstemp|mkostemp|mkdtemp|tmpfile|mknod|mkfifo|symlink|link|linkat|symlinkat)\(")),
    ("renames", re.compile(r"\b(rename|renameat|renameat2)\(")),
    ("compresses into a path", re.compile(r"\bgzopen\(")),
    ("makes a folder", re.compile(r"\b(mkdir|mkdirat)\(")),
]

SAMPLES = [
    ("int fd = open(path, O_WRONLY | O_CREAT, 0600);", True),
    ("int fd =\n\t\topenat(dir, name,\n\t\t       O_RDWR | O_CLOEXEC);", True),
    ("FILE *f = fopen(path, \"we\");", True),
    ("FILE *f = fopen(path, how);", True),
    ("rename(old, path);", True),
    ("FILE *f = fopen(path, \"re\");", False),
    ("FILE *f CLEANUP(x) = is_stdin ? stdin : fopen(path, \"re\");", False),
    ("int fd = open(path, O_RDONLY | O_CLOEXEC);", False),
    ("/* open(path, O_WRONLY | O_CREAT) is not called */", False),
    ("open_rename(x); json_open(w, O_X);", False),
]


def without_comments(text):
    """The same lines without comments, so that numbers of lines stay."""
    return re.sub(r"/\*.*?\*/", lambda found: re.sub(r"[^\n]", " ", found.group()), text, flags=re.S)


def problems_of(text):
    text = without_comments(text)
    for what, pattern in FORBIDDEN:
        for found in pattern.finditer(text):
            yield text.count("\n", 0, found.start()) + 1, what, found.group().split("(")[0]


def self_test():
    wrong = [sample for sample, is_bad in SAMPLES if bool(list(problems_of(sample))) != is_bad]
    for sample in wrong:
        print(f"taken for the opposite: {sample}")
    return wrong


def check_sources():
    found = []
    for layer in LAYERS:
        for path in sorted((TOP / layer).rglob("*.[ch]")):
            name = str(path.relative_to(TOP))
            if re.search(r"(_test|_fuzz)\.c$|/test/", name) or OWNERS.get(name, {}) is None:
                continue
            for line, what, call in problems_of(path.read_text(encoding="utf-8")):
                if call not in OWNERS.get(name, ()):
                    found.append(f"{name}:{line}: {what}: files are written by debugger/base/new_file.h")
    print("\n".join(found) or "files are written in one place")
    return found


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--self-test"]):
        sys.exit(__doc__)
    sys.exit(1 if (self_test() if sys.argv[1:] else check_sources()) else 0)
