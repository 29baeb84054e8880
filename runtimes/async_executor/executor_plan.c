/* Finds copies of async-task, and reads vtables and headers of tasks. */
#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/module/symtab.h"
#include "dwarf/names/qualified.h"
#include "dwarf/store/enumerate.h"
#include "runtimes/async_executor/executor.h"

enum {
	MAX_VTABLE = 256,
	MAX_FUNCTIONS = 16,
	MAX_OFFSET = 1 << 30, /* a future larger than this does not exist */
	WORD = 8,
};

static const char vtable_type[] = "async_task::raw::TaskVTable";
static const char state_type[] = "async_executor::State";
static const char run_begins[] = "async_task::raw::RawTask<";

static const struct binding_row rows[ASYNC_EXECUTOR_NROWS] = {
	[ASYNC_EXECUTOR_RUN] = { "task.run", "type:async_task::raw::TaskVTable", "run" },
	/* 4.6 | 4.3 to 4.5; before, the sizes of the types tell it */
	[ASYNC_EXECUTOR_OFFSET_S] = { "task.schedule", "type:async_task::raw::TaskVTable",
	                              "layout_info.offset_s | layout_info.Some.0.offset_s",
	                              .optional = true },
	[ASYNC_EXECUTOR_OFFSET_F] = { "task.future", "type:async_task::raw::TaskVTable",
	                              "layout_info.offset_f | layout_info.Some.0.offset_f",
	                              .optional = true },
	[ASYNC_EXECUTOR_ACTIVE] = { "executor.active", "given", "active.data.entries" },
	[ASYNC_EXECUTOR_LENGTH] = { "executor.length", "given", "active.data.len" },
	[ASYNC_EXECUTOR_WAKER] = { "executor.waker", "type:slab::Entry<core::task::wake::Waker>",
	                           "Occupied.0.waker.data" },
	/* the queue of tasks that are ready; concurrent-queue 2.x | 1.x */
	[ASYNC_EXECUTOR_HEAD] = { "executor.head", "given",
	                          "queue.Unbounded.0.head.value.index | "
	                          "queue.0.Unbounded.0.head.value.index"
	                          " | queue.0.Unbounded.0.head.index",
	                          .optional = true },
	[ASYNC_EXECUTOR_TAIL] = { "executor.tail", "given",
	                          "queue.Unbounded.0.tail.value.index | "
	                          "queue.0.Unbounded.0.tail.value.index"
	                          " | queue.0.Unbounded.0.tail.index",
	                          .optional = true },
};

const char async_executor_name[] = "async_executor";

struct async_executor_inspector *async_executor_of(const struct inspector *in)
{
	return inspector_state(in, async_executor_name);
}

struct async_executor_walk *async_executor_walk(const struct collector *c)
{
	return collector_state(c, async_executor_name);
}

const struct runtime *async_executor_runtime(const struct inspector *in)
{
	const struct runtime *const *r = runtimes_in(in->di);

	while (*r && (*r)->name != async_executor_name)
		r++;
	return *r;
}

/* ---- copies ---- */

static void note_table(struct async_executor_copy *copy, uint64_t offset)
{
	for (size_t i = 0; i < copy->ntables; i++) {
		if (copy->tables[i] == offset)
			return;
	}
	if (copy->ntables < ASYNC_EXECUTOR_MAX_TABLES)
		copy->tables[copy->ntables++] = offset;
}

/* Most headers have no metadata. */
static void find_table(struct inspector *in, struct async_executor_copy *copy)
{
	static const char table[] = "vtable";
	const struct type *t = lookup_type(copy->dm, "async_task::header::Header<()>", 0);
	const struct path *p;
	uint64_t offset;

	t = t ? t : lookup_type(copy->dm, "async_task::header::Header", 0);
	p = t ? inspector_optional_path(in, t, table) : NULL;
	if (p && path_offset(p, &offset))
		note_table(copy, offset);
}

static void executor_plan_add_copy(struct inspector *in, struct dwarf_module *dm,
                                   const char *version)
{
	struct async_executor_copy **end = &async_executor_of(in)->copies;
	const struct type *vtable = lookup_type(dm, vtable_type, 0), *state;

	if (!vtable)
		return;
	state = version ? lookup_type(dm, state_type, 0) : NULL;
	while (*end)
		end = &(*end)->next;
	struct async_executor_copy *copy = *end = NEW(&in->arena, struct async_executor_copy);
	copy->dm = dm;
	copy->module = str_base_name(dm->module->path);
	copy->version = version;
	copy->vtable = vtable;
	copy->state = state;
	find_table(in, copy);
	bindings_resolve(&in->arena, dm, state, rows,
	                 state ? ASYNC_EXECUTOR_NROWS : ASYNC_EXECUTOR_NTASK_ROWS, &copy->layout);
}

/* The crates' code is where its generics are used: in a module that has units of the crates. */
void async_executor_detect(struct inspector *in, struct dwarf_module *dm)
{
	if (debuginfo_is_system(dm->module))
		return;
	const char *version = lookup_crate_version(dm, "async-executor");
	if (version || lookup_crate_version(dm, "async-task"))
		executor_plan_add_copy(in, dm, version);
}

void async_executor_close(struct inspector *in)
{
	for (struct async_executor_copy *copy = async_executor_of(in)->copies; copy;
	     copy = copy->next)
		map_free(&copy->plans);
	vec_free(&async_executor_of(in)->roots);
	vec_free(&async_executor_of(in)->loose);
	vec_free(&async_executor_of(in)->ended);
}

bool async_executor_get_copy(const struct inspector *in, size_t n, struct runtime_copy *ret)
{
	const struct async_executor_copy *copy = async_executor_of(in)->copies;

	while (copy && n--)
		copy = copy->next;
	if (!copy)
		return false;
	*ret = (struct runtime_copy){ .dm = copy->dm,
		                      .module = copy->module,
		                      .version = copy->version,
		                      .layout = &copy->layout,
		                      .types = { copy->vtable, copy->state } };
	return true;
}

struct async_executor_copy *async_executor_copy_of(const struct inspector *in,
                                                   const struct dwarf_module *dm)
{
	struct async_executor_copy *copy = async_executor_of(in)->copies;

	while (copy && copy->dm != dm)
		copy = copy->next;
	return copy;
}

/* ---- the types of a task ---- */

/* Header<M>; it has no generics up to 4.3. */
static const struct type *header_type(struct inspector *in, const struct function *f)
{
	const struct type *m = function_param(f, "M"), *t = NULL;

	if (m)
		t = lookup_type(
			f->dm,
			arena_printf(&in->arena, "async_task::header::Header<%s>", type_name(m)),
			f->die);
	return t ? t : lookup_type(f->dm, "async_task::header::Header", f->die);
}

/* The type's name; of one that is boxed, as large ones are, that of what is in the box. */
static const char *name_in_box(const struct type *t)
{
	static const char boxed[] = "core::pin::Pin<alloc::boxed::Box<";
	const char *name = type_name(t);

	return name + (str_begins(name, boxed) ? sizeof(boxed) - 1 : 0);
}

/* Looks through the wrappers of other runtimes. */
static void unwrap(struct inspector *in, const struct wrapped_row *row,
                   struct async_executor_plan *plan)
{
	for (; row && row->type; row++) {
		const char *name = name_in_box(plan->spawned);
		const struct path *p = NULL;

		if (plan->schedule && str_begins(type_name(plan->schedule), row->schedule) &&
		    str_begins(name, row->type) && name[strlen(row->type)] == '<')
			p = inspector_optional_path(in, plan->spawned, row->path);
		if (!p || plan->ninside == ASYNC_EXECUTOR_MAX_INSIDE)
			continue;
		plan->inside[plan->ninside++] = p;
		plan->spawned = path_type(p);
	}
}

/* spawn_local() of async-task and of gpui wrap the future to check the thread at each poll. */
static bool is_checked(const struct type *t)
{
	return str_begins(qualified_last(type_name(t)), "Checked<");
}

/*
 * Finds the future that the program spawned: an executor wraps it, in a struct (async-executor
 * 1.13.2) or in a coroutine of its own (before), so that its entry in the slab is removed when it
 * ends.
 */
static void find_spawned(struct inspector *in, struct async_executor_plan *plan)
{
	static const char in_struct[] = "future", in_coroutine[] = "Unresumed.future",
			  checked[] = "inner.value.0 | inner.value";
	const struct path *p;

	plan->spawned = plan->future;
	if (is_checked(plan->future) && (p = inspector_optional_path(in, plan->future, checked))) {
		plan->inside[plan->ninside++] = p;
		plan->spawned = path_type(p);
	}
	for (const struct crate_types *const *crate = crates_in(in->di); *crate; crate++)
		unwrap(in, (*crate)->wrapped, plan);
	if (!str_begins(name_in_box(plan->future), "async_executor::"))
		return;
	if ((p = inspector_optional_path(in, plan->future, in_struct))) {
		plan->inside[plan->ninside++] = p;
		plan->spawned = path_type(p);
	} else if ((p = inspector_optional_path(in, plan->future, in_coroutine))) {
		plan->wrapped = true;
		plan->spawned = path_type(p);
	}
}

static uint64_t round_up(uint64_t n, uint64_t align)
{
	return align > 1 && align <= MAX_OFFSET ? (n + align - 1) / align * align : n;
}

/*
 * Offsets of S and F, by the types alone (async-task, src/raw.rs: eval_task_layout()): behind the
 * header, S, then F or the output Result<T, Panic>, whose alignment is at least that of a pointer
 * where it has one.
 */
void async_executor_compute_offsets(const struct function *f, struct async_executor_plan *plan)
{
	const struct type *t = function_param(f, "T");
	uint64_t end, align = type_align(plan->future);

	plan->offset_s = round_up(type_size(plan->header), type_align(plan->schedule));
	end = plan->offset_s + type_size(plan->schedule);
	if (t && type_align(t) > align)
		align = type_align(t);
	plan->offset_f = round_up(end, align);
}

static struct error *read_offsets(struct inspector *in, const struct async_executor_copy *copy,
                                  uint64_t vtable, const struct function *f,
                                  struct async_executor_plan *plan)
{
	struct value v = { copy->vtable, vtable };
	bool found;

	TRY(bindings_uint(in->target, &copy->layout, ASYNC_EXECUTOR_OFFSET_S, v, &plan->offset_s,
	                  &found));
	if (found)
		TRY(bindings_uint(in->target, &copy->layout, ASYNC_EXECUTOR_OFFSET_F, v,
		                  &plan->offset_f, &found));
	if (!found)
		async_executor_compute_offsets(f, plan);
	if (plan->offset_s < type_size(plan->header) || plan->offset_f < plan->offset_s ||
	    plan->offset_f > MAX_OFFSET)
		return error_new(ERR_CORRUPT, "the vtable 0x%" PRIx64 " has bad offsets", vtable);
	return NULL;
}

/* Path from the schedule function to its reference to an executor's State; NULL: it has none. */
static const struct path *async_executor_path(struct inspector *in, const struct type *schedule)
{
	static const char state[] = "state";
	const struct path *p = inspector_optional_path(in, schedule, state);

	return p && strstr(type_name(path_type(p)), state_type) ? p : NULL;
}

struct error *async_executor_fill_types(struct inspector *in, const struct function *f,
                                        struct async_executor_plan *plan)
{
	static const char state[] = "state", table[] = "vtable", awaiter[] = "awaiter";

	plan->future = function_param(f, "F");
	plan->schedule = function_param(f, "S");
	plan->header = header_type(in, f);
	if (!plan->header || !plan->schedule || !plan->future)
		return error_new(ERR_LAYOUT, f->dm->tier == DWARF_FULL
		                                     ? "the debug info does not describe its types"
		                                     : "its module has line tables only: build "
		                                       "with `debug = 2`");
	TRY(inspector_path(in, plan->header, state, &plan->state));
	TRY(inspector_path(in, plan->header, table, &plan->vtable));
	if (!path_offset(plan->vtable, &plan->table))
		return error_new(ERR_LAYOUT, "its header has its vtable at no fixed place");
	plan->location = async_executor_location_path(in, plan->header);
	plan->awaiter = inspector_optional_path(in, plan->header, awaiter);
	plan->executor = async_executor_path(in, plan->schedule);
	plan->has_reference = plan->executor && path_offset(plan->executor, &plan->reference);
	find_spawned(in, plan);
	plan->name = type_name(plan->spawned);
	return NULL;
}

static struct error *fill_plan(struct inspector *in, const struct async_executor_copy *copy,
                               uint64_t vtable, const struct function *f,
                               struct async_executor_plan *plan)
{
	TRY(async_executor_fill_types(in, f, plan));
	return read_offsets(in, copy, vtable, f, plan);
}

/* ---- functions of several types ---- */

struct same_address {
	uint64_t addr;
	size_t n;
};

static void executor_plan_count_symbol(const char *name, uint64_t addr, uint64_t size, void *arg)
{
	struct same_address *same = arg;

	(void)name, (void)size;
	same->n += addr == same->addr;
}

bool async_executor_is_merged(const struct function *f)
{
	struct same_address same = { module_link_addr(f->dm->module, f->low).v, 0 };

	symtab_each_function(f->dm, executor_plan_count_symbol, &same);
	return same.n > 1 || enumerated_is_shared(f->dm, same.addr);
}

/* ---- vtables ---- */

/* Wakers have a vtable too, of which the functions are those of a RawTask, and it may lie before.
 */
static bool is_run(const char *name)
{
	const char *last = qualified_last(name);

	return str_begins(name, run_begins) && qualified_base_len(last) == 3 &&
	       str_begins(last, "run");
}

bool async_executor_tells_types(const struct function *f)
{
	return f && f->name && str_begins(f->name, run_begins) && !async_executor_is_merged(f);
}

/* Are the functions of the vtable code, and is its run function one of async-task? */
static const struct function *run_function(struct inspector *in,
                                           const struct async_executor_copy *copy, uint64_t vtable)
{
	struct value v = { copy->vtable, vtable };
	unsigned char bytes[MAX_VTABLE];
	uint64_t run = 0;
	size_t n, functions = 0;
	bool found = false;
	const struct member *members = type_members(copy->vtable, &n);

	if (type_size(copy->vtable) > sizeof(bytes))
		return NULL;
	struct error *err = target_read(in->target, vtable, bytes, type_size(copy->vtable));
	for (size_t i = 0; !err && i < n && i < MAX_FUNCTIONS; i++) {
		const struct type *t = members[i].type;
		uint64_t word;

		if (!t || type_kind(t) != TYPE_POINTER || !type_target(t) ||
		    type_kind(type_target(t)) != TYPE_FUNCTION)
			continue;
		memcpy(&word, bytes + members[i].offset, sizeof(word));
		if (!module_at(in->target, word))
			return NULL;
		functions++;
	}
	if (!err && functions > 1)
		err = bindings_uint(in->target, &copy->layout, ASYNC_EXECUTOR_RUN, v, &run, &found);
	error_free(err);
	const struct function *f = found && !err ? lookup_function(in->di, run) : NULL;
	return f && is_run(f->name) ? f : NULL;
}

/*
 * The function of a table that tells the types of its tasks: run, unless that was merged with
 * others of equal code, and another one was not.
 */
static const struct function *type_function(struct inspector *in,
                                            const struct async_executor_copy *copy, uint64_t vtable,
                                            const struct function *run)
{
	uint64_t words[MAX_VTABLE / WORD] = { 0 };
	const size_t size = type_size(copy->vtable), n = size / WORD;

	if (async_executor_tells_types(run) || size > sizeof(words))
		return run;
	error_free(target_read(in->target, vtable, words, size));
	for (size_t i = 0; i < n; i++) {
		const struct function *f =
			module_at(in->target, words[i]) ? lookup_function(in->di, words[i]) : NULL;

		if (f && f->low == words[i] && async_executor_tells_types(f))
			return f;
	}
	return run;
}

const struct async_executor_plan *
async_executor_plan(struct inspector *in, struct async_executor_copy *copy, uint64_t vtable)
{
	const struct function *f;
	struct async_executor_plan *plan;

	if (!vtable || vtable % WORD)
		return NULL;
	if (map_has(&copy->plans, vtable))
		return map_get(&copy->plans, vtable);
	f = run_function(in, copy, vtable);
	plan = f ? NEW(&in->arena, struct async_executor_plan) : NULL;
	map_put(&copy->plans, vtable, plan);
	if (!plan)
		return NULL;
	plan->run = f->low;
	f = type_function(in, copy, vtable, f);
	plan->merged = async_executor_is_merged(f);
	plan->name = qualified_first_generic(&in->arena, f->name);
	struct error *err = fill_plan(in, copy, vtable, f, plan);
	if (err)
		plan->problem = arena_strdup(&in->arena, err->marked);
	else
		note_table(copy, plan->table);
	error_free(err);
	plan->type = inspector_clean_name(&in->arena, plan->name);
	return plan;
}

/* ---- headers ---- */

enum task_state async_executor_state(uint64_t state)
{
	if (state & ASYNC_EXECUTOR_RUNNING)
		return TASK_RUNNING;
	if (state & ASYNC_EXECUTOR_COMPLETED)
		return TASK_COMPLETE;
	if (state & ASYNC_EXECUTOR_CLOSED)
		return TASK_CANCELLED;
	return state & ASYNC_EXECUTOR_SCHEDULED ? TASK_SCHEDULED : TASK_IDLE;
}

/* A closed task is scheduled once more, so that the executor drops its future. */
bool async_executor_is_live(uint64_t state)
{
	if (state & ASYNC_EXECUTOR_COMPLETED)
		return false;
	return !(state & ASYNC_EXECUTOR_CLOSED) ||
	       (state & (ASYNC_EXECUTOR_SCHEDULED | ASYNC_EXECUTOR_RUNNING));
}

/* No task is completed and scheduled, and one without references and handle is freed. */
static bool executor_plan_is_legal(uint64_t state)
{
	bool completed = state & ASYNC_EXECUTOR_COMPLETED;

	return (state >> ASYNC_EXECUTOR_REF_SHIFT || state & ASYNC_EXECUTOR_HANDLE) &&
	       state <= (uint64_t)INT64_MAX &&
	       !(completed && state & (ASYNC_EXECUTOR_SCHEDULED | ASYNC_EXECUTOR_RUNNING));
}

/* Finds the plan by the vtable, which is at one of the known places; NULL: it is at none. */
static struct error *find_plan(struct inspector *in, struct async_executor_copy *copy,
                               uint64_t addr, const struct async_executor_plan **ret)
{
	*ret = NULL;
	for (size_t i = 0; i < copy->ntables && !*ret; i++) {
		uint64_t vtable;

		TRY(target_read_uint(in->target, addr + copy->tables[i], 8, &vtable));
		const struct async_executor_plan *plan = async_executor_plan(in, copy, vtable);
		if (plan && (!plan->vtable || plan->table == copy->tables[i]))
			*ret = plan;
	}
	return NULL;
}

const struct async_executor_plan *
async_executor_plan_at(struct inspector *in, struct async_executor_copy *copy, uint64_t addr)
{
	const struct async_executor_plan *plan = NULL;
	struct error *err = find_plan(in, copy, addr, &plan);

	error_free(err);
	return err ? NULL : plan;
}

struct error *async_executor_read_header(struct inspector *in, struct async_executor_copy *copy,
                                         uint64_t addr, struct async_executor_header *ret)
{
	bool found;

	*ret = (struct async_executor_header){ .addr = addr };
	if (!addr || addr % WORD)
		return error_new(ERR_CORRUPT, "0x%" PRIx64 " is not a task: not aligned", addr);
	if (copy->ntables == 0)
		return error_new(ERR_LAYOUT, "the type of task headers was not found");
	TRY(find_plan(in, copy, addr, &ret->plan));
	if (!ret->plan)
		return error_new(ERR_CORRUPT, "0x%" PRIx64 " is not a task: it has no vtable",
		                 addr);
	if (!ret->plan->state)
		return error_new(ERR_LAYOUT, "%s", ret->plan->problem);
	struct value header = { ret->plan->header, addr };
	TRY(path_uint(in->target, ret->plan->state, header, &ret->state, &found));
	if (!found || !executor_plan_is_legal(ret->state))
		return error_new(ERR_CORRUPT, "0x%" PRIx64 " is not a task: bad state 0x%" PRIx64,
		                 addr, ret->state);
	return NULL;
}

struct error *async_executor_is_cancelled(struct inspector *in, uint64_t task, bool *ret)
{
	struct error *err = error_new(ERR_CORRUPT, "async-task was not found");
	struct async_executor_header h = { 0 };

	*ret = false;
	for (struct async_executor_copy *copy = async_executor_of(in)->copies; err && copy;
	     copy = copy->next) {
		error_free(err);
		err = async_executor_read_header(in, copy, task, &h);
	}
	*ret = !err && (h.state & ASYNC_EXECUTOR_CLOSED);
	return err;
}

struct error *async_executor_future(struct collector *c, const struct async_executor_header *h,
                                    struct value *ret)
{
	const struct async_executor_plan *plan = h->plan;
	bool found = true;

	*ret = (struct value){ plan->future, h->addr + plan->offset_f };
	for (size_t i = 0; i < plan->ninside && found; i++)
		TRY(path_eval(c->in->target, plan->inside[i], *ret, ret, &found));
	return found ? NULL : error_new(ERR_CORRUPT, "its future is not there");
}

struct error *async_executor_read_state(struct inspector *in, const struct async_executor_header *h,
                                        uint64_t *ret)
{
	struct value schedule = { h->plan->schedule, h->addr + h->plan->offset_s }, place, shared;
	bool found;

	*ret = 0;
	if (!h->plan->executor)
		return NULL;
	TRY(path_eval(in->target, h->plan->executor, schedule, &place, &found));
	if (!found)
		return NULL;
	/* The State is behind an Arc, or in a StaticExecutor behind a reference. */
	if (type_kind(place.type) == TYPE_POINTER)
		return target_read_uint(in->target, place.addr, 8, ret);
	TRY(value_shared(in->target, place, &shared));
	*ret = shared.addr;
	return NULL;
}
