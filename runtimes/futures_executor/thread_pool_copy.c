/* Finds copies of the ThreadPool, and reads its objects. */
#include <inttypes.h>

#include "debugger/base/str.h"
#include "dwarf/values/queue_length.h"
#include "runtimes/futures_executor/thread_pool.h"
#include "runtimes/thread/stack_search.h"

enum {
	MAX_THREADS = 1 << 20,
	MAX_COUNT = 1 << 30, /* references to an Arc that exists */
	WORD = 8,
};

/* The channel is std's, library/std/src/sync/mpmc/list.rs, since rustc 1.67. */
#define CHANNEL "data.value.inner.flavor.List.0.counter"

static const struct binding_row rows[THREAD_POOL_NROWS] = {
	[THREAD_POOL_SIZE] = { "thread_pool.size", "given", "size" },
	[THREAD_POOL_SENDER] = { "thread_pool.sender", "given", "tx." CHANNEL },
	[THREAD_POOL_RECEIVER] = { "thread_pool.receiver", "given", "rx." CHANNEL },
	[THREAD_POOL_HEAD] = { "thread_pool.head", "given",
	                       "rx." CHANNEL ".chan.head.value.index" },
	[THREAD_POOL_BLOCK] = { "thread_pool.block", "given",
	                        "rx." CHANNEL ".chan.head.value.block" },
	[THREAD_POOL_TAIL] = { "thread_pool.tail", "given",
	                       "rx." CHANNEL ".chan.tail.value.index" },
};

const char thread_pool_name[] = "futures_executor";
const char thread_pool_state_path[] = "futures_executor::thread_pool::PoolState";

struct thread_pool_inspector *thread_pool_inspector(const struct inspector *in)
{
	return inspector_state(in, thread_pool_name);
}

struct thread_pool_walk *thread_pool_walk(const struct collector *c)
{
	return collector_state(c, thread_pool_name);
}

/* ---- copies ---- */

static const struct type *thread_pool_copy_member_type(const struct type *t, const char *name,
                                                       uint64_t *offset)
{
	const struct member *m = t ? type_member(t, name) : NULL;

	*offset = m ? m->offset : 0;
	return m ? m->type : NULL;
}

static const struct type *thread_pool_copy_path_end(struct inspector *in, const struct type *t,
                                                    const char *expr)
{
	const struct path *p = t ? inspector_optional_path(in, t, expr) : NULL;

	return p ? path_type(p) : NULL;
}

/* Reads the types from the channel's to that of a task, and on to its WakeHandle. */
static void read_types(struct inspector *in, struct thread_pool_copy *copy)
{
	static const char slots[] = "slots", run[] = "msg.Run.0", object[] = "future.0",
			  handle[] = "wake_handle", pool[] = "exec.state";
	uint64_t offset;

	copy->block = stack_search_pointee(bindings_type(&copy->layout, THREAD_POOL_BLOCK));
	const struct type *array = thread_pool_copy_path_end(in, copy->block, slots);
	copy->slot = array && type_kind(array) == TYPE_ARRAY ? type_target(array) : NULL;
	copy->task = thread_pool_copy_path_end(in, copy->slot, run);
	copy->object = thread_pool_copy_path_end(in, copy->task, object);
	copy->arc = stack_search_pointee(thread_pool_copy_path_end(in, copy->task, handle));
	copy->handle = thread_pool_copy_member_type(copy->arc, "data", &copy->data);
	thread_pool_copy_member_type(copy->arc, "strong", &copy->strong);
	thread_pool_copy_member_type(
		stack_search_pointee(thread_pool_copy_path_end(in, copy->task, pool)), "data",
		&offset);
	copy->state_data = offset;
	copy->vtable = lookup_type(copy->dm, "core::task::wake::RawWakerVTable",
	                           type_die(copy->handle ? copy->handle : copy->state));
}

struct thread_pool_copy *thread_pool_copy_of(struct inspector *in, const struct type *state,
                                             bool *fresh)
{
	struct thread_pool_copy **end = &thread_pool_inspector(in)->copies;
	struct dwarf_module *dm = type_module(state);

	*fresh = false;
	for (; *end; end = &(*end)->next) {
		if ((*end)->dm == dm)
			return *end;
	}
	*fresh = true;
	struct thread_pool_copy *copy = *end = NEW(&in->arena, struct thread_pool_copy);
	copy->dm = dm;
	copy->module = str_base_name(dm->module->path);
	copy->version = lookup_crate_version(dm, "futures-executor");
	copy->state = state;
	bindings_resolve(&in->arena, dm, state, rows, THREAD_POOL_NROWS, &copy->layout);
	read_types(in, copy);
	return copy;
}

void thread_pool_detect_unused(struct inspector *in)
{
	for (size_t i = 0; i < in->di->nmodules; i++) {
		struct dwarf_module *dm = in->di->modules[i];
		const struct type *state = lookup_type(dm, thread_pool_state_path, 0);
		bool fresh;

		if (state)
			thread_pool_copy_of(in, state, &fresh);
	}
}

bool thread_pool_get_copy(const struct inspector *in, size_t n, struct runtime_copy *ret)
{
	const struct thread_pool_copy *copy = thread_pool_inspector(in)->copies;

	while (copy && n--)
		copy = copy->next;
	if (!copy)
		return false;
	*ret = (struct runtime_copy){ .dm = copy->dm,
		                      .module = copy->module,
		                      .version = copy->version,
		                      .layout = &copy->layout,
		                      .types = { copy->state, copy->handle, copy->block,
		                                 copy->vtable } };
	return true;
}

void thread_pool_close(struct inspector *in)
{
	vec_free(&thread_pool_inspector(in)->leads);
}

/* ---- pools ---- */

static bool thread_pool_copy_read_row(struct target *t, const struct thread_pool_copy *copy,
                                      enum thread_pool_row row, uint64_t state, uint64_t *ret)
{
	struct value v = { copy->state, state };
	bool found;
	struct error *err = bindings_uint(t, &copy->layout, row, v, ret, &found);

	error_free(err);
	return !err && found;
}

/* A PoolState has both ends of one channel, which has as many positions as it says. */
bool thread_pool_is_state(struct target *t, const struct thread_pool_copy *copy, uint64_t addr)
{
	uint64_t sender, receiver, size, head, tail, length;

	return addr && addr % WORD == 0 &&
	       thread_pool_copy_read_row(t, copy, THREAD_POOL_SIZE, addr, &size) && size > 0 &&
	       size <= MAX_THREADS &&
	       thread_pool_copy_read_row(t, copy, THREAD_POOL_SENDER, addr, &sender) &&
	       thread_pool_copy_read_row(t, copy, THREAD_POOL_RECEIVER, addr, &receiver) &&
	       sender && sender == receiver &&
	       thread_pool_copy_read_row(t, copy, THREAD_POOL_HEAD, addr, &head) &&
	       thread_pool_copy_read_row(t, copy, THREAD_POOL_TAIL, addr, &tail) &&
	       queue_length_unbounded(head, tail, &length);
}

/* ---- handles ---- */

struct error *thread_pool_handle_of(struct collector *c, const struct thread_pool_copy *copy,
                                    struct value task, uint64_t *ret)
{
	static const char handle[] = "wake_handle";
	const struct path *p;
	bool found;

	TRY(inspector_path(c->in, task.type, handle, &p));
	TRY(path_uint(c->in->target, p, task, ret, &found));
	if (!found || !*ret)
		return error_new(ERR_CORRUPT, "the task at 0x%" PRIx64 " has no handle", task.addr);
	*ret += copy->data;
	return NULL;
}

/* The address of the PoolState to which a handle or task refers. */
static struct error *thread_pool_copy_read_pool(struct collector *c,
                                                const struct thread_pool_copy *copy,
                                                struct value of, uint64_t *ret)
{
	static const char pool[] = "exec.state";
	const struct path *p;
	bool found;

	TRY(inspector_path(c->in, of.type, pool, &p));
	TRY(path_uint(c->in->target, p, of, ret, &found));
	if (!found || !*ret || *ret % WORD)
		return error_new(ERR_CORRUPT, "0x%" PRIx64 " refers to no pool", of.addr);
	*ret += copy->state_data;
	return NULL;
}

/* The task that waits inside its own handle. *found false: the handle has another one's, or none.
 */
static struct error *read_inside(struct collector *c, const struct thread_pool_copy *copy,
                                 struct value handle, struct value *ret, bool *found)
{
	static const char inside[] = "mutex.inner.Some.0";
	uint64_t own = 0;

	TRY(inspector_eval(c->in, handle, inside, ret, found));
	if (*found)
		TRY(thread_pool_handle_of(c, copy, *ret, &own));
	*found = *found && own == handle.addr;
	return NULL;
}

struct error *thread_pool_read_handle(struct collector *c, const struct thread_pool_copy *copy,
                                      uint64_t addr, struct thread_pool_handle *ret)
{
	static const char status[] = "mutex.status";
	struct value handle = { copy->handle, addr };
	const struct path *p;
	bool found;

	*ret = (struct thread_pool_handle){ .addr = addr };
	if (!copy->handle || !copy->object)
		return error_new(ERR_LAYOUT, "the types of its tasks were not found");
	if (addr % WORD || addr < copy->data)
		return error_new(ERR_CORRUPT, "0x%" PRIx64 " is not a handle", addr);
	TRY(target_read_uint(c->in->target, addr - copy->data + copy->strong, 8, &ret->references));
	TRY(inspector_path(c->in, copy->handle, status, &p));
	TRY(path_uint(c->in->target, p, handle, &ret->status, &found));
	/* The allocator writes to the beginning of what is freed, where the counts are. */
	if (!found || !ret->references || ret->references > MAX_COUNT ||
	    ret->status > THREAD_POOL_COMPLETE)
		return error_new(ERR_CORRUPT, "0x%" PRIx64 " is not a handle", addr);
	TRY(thread_pool_copy_read_pool(c, copy, handle, &ret->pool));
	if (!thread_pool_is_state(c->in->target, copy, ret->pool))
		return error_new(ERR_CORRUPT, "0x%" PRIx64 " is not a handle of a pool", addr);
	if (ret->status != THREAD_POOL_WAITING)
		return NULL;
	TRY(read_inside(c, copy, handle, &ret->task, &found));
	if (!found)
		ret->task = (struct value){ 0 };
	return NULL;
}
