/* Finds a running LocalPool, and the task that it polls, by the variables of a thread's frames. */
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/futures_executor/local_pool.h"
#include "runtimes/thread/stack_search.h"

enum {
	MAX_CALLERS = 4, /* frames outward of the loop in which the pool is looked for */
	WORD = 8,
	ARC_COUNTS = 16, /* bytes before what an Arc owns */
	MAX_COUNT = 1 << 30,
	MAX_STACK = 1 << 20, /* bytes of earlier calls */
};

static const char pool_path[] = "futures_executor::local_pool::LocalPool";
static const char notify_path[] = "futures_executor::local_pool::ThreadNotify";
static const char tls_path[] = "futures_executor::local_pool::CURRENT_THREAD_NOTIFY";

static const struct binding_row rows[LOCAL_POOL_NROWS] = {
	[LOCAL_POOL_SET] = { "pool.set", "given", "pool" },
	[LOCAL_POOL_HEAD] = { "pool.head", "given", "pool.head_all" },
	/* only a node at the head of the list knows the length: an empty list has none */
	[LOCAL_POOL_LENGTH] = { "pool.length", "given", "pool.head_all.len_all" },
	[LOCAL_POOL_QUEUE] = { "pool.queue", "given", "pool.ready_to_run_queue" },
	[LOCAL_POOL_WAKER] = { "pool.waker", "given", "pool.ready_to_run_queue.waker" },
	[LOCAL_POOL_INCOMING] = { "pool.incoming", "given", "incoming.value.value" },
};

/* ---- copies ---- */

static void read_thread_local(struct inspector *in, struct local_pool_copy *copy)
{
	struct thread_local *found;
	const char *doubt;
	size_t n;
	struct error *err =
		lookup_thread_locals(copy->dm, tls_path, &in->arena, &found, &n, &doubt);

	if (!err && n == 1)
		copy->notify = found[0];
	error_free(err);
	copy->notify_type = lookup_type(copy->dm, notify_path, type_die(copy->pool));
}

/* LocalFutureObj, from the Option in a node. */
static const struct type *object_type(struct inspector *in, const struct type *node)
{
	const struct path *p = node ? inspector_optional_path(in, node, "future.Some.0") : NULL;

	return p ? path_type(p) : NULL;
}

const struct local_pool_copy *local_pool_copy_of(struct inspector *in, const struct type *pool)
{
	struct local_pool_inspector *state = inspector_state(in, local_pool_name);
	struct dwarf_module *dm = type_module(pool);
	struct local_pool_copy **end = &state->copies;

	for (; *end; end = &(*end)->next) {
		if ((*end)->dm == dm)
			return *end;
	}
	struct local_pool_copy *copy = *end = NEW(&in->arena, struct local_pool_copy);
	copy->dm = dm;
	copy->module = str_base_name(dm->module->path);
	copy->version = lookup_crate_version(dm, "futures-executor");
	copy->pool = pool;
	bindings_resolve(&in->arena, dm, pool, rows, LOCAL_POOL_NROWS, &copy->layout);
	copy->node = stack_search_pointee(bindings_type(&copy->layout, LOCAL_POOL_HEAD));
	copy->object = object_type(in, copy->node);
	read_thread_local(in, copy);
	return copy;
}

bool local_pool_get_copy(const struct inspector *in, size_t n, struct runtime_copy *ret)
{
	const struct local_pool_inspector *state = inspector_state(in, local_pool_name);
	const struct local_pool_copy *copy = state->copies;

	while (copy && n--)
		copy = copy->next;
	if (!copy)
		return false;
	*ret = (struct runtime_copy){ .dm = copy->dm,
		                      .module = copy->module,
		                      .version = copy->version,
		                      .layout = &copy->layout,
		                      .types = { copy->notify.type, copy->notify_type, copy->node,
		                                 copy->object } };
	return true;
}

void local_pool_detect_unused(struct inspector *in)
{
	for (size_t i = 0; i < in->di->nmodules; i++) {
		const struct type *pool = lookup_type(in->di->modules[i], pool_path, 0);

		if (pool)
			local_pool_copy_of(in, pool);
	}
}

/* ---- the pool ---- */

/* The data of the waker that the pool was polled with last; 0: none, or it cannot be read. */
static uint64_t local_pool_find_last_waker(struct collector *c, const struct local_pool_copy *copy,
                                           struct value pool)
{
	struct value place;
	struct waker w = { 0 };
	bool found;
	struct error *err =
		bindings_eval(c->in->target, &copy->layout, LOCAL_POOL_WAKER, pool, &place, &found);

	if (!err && found)
		err = waker_read(c, place, &w);
	bool known = !err && found && w.vtable;
	error_free(err);
	return known ? w.data : 0;
}

/* The data of the waker of every block_on and pool on a thread: its ThreadNotify. 0 unknown. */
static uint64_t thread_waker(struct collector *c, const struct local_pool_copy *copy,
                             const struct thread *th)
{
	static const char flag[] = "unparked";
	struct value tls = { copy->notify.type, 0 }, place;
	const struct member *m = copy->notify_type ? type_member(copy->notify_type, flag) : NULL;
	bool found = false;
	struct error *err;

	if (!tls.type || !m)
		return 0;
	err = target_tls_address(c->in->target, th, copy->dm->module, copy->notify.offset,
	                         &tls.addr, &found);
	if (!err && found)
		err = inspector_eval(c->in, tls, flag, &place, &found);
	bool known = !err && found;
	error_free(err);
	return known ? place.addr - m->offset : 0;
}

/* ---- without variables, as by a layout file ---- */

/* Pools that the words of frames refer to, and those that lie there. */
struct pool_words {
	struct collector *c;
	const struct local_pool_thread *t;
	uint64_t pointed, placed; /* addresses of pools; 0: none */
	bool several_pointed, several_placed;
};

/* Was what lies there polled with this thread's waker, as a pool? */
static bool is_pool(const struct pool_words *w, uint64_t addr)
{
	struct value pool = { w->t->copy->pool, addr };

	return addr && addr % WORD == 0 &&
	       local_pool_find_last_waker(w->c, w->t->copy, pool) == w->t->waker;
}

static void local_pool_find_note_pool(const struct pool_words *w, uint64_t addr, uint64_t *found,
                                      bool *several)
{
	if (addr == *found || !is_pool(w, addr))
		return;
	*several |= *found != 0;
	*found = addr;
}

static void note_pointer(uint64_t word, uint64_t addr, void *arg)
{
	struct pool_words *w = arg;

	(void)addr;
	local_pool_find_note_pool(w, word, &w->pointed, &w->several_pointed);
}

static void local_pool_find_note_place(uint64_t word, uint64_t addr, void *arg)
{
	struct pool_words *w = arg;

	(void)word;
	local_pool_find_note_pool(w, addr, &w->placed, &w->several_placed);
}

/* The one pool that the frames of the loop refer to, else the one that lies in those of callers. */
static uint64_t find_pool_by_words(struct collector *c, const struct thread_stack *s,
                                   const struct mark *m, const struct local_pool_thread *t)
{
	struct pool_words w = { .c = c, .t = t };

	for (size_t i = m->frame + 1; t->waker && i-- > 0 && stack_is_runtime_frame(s, m, i);)
		stack_search_words(c, s, i, note_pointer, &w);
	if (w.pointed && !w.several_pointed)
		return w.pointed;
	for (size_t i = m->frame; t->waker && i < s->stack.nframes && i <= m->frame + MAX_CALLERS;
	     i++)
		stack_search_words(c, s, i, local_pool_find_note_place, &w);
	return w.several_placed ? 0 : w.placed;
}

/* ---- the pool of a thread ---- */

/*
 * The pool whose method the mark is: by the method's own references to it, else by the one variable
 * of a caller that was polled with this thread's waker. 0: unknown.
 */
static uint64_t local_pool_find_pool(struct collector *c, const struct thread_stack *s,
                                     const struct mark *m, const struct local_pool_thread *t)
{
	struct stack_places p = { .type = t->copy->pool };
	uint64_t found = 0;

	for (size_t i = m->frame + 1; i-- > 0 && stack_is_runtime_frame(s, m, i);)
		stack_search_places(c, s, i, &p);
	if (p.n)
		return p.n == 1 ? p.addrs[0] : 0;
	p.values = true;
	for (size_t i = m->frame; i < s->stack.nframes && i <= m->frame + MAX_CALLERS; i++)
		stack_search_places(c, s, i, &p);
	for (size_t i = 0; i < p.n; i++) {
		struct value pool = { p.type, p.addrs[i] };

		if (!t->waker || local_pool_find_last_waker(c, t->copy, pool) != t->waker)
			continue;
		if (found)
			return 0;
		found = pool.addr;
	}
	return found || c->in->layout == NULL ? found : find_pool_by_words(c, s, m, t);
}

const struct mark *local_pool_loop(const struct marks *marks)
{
	for (size_t i = 0; i < marks->n; i++) {
		if (marks->data[i].of == &local_pool_table)
			return &marks->data[i];
	}
	return NULL;
}

/* A layout file has no arguments of these functions. */
static const struct type *pool_type(const struct mark *m)
{
	const struct function *f = m->function;
	const struct type *t = f ? stack_search_pointee(function_first_argument(f)) : NULL;

	t = t || !f ? t : lookup_type(f->dm, pool_path, f->die);
	return t && type_is(t, pool_path) ? t : NULL;
}

bool local_pool_find(struct collector *c, size_t thread, struct local_pool_thread *ret)
{
	const struct thread_stack *s = &c->stacks[thread];
	const struct type *pool;
	struct marks marks;

	stack_find_marks(c, s, &marks);
	const struct mark *m = local_pool_loop(&marks);
	if (!m)
		return false;
	c->stacks[thread].unlisted = &local_pool_table;
	pool = pool_type(m);
	if (!pool)
		return false;
	ret->copy = local_pool_copy_of(c->in, pool);
	ret->waker = thread_waker(c, ret->copy, s->thread);
	ret->pool = (struct value){ pool, local_pool_find_pool(c, s, m, ret) };
	if (!ret->waker && ret->pool.addr)
		ret->waker = local_pool_find_last_waker(c, ret->copy, ret->pool);
	return true;
}

/* ---- the task that is polled ---- */

/* Does the node belong to the pool's set? */
static bool is_of_pool(struct collector *c, const struct local_pool_thread *t, struct value node)
{
	struct value own, theirs;
	uint64_t queue = 0, other = 0;
	bool found;
	struct error *err = bindings_eval(c->in->target, &t->copy->layout, LOCAL_POOL_QUEUE,
	                                  t->pool, &own, &found);

	if (!err && found)
		err = target_read_uint(c->in->target, own.addr, 8, &queue);
	if (!err && found)
		err = inspector_eval(c->in, node, "ready_to_run_queue", &theirs, &found);
	if (!err && found)
		err = target_read_uint(c->in->target, theirs.addr, 8, &other);
	bool same = !err && found && queue && queue == other;
	error_free(err);
	return same;
}

/* Nodes that frames refer to and that are off the list. */
struct node_words {
	struct collector *c;
	const struct local_pool_thread *t;
	uint64_t low, high; /* the thread's stack, where nodes are made and then moved from */
	struct value node;  /* addr 0: none */
	bool several;
};

/* The list has pending_next_all() in a node that is off it (futures-util 0.3, src/stream/
 * futures_unordered/mod.rs). A task that has ended has no future. */
static bool is_unlinked(struct collector *c, struct value node)
{
	static const char previous[] = "prev_all.value", next[] = "next_all",
			  future[] = "future.Some";
	struct value place;
	uint64_t before = 1, after = 0;
	const struct path *p;
	bool found = false;
	struct error *err = inspector_path(c->in, node.type, previous, &p);

	if (!err)
		err = path_uint(c->in->target, p, node, &before, &found);
	if (!err)
		err = inspector_path(c->in, node.type, next, &p);
	if (!err)
		err = path_uint(c->in->target, p, node, &after, &found);
	if (!err)
		err = inspector_eval(c->in, node, future, &place, &found);
	bool unlinked = !err && found && before == 0 && after != 0;
	error_free(err);
	return unlinked;
}

/* Is it in an Arc that exists? The allocator writes to the beginning of what is freed. */
static bool local_pool_find_is_shared(struct target *t, uint64_t node)
{
	uint64_t strong;
	struct error *err = target_read_uint(t, node - ARC_COUNTS, WORD, &strong);
	bool shared = !err && strong > 0 && strong <= MAX_COUNT;

	error_free(err);
	return shared;
}

static void note_node(uint64_t word, uint64_t addr, void *arg)
{
	struct node_words *w = arg;
	struct value node = { w->node.type, word };

	(void)addr;
	if (word < ARC_COUNTS || word % WORD || (word >= w->low && word < w->high) ||
	    word == w->node.addr || map_has(&w->c->tasks, word))
		return;
	if (!local_pool_find_is_shared(w->c->in->target, word) || !is_of_pool(w->c, w->t, node) ||
	    !is_unlinked(w->c, node))
		return;
	w->several |= w->node.addr != 0;
	w->node.addr = word;
}

static struct error *find_running_by_words(struct collector *c, const struct thread_stack *s,
                                           const struct local_pool_thread *t, const struct mark *m,
                                           struct value *ret)
{
	const struct stack *stack = &s->stack;
	struct node_words w = { .c = c, .t = t, .node = *ret };

	if (!m)
		return NULL;
	w.low = stack->frames[0].sp - MAX_STACK;
	w.high = stack->frames[stack->nframes - 1].sp;
	for (size_t i = m->frame + 1; i-- > 0;)
		stack_search_words(c, s, i, note_node, &w);
	if (w.several)
		return error_new(ERR_CORRUPT, "two tasks seem to be polled");
	*ret = w.node;
	return NULL;
}

struct error *local_pool_find_running(struct collector *c, const struct thread_stack *s,
                                      const struct local_pool_thread *t, struct value *ret,
                                      bool *polls, bool *found)
{
	struct stack_wakers w = { .c = c };
	struct marks marks;

	*ret = (struct value){ t->copy->node, 0 };
	stack_find_marks(c, s, &marks);
	const struct mark *m = stack_innermost(&marks, MARK_TASK_POLL, &local_pool_table);
	*polls = m != NULL;
	for (size_t i = m ? m->frame + 1 : 0; i-- > 0;)
		stack_search_wakers(s, i, &w);
	for (size_t i = 0; ret->type && i < w.n; i++) {
		struct value node = { ret->type, w.data[i] };

		if (map_has(&c->tasks, node.addr) || !is_of_pool(c, t, node))
			continue;
		if (ret->addr && ret->addr != node.addr)
			return error_new(ERR_CORRUPT, "two tasks seem to be polled");
		ret->addr = node.addr;
	}
	if (ret->type && !ret->addr && c->in->layout)
		TRY(find_running_by_words(c, s, t, m, ret));
	*found = ret->addr != 0;
	return NULL;
}
