/* Reads tokio's lists of owned tasks, and decodes task cells. */
#include <inttypes.h>
#include <string.h>

#include "debugger/base/progress.h"
#include "dwarf/names/qualified.h"
#include "runtimes/common/boxed_future.h"
#include "runtimes/future/future.h"
#include "runtimes/tokio/tokio.h"

enum {
	MAX_TASKS = 1 << 24,
	MAX_SHARDS = 1 << 17, /* tokio caps at 65536 (runtime/task/list.rs, 1.35) */
	MAX_LIST_NOTES = 8,
	MAX_HOPS = 32 /* wrappers of one pointer; corrupt types nest in themselves */
};

/* Reads a task's links in the owned list. */
static struct error *read_links(struct target *t, const struct tokio *k, uint64_t trailer,
                                uint64_t *next, uint64_t *prev)
{
	struct value v = { k->layout.slots[TOKIO_NEXT].root, trailer };
	bool found;

	TRY(bindings_word(t, &k->layout, TOKIO_NEXT, v, next, &found));
	if (!found)
		return error_new(ERR_LAYOUT, "task.next: %s", k->layout.slots[TOKIO_NEXT].tried);
	return bindings_word(t, &k->layout, TOKIO_PREV, v, prev, &found);
}

static struct task *tokio_task_add(struct collector *c, struct tokio_runtime *r,
                                   const struct tokio_header *h)
{
	struct task *task = NEW(c->a, struct task);

	task->number = h->id;
	task->id = arena_uint(c->a, h->id);
	task->runtime = r->info->index;
	task->addr = h->addr;
	task->state = tokio_task_state(h->state);
	task->notified = task->state == TASK_RUNNING && (h->state & TOKIO_NOTIFIED);
	collector_add_task(c, task, h->poll);
	r->info->ntasks++;
	return task;
}

/* Reads and checks one node, as far as a torn list allows. */
static struct error *check_node(struct collector *c, struct tokio_runtime *r, uint64_t addr,
                                struct tokio_header *h)
{
	struct target *t = c->in->target;
	uint64_t owner;
	bool found;

	TRY(tokio_read_header(t, r->tokio, addr, h));
	TRY(bindings_word(t, &r->tokio->layout, TOKIO_OWNER_ID, tokio_header_value(r->tokio, addr),
	                  &owner, &found));
	if (found && r->owned_id && owner != r->owned_id)
		return error_new(ERR_CORRUPT,
		                 "task 0x%" PRIx64 " belongs to list %" PRIu64 ", not %" PRIu64,
		                 addr, owner, r->owned_id);
	return NULL;
}

enum direction { FROM_HEAD, FROM_TAIL };

/* Is the memory not from one moment? */
static bool is_moving(const struct collector *c)
{
	return c->in->target->stop.copy.how != COPY_STOPPED;
}

/*
 * Walks one list. A bad node ends the walk; tasks before it stay. From the tail, the walk ends at
 * the first task that is listed already.
 */
static struct error *walk_list(struct collector *c, struct tokio_runtime *r, uint64_t start,
                               enum direction direction)
{
	uint64_t addr = start, before = 0;
	const struct target *t = c->in->target;

	while (addr) {
		struct tokio_header h;
		uint64_t next, prev;
		/*
		 * Counts the doubts about this node's contents; for the first node, also those
		 * about the list's head.
		 */
		size_t doubts = before ? t->stop.doubts : c->list_doubts;
		bool torn;

		if (map_has(&c->tasks, addr))
			return direction == FROM_TAIL
			               ? NULL
			               : error_new(ERR_CORRUPT,
			                           "the list of tasks is circular at 0x%" PRIx64,
			                           addr);
		if (c->listed.n >= MAX_TASKS)
			return error_new(ERR_CORRUPT, "more than %d tasks", MAX_TASKS);
		if (c->listed.n % PROGRESS_STRIDE == 0) {
			TRY(interrupt_check());
			progress("listing tasks", c->listed.n, r->info->expected_tasks);
		}
		TRY(check_node(c, r, addr, &h));
		TRY(read_links(c->in->target, r->tokio, h.trailer, &next, &prev));
		/* A thread that was stopped in a push has set the old head's back link already. */
		torn = direction == FROM_HEAD && prev != before && before != 0;
		if (torn && !is_moving(c))
			return error_new(ERR_CORRUPT,
			                 "the list of tasks is inconsistent at 0x%" PRIx64, addr);
		tokio_task_add(c, r, &h)->changed = torn || t->stop.doubts != doubts;
		before = addr;
		addr = direction == FROM_HEAD ? next : prev;
	}
	return NULL;
}

/* The word at a list's row, 0 where it has none. */
static uint64_t list_end(struct collector *c, const struct tokio_runtime *r, size_t row,
                         struct value list)
{
	uint64_t addr = 0;
	bool found;
	struct error *err =
		bindings_word(c->in->target, &r->tokio->layout, row, list, &addr, &found);

	error_free(err);
	return !err && found ? addr : 0;
}

/*
 * Walks a list from the head and, when a bad node ends that, from the tail: a broken task hides no
 * other. broken counts broken lists: a corrupt table of lists gets a limited number of notes.
 */
static void tokio_task_walk_and_note(struct collector *c, struct tokio_runtime *r, uint64_t head,
                                     uint64_t tail, unsigned *broken)
{
	struct error *err = walk_list(c, r, head, FROM_HEAD);

	/*
	 * Memory that changes needs the walk from the tail too: a node that was unlinked meanwhile
	 * may cut the walk short.
	 */
	if (!err && !is_moving(c))
		return;
	error_free(walk_list(c, r, tail, FROM_TAIL));
	if (!err)
		return;
	if (++*broken <= MAX_LIST_NOTES)
		snapshot_incomplete(c->out, "runtime %u: some tasks are missing: %s",
		                    r->info->index, err->message);
	error_free(err);
}

static struct error *walk_shards(struct collector *c, struct tokio_runtime *r, struct value owned,
                                 unsigned *broken, bool *done)
{
	const struct bindings *l = &r->tokio->layout;
	struct target *t = c->in->target;
	struct slice shards;

	TRY(bindings_slice(t, l, r->flavor->shards, owned, &shards, done));
	if (!*done)
		return NULL;
	if (shards.count > MAX_SHARDS)
		return error_new(ERR_CORRUPT, "%" PRIu64 " shards", shards.count);
	for (uint64_t i = 0; i < shards.count; i++) {
		struct value shard = { shards.element,
			               shards.addr + i * type_size(shards.element) };
		uint64_t head;
		bool found;

		c->list_doubts = t->stop.doubts;
		TRY(bindings_word(t, l, r->flavor->shard_head, shard, &head, &found));
		if (found)
			tokio_task_walk_and_note(
				c, r, head, list_end(c, r, r->flavor->shard_tail, shard), broken);
	}
	if (*broken > MAX_LIST_NOTES)
		snapshot_incomplete(c->out, "runtime %u: %u more lists of tasks are broken",
		                    r->info->index, *broken - MAX_LIST_NOTES);
	return NULL;
}

static struct error *tokio_task_list(struct collector *c, struct tokio_runtime *r, unsigned *broken)
{
	const struct bindings *l = &r->tokio->layout;
	struct target *t = c->in->target;
	struct value owned;
	uint64_t head;
	bool found;

	TRY(bindings_eval(t, l, r->flavor->owned, r->handle, &owned, &found));
	if (!found)
		return error_new(ERR_LAYOUT, "its list of owned tasks was not found: %s",
		                 l->slots[r->flavor->owned].tried);
	TRY(walk_shards(c, r, owned, broken, &found));
	if (found)
		return NULL;
	c->list_doubts = t->stop.doubts;
	TRY(bindings_word(t, l, r->flavor->list_head, owned, &head, &found));
	if (!found)
		return error_new(ERR_LAYOUT, "its list of owned tasks was not understood: %s",
		                 l->slots[r->flavor->list_head].tried);
	tokio_task_walk_and_note(c, r, head, list_end(c, r, r->flavor->list_tail, owned), broken);
	return NULL;
}

/*
 * Notes that count and lists differ. The count changes a moment before or after the list
 * (runtime/task/list.rs), so each thread may be between the two with one task. A larger difference
 * makes the snapshot incomplete.
 */
static void note_count(struct collector *c, const struct runtime_info *info)
{
	uint64_t listed = info->ntasks, counted = info->expected_tasks;
	uint64_t difference = listed > counted ? listed - counted : counted - listed;

	if (difference <= c->in->target->nthreads)
		snapshot_note(c->out,
		              "runtime %u counts %" PRIu64 " tasks, its lists hold %" PRIu64
		              ": tasks were being spawned or finished at that moment",
		              info->index, counted, listed);
	else
		snapshot_incomplete(c->out,
		                    "runtime %u counts %" PRIu64 " tasks, its lists hold %" PRIu64,
		                    info->index, counted, listed);
}

void tokio_list_chain(struct collector *c, struct tokio_runtime *r, uint64_t head, uint64_t tail)
{
	unsigned broken = 0;

	tokio_task_walk_and_note(c, r, head, tail, &broken);
}

void tokio_list_tasks(struct collector *c, struct tokio_runtime *r)
{
	struct runtime_info *info = r->info;
	unsigned broken = 0;
	struct error *err = tokio_task_list(c, r, &broken);

	if (err)
		snapshot_incomplete(c->out, "runtime %u: %s", info->index, err->message);
	else if (!broken && info->has_expected && info->expected_tasks != info->ntasks)
		note_count(c, info);
	error_free(err);
}

/* ---- plans, from poll functions ---- */

/* Cell<T, S>: from the local `harness` of the poll function, else by its name. */
static const struct type *cell_type(struct arena *a, const struct function *f,
                                    const struct type *future, const struct type *scheduler)
{
	const struct type *harness = function_variable(f, "harness");
	const struct path *cell;
	struct error *err = NULL;

	if (harness && !(err = path_resolve(a, harness, "cell", &cell))) {
		const struct type *t = path_type(cell);

		for (int hop = 0; t && hop < MAX_HOPS && type_kind(t) != TYPE_POINTER; hop++) {
			const struct member *m = type_single_member(t);
			t = m ? m->type : NULL;
		}
		if (t && type_target(t))
			return type_target(t);
	}
	error_free(err);
	if (!future || !scheduler)
		return NULL;
	return lookup_type(f->dm,
	                   arena_printf(a, "tokio::runtime::task::core::Cell<%s, %s>",
	                                type_name(future), type_name(scheduler)),
	                   f->die);
}

/* NULL where the type has no such place. */
static const struct path *tokio_task_optional_path(struct inspector *in, const struct type *from,
                                                   const char *expr)
{
	const struct path *path = NULL;

	error_free(path_resolve(&in->arena, from, expr, &path));
	return path;
}

/* Core.spawned_at, with --cfg tokio_unstable from 1.46 on (runtime/task/core.rs). */
static void plan_spawned(struct inspector *in, struct task_plan *plan)
{
	plan->spawned = tokio_task_optional_path(in, plan->cell, "core.spawned_at");
	if (!plan->spawned)
		return;
	/* core::panic::Location: std 1.91 | 1.89 | before */
	plan->spawned_file = tokio_task_optional_path(in, plan->cell,
	                                              "core.spawned_at.filename.pointer"
	                                              " | core.spawned_at.file_bytes_with_nul"
	                                              " | core.spawned_at.file");
	plan->spawned_line = tokio_task_optional_path(in, plan->cell, "core.spawned_at.line");
}

static void plan_from_function(struct inspector *in, struct tokio *k, const struct function *f,
                               struct task_plan *plan)
{
	struct error *err;

	plan->future = function_param(f, "T");
	plan->future_name = plan->future ? type_name(plan->future)
	                                 : qualified_first_generic(&in->arena, f->name);
	plan->cell = cell_type(&in->arena, f, plan->future, function_param(f, "S"));
	if (!plan->future || !plan->cell) {
		plan->problem = f->dm->tier == DWARF_FULL
		                        ? "the debug info does not describe its cell"
		                        : "its module has line tables only: build with `debug = 2`";
		return;
	}
	err = path_resolve(&in->arena, plan->cell, "core.stage.Running.0", &plan->running);
	if (err)
		plan->problem = arena_strdup(&in->arena, err->marked);
	error_free(err);
	plan_spawned(in, plan);
	tokio_plan_aliases(in, k, f, plan);
}

const struct task_plan *tokio_task_plan(struct inspector *in, struct tokio *k, uint64_t poll)
{
	struct task_plan *plan = map_get(&k->plans, poll);

	if (plan || poll == 0)
		return plan;
	plan = NEW(&in->arena, struct task_plan);
	map_put(&k->plans, poll, plan);
	const struct function *f = lookup_function(in->di, poll);
	if (f)
		plan_from_function(in, k, f, plan);
	else
		plan->problem = arena_printf(
			&in->arena,
			"no debug info covers its poll function " MARKED_NUMBER("0x%" PRIx64),
			poll);
	if (!plan->type)
		plan->type = inspector_clean_name(&in->arena, plan->future_name);
	return plan;
}

/* Reads the file's name of a Location, which may end with a NUL. NULL: it is none. */
static const char *tokio_task_read_file(struct collector *c, const struct task_plan *plan,
                                        struct value cell)
{
	struct value place;
	bool found = false;
	struct error *err = path_eval(c->in->target, plan->spawned_file, cell, &place, &found);

	found &= !err;
	error_free(err);
	return found ? inspector_slice_text(c, place) : NULL;
}

const struct source_place *tokio_spawned_at(struct collector *c, const struct task_plan *plan,
                                            uint64_t header)
{
	struct map *known = &tokio_walk(c)->locations;
	struct value cell = { plan ? plan->cell : NULL, header };
	struct source_place *place;
	uint64_t location, line = 0;
	bool found = false;

	if (!plan || !plan->spawned_file || !plan->spawned_line)
		return NULL;
	struct error *err = path_uint(c->in->target, plan->spawned, cell, &location, &found);

	error_free(err);
	if (err || !found || !location)
		return NULL;
	place = map_get(known, location);
	if (!place) {
		place = NEW(c->a, struct source_place);
		map_put(known, location, place);
		err = path_uint(c->in->target, plan->spawned_line, cell, &line, &found);
		place->file = !err && found && line <= UINT32_MAX
		                      ? tokio_task_read_file(c, plan, cell)
		                      : NULL;
		error_free(err);
	}
	if (line && place->file) {
		place->file_short =
			inspector_location(c->in, c->a, inspector_module_at(c->in, location),
		                           place->file)
				.text;
		place->line = (unsigned)line;
	}
	return place->line ? place : NULL;
}

/* NULL also where the task's type is only one of several that share their code. */
static const struct source_place *defined_at(struct collector *c, const struct task_plan *plan,
                                             const struct task *task)
{
	if (plan->aliases)
		return NULL;
	/* The tree of a running task is not known here, only the type. */
	if (plan->future && type_is_coroutine(plan->future))
		return coroutine_defined_at(c->in, plan->future);
	return coroutine_defined_by_tree(c->in, task->root);
}

/* Finds the future in its stage; *found false once it finished. */
static struct error *tokio_task_find_future(struct collector *c, const struct task_plan *plan,
                                            const struct task *task, struct value *ret, bool *found)
{
	struct value cell = { plan->cell, task->addr };

	return path_eval(c->in->target, plan->running, cell, ret, found);
}

/*
 * Counts the wakers and AbortHandles of an idle task. A task counts a reference for each of them,
 * for the list of tasks and for the JoinHandle (runtime/task/state.rs).
 */
static void tokio_task_count_wakers(const struct tokio_header *h, struct task *task)
{
	uint64_t known = h->state & TOKIO_JOIN_INTEREST ? 2 : 1;
	uint64_t all = h->state >> TOKIO_REF_SHIFT;

	task->has_wakers =
		task->state == TASK_IDLE && tokio_task_state(h->state) == TASK_IDLE && all >= known;
	task->wakers = task->has_wakers ? all - known : 0;
}

/* Marks the futures below the root where another candidate has other types. */
static void uncertainty_parts(struct future *f)
{
	for (size_t i = 0; i < f->nchildren; i++) {
		f->children[i]->uncertain |= !f->children[i]->wait;
		uncertainty_parts(f->children[i]);
	}
}

static void add_aliases(const struct task_plan *plan, struct future *root)
{
	root->aliases = plan->aliases;
	root->uncertain |= plan->aliases != NULL;
	if (plan->doubtful_parts)
		uncertainty_parts(root);
}

static void tokio_task_decode_root(struct collector *c, const struct task_plan *plan,
                                   const struct tokio_header *h, struct task *task)
{
	struct value future;
	bool found = false;
	CLEANUP(error_freep)
	struct error *err = tokio_task_find_future(c, plan, task, &future, &found);

	if (err) {
		task->problem = marked_finish(c->a, err->marked, &task->problem_parts);
	} else if (found) {
		struct decoder d = { .c = c, .waker = task->addr };

		d.idle = tokio_task_state(h->state) == TASK_IDLE;
		d.woken = future_is_woken(tokio_task_state(h->state));
		tokio_task_count_wakers(h, task);
		d.forgotten = task->has_wakers && task->wakers == 0;
		d.runtime = task->runtime;

		task->root = future_decode(&d, future);
		add_aliases(plan, task->root);
	} else if (task->state != TASK_COMPLETE) {
		task->problem = "its future is gone: the task is completing or being dropped";
	}
}

/* tokio_task_plan() of the poll function in its vtable. */
static const struct task_plan *header_plan(struct inspector *in, struct tokio *k,
                                           const struct tokio_header *h)
{
	if (!h->known)
		return tokio_task_plan(in, k, h->poll);
	if (!h->known->plan)
		h->known->plan = tokio_task_plan(in, k, h->poll);
	return h->known->plan;
}

void tokio_decode_task(struct collector *c, struct tokio *k, struct task *task)
{
	struct tokio_header h;
	size_t doubts = collector_begin_decoding(c, task);
	struct error *err = tokio_read_header(c->in->target, k, task->addr, &h);
	const struct task_plan *plan = err ? NULL : header_plan(c->in, k, &h);
	if (plan) {
		task->type = plan->type;
		const struct type *boxed = plan->future ? boxed_future(plan->future) : NULL;

		task->size = boxed ? type_size(boxed) : plan->future ? type_size(plan->future) : 0;
	}
	if (plan && plan->problem)
		task->problem = marked_finish(c->a, plan->problem, &task->problem_parts);
	else if (plan && task->state != TASK_RUNNING)
		tokio_task_decode_root(c, plan, &h, task);
	if (plan) {
		task->spawned_at = tokio_spawned_at(c, plan, task->addr);
		task->defined_at = defined_at(c, plan, task);
	}
	/* The stack of a running task has the tree, but not the other candidates. */
	if (!task->root && task->type && (task->state != TASK_RUNNING || plan->aliases)) {
		task->root = future_by_name(c, plan->future_name);
		add_aliases(plan, task->root);
	}
	collector_end_decoding(c, task, doubts, err);
}
