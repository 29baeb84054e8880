#include "commands/shell/command.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "commands/ask/ask.h"
#include "commands/control/control.h"
#include "commands/dap/dap.h"
#include "commands/files/files.h"
#include "commands/incident/incident.h"
#include "commands/profile/profile.h"
#include "commands/report/report.h"
#include "commands/shell/execute.h"
#include "commands/shell/gdb_words.h"
#include "commands/shell/option.h"
#include "commands/shell/short_form.h"
#include "commands/time/time.h"
#include "commands/top/top.h"
#include "debugger/base/nearest.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"

const struct command *const command_table[] = {
	&async_backtrace_command,
	&async_backtrace_all_command,
	&async_task_command,
	&async_graph_command,
	&async_deadlocks_command,
	&task_command,
	&frame_command,
	&up_command,
	&down_command,
	&list_command,
	&disassemble_command,
	&x_command,
	&locals_command,
	&print_command,
	&whatis_command,
	&type_command,
	&types_command,
	&tasks_command,
	&runtimes_command,
	&threads_command,
	&thread_command,
	&bt_command,
	&bt_all_command,
	&check_command,
	&ps_command,
	&guard_command,
	&trace_command,
	&probes_command,
	&stalls_command,
	&metrics_command,
	&profile_command,
	&top_command,
	&info_command,
	&info_layout_command,
	&info_sockets_command,
	&info_threads_command,
	&info_locals_command,
	&info_registers_command,
	&layout_command,
	&save_command,
	&diff_command,
	&report_command,
	&run_command,
	&attach_command,
	&continue_command,
	&detach_command,
	&kill_command,
	&stepi_command,
	&next_command,
	&step_command,
	&finish_command,
	&until_command,
	&nexti_command,
	&break_command,
	&tbreak_command,
	&logpoint_command,
	&condition_command,
	&catch_command,
	&handle_command,
	&info_signals_command,
	&signal_command,
	&interrupt_command,
	&watch_command,
	&rwatch_command,
	&awatch_command,
	&info_breakpoints_command,
	&delete_command,
	&enable_command,
	&disable_command,
	&set_command,
	&dap_command,
	&help_command,
	&quit_command,
	NULL,
};

/* Aliases of the words of command names. */
static const struct {
	const char *word, *alias;
} aliases[] = {
	{ "backtrace", "bt" },
	{ "bt", "backtrace" },
	{ "quit", "exit" },
};

/* A word within a command's name, not NUL-terminated. */
struct command_part {
	const char *text;
	size_t len;
};

/* The distinct words that can follow, each with the first command that has it there. */
struct nexts {
	struct next {
		struct command_part part;
		const char *name;
	} * data;
	size_t n, capacity;
};

static void command_nexts_deinit(struct nexts *nexts)
{
	vec_free(nexts);
}

enum command_fit_data { FIT_NONE, FIT_PREFIX, FIT_EXACT };

/* Finds word number i of a name; false when there is none. */
static bool command_name_part(const char *name, size_t i, struct command_part *ret)
{
	while (i--) {
		name = strchr(name, ' ');
		if (!name)
			return false;
		name++;
	}
	*ret = (struct command_part){ name, strcspn(name, " ") };
	return true;
}

static size_t name_parts(const char *name)
{
	struct command_part part;
	size_t n = 0;

	while (command_name_part(name, n, &part))
		n++;
	return n;
}

static bool command_part_equal(struct command_part a, struct command_part b)
{
	return a.len == b.len && memcmp(a.text, b.text, a.len) == 0;
}

static enum command_fit_data command_fit(struct command_part part, const char *typed)
{
	size_t len = strlen(typed);

	if (len > part.len || len == 0 || memcmp(part.text, typed, len) != 0)
		return FIT_NONE;
	return len == part.len ? FIT_EXACT : FIT_PREFIX;
}

static enum command_fit_data command_fit_alias(struct command_part part, const char *typed)
{
	enum command_fit_data best = command_fit(part, typed);

	for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++) {
		struct command_part word = { aliases[i].word, strlen(aliases[i].word) };
		struct command_part alias = { aliases[i].alias, strlen(aliases[i].alias) };

		if (command_part_equal(part, word) && command_fit(alias, typed) > best)
			best = command_fit(alias, typed);
	}
	return best;
}

/* Whether the first depth words of both names are the same. */
static bool command_same_path(const char *a, const char *b, size_t depth)
{
	struct command_part pa, pb;

	for (size_t i = 0; i < depth; i++) {
		if (!command_name_part(a, i, &pa) || !command_name_part(b, i, &pb) ||
		    !command_part_equal(pa, pb))
			return false;
	}
	return true;
}

static bool nexts_contain(const struct nexts *nexts, struct command_part part)
{
	for (size_t i = 0; i < nexts->n; i++) {
		if (command_part_equal(nexts->data[i].part, part))
			return true;
	}
	return false;
}

/* Collects the words that can follow the first depth words of path. */
static void command_collect_nexts(const struct command *const *table, const char *path,
                                  size_t depth, struct nexts *ret)
{
	for (; *table; table++) {
		struct command_part part;

		if (command_same_path((*table)->name, path, depth) &&
		    command_name_part((*table)->name, depth, &part) && !nexts_contain(ret, part))
			*vec_push(ret) = (struct next){ part, (*table)->name };
	}
}

/* An error with a list like "thread, threads" of the words that typed abbreviates. */
static struct error *ambiguous(const struct nexts *nexts, const char *typed)
{
	STR(list);

	for (size_t i = 0; i < nexts->n; i++) {
		if (command_fit_alias(nexts->data[i].part, typed) == FIT_NONE)
			continue;
		str_append(&list, list.len ? ", " : "");
		str_append_len(&list, nexts->data[i].part.text, nexts->data[i].part.len);
	}
	return error_new(ERR_USAGE, "\"%s\" is ambiguous: %s", typed, str_text(&list));
}

/*
 * Matches words with parts of command names as far as possible. The words match the first *depth
 * words of the name *path.
 */
static struct error *command_resolve(const struct command *const *table, const struct words *words,
                                     const char **path, size_t *depth)
{
	*path = "";
	for (*depth = 0; *depth < words->n; ++*depth) {
		struct nexts nexts CLEANUP(command_nexts_deinit) = { 0 };
		const char *typed = words->word[*depth];
		const char *fixed = *depth ? NULL : short_form(typed), *found = NULL;
		enum command_fit_data best = FIT_NONE;
		size_t same = 0;

		typed = fixed ? fixed : typed;
		if (!*depth)
			TRY(short_form_missing(typed));
		command_collect_nexts(table, *path, *depth, &nexts);
		for (size_t i = 0; i < nexts.n; i++) {
			enum command_fit_data is = command_fit_alias(nexts.data[i].part, typed);

			same = is > best ? 1 : same + (is == best && is != FIT_NONE);
			if (is > best)
				found = nexts.data[i].name;
			best = is > best ? is : best;
		}
		if (same > 1)
			return ambiguous(&nexts, typed);
		if (!found)
			return NULL;
		*path = found;
	}
	return NULL;
}

/* The word of nexts that is nearest to typed; NULL when none is near. */
static const struct next *suggest(const struct nexts *nexts, const char *typed)
{
	struct nearest nearest = { .typed = typed };
	const struct next *best = NULL;

	for (size_t i = 0; i < nexts->n; i++) {
		struct command_part part = nexts->data[i].part;

		if (nearest_offer(&nearest, part.text, part.len))
			best = &nexts->data[i];
	}
	return best;
}

static const struct command *command_of_path(const struct command *const *table, const char *path,
                                             size_t depth)
{
	for (; *table; table++) {
		if (name_parts((*table)->name) == depth &&
		    command_same_path((*table)->name, path, depth))
			return *table;
	}
	return NULL;
}

/* Appends the part of the name that was matched, with a blank at its end: "async ". */
static void append_path(struct str *s, const char *path, size_t depth)
{
	struct command_part part;

	for (size_t i = 0; i < depth && command_name_part(path, i, &part); i++) {
		str_append_len(s, part.text, part.len);
		str_append(s, " ");
	}
}

static struct error *command_unknown(const struct command *const *table, const struct words *words,
                                     const char *path, size_t depth)
{
	struct nexts nexts CLEANUP(command_nexts_deinit) = { 0 };
	STR(known);

	command_collect_nexts(table, path, depth, &nexts);
	append_path(&known, path, depth);

	if (strchr(words->word[depth], ' '))
		return error_new(
			ERR_USAGE,
			"unknown command \"%s%s\": give each of its words as its own argument, "
			"without quotes around all of them; -e takes a whole line",
			str_text(&known), words->word[depth]);
	const struct next *near = suggest(&nexts, words->word[depth]);
	if (!near)
		return error_new(ERR_USAGE, "unknown command \"%s%s\"; \"help\" lists all",
		                 str_text(&known), words->word[depth]);
	return error_new(ERR_USAGE, "unknown command \"%s%s\"; did you mean \"%s%.*s\"?",
	                 str_text(&known), words->word[depth], str_text(&known),
	                 (int)near->part.len, near->part.text);
}

static struct error *command_incomplete(const struct command *const *table, const char *path,
                                        size_t depth)
{
	STR(list);
	STR(known);

	append_path(&known, path, depth);
	str_truncate(&known, known.len - 1);
	for (; *table; table++) {
		if (command_same_path((*table)->name, path, depth))
			str_printf(&list, "%s%s", list.len ? ", " : "", (*table)->name);
	}
	return error_new(ERR_USAGE, "\"%s\" is not a complete command: %s", str_text(&known),
	                 str_text(&list));
}

/* A word behind a command that takes none, but that others begin with. */
static struct error *none_of(const struct command *command, const struct nexts *nexts,
                             const char *extra)
{
	STR(list);

	for (size_t i = 0; i < nexts->n; i++)
		str_printf(&list, "%s%s %.*s", i ? ", " : "", command->name,
		           (int)nexts->data[i].part.len, nexts->data[i].part.text);
	return error_new(ERR_USAGE, "unknown command \"%s %s\"; there are %s, %s", command->name,
	                 extra, command->name, str_text(&list));
}

static struct error *too_many(const struct command *const *table, const struct command *command,
                              const struct words *args, size_t depth)
{
	struct nexts nexts CLEANUP(command_nexts_deinit) = { 0 };
	const char *extra = args->word[command->max_args];

	command_collect_nexts(table, command->name, depth, &nexts);

	const struct next *near = command->max_args ? NULL : suggest(&nexts, extra);
	if (near)
		return error_new(ERR_USAGE, "unknown command \"%s %s\"; did you mean \"%s %.*s\"?",
		                 command->name, extra, command->name, (int)near->part.len,
		                 near->part.text);
	if (!command->max_args && nexts.n)
		return none_of(command, &nexts, extra);
	if (command->max_args)
		return error_new(ERR_USAGE, "unexpected argument \"%s\"; usage: %s %s", extra,
		                 command->name, command->args);
	return error_new(ERR_USAGE, "\"%s\" takes no arguments: \"%s\"", command->name, extra);
}

static struct error *check_call(const struct command *const *table, const struct call *call,
                                size_t depth)
{
	const struct command *command = call->command;

	if (call->args.n > command->max_args)
		return too_many(table, command, &call->args, depth);
	if (call->args.n < command->min_args)
		return error_new(ERR_USAGE, "\"%s\" needs more arguments; usage: %s %s",
		                 command->name, command->name, command->args);
	if (call->verbose && !command->verbose)
		return error_new(ERR_USAGE, "\"%s\" has no option -v", command->name);
	return command->check ? command->check(call) : NULL;
}

bool command_begins_with(const struct command *const *table, const char *word)
{
	struct error *missing CLEANUP(error_freep) = short_form_missing(word);
	bool found = missing || short_form(word);

	for (; *table && !found; table++) {
		struct command_part part;

		found = command_name_part((*table)->name, 0, &part) &&
		        command_fit_alias(part, word) != FIT_NONE;
	}
	return found;
}

struct error *command_named(const struct command *const *table, const struct words *words,
                            const struct command **ret, size_t *depth)
{
	const char *path;

	TRY(command_resolve(table, words, &path, depth));
	*ret = *depth ? command_of_path(table, path, *depth) : NULL;
	if (*ret)
		return NULL;
	if (*depth < words->n)
		return command_unknown(table, words, path, *depth);
	return command_incomplete(table, path, *depth);
}

struct error *command_family(struct arena *a, const struct command *const *table,
                             const struct words *words, const struct command ***ret, size_t *n)
{
	VEC(const struct command *) found = { 0 };
	const struct command *command;
	const char *path;
	size_t depth, taken;
	struct error *err = command_named(table, words, &command, &taken);

	if (!err) {
		*vec_push(&found) = command;
	} else {
		error_free(command_resolve(table, words, &path, &depth));
		for (; depth && depth == words->n && *table; table++) {
			if (command_same_path((*table)->name, path, depth))
				*vec_push(&found) = *table;
		}
		if (!found.n)
			return err;
		error_free(err);
	}
	*n = found.n;
	*ret = vec_to_arena(&found, a);
	return NULL;
}

static struct error *command_find_row(struct arena *a, const struct command *const *table,
                                      const struct words *split, struct call *ret)
{
	struct call call = { .shell = &execute_for_calls };
	struct words plain = option_words_before(a, split);
	size_t depth;

	TRY(command_named(table, &plain, &call.command, &depth));
	TRY(option_take_all(a, split, depth, &call));
	TRY(check_call(table, &call, depth));
	*ret = call;
	return NULL;
}

struct error *command_find(struct arena *a, const struct command *const *table,
                           const struct words *words, struct call *ret)
{
	struct words split = short_form_split(a, words);
	struct error *err = command_find_row(a, table, &split, ret);
	const char *here = err && err->kind == ERR_USAGE ? gdb_words_find(&split) : NULL;

	if (!here)
		return err;
	error_free(err);
	return error_new(ERR_USAGE, "\"%s%s%s\" is a gdb command: %s", split.word[0],
	                 split.n > 1 ? " " : "", split.n > 1 ? split.word[1] : "", here);
}

size_t command_option_words(const struct command *const *table, const struct words *typed,
                            const struct words *rest)
{
	SCRATCH(tmp);
	struct words split = short_form_split(&tmp, typed);
	struct words plain = option_words_before(&tmp, &split);
	const struct command *command;
	size_t depth;
	struct error *err CLEANUP(error_freep) = command_named(table, &plain, &command, &depth);

	if (err)
		return 0;
	size_t n = option_words(command, rest);
	/* A negative number is an argument: the program has no option of a digit. */
	if (!n && rest->n && rest->word[0][0] == '-' && isdigit((unsigned char)rest->word[0][1]))
		n = 1;
	/*
	 * Check other commands: the command reports the wrong option, and the option must not be
	 * taken for an abbreviated option of the program.
	 */
	for (size_t i = 0; !n && table[i]; i++)
		n = option_words(table[i], rest) != 0;
	return n;
}

struct completions {
	const char **data;
	size_t n, capacity;
};

static void add_completion(const char *word, void *arg)
{
	struct completions *found = arg;

	*vec_push(found) = word;
}

/* Whether the last word is an option whose value follows. */
static bool is_value_next(const struct command *command, const struct words *before)
{
	const char *next[] = { before->n ? before->word[before->n - 1] : "", "" };

	return option_words(command, &(struct words){ next, 2 }) > 1;
}

size_t command_complete(struct arena *a, const struct command *const *table,
                        const struct words *before, const char *partial, const char ***ret)
{
	struct nexts nexts CLEANUP(command_nexts_deinit) = { 0 };
	struct completions found = { 0 };
	const char *path;
	size_t depth;
	struct error *err CLEANUP(error_freep) = command_resolve(table, before, &path, &depth);

	const struct command *command = err ? NULL : command_of_path(table, path, depth);

	if (command && is_value_next(command, before))
		depth = SIZE_MAX;
	else if (command && *partial == '-')
		option_complete(a, command, partial, add_completion, &found);
	else if (!err && depth == before->n)
		command_collect_nexts(table, path, depth, &nexts);
	for (size_t i = 0; i < nexts.n; i++) {
		struct command_part part = nexts.data[i].part;

		if (*partial == '\0' || command_fit(part, partial) != FIT_NONE)
			*vec_push(&found) = arena_strndup(a, part.text, part.len);
	}
	size_t n = found.n;
	*ret = vec_to_arena(&found, a);
	return n;
}
