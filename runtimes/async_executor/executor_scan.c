/*
 * Scans the program's memory for tasks, which lead to executors. A task's header has the address of
 * its vtable, a constant. A word with such an address may be what is left of a task that was freed:
 * the state in its header tells that, and the executor must still be there.
 */
#include <inttypes.h>

#include "debugger/base/log.h"
#include "runtimes/async_executor/executor.h"
#include "runtimes/common/word_scan.h"

enum {
	MAX_CANDIDATES = 1 << 20,
	MAX_ENTRIES = 1 << 24,
	MAX_COUNT = 1 << 30, /* of a live Arc */
	MAX_TRIED = 64,      /* tasks of one executor */
};

struct scan {
	struct inspector *in;
	VEC(struct word_range) ranges; /* of is a copy */
	struct map seen;               /* addresses of States */
	struct map references; /* words that refer to these: most tasks need no other look */
	size_t candidates;
};

static void add_range(struct scan *s, struct executor_copy *copy, struct dwarf_module *dm)
{
	uint64_t low, high;

	debuginfo_constants(dm, &low, &high);
	if (low < high)
		*vec_push(&s->ranges) =
			(struct word_range){ low + dm->module->bias, high - low, copy };
}

static bool is_shared(struct target *t, uint64_t strong)
{
	uint64_t count = 0;
	struct error *err = target_read_uint(t, strong, 8, &count);

	error_free(err);
	return !err && count > 0 && count < MAX_COUNT;
}

/* An executor's State that a task refers to, and its Arc's strong count. */
struct referred {
	struct value state;
	uint64_t strong;
};

/* The executor of a task; *found false: the bytes are no reference to one. */
static struct error *read_reference(struct inspector *in, const struct executor_header *h,
                                    struct referred *ret, bool *found)
{
	static const char strong_path[] = "strong";
	struct value schedule = { h->plan->schedule, h->addr + h->plan->offset_s };
	struct value arc, strong;

	TRY(path_eval(in->target, h->plan->executor, schedule, &arc, found));
	if (*found)
		TRY(value_shared(in->target, arc, &ret->state));
	if (*found)
		TRY(inspector_eval(in, arc, strong_path, &strong, found));
	if (!*found)
		return NULL;
	ret->strong = strong.addr;
	*found = *found && type_is(ret->state.type, "async_executor::State") &&
	         is_shared(in->target, strong.addr);
	return NULL;
}

/* Is that the waker of a task that refers to the State? */
static bool is_own(struct inspector *in, struct executor_copy *copy, uint64_t data,
                   struct value state)
{
	struct executor_header h;
	struct referred back;
	bool found = false;
	struct error *err = executor_read_header(in, copy, data, &h);

	if (!err && h.plan->executor)
		err = read_reference(in, &h, &back, &found);
	error_free(err);
	return !err && found && back.state.addr == state.addr;
}

/*
 * Is one of the first tasks in the slab of the State one of its own? *found false: none is. The
 * program runs: a task may be spawned, or end, so often that it is never seen whole.
 */
static struct error *owns_tasks(struct inspector *in, struct executor_copy *copy,
                                struct value state, bool *found)
{
	struct slice entries;
	uint64_t data = 0;
	bool occupied;

	TRY(bindings_slice(in->target, &copy->layout, EXECUTOR_ACTIVE, state, &entries, found));
	if (!*found || entries.count > MAX_ENTRIES)
		entries.count = 0;
	*found = false;
	for (uint64_t i = 0, tried = 0; i < entries.count && tried < MAX_TRIED && !*found; i++) {
		struct value entry = { entries.element,
			               entries.addr + i * type_size(entries.element) };

		TRY(bindings_uint(in->target, &copy->layout, EXECUTOR_WAKER, entry, &data,
		                  &occupied));
		tried += occupied;
		*found = occupied && is_own(in, copy, data, state);
	}
	return NULL;
}

/*
 * Adds the executor to which a task belongs. A header that a thread is about to write into a task,
 * or has written, may still be on its stack: what follows it there is no schedule function.
 */
static struct error *add_root(struct scan *s, struct executor_copy *copy,
                              const struct executor_header *h)
{
	struct executor_inspector *state = executor_of(s->in);
	struct referred ref;
	bool found;

	TRY(read_reference(s->in, h, &ref, &found));
	if (!found || !copy->state || map_has(&s->seen, ref.state.addr))
		return NULL;
	TRY(owns_tasks(s->in, copy, ref.state, &found));
	if (!found || !map_put(&s->seen, ref.state.addr, NULL))
		return NULL;
	*vec_push(&state->roots) = (struct executor_root){ copy, ref.state.addr, ref.strong };
	/* An Arc is a pointer to its counts, of which the strong one is the first. */
	map_put(&s->references, ref.strong, NULL);
	return NULL;
}

/* Does the task belong to an executor that was found already? */
static bool is_of_known(struct scan *s, struct word_scan *words, const struct executor_plan *plan,
                        uint64_t header)
{
	uint64_t word;

	return plan->has_reference && s->references.n &&
	       word_scan_read(words, header + plan->offset_s + plan->reference, &word) && word &&
	       map_has(&s->references, word);
}

static bool look_at(struct word_scan *words, const struct word_range *range, uint64_t addr,
                    uint64_t vtable)
{
	struct scan *s = word_scan_arg(words);
	struct executor_copy *copy = range->of;
	const struct executor_plan *plan = executor_plan(s->in, copy, vtable);
	struct executor_header h;

	/* The vtable tells which header it belongs to, and so where that begins. */
	if (!plan || !plan->vtable || is_of_known(s, words, plan, addr - plan->table))
		return true;
	if (s->candidates++ == MAX_CANDIDATES)
		return false;
	struct error *err = executor_read_header(s->in, copy, addr - plan->table, &h);
	bool is_task = !err;
	if (!err && plan->executor)
		err = add_root(s, copy, &h);
	error_free(err);
	/* Which of them lead to no root is known at the end. */
	const struct executor_loose found = { copy, h.addr };
	if (is_task)
		*vec_push(&executor_of(s->in)->loose) = found;
	else
		*vec_push(&executor_of(s->in)->ended) = found;
	return true;
}

/* Does what has the vtable of a task refer to an executor that was found? */
static bool is_of_root(struct scan *s, const struct executor_header *h)
{
	uint64_t owner = 0;
	struct error *err = executor_read_state(s->in, h, &owner);

	error_free(err);
	return !err && owner && map_has(&s->seen, owner);
}

/* Keeps the tasks that lead to no root: most of a program's do. */
static void keep_loose(struct scan *s)
{
	struct executor_inspector *state = executor_of(s->in);
	size_t n = 0;

	for (size_t i = 0; i < state->loose.n; i++) {
		const struct executor_loose loose = state->loose.data[i];
		struct executor_header h;
		struct error *err = executor_read_header(s->in, loose.copy, loose.header, &h);

		if (!err && !is_of_root(s, &h))
			state->loose.data[n++] = loose;
		error_free(err);
	}
	state->loose.n = n;
}

/* The same of what has no header of a task any more. */
static void keep_ended(struct scan *s)
{
	struct executor_inspector *state = executor_of(s->in);
	size_t n = 0;

	for (size_t i = 0; i < state->ended.n; i++) {
		const struct executor_loose ended = state->ended.data[i];
		struct executor_header h = { .addr = ended.header };

		h.plan = executor_plan_at(s->in, ended.copy, ended.header);
		if (h.plan && !is_of_root(s, &h))
			state->ended.data[n++] = ended;
	}
	state->ended.n = n;
}

static void finish(struct word_scan *words)
{
	struct scan *s = word_scan_arg(words);

	keep_loose(s);
	keep_ended(s);
	LOG("scan",
	    "%" PRIu64 " KiB in %" PRIu64
	    " us: %zu tasks of async-task, %zu executors, %zu loose, %zu ended",
	    word_scan_bytes(words) >> 10, word_scan_worked_ns(words) / 1000, s->candidates,
	    executor_of(s->in)->roots.n, executor_of(s->in)->loose.n, executor_of(s->in)->ended.n);
}

struct error *executor_scan(struct inspector *in)
{
	struct executor_inspector *state = executor_of(in);
	struct scan s = { .in = in };
	struct target_aside before;

	if (!state->copies)
		return NULL;
	state->roots.n = state->loose.n = state->ended.n = 0;
	for (struct executor_copy *copy = state->copies; copy; copy = copy->next)
		add_range(&s, copy, copy->dm);
	/* The reads are aside: their pages need not be copied in each stop. */
	target_begin_aside(in->target, &before);
	struct error *err = word_scan_run(in, s.ranges.data, s.ranges.n, "tasks of async-executor",
	                                  look_at, finish, &s, &state->cut);
	target_end_aside(in->target, &before);
	vec_free(&s.ranges);
	map_free(&s.seen);
	map_free(&s.references);
	return err;
}

void executor_note(struct collector *c)
{
	const struct executor_inspector *state = executor_of(c->in);

	if (state->copies && state->cut)
		snapshot_note_unscanned(c->out, state->cut);
}
