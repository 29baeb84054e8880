/* The async processes of this machine. */
#include <inttypes.h>

#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "commands/parts/parts.h"
#include "runtimes/executor_detect/async_processes.h"

enum { MAX_PROBLEMS = 10 };

static const struct column columns[] = {
	{ "PID", true, 0 },         { "EXECUTOR", false, 16 }, { "TASKS", true, 0 },
	{ "DEBUG INFO", false, 0 }, { "COMMAND", false, 16 },
};

/* "tokio 1.54.1, futures-executor 0.3.31 in libworker.so" */
static const char *executors_cell(struct arena *a, const struct async_process *p)
{
	STR(s);

	for (size_t i = 0; i < p->nexecutors; i++) {
		const struct detected_executor *e = &p->executors[i];

		str_printf(&s, "%s%s%s%s", s.len ? ", " : "", e->name, e->version ? " " : "",
		           e->version ? e->version : "");
	}
	if (p->library)
		str_printf(&s, " in %s", str_base_name(p->library));
	return text_clean_cell(a, str_text(&s));
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

static void processes_text(struct text *t, const void *part)
{
	const struct async_processes *list = part;
	SCRATCH(tmp);

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

static const char *debug_name(enum debug_source debug)
{
	static const char *const names[] = {
		[DEBUG_UNKNOWN] = NULL, [DEBUG_NONE] = "none",         [DEBUG_LINES] = "lines",
		[DEBUG_FULL] = "full",  [DEBUG_SEPARATE] = "separate", [DEBUG_LAYOUT] = "layout",
	};

	return names[debug];
}

static void put_process(struct json_writer *w, const struct async_process *p)
{
	json_open_object(w, NULL);
	json_put_int(w, "pid", p->process->pid);
	json_put_text(w, "name", p->process->name);
	json_put_text(w, "command", p->process->command);
	json_put_text(w, "exe", p->process->exe);
	json_open_array(w, "executors");
	for (size_t i = 0; i < p->nexecutors; i++) {
		json_open_object(w, NULL);
		json_put_text(w, "kind", p->executors[i].name);
		json_put_text(w, "version", p->executors[i].version);
		json_put_bool(w, "supported", p->executors[i].supported);
		json_close_object(w);
	}
	json_close_array(w);
	json_put_text(w, "library", p->library);
	json_put_text(w, "debug_info", debug_name(p->debug));
	json_put_text(w, "debug_info_reason", p->debug_reason);
	out_json_number_if(w, "tasks", p->has_tasks, p->tasks);
	json_put_text(w, "problem", p->problem);
	json_close_object(w);
}

static void processes_json(struct json_writer *w, const void *part)
{
	const struct async_processes *list = part;

	json_open_array(w, "processes");
	for (size_t i = 0; i < list->n; i++)
		put_process(w, &list->data[i]);
	json_close_array(w);
	json_put_int(w, "processes_total", (int64_t)list->all.n);
	json_put_int(w, "processes_denied", (int64_t)list->denied);
	json_put_text(w, "processes_denied_problem", list->denied_problem);
}

static const struct part_kind processes_part = { sizeof(struct async_processes), processes_text,
	                                         processes_json };

void part_processes(struct out *o, const struct async_processes *list)
{
	out_part(o, &processes_part, list);
}
