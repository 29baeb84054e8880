#include "runtimes/stepping/internal_breakpoint.h"

#include <inttypes.h>
#include <stdlib.h>

#include "debugger/base/log.h"
#include "runtimes/stepping/control.h"

struct internal_breakpoint {
	uint64_t addr;
	struct tracer_filter filters[MAX_HIT_FILTERS]; /* all must match */
	size_t nfilters;
	bool planted; /* in the present program */
	bool removed; /* freed when all have decided */
	hit_callback *decide;
	void *arg;
	enum internal_breakpoint_kind kind;
};

static const struct {
	const char *name, *reason;
} KINDS[] = {
	[INTERNAL_NUMBERED] = { "breakpoint",
	                        "a breakpoint, logpoint or catchpoint of yours is here" },
	[INTERNAL_WATCH_DROP] = { "watch-drop", "drops the future that has a watched variable" },
	[INTERNAL_LIBRARIES] = { "libraries", "the dynamic linker calls it when libraries change" },
	[INTERNAL_START] = { "start", "the program begins here" },
	[INTERNAL_STEP_LINE] = { "step-line", "a line at which the step ends" },
	[INTERNAL_STEP_RETURN] = { "step-return", "the function of the step returns to here" },
	[INTERNAL_STEP_CALLER] = { "step-caller", "user code that the step goes on to" },
	[INTERNAL_STEP_RESUME] = { "step-resume", "the suspended future is polled again here" },
	[INTERNAL_STEP_DROP] = { "step-drop", "the suspended future is dropped here" },
	[INTERNAL_STEP_PANIC] = { "step-panic", "a panic begins here" },
	[INTERNAL_STEP_CALL] = { "step-call", "a call that the step runs over returns to here" },
	[INTERNAL_STEP_TARGET] = { "step-target", "user code that the step may enter" },
	[INTERNAL_STEP_SPAWN] = { "step-spawn", "the runtime creates tasks here" },
	[INTERNAL_STEP_TASK] = { "step-task", "a poll of the spawned task begins or ends here" },
};

const char *internal_breakpoint_kind_name(enum internal_breakpoint_kind kind)
{
	return KINDS[kind].name;
}

const char *internal_breakpoint_reason(enum internal_breakpoint_kind kind)
{
	return KINDS[kind].reason;
}

static bool internal_breakpoint_has_address(const struct internal_breakpoint *internal,
                                            uint64_t addr)
{
	return internal->addr == addr && internal->planted && !internal->removed;
}

bool internal_breakpoint_is_at(const struct control *c, uint64_t addr)
{
	for (size_t i = 0; i < c->internals.list.n; i++) {
		if (internal_breakpoint_has_address(c->internals.list.data[i], addr))
			return true;
	}
	return false;
}

const struct internal_breakpoint_row *internal_breakpoint_list(const struct control *c,
                                                               struct arena *a, size_t *n)
{
	VEC(struct internal_breakpoint_row) rows = { 0 };

	for (size_t i = 0; i < c->internals.list.n; i++) {
		const struct internal_breakpoint *internal = c->internals.list.data[i];

		if (internal->planted && !internal->removed)
			*vec_push(&rows) =
				(struct internal_breakpoint_row){ internal->addr, internal->kind };
	}
	*n = rows.n;
	return vec_to_arena(&rows, a);
}

/* The breakpoint that the internal breakpoints at an address need. */
static struct tracer_break break_at(const struct control *c, uint64_t addr, struct arena *a)
{
	VEC(struct tracer_filter) filters = { 0 };
	struct tracer_break ret = { .addr = addr };
	bool all = false;

	for (size_t i = 0; i < c->internals.list.n; i++) {
		const struct internal_breakpoint *internal = c->internals.list.data[i];

		if (!internal_breakpoint_has_address(internal, addr))
			continue;
		all |= !internal->nfilters;
		for (size_t j = 0; j < internal->nfilters; j++)
			*vec_push(&filters) = internal->filters[j];
	}
	ret.n = all ? 0 : filters.n;
	ret.filters = vec_to_arena(&filters, a);
	return ret;
}

static int internal_breakpoint_by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void internal_breakpoint_begin_batch(struct control *c)
{
	c->internals.held = true;
}

static struct error *apply(struct control *c)
{
	struct internal_breakpoints *t = &c->internals;
	size_t n = t->changed.n, nplanted = 0, ngone = 0;
	SCRATCH(tmp);

	t->changed.n = 0;
	if (!n || !c->pid)
		return NULL;
	struct tracer_break *planted = NEW_ARRAY(&tmp, struct tracer_break, n);
	struct tracer_break *gone = NEW_ARRAY(&tmp, struct tracer_break, n);
	qsort(t->changed.data, n, sizeof(*t->changed.data), internal_breakpoint_by_number);
	for (size_t i = 0; i < n; i++) {
		uint64_t addr = t->changed.data[i];

		if (i && addr == t->changed.data[i - 1])
			continue;
		if (internal_breakpoint_is_at(c, addr))
			planted[nplanted++] = break_at(c, addr, &tmp);
		else
			gone[ngone++].addr = addr;
	}
	if (ngone)
		TRY(control_unplant(c, gone, ngone));
	return nplanted ? control_plant(c, planted, nplanted) : NULL;
}

struct error *internal_breakpoint_commit(struct control *c)
{
	c->internals.held = false;
	return apply(c);
}

struct error *internal_breakpoint_commit_after(struct control *c, struct error *err)
{
	struct error *applied = internal_breakpoint_commit(c);

	if (!err)
		return applied;
	error_free(applied);
	return err;
}

/*
 * Plants the breakpoint that the internal breakpoints at an address need, or takes it away, unless
 * that is to wait.
 */
static struct error *internal_breakpoint_update(struct control *c, uint64_t addr)
{
	*vec_push(&c->internals.changed) = addr;
	/* The CPU may have no breakpoint left for it, which is to be known at once. */
	return c->internals.held && !c->hw_breakpoints_only ? NULL : apply(c);
}

struct error *internal_breakpoint_add(struct control *c,
                                      const struct internal_breakpoint_options *options,
                                      struct internal_breakpoint **ret)
{
	struct internal_breakpoint *internal = calloc(1, sizeof(*internal));

	if (!internal)
		out_of_memory();
	*internal = (struct internal_breakpoint){ .addr = options->addr,
		                                  .planted = true,
		                                  .decide = options->decide,
		                                  .arg = options->arg,
		                                  .kind = options->kind };
	for (const struct tracer_filter *f = options->filter;
	     f && internal->nfilters < MAX_HIT_FILTERS; f = f->and_next ? f + 1 : NULL)
		internal->filters[internal->nfilters++] = *f;
	*vec_push(&c->internals.list) = internal;
	struct error *err = internal_breakpoint_update(c, internal->addr);
	if (err) {
		c->internals.list.n--;
		free(internal);
		return err;
	}
	LOG("stepping", "internal breakpoint %s at 0x%" PRIx64 ": %s", KINDS[internal->kind].name,
	    internal->addr, KINDS[internal->kind].reason);
	*ret = internal;
	return NULL;
}

static void free_removed(struct internal_breakpoints *internals)
{
	size_t n = 0;

	for (size_t i = 0; i < internals->list.n; i++) {
		if (internals->list.data[i]->removed)
			free(internals->list.data[i]);
		else
			internals->list.data[n++] = internals->list.data[i];
	}
	internals->list.n = n;
}

struct error *internal_breakpoint_remove(struct control *c, struct internal_breakpoint *internal)
{
	if (!internal)
		return NULL;
	uint64_t addr = internal->addr;
	bool planted = internal->planted;

	internal->removed = true;
	struct error *err = planted ? internal_breakpoint_update(c, addr) : NULL;
	if (!c->internals.deciding)
		free_removed(&c->internals);
	return err;
}

static bool internal_breakpoint_is_alone(const struct control *c, uint64_t addr)
{
	size_t n = 0;

	for (size_t i = 0; i < c->internals.list.n; i++)
		n += internal_breakpoint_has_address(c->internals.list.data[i], addr);
	return n == 1;
}

/* The filter of another internal breakpoint of the address may have reported the thread. */
static struct error *ask_one(struct control *c, const struct internal_breakpoint *internal,
                             const struct internal_hit *hit, bool alone, bool *halts)
{
	bool matches = true;

	*halts = false;
	if (internal->nfilters && !alone)
		TRY(control_matches(c, hit->tid, internal->filters, internal->nfilters, &matches));
	return matches ? internal->decide(internal->arg, hit, halts) : NULL;
}

struct error *internal_breakpoint_dispatch(struct control *c, const struct internal_hit *hit,
                                           bool *stop)
{
	size_t n = c->internals.list.n; /* those that are added meanwhile do not decide */
	struct error *err = NULL;
	bool alone = internal_breakpoint_is_alone(c, hit->addr);

	*stop = false;
	c->internals.deciding = true;
	internal_breakpoint_begin_batch(c);
	for (size_t i = 0; i < n && !err; i++) {
		const struct internal_breakpoint *internal = c->internals.list.data[i];
		bool halts = false;

		if (!internal_breakpoint_has_address(internal, hit->addr))
			continue;
		err = ask_one(c, internal, hit, alone, &halts);
		*stop |= halts;
	}
	c->internals.deciding = false;
	free_removed(&c->internals);
	return internal_breakpoint_commit_after(c, err);
}

void internal_breakpoint_forget(struct control *c)
{
	for (size_t i = 0; i < c->internals.list.n; i++)
		c->internals.list.data[i]->planted = false;
}

void internal_breakpoint_free_all(struct control *c)
{
	for (size_t i = 0; i < c->internals.list.n; i++)
		free(c->internals.list.data[i]);
	vec_free(&c->internals.list);
	vec_free(&c->internals.changed);
}
