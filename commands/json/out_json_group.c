/* Writes groups of tasks as JSON. */
#include <string.h>

#include "commands/json/out_json.h"
#include "runtimes/analysis/group_lines.h"
#include "runtimes/analysis/tally.h"
#include "runtimes/model/names.h"

static void put_states(struct json_writer *w, const struct group_count *c)
{
	json_open_object(w, "states");
	for (size_t i = 0; i < GROUP_STATES; i++) {
		if (c->states[i])
			json_put_int(w, task_state_name((enum task_state)i), (int64_t)c->states[i]);
	}
	json_close_object(w);
}

static void put_count(struct json_writer *w, const struct group_count *c)
{
	json_put_int(w, "tasks", (int64_t)c->tasks);
	json_put_text(w, "oldest", c->oldest && !c->keyed ? c->oldest->id : NULL);
	json_put_text(w, "newest", c->newest && !c->keyed ? c->newest->id : NULL);
	put_states(w, c);
	json_put_int(w, "changed", (int64_t)c->changed);
}

static void put_local(struct json_writer *w, const struct group_local *l)
{
	json_open_object(w, NULL);
	json_put_text(w, "name", l->name);
	json_put_text(w, "type", l->type);
	json_put_bool(w, "argument", l->argument);
	json_put_int(w, "values", (int64_t)l->distinct);
	json_put_bool(w, "more", l->distinct >= GROUP_DISTINCT);
	json_put_int(w, "seen", (int64_t)l->seen);
	json_put_int(w, "unknown", (int64_t)l->unknown);
	json_put_list(w, "examples", l->examples, l->nexamples);
	json_close_object(w);
}

static void put_wait(struct json_writer *w, const struct group_node *n)
{
	SCRATCH(tmp);

	if (!n->frame->wait) {
		json_put_null(w, "wait");
		return;
	}
	json_open_object(w, "wait");
	json_put_text(w, "kind", n->frame->wait->kind);
	json_put_text(w, "phrase", phrase_range_text(&tmp, &n->wait));
	json_put_bool(w, "varies", n->wait.varies);
	json_close_object(w);
}

static void put_frame(struct json_writer *w, const struct group_node *n, bool verbose)
{
	SCRATCH(tmp);
	const struct future *f = n->frame;

	json_open_object(w, NULL);
	json_put_int(w, "node", (int64_t)n->serial);
	out_json_number_if(w, "parent", n->parent, n->parent ? n->parent->serial : 0);
	json_put_int(w, "tasks", (int64_t)n->count.tasks);
	json_put_int(w, "futures", (int64_t)n->futures);
	json_put_text(w, "kind", future_kind_of(f));
	json_put_text(w, "function", f->function);
	json_put_text(w, "file", f->file);
	json_put_text(w, "file_short", f->file_short);
	out_json_number_if(w, "line", f->line, f->line);
	json_put_text(w, "state", future_state_name(f->state));
	json_put_bool(w, "running", f->running);
	json_put_bool(w, "uncertain", f->uncertain);
	json_put_text(w, "aliases", f->aliases);
	json_put_text(w, "edge", f->edge);
	json_put_text(w, "branch", branch_name(f->branch));
	put_wait(w, n);
	json_put_text(w, "problem", phrase_range_text(&tmp, &n->problem));
	json_open_array(w, "locals");
	for (size_t i = 0; verbose && i < n->nlocals; i++)
		put_local(w, &n->locals[i]);
	json_close_array(w);
	json_close_object(w);
}

static void put_group(struct json_writer *w, const struct group *g, bool verbose)
{
	SCRATCH(tmp);

	json_open_object(w, NULL);
	put_count(w, &g->count);
	json_put_text(w, "example", g->task->id);
	json_put_text(w, "type", g->task->type);
	json_put_text(w, "problem",
	              g->root->frame ? g->task->problem : phrase_range_text(&tmp, &g->root->wait));
	json_open_array(w, "frames");
	for (size_t i = 0; i < g->nnodes; i++) {
		if (g->nodes[i]->frame)
			put_frame(w, g->nodes[i], verbose);
	}
	json_close_array(w);
	json_close_object(w);
}

void out_json_groups(struct json_writer *w, const struct groups *g, const struct group_lines *lines,
                     bool verbose)
{
	json_open_array(w, "groups");
	for (size_t i = 0; i < lines->ngroups; i++)
		put_group(w, &g->groups[i], verbose);
	json_close_array(w);
}

void out_json_tally(struct json_writer *w, const struct tally *tally, size_t n)
{
	json_open_object(w, "tally");
	json_put_text(w, "field", tally->field->name);
	json_open_array(w, "rows");
	for (size_t i = 0; i < n; i++) {
		json_open_object(w, NULL);
		json_put_text(w, "value", tally->rows[i].value);
		put_count(w, &tally->rows[i].count);
		json_close_object(w);
	}
	json_close_array(w);
	json_close_object(w);
}

void out_json_shown(struct json_writer *w, const struct shown *shown)
{
	json_open_object(w, "shown");
	json_put_int(w, "total", (int64_t)shown->total);
	json_put_int(w, "matched", (int64_t)shown->matched);
	json_put_int(w, "tasks", (int64_t)shown->tasks);
	json_put_int(w, "groups", (int64_t)shown->groups);
	json_put_int(w, "groups_shown", (int64_t)shown->groups_shown);
	json_close_object(w);
}
