/* Prints resource owners as text. */
#include <inttypes.h>
#include <string.h>

#include "commands/out/out_text.h"
#include "debugger/base/str.h"
#include "runtimes/analysis/holders.h"
#include "runtimes/session/asyncdbg.h"

enum { MAX_SHOWN = 16 };

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
static void out_text_holding_place(struct text *t, const struct holding *h)
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
	case HOLDING_SLOT:
		return "may be held by ";
	case HOLDING_WAKER:
	case HOLDING_DESCRIPTOR: /* ends no wait */
		break;
	}
	return "may be woken by ";
}

/* Whether both holdings are at the same place: in one frame, or in two frames at one line. */
static bool same_place(const struct holding *a, const struct holding *b)
{
	const struct future *f = a->future, *g = b->future;

	if (!f != !g || a->line != b->line || a->declared != b->declared ||
	    !str_same(a->path, b->path) || !str_same(a->function, b->function) ||
	    !str_same(a->file_short ? a->file_short : a->file,
	              b->file_short ? b->file_short : b->file))
		return false;
	if (!f)
		return a->stack_frame == b->stack_frame;
	return f->running == g->running && f->line == g->line &&
	       str_same(f->file_short, g->file_short);
}

/*
 * Whether both holdings would be printed as the same line. A task with two permits of a kind has
 * two such holdings.
 */
static bool same_holding(const struct holding *a, const struct holding *b)
{
	return a->role == b->role && a->task == b->task && (a->task || a->thread == b->thread) &&
	       a->primitive == b->primitive && a->object == b->object && a->granted == b->granted &&
	       a->partial == b->partial && a->uncertain == b->uncertain && a->sole == b->sole &&
	       a->fd == b->fd && str_same(a->kind, b->kind) && str_same(a->type, b->type) &&
	       same_place(a, b);
}

/* The lines to print: each once, with its number of occurrences. Further lines are only counted. */
struct out_text_holding_listed {
	const struct holding *first[MAX_SHOWN];
	size_t times[MAX_SHOWN], n, left;
};

static void out_text_holding_list_once(struct out_text_holding_listed *listed,
                                       const struct holding *h)
{
	for (size_t i = 0; i < listed->n; i++) {
		if (same_holding(listed->first[i], h)) {
			listed->times[i]++;
			return;
		}
	}
	if (listed->n == MAX_SHOWN) {
		listed->left++;
		return;
	}
	listed->first[listed->n] = h;
	listed->times[listed->n++] = 1;
}

static void holding_times(struct text *t, size_t n)
{
	if (n > 1)
		str_printf(&t->line, ", %zu times", n);
}

static void slot(struct text *t, const struct holding *h)
{
	if (h->role == HOLDING_SLOT)
		str_append(&t->line, ", whose type looks like the guard of a pool");
}

static void holding_lines_left(struct text *t, const struct out_text_holding_listed *listed,
                               const char *indent)
{
	if (!listed->left)
		return;
	str_printf(&t->line, "%sand %zu more", indent, listed->left);
	text_end_line(t);
}

void text_candidates(struct text *t, size_t these, size_t all)
{
	if (all <= these)
		str_append(&t->line, these > 1 ? ", the only candidates" : ", the only candidate");
	else if (these == 1)
		str_printf(&t->line, ", one of the only %zu candidates", all);
	else
		str_printf(&t->line, ", %zu of the only %zu candidates", these, all);
}

static void out_text_holding_holder(struct text *t, const struct holding *h, size_t n,
                                    size_t candidates, const char *indent)
{
	str_append(&t->line, indent);
	str_append(&t->line, relation(h));
	owner(t, h);
	str_append(&t->line, ": ");
	out_text_holding_place(t, h);
	if (h->uncertain && h->sole)
		text_candidates(t, n, candidates);
	if (h->granted)
		str_append(&t->line,
		           h->partial ? ", which waits for more" : ", which has not taken it yet");
	slot(t, h);
	holding_times(t, n);
	text_end_line(t);
}

static void not_found(struct text *t, const struct snapshot *s, const char *indent)
{
	str_printf(&t->line, "%sholder not found", indent);
	if (s->nunsearched) {
		str_append(&t->line, "; what was not searched is said below");
		t->unsearched = true;
	}
	text_end_line(t);
}

void text_holders(struct text *t, const struct wait *wait, const struct task *task,
                  const char *indent)
{
	const struct snapshot *s = t->out.answer.snapshot;
	struct out_text_holding_listed listed = { 0 };
	size_t candidates = 0;

	if (!(t->out.answer.wants & WANT_HOLDINGS) || !wait)
		return;
	for (size_t i = 0; i < s->nholdings; i++) {
		const struct holding *h = &s->holdings[i];

		/* Skip the reference of the waiting future itself. */
		if (!holding_can_end(h, wait) || (h->role == HOLDING_WAKER && h->task == task) ||
		    (h->future && h->future->wait == wait))
			continue;
		candidates += h->uncertain && h->sole;
		out_text_holding_list_once(&listed, h);
	}
	for (size_t i = 0; i < listed.n; i++)
		out_text_holding_holder(t, listed.first[i], listed.times[i], candidates, indent);
	holding_lines_left(t, &listed, indent);
	if (listed.n == 0 && holders_has_holder(wait))
		not_found(t, s, indent);
}

static const char *relation_of_own(const struct holding *h)
{
	return h->uncertain && !h->sole ? "may hold: " : "holds: ";
}

static void own(struct text *t, const struct holding *h, size_t ntimes,
                const struct waiting *waiting)
{
	uint64_t n = holders_waiting_at(waiting, h->primitive);

	str_printf(&t->line, "     %s", relation_of_own(h));
	text_name(t, h->type);
	if (h->object || h->primitive)
		str_printf(&t->line, " of %s 0x%" PRIx64, h->kind,
		           h->object ? h->object : h->primitive);
	if (h->role == HOLDING_DESCRIPTOR)
		str_printf(&t->line, ", fd %d%s", h->fd, h->shared ? ", shared" : "");
	str_append(&t->line, " (");
	out_text_holding_place(t, h);
	str_append(&t->line, ")");
	slot(t, h);
	holding_times(t, ntimes);
	if ((h->role == HOLDING_LOCK || h->role == HOLDING_SLOT) && n) {
		str_append(&t->line, ", ");
		text_count(t, n, "task");
		str_append(&t->line, n == 1 ? " waits for it" : " wait for it");
	}
	text_end_line(t);
}

void text_holdings(struct text *t, const struct task *task)
{
	const struct snapshot *s = t->out.answer.snapshot;
	struct waiting here CLEANUP(holders_waiting_free) = { 0 };
	struct waiting *waiting = t->out.answer.waiting ? t->out.answer.waiting : &here;
	struct out_text_holding_listed listed = { 0 };

	if (!(t->out.answer.wants & WANT_HOLDINGS))
		return;
	if (!waiting->counted)
		holders_waiting_count(s, waiting);
	for (size_t i = 0; i < s->nholdings; i++) {
		if (s->holdings[i].task != task || s->holdings[i].role == HOLDING_WAKER ||
		    s->holdings[i].partial)
			continue;
		out_text_holding_list_once(&listed, &s->holdings[i]);
	}
	for (size_t i = 0; t->out.answer.wants & WANT_DESCRIPTORS && i < s->ndescriptors; i++) {
		if (s->descriptors[i].task == task)
			out_text_holding_list_once(&listed, &s->descriptors[i]);
	}
	for (size_t i = 0; i < listed.n; i++)
		own(t, listed.first[i], listed.times[i], waiting);
	holding_lines_left(t, &listed, "     ");
}
