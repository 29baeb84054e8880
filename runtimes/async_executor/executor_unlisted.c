/*
 * Lists tasks that no executor lists: those of StaticExecutor and StaticLocalExecutor, of an
 * Executor that was leaked, and of other crates on async-task. The scan of memory found the
 * candidates.
 */
#include <inttypes.h>
#include <string.h>

#include "runtimes/async_executor/executor.h"
#include "runtimes/common/plausible.h"
#include "runtimes/ownership/ownership.h"

enum {
	MAX_EXECUTORS = 4096 /* each is compared with all */,
	TOP = 4096 /* above the outermost frame of a stack */
};

/* ---- stacks: a header that was copied into a task from there is still there ---- */

struct stacks {
	struct region *regions;
	size_t n;
};

static void executor_unlisted_find_stacks(struct collector *c, struct stacks *ret)
{
	size_t nthreads = c->in->target->nthreads;

	ret->regions = NEW_ARRAY(&c->scratch, struct region, nthreads + 1);
	for (size_t i = 0; i < nthreads; i++) {
		const struct stack *s = &c->stacks[i].stack;
		struct region *r = &ret->regions[ret->n];
		uint64_t top = 0;

		for (size_t j = 0; j < s->nframes; j++) {
			if (s->frames[j].has_sp && s->frames[j].sp > top)
				top = s->frames[j].sp;
		}
		if (!top || !target_region(c->in->target, &c->scratch, top, r))
			continue;
		if (r->end > top + TOP && !(r->name && strcmp(r->name, "[stack]") == 0))
			r->end = top + TOP;
		ret->n++;
	}
}

static bool is_on_stack(const struct stacks *stacks, uint64_t addr)
{
	for (size_t i = 0; i < stacks->n; i++) {
		if (addr >= stacks->regions[i].start && addr < stacks->regions[i].end)
			return true;
	}
	return false;
}

/* ---- executors ---- */

/* The crate of the schedule function: "blocking". */
static const char *crate_of(struct collector *c, const struct async_executor_plan *plan)
{
	const char *name = type_name(plan->schedule), *end = strstr(name, "::");

	return inspector_clean_name(
		c->a, end ? arena_strndup(&c->scratch, name, (size_t)(end - name)) : name);
}

static void executor_unlisted_describe(struct collector *c, struct executor *e)
{
	struct runtime_info *info = e->info =
		collector_add_runtime(c, async_executor_runtime(c->in));

	info->flavor = e->crate ? e->crate : "static_executor";
	info->addr = e->state;
	info->version = e->copy->version;
	info->workers_poll = true;
	info->found_by = "a scan of memory";
	if (e->state)
		async_executor_read_queue(c, e);
}

/* The executor with that State, or of that crate; a new one if there is none. NULL: too many. */
static struct executor *executor_unlisted_find_executor(struct collector *c,
                                                        struct async_executor_copy *copy,
                                                        uint64_t state, const char *crate)
{
	struct async_executor_walk *w = async_executor_walk(c);

	for (size_t i = 0; i < w->nexecutors; i++) {
		struct executor *e = &w->executors[i];
		bool same = crate ? e->crate && strcmp(e->crate, crate) == 0
		                  : !e->crate && e->state == state;

		if (same && e->copy == copy)
			return e;
	}
	if (w->nexecutors >= MAX_EXECUTORS) {
		snapshot_incomplete(c->out, "more than %d executors: tasks of others are missing",
		                    MAX_EXECUTORS);
		return NULL;
	}
	struct executor *e = &w->executors[w->nexecutors++];
	*e = (struct executor){ .copy = copy, .state = state, .crate = crate };
	executor_unlisted_describe(c, e);
	return e;
}

/* ---- tasks ---- */

/*
 * Can what follows the header be a task? The stack of a thread that has ended may have a header
 * too; its schedule function and its future are then something else. An executor that keeps no list
 * has an empty one.
 */
static bool executor_unlisted_is_plausible(struct collector *c, const struct unlisted_tasks *loose,
                                           const struct async_executor_header *h, uint64_t state)
{
	const struct bindings *l = &loose->copy->layout;
	struct value future = { h->plan->future, h->addr + h->plan->offset_f };
	struct value schedule = { h->plan->schedule, h->addr + h->plan->offset_s };
	struct value owner = { loose->copy->state, state };
	uint64_t length = 0;
	bool found = true;

	if (!plausible_value(c->in->target, future) || !plausible_value(c->in->target, schedule))
		return false;
	if (!h->plan->executor)
		return true;
	if (!state || !owner.type || !plausible_value(c->in->target, owner))
		return false;
	struct error *err =
		bindings_uint(c->in->target, l, ASYNC_EXECUTOR_LENGTH, owner, &length, &found);
	error_free(err);
	return !err && found && length == 0;
}

/* Reads a header, and the State that it refers to. False: it is of no task that has not ended. */
static bool executor_unlisted_read_loose(struct collector *c, const struct unlisted_tasks *loose,
                                         const struct stacks *stacks,
                                         struct async_executor_header *h, uint64_t *state)
{
	struct error *err;

	*state = 0;
	if (is_on_stack(stacks, loose->header) || map_has(&c->tasks, loose->header))
		return false;
	err = async_executor_read_header(c->in, loose->copy, loose->header, h);
	if (!err)
		err = async_executor_read_state(c->in, h, state);
	bool ok = !err && async_executor_is_live(h->state) && h->plan->schedule;

	error_free(err);
	return ok && executor_unlisted_is_plausible(c, loose, h, *state);
}

static void add_loose(struct collector *c, const struct unlisted_tasks *loose,
                      const struct stacks *stacks)
{
	struct async_executor_header h;
	const char *crate = NULL;
	uint64_t state;

	if (!executor_unlisted_read_loose(c, loose, stacks, &h, &state))
		return;
	if (!h.plan->executor)
		crate = crate_of(c, h.plan);
	struct executor *e = executor_unlisted_find_executor(c, loose->copy, state, crate);
	if (e)
		async_executor_add_task(c, e->info, &h);
}

void async_executor_list_unlisted_of(struct collector *c, struct runtime_info *info,
                                     async_executor_owns_fn *owns, void *arg)
{
	const struct async_executor_inspector *in = async_executor_of(c->in);
	struct stacks stacks = { 0 };
	struct async_executor_header h;
	uint64_t state;

	executor_unlisted_find_stacks(c, &stacks);
	for (size_t i = 0; i < in->loose.n; i++) {
		if (executor_unlisted_read_loose(c, &in->loose.data[i], &stacks, &h, &state) &&
		    owns(c, &h, arg))
			async_executor_add_task(c, info, &h);
	}
}

size_t async_executor_count_rejected(struct collector *c)
{
	const struct async_executor_inspector *in = async_executor_of(c->in);
	struct stacks stacks = { 0 };
	struct async_executor_header h;
	size_t rejected = in->ended.n;
	uint64_t state;

	executor_unlisted_find_stacks(c, &stacks);
	for (size_t i = 0; i < in->loose.n; i++) {
		const struct unlisted_tasks *loose = &in->loose.data[i];

		rejected += !map_has(&c->tasks, loose->header) &&
		            !executor_unlisted_read_loose(c, loose, &stacks, &h, &state);
	}
	return rejected;
}

static void note_scanned(struct collector *c, struct runtime_info *info, size_t rejected)
{
	info->completeness = COMPLETENESS_SCANNED;
	info->rejected = rejected;
	snapshot_incomplete(c->out,
	                    "runtime %u (%s) keeps no list of its tasks: a scan of memory found "
	                    "%zu (%zu rejected) and may have missed some",
	                    info->index, info->flavor, info->ntasks, rejected);
	if (c->want & WANT_HOLDINGS)
		ownership_unsearched(c,
		                     "tasks of runtime %u (%s) that a scan of memory did not find",
		                     info->index, info->flavor);
}

void async_executor_list_unlisted(struct collector *c)
{
	const struct async_executor_inspector *in = async_executor_of(c->in);
	struct async_executor_walk *w = async_executor_walk(c);
	struct stacks stacks = { 0 };
	size_t first = w->nexecutors;

	if (in->loose.n == 0)
		return;
	executor_unlisted_find_stacks(c, &stacks);
	for (size_t i = 0; i < in->loose.n; i++) {
		if (!map_has(&c->tasks, in->loose.data[i].header))
			add_loose(c, &in->loose.data[i], &stacks);
	}
	const size_t rejected = w->nexecutors > first ? async_executor_count_rejected(c) : 0;
	for (size_t i = first; i < w->nexecutors; i++)
		note_scanned(c, w->executors[i].info, rejected);
}
