#!/usr/bin/env python3
"""Compares the shells' completions and the manual page with what asyncdbg says of itself: every
command, every option of a command and every option of the program must be in each of them, and no
word of a command that does not exist. The words of words.tsv, private ones that have a standard
term, must be in no text of help and, with --sources, in no source.

usage: check_words.py ASYNCDBG
       check_words.py --sources
       check_words.py --self-test

words.tsv has regular expressions of whole words. Where: "identifier" is a part of a name in C,
between underscores, or the whole name; "text" is comments, documents and scripts; "any" is both.
Strings in C are what the program prints, and are not searched.
"""
import csv
import json
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
folder = root / "commands"


def read(path):
    return (folder / path).read_text(encoding="utf-8")


def ask(*words):
    return subprocess.run([sys.argv[1], *words], capture_output=True, text=True, check=True,
                          stdin=subprocess.DEVNULL).stdout


def command_options():
    """Command -> its long options."""
    return {c["name"]: [o for o in c["options"] if o.startswith("--")]
            for c in json.loads(ask("--json", "help"))["commands"]}


def word_in(word, text):
    return re.search(r"(?<![\w-])" + re.escape(word) + r"(?![\w-])", text) is not None


def missing(commands, program):
    """What is to be found in which file, as that file writes it."""
    man = read("asyncdbg.1").replace("\\-", "-")
    files = {name: read("completions/" + name) for name in
             ("asyncdbg.bash", "_asyncdbg", "asyncdbg.fish")}
    for name, options in commands.items():
        plain = " ".join(re.sub(r"\\f.|\"|^\.[A-Z]+ ", "", line) for line in man.splitlines())
        if not word_in(name, plain):
            yield "asyncdbg.1", name
        for option in options:
            if not word_in(option, man):
                yield "asyncdbg.1", f"{name} {option}"
        for file, text in files.items():
            for word in name.split():
                if not word_in(word, text):
                    yield file, name
            for option in options:
                as_written = f"-l {option[2:]}" if file.endswith("fish") else option
                if not word_in(as_written, text):
                    yield file, f"{name} {option}"
    for option in program:
        if not word_in(option, man):
            yield "asyncdbg.1", option
        for file, text in files.items():
            if not word_in(f"-l {option[2:]}" if file.endswith("fish") else option, text):
                yield file, option


def first_words(commands):
    """First words that a completion offers and that are no command's, or the other way round."""
    known = {name.split()[0] for name in commands}
    bash = re.search(r'"" *\) *next="([^"]*)"', read("completions/asyncdbg.bash")).group(1)
    fish = re.search(r"'__asyncdbg_typed' -a '([^']*)'", read("completions/asyncdbg.fish")).group(1)
    zsh = re.search(r'""\) next=\((.*?)\) ;;', read("completions/_asyncdbg"), re.S).group(1)
    offered = {"asyncdbg.bash": bash.split(), "asyncdbg.fish": fish.split(),
               "_asyncdbg": re.findall(r"'([a-z]+):", zsh)}
    for file, words in offered.items():
        for word in known ^ set(words):
            yield file, word


# What the programs of the fixtures are called is in golden/; names of third parties are theirs.
NOT_OURS = ("bench/programs/", *("testdata/" + folder for folder in (
    "golden/", "fixtures/", "programs/", "executors/", "futures/", "servers/", "dump/", "unit/", "fuzz/")))
# This table; and the text of a license.
NOT_SEARCHED = ("words.tsv", "check_words.py", "LICENSE-APACHE", "LICENSE-MIT")
COMMENT, STRING = r"/\*.*?\*/|//[^\n]*", r"([\"'])(?:\\.|(?!\1)[^\\\n])*\1"
TOKENS = re.compile(f"{STRING}|{COMMENT}|\\w+", re.S)


def banned_words():
    """(pattern, whether in identifiers, whether in text, what to write instead)"""
    with open(root / "testdata/check/words.tsv", encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            pattern = re.compile(r"(?<![a-z])(?:" + row["word"].replace(" ", r"\s+(?:\*\s+)?") +
                                 r")(?![a-z])", re.I)
            yield pattern, row["where"] != "text", row["where"] != "identifier", row["instead"]


def banned_in(text, is_code, words):
    """(line, word, instead) of each."""
    parts = [(0, text, False)]
    if is_code:
        parts = [(t.start(), t[0], t[0][0] != "/") for t in TOKENS.finditer(text) if not t[1]]
    for start, part, is_name in parts:
        for pattern, in_names, in_text, instead in words:
            for hit in pattern.finditer(part) if (in_names if is_name else in_text) else ():
                yield text.count("\n", 0, start + hit.start()) + 1, hit[0], instead


def check_sources():
    files = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True,
                           check=True).stdout.split("\0")
    words, bad, n = list(banned_words()), 0, 0
    for name in filter(None, files):
        path = root / name
        if path.name in NOT_SEARCHED or name.startswith(NOT_OURS):
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        n += 1
        for line, word, instead in banned_in(text, path.suffix in (".c", ".h"), words):
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
    found = [(line, word.split()[-1]) for line, word, _ in banned_in(code, True, words)]
    assert found == [(1, "told"), (2, "said"), (3, "fact"), (3, "twin"), (3, "rehearsed")], found
    found = [word for _, word, _ in banned_in("A fact. It was not said; he asked.", False, words)]
    assert found == ["was not said"], found
    print(f"{len(words)} rows ok")


def main():
    if sys.argv[1:] == ["--sources"]:
        sys.exit(bool(check_sources()))
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    commands = command_options()
    for name in commands:
        assert ask("help", *name.split()).startswith(name), name
    program = sorted(set(re.findall(r"(--[a-z-]+)", ask("--help"))) - {"--usage"})
    wrong = [f"{file} lacks {what}" for file, what in missing(commands, program)]
    wrong += [f"{file} lacks the first word {what}, or offers it though it is no command"
              for file, what in first_words(commands)]
    words = list(banned_words())
    for name in ("", *commands):
        wrong += [f"help {name}: {word}: {instead}"
                  for _, word, instead in banned_in(ask("help", *name.split()), False, words)]
    for line in wrong:
        print(line)
    print(f"{len(commands)} commands, {len(program)} options")
    sys.exit(bool(wrong))


main()
