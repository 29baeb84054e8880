/* Prints counts of tasks as text: tables, and the line about what is not shown. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/out/out_text.h"
#include "commands/out/out_text_chain.h"
#include "dwarf/names/demangle.h"
#include "runtimes/analysis/tally.h"

enum { MAX_BLOCK_ON = 3 /* threads in block_on that are shown */ };

static const char *const state_order[] = { "idle", "scheduled", "running", "complete",
	                                   "cancelled" };

void text_append_states(struct arena *a, struct str *s, const struct group_count *c)
{
	bool first = true;

	for (size_t i = 0; i < GROUP_STATES; i++) {
		if (!c->states[i])
			continue;
		if (c->states[i] == c->tasks)
			str_append(s, state_order[i]);
		else
			str_printf(s, "%s%s %s", first ? "" : ", ",
			           text_big_number(a, c->states[i]), state_order[i]);
		first = false;
	}
	if (c->changed)
		str_printf(s, ", %s changed while read", text_big_number(a, c->changed));
}

/* ---- threads ---- */

void text_thread_brief(struct text *t, const struct thread_info *th)
{
	struct brief *b = &t->brief;

	if (th->role == THREAD_BLOCK_ON && ++b->block_on <= MAX_BLOCK_ON)
		text_thread_async(t, th);
	if (th->role == THREAD_WORKER) {
		b->workers++;
		b->busy += th->task != NULL;
		b->parked += !th->task && th->state && strcmp(th->state, "parked") == 0;
	}
	b->blocking += th->role == THREAD_BLOCKING;
}

static void part(struct text *t, const char *sep, size_t n, const char *what)
{
	if (!n)
		return;
	str_append(&t->line, sep);
	text_big(t, n);
	str_append(&t->line, what);
}

void text_brief_line(struct text *t)
{
	const struct brief *b = &t->brief;
	size_t others = b->workers - b->busy - b->parked;

	if (!b->workers && !b->blocking && b->block_on <= MAX_BLOCK_ON)
		return;
	text_style(t, STYLE_HEADING);
	str_append(&t->line, "Threads:");
	if (b->block_on > MAX_BLOCK_ON)
		part(t, " ", b->block_on - MAX_BLOCK_ON, " more in block_on,");
	if (b->workers) {
		str_append(&t->line, " ");
		text_big_count(t, b->workers, "worker");
		str_append(&t->line, " (");
		part(t, "", b->parked, " parked");
		part(t, b->parked ? ", " : "", b->busy, " running tasks");
		part(t, b->parked || b->busy ? ", " : "", others, " in the runtime");
		str_append(&t->line, ")");
	}
	part(t, b->workers ? ", " : " ", b->blocking, " busy blocking");
	text_end_line(t);
}

/* ---- tables ---- */

void text_tally(struct out *o, const struct tally *tally, size_t n)
{
	struct text *t = (struct text *)o;
	SCRATCH(tmp);
	STR(title);

	for (const char *c = tally->field->name; *c; c++)
		str_printf(&title, "%c", *c == '_' ? ' ' : *c - 'a' + 'A');
	struct column *columns = NEW_ARRAY(&o->arena, struct column, 5);

	columns[0] = (struct column){ "TASKS", true, 0 };
	columns[1] = (struct column){ arena_strdup(&o->arena, str_text(&title)), false, 16 };
	columns[2] = (struct column){ "OLDEST", true, 0 };
	columns[3] = (struct column){ "NEWEST", true, 0 };
	columns[4] = (struct column){ "STATE", false, 8 };
	table_init(&t->table, columns, 5);
	for (size_t i = 0; i < n; i++) {
		const struct tally_row *row = &tally->rows[i];
		STR(states);

		text_append_states(&tmp, &states, &row->count);
		const char *value = row->value;

		if (value && strcmp(tally->field->name, "type") == 0)
			value = text_short_name(t, &tmp, value);
		const bool ages = !row->count.keyed;
		const char *cells[] = { text_big_number(&tmp, row->count.tasks), value,
			                ages ? row->count.oldest->id : NULL,
			                ages ? row->count.newest->id : NULL, str_text(&states) };

		table_row(&t->table, cells);
	}
}

/* ---- what is not shown ---- */

void text_shown(struct out *o, const struct shown *shown)
{
	((struct text *)o)->shown = shown;
}

static void shown_groups(struct text *t, const struct shown *s)
{
	str_append(&t->line, "; showing ");
	text_big(t, s->groups_shown);
	str_append(&t->line, " of ");
	text_big_count(t, s->groups, "group");
	str_append(&t->line, " with ");
	text_big_count(t, s->tasks, "task");
	str_append(&t->line, ", --limit 0 shows all");
}

static void shown_jobs(struct text *t, const struct shown *s)
{
	if (!s->matched_jobs)
		return;
	str_append(&t->line, " and ");
	text_big(t, s->jobs);
	str_append(&t->line, " of ");
	text_big_count(t, s->matched_jobs, "blocking job");
}

void text_shown_end(struct text *t)
{
	const struct shown *s = t->shown;
	size_t before = t->line.len;

	if (!s)
		return;
	if (s->filtered) {
		str_append(&t->line, "; ");
		text_big(t, s->matched);
		str_append(&t->line, " of ");
		text_big_count(t, s->total, "task");
		if (s->total_jobs && !s->groups) {
			str_append(&t->line, " and ");
			text_big(t, s->matched_jobs);
			str_append(&t->line, " of ");
			text_big_count(t, s->total_jobs, "blocking job");
		}
		str_append(&t->line, s->matched + s->matched_jobs == 1 ? " matches" : " match");
	}
	if (s->groups_shown < s->groups) {
		shown_groups(t, s);
	} else if (s->tasks < s->matched) {
		str_append(&t->line, "; showing ");
		text_big(t, s->tasks);
		str_append(&t->line, " of ");
		text_big_count(t, s->matched, "task");
		shown_jobs(t, s);
		str_append(&t->line, ", --limit 0 shows all");
	} else if (s->jobs < s->matched_jobs && !s->groups) {
		str_append(&t->line, "; showing all tasks");
		shown_jobs(t, s);
		str_append(&t->line, ", --limit 0 shows all");
	}
	if (s->by_default)
		str_append(&t->line, "; --no-group shows each task");
	if (t->line.len == before)
		return;
	/* Without the first "; ". */
	memmove(t->line.data + before, t->line.data + before + 2, t->line.len - before - 1);
	t->line.len -= 2;
	text_end_line(t);
}
