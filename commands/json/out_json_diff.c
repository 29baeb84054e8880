/* Writes a diff as JSON. */
#include "commands/json/out_json.h"
#include "runtimes/analysis/diff.h"

static void put_place(struct json_writer *w, const char *key, const struct diff_place *p)
{
	json_open_object(w, key);
	json_put_text(w, "function", p->function);
	json_put_text(w, "file_short", p->file);
	out_json_number_if(w, "line", p->line, p->line);
	json_put_text(w, "on", p->on);
	json_put_text(w, "state", p->state);
	json_close_object(w);
}

/* A task is identified by id and runtime, because ids are unique only within a runtime. */
static void put_task(struct json_writer *w, const struct task *task)
{
	json_open_object(w, NULL);
	json_put_text(w, "id", task->id);
	out_json_number_if(w, "runtime", !task->undriven, task->runtime);
	json_put_address(w, "addr", task->addr);
	json_close_object(w);
}

static void put_members(struct json_writer *w, const struct diff_group *g)
{
	json_open_array(w, "tasks");
	for (size_t i = 0; i < g->n; i++) {
		const struct diff_item *item = g->items[i];

		if (item->after || item->before)
			put_task(w, item->after ? item->after : item->before);
	}
	json_close_array(w);
	json_open_array(w, "threads");
	for (size_t i = 0; i < g->n; i++) {
		const struct diff_item *item = g->items[i];

		if (item->thread_after || item->thread_before)
			json_put_int(w, NULL,
			             (item->thread_after ? item->thread_after : item->thread_before)
			                     ->number);
	}
	json_close_array(w);
}

static void put_group(struct json_writer *w, const struct diff_group *g)
{
	const struct diff_item *first = g->items[0];

	json_open_object(w, NULL);
	json_put_text(w, "kind", diff_kind_name(first->kind));
	json_put_int(w, "count", (int64_t)g->n);
	if (first->kind == DIFF_NEW)
		json_put_null(w, "from");
	else
		put_place(w, "from", &first->from);
	if (first->kind == DIFF_GONE)
		json_put_null(w, "to");
	else
		put_place(w, "to", first->kind == DIFF_MOVED ? &first->to : &first->from);
	json_put_int(w, "looks", first->looks);
	put_members(w, g);
	json_close_object(w);
}

void out_json_diff(struct json_writer *w, const struct diff *diff)
{
	json_open_object(w, "diff");
	json_put_text(w, "before", diff->before_name);
	json_put_text(w, "after", diff->after_name);
	json_put_bool(w, "has_moved", diff_has_moved(diff));
	json_put_bool(w, "before_complete", diff->before->complete);
	json_put_list(w, "doubts", diff->doubts, diff->ndoubts);
	json_open_object(w, "counts");
	for (size_t i = 0; i < DIFF_KINDS; i++)
		json_put_int(w, diff_kind_name(i), (int64_t)diff->counts[i]);
	json_close_object(w);
	json_open_array(w, "groups");
	for (size_t i = 0; i < diff->ngroups; i++)
		put_group(w, &diff->groups[i]);
	json_close_array(w);
	json_close_object(w);
}
