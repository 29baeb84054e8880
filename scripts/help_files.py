#!/usr/bin/env python3
"""Writes the files that repeat what asyncdbg says of itself, from its help: the completions of bash,
zsh and fish (commands/completions), docs/commands.md, and in commands/asyncdbg.1 what is between
a line `.\\" help: NAME`, or `.\\" options`, and the next `.\\" end`.

usage: help_files.py ASYNCDBG            write them
       help_files.py --check ASYNCDBG    say which are stale
"""
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[1]
BY = "written by scripts/help_files.py: do not edit"

# Other words for those of names.
ALIASES = {"backtrace": "bt", "quit": "exit"}
# Options of which one is enough.
EXCLUSIVE = (("--pid", "--name", "--unit", "--core"), ("--stop-all", "--no-stop"), ("--json", "--jsonl"))
# Values that can be completed, by the text of an option's placeholder.
FILES, FOLDER, PROCESS = "files", "folder", "process"
BY_PLACEHOLDER = {"FILE": FILES, "CORE": FILES, "DIR": FOLDER, "PID": PROCESS}


class Option:
    def __init__(self, name, short, arg, text):
        self.name, self.short, self.arg, self.text = name, short, arg, text
        self.values = BY_PLACEHOLDER.get(arg, "")

    def words(self):
        """How many words its value has."""
        return len(self.arg.split()) if self.arg else 0

    def spellings(self):
        return ([self.short] if self.short else []) + [self.name]

    def brief(self):
        """The first clause of its help."""
        condition, rest = re.fullmatch(r"(With --[a-z -]+: )?(.*)", self.text).groups()
        text = re.split(r"(?<=\w)[.;:] | \(|, (?:which|so|to|until)\b", rest)[0]
        return text[0].upper() + text[1:] if condition else text


class Command:
    def __init__(self, row):
        self.name, self.args, self.summary = row["name"], row["args"] or "", row["summary"]
        self.body = [line.removeprefix("    ") for line in (row["help"] or "").splitlines()]
        self.options = []
        for o in row["option_help"]:
            short, _, name = o["name"].rpartition(", ")
            self.options.append(Option(name, short, o["arg"], o["help"]))

    def usage(self):
        words = [self.name, self.args] if self.args else [self.name]
        for o in self.options:
            words.append(f"[{o.short or o.name}{' ' + o.arg if o.arg else ''}]")
        return " ".join(words)

    def paragraphs(self):
        """(whether an example, text) of its body: a line that is further in is an example."""
        text = [self.summary + "."]
        for line in self.body:
            if not line.startswith("    "):
                text.append(line)
                continue
            if text:
                yield False, " ".join(text)
            text = []
            yield True, line.strip()
        if text:
            yield False, " ".join(text)

    def listed(self, pattern):
        """The words of a list in its help."""
        found = re.search(pattern + r"\s+([^.;]*)", " ".join(self.body) + " " +
                          " ".join(f"{o.name}: {o.text}." for o in self.options))
        return re.findall(r"[a-z][a-z0-9_-]+", found.group(1).replace(" or ", " ")) if found else []

    def set_values(self):
        """Values of options whose help lists them."""
        fields = self.listed("FIELD is one of")
        checks = self.listed("Checks:")
        possible = [c + ":possible" for c in self.listed("applies to") if c in checks]
        for o in self.options:
            if o.arg and o.arg.startswith("FIELD"):
                o.values = fields
            elif o.name in ("--fail-on", "--on"):
                o.values = checks + possible
            elif o.name == "--events":
                o.values = [e for e in self.listed("Events:") if e.startswith(("task-", "worker-"))]
            elif o.name == "--format":
                o.values = [w for w in ("text", "dot", "perfetto", "bpftrace", "folded", "pprof", "html")
                            if re.search(rf"\b{w}\b", o.text)]
            elif o.name == "--when":
                o.values = ["poll>50ms", "runnable>100ms", "alive>1000", "deadlock", "death"]
        if self.name == "top":
            values = {"--sort": self.listed("Sort by"), "--group": ["type", "place"],
                      "--with": ["id", "type", "place"]}
            for o in self.options:
                o.values = values.get(o.name, o.values)
        if self.name == "trace":
            next(o for o in self.options if o.name == "--with").values = ["id", "type"]

    def spellings(self):
        """Its name, with other words for the words in it."""
        names = [""]
        for word in self.name.split():
            same = [word] + [b for a, b in ALIASES.items() if a == word]
            names = [f"{name} {w}".strip() for name in names for w in same]
        return names

    def takes_files(self):
        return re.search(r"FILE(?!:)|EXE|PROGRAM|\[A\b", self.args) is not None

    def words(self):
        """Words that its argument is one of: panic|task-panic."""
        return self.args.split("|") if re.fullmatch(r"[a-z|-]+\|[a-z|-]+", self.args) else []


def ask(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, check=True,
                          stdin=subprocess.DEVNULL,
                          env=os.environ | {"ARGP_HELP_FMT": "rmargin=10000", "LC_ALL": "C.UTF-8"}).stdout


def read_commands(program):
    commands = [Command(row) for row in json.loads(ask(program, "--json", "help"))["commands"]]
    for c in commands:
        c.set_values()
    return commands


def read_options(program):
    """(heading, options) of the program."""
    groups = []
    for line in ask(program, "--help").splitlines():
        heading = re.fullmatch(r" (\w+):", line)
        option = re.fullmatch(r" +(?:(-.), )? *(--[a-z-]+)(?:=(\S+))?  +(.*)", line)
        if heading:
            groups.append((heading[1], []))
        elif option:
            if option[2] == "--help":
                groups.append(("Other", []))
            o = Option(option[2], option[1], option[3], option[4])
            if o.name == "--color":
                o.values = ["auto", "always", "never"]
            groups[-1][1].append(o)
    return groups


def next_words(commands):
    """(words typed, [(next word, what it is)]) as typed, with other words for those of names."""
    ret = {}
    for c in commands:
        words = c.name.split()
        for i, word in enumerate(words):
            typed = ret.setdefault(" ".join(words[:i]), {})
            if i + 1 == len(words):
                typed[word] = c.summary
            else:
                typed.setdefault(word, "")
    for typed, words in ret.items():
        for word, what in words.items():
            if not what:
                words[word] = "Commands: " + ", ".join(ret[f"{typed} {word}".strip()])
    for typed in list(ret):
        for a, b in ALIASES.items():
            if a in typed.split():
                ret[" ".join(b if w == a else w for w in typed.split())] = ret[typed]
    return ret


# ---- bash ----

BASH = r'''# bash completion for asyncdbg(1), @BY@

# Sets skip to the number of words that the value of option $1 has, after the words of a command $2.
_asyncdbg_value_words()
{
	skip=0
	case "$1" in
@ARITY@	esac
}

# Sets values to the values of option $1 of the command $2, and kind to what else they are.
_asyncdbg_values()
{
	values= kind=
	case "$2 $1" in
@VALUES@	esac
}

_asyncdbg()
{
	local cur=${COMP_WORDS[COMP_CWORD]} option= skip=0 left i word values kind next= own=
	local -a words=()

	COMPREPLY=()
	# The command typed so far, without options and their values; readline makes = a word.
	[[ $cur != = ]] || cur=
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		[[ $word != = ]] || continue
		if ((skip)); then
			skip=$((skip - 1))
			continue
		fi
		case $word in
		-*)
			option=$word
			_asyncdbg_value_words "$word" "${words[*]} "
			;;
		*)
			# The target: digits are a process, a word with a slash an executable or core.
			[[ ${#words[@]} -eq 0 && $word =~ (^[0-9]+$|/) ]] || words+=("$word")
			;;
		esac
	done
	[[ ${words[0]} == help ]] && words=("${words[@]:1}")
	if ((skip)); then
		_asyncdbg_values "$option" "${words[*]}"
		left=$skip
		_asyncdbg_value_words "$option" "${words[*]} "
		# The second word of FIELD VALUE can be anything.
		((left == skip)) || return
		case $kind in
		files) compopt -o filenames && mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
		folder) compopt -o filenames && mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
		process) mapfile -t COMPREPLY < <(compgen -W "$(command ps -eo pid= 2>/dev/null)" -- "$cur") ;;
		*) mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur") ;;
		esac
		return
	fi
	if [[ $cur == -* ]]; then
		case "${words[*]} " in
@OWN@		esac
		mapfile -t COMPREPLY < <(compgen -W "@PROGRAM@ $own" -- "$cur")
		return
	fi
	if [[ $cur == */* ]]; then
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
	fi
	case "${words[*]}" in
@NEXT@	@FILES@)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$next" -- "$cur")
}

complete -F _asyncdbg asyncdbg
'''


def by_length(commands):
    """(spelling, command), longer names before those that they begin with."""
    pairs = [(name, c) for c in commands for name in c.spellings()]
    return sorted(pairs, key=lambda p: -len(p[0].split()))


def arities(commands, program):
    """(option, words of its value, commands that it has them in; none: in all)"""
    found = {}
    for o in program:
        for name in o.spellings():
            found.setdefault(name, {})[o.words()] = None
    for c in commands:
        for o in c.options:
            known = found.setdefault(o.name, {})
            if known.get(o.words(), []) is not None:
                known.setdefault(o.words(), []).extend(c.spellings())
    for option, known in sorted(found.items()):
        for words, names in sorted(known.items()):
            if words:
                yield option, words, None if len(known) == 1 else names


def bash_case(indent, patterns, action):
    return f"{indent}{' | '.join(patterns)}) {action} ;;\n"


def bash_quote(words):
    return '"' + " ".join(words) + '"'


def bash_values(commands, program):
    seen = {}
    for name, c in by_length(commands):
        for o in c.options:
            for s in o.spellings() if o.values else ():
                seen.setdefault(text_of(o.values), []).append(f'"{name}"*" {s}"')
    for o in program:
        if o.values:
            for s in o.spellings():
                seen.setdefault(text_of(o.values), []).append(f'*" {s}"')
    return "".join(bash_case("\t", patterns, action) for action, patterns in seen.items())


def text_of(values):
    return f"kind={values}" if isinstance(values, str) else f"values={bash_quote(values)}"


def join_options(options):
    return " ".join(s for o in options for s in o.spellings())


def bash(commands, groups):
    program = [o for _, options in groups for o in options]
    arity = {}
    for option, words, names in arities(commands, program):
        arity.setdefault((words, tuple(names or ())), []).append(option)
    lines = ""
    for (words, names), options in arity.items():
        action = f"skip={words}"
        if names:
            action = "[[ " + " && ".join(f'$2 != "{n} "*' for n in names) + f" ]] || {action}"
        lines += bash_case("\t", options, action)
    own = {}
    for name, c in by_length(commands):
        if c.options:
            own.setdefault(join_options(c.options), []).append(f'"{name} "*')
    nexts = {}
    for typed, words in next_words(commands).items():
        nexts.setdefault(" ".join(words), []).append(f'"{typed}"')
    for c in commands:
        if c.words():
            nexts.setdefault(" ".join(c.words()), []).append(f'"{c.name}"')
    files = " | ".join(f'"{c.name}"*' for c in commands if c.takes_files())
    return fill(BASH, ARITY=lines, VALUES=bash_values(commands, program),
                OWN="".join(bash_case("\t\t", p, f'own="{o}"') for o, p in own.items()),
                PROGRAM=join_options(program), FILES=files,
                NEXT="".join(bash_case("\t", p, f'next="{w}"') for w, p in nexts.items()))


def fill(template, **parts):
    text = template.replace("@BY@", BY)
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text


# ---- zsh ----

ZSH = r'''#compdef asyncdbg
# zsh completion for asyncdbg(1), @BY@

# The words that can follow those of a command in $typed.
_asyncdbg_command()
{
	local -a next
	[[ $typed[1] == help ]] && shift typed
	case "$typed" in
@NEXT@	@FILES@) _files && return ;;
	*) return 1 ;;
	esac
	_describe command next
}

# Sets own to the options of the command that is typed.
_asyncdbg_own()
{
	local line=" ${(j: :)${(@)words[2,-1]:#-*}} "

	own=()
	case "$line" in
@OWN@	esac
}

local context state line curcontext="$curcontext" ret=1
local -a own typed
typeset -A opt_args
_asyncdbg_own
_arguments -C -S \
@PROGRAM@	$own \
	'*:command or PID or executable:->words' && ret=0
if [[ $state == words ]]; then
	[[ $words[CURRENT] == */* ]] && _files && return
	typed=($line)
	[[ -z $words[CURRENT] ]] || typed[-1]=()
	# The target: digits are a process, a word with a slash an executable, then its core.
	while [[ $typed[1] == <-> || $typed[1] == */* ]]; do
		shift typed
	done
	_asyncdbg_command && ret=0
fi
return ret
'''


def zsh_text(text):
    """In single quotes, within brackets or before a colon."""
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def zsh_option(o, excluded):
    action = {FILES: "_files", FOLDER: "_files -/", PROCESS: "_pids", "": ""}.get(
        o.values if isinstance(o.values, str) else None)
    if action is None:
        action = "(" + " ".join(v.replace(">", "\\>").replace(":", "\\:") for v in o.values) + ")"
    value = ""
    for i, word in enumerate((o.arg or "").split()):
        value += f":{zsh_text(word)}:{action if i == 0 else ''}"
    end = "=" if o.words() == 1 else ""
    what = f"[{zsh_text(o.brief())}]{value}'"
    several = "*" if o.name in ("--execute", "--script", "--source-map", "--with", "--without", "--usdt",
                                "--when") else ""
    if several:
        before = "'*'" if o.short else "'*"
    else:
        others = sorted({s for g in EXCLUSIVE if o.name in g for s in g} | set(o.spellings()))
        others += excluded
        before = f"'({' '.join(others)})'" if len(others) > 1 else "'"
    if o.short:
        quote = before if before not in ("'",) else ""
        return f"{quote}{{{o.short},{o.name}{end}}}'{what}"
    if before.endswith("'") and before != "'":
        before = before[:-1]
    return f"{before}{o.name}{end}{what}"


def zsh(commands, groups):
    program = [o for _, options in groups for o in options]
    shorts = {o.name: [o.short] for o in program if o.short}
    lines = ""
    for o in program:
        if o.name in ("--help", "--usage", "--version"):
            short = f"{{{zsh_text(o.short)},{o.name}}}" if o.short and o.short != "-?" else o.name
            if o.short == "-?":
                short = "{-\\?,--help}"
            lines += f"\t'(- *)'{short}'[{zsh_text(o.brief())}]' \\\n"
            continue
        others = [s for g in EXCLUSIVE if o.name in g for n in g if n != o.name for s in shorts.get(n, [])]
        lines += f"\t{zsh_option(o, others)} \\\n"
    own = ""
    for name, c in by_length(commands):
        options = [o for o in c.options if o.name not in ("--output", "--verbose")]
        if options:
            body = " ".join(zsh_option(o, []) for o in options)
            own += f'\t*" {name} "*) own=({body}) ;;\n'
    nexts = ""
    for typed, words in next_words(commands).items():
        rows = " ".join(f"'{word}:{zsh_text(what)}'" for word, what in words.items())
        nexts += f'\t"{typed}") next=({rows}) ;;\n'
    for c in commands:
        if c.words():
            nexts += f'\t"{c.name}") next=({" ".join(c.words())}) ;;\n'
    files = " | ".join(f'"{c.name}"*' for c in commands if c.takes_files())
    return fill(ZSH, NEXT=nexts, OWN=own, PROGRAM=lines, FILES=files)


# ---- fish ----

FISH = r'''# fish completion for asyncdbg(1), @BY@

# The command typed so far, without options and their values, a word a line.
function __asyncdbg_words
    set -l words
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip -gt 0
            set skip (math $skip - 1)
            continue
        end
        switch $word
@ARITY@            case '-*'
            case '*'
                # The target: digits are a process, a word with a slash an executable or core.
                test -z "$words"; and string match -qr '^[0-9]+$|/' -- $word; or set -a words $word
        end
    end
    test "$words[1]" = help; and set -e words[1]
    test -z "$words"; or printf '%s\n' $words
end

# Whether the command typed so far is exactly one of $argv.
function __asyncdbg_typed
    contains -- (string join ' ' -- (__asyncdbg_words)) $argv
end

# Whether the command typed so far is one of $argv, with or without arguments.
function __asyncdbg_in
    set -l typed (string join ' ' -- (__asyncdbg_words))' '
    for name in $argv
        string match -q -- "$name *" $typed; and return 0
    end
    return 1
end

complete -c asyncdbg -f
@LINES@'''


def fish_quote(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_option(o, condition):
    words = ["complete -c asyncdbg"]
    if condition:
        words.append(f"-n {fish_quote(condition)}")
    if o.short and o.short[1].isalpha():
        words.append(f"-s {o.short[1]}")
    words.append(f"-l {o.name[2:]}")
    if o.values == FILES or o.values == FOLDER:
        words.append("-r -F")
    elif o.arg:
        words.append("-x")
    if o.values == PROCESS:
        words.append("-a '(__fish_complete_pids)'")
    elif o.values and not isinstance(o.values, str):
        words.append("-a " + fish_quote(" ".join(v.replace(">", "\\>") for v in o.values)))
    words.append("-d " + fish_quote(o.brief()))
    return " ".join(words) + "\n"


def fish_names(names):
    return " ".join(f'"{n}"' if " " in n else n for n in names)


def fish(commands, groups):
    program = [o for _, options in groups for o in options]
    arity, lines = "", ""
    for option, words, names in arities(commands, program):
        arity += f"            case {option}\n"
        if names:
            arity += f"                string match -qr '^({'|'.join(names)})( |$)' -- \"$words\"; and "
            arity += f"set skip {words}\n"
        else:
            arity += f"                set skip {words}\n"
    for o in program:
        lines += fish_option(o, "")
    for typed, words in next_words(commands).items():
        for word, what in words.items():
            lines += f"complete -c asyncdbg -n '__asyncdbg_typed \"{typed}\"' -a {word} -d {fish_quote(what)}\n"
    for c in commands:
        if c.words():
            lines += f"complete -c asyncdbg -n '__asyncdbg_typed {c.name}' -a '{' '.join(c.words())}'\n"
        if c.takes_files():
            lines += f"complete -c asyncdbg -n '__asyncdbg_in {c.name}' -F\n"
        for o in c.options:
            if o.name not in ("--output", "--verbose"):
                lines += fish_option(o, f"__asyncdbg_in {fish_names(c.spellings())}")
    return fill(FISH, ARITY=arity, LINES=lines)


# ---- manual page ----

def man_text(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"(?<![\w\\-])(\\-\\-[a-z](?:[a-z]|\\-(?=[a-z]))*|\\-[a-z](?![\w\\]))", r"\\fB\1\\fR", text)
    return "\\&" + text if text[:1] in (".", "'") else text


def man_heading(text):
    """A usage: names and options bold, placeholders italic."""
    text = man_text(text)
    return re.sub(r"(?<![\w\\])[A-Z]{1,}(?:[:_][A-Z]+)*(?![a-z])", r"\\fI\g<0>\\fR", text)


def man_option(o):
    names = ", ".join(f"\\fB{s}\\fR".replace("-", "\\-") for s in o.spellings())
    value = f" \\fI{o.arg}\\fR" if o.arg else ""
    return f".TP\n{names}{value}\n{man_text(o.text)}.\n"


def man_command(c):
    rest = c.usage().removeprefix(c.name)
    text = f".TP\n\\fB{c.name}\\fR{man_heading(rest)}\n"
    first = True
    for is_example, paragraph in c.paragraphs():
        if is_example:
            text += ".RS\n.PP\n.EX\n" + man_text(paragraph) + "\n.EE\n.RE\n"
        else:
            text += ("" if first else ".IP\n") + man_text(paragraph) + "\n"
        first = False
    if c.options:
        text += ".RS\n" + "".join(man_option(o) for o in c.options) + ".RE\n"
    return text


def man_options(groups):
    return "".join(f".SS {heading}\n" + "".join(man_option(o) for o in options)
                   for heading, options in groups)


def man(commands, groups, old):
    named = {f"help: {c.name}": man_command(c) for c in commands}
    parts = named | {"options": man_options(groups)}

    def replace(found):
        if found[1] not in parts:
            sys.exit(f"asyncdbg.1 has a part of {found[1]}, which asyncdbg does not have")
        return f'.\\" {found[1]}\n{parts.pop(found[1])}.\\" end\n'

    text = re.sub(r'^\.\\" (help: [a-z0-9 -]+|options)\n.*?^\.\\" end\n', replace, old, flags=re.M | re.S)
    if parts:
        sys.exit("asyncdbg.1 has no part `.\\\" " + "`, `".join(parts) + "`")
    return text


# ---- docs/commands.md ----

MARKDOWN = """# Commands

<!-- @BY@ -->

Every command, as `asyncdbg help COMMAND` explains it. Words of commands and options may be shortened as long
as they are unique. `asyncdbg(1)` also has the options of the program itself, exit codes, files and environment.

| command | |
| --- | --- |
@ROWS@
@PARTS@"""


def markdown_text(text):
    text = re.sub(r"([\\*_<>|`\[\]])", r"\\\1", text)
    return re.sub(r"(?<![\w-])(--?[a-z][a-z-]*[a-z]|-[a-z])(?![\w-])", r"`\1`", text)


def markdown_command(c):
    text = f"## {c.name}\n\n    {c.usage()}\n\n"
    for is_example, paragraph in c.paragraphs():
        text += f"    {paragraph}\n\n" if is_example else f"{markdown_text(paragraph)}\n\n"
    for o in c.options:
        names = ", ".join(f"`{s}{' ' + o.arg if o.arg else ''}`" for s in o.spellings())
        text += f"- {names}: {markdown_text(o.text)}.\n"
    return text + ("\n" if c.options else "")


def markdown(commands):
    rows = "".join(f"| [`{c.name}`](#{c.name.replace(' ', '-')}) | {markdown_text(c.summary)} |\n"
                   for c in commands)
    return fill(MARKDOWN, ROWS=rows, PARTS="".join(map(markdown_command, commands))).rstrip() + "\n"


def main():
    check = sys.argv[1:2] == ["--check"]
    if len(sys.argv) != 2 + check:
        sys.exit(__doc__)
    program = os.path.abspath(sys.argv[-1])
    commands, groups = read_commands(program), read_options(program)
    page = root / "commands/asyncdbg.1"
    files = {
        root / "commands/completions/asyncdbg.bash": bash(commands, groups),
        root / "commands/completions/_asyncdbg": zsh(commands, groups),
        root / "commands/completions/asyncdbg.fish": fish(commands, groups),
        root / "docs/commands.md": markdown(commands),
        page: man(commands, groups, page.read_text(encoding="utf-8")),
    }
    stale = 0
    for path, text in files.items():
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if old == text:
            continue
        stale += 1
        if check:
            name = str(path.relative_to(root))
            print(*difflib.unified_diff(old.splitlines(), text.splitlines(), name, name, lineterm="", n=0),
                  sep="\n")
        else:
            path.write_text(text, encoding="utf-8")
    if check and stale:
        sys.exit(f"{stale} files are stale: scripts/help_files.py ASYNCDBG writes them")


main()
