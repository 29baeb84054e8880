/* Prints the async processes of this machine. */
#include <inttypes.h>

#include "commands/out/out_text.h"
#include "runtimes/survey/async_processes.h"

enum { MAX_PROBLEMS = 10 };

static const struct column columns[] = {
	{ "PID", true, 0 },         { "EXECUTOR", false, 16 }, { "TASKS", true, 0 },
	{ "DEBUG INFO", false, 0 }, { "COMMAND", false, 16 },
};

static const char *clean(struct arena *a, const char *text)
{
	return text ? str_clean(a, text, strlen(text)) : NULL;
}

/* "tokio 1.54.1, futures-executor 0.3.31 in libworker.so" */
static const char *executors_cell(struct arena *a, const struct async_process *p)
{
	STR(s);

	for (size_t i = 0; i < p->nexecutors; i++) {
		const struct surveyed *e = &p->executors[i];

		str_printf(&s, "%s%s%s%s", s.len ? ", " : "", e->name, e->version ? " " : "",
		           e->version ? e->version : "");
	}
	if (p->library)
		str_printf(&s, " in %s", str_base_name(p->library));
	return clean(a, str_text(&s));
}

static const char *debug_cell(const struct async_process *p)
{
	static const char *const names[] = {
		[DEBUG_UNKNOWN] = NULL,
		[DEBUG_NONE] = "none",
		[DEBUG_LINES] = "line tables only",
		[DEBUG_FULL] = "full",
		[DEBUG_SEPARATE] = "full, separate file",
		[DEBUG_LAYOUT] = "layout file",
	};

	return names[p->debug];
}

static void problems(struct text *t, const struct async_processes *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		if (list->data[i].problem && n++ < MAX_PROBLEMS)
			text_problem(t, "", list->data[i].problem);
	}
	if (n > MAX_PROBLEMS) {
		str_printf(&t->line, "%zu more %s cannot be looked at: --json has the reasons",
		           n - MAX_PROBLEMS, n - MAX_PROBLEMS == 1 ? "process" : "processes");
		text_end_line(t);
	}
}

static void last_line(struct text *t, const struct async_processes *list)
{
	str_printf(&t->line, "%zu async of %zu %s", list->n, list->all.n,
	           list->all.n == 1 ? "process" : "processes");
	text_end_line(t);
	if (!list->denied)
		return;
	SCRATCH(tmp);
	text_problem(t, "",
	             arena_printf(&tmp, "%zu of them may be async, too%s: %s", list->denied,
	                          list->denied > 1 ? ", the first" : "", list->denied_problem));
}

void text_processes(struct out *o, const struct async_processes *list)
{
	SCRATCH(tmp);
	struct text *t = (struct text *)o;

	if (list->n)
		table_init(&t->table, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < list->n; i++) {
		const struct async_process *p = &list->data[i];
		const char *command = *p->process->command ? p->process->command : p->process->name;
		const char *cells[] = {
			arena_printf(&tmp, "%d", (int)p->process->pid),
			executors_cell(&tmp, p),
			p->has_tasks ? arena_printf(&tmp, "%" PRIu64, p->tasks) : NULL,
			debug_cell(p),
			command,
		};

		table_row(&t->table, cells);
	}
	text_table_end(t);
	problems(t, list);
	last_line(t, list);
}
