/* Who holds what, as text. */
#include <inttypes.h>
#include <string.h>

#include "commands/holders.h"
#include "commands/out_text.h"
#include "runtimes/inspect.h"

enum { MAX_SHOWN = 16, MAX_UNSEARCHED = 6 };

static void owner(struct text *t, const struct holding *h)
{
	if (h->task) {
		str_append(&t->line, "task ");
		text_clean(t, h->task->id);
	} else {
		text_number(t, "thread #", h->thread);
	}
}

/* "`guard` in app::transfer declared at src/bank.rs:41, awaiting at src/bank.rs:44" */
static void place(struct text *t, const struct holding *h)
{
	const char *file = h->file_short ? h->file_short : h->file;

	if (h->path) {
		str_append(&t->line, "`");
		text_clean(t, h->path);
		str_append(&t->line, "`");
	} else {
		str_append(&t->line, h->granted ? "a lock future" : "a value without a name");
	}
	if (h->function && (!h->granted || h->path)) {
		str_append(&t->line, " in ");
		text_clean(t, h->function);
	}
	if (!file)
		return;
	if (!h->future)
		text_number(t, " frame #", h->stack_frame);
	if (h->declared) {
		str_append(&t->line, " declared");
		text_place(t, file, h->line);
		file = h->future ? h->future->file_short : NULL;
		if (!file || !h->future->line)
			return;
		str_append(&t->line, ",");
	}
	str_append(&t->line, !h->future || h->future->running ? " running" : " awaiting");
	text_place(t, file, h->declared ? h->future->line : h->line);
}

static const char *relation(const struct holding *h)
{
	bool doubt = h->uncertain && !h->sole;

	switch (h->role) {
	case HOLDING_LOCK:
		if (h->partial)
			return "in part given to ";
		if (h->granted)
			return "given to ";
		return doubt ? "may be held by " : "held by ";
	case HOLDING_SENDER:
		return doubt ? "a sender may be in " : "a sender is in ";
	case HOLDING_RECEIVER:
		return doubt ? "the receiver may be in " : "the receiver is in ";
	case HOLDING_WAKER:
		break;
	}
	return "may be woken by ";
}

static void holder(struct text *t, const struct holding *h, const char *indent)
{
	str_append(&t->line, indent);
	str_append(&t->line, relation(h));
	owner(t, h);
	str_append(&t->line, ": ");
	place(t, h);
	if (h->uncertain && h->sole)
		str_append(&t->line, ", no other candidate");
	if (h->granted)
		str_append(&t->line,
		           h->partial ? ", which waits for more" : ", which has not taken it yet");
	text_end_line(t);
}

static void not_found(struct text *t, const struct snapshot *s, const char *indent)
{
	str_printf(&t->line, "%sholder not found; not searched: ", indent);
	for (size_t i = 0; i < s->nunsearched && i < MAX_UNSEARCHED; i++) {
		str_append(&t->line, i ? "; " : "");
		text_clean(t, s->unsearched[i]);
	}
	if (s->nunsearched > MAX_UNSEARCHED)
		text_number(t, "; and as many more: ", s->nunsearched - MAX_UNSEARCHED);
	text_end_line(t);
}

void text_holders(struct text *t, const struct wait *wait, const struct task *task,
                  const char *indent)
{
	const struct snapshot *s = t->out.answer.snapshot;
	size_t shown = 0, n = 0;

	if (!(t->out.answer.wants & WANT_HOLDINGS) || !wait)
		return;
	for (size_t i = 0; i < s->nholdings; i++) {
		const struct holding *h = &s->holdings[i];

		/* Who waits has a reference too. */
		if (!holding_can_end(h, wait) || (h->role == HOLDING_WAKER && h->task == task) ||
		    (h->future && h->future->wait == wait))
			continue;
		if (n++ < MAX_SHOWN) {
			holder(t, h, indent);
			shown++;
		}
	}
	if (n > shown) {
		str_printf(&t->line, "%sand ", indent);
		text_number(t, "", n - shown);
		str_append(&t->line, " more");
		text_end_line(t);
	}
	if (n == 0 && wait_has_holder(wait))
		not_found(t, s, indent);
}

static const char *relation_of_own(const struct holding *h)
{
	return h->uncertain && !h->sole ? "may hold: " : "holds: ";
}

static void own(struct text *t, const struct holding *h, const struct waiting *waiting)
{
	uint64_t n = waiting_at(waiting, h->primitive);

	str_printf(&t->line, "     %s", relation_of_own(h));
	text_name(t, h->type);
	if (h->object || h->primitive)
		str_printf(&t->line, " of %s 0x%" PRIx64, h->kind,
		           h->object ? h->object : h->primitive);
	str_append(&t->line, " (");
	place(t, h);
	str_append(&t->line, ")");
	if (h->role == HOLDING_LOCK && n) {
		str_append(&t->line, ", ");
		text_count(t, n, "task");
		str_append(&t->line, n == 1 ? " waits for it" : " wait for it");
	}
	text_end_line(t);
}

void text_holdings(struct text *t, const struct task *task)
{
	const struct snapshot *s = t->out.answer.snapshot;
	struct waiting here CLEANUP(waiting_free) = { 0 };
	struct waiting *waiting = t->out.answer.waiting ? t->out.answer.waiting : &here;
	size_t n = 0;

	if (!(t->out.answer.wants & WANT_HOLDINGS))
		return;
	if (!waiting->counted)
		waiting_count(s, waiting);
	for (size_t i = 0; i < s->nholdings; i++) {
		if (s->holdings[i].task != task || s->holdings[i].role == HOLDING_WAKER ||
		    s->holdings[i].partial)
			continue;
		if (n++ < MAX_SHOWN)
			own(t, &s->holdings[i], waiting);
	}
	if (n > MAX_SHOWN) {
		text_number(t, "     and ", n - MAX_SHOWN);
		str_append(&t->line, " more");
		text_end_line(t);
	}
}
