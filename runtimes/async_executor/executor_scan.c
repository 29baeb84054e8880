/*
 * Scans the program's memory for tasks, which lead to executors. A task's header has the address of
 * its vtable, a constant. A word with such an address may be what is left of a task that was freed:
 * the state in its header tells that, and the executor must still be there.
 */
#include <inttypes.h>

#include "debugger/base/log.h"
#include "runtimes/async_executor/executor.h"
#include "runtimes/common/heap_scan.h"

enum {
	MAX_CANDIDATES = 1 << 20,
	MAX_ENTRIES = 1 << 24,
	MAX_COUNT = 1 << 30, /* of a live Arc */
	MAX_TRIED = 1 << 20, /* tasks in the slabs of what may be executors */
	TRIED_AGAIN = 64,    /* tasks in the slab of one State, where none was its own before */
};

struct executor_scan_state {
	struct inspector *in;
	VEC(struct word_range) ranges; /* of is a copy */
	struct map seen;               /* addresses of States */
	struct map denied;             /* addresses of what seemed to be none */
	size_t tried;                  /* tasks in their slabs: */
	bool ended;                    /* not all of them */
	struct map references; /* words that refer to these: most tasks need no other look */
	size_t candidates;
};

static void executor_scan_add_range(struct executor_scan_state *s, struct async_executor_copy *copy,
                                    struct dwarf_module *dm)
{
	uint64_t low, high;

	debuginfo_constants(dm, &low, &high);
	if (low < high)
		*vec_push(&s->ranges) =
			(struct word_range){ low + dm->module->bias, high - low, copy };
}

static bool executor_scan_is_shared(struct target *t, uint64_t strong)
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
static struct error *read_reference(struct inspector *in, const struct async_executor_header *h,
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
	         executor_scan_is_shared(in->target, strong.addr);
	return NULL;
}

/* Is that the waker of a task that refers to the State? */
static bool executor_scan_is_own(struct inspector *in, struct async_executor_copy *copy,
                                 uint64_t data, struct value state)
{
	struct async_executor_header h;
	struct referred back;
	bool found = false;
	struct error *err = async_executor_read_header(in, copy, data, &h);

	if (!err && h.plan->executor)
		err = read_reference(in, &h, &back, &found);
	error_free(err);
	return !err && found && back.state.addr == state.addr;
}

/*
 * Is one of the tasks in the slab of the State one of its own? *found false: none is. The program
 * runs: a task may be spawned, or end, so often that it is never seen whole.
 */
static struct error *owns_tasks(struct executor_scan_state *s, struct async_executor_copy *copy,
                                struct value state, bool *found)
{
	struct inspector *in = s->in;
	struct slice entries;
	uint64_t data = 0;
	bool occupied, again = map_has(&s->denied, state.addr);

	TRY(bindings_slice(in->target, &copy->layout, ASYNC_EXECUTOR_ACTIVE, state, &entries,
	                   found));
	if (!*found || entries.count > MAX_ENTRIES)
		entries.count = 0;
	*found = false;
	const size_t least = s->tried + TRIED_AGAIN;
	const size_t end = again || least > MAX_TRIED ? least : MAX_TRIED;
	for (uint64_t i = 0; i < entries.count && s->tried < end && !*found; i++) {
		struct value entry = { entries.element,
			               entries.addr + i * type_size(entries.element) };

		TRY(bindings_uint(in->target, &copy->layout, ASYNC_EXECUTOR_WAKER, entry, &data,
		                  &occupied));
		s->tried += occupied;
		*found = occupied && executor_scan_is_own(in, copy, data, state);
	}
	s->ended |= !again && !*found && s->tried >= MAX_TRIED;
	return NULL;
}

/*
 * Adds the executor to which a task belongs. A header that a thread is about to write into a task,
 * or has written, may still be on its stack: what follows it there is no schedule function.
 */
static struct error *add_root(struct executor_scan_state *s, struct async_executor_copy *copy,
                              const struct async_executor_header *h)
{
	struct async_executor_inspector *state = async_executor_of(s->in);
	struct referred ref;
	bool found;

	TRY(read_reference(s->in, h, &ref, &found));
	if (!found || !copy->state || map_has(&s->seen, ref.state.addr))
		return NULL;
	TRY(owns_tasks(s, copy, ref.state, &found));
	if (!found)
		map_put(&s->denied, ref.state.addr, NULL);
	if (!found || !map_put(&s->seen, ref.state.addr, NULL))
		return NULL;
	*vec_push(&state->roots) = (struct async_executor_root){ copy, ref.state.addr, ref.strong };
	/* An Arc is a pointer to its counts, of which the strong one is the first. */
	map_put(&s->references, ref.strong, NULL);
	return NULL;
}

/* Does the task belong to an executor that was found already? */
static bool is_of_known(struct executor_scan_state *s, struct heap_scan *words,
                        const struct async_executor_plan *plan, uint64_t header)
{
	uint64_t word;

	return plan->has_reference && s->references.n &&
	       heap_scan_read(words, header + plan->offset_s + plan->reference, &word) && word &&
	       map_has(&s->references, word);
}

static bool executor_scan_look_at(struct heap_scan *words, const struct word_range *range,
                                  uint64_t addr, uint64_t vtable)
{
	struct executor_scan_state *s = heap_scan_arg(words);
	struct async_executor_copy *copy = range->of;
	const struct async_executor_plan *plan = async_executor_plan(s->in, copy, vtable);
	struct async_executor_header h;

	/* The vtable tells which header it belongs to, and so where that begins. */
	if (!plan || !plan->vtable || is_of_known(s, words, plan, addr - plan->table))
		return true;
	if (s->candidates++ == MAX_CANDIDATES)
		return false;
	struct error *err = async_executor_read_header(s->in, copy, addr - plan->table, &h);
	bool is_task = !err;
	if (!err && plan->executor)
		err = add_root(s, copy, &h);
	error_free(err);
	/* Tasks among them that lead to no root are known only at the end. */
	const struct unlisted_tasks found = { copy, h.addr };
	if (is_task)
		*vec_push(&async_executor_of(s->in)->loose) = found;
	else
		*vec_push(&async_executor_of(s->in)->ended) = found;
	return true;
}

/* Does a possible task refer to an executor that was found? */
static bool is_of_root(struct executor_scan_state *s, const struct async_executor_header *h)
{
	uint64_t owner = 0;
	struct error *err = async_executor_read_state(s->in, h, &owner);

	error_free(err);
	return !err && owner && map_has(&s->seen, owner);
}

/* Keeps the tasks that lead to no root: most of a program's do. */
static void keep_loose(struct executor_scan_state *s)
{
	struct async_executor_inspector *state = async_executor_of(s->in);
	size_t n = 0;

	for (size_t i = 0; i < state->loose.n; i++) {
		const struct unlisted_tasks loose = state->loose.data[i];
		struct async_executor_header h;
		struct error *err = async_executor_read_header(s->in, loose.copy, loose.header, &h);

		if (!err && !is_of_root(s, &h))
			state->loose.data[n++] = loose;
		error_free(err);
	}
	state->loose.n = n;
}

/* keep_loose() for addresses that have no header of a task any more. */
static void keep_ended(struct executor_scan_state *s)
{
	struct async_executor_inspector *state = async_executor_of(s->in);
	size_t n = 0;

	for (size_t i = 0; i < state->ended.n; i++) {
		const struct unlisted_tasks ended = state->ended.data[i];
		struct async_executor_header h = { .addr = ended.header };

		h.plan = async_executor_plan_at(s->in, ended.copy, ended.header);
		if (h.plan && !is_of_root(s, &h))
			state->ended.data[n++] = ended;
	}
	state->ended.n = n;
}

static void executor_scan_finish(struct heap_scan *words)
{
	struct executor_scan_state *s = heap_scan_arg(words);

	keep_loose(s);
	keep_ended(s);
	LOG("scan",
	    "%" PRIu64 " KiB in %" PRIu64
	    " us: %zu tasks of async-task, %zu executors, %zu loose, %zu ended",
	    heap_scan_bytes(words) >> 10, heap_scan_worked_ns(words) / 1000, s->candidates,
	    async_executor_of(s->in)->roots.n, async_executor_of(s->in)->loose.n,
	    async_executor_of(s->in)->ended.n);
}

struct error *async_executor_scan(struct inspector *in)
{
	struct async_executor_inspector *state = async_executor_of(in);
	struct executor_scan_state s = { .in = in };
	struct target_scratch_cache before;

	if (!state->copies)
		return NULL;
	state->roots.n = state->loose.n = state->ended.n = 0;
	for (struct async_executor_copy *copy = state->copies; copy; copy = copy->next)
		executor_scan_add_range(&s, copy, copy->dm);
	/* The reads are aside: their pages need not be copied in each stop. */
	target_begin_scratch_cache(in->target, &before);
	struct error *err =
		heap_scan_run(in, s.ranges.data, s.ranges.n, "tasks of async-executor",
	                      executor_scan_look_at, executor_scan_finish, &s, &state->cut);
	target_end_scratch_cache(in->target, &before);
	if (!err && !state->cut && s.ended)
		state->cut = "executors of async-executor may be missing: too many of its tasks "
			     "were seen half spawned or ended";
	vec_free(&s.ranges);
	map_free(&s.seen);
	map_free(&s.denied);
	map_free(&s.references);
	return err;
}

void async_executor_note(struct collector *c)
{
	const struct async_executor_inspector *state = async_executor_of(c->in);

	if (state->copies && state->cut)
		snapshot_note_unscanned(c->out, state->cut);
}
