"""What run_stepping.py runs: scenarios of the program `stepping` and of those like it, and the lines that a
profile allows to differ from those that the program says it has executed."""
import pathlib
import re

TESTDATA = pathlib.Path(__file__).resolve().parents[1]
# Program -> where its modules are.
SOURCES = {
    "stepping": TESTDATA / "programs/stepping/src",
    "smol_steps": TESTDATA / "executors/smol_tasks/src/bin",
    "compio_steps": TESTDATA / "compio/compio_tasks/src/bin",
}


# A closing brace has code, where values are dropped.
CLOSING = r" *[})]+;?"


class Case:
    """One instance of a coroutine in a scenario.

    scenario: argument of the program. function: path of the coroutine, whose first line is the start.
    instance: its number in what the program says. end: how its last `next` ends, see ENDS.
    may: texts of lines, each with the reason why a debugger may stop there though the program does not
    say so. at: the text of the first line, where the function has no name of its own.
    """

    def __init__(self, scenario, module, function=None, instance=0, end="returned", may=None, at=None,
                 name=None, program="stepping"):
        self.scenario, self.module, self.instance, self.end = scenario, module, instance, end
        self.function = function or scenario
        self.program = program
        self.name = name or (scenario if self.function == scenario else f"{scenario}:{self.function}")
        self.may, self.at = may or {}, at
        self.source = (SOURCES[program] / f"{module}.rs").read_text().splitlines()
        self.begin, self.last = self.find_span()

    def find_span(self):
        """The first and the last line of the coroutine."""
        if self.at:
            begin = self.line_of(self.at)
            while not re.search(r"\basync\b|\bfn\b", self.source[begin - 1]):
                begin -= 1
        else:
            begin = self.line_of(f"fn {self.function}", r"\b")
        indent = re.match(" *", self.source[begin - 1]).group()
        end = next(n for n in range(begin + 1, len(self.source) + 1)
                   if self.source[n - 1].startswith(indent + "}"))
        return begin, end

    def line_of(self, text, behind=""):
        return next(n for n, line in enumerate(self.source, 1)
                    if re.search(re.escape(text) + behind, line))

    @property
    def place(self):
        """Where its first line is, as `break` wants it."""
        if self.at:
            return f"{self.module}.rs:{self.line_of(self.at)}"
        return "::".join(dict.fromkeys([self.program, self.module, self.function]))

    def may_stop(self):
        """The lines within the coroutine that are allowed, but not required."""
        return {n for n in range(self.begin, self.last + 1)
                if any(text in self.source[n - 1] for text in self.may) or
                re.fullmatch(CLOSING, self.source[n - 1])}


VARIABLE = "the await of a variable calls nothing that records the line"
SILENT = "the line calls nothing that records it"
MACRO = "code of a macro over several lines has the lines of its beginning and of its arguments"

CASES = [
    # One await after the other.
    Case("plain", "awaits"),
    Case("large", "awaits"),
    Case("ready", "awaits"),
    Case("timer", "awaits"),
    Case("migrates", "awaits"),
    Case("rounds", "awaits"),
    Case("repeats", "awaits", may={"for round in 0..": SILENT}),
    Case("hoists", "awaits", may={"let limit": SILENT, "let _name": SILENT}),
    Case("branches", "awaits"),
    Case("pauses", "awaits"),
    Case("budget", "awaits", "budget_used"),
    Case("error", "awaits"),
    # Several futures in a task.
    Case("join", "together"),
    Case("join", "together", "arm", 1),
    Case("unordered", "together"),
    Case("unordered", "together", "arm", 1),
    Case("buffered", "together"),
    Case("buffered", "together", "arm", 1),
    Case("descend", "together"),
    Case("select", "together", may={"tokio::select!": MACRO, "a = ": MACRO}),
    Case("select", "together", "loser", 1, "dropped"),
    Case("by_reference", "together", may={"tokio::select!": MACRO, "more = ": MACRO}),
    Case("by_reference", "together", "arm", 1),
    Case("elapses", "together"),
    Case("elapses", "together", "loser", 1, "dropped"),
    Case("try_join", "together"),
    Case("try_join", "together", "loser", 1, "dropped"),
    Case("drops", "together"),
    Case("drops", "together", "loser", 1, "dropped"),
    Case("macros", "together"),
    # Coroutines that do not reach their end.
    Case("aborted", "together", "loser", end="cancelled", name="aborted"),
    Case("shutdown", "together", "loser", end="cancelled", name="shutdown"),
    Case("forgets", "together", "loser", end="dropped", name="forgets"),
    Case("panics", "ends", end="panicked"),
    Case("joins", "ends"),
    Case("joins", "ends", "panics", 1, "panicked"),
    Case("catches", "ends"),
    Case("catches", "ends", "panics", 1, "panicked"),
    Case("unwinds", "ends", end="panicked"),
    # Who polls them.
    Case("root", "roots"),
    Case("current", "roots", "root"),
    Case("current_root", "roots", "root"),
    Case("local", "roots", "root"),
    Case("pool", "roots", "untimed"),
    Case("block_on", "roots", "untimed"),
    Case("nested", "roots"),
    Case("nested", "roots", "root", 1),
    Case("spawns", "roots"),
    Case("spawns", "roots", "root", 1),
    Case("blocking", "roots"),
    Case("blocking", "roots", "job", 1),
    # What they are.
    Case("calls", "kinds"),
    Case("calls", "kinds", "dynamic", 1, at="let a = yields(me.at(), 1).await"),
    Case("closure", "kinds"),
    Case("closure", "kinds", "twice", 1, at="let a = yields(me.at(), number).await"),
    Case("block", "kinds"),
    Case("block", "kinds", "other", 1, at="let a = yields(other.at(), 2).await"),
    # Its first line in the source is not the first one that is executed.
    Case("generics", "kinds", at="generic(me.other(1)", may={"tokio::join!": MACRO, "let (a, b, c)": MACRO}),
    Case("generics", "kinds", "generic", 1),
    Case("by_hand", "kinds"),
    Case("by_hand", "kinds", "poll", 1, at="let me = self.me.at()"),
    Case("wrapped", "kinds"),
    Case("boxed", "values", may={"child.await": VARIABLE}),
    # What comes and goes in the middle of a line.
    Case("executes", "system"),
    Case("forks", "system"),
    Case("threads", "system"),
    Case("signals", "system"),
    Case("alarms", "system"),
    # Threads that come to each line at the same moment.
    Case("meets", "abrupt", "met"),
    Case("threads_meet", "abrupt", "thread_met"),
    # What is beside them.
    Case("crowded", "crowd", at="let mut sum = more(me, 0)"),
    Case("neighbour", "crowd"),
]

# One of each kind, which every change must pass.
SMOKE = ["plain", "migrates", "join:arm", "select", "drops:loser", "aborted", "panics", "catches:panics", "spawns",
         "closure"]


def alone(scenario, program, *arguments, **options):
    """A case of a program of one module."""
    return Case(scenario, program, *arguments, program=program, **options)


# On other executors than tokio's.
OTHERS = {
    program: [
        alone("root", program),
        alone("blocks", program, "root", name="blocks"),
        alone("join", program),
        alone("join", program, "arm", 1),
        alone("race", program),
        alone("race", program, "loser", 1, "dropped"),
        alone("cancels", program, "loser", end="cancelled", name="cancels"),
        alone("ends", program, "loser", end="cancelled", name="ends"),
    ] for program in ("smol_steps", "compio_steps")
}
OTHERS["smol_steps"] += [
    alone("local", "smol_steps", "root", name="local"),
    alone("panics", "smol_steps", "refuse", end="panicked", name="panics"),
]

# How the last `next` ends: what its document has.
ENDS = {
    "returned": r'"returned"',
    "dropped": r'"dropped"',
    "cancelled": r'"cancelled"',
    "panicked": r'"panicked"',
}

# Cases whose end optimised code may hide: the program ends before the step sees it.
UNSEEN = set()

# Cases of programs built for release that end "left": what their code is inlined into, a future of a library,
# overwrites them when they are ready, so that whether they have returned is not known any more.
LEFT = {"join:arm", "catches:panics", "generics:generic"}

# Case -> texts of lines that optimised code may not have, each with the reason.
RELEASE = {}
