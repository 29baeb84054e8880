#include "runtimes/stepping/trap.h"

#include <stdlib.h>

#include "runtimes/stepping/control.h"

struct trap {
	uint64_t addr;
	struct tracer_filter filters[TRAP_MAX_FILTERS]; /* all must match */
	size_t nfilters;
	bool planted; /* in the present program */
	bool removed; /* freed when all have decided */
	trap_decide *decide;
	void *arg;
};

static bool is_at(const struct trap *trap, uint64_t addr)
{
	return trap->addr == addr && trap->planted && !trap->removed;
}

bool trap_is_at(const struct control *c, uint64_t addr)
{
	for (size_t i = 0; i < c->traps.list.n; i++) {
		if (is_at(c->traps.list.data[i], addr))
			return true;
	}
	return false;
}

/* What the traps at an address need. */
static struct tracer_break break_at(const struct control *c, uint64_t addr, struct arena *a)
{
	VEC(struct tracer_filter) filters = { 0 };
	struct tracer_break ret = { .addr = addr };
	bool all = false;

	for (size_t i = 0; i < c->traps.list.n; i++) {
		const struct trap *trap = c->traps.list.data[i];

		if (!is_at(trap, addr))
			continue;
		all |= !trap->nfilters;
		for (size_t j = 0; j < trap->nfilters; j++)
			*vec_push(&filters) = trap->filters[j];
	}
	ret.n = all ? 0 : filters.n;
	ret.filters = vec_to_arena(&filters, a);
	return ret;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void trap_hold(struct control *c)
{
	c->traps.held = true;
}

static struct error *apply(struct control *c)
{
	struct traps *t = &c->traps;
	size_t n = t->changed.n, nplanted = 0, ngone = 0;
	SCRATCH(tmp);

	t->changed.n = 0;
	if (!n || !c->pid)
		return NULL;
	struct tracer_break *planted = NEW_ARRAY(&tmp, struct tracer_break, n);
	struct tracer_break *gone = NEW_ARRAY(&tmp, struct tracer_break, n);
	qsort(t->changed.data, n, sizeof(*t->changed.data), by_number);
	for (size_t i = 0; i < n; i++) {
		uint64_t addr = t->changed.data[i];

		if (i && addr == t->changed.data[i - 1])
			continue;
		if (trap_is_at(c, addr))
			planted[nplanted++] = break_at(c, addr, &tmp);
		else
			gone[ngone++].addr = addr;
	}
	if (ngone)
		TRY(control_unplant(c, gone, ngone));
	return nplanted ? control_plant(c, planted, nplanted) : NULL;
}

struct error *trap_apply(struct control *c)
{
	c->traps.held = false;
	return apply(c);
}

struct error *trap_apply_after(struct control *c, struct error *err)
{
	struct error *applied = trap_apply(c);

	if (!err)
		return applied;
	error_free(applied);
	return err;
}

/* Plants what the traps at an address need, or takes it away, unless that is to wait. */
static struct error *update(struct control *c, uint64_t addr)
{
	*vec_push(&c->traps.changed) = addr;
	/* The processor may have none left for it, which is to be known at once. */
	return c->traps.held && !c->production ? NULL : apply(c);
}

struct error *trap_add(struct control *c, const struct trap_options *options, struct trap **ret)
{
	struct trap *trap = calloc(1, sizeof(*trap));

	if (!trap)
		out_of_memory();
	*trap = (struct trap){ .addr = options->addr,
		               .planted = true,
		               .decide = options->decide,
		               .arg = options->arg };
	for (const struct tracer_filter *f = options->filter;
	     f && trap->nfilters < TRAP_MAX_FILTERS; f = f->and_next ? f + 1 : NULL)
		trap->filters[trap->nfilters++] = *f;
	*vec_push(&c->traps.list) = trap;
	struct error *err = update(c, trap->addr);
	if (err) {
		c->traps.list.n--;
		free(trap);
		return err;
	}
	*ret = trap;
	return NULL;
}

static void free_removed(struct traps *traps)
{
	size_t n = 0;

	for (size_t i = 0; i < traps->list.n; i++) {
		if (traps->list.data[i]->removed)
			free(traps->list.data[i]);
		else
			traps->list.data[n++] = traps->list.data[i];
	}
	traps->list.n = n;
}

struct error *trap_remove(struct control *c, struct trap *trap)
{
	if (!trap)
		return NULL;
	uint64_t addr = trap->addr;
	bool planted = trap->planted;

	trap->removed = true;
	struct error *err = planted ? update(c, addr) : NULL;
	if (!c->traps.deciding)
		free_removed(&c->traps);
	return err;
}

static bool is_alone(const struct control *c, uint64_t addr)
{
	size_t n = 0;

	for (size_t i = 0; i < c->traps.list.n; i++)
		n += is_at(c->traps.list.data[i], addr);
	return n == 1;
}

/* The filter of another trap of the address may have reported the thread. */
static struct error *ask_one(struct control *c, const struct trap *trap, const struct trap_hit *hit,
                             bool alone, bool *halts)
{
	bool matches = true;

	*halts = false;
	if (trap->nfilters && !alone)
		TRY(control_matches(c, hit->tid, trap->filters, trap->nfilters, &matches));
	return matches ? trap->decide(trap->arg, hit, halts) : NULL;
}

struct error *trap_ask(struct control *c, const struct trap_hit *hit, bool *stop)
{
	size_t n = c->traps.list.n; /* those that are added meanwhile do not decide */
	struct error *err = NULL;
	bool alone = is_alone(c, hit->addr);

	*stop = false;
	c->traps.deciding = true;
	trap_hold(c);
	for (size_t i = 0; i < n && !err; i++) {
		const struct trap *trap = c->traps.list.data[i];
		bool halts = false;

		if (!is_at(trap, hit->addr))
			continue;
		err = ask_one(c, trap, hit, alone, &halts);
		*stop |= halts;
	}
	c->traps.deciding = false;
	free_removed(&c->traps);
	return trap_apply_after(c, err);
}

void trap_forget(struct control *c)
{
	for (size_t i = 0; i < c->traps.list.n; i++)
		c->traps.list.data[i]->planted = false;
}

void trap_free_all(struct control *c)
{
	for (size_t i = 0; i < c->traps.list.n; i++)
		free(c->traps.list.data[i]);
	vec_free(&c->traps.list);
	vec_free(&c->traps.changed);
}
