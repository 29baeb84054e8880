#include "commands/shell/complete_value.h"

#include <string.h>

#include "commands/ask/ask.h"
#include "commands/control/control.h"
#include "commands/shell/command.h"

/* The first argument of a command, or each of them. */
static const struct value_row {
	const struct command *command;
	enum value_kind kind;
	bool each;
} rows[] = {
	{ &print_command, VALUE_PATH, false },
	{ &watch_command, VALUE_PATH, false },
	{ &rwatch_command, VALUE_PATH, false },
	{ &awatch_command, VALUE_PATH, false },
	{ &set_command, VALUE_PATH, false },
	{ &task_command, VALUE_TASK, false },
	{ &async_task_command, VALUE_TASK, false },
	{ &async_graph_command, VALUE_TASK, false },
	{ &delete_command, VALUE_BREAKPOINT, true },
	{ &enable_command, VALUE_BREAKPOINT, true },
	{ &disable_command, VALUE_BREAKPOINT, true },
	{ &condition_command, VALUE_BREAKPOINT, false },
	{ &catch_command, VALUE_CATCH, false },
	{ &break_command, VALUE_PLACE, false },
	{ &tbreak_command, VALUE_PLACE, false },
	{ &logpoint_command, VALUE_PLACE, false },
	{ &list_command, VALUE_PLACE, false },
	{ &run_command, VALUE_FILE, true },
};

/* Kind of the value that an option takes. */
static enum value_kind kind_of_option(const struct command *command, const char *word)
{
	if (strncmp(word, "--", 2) != 0)
		return VALUE_OTHER;
	for (const struct command_option *o = command->options; o && o->name; o++) {
		if (!o->arg || strcmp(o->name, word + 2) != 0)
			continue;
		return strcmp(o->arg, "ID") == 0                                   ? VALUE_TASK
		       : strcmp(o->arg, "FILE") == 0 || strcmp(o->arg, "DIR") == 0 ? VALUE_FILE
		                                                                   : VALUE_OTHER;
	}
	return VALUE_OTHER;
}

enum value_kind complete_value_kind(const struct words *words)
{
	const struct command *command;
	size_t depth;

	if (!words->n)
		return VALUE_OTHER;
	struct error *err CLEANUP(error_freep) =
		command_named(command_table, words, &command, &depth);

	/* Words behind the name are no error. */
	if (err)
		return VALUE_OTHER;
	enum value_kind kind =
		words->n > depth ? kind_of_option(command, words->word[words->n - 1]) : VALUE_OTHER;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && kind == VALUE_OTHER; i++) {
		if (rows[i].command == command && (rows[i].each || words->n == depth))
			kind = rows[i].kind;
	}
	return kind;
}

typedef VEC(const char *) word_vec;

static void complete_value_offer(word_vec *found, const char *word, const char *partial)
{
	if (strncmp(word, partial, strlen(partial)) == 0)
		*vec_push(found) = word;
}

static void offer_tasks(struct session *s, word_vec *found, const char *partial, struct arena *a)
{
	const struct snapshot *snap;

	if (!asyncdbg_target(s->handle))
		return;
	struct error *err CLEANUP(error_freep) = session_snapshot(s, WANT_TASKS, NULL, &snap);
	for (size_t i = 0; !err && i < snap->ntasks; i++) {
		if (snap->tasks[i]->id)
			complete_value_offer(found, arena_strdup(a, snap->tasks[i]->id), partial);
	}
}

static void offer_breakpoints(struct session *s, word_vec *found, const char *partial,
                              struct arena *a)
{
	const struct debuggee *d = &s->debuggee;

	for (size_t i = 0; i < d->breakpoints.list.n; i++)
		complete_value_offer(
			found, arena_printf(a, "%u", d->breakpoints.list.data[i]->number), partial);
	for (size_t i = 0; i < d->watches.list.n; i++)
		complete_value_offer(found, arena_printf(a, "%u", d->watches.list.data[i]->number),
		                     partial);
}

size_t complete_value_list(struct session *s, enum value_kind kind, const char *partial,
                           struct arena *a, const char ***ret)
{
	word_vec found = { 0 };

	if (kind == VALUE_TASK)
		offer_tasks(s, &found, partial, a);
	else if (kind == VALUE_BREAKPOINT)
		offer_breakpoints(s, &found, partial, a);
	for (enum event_break_kind e = 0; kind == VALUE_CATCH && e < EVENT_BREAK_NKINDS; e++) {
		if (event_break_is_catch(e))
			complete_value_offer(&found, event_break_name(e), partial);
	}
	size_t n = found.n;
	*ret = vec_to_arena(&found, a);
	return n;
}
