/* Prints threads that are only counted, and the states of tasks. */
#include <string.h>

#include "commands/out/out_text.h"
#include "commands/out/out_text_chain.h"

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

static void brief_part(struct text *t, const char *sep, size_t n, const char *what)
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
		brief_part(t, " ", b->block_on - MAX_BLOCK_ON, " more in block_on,");
	if (b->workers) {
		str_append(&t->line, " ");
		text_big_count(t, b->workers, "worker");
		str_append(&t->line, " (");
		brief_part(t, "", b->parked, " parked");
		brief_part(t, b->parked ? ", " : "", b->busy, " running tasks");
		brief_part(t, b->parked || b->busy ? ", " : "", others, " in the runtime");
		str_append(&t->line, ")");
	}
	brief_part(t, b->workers ? ", " : " ", b->blocking, " busy blocking");
	text_end_line(t);
}
