/* asyncdbg: parses options, opens the session, runs the input and returns the exit code. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/base/interval.h"
#include "commands/incident/by_name.h"
#include "commands/shell/command.h"
#include "commands/shell/execute.h"
#include "commands/shell/invocation.h"
#include "commands/shell/redact.h"
#include "commands/shell/repl.h"
#include "debugger/base/file_fault.h"
#include "debugger/base/log.h"
#include "debugger/base/progress.h"
#include "debugger/base/vec.h"
#include "debugger/live/read_guard.h"
#include "debugger/probe/probe.h"

static void print_version(FILE *f, struct argp_state *state)
{
	const char *why;
	bool traces = probes_are_built(&why);

	(void)state;
	fprintf(f, "asyncdbg %s\n", ASYNCDBG_VERSION);
	if (!traces)
		fprintf(f, "without trace, stalls, metrics, profile and probes: %s\n", why);
}

void (*argp_program_version_hook)(FILE *f, struct argp_state *state) = print_version;

enum option_key {
	KEY_NAME = 256,
	KEY_UNIT,
	KEY_EXE,
	KEY_FORCE,
	KEY_NO_CACHE,
	KEY_LAYOUT,
	KEY_SOURCE_MAP,
	KEY_STOP_ALL,
	KEY_NO_STOP,
	KEY_MAX_PAUSE,
	KEY_SHOW_SECRETS,
	KEY_JSON,
	KEY_JSONL,
	KEY_FULL_NAMES,
	KEY_COLOR,
	KEY_ASCII,
	KEY_LOG,
	KEY_BATCH,
};

enum main_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_JSONL };
enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* A script or a line to run; kept in the order given. */
struct input {
	bool script; /* text is the path of a script, else it is a line of commands */
	const char *text;
};

struct options {
	struct asyncdbg_options session;
	enum main_format format;
	enum color color;
	bool verbose, full_names, ascii, batch, show_secrets;
	VEC(struct input) inputs;
	VEC(const char *) source_maps;
	VEC(const char *) words;   /* commands, with the word ";" between */
	VEC(const char *) program; /* behind -- */
	struct named named;        /* the target as named by words */
	const char *name;          /* --name, to be searched; NULL: not given, or found */
	const char *unit;          /* --unit, to be searched; NULL: not given, or found */
	const char *output;        /* -o before the command that it belongs to */
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Target:", 1 },
	{ "pid", 'p', "PID", 0, "Look at a running process", 0 },
	{ "name", KEY_NAME, "PATTERN", 0,
	  "Look at the running process whose name matches this regular expression", 0 },
	{ "unit", KEY_UNIT, "NAME", 0,
	  "Look at the running process of this systemd unit, by its cgroup", 0 },
	{ "core", 'c', "CORE", 0, "Look at a core dump or a saved snapshot", 0 },
	{ "exe", KEY_EXE, "FILE", 0, "Executable to use instead of the one recorded", 0 },
	{ "force", KEY_FORCE, NULL, 0, "Accept files whose build-id differs", 0 },
	{ "layout", KEY_LAYOUT, "FILE", 0, "Use a file written by `layout` for debug info", 0 },
	{ "no-cache", KEY_NO_CACHE, NULL, 0, "Neither read nor write the cache of debug info", 0 },
	{ "source-map", KEY_SOURCE_MAP, "FROM=TO", 0,
	  "Source files of the build directory FROM are below TO; may be repeated", 0 },
	{ "stop-all", KEY_STOP_ALL, NULL, 0,
	  "Stop every thread, even those asleep in a pool that cannot matter", 0 },
	{ "no-stop", KEY_NO_STOP, NULL, 0,
	  "Never stop the process; mark what changes while it is read", 0 },
	{ "max-pause", KEY_MAX_PAUSE, "TIME", 0,
	  "Stop the process for at most TIME, such as 5ms or 500us (longer only if the kernel does "
	  "not let asyncdbg run); after three tries continue as with --no-stop. Default: 20ms, or "
	  "50us per thread if that is more; no limit with --stop-all",
	  0 },
	{ NULL, 0, NULL, 0, "Commands:", 2 },
	{ "execute", 'e', "COMMANDS", 0, "Run commands (; separates them)", 0 },
	{ "script", 'x', "FILE", 0, "Run the commands of a file, - for standard input", 0 },
	{ "batch", KEY_BATCH, NULL, 0, "No prompt, even on a terminal", 0 },
	{ NULL, 0, NULL, 0, "Output:", 3 },
	{ "output", 'o', "FILE", 0,
	  "Output file of async graph, layout, metrics, profile, report, save or trace; - for "
	  "standard output",
	  0 },
	{ "json", KEY_JSON, NULL, 0, "Print one JSON document per command", 0 },
	{ "jsonl", KEY_JSONL, NULL, 0, "Same, with one line per task", 0 },
	{ "verbose", 'v', NULL, 0, "Show the variables of every frame, like -v of a command", 0 },
	{ "show-secrets", KEY_SHOW_SECRETS, NULL, 0,
	  "Also show the values of variables, members and headers whose names suggest a secret",
	  0 },
	{ "full-names", KEY_FULL_NAMES, NULL, 0, "Print type and function names in full", 0 },
	{ "color", KEY_COLOR, "WHEN", 0, "Use color: auto, always or never", 0 },
	{ "ascii", KEY_ASCII, NULL, 0, "Draw trees in ASCII; default if the locale is not UTF-8",
	  0 },
	{ "log", KEY_LOG, "TOPICS", 0,
	  "Debug log to standard error: all, or topics like target,dwarf", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static pid_t parse_pid(const char *text, struct argp_state *state)
{
	char *end;

	errno = 0;
	long pid = strtol(text, &end, 10);
	if (errno || *end || end == text || pid < 1 || pid > INT_MAX)
		argp_error(state, "\"%s\" is not a process id", text);
	return (pid_t)pid;
}

/* Parses --max-pause, in nanoseconds; name: the option or variable that has the text. */
static uint64_t parse_pause(const char *name, const char *text, struct argp_state *state)
{
	double seconds = 0;
	struct error *err CLEANUP(error_freep) = interval_read_pause(text, &seconds);

	if (err)
		argp_error(state, "%s: %s", name, err->message);
	return (uint64_t)(seconds * 1e9);
}

static void check_source_map(const char *text, struct argp_state *state)
{
	struct source_files none = { 0 };
	struct error *err CLEANUP(error_freep) = source_files_add_map(&none, text);

	source_files_close(&none);
	if (err)
		argp_error(state, "%s", err->message);
}

static enum color parse_color(const char *text, struct argp_state *state)
{
	static const char *const names[] = { "auto", "always", "never" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(text, names[i]) == 0)
			return (enum color)i;
	}
	argp_error(state, "--color must be auto, always or never, not \"%s\"", text);
	return COLOR_AUTO;
}

/* The words after the last ";". */
static struct words last_command(const struct options *o)
{
	size_t from = o->words.n;

	while (from && strcmp(o->words.data[from - 1], ";") != 0)
		from--;
	return (struct words){ o->words.data + from, o->words.n - from };
}

static bool takes_program(const struct words *words)
{
	SCRATCH(tmp);
	struct call call;
	struct error *err CLEANUP(error_freep) = command_find(&tmp, command_table, words, &call);

	return !err && call.command->takes_program;
}

static void main_take_word(struct options *o, const char *word, struct argp_state *state)
{
	struct words command = last_command(o);

	if (state->quoted && state->next > state->quoted && takes_program(&command)) {
		*vec_push(&o->program) = word;
		return;
	}
	if (state->quoted && state->next > state->quoted)
		argp_error(state,
		           "a program after -- is only for guard, trace and run, which start it");
	o->named.pid = o->session.pid;
	o->named.core = o->session.file;
	o->named.exe_is_taken = o->session.target.exe && !o->named.exe;
	if (!invocation_takes(command_table, &command, word, &o->named)) {
		*vec_push(&o->words) = word;
		return;
	}
	o->session.pid = o->named.pid;
	o->session.file = o->named.core;
	if (o->named.exe)
		o->session.target.exe = o->named.exe;
}

/* Whether a word is an option that neither the program has, by its beginning too, nor argp. */
static bool is_unknown_option(const char *word)
{
	static const char *const standard[] = { "help", "usage", "version" };
	const char *name = word + 2;

	if (strncmp(word, "--", 2) != 0 || !*name)
		return false;
	size_t len = strcspn(name, "=");
	for (size_t i = 0; i < sizeof(standard) / sizeof(*standard); i++) {
		if (strncmp(standard[i], name, len) == 0)
			return false;
	}
	for (const struct argp_option *o = argp_options; o->name || o->doc; o++) {
		if (o->name && strncmp(o->name, name, len) == 0)
			return false;
	}
	return true;
}

/*
 * Options of the command may be mixed with those of the program. Moves the words after the word or
 * option just parsed that belong to the command to its words.
 */
static void take_command_options(struct options *o, struct argp_state *state)
{
	SCRATCH(tmp);
	size_t left = (size_t)(state->argc - state->next), n = 0;
	struct words rest = { NEW_ARRAY(&tmp, const char *, left + 1), 0 };

	/* Behind -- everything belongs to the program to be run. */
	if (state->quoted)
		return;
	for (size_t i = 0; i < left; i++)
		rest.word[rest.n++] = state->argv[state->next + (int)i];
	for (; o->words.n && rest.n; rest.word += n, rest.n -= n) {
		struct words typed = last_command(o);

		if (!typed.n)
			return;
		n = command_option_words(command_table, &typed, &rest);
		/* The command says which ones there are. */
		if (!n && is_unknown_option(rest.word[0]) &&
		    command_begins_with(command_table, typed.word[0]))
			n = 1;
		for (size_t i = 0; i < n; i++)
			*vec_push(&o->words) = rest.word[i];
		state->next += (int)n;
		if (!n)
			return;
	}
}

/* The next command in the words, from *at; sets *at to its end. */
static bool next_command(const struct options *o, size_t *at, struct words *ret)
{
	while (*at < o->words.n && strcmp(o->words.data[*at], ";") == 0)
		++*at;
	*ret = (struct words){ o->words.data + *at, 0 };
	while (*at < o->words.n && strcmp(o->words.data[*at], ";") != 0) {
		ret->n++;
		++*at;
	}
	return ret->n != 0;
}

/* Do all commands of the command line need debug info alone? False when there are none. */
static bool needs_program_only(const struct options *o)
{
	struct words words;
	size_t at = 0;
	bool any = false;

	while (next_command(o, &at, &words)) {
		SCRATCH(tmp);
		struct call call;
		struct error *err CLEANUP(error_freep) =
			command_find(&tmp, command_table, &words, &call);

		if (err || !call.command->of_program)
			return false;
		any = true;
	}
	return any;
}

static void find_by_name(struct options *o, struct argp_state *state)
{
	struct error *err CLEANUP(error_freep) =
		o->name ? by_name_find(o->name, &o->session, &o->session.pid)
			: by_name_find_unit(o->unit, &o->session, &o->session.pid);

	if (err)
		argp_error(state, "%s", err->message);
}

/* $ASYNCDBG_MAX_PAUSE, for whole machines; --max-pause and --stop-all have precedence. */
static void set_usual_pause(struct stop_options *stop, struct argp_state *state)
{
	const char *usual = getenv("ASYNCDBG_MAX_PAUSE");

	if (!usual || stop->has_max || stop->all)
		return;
	stop->has_max = true;
	stop->max_ns = parse_pause("$ASYNCDBG_MAX_PAUSE", usual, state);
}

static error_t check_options(struct options *o, struct argp_state *state)
{
	if ((o->session.pid != 0) + (o->session.file != NULL) + (o->name != NULL) +
	            (o->unit != NULL) >
	    1)
		argp_error(state, "only one of -p, --name, --unit and -c may be given");
	if (o->name || o->unit)
		find_by_name(o, state);
	set_usual_pause(&o->session.target.stop, state);
	/* --stop-all asks for the bytes of one moment. */
	o->session.target.stop.brief = !o->session.target.stop.all;
	if (o->session.target.stop.all && o->session.target.stop.never)
		argp_error(state, "--stop-all and --no-stop cannot be combined");
	if (o->output && !o->words.n)
		argp_error(
			state,
			"-o FILE belongs to a command; with -e and -x it must follow the command");
	if (o->output) {
		*vec_push(&o->words) = "-o";
		*vec_push(&o->words) = o->output;
	}
	struct named named = o->named;

	named.pid = o->session.pid;
	named.core = o->session.file;
	if (named.exe && !named.pid && !named.core && needs_program_only(o)) {
		o->session.program = named.exe;
		o->session.target.exe = NULL;
		return 0;
	}
	struct error *err CLEANUP(error_freep) = invocation_check(&named);
	if (err)
		argp_error(state, "%s", err->message);
	return 0;
}

static error_t set_option(struct options *o, int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'p':
		o->session.pid = parse_pid(arg, state);
		return 0;
	case KEY_NAME:
		o->name = arg;
		return 0;
	case KEY_UNIT:
		o->unit = arg;
		return 0;
	case 'c':
		o->session.file = arg;
		return 0;
	case KEY_EXE:
		o->session.target.exe = arg;
		return 0;
	case KEY_FORCE:
		o->session.target.force = o->session.inspector.force = true;
		return 0;
	case KEY_LAYOUT:
		o->session.inspector.layout = arg;
		return 0;
	case KEY_SOURCE_MAP:
		check_source_map(arg, state);
		*vec_push(&o->source_maps) = arg;
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case KEY_STOP_ALL:
		o->session.target.stop.all = true;
		return 0;
	case KEY_NO_STOP:
		o->session.target.stop.never = true;
		return 0;
	case KEY_MAX_PAUSE:
		o->session.target.stop.has_max = true;
		o->session.target.stop.max_ns = parse_pause("--max-pause", arg, state);
		return 0;
	case KEY_NO_CACHE:
		o->session.inspector.cache = false;
		return 0;
	case 'e':
	case 'x':
		*vec_push(&o->inputs) = (struct input){ key == 'x', arg };
		return 0;
	case KEY_BATCH:
		o->batch = true;
		return 0;
	case KEY_JSON:
		o->format = FORMAT_JSON;
		return 0;
	case KEY_JSONL:
		o->format = FORMAT_JSONL;
		return 0;
	case KEY_SHOW_SECRETS:
		o->show_secrets = true;
		return 0;
	case KEY_FULL_NAMES:
		o->full_names = true;
		return 0;
	case 'v':
		o->verbose = true;
		return 0;
	case KEY_ASCII:
		o->ascii = true;
		return 0;
	case KEY_COLOR:
		o->color = parse_color(arg, state);
		return 0;
	case KEY_LOG:
		log_enable(arg);
		return 0;
	case ARGP_KEY_ARG:
		main_take_word(o, arg, state);
		return 0;
	case ARGP_KEY_END:
		return check_options(o, state);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	error_t error = set_option(o, key, arg, state);

	if (!error && key != ARGP_KEY_END)
		take_command_options(o, state);
	return error;
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_option,
	.args_doc = "[PID | EXE CORE] [COMMAND...]",
	.doc = "Shows the tasks of async Rust programs, live or from a core dump, and what each of "
	       "them waits for.\vCOMMAND is one command, as in \"async backtrace all\"; \"asyncdbg "
	       "help\" lists all. Exit status: 0 complete, 1 something is missing, 2 nothing was "
	       "shown, 3 `check` found something, 4 nothing has moved (diff), 64 wrong usage.",
};

static void on_interrupt(int signal)
{
	(void)signal;
	interrupt_request();
}

static void install_signals(void)
{
	/* Without SA_RESTART: a ^C must end a read at the prompt. */
	struct sigaction interrupt = { .sa_handler = on_interrupt };
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGINT, &interrupt, NULL);
	/* A closed pipe is then reported as EPIPE, and the program exits normally. */
	sigaction(SIGPIPE, &ignore, NULL);
	file_fault_install();
}

static bool wants_color(enum color when)
{
	const char *no = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE");
	const char *terminal = getenv("TERM");

	if (when != COLOR_AUTO)
		return when == COLOR_ALWAYS;
	if (no && *no)
		return false;
	if (force && *force && strcmp(force, "0") != 0)
		return true;
	return isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

static unsigned terminal_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
		return 0;
	return size.ws_col;
}

/* Whether fd is a file: no terminal, and no pipe to a pager on the same terminal. */
static bool is_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

static void start_progress(void)
{
	const char *terminal = getenv("TERM");

	if (isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0)
		progress_enable(stderr, PROGRESS_DELAY_MS);
}

static struct out *open_out(const struct options *o, bool interactive)
{
	struct out_options options = {
		.answers = stdout,
		.messages = stderr,
		.full_names = o->full_names,
		.color = wants_color(o->color),
		.ascii = o->ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0,
		.width = terminal_width(),
		.progress = is_file(STDOUT_FILENO),
		.interactive = interactive,
		.group = o->format == FORMAT_TEXT && isatty(STDOUT_FILENO),
		.cut = o->format == FORMAT_TEXT,
	};

	if (o->format == FORMAT_TEXT)
		return out_text_new(&options);
	return out_json_new(&options, o->format == FORMAT_JSONL);
}

/* If the unknown word names a file, adds a hint about how to name files. */
static struct error *unknown_word(struct error *err, const char *word)
{
	if (command_begins_with(command_table, word) || access(word, F_OK) != 0)
		return err;
	struct error *with = error_new(
		ERR_USAGE, "%s; for an executable of that name write ./%s, for a core -c %s",
		err->message, word, word);

	error_free(err);
	return with;
}

static struct error *main_check_one(const struct words *words)
{
	SCRATCH(tmp);
	struct call call;
	struct error *err = command_find(&tmp, command_table, words, &call);

	return err ? unknown_word(err, words->word[0]) : NULL;
}

static struct error *check_inputs(const struct options *o)
{
	struct words words;
	size_t at = 0;

	for (size_t i = 0; i < o->inputs.n; i++) {
		if (!o->inputs.data[i].script)
			TRY(execute_check_line(o->inputs.data[i].text));
	}
	while (next_command(o, &at, &words))
		TRY(main_check_one(&words));
	return NULL;
}

/* Runs the commands of the command line; true when a prompt may follow. */
static bool run_inputs(const struct options *o, struct session *s, struct out *out,
                       enum status *status)
{
	struct words words;
	size_t at = 0;

	for (size_t i = 0; i < o->inputs.n && !s->quit; i++) {
		const struct input *in = &o->inputs.data[i];

		if (!(in->script ? execute_script : execute_line)(s, out, in->text, status))
			return false;
	}
	while (!s->quit && next_command(o, &at, &words)) {
		if (!execute_words(s, out, &words, status))
			break;
	}
	if (!o->words.n && !o->inputs.n)
		execute_line(s, out, "info", status);
	return true;
}

/*
 * Commands in a pipe on standard input are not run by default: in a shell loop, standard input
 * belongs to the loop. Prints a hint about how to run them.
 */
static void hint_at_input(const struct options *o)
{
	int waiting = 0;

	if (o->words.n || o->inputs.n || o->batch || isatty(STDIN_FILENO))
		return;
	if (ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 && waiting > 0)
		fprintf(stderr, "asyncdbg: standard input was not read: use -x - to run commands "
		                "from it, or --batch if there are none\n");
}

static enum status main_fail(enum status status, const struct error *err)
{
	execute_report(stderr, err);
	return status;
}

/* Whether the commands of the command line leave something to ask for: see struct command.stays. */
static bool prompt_follows(const struct options *o)
{
	SCRATCH(tmp);
	struct words command = last_command(o);
	struct call call;

	if (!o->words.n)
		return true;
	struct error *err CLEANUP(error_freep) = command_find(&tmp, command_table, &command, &call);
	return !err && call.command->stays;
}

static bool reads_commands(const struct options *o)
{
	for (size_t i = 0; i < o->inputs.n; i++) {
		if (o->inputs.data[i].script && strcmp(o->inputs.data[i].text, "-") == 0)
			return true;
	}
	return false;
}

/* Adds the source maps, which were checked when they were parsed. */
static void add_source_maps(const struct options *o, struct session *s)
{
	for (size_t i = 0; i < o->source_maps.n; i++)
		error_free(source_files_add_map(&s->sources, o->source_maps.data[i]));
}

static enum status main_run(const struct options *o)
{
	SCRATCH(words);
	struct secrets secrets CLEANUP(secrets_free) = { 0 };
	struct asyncdbg_options options = o->session;
	struct session s CLEANUP(session_close) = { 0 };
	bool prompt = prompt_follows(o) && !o->batch && isatty(STDIN_FILENO);
	struct out *out CLEANUP(out_freep) = open_out(o, prompt);
	enum status status = STATUS_OK;

	struct error *wrong CLEANUP(error_freep) = check_inputs(o);
	if (wrong)
		return main_fail(STATUS_USAGE, wrong);
	struct error *unread CLEANUP(error_freep) =
		o->show_secrets ? NULL : redact_load(&words, &secrets);
	if (unread)
		return main_fail(STATUS_NOTHING, unread);
	options.inspector.secrets = o->show_secrets ? NULL : &secrets;
	start_progress();
	struct error *closed CLEANUP(error_freep) = session_open(&options, &s);
	progress_end();
	if (closed)
		return main_fail(STATUS_NOTHING, closed);
	s.verbose = o->verbose;
	s.program = o->program.data;
	s.no_input = reads_commands(o);
	add_source_maps(o, &s);
	if (run_inputs(o, &s, out, &status) && prompt && !s.quit)
		repl(&s, out);
	hint_at_input(o);
	return status;
}

/*
 * Opens missing standard streams, so that no file opened later becomes standard output. The
 * substitute for standard output is not writable, so that writing answers fails and is reported.
 */
static void fill_standard_streams(void)
{
	static const int how[] = { O_RDONLY, O_RDONLY, O_WRONLY };

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", how[fd]);
	}
}

/*
 * Keeps large blocks of malloc() in mappings of their own, which grow without a copy, and are
 * unmapped when freed. glibc's default threshold rises to the size of each such block that is
 * freed.
 */
static void map_large_blocks(void)
{
#ifdef __GLIBC__
	enum { LARGE = 1 << 20 };

	mallopt(M_MMAP_THRESHOLD, LARGE);
#endif
}

int main(int argc, char **argv)
{
	struct options o = { .session.inspector.cache = true };

	fill_standard_streams();
	map_large_blocks();
	setlocale(LC_CTYPE, "");
	install_signals();
	argp_err_exit_status = STATUS_USAGE;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &o);

	if (o.program.n)
		*vec_push(&o.program) = NULL;
	read_guard_start();
	enum status status = main_run(&o);
	vec_free(&o.inputs);
	vec_free(&o.words);
	vec_free(&o.program);
	vec_free(&o.source_maps);
	return status;
}
