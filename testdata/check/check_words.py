#!/usr/bin/env python3
"""Compares the shells' completions and the manual page with what asyncdbg says of itself: every
command, every option of a command and every option of the program must be in each of them, and no
word of a command that does not exist.

usage: check_words.py ASYNCDBG
"""
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


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    commands = command_options()
    for name in commands:
        assert ask("help", *name.split()).startswith(name), name
    program = sorted(set(re.findall(r"(--[a-z-]+)", ask("--help"))) - {"--usage"})
    wrong = [f"{file} lacks {what}" for file, what in missing(commands, program)]
    wrong += [f"{file} lacks the first word {what}, or offers it though it is no command"
              for file, what in first_words(commands)]
    for line in wrong:
        print(line)
    print(f"{len(commands)} commands, {len(program)} options")
    sys.exit(bool(wrong))


main()
