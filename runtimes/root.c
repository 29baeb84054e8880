#include "runtimes/root.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/log.h"
#include "runtimes/plausible.h"

enum {
	ALIGN = 8,               /* a future holds a pointer: it is aligned like one */
	MAX_SCAN = 1 << 20,      /* bytes of stack looked through */
	MAX_CALLERS = 16,        /* frames outward of block_on: the future is pinned in one */
};

/* F of block_on<F>; current_thread's loop has Pin<&mut F>. */
static const struct type *root_type(const struct mark *m)
{
	const struct type *t = mark_future_type(m);

	if (t && type_is(t, "core::pin::Pin")) {
		const struct member *p = type_single_member(t);

		if (p && type_kind(p->type) == TYPE_POINTER &&
		    strncmp(type_name(p->type), "&mut ", 5) == 0)
			return type_target(p->type);
	}
	return t;
}

/* The stack from block_on's frame up through its callers: [*low, *high). */
static bool scan_range(const struct thread_stack *s, const struct mark *m, uint64_t *low,
                       uint64_t *high)
{
	const struct stack *st = &s->stack;
	size_t last = m->frame + MAX_CALLERS;

	if (!st->frames[m->frame].has_sp)
		return false;
	*low = *high = st->frames[m->frame].sp;
	for (size_t i = m->frame + 1; i < st->nframes && i <= last; i++) {
		if (!st->frames[i].has_sp || st->frames[i].sp < *high)
			break;
		*high = st->frames[i].sp;
	}
	if (*high - *low > MAX_SCAN)
		*high = *low + MAX_SCAN;
	return *high > *low;
}

/* Could a suspended coroutine of this type start at offset? Looks at its state alone. */
static bool may_be_suspended(const struct type *t, const unsigned char *bytes, size_t len)
{
	const struct member *state = type_discr(t);
	size_t size = state ? type_size(state->type) : 0, n;
	const struct variant *variants = type_variants(t, &n);
	uint64_t number = 0;

	if (size == 0 || size > 8 || state->offset + size > len)
		return false;
	memcpy(&number, bytes + state->offset, size);
	for (size_t i = 0; i < n; i++) {
		if (variants[i].discr == number)
			return variants[i].name && strncmp(variants[i].name, "Suspend", 7) == 0;
	}
	return false;
}

/*
 * A decoded candidate counts when nothing below it is odd, and it holds something that stray
 * bytes do not: a suspended coroutine, or a handle of a task that exists.
 */
static struct future *judge(struct collector *c, struct value v)
{
	struct decoder d = { .c = c, .strict = true };
	struct future *f;

	if (!value_is_plausible(c->in->target, v))
		return NULL;
	f = future_decode(&d, v);
	bool handle = f->wait && f->wait->task;
	return d.faults == 0 && (d.suspended || handle) ? f : NULL;
}

struct future *root_find(struct collector *c, const struct thread_stack *s, const struct mark *m,
                         const char **why)
{
	const struct type *t = root_type(m);
	struct future *found = NULL;
	uint64_t low, high;
	size_t len = 0;

	if (!t) {
		*why = "the debug info does not say which future this thread blocks on";
		return NULL;
	}
	if (!scan_range(s, m, &low, &high)) {
		*why = "the stack could not be unwound far enough to find it";
		return NULL;
	}
	unsigned char *bytes = arena_alloc(&c->scratch, high - low);
	error_free(target_read_some(c->in->target, low, bytes, high - low, &len));
	bool coroutine = type_is_coroutine(t);
	for (size_t at = 0; at + type_size(t) <= len; at += ALIGN) {
		struct future *f;

		if (coroutine && !may_be_suspended(t, bytes + at, len - at))
			continue;
		f = judge(c, (struct value){ t, low + at });
		if (f)
			LOG("root", "%s at 0x%" PRIx64, f->type, f->addr);
		if (f && found) {
			*why = "several places on the stack could be it";
			return NULL;
		}
		if (f)
			found = f;
	}
	if (!found)
		*why = "no suspended future of that type is on the stack";
	return found;
}
