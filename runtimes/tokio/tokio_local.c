/* Lists and decodes the tasks of tokio's LocalSets. */
#include <inttypes.h>
#include <stdlib.h>

#include "debugger/base/str.h"
#include "runtimes/common/waker.h"
#include "runtimes/tokio/local_set.h"
#include "runtimes/tokio/tokio_root.h"

enum { MAX_NAMED = 16 };

/*
 * tokio/task/local.rs since 1.22; from a LocalSet, a reference to one, its Context, or what it
 * shares with its tasks.
 */
static const char owned_path[] = "context.shared.local_state.owned | shared.local_state.owned"
				 " | ctx.shared.local_state.owned | local_state.owned";
const char local_set_waker_path[] = "context.shared.waker";
static const char shared_waker_path[] =
	"context.shared.waker | shared.waker | ctx.shared.waker | waker";
static const char head_path[] = "inner.list.head";
static const char tail_path[] = "inner.list.tail";
static const char id_path[] = "id";

static struct error *tokio_local_word(struct collector *c, struct value v, const char *expr,
                                      uint64_t *ret)
{
	struct value place;
	bool found;

	*ret = 0;
	TRY(inspector_eval(c->in, v, expr, &place, &found));
	return found ? target_read_uint(c->in->target, place.addr, 8, ret) : NULL;
}

bool local_set_wakes(struct collector *c, struct value set, uint64_t waker)
{
	struct waker w = { 0 };
	struct value place;
	bool found;
	struct error *err = inspector_eval(c->in, set, local_set_waker_path, &place, &found);

	if (!err && found)
		err = waker_read(c, place, &w);
	bool same = !err && w.vtable && w.data == waker;
	error_free(err);
	return same && waker;
}

struct error *local_set_list(struct collector *c, struct value set, uint64_t *list, uint64_t *first)
{
	struct value owned;
	bool found;

	TRY(inspector_eval(c->in, set, owned_path, &owned, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the LocalSet has no list of tasks");
	*list = owned.addr;
	return tokio_local_word(c, owned, head_path, first);
}

const struct task_set_ops local_set_ops = {
	.type = "tokio::task::local::LocalSet",
	.driver = "tokio::task::local::RunUntil",
	.driver_set = "local_set",
	.driver_future = "future",
	.wakes = local_set_wakes,
	.list = local_set_list,
};

/*
 * A runtime with the set's own list id, and a copy of its info: a set's tasks are not counted for
 * the runtime.
 */
struct set_walk {
	struct tokio_runtime runtime;
	struct runtime_info info;
};

static struct error *tokio_local_list_set(struct collector *c, const struct tokio_runtime *r,
                                          struct value owned)
{
	struct set_walk w = { *r, *r->info };
	uint64_t head, tail, id;

	TRY(tokio_local_word(c, owned, head_path, &head));
	TRY(tokio_local_word(c, owned, tail_path, &tail));
	TRY(tokio_local_word(c, owned, id_path, &id));
	w.runtime.info = &w.info;
	w.runtime.owned_id = id;
	if (head)
		tokio_list_chain(c, &w.runtime, head, tail);
	return NULL;
}

static void tokio_local_describe(struct collector *c, struct future *f, struct task *const *tasks,
                                 size_t n)
{
	const char **ids = NEW_ARRAY(c->a, const char *, n);
	STR(text);

	str_printf(&text, "LocalSet of " MARKED_NUMBER("%zu") " task" MARKED_PLURAL("%s"), n,
	           n == 1 ? "" : "s");
	for (size_t i = 0; i < n; i++) {
		ids[i] = tasks[i]->id;
		if (i < MAX_NAMED)
			str_printf(&text, "%s" MARKED_NUMBER("%s"), i ? ", " : ": ", tasks[i]->id);
	}
	str_append(&text, n > MAX_NAMED ? ", ..." : "");
	const char *parts, *phrase = marked_finish(c->a, str_text(&text), &parts);
	if (!f->wait) {
		f->note = phrase;
		return;
	}
	f->wait->phrase = phrase;
	f->wait->phrase_parts = parts;
	f->wait->details = NEW(c->a, struct wait_detail);
	f->wait->ndetails = 1;
	*f->wait->details = (struct wait_detail){ .key = "tasks", .kind = DETAIL_LIST };
	f->wait->details->list = ids;
	f->wait->details->nlist = (unsigned)n;
}

static int tokio_local_by_number(const void *a, const void *b)
{
	const struct task *x = *(struct task *const *)a, *y = *(struct task *const *)b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/*
 * The runtime of the task or thread that polled a set last, which its waker wakes. NO_RUNTIME: that
 * is unknown, or it is none: the set may be polled by any executor.
 */
static unsigned runtime_of_waker(struct collector *c, struct value set)
{
	const struct thread_info *th = NULL;
	const struct task *task = NULL;
	struct waker w = { 0 };
	struct value place;
	bool found;
	struct error *err = inspector_eval(c->in, set, shared_waker_path, &place, &found);

	if (!err && found)
		err = waker_read(c, place, &w);
	if (!err && w.data) {
		task = map_get(&c->tasks, w.data);
		th = map_get(&c->wakers, w.data);
	}
	error_free(err);
	if (task)
		return task->undriven ? NO_RUNTIME : task->runtime;
	return th && th->runtime >= 0 ? (unsigned)th->runtime : NO_RUNTIME;
}

/* The runtime that is known to drive the set; NO_RUNTIME: none is. */
static unsigned driver_of(struct collector *c, const struct task_set *set)
{
	/* A set in a task of another set is driven by what drives that one. */
	if (set->task && set->task->local_set && set->runtime != NO_RUNTIME)
		return set->task->undriven ? NO_RUNTIME : set->task->runtime;
	return set->runtime != NO_RUNTIME ? set->runtime : runtime_of_waker(c, set->v);
}

/* Lists and decodes the tasks of one set, unless the set is known already. */
static void collect_set(struct collector *c, const struct task_set *set, struct map *known)
{
	struct tokio_runtime *driver = tokio_runtime_at(c, driver_of(c, set));
	/* The layouts of its tokio are known by any runtime. */
	struct tokio_runtime *r = driver ? driver : tokio_any_runtime(c);
	task_vec *tasks = &c->listed;
	struct value owned;
	size_t before = tasks->n;
	bool found = false;
	struct error *err = r ? inspector_eval(c->in, set->v, owned_path, &owned, &found) : NULL;

	if (!err && found && map_put(known, owned.addr, NULL))
		err = tokio_local_list_set(c, r, owned);
	else
		found = false;
	if (!r && c->runtimes.n)
		snapshot_incomplete(c->out, "the tasks of a LocalSet are not listed: no tokio "
		                            "runtime was found with it");
	if (err)
		snapshot_incomplete(c->out, "the tasks of a LocalSet: %s", err->message);
	error_free(err);
	tokio_walk(c)->driver = NO_RUNTIME;
	for (size_t i = before; i < tasks->n; i++) {
		tasks->data[i]->local_set = owned.addr;
		tasks->data[i]->undriven = !driver;
		if ((c->want & WANT_TASKS) || tasks->data[i]->state == TASK_RUNNING)
			tokio_decode_task(c, r->tokio, tasks->data[i]);
	}
	for (size_t i = before; !driver && tokio_walk(c)->driver != NO_RUNTIME && i < tasks->n;
	     i++) {
		tasks->data[i]->undriven = false;
		tasks->data[i]->runtime = tokio_walk(c)->driver;
	}
	if (tasks->n > before)
		qsort(tasks->data + before, tasks->n - before, sizeof(*tasks->data),
		      tokio_local_by_number);
	if (found && set->future)
		tokio_local_describe(c, set->future, tasks->data + before, tasks->n - before);
}

/* Adds the set that a thread is polling: no decoded future contains it. */
static void add_current(struct collector *c, const struct tokio_thread *tt, const struct thread *th,
                        unsigned runtime)
{
	const struct tokio *k = tt->tokio;
	struct value v = { k->local_set.type, 0 };
	bool found = false;
	struct error *err;

	if (!v.type)
		return;
	err = target_tls_address(c->in->target, th, k->dm->module, k->local_set.offset, &v.addr,
	                         &found);
	error_free(err);
	if (!err && found)
		*vec_push(&c->task_sets) =
			(struct task_set){ .v = v, .of = &local_set_ops, .runtime = runtime };
}

/* Collects the sets from *next on. Decoding their tasks may add further sets. */
static void tokio_local_collect_from(struct collector *c, size_t *next, struct map *known)
{
	for (; *next < c->task_sets.n; ++*next) {
		struct task_set set = c->task_sets.data[*next];

		if (set.of != &local_set_ops)
			continue;
		collect_set(c, &set, known);
	}
}

/* Collects the tasks of a set that is known by a root only. */
static void collect_root(struct collector *c, const struct tokio_root *root, struct map *known)
{
	struct task_set set = { .v = tokio_root_set(c, root),
		                .of = &local_set_ops,
		                .runtime = NO_RUNTIME };
	uint64_t list = 0, first = 0;
	size_t before = c->listed.n;
	struct error *err = set.v.type ? local_set_list(c, set.v, &list, &first) : NULL;

	error_free(err);
	if (err || !first || map_has(known, list))
		return;
	if (!tokio_walk(c)->nruntimes) {
		snapshot_incomplete(c->out,
		                    "a LocalSet has tasks, but no runtime of tokio was found: "
		                    "they are not listed");
		return;
	}
	collect_set(c, &set, known);
	if (c->listed.n > before)
		*vec_push(&tokio_walk(c)->found_sets) = (struct found_set){ list, root->found_by };
}

void tokio_collect_local_sets(struct collector *c)
{
	const struct tokio_thread *threads = tokio_walk(c)->threads;
	struct map known = { 0 };
	size_t next = 0;

	tokio_local_collect_from(c, &next, &known);
	for (size_t i = 0; i < c->out->nthreads; i++) {
		if (threads[i].tokio && c->out->threads[i].runtime >= 0)
			add_current(c, &threads[i], c->stacks[i].thread,
			            (unsigned)c->out->threads[i].runtime);
	}
	tokio_local_collect_from(c, &next, &known);
	for (size_t i = 0; tokio_of(c->in)->roots && i < tokio_of(c->in)->roots->list.n; i++) {
		const struct tokio_root *root = &tokio_of(c->in)->roots->list.data[i];

		if (root->flavor || !tokio_root_lives(c, root))
			continue;
		collect_root(c, root, &known);
		tokio_local_collect_from(c, &next, &known);
	}
	map_free(&known);
}
