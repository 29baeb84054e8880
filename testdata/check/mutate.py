#!/usr/bin/env python3
"""Tests the unit tests: changes one operator of a C file at a time, and runs the tests that link the file.

usage: mutate.py BUILD FILE... [--sample N] [--seed N] [--list] [--jobs N] [--function NAME...] [--wide]
       mutate.py --self-test

BUILD       a build tree with tests; what is needed of it is brought up to date first
FILE        a .c file of a layer
--sample    of all mutants of all files only so many, the same number of each file
--seed      of the sample, default 1: the same seed, the same mutants
--list      only prints the mutants
--jobs      how many mutants at a time, default 1
--function  only mutants in these functions
--wide      with all tests that link the file, not only those of its folder

A mutant has one change: == and !=, < and <=, > and >=, && and ||, + and -, += and -=, !x and x, a returned
truth value negated, an integer one more or one less. It is compiled and linked in a scratch folder, so that
neither the sources nor BUILD ever have one. A mutant that does not compile, or compiles to the same code, is
left out. Prints "killed" and the test that fails, or "survived", for each; where no test executes the line, no
test is run. Exit status 1: one has survived.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SWAPS = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&",
         "+": "-", "-": "+", "+=": "-=", "-=": "+="}
TOKEN = re.compile(r"""(?P<blank>/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'
                       |^[ \t]*\#(?:\\\n|[^\n])*)
                     |(?P<number>\b(?:0[xX][0-9a-fA-F]+|\d+)\b)
                     |(?P<word>\w+)
                     |(?P<operator>->|\+\+|--|<<=?|>>=?|[-+*/%&|^=!<>]=|&&|\|\||[-+*/%&|^=!<>~?:]|\.\.\.)
                     |(?P<other>\S)""", re.S | re.M | re.X)
# A mutant of these could signal or remove what is not its own.
DANGEROUS = re.compile(r"\b(kill|tgkill|syscall|pidfd_send_signal|unlink|rmdir|rename|remove|waitpid)\w*\(")
MEMORY, FILES = 4 << 30, 1 << 30  # bytes that a test with a mutant may have, and write

Mutant = collections.namedtuple("Mutant", "file line function begin end text")
Token = collections.namedtuple("Token", "kind text begin end")


def tokens(source):
    return [Token(m.lastgroup, m.group(), m.start(), m.end()) for m in TOKEN.finditer(source)
            if m.lastgroup != "blank"]


def functions(source):
    """The bodies of functions: name, whether it returns bool, its tokens."""
    depth, begin, head, body = 0, None, [], []
    for token in tokens(source):
        if token.text == "{":
            if depth == 0 and head and head[-1].text == ")":
                begin = token
            depth += 1
        if begin:
            body.append(token)
        if token.text == "}":
            depth -= 1
            if depth == 0 and begin:
                name = next(i for i, t in enumerate(head) if t.text == "(") - 1
                before = [t.text for t in head[:name]]
                yield head[name].text, before[-1:] == ["bool"], body
                begin, body = None, []
            if depth == 0:
                head = []
        elif depth == 0:
            head = [] if token.text == ";" else head + [token]


def is_binary(before):
    """Whether an operator behind this token has a value on its left."""
    return before.kind in ("number", "word") and before.text != "return" or before.text in (")", "]")


def changes(body, is_bool):
    """Each change in a function: what is replaced, from where to where, by what."""
    for i, token in enumerate(body[1:], 1):
        before = body[i - 1]
        if token.kind == "operator" and token.text in SWAPS and is_binary(before):
            yield token.begin, token.end, SWAPS[token.text]
        elif token.text == "!":
            yield token.begin, token.end, ""
        elif token.text in ("true", "false"):
            if before.text == "return":
                yield token.begin, token.end, "false" if token.text == "true" else "true"
        elif token.kind == "number" and before.text not in ("-", "case"):
            value = int(token.text, 0 if not re.fullmatch("0\\d+", token.text) else 8)
            yield token.begin, token.end, str(value + 1)
            if value:
                yield token.begin, token.end, str(value - 1)
        elif token.text == "return" and is_bool and body[i + 1].text not in ("true", "false"):
            end = next(t for t in body[i:] if t.text == ";")
            yield body[i + 1].begin, end.begin, f"!({{}})"


def mutants_of(file, source, only=()):
    for name, is_bool, body in functions(source):
        if only and name not in only:
            continue
        for begin, end, text in changes(body, is_bool):
            line = source.count("\n", 0, begin) + 1
            if not DANGEROUS.search(source.splitlines()[line - 1]):
                yield Mutant(file, line, name, begin, end, text.format(source[begin:end]))


def mutate(source, mutant):
    return source[:mutant.begin] + mutant.text + source[mutant.end:]


def describe(source, mutant):
    old = " ".join(source[mutant.begin:mutant.end].split())
    new = " ".join(mutant.text.split())
    line = source.splitlines()[mutant.line - 1].strip()
    return f"{mutant.file}:{mutant.line}: {mutant.function}(): '{old}' -> '{new}' in: {line}"


# ---- building ----


def run_command(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def defined_symbols(paths, *options):
    """File -> its symbols; mold makes those of programs local."""
    symbols = {str(path): set() for path in paths}
    for line in run_command(["nm", "-A", *options, "--defined-only", *symbols]).stdout.splitlines():
        symbols[line[:line.index(":")]].add(line.split()[-1])
    return symbols


class Test:
    """A test program, and how it is linked."""

    def __init__(self, build, description):
        properties = {p["name"]: p["value"] for p in description["properties"]}
        self.build, self.command = build, description["command"]
        self.program = pathlib.Path(self.command[0])
        self.name = self.program.name
        self.env = {**os.environ, **dict(v.split("=", 1) for v in properties.get("ENVIRONMENT", []))}
        self.directory = properties.get("WORKING_DIRECTORY", str(build))
        self.seconds = 0.0

    def link(self, instead, to, *options):
        """Links it with an object in place of the one of the archive."""
        line = run_command(["ninja", "-C", str(self.build), "-t", "commands", self.name]).stdout
        words = shlex.split(line.splitlines()[-1].removeprefix(": && ").removesuffix(" && :"))
        words[words.index("-o") + 1] = str(to)
        first = next(i for i, word in enumerate(words) if word.endswith(".a"))
        words[first:first] = [str(instead), *options]
        linked = run_command(words, cwd=self.build)
        if linked.returncode:
            raise SystemExit(f"{self.name} does not link: {linked.stderr[-2000:]}")

    def passes(self, program, **env):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_FSIZE, (FILES, FILES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        # A session of its own: what a mutant signals is at most its own group.
        process = subprocess.Popen([str(program), *self.command[1:]], env={**self.env, **env},
                                   cwd=self.directory, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True, preexec_fn=limit)
        try:
            return process.wait(timeout=20 + 10 * self.seconds) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()


def near_tests(build, files):
    """File -> the names of the test programs in its folder."""
    sources = [pathlib.Path(e["file"]) for e in json.loads((build / "compile_commands.json").read_text())]
    return {file: {source.stem for source in sources
                   if source.parent == (ROOT / file).parent and source.stem.endswith("_test")} for file in files}


def read_tests(build, names):
    """The tests of these names; None: all."""
    listed = json.loads(run_command(["ctest", "--test-dir", str(build), "-L", "unit",
                                     "--show-only=json-v1"]).stdout)
    tests = [Test(build, test) for test in listed["tests"]
             if "command" in test and (names is None or pathlib.Path(test["command"][0]).name in names)]
    symbols = defined_symbols([test.program for test in tests])
    return [(test, symbols[str(test.program)]) for test in tests]


class Unit:
    """A C file: how it is compiled, and the tests that have its code, its own one and short ones first."""

    def __init__(self, build, file, tests, scratch):
        self.file, self.scratch = file, scratch
        self.source = (ROOT / file).read_text()
        entries = json.loads((build / "compile_commands.json").read_text())
        entry = next((e for e in entries if e["file"] == str(ROOT / file)), None)
        if not entry:
            raise SystemExit(f"{file}: {build} does not compile it")
        words = shlex.split(entry["command"])
        self.output = build / words[words.index("-o") + 1]
        drop = {"-Werror", "-g", "-c", "-o", words[words.index("-o") + 1], entry["file"]}
        # Without debug info equal code makes equal objects.
        self.compiler = [w for w in words if w not in drop] + ["-w", "-g0", "-I", str((ROOT / file).parent)]
        self.directory = entry["directory"]
        symbols = defined_symbols([self.output], "-g")[str(self.output)]
        own = pathlib.PurePath(file).stem + "_test"
        self.tests = [test for test, defined in tests if defined & symbols]
        self.plain = self.compile(self.source, "plain")
        self.compile(self.source, "lines", "--coverage")
        self.executed = {test: self.measure(test) for test in self.tests}
        self.tests.sort(key=lambda t: (t.name != own, t.seconds, t.name))

    def measure(self, test):
        """The lines of the file that a test executes."""
        folder = self.scratch / "lines"
        test.link(folder / "mutant.o", folder / test.name, "--coverage")
        begin = time.monotonic()
        if not test.passes(folder / test.name):
            raise SystemExit(f"{test.name} fails without a mutant")
        test.seconds = max(test.seconds, time.monotonic() - begin)
        if not (folder / "mutant.gcda").exists():
            raise SystemExit(f"{test.name} does not say what it executes: it ends without exit()")
        counts = run_command(["gcov", "--json-format", "--stdout", "mutant.gcda"], cwd=folder).stdout
        lines = [line for file in json.loads(counts)["files"] for line in file["lines"]
                 if pathlib.PurePath(file["file"]).name == pathlib.PurePath(self.file).name]
        (folder / "mutant.gcda").unlink()
        (folder / test.name).unlink()
        return {line["line_number"] for line in lines if line["count"]}

    def compile(self, source, name, *options):
        """The bytes of the object; None: it does not compile. The file's name is in none."""
        folder = self.scratch / name
        folder.mkdir(exist_ok=True)
        path, to = folder / pathlib.PurePath(self.file).name, folder / "mutant.o"
        path.write_text(source)
        done = run_command([*self.compiler, f"-ffile-prefix-map={folder}=.", *options, "-c", str(path), "-o",
                            str(to)], cwd=self.directory)
        return None if done.returncode else to.read_bytes()

    def may_execute(self, test, mutant):
        """gcov counts an expression over several lines at one of them."""
        last = mutant.line + self.source.count("\n", mutant.begin, mutant.end)
        return any(n in self.executed[test] for n in range(mutant.line - 3, last + 2))

    def try_mutant(self, mutant, number):
        """"killed" and by which test, "survived", or "left out"."""
        name = str(number)
        try:
            code = self.compile(mutate(self.source, mutant), name)
            if code is None or code == self.plain:
                return "left out", ""
            tests = [t for t in self.tests if self.may_execute(t, mutant)]
            for test in tests:
                program = self.scratch / name / test.name
                test.link(self.scratch / name / "mutant.o", program)
                if not test.passes(program):
                    return "killed", test.name
                program.unlink()
            return "survived", "" if tests else "no test that executes it"
        finally:
            shutil.rmtree(self.scratch / name, ignore_errors=True)


def try_all(unit, mutants, wanted, jobs):
    """Tries mutants until so many were not left out: how many were killed, how many survived."""
    found = collections.Counter()
    queue = iter(enumerate(mutants))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        while found["killed"] + found["survived"] < wanted:
            left = wanted - found["killed"] - found["survived"]
            batch = [m for _, m in zip(range(min(jobs, left)), queue)]
            if not batch:
                break
            results = pool.map(lambda m: unit.try_mutant(m[1], m[0]), batch)
            for (_, mutant), (result, test) in zip(batch, results):
                found[result] += 1
                if result != "left out":
                    by = f" ({test})" if test else ""
                    print(f"{result}{by}: {describe(unit.source, mutant)}", flush=True)
    print(f"{unit.file}: {found['killed']} of {found['killed'] + found['survived']} killed, by "
          f"{len(unit.tests)} tests", flush=True)
    return found


# ---- the command ----

SELF = """
static const int table[] = { 1, 2 };
/* a == b */
static bool is_less(int a, int b)
{
	return a < b && !b;
}
int add(const char *s)
{
	if (*s == 'a')
		return true;
	return -1 + 02;
}
"""


def self_test():
    made = [mutate(SELF, m) for m in mutants_of("self.c", SELF)]
    for text in ("return a <= b && !b;", "return a < b || !b;", "return a < b && b;",
                 "return !(a < b && !b);", "*s != 'a'", "return false;", "return -1 - 02;", "-1 + 3", "-1 + 1"):
        if sum(text in source for source in made) != 1:
            raise SystemExit(f"self-test: no mutant, or more than one, has '{text}'")
    if len(made) != 9:
        raise SystemExit(f"self-test: {len(made)} mutants instead of 9")
    print("ok")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--function", nargs="*", default=[])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        self_test()
        return
    if not options.files:
        parser.error("no file")
    files = [str(pathlib.Path(f).resolve().relative_to(ROOT)) for f in options.files]
    mutants = {}
    for file in files:
        source = (ROOT / file).read_text()
        mutants[file] = list(mutants_of(file, source, options.function))
        random.Random(f"{options.seed} {file}").shuffle(mutants[file])
        for mutant in mutants[file] if options.list else ():
            print(describe(source, mutant))
    if options.list:
        return
    build = options.build.resolve()
    near = near_tests(build, files)
    names = None if options.wide else set().union(*near.values())
    targets = ["all"] if options.wide else [*sorted({file.split("/")[0] for file in files}), *sorted(names)]
    subprocess.run(["cmake", "--build", str(build), "-j", str(options.jobs), "--target", *targets], check=True,
                   stdout=subprocess.DEVNULL)
    tests, found = read_tests(build, names), collections.Counter()
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        for i, file in enumerate(files):
            folder = pathlib.Path(scratch) / str(i)
            folder.mkdir()
            share = sys.maxsize
            if options.sample is not None:
                share = options.sample // len(files) + (i < options.sample % len(files))
            unit = Unit(build, file, [t for t in tests if options.wide or t[0].name in near[file]], folder)
            found += try_all(unit, mutants[file], share, options.jobs)
    print(f"{found['killed']} of {found['killed'] + found['survived']} mutants killed")
    sys.exit(1 if found["survived"] else 0)


main()
