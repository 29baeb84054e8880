#include "commands/top/top_hints.h"

#include <inttypes.h>
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "dwarf/names/demangle.h"
#include "runtimes/analysis/checks.h"
#include "runtimes/model/model.h"
#include "runtimes/trace/plan.h"
#include "runtimes/trace/trace_key.h"

enum {
	MIN_WAKES = 10, /* in an interval: fewer tell little */
	LONG_POLL_NS = 1000000000,
	LARGE_FUTURE = 16 * 1024,
	MAX_HINTS = 64, /* of one kind */
};

const char *top_hints_name(enum top_hint_kind kind)
{
	static const char *const names[TOP_NHINTS] = {
		[TOP_SELF_WAKING] = "self-waking",
		[TOP_NEVER_YIELDS] = "never-yields",
		[TOP_LOST_WAKER] = "lost-waker",
		[TOP_LARGE_FUTURE] = "large-future",
	};

	return names[kind];
}

/* The hints of one kind, by type. */
struct top_hints_finder {
	enum top_hint_kind kind;
	struct map by_type; /* -> index + 1 */
	VEC(struct top_hint) list;
	size_t n; /* of this kind */
};

static struct top_hint *top_hints_add(struct top_hints_finder *f, uint64_t task, const char *type,
                                      uint64_t value)
{
	uint64_t key = type ? map_key_of_text(type) : 1;
	uintptr_t at = (uintptr_t)map_get(&f->by_type, key);

	if (!at && f->n == MAX_HINTS)
		return NULL;
	if (!at) {
		*vec_push(&f->list) =
			(struct top_hint){ .kind = f->kind, .task = task, .type = type };
		at = f->list.n;
		map_put(&f->by_type, key, (void *)at);
		f->n++;
	}
	struct top_hint *hint = &f->list.data[at - 1];
	hint->tasks++;
	if (value > hint->value) {
		hint->value = value;
		hint->task = task;
	}
	return hint;
}

static void top_hints_begin(struct top_hints_finder *f, enum top_hint_kind kind)
{
	f->kind = kind;
	f->n = 0;
	map_clear(&f->by_type);
}

static void find_self_waking(struct top_hints_finder *f, const struct top_frame *frame)
{
	top_hints_begin(f, TOP_SELF_WAKING);
	for (size_t i = 0; i < frame->n; i++) {
		const struct top_stats *s = frame->tasks[i].stats;

		if (s && s->wakes >= MIN_WAKES && s->own_wakes > s->wakes / 2)
			top_hints_add(f, frame->tasks[i].id, frame->tasks[i].type,
			              s->own_wakes * 100 / s->wakes);
	}
}

static void find_long_polls(struct top_hints_finder *f, const struct top_frame *frame)
{
	top_hints_begin(f, TOP_NEVER_YIELDS);
	for (size_t i = 0; !frame->late_ends && i < frame->n; i++) {
		const struct top_task *task = &frame->tasks[i];

		if (task->doing == DOING_POLLING && task->job == TRACE_TASK &&
		    moment_between(task->since, frame->time) >= LONG_POLL_NS)
			top_hints_add(f, task->id, task->type,
			              moment_between(task->since, frame->time));
	}
}

/* A future of at least LARGE_FUTURE bytes. */
struct top_large {
	uint64_t bytes;
	bool boxed;
};

static void note_large(struct top_proofs *p, const char *type, uint64_t bytes, bool boxed)
{
	uint64_t key = type && bytes >= LARGE_FUTURE ? map_key_of_text(type) : 0;

	if (!key || map_has(&p->large, key))
		return;
	struct top_large *large = NEW(&p->arena, struct top_large);
	*large = (struct top_large){ bytes, boxed };
	map_put(&p->large, key, large);
}

void top_hints_look(struct top_proofs *p, const struct snapshot *s)
{
	for (size_t i = 0; i < s->ntasks; i++) {
		const struct task *task = s->tasks[i];

		if (trace_key(task) && checks_nothing_wakes(task))
			map_put(&p->lost, trace_key(task), p);
		note_large(p, task->type, task->size, task->type && name_is_pinned_box(task->type));
	}
}

void top_hints_plan(struct top_proofs *p, const struct trace_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		const struct trace_point *x = &plan->points[i];

		if (x->role == TRACE_AT_POLL && x->job == TRACE_TASK)
			note_large(p, x->type, x->size, x->boxed);
	}
}

void top_hints_free(struct top_proofs *p)
{
	map_free(&p->lost);
	map_free(&p->large);
	arena_free(&p->arena);
}

static void find_lost_wakers(struct top_hints_finder *f, const struct top_frame *frame,
                             const struct top_proofs *proofs)
{
	top_hints_begin(f, TOP_LOST_WAKER);
	for (size_t i = 0; proofs->lost.n && i < frame->n; i++) {
		const struct top_task *task = &frame->tasks[i];

		if (task->doing == DOING_WAITING && map_has(&proofs->lost, task->id))
			top_hints_add(f, task->id, task->type, 0);
	}
}

static void find_large(struct top_hints_finder *f, const struct top_frame *frame,
                       const struct top_proofs *proofs)
{
	const char *last = NULL;
	const struct top_large *large = NULL;

	top_hints_begin(f, TOP_LARGE_FUTURE);
	for (size_t i = 0; proofs->large.n && i < frame->n; i++) {
		const struct top_task *task = &frame->tasks[i];

		if (task->type != last) {
			last = task->type;
			large = last ? map_get(&proofs->large, map_key_of_text(last)) : NULL;
		}
		struct top_hint *hint = large && task->job == TRACE_TASK
		                                ? top_hints_add(f, task->id, last, large->bytes)
		                                : NULL;
		if (hint)
			hint->boxed = large->boxed;
	}
}

void top_hints_find(const struct top_frame *frame, const struct top_proofs *proofs, struct arena *a,
                    struct top_hints *ret)
{
	struct top_hints_finder f = { 0 };

	find_self_waking(&f, frame);
	find_long_polls(&f, frame);
	find_lost_wakers(&f, frame, proofs);
	find_large(&f, frame, proofs);
	map_free(&f.by_type);
	ret->n = f.list.n;
	ret->list = vec_to_arena(&f.list, a);
}

const char *top_hints_text(struct arena *a, const struct top_hint *h)
{
	const char *who = h->tasks == 1 ? arena_printf(a, "task %s", trace_key_text(a, h->task))
	                                : arena_printf(a, "%" PRIu64 " tasks", h->tasks);
	bool one = h->tasks == 1;

	switch (h->kind) {
	case TOP_SELF_WAKING:
		return arena_printf(a, "%s %s: %s%" PRIu64 " %% of the wake-ups", who,
		                    one ? "wakes itself" : "wake themselves", one ? "" : "up to ",
		                    h->value);
	case TOP_NEVER_YIELDS:
		return arena_printf(a, "%s %s not yielded for %s%.1f s", who, one ? "has" : "have",
		                    one ? "" : "up to ", (double)h->value / 1e9);
	case TOP_LOST_WAKER:
		return arena_printf(a, "%s %s, and nothing can wake %s", who,
		                    one ? "sleeps" : "sleep", one ? "it" : "them");
	default:
		return arena_printf(a, "%s %s a future of %" PRIu64 " bytes%s", who,
		                    one ? "has" : "have", h->value, h->boxed ? ", in a box" : "");
	}
}
