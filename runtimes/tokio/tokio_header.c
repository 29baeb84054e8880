/* Reads and checks the header of a tokio task, which gives the layout of the rest of its cell. */
#include <inttypes.h>

#include "runtimes/tokio/tokio.h"
#include "runtimes/tokio/tokio_leaf.h"

enum { MAX_CELL_OFFSET = 1 << 30 }; /* a future larger than this does not exist */

enum task_state tokio_task_state(uint64_t state)
{
	if (state & TOKIO_COMPLETE)
		return TASK_COMPLETE;
	if (state & TOKIO_RUNNING)
		return TASK_RUNNING;
	if (state & TOKIO_CANCELLED)
		return TASK_CANCELLED;
	return state & TOKIO_NOTIFIED ? TASK_SCHEDULED : TASK_IDLE;
}

struct value tokio_header_value(const struct tokio *k, uint64_t addr)
{
	return (struct value){ k->layout.slots[TOKIO_STATE].root, addr };
}

static struct error *tokio_header_needed(struct target *t, const struct tokio *k, size_t row,
                                         uint64_t addr, uint64_t *ret)
{
	bool found;

	TRY(bindings_uint(t, &k->layout, row, tokio_header_value(k, addr), ret, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "%s leads nowhere", k->layout.rows[row].key);
	return NULL;
}

/* Reads a header's vtable. */
static struct error *tokio_header_read_vtable(struct target *t, const struct tokio *k,
                                              uint64_t addr, struct tokio_vtable *ret)
{
	TRY(tokio_header_needed(t, k, TOKIO_POLL, addr, &ret->poll));
	TRY(tokio_header_needed(t, k, TOKIO_TRAILER_OFFSET, addr, &ret->trailer));
	TRY(tokio_header_needed(t, k, TOKIO_ID_OFFSET, addr, &ret->id));
	if (k->layout.slots[TOKIO_SCHEDULER_OFFSET].path)
		TRY(tokio_header_needed(t, k, TOKIO_SCHEDULER_OFFSET, addr, &ret->scheduler));
	/* repr(C) Cell: header, then the core with its id, then the trailer (task/core.rs). */
	if (ret->id < 16 || ret->trailer <= ret->id || ret->trailer > MAX_CELL_OFFSET)
		ret->problem = "bad vtable";
	else if (ret->scheduler > ret->id)
		ret->problem = "bad vtable";
	else if (!module_at(t, ret->poll))
		ret->problem = "poll is no code";
	return NULL;
}

/* tokio_header_read_vtable() through a cache: a hundred thousand tasks may share one vtable. */
static struct error *tokio_header_find_vtable(struct target *t, struct tokio *k, uint64_t addr,
                                              struct tokio_vtable *own, struct tokio_vtable **ret)
{
	uint64_t vtable = 0;

	*ret = own;
	if (!k->has_vtable_offset)
		return tokio_header_read_vtable(t, k, addr, own);
	TRY(target_read_uint(t, addr + k->vtable_offset, 8, &vtable));
	struct tokio_vtable *known = vtable ? map_get(&k->vtables, vtable) : NULL;
	if (known) {
		*ret = known;
		return NULL;
	}
	TRY(tokio_header_read_vtable(t, k, addr, own));
	if (own->problem || vtable == 0)
		return NULL;
	*ret = arena_memdup(&k->vtables_arena, own, sizeof(*own));
	map_put(&k->vtables, vtable, *ret);
	return NULL;
}

void tokio_forget_vtables(struct tokio *k)
{
	static const enum tokio_row rows[] = { TOKIO_POLL, TOKIO_TRAILER_OFFSET, TOKIO_ID_OFFSET };
	const struct bindings_slot *slots = k->layout.slots;

	map_free(&k->vtables);
	arena_free(&k->vtables_arena);
	k->has_vtable_offset = true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct path *p = slots[rows[i]].path;
		uint64_t offset = 0;

		k->has_vtable_offset &= p && path_first_pointer(p, &offset) &&
		                        (i == 0 || offset == k->vtable_offset);
		k->vtable_offset = offset;
	}
}

struct error *tokio_read_header(struct target *t, struct tokio *k, uint64_t addr,
                                struct tokio_header *ret)
{
	struct tokio_header h = { .addr = addr };
	struct tokio_vtable own = { 0 }, *vtable;

	if (!k->layout.slots[TOKIO_STATE].root)
		return error_new(ERR_LAYOUT, "the type of task headers was not found");
	if (addr == 0 || addr % 8)
		return error_new(ERR_CORRUPT, "0x%" PRIx64 " is not a task header: not aligned",
		                 addr);
	TRY(tokio_header_needed(t, k, TOKIO_STATE, addr, &h.state));
	TRY(tokio_header_find_vtable(t, k, addr, &own, &vtable));
	if ((h.state >> TOKIO_REF_SHIFT) == 0 ||
	    ((h.state & TOKIO_RUNNING) && (h.state & TOKIO_COMPLETE)))
		return error_new(ERR_CORRUPT,
		                 "0x%" PRIx64 " is not a task header: bad state 0x%" PRIx64, addr,
		                 h.state);
	if (vtable->problem)
		return error_new(ERR_CORRUPT, "0x%" PRIx64 " is not a task header: %s", addr,
		                 vtable->problem);
	h.known = vtable != &own ? vtable : NULL;
	h.poll = vtable->poll;
	h.trailer = addr + vtable->trailer;
	h.id_addr = addr + vtable->id;
	h.scheduler = vtable->scheduler ? addr + vtable->scheduler : 0;
	TRY(target_read_uint(t, h.id_addr, 8, &h.id));
	*ret = h;
	return NULL;
}

struct error *tokio_is_cancelled(struct inspector *in, uint64_t task, bool *ret)
{
	struct error *err = error_new(ERR_CORRUPT, "tokio was not found");
	struct tokio_header h = { 0 };

	*ret = false;
	for (struct tokio *k = tokio_of(in)->copies; err && k; k = k->next) {
		error_free(err);
		err = tokio_read_header(in->target, k, task, &h);
	}
	*ret = !err && (h.state & TOKIO_CANCELLED);
	return err;
}

/* ---- tokio's state in an inspector and in a snapshot ---- */

const char tokio_name[] = "tokio";

struct tokio_inspector *tokio_of(const struct inspector *in)
{
	return inspector_state(in, tokio_name);
}

struct tokio_walk *tokio_walk(const struct collector *c)
{
	return collector_state(c, tokio_name);
}

struct tokio_runtime *tokio_any_runtime(const struct collector *c)
{
	return tokio_walk(c)->nruntimes ? &tokio_walk(c)->runtimes[0] : NULL;
}

struct tokio_runtime *tokio_runtime_at(const struct collector *c, unsigned index)
{
	const struct tokio_walk *w = tokio_walk(c);
	unsigned first = w->nruntimes ? w->runtimes[0].info->index : 0;

	return index - first < w->nruntimes ? &w->runtimes[index - first] : NULL;
}

/* The index of the runtime whose Handle is at the address. */
static unsigned runtime_of_handle(const struct collector *c, uint64_t handle)
{
	const struct tokio_walk *w = tokio_walk(c);

	for (size_t i = 0; i < w->nruntimes; i++) {
		if (w->runtimes[i].handle.addr == handle)
			return w->runtimes[i].info->index;
	}
	return NO_RUNTIME;
}

/* The index of the runtime whose scheduler::Handle the path leads to. */
static unsigned runtime_of_driver(struct collector *c, struct value v, const char *path)
{
	static const char *const arcs[] = { "MultiThread.0.data", "CurrentThread.0.data" };
	unsigned runtime = NO_RUNTIME;
	struct value scheduler, handle;
	bool found = false;

	if (!inspector_optional_path(c->in, v.type, path))
		return NO_RUNTIME;
	struct error *err = inspector_eval(c->in, v, path, &scheduler, &found);

	for (size_t i = 0; !err && found && i < sizeof(arcs) / sizeof(*arcs); i++) {
		bool is = false;

		if (inspector_optional_path(c->in, scheduler.type, arcs[i]))
			err = inspector_eval(c->in, scheduler, arcs[i], &handle, &is);
		if (!err && is)
			runtime = runtime_of_handle(c, handle.addr);
	}
	error_free(err);
	return runtime;
}

void leaf_driver_met(const struct leaf *l, struct value v, const char *path)
{
	const struct task *task = l->d->c->decoding.task;
	unsigned runtime =
		task && task->undriven ? runtime_of_driver(l->d->c, v, path) : NO_RUNTIME;

	if (runtime != NO_RUNTIME)
		tokio_walk(l->d->c)->driver = runtime;
}

void leaf_driver_of_timer(const struct leaf *l, const char *path)
{
	unsigned runtime = runtime_of_driver(l->d->c, l->v, path);

	if (runtime != NO_RUNTIME)
		wait_int(l, "runtime", runtime);
}
