#include "commands/report/report_data.h"

#include <inttypes.h>
#include <string.h>

#include "commands/json/out_json.h"
#include "commands/report/report_parts.h"
#include "debugger/base/str.h"
#include "runtimes/analysis/view.h"
#include "runtimes/model/names.h"

/* The largest integer that JavaScript represents exactly. */
static const uint64_t max_safe = (UINT64_C(1) << 53) - 1;

uint32_t report_string(struct report *r, const char *text)
{
	return text ? report_table_row(&r->strings, text, strlen(text)) : 0;
}

uint32_t report_name(struct report *r, const char *name)
{
	return name ? report_table_name(&r->strings, name) : 0;
}

uint32_t report_address(struct report *r, uint64_t addr)
{
	char text[2 + 16 + 1];

	if (!addr)
		return 0;
	int len = snprintf(text, sizeof(text), "0x%" PRIx64, addr);
	return report_table_row(&r->strings, text, (size_t)len);
}

uint32_t report_task(struct report *r, const struct task *task)
{
	return task ? (uint32_t)(uintptr_t)map_get(&r->tasks, (uintptr_t)task) : 0;
}

/* ---- tasks, by columns ---- */

static void report_data_put(struct report *r, uint64_t number)
{
	json_put_int(&r->w, NULL, (int64_t)number);
}

static void report_data_put_id(struct report *r, const struct task *task)
{
	/* A number takes half the space of text; unless JavaScript would round it. */
	if (task->number && task->number <= max_safe)
		report_data_put(r, task->number);
	else
		json_put_text(&r->w, NULL, task->id);
}

static void put_address(struct report *r, const struct task *task)
{
	if (task->addr <= max_safe)
		report_data_put(r, task->addr);
	else
		json_put_address(&r->w, NULL, task->addr);
}

static void put_runtime(struct report *r, const struct task *task)
{
	/* No index: no runtime. */
	report_data_put(r, task->undriven ? UINT32_MAX : task->runtime);
}

static void put_state(struct report *r, const struct task *task)
{
	report_data_put(r, task->state);
}

static void put_flags(struct report *r, const struct task *task)
{
	bool notified = task->state == TASK_RUNNING && task->notified;

	report_data_put(r, (uint64_t)(notified ? 1 : 0) | (task->changed ? 2 : 0));
}

static void put_thread_number(struct report *r, const struct task *task)
{
	report_data_put(r, task->thread);
}

static void put_local_set(struct report *r, const struct task *task)
{
	report_data_put(r, report_address(r, task->local_set));
}

static void put_type(struct report *r, const struct task *task)
{
	report_data_put(r, report_name(r, task->type));
}

static void put_problem(struct report *r, const struct task *task)
{
	report_data_put(r, report_string(r, task->problem));
}

static void put_shape(struct report *r, const struct task *task)
{
	report_data_put(r, report_shape(r, task->root));
}

static void report_data_put_waiting(struct report *r, const struct task *task)
{
	SCRATCH(tmp);
	size_t others;

	report_data_put(r, report_string(r, task_waiting_on(&tmp, r->snap, task, false, &others)));
}

static void put_awaiting(struct report *r, const struct task *task)
{
	const struct future *f = future_awaiting(task->root);
	STR(place);

	if (f && f->file_short) {
		str_append(&place, f->file_short);
		if (f->line) {
			str_append(&place, ":");
			str_append_uint(&place, f->line);
		}
	}
	report_data_put(r, f && f->file_short ? report_string(r, place.data) : 0);
}

static void report_data_put_group(struct report *r, const struct task *task)
{
	report_data_put(r, r->groups.of[report_task(r, task) - 1]);
}

static void put_tree_details(struct report *r, const struct task *task)
{
	if (task->root)
		report_put_details(r, task->root);
}

static const struct report_data_column {
	const char *key;
	void (*put)(struct report *r, const struct task *task);
} columns[] = {
	{ "id", report_data_put_id },
	{ "runtime", put_runtime },
	{ "addr", put_address },
	{ "state", put_state },
	{ "flags", put_flags },
	{ "thread", put_thread_number },
	{ "type", put_type },
	{ "local_set", put_local_set },
	{ "problem", put_problem },
	{ "waiting", report_data_put_waiting },
	{ "shape", put_shape },
	{ "awaiting", put_awaiting },
	{ "group", report_data_put_group },
	/* The count of numbers depends on the shape. */
	{ "details", put_tree_details },
};

static struct error *report_data_put_tasks(struct report *r)
{
	json_open_object(&r->w, "tasks");
	for (size_t c = 0; c < sizeof(columns) / sizeof(*columns); c++) {
		json_open_array(&r->w, columns[c].key);
		for (size_t i = 0; i < r->snap->ntasks; i++) {
			TRY(interrupt_check());
			columns[c].put(r, r->snap->tasks[i]);
		}
		json_close_array(&r->w);
	}
	json_close_object(&r->w);
	return NULL;
}

/* ---- threads ---- */

static void report_data_put_frames(struct report *r, const struct thread_info *th)
{
	json_open_array(&r->w, "frames");
	for (size_t i = 0; i < th->nframes; i++) {
		const struct stack_frame *f = &th->frames[i];

		json_open_array(&r->w, NULL);
		report_data_put(r, f->number);
		report_data_put(r, report_address(r, f->pc));
		report_data_put(r, report_name(r, f->aliases ? arena_printf(&r->arena, "%s or %s",
		                                                            f->function, f->aliases)
		                                             : f->function));
		report_data_put(r, report_name(r, f->function_full));
		report_data_put(r, report_name(r, f->file));
		report_data_put(r, report_name(r, f->file_short));
		report_data_put(r, f->line);
		report_data_put(r, f->inlined);
		report_data_put(r, report_name(r, f->module));
		report_data_put(r, report_string(r, f->polls_task));
		json_close_array(&r->w);
	}
	json_close_array(&r->w);
}

static void report_data_put_thread(struct report *r, const struct thread_info *th)
{
	struct json_writer *w = &r->w;

	json_open_object(w, NULL);
	out_json_thread_details(w, th);
	json_put_text(w, "job", th->job);
	json_put_bool(w, "pooled", th->pooled);
	out_json_wait(w, "wait", th->wait);
	json_put_text(w, "problem", th->problem);
	json_put_int(w, "shape", report_shape(r, th->root));
	json_open_array(w, "details");
	if (th->root)
		report_put_details(r, th->root);
	json_close_array(w);
	report_data_put_frames(r, th);
	json_close_object(w);
}

/* ---- the rest ---- */

/* Writes rows of numbers: task + 1 or 0, thread or 0, frame, then the variable. */
static void report_data_put_locals_of(struct report *r, uint32_t task, unsigned thread,
                                      const struct future *f)
{
	for (size_t i = 0; f && i < f->nlocals; i++) {
		const struct local *l = &f->locals[i];
		const uint32_t row[] = {
			task,
			thread,
			f->number,
			report_name(r, l->name),
			report_name(r, l->type),
			report_string(r, l->value),
			(uint32_t)(l->argument | l->uncertain << 1 | l->passed_in << 2 |
			           l->may_be_lost << 3 | l->may_be_unset << 4 |
			           l->may_be_stale << 5),
			report_string(r, l->problem),
		};

		for (size_t k = 0; k < sizeof(row) / sizeof(*row); k++)
			report_data_put(r, row[k]);
	}
	for (size_t i = 0; f && i < f->nchildren; i++)
		report_data_put_locals_of(r, task, thread, f->children[i]);
}

static struct error *put_locals(struct report *r)
{
	json_open_array(&r->w, "locals");
	for (size_t i = 0; i < r->snap->ntasks; i++) {
		TRY(interrupt_check());
		report_data_put_locals_of(r, (uint32_t)i + 1, 0, r->snap->tasks[i]->root);
	}
	for (size_t i = 0; i < r->snap->nthreads; i++)
		report_data_put_locals_of(r, 0, r->snap->threads[i].number,
		                          r->snap->threads[i].root);
	json_close_array(&r->w);
	return NULL;
}

static void report_data_put_head(struct report *r, int64_t written)
{
	struct json_writer *w = &r->w;
	const struct reading *reading = &r->snap->reading;

	json_put_int(w, "format", 1);
	json_put_text(w, "version", ASYNCDBG_VERSION);
	json_put_int(w, "written", written);
	out_json_target(w, r->answer);
	json_open_object(w, "reading");
	json_put_text(w, "how", reading_how_name(reading->how));
	json_put_int(w, "pause_ns", (int64_t)reading->pause_ns);
	json_close_object(w);
	json_put_bool(w, "complete", r->snap->complete);
	json_put_list(w, "notes", r->snap->notes, r->snap->nnotes);
	json_put_bool(w, "verbose", r->answer->verbose);
	json_open_array(w, "runtimes");
	for (size_t i = 0; i < r->snap->nruntimes; i++)
		out_json_runtime(w, r->answer, &r->snap->runtimes[i]);
	json_close_array(w);
	report_put_words(w);
}

static void put_strings(struct report *r)
{
	json_open_array(&r->w, "strings");
	for (size_t i = 0; i < r->strings.n; i++)
		json_put_text(&r->w, NULL, r->strings.data[i].bytes);
	json_close_array(&r->w);
}

static struct error *put_report(struct report *r, int64_t written)
{
	json_open_object(&r->w, NULL);
	report_data_put_head(r, written);
	TRY(report_data_put_tasks(r));
	json_open_array(&r->w, "threads");
	for (size_t i = 0; i < r->snap->nthreads; i++) {
		TRY(interrupt_check());
		report_data_put_thread(r, &r->snap->threads[i]);
	}
	json_close_array(&r->w);
	if (r->answer->verbose)
		TRY(put_locals(r));
	report_put_groups(r);
	report_put_holdings(r);
	report_put_graph(r);
	/* Last, because the parts above add to these tables. */
	report_put_shapes(r);
	put_strings(r);
	json_close_object(&r->w);
	json_flush(&r->w);
	return NULL;
}

static void free_report(struct report *r)
{
	report_table_free(&r->strings);
	report_table_free(&r->shapes);
	map_free(&r->tasks);
	graph_freep(&r->graph);
	arena_free(&r->arena);
}

struct error *report_data_write(FILE *f, const struct answer *answer, int64_t written)
{
	struct report r CLEANUP(free_report) = { .answer = answer, .snap = answer->snapshot };

	json_writer_init(&r.w, f, true);
	r.w.in_page = true;
	report_table_row(&r.strings, "", 0);
	for (size_t i = 0; i < r.snap->ntasks; i++)
		map_put(&r.tasks, (uintptr_t)r.snap->tasks[i], (void *)(uintptr_t)(i + 1));
	groups_make(&r.arena, (const struct task *const *)r.snap->tasks, r.snap->ntasks, &r.groups);
	r.graph = graph_build(r.snap);
	return put_report(&r, written);
}
