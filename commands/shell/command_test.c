/* Tests of the command table: look-up, arguments, options, completion. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "commands/ask/ask.h"
#include "commands/control/control.h"
#include "commands/files/files.h"
#include "commands/incident/incident.h"
#include "commands/report/report.h"
#include "commands/shell/command.h"

/* Checks the words of a command, given as "one|two three|four". */
static void assert_words(const struct words *w, const char *expected)
{
	SCRATCH(tmp);
	char *copy = arena_strdup(&tmp, expected), *rest = NULL;
	size_t n = 0;

	for (char *word = strtok_r(copy, "|", &rest); word; word = strtok_r(NULL, "|", &rest)) {
		assert_true(n < w->n);
		assert_string_equal(w->word[n++], word);
	}
	assert_int_equal(w->n, n);
}

static void splits_words_and_commands(void **state)
{
	SCRATCH(tmp);
	struct words *commands;
	size_t n;

	(void)state;
	assert_null(
		words_split(&tmp, "  async\tbt all ;threads;; thread 2 # see; no", &commands, &n));
	assert_int_equal(n, 3);
	assert_words(&commands[0], "async|bt|all");
	assert_words(&commands[1], "threads");
	assert_words(&commands[2], "thread|2");
}

static void quotes_and_comments(void **state)
{
	SCRATCH(tmp);
	struct words *commands;
	size_t n;

	(void)state;
	assert_null(words_split(&tmp, "a \"b; c\" 'd\" #e' f#g", &commands, &n));
	assert_int_equal(n, 1);
	assert_words(&commands[0], "a|b; c|d\" #e|f#g");
	assert_null(words_split(&tmp, "# only a comment", &commands, &n));
	assert_int_equal(n, 0);
	assert_null(words_split(&tmp, " \t;; \n", &commands, &n));
	assert_int_equal(n, 0);

	struct error *err CLEANUP(error_freep) = words_split(&tmp, "a 'b", &commands, &n);
	assert_non_null(err);
	assert_int_equal(err->kind, ERR_USAGE);
}

/* The result of parsing a line: the command with its arguments, or the error message. */
struct found {
	struct call call;
	struct error *err;
	struct arena arena;
};

static void found_deinit(struct found *f)
{
	error_free(f->err);
	arena_free(&f->arena);
}

static struct found find(const char *line)
{
	struct found f = { 0 };
	struct words *commands;
	size_t n;

	assert_null(words_split(&f.arena, line, &commands, &n));
	assert_int_equal(n, 1);
	f.err = command_find(&f.arena, command_table, &commands[0], &f.call);
	return f;
}

static void assert_finds(const char *line, const struct command *command, const char *args)
{
	struct found f CLEANUP(found_deinit) = find(line);

	if (f.err)
		fail_msg("%s: %s", line, f.err->message);
	if (f.call.command != command)
		fail_msg("%s: found %s", line, f.call.command->name);
	assert_words(&f.call.args, args);
}

static void assert_refuses(const char *line, const char *message)
{
	struct found f CLEANUP(found_deinit) = find(line);

	if (!f.err)
		fail_msg("%s: found %s", line, f.call.command->name);
	assert_int_equal(f.err->kind, ERR_USAGE);
	assert_string_equal(f.err->message, message);
}

static void finds_whole_names(void **state)
{
	(void)state;
	for (const struct command *const *c = command_table; *c; c++) {
		if ((*c)->min_args == 0 && !(*c)->last_is_output)
			assert_finds((*c)->name, *c, "");
	}
}

static void finds_prefixes_and_short_forms(void **state)
{
	(void)state;
	assert_finds("async bt", &async_backtrace_command, "");
	assert_finds("async bt all", &async_backtrace_all_command, "");
	assert_finds("a b a", &async_backtrace_all_command, "");
	assert_finds("as back al", &async_backtrace_all_command, "");
	assert_finds("async task 42", &async_task_command, "42");
	assert_finds("async t", &async_task_command, "");
	assert_finds("backtrace", &bt_command, "");
	assert_finds("bt a", &bt_all_command, "");
	assert_finds("i la", &info_layout_command, "");
	assert_finds("tasks", &tasks_command, "");
	assert_finds("exit", &quit_command, "");
	assert_finds("q", &quit_command, "");
	assert_finds("help async bt all", &help_command, "async|bt|all");
}

/* Short forms are fixed: new commands must not change them. */
static void short_forms_beat_prefixes(void **state)
{
	(void)state;
	assert_finds("a bt", &async_backtrace_command, "");
	assert_finds("b main", &break_command, "main");
	assert_finds("bt", &bt_command, "");
	assert_finds("c", &continue_command, "");
	assert_finds("d", &down_command, "");
	assert_finds("f 1", &frame_command, "1");
	assert_finds("h", &help_command, "");
	assert_finds("i", &info_command, "");
	assert_finds("i b", &info_breakpoints_command, "");
	assert_finds("k", &kill_command, "");
	assert_finds("l app/src/main.rs:41", &list_command, "app/src/main.rs:41");
	assert_finds("disas/s app::serve", &disassemble_command, "/s|app::serve");
	assert_finds("disassemble /rs 0x10,+4 --intel", &disassemble_command, "/rs|0x10,+4");
	assert_finds("x/8xb $sp + 8", &x_command, "/8xb|$sp|+|8");
	assert_finds("x 0x10", &x_command, "0x10");
	assert_finds("i reg rip", &info_registers_command, "rip");
	assert_finds("l -", &list_command, "-");
	assert_finds("list app::{impl#0}::serve", &list_command, "app::{impl#0}::serve");
	assert_finds("r", &run_command, "");
	assert_finds("r -- ./app --port 80", &run_command, "./app|--port|80");
	assert_finds("si 2", &stepi_command, "2");
	assert_finds("tb 0x10", &tbreak_command, "0x10");
	assert_finds("condition 2 n > 3", &condition_command, "2|n > 3");
	assert_refuses("break f on", "\"on\" is not understood: break PLACE if CONDITION");
	assert_refuses("break f if n = 3", "cannot parse \"= 3\" in a condition");
	assert_refuses("condition x", "\"x\" is not a breakpoint number");
	assert_refuses("condition 1 (n", "the condition \"(n\" ends too early");
	assert_finds("p req.uri", &print_command, "req.uri");
	assert_finds("q", &quit_command, "");
	assert_finds("s 2", &step_command, "2");
	assert_finds("n", &next_command, "");
	assert_finds("ni", &nexti_command, "");
	assert_finds("fin", &finish_command, "");
	assert_finds("until 41", &until_command, "41");
	assert_finds("u", &up_command, "");
	assert_finds("info locals", &info_locals_command, "");
}

/* Commands that gdb users try and that do not exist here. */
static void names_the_nearest_of_what_is_missing(void **state)
{
	(void)state;
	assert_refuses("x/8z 0x10", "\"8z\" is not a format: a count, a letter of xduotcafsi and a "
	                            "size of bhwg, such as 8xb");
	assert_refuses("x/0x 0x10", "\"0x\": the number of units must be 1 to 65536");
	assert_refuses("x/65537xb 0", "\"65537xb\": the number of units must be 1 to 65536");
	assert_refuses("x/hf 0", "a floating-point number must have 4 or 8 bytes: w or g");
	assert_finds("watch x.y", &watch_command, "x.y");
	assert_finds("watch x.y if x.y > 3", &watch_command, "x.y|if|x.y > 3");
	assert_finds("rwatch x", &rwatch_command, "x");
	assert_finds("aw x", &awatch_command, "x");
	assert_refuses("watch x y", "\"y\" is not understood: watch EXPR if CONDITION");
	assert_refuses(
		"watch --state x",
		"watch --state takes no variable: it watches the state of the selected frame");
	assert_refuses("rwatch --state",
	               "\"rwatch\" has no option --state; \"help rwatch\" lists its options");
	assert_refuses("break main.rs:",
	               "\"main.rs:\" is not a place: use FILE:LINE, a function or 0xADDRESS");
	assert_refuses("break main.rs:3:14", "\"main.rs:3:14\" has a column, but a breakpoint is "
	                                     "on a whole line: use main.rs:3");
	assert_refuses("break 14", "\"14\" is not a place: a line needs its file, FILE:14");
	assert_refuses("break main --every 0", "--every must be at least 1");
	assert_refuses("watch n --every 0", "--every must be at least 1");
	assert_refuses("list main.rs:", "\"\" is not a line such as src/main.rs:41");
	assert_refuses("list main.rs:0", "\"0\" is not a line such as src/main.rs:41");
	assert_refuses("disassemble/x", "unknown format \"/x\": /s shows source lines, /r bytes");
	assert_refuses("disassemble 0x10,0x10", "the range of addresses is empty");
	assert_refuses("disassemble a b", "unexpected argument \"b\"");
	assert_refuses("list ::",
	               "\"::\" is not a place: use FILE:LINE, a function, or a line number");
	assert_refuses("set x 5", "set needs a variable and its value, for example set req.id = 5, "
	                          "or source-map FROM=TO");
	assert_refuses("set source-map", "set source-map takes one map: FROM=TO");
	assert_refuses("set source-map =x",
	               "\"=x\" is not a source map FROM=TO, such as /src=/home/me/app");
	assert_refuses("break 0xzz", "\"0xzz\" is not an address");
	assert_refuses("break --after 2",
	               "break needs a place, or a task event such as --on-wake ID");
	assert_refuses("break main --on-wake 7", "break takes one place, or one task event");
	assert_refuses("break --on-drop x", "\"x\" is not a task id");
	assert_refuses("break --on-wake x", "\"x\" is not a task id");
	assert_refuses("catch fire",
	               "\"fire\" cannot be caught: use panic, task-panic or deadlock");
	assert_refuses("catch deadlock", "catch deadlock needs --every TIME: how often to check");
	assert_finds("logpoint app::serve 'n is {n}' if n > 3", &logpoint_command,
	             "app::serve|n is {n}|if|n > 3");
	assert_refuses("logpoint app::serve", "\"logpoint\" needs more arguments; usage: logpoint "
	                                      "PLACE 'TEXT {PATH}' [if CONDITION]");
	assert_refuses("logpoint app::serve 'n is {n'",
	               "\"{n\" has no }; write {{ for a { in the text");
	assert_refuses("logpoint app::serve n is {n}", "\"is\" is not understood: logpoint PLACE "
	                                               "'TEXT' if CONDITION");
	assert_refuses("dprintf f,n",
	               "the command \"dprintf\" does not exist: \"logpoint PLACE 'TEXT {PATH}'\" "
	               "prints a line whenever the program reaches a place");
	assert_refuses("handle SIGKILL stop", "SIGKILL cannot be handled");
	assert_refuses("signal SIGNONE", "\"SIGNONE\" is not a signal: SIGUSR1, or its number");
	assert_refuses("delete one", "\"one\" is not a breakpoint number");
}

static void assert_writes(const char *line, const char *file)
{
	struct found f CLEANUP(found_deinit) = find(line);

	if (f.err)
		fail_msg("%s: %s", line, f.err->message);
	assert_string_equal(output_file_of(&f.call), file);
}

/* -o is an option of every command that writes a file. */
static void writes_to_the_named_file(void **state)
{
	(void)state;
	assert_writes("save x.snap", "x.snap");
	assert_writes("save -o x.snap", "x.snap");
	assert_writes("save -", "-");
	assert_writes("save --output - --values", "-");
	assert_writes("report -o x.html", "x.html");
	assert_writes("layout a/b -o x", "x");
	assert_writes("layout -o x a/b", "x");
	assert_writes("async graph -o x.dot", "x.dot");
	assert_writes("async graph 7 -o x --format dot", "x");
	assert_refuses("save a -o b", "\"save\" writes one file: a or b");
	assert_refuses("save -o ''", "the file name is empty");
	assert_refuses("async graph -o x.svg", "x.svg: async graph writes dot, for Graphviz; "
	                                       "--format dot writes it to any name");
	assert_refuses("async graph -o x --format svg",
	               "unknown format \"svg\": the only format is dot");
	assert_refuses("async graph --format dot", "--format needs -o FILE");
}

/* `thread` is a whole word and a prefix of `threads`. */
static void a_whole_word_is_never_ambiguous(void **state)
{
	(void)state;
	assert_finds("thread 7", &thread_command, "7");
	assert_finds("threads", &threads_command, "");
	/* An argument is no command, whatever it is the beginning of. */
	assert_finds("print t", &print_command, "t");
	assert_finds("p type", &print_command, "type");
	assert_refuses("th 7", "\"th\" is ambiguous: threads, thread");
	assert_refuses("t",
	               "\"t\" is ambiguous: task, type, types, tasks, threads, thread, trace, top, "
	               "tbreak");
}

static void suggests(void **state)
{
	(void)state;
	assert_refuses("thraeds", "unknown command \"thraeds\"; did you mean \"threads\"?");
	assert_refuses("async backtarce", "unknown command \"async backtarce\"; did you mean "
	                                  "\"async backtrace\"?");
	assert_refuses("info layuot", "unknown command \"info layuot\"; did you mean "
	                              "\"info layout\"?");
	assert_refuses("tasksx", "unknown command \"tasksx\"; did you mean \"tasks\"?");
	/* Of two equally near words, the one of equal length. */
	assert_refuses("tassk", "unknown command \"tassk\"; did you mean \"tasks\"?");
	assert_refuses("where", "\"where\" is a gdb command: \"bt\" shows the stack");
	assert_refuses("info tasks", "\"info tasks\" is a gdb command: \"tasks\"");
	assert_refuses("p/x n",
	               "\"p/x n\" is a gdb command: \"print\" has no formats; \"x/FMT\" shows "
	               "memory, of a variable, too");
	assert_refuses("set args --port 80",
	               "\"set args\" is a gdb command: \"run -- PROGRAM ARGUMENT...\" "
	               "starts it with arguments");
	assert_refuses("infos tasks", "unknown command \"infos\"; did you mean \"info\"?");
	assert_refuses("frobnicate", "unknown command \"frobnicate\"; \"help\" lists all");
	assert_refuses("'async backtrace all'",
	               "unknown command \"async backtrace all\": give each of its words as its own "
	               "argument, without quotes around all of them; -e takes a whole line");
	assert_refuses("a_word_longer_than_any_command_could_ever_be",
	               "unknown command \"a_word_longer_than_any_command_could_ever_be\"; \"help\" "
	               "lists all");
}

static void refuses_what_is_too_short_or_too_long(void **state)
{
	(void)state;
	assert_refuses("async", "\"async\" is not a complete command: async backtrace, async "
	                        "backtrace all, async task, async graph, async deadlocks");
	assert_refuses("threads 3", "\"threads\" takes no arguments: \"3\"");
	assert_refuses("info heap",
	               "unknown command \"info heap\"; there are info, info layout, info "
	               "sockets, info threads, info locals, info registers, info signals, "
	               "info breakpoints");
	assert_refuses("async task 1 2", "unexpected argument \"2\"; usage: async task [ID]");
	assert_refuses("print", "\"print\" needs more arguments; usage: print EXPR");
	assert_refuses("whatis", "\"whatis\" needs more arguments; usage: whatis ADDR");
	assert_refuses("up 1", "\"up\" takes no arguments: \"1\"");
}

/* Arguments that are invalid for every program are refused before a process is stopped. */
static void refuses_arguments(void **state)
{
	(void)state;
	assert_refuses("task main", "\"main\" is not a task id such as 5 or KIND:0x7f00");
	assert_refuses("async task -1", "\"-1\" is not a task id such as 5 or KIND:0x7f00");
	assert_refuses("task 99999999999999999999",
	               "\"99999999999999999999\" is not a task id such as 5 or KIND:0x7f00");
	assert_refuses("frame x", "\"x\" is not a frame number");
	assert_refuses("frame -1", "\"-1\" is not a frame number");
	assert_refuses("frame 4294967296", "\"4294967296\" is not a frame number");
	assert_refuses("down +1", "\"+1\" is not a frame number");
	assert_refuses("thread ' 1'", "\" 1\" is not a thread number");
	assert_refuses("whatis 0x", "\"0x\" is not an address such as 0x7f00 or 32512");
	assert_refuses("whatis 0x0x1", "\"0x0x1\" is not an address such as 0x7f00 or 32512");
	assert_refuses("whatis 7f", "\"7f\" is not an address such as 0x7f00 or 32512");
	assert_refuses("print ''", "\"print\" needs a variable, for example print req.uri");
	assert_finds("task 0x9400", &task_command, "0x9400");
	assert_finds("frame '#3'", &frame_command, "#3");
	assert_finds("whatis 0X7f", &whatis_command, "0X7f");
	assert_finds("whatis 32512", &whatis_command, "32512");
}

static void assert_verbose(const char *line, const struct command *command, const char *args)
{
	struct found f CLEANUP(found_deinit) = find(line);

	assert_finds(line, command, args);
	assert_true(f.call.verbose);
}

static void options_stand_anywhere(void **state)
{
	struct found plain CLEANUP(found_deinit) = find("async task 4");

	(void)state;
	assert_false(plain.call.verbose);
	assert_verbose("async task -v 4", &async_task_command, "4");
	assert_verbose("async task 4 --verbose", &async_task_command, "4");
	assert_verbose("async bt -v all", &async_backtrace_all_command, "");
	assert_refuses("tasks -v", "\"tasks\" has no option -v");
	assert_refuses("-v", "unknown command \"-v\"; \"help\" lists all");
	assert_refuses("async bt --verbos", "\"async backtrace\" has no option --verbos; did you "
	                                    "mean --verbose?");
	assert_refuses("tasks --wiht a b", "\"tasks\" has no option --wiht; did you mean --with?");
	assert_refuses("tasks -o x", "\"tasks\" does not write a file; these commands do: async "
	                             "graph, trace, metrics, profile, layout, save, report");
	assert_refuses("save", "say which file to write: save FILE");
	assert_refuses("layout a/b", "say which file to write: layout EXE -o FILE");
	assert_finds("async task -- 4", &async_task_command, "4");
	assert_refuses("async task -- --verbose",
	               "\"--verbose\" is not a task id such as 5 or KIND:0x7f00");
}

static struct error *run_nothing(struct session *s, const struct answer *answer,
                                 const struct call *call, struct out *out)
{
	(void)s;
	(void)answer;
	(void)call;
	(void)out;
	return NULL;
}

static const struct command_option example_options[] = {
	{ "dot", "FILE", false, "Write a picture" },
	{ "with", "FIELD VALUE", true, "Only those" },
	{ "all", NULL, false, "All of them" },
	{ 0 },
};
static const struct command example_command = {
	.name = "example graph",
	.args = "[ID]",
	.max_args = 1,
	.verbose = true,
	.options = example_options,
	.offline = true,
	.run = run_nothing,
};
static const struct command *const example_table[] = { &example_command, &bt_command, NULL };

static struct found find_example(const char *line)
{
	struct found f = { 0 };
	struct words *commands;
	size_t n;

	assert_null(words_split(&f.arena, line, &commands, &n));
	f.err = command_find(&f.arena, example_table, &commands[0], &f.call);
	return f;
}

static void options_of_a_command(void **state)
{
	struct found f CLEANUP(found_deinit) =
		find_example("ex -v graph --with a '>5' 7 --dot=x=y --with=b c --all");

	(void)state;
	assert_null(f.err);
	assert_true(f.call.verbose);
	assert_words(&f.call.args, "7");
	assert_string_equal(option_value(&f.call, "dot"), "x=y");
	assert_true(option_has(&f.call, "all"));
	assert_null(option_value(&f.call, "all"));
	assert_int_equal(f.call.noptions, 4);
	assert_string_equal(f.call.options[0].option->name, "with");
	assert_string_equal(f.call.options[0].values[0], "a");
	assert_string_equal(f.call.options[0].values[1], ">5");
	assert_string_equal(f.call.options[2].values[0], "b");
	assert_string_equal(f.call.options[2].values[1], "c");

	struct found none CLEANUP(found_deinit) = find_example("example graph 7");
	assert_false(option_has(&none.call, "dot"));
	assert_null(option_value(&none.call, "dot"));
	/* A value may look like an option; after -- there are no options. */
	struct found odd CLEANUP(found_deinit) = find_example("example graph --dot --all -- --dot");
	assert_null(odd.err);
	assert_string_equal(option_value(&odd.call, "dot"), "--all");
	assert_words(&odd.call.args, "--dot");
}

static void assert_example_refuses(const char *line, const char *message)
{
	struct found f CLEANUP(found_deinit) = find_example(line);

	assert_non_null(f.err);
	assert_int_equal(f.err->kind, ERR_USAGE);
	assert_string_equal(f.err->message, message);
}

static void refuses_options(void **state)
{
	(void)state;
	assert_example_refuses("example graph --do x",
	                       "\"example graph\" has no option --do; did you mean --dot?");
	assert_example_refuses("example graph --dotty x", "\"example graph\" has no option "
	                                                  "--dotty; did you mean --dot?");
	assert_example_refuses("example graph --dot", "--dot needs a value: --dot FILE");
	assert_example_refuses("example graph --with a",
	                       "--with needs a value: --with FIELD VALUE");
	assert_example_refuses("example graph --dot a --dot b", "--dot may be given only once");
	assert_example_refuses("example graph --all=1", "--all takes no value");
	assert_example_refuses("bt --dot x",
	                       "\"bt\" has no option --dot; \"help bt\" lists its options");
	assert_example_refuses("example --dot x graph",
	                       "\"example\" is not a complete command: example graph");
}

static size_t words_of_option(const char *typed, const char *rest)
{
	SCRATCH(tmp);
	struct words *before, *behind;
	size_t n;

	assert_null(words_split(&tmp, typed, &before, &n));
	assert_null(words_split(&tmp, rest, &behind, &n));
	return command_option_words(example_table, before, behind);
}

/* As on the command line, where options of the program may be in between. */
static void options_among_others(void **state)
{
	(void)state;
	assert_int_equal(words_of_option("example graph", "--dot x --json"), 2);
	assert_int_equal(words_of_option("ex gr 7", "--dot=x --json"), 1);
	assert_int_equal(words_of_option("ex gr --dot x", "--with a b c"), 3);
	assert_int_equal(words_of_option("ex gr", "--with a"), 2);
	assert_int_equal(words_of_option("ex gr", "--all a"), 1);
	assert_int_equal(words_of_option("ex gr", "--json --dot x"), 0);
	assert_int_equal(words_of_option("ex gr", "x --dot x"), 0);
	assert_int_equal(words_of_option("ex", "--dot x"), 0);
	/* An unknown option, for the command to refuse. */
	assert_int_equal(words_of_option("bt", "--dot x"), 1);
	assert_int_equal(words_of_option("bt", "--do x"), 0);
	/* The outermost three frames: "bt -3". */
	assert_int_equal(words_of_option("bt", "-3 --json"), 1);
	assert_int_equal(words_of_option("nothing", "-3"), 0);
}

static void assert_example_completes(const char *before, const char *partial, const char *expected)
{
	SCRATCH(tmp);
	struct words *commands;
	struct words got = { 0 };
	const char **found;
	size_t n;

	assert_null(words_split(&tmp, before, &commands, &n));
	got.n = command_complete(&tmp, example_table, &commands[0], partial, &found);
	got.word = found;
	assert_words(&got, expected);
}

static void completes_options(void **state)
{
	(void)state;
	assert_example_completes("ex gr", "-", "-v|--verbose|--dot|--with|--all");
	assert_example_completes("ex gr --dot x", "--w", "--with");
	assert_example_completes("ex gr --dot", "--w", "");
	assert_example_completes("ex gr --dot=x", "--w", "--with");
	assert_example_completes("ex gr --all", "--w", "--with");
}

static void assert_completes(const char *before, const char *partial, const char *expected)
{
	SCRATCH(tmp);
	struct words *commands, none = { 0 };
	const char **found;
	size_t n;

	assert_null(words_split(&tmp, before, &commands, &n));
	struct words got = { 0 };
	got.n = command_complete(&tmp, command_table, n ? &commands[0] : &none, partial, &found);
	got.word = found;
	assert_words(&got, expected);
}

static void completes(void **state)
{
	(void)state;
	assert_completes("", "th", "threads|thread");
	assert_completes("", "zzz", "");
	assert_completes("async", "", "backtrace|task|graph|deadlocks");
	assert_completes("as", "b", "backtrace");
	assert_completes("async bt", "", "all");
	assert_completes("async task 4", "", "");
	assert_completes("nonsense", "", "");
	assert_completes("info", "", "layout|sockets|threads|locals|registers|signals|breakpoints");
	assert_completes("async bt", "-", "-v|--verbose");
	assert_completes("async task 4", "--v", "--verbose");
	assert_completes("runtimes", "-", "");
	assert_completes("tasks", "--", "--group|--with|--without|--limit|--exec");
	assert_completes("tasks --with", "st", "");
	assert_completes("", "-", "");
}

/* The table must be in order: help and completion are made from it. */
static void the_table_is_in_order(void **state)
{
	(void)state;
	for (const struct command *const *c = command_table; *c; c++) {
		assert_non_null((*c)->summary);
		assert_non_null((*c)->run);
		assert_true((*c)->offline || (*c)->wants);
		assert_int_equal((*c)->args != NULL, (*c)->max_args != 0);
		assert_true((*c)->min_args <= (*c)->max_args);
		assert_true((*c)->summary[strlen((*c)->summary) - 1] != '.');
		for (const struct command_option *o = (*c)->options; o && o->name; o++) {
			assert_non_null(o->help);
			assert_true(o->help[strlen(o->help) - 1] != '.');
		}
		for (const struct command *const *other = c + 1; *other; other++)
			assert_string_not_equal((*c)->name, (*other)->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splits_words_and_commands),
		cmocka_unit_test(quotes_and_comments),
		cmocka_unit_test(finds_whole_names),
		cmocka_unit_test(finds_prefixes_and_short_forms),
		cmocka_unit_test(short_forms_beat_prefixes),
		cmocka_unit_test(names_the_nearest_of_what_is_missing),
		cmocka_unit_test(writes_to_the_named_file),
		cmocka_unit_test(a_whole_word_is_never_ambiguous),
		cmocka_unit_test(suggests),
		cmocka_unit_test(refuses_what_is_too_short_or_too_long),
		cmocka_unit_test(refuses_arguments),
		cmocka_unit_test(options_stand_anywhere),
		cmocka_unit_test(options_of_a_command),
		cmocka_unit_test(refuses_options),
		cmocka_unit_test(options_among_others),
		cmocka_unit_test(completes_options),
		cmocka_unit_test(completes),
		cmocka_unit_test(the_table_is_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
