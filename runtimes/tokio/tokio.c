/*
 * Paths, by version, to all that is read from tokio's types. The paths resolve on all versions of
 * testdata/run/matrix.sh. A tokio version that moved something needs one more alternative in a row
 * here.
 */
#include "runtimes/tokio/tokio.h"

#include <string.h>

#include "debugger/base/log.h"
#include "debugger/base/str.h"
#include "runtimes/tokio/tokio_root.h"

#define HEADER  "type:tokio::runtime::task::core::Header"
#define TRAILER "type:tokio::runtime::task::core::Trailer"
#define WORKER  "type:tokio::runtime::scheduler::multi_thread::worker::Context"
#define PARK    "unpark.inner.state"

/*
 * "given" is the type of the thread-local. Alternatives read newest first; the comment names
 * versions in that order.
 */
static const struct binding_row rows[TOKIO_NROWS] = {
	/* std's own state beside the value: destroyed at thread exit */
	[TOKIO_TLS_STATE] = { "context.state", "given", "state", .optional = true },
	/* 1.29 | 1.22 */
	[TOKIO_HANDLE_MT] = { "handle.mt", "given",
	                      "current.handle.MultiThread.0 | handle.MultiThread.0",
	                      .optional = true },
	[TOKIO_HANDLE_CT] = { "handle.ct", "given",
	                      "current.handle.CurrentThread.0 | handle.CurrentThread.0" },
	[TOKIO_TASK_ID] = { "context.task_id", "given", "current_task_id.Some" },
	/* 1.29; before, the scheduler has a thread-local of its own */
	[TOKIO_CONTEXT_WORKER] = { "context.worker", "given", "scheduler.inner.MultiThread.0",
	                           .optional = true },
	[TOKIO_WORKER_INDEX] = { "worker.index", WORKER, "worker.index", .optional = true },
	/* all | 1.51.0, 1.52.0: a LIFO slot that can be stolen */
	[TOKIO_WORKER_LIFO] = { "worker.lifo", WORKER, "core.lifo_slot | core.run_queue.inner.lifo",
	                        .optional = true },

	/* the Arc's target, and its strong count */
	[TOKIO_MT_HANDLE] = { "mt.handle", "handle.mt", "data", .optional = true },
	[TOKIO_MT_STRONG] = { "mt.strong", "handle.mt", "strong", .optional = true },
	[TOKIO_MT_SHARED] = { "mt.shared", "mt.handle", "shared", .optional = true },
	[TOKIO_MT_OWNED] = { "mt.owned", "mt.handle", "shared.owned", .optional = true },
	/* 1.35: sharded */
	[TOKIO_MT_SHARDS] = { "mt.shards", "mt.owned", "list.lists", .optional = true },
	[TOKIO_MT_SHARD_HEAD] = { "mt.shard.head", "mt.shards[]", "head", .optional = true },
	/* 1.29 to 1.34 | 1.9 to 1.28 */
	[TOKIO_MT_LIST_HEAD] = { "mt.list.head", "mt.owned",
	                         "inner.list.list.head | inner.list.head", .optional = true },
	[TOKIO_MT_SHARD_TAIL] = { "mt.shard.tail", "mt.shards[]", "tail", .optional = true },
	[TOKIO_MT_LIST_TAIL] = { "mt.list.tail", "mt.owned",
	                         "inner.list.list.tail | inner.list.tail", .optional = true },
	[TOKIO_MT_OWNED_ID] = { "mt.owned.id", "mt.owned", "id", .optional = true },
	/* 1.35 | before */
	[TOKIO_MT_CLOSED] = { "mt.closed", "mt.owned", "closed | inner.closed", .optional = true },
	/* 1.35 | 1.29 to 1.34 */
	[TOKIO_MT_COUNT] = { "mt.count", "mt.owned", "list.count | inner.list.count",
	                     .optional = true },
	/* 1.51 */
	[TOKIO_MT_NAME] = { "mt.name", "mt.handle", "name.Some", .optional = true },
	[TOKIO_MT_REMOTES] = { "mt.remotes", "mt.handle", "shared.remotes", .optional = true },
	[TOKIO_QUEUE_HEAD] = { "queue.head", "mt.remotes[]", "steal.head", .optional = true },
	[TOKIO_QUEUE_TAIL] = { "queue.tail", "mt.remotes[]", "steal.tail", .optional = true },
	[TOKIO_PARK_STATE] = { "park.state", "mt.remotes[]", PARK, .optional = true },
	/* 1.54 | before */
	[TOKIO_MT_INJECT] = { "mt.inject", "mt.handle",
	                      "shared.inject.Locked.0.shared.len | shared.inject.len",
	                      .optional = true },
	[TOKIO_MT_BLOCKING_THREADS] = { "mt.blocking.threads", "mt.handle",
	                                "blocking_spawner.inner.metrics.num_threads",
	                                .optional = true },
	[TOKIO_MT_BLOCKING_IDLE] = { "mt.blocking.idle", "mt.handle",
	                             "blocking_spawner.inner.metrics.num_idle_threads",
	                             .optional = true },
	[TOKIO_MT_BLOCKING_QUEUE] = { "mt.blocking.queue", "mt.handle",
	                              "blocking_spawner.inner.metrics.queue_depth",
	                              .optional = true },
	/* 1.54 | before; 1.52.0 has shards only */
	[TOKIO_MT_BLOCKING_JOBS] = { "mt.blocking.jobs", "mt.handle",
	                             "blocking_spawner.inner.inner_impl.Locked.0.mutex.queue"
	                             " | blocking_spawner.inner.shared.queue",
	                             .optional = true },
	/* 1.54, by an option of the builder | 1.52.0 */
	[TOKIO_MT_BLOCKING_SHARDS] = { "mt.blocking.shards", "mt.handle",
	                               "blocking_spawner.inner.inner_impl.Sharded.0.shards"
	                               " | blocking_spawner.inner.queue.shards",
	                               .optional = true },
	[TOKIO_MT_BLOCKING_LIMIT] = { "mt.blocking.limit", "mt.handle",
	                              "blocking_spawner.inner.thread_cap", .optional = true },
	/* with tokio's test-util only: None while time::pause() is in force */
	[TOKIO_MT_CLOCK_UNFROZEN] = { "mt.clock.unfrozen", "mt.handle",
	                              "driver.clock.inner.unfrozen", .optional = true },
	/* 1.30; before, a slab */
	[TOKIO_MT_REGISTRATIONS] = { "mt.registrations", "mt.handle",
	                             "driver.io.Enabled.0.synced.registrations.head.Some.0",
	                             .optional = true },
	[TOKIO_MT_TIME_START] = { "mt.time.start", "mt.handle",
	                          "driver.time.time_source.start_time", .optional = true },
	/* 1.49 | 1.45, 1.24 to 1.37 | 1.38 to 1.44 are sharded and have no single clock */
	[TOKIO_MT_TIME_ELAPSED] = { "mt.time.elapsed", "mt.handle",
	                            "driver.time.inner.Traditional.state.wheel.elapsed"
	                            " | driver.time.inner.state.wheel.elapsed"
	                            " | driver.time.inner.state.elapsed",
	                            .optional = true },

	[TOKIO_CT_HANDLE] = { "ct.handle", "handle.ct", "data" },
	[TOKIO_CT_STRONG] = { "ct.strong", "handle.ct", "strong" },
	[TOKIO_CT_SHARED] = { "ct.shared", "ct.handle", "shared" },
	[TOKIO_CT_OWNED] = { "ct.owned", "ct.handle", "shared.owned" },
	[TOKIO_CT_SHARDS] = { "ct.shards", "ct.owned", "list.lists", .optional = true },
	[TOKIO_CT_SHARD_HEAD] = { "ct.shard.head", "ct.shards[]", "head", .optional = true },
	[TOKIO_CT_LIST_HEAD] = { "ct.list.head", "ct.owned",
	                         "inner.list.list.head | inner.list.head", .optional = true },
	[TOKIO_CT_SHARD_TAIL] = { "ct.shard.tail", "ct.shards[]", "tail", .optional = true },
	[TOKIO_CT_LIST_TAIL] = { "ct.list.tail", "ct.owned",
	                         "inner.list.list.tail | inner.list.tail", .optional = true },
	[TOKIO_CT_OWNED_ID] = { "ct.owned.id", "ct.owned", "id" },
	/* 1.35 | before */
	[TOKIO_CT_CLOSED] = { "ct.closed", "ct.owned", "closed | inner.closed", .optional = true },
	[TOKIO_CT_COUNT] = { "ct.count", "ct.owned", "list.count | inner.list.count",
	                     .optional = true },
	[TOKIO_CT_NAME] = { "ct.name", "ct.handle", "name.Some", .optional = true },
	/* 1.51; since 1.41 with tokio_unstable: the thread of a LocalRuntime */
	[TOKIO_CT_LOCAL] = { "ct.local", "ct.handle", "local_tid.Some", .optional = true },
	/* 1.29; before, a queue behind a mutex that keeps no separate length */
	[TOKIO_CT_INJECT] = { "ct.inject", "ct.handle", "shared.inject.shared.len",
	                      .optional = true },
	[TOKIO_CT_BLOCKING_THREADS] = { "ct.blocking.threads", "ct.handle",
	                                "blocking_spawner.inner.metrics.num_threads",
	                                .optional = true },
	[TOKIO_CT_BLOCKING_IDLE] = { "ct.blocking.idle", "ct.handle",
	                             "blocking_spawner.inner.metrics.num_idle_threads",
	                             .optional = true },
	[TOKIO_CT_BLOCKING_QUEUE] = { "ct.blocking.queue", "ct.handle",
	                              "blocking_spawner.inner.metrics.queue_depth",
	                              .optional = true },
	/* 1.54 | before; 1.52.0 has shards only */
	[TOKIO_CT_BLOCKING_JOBS] = { "ct.blocking.jobs", "ct.handle",
	                             "blocking_spawner.inner.inner_impl.Locked.0.mutex.queue"
	                             " | blocking_spawner.inner.shared.queue",
	                             .optional = true },
	/* 1.54, by an option of the builder | 1.52.0 */
	[TOKIO_CT_BLOCKING_SHARDS] = { "ct.blocking.shards", "ct.handle",
	                               "blocking_spawner.inner.inner_impl.Sharded.0.shards"
	                               " | blocking_spawner.inner.queue.shards",
	                               .optional = true },
	[TOKIO_CT_BLOCKING_LIMIT] = { "ct.blocking.limit", "ct.handle",
	                              "blocking_spawner.inner.thread_cap", .optional = true },
	/* with tokio's test-util only: None while time::pause() is in force */
	[TOKIO_CT_CLOCK_UNFROZEN] = { "ct.clock.unfrozen", "ct.handle",
	                              "driver.clock.inner.unfrozen", .optional = true },
	/* 1.30; before, a slab */
	[TOKIO_CT_REGISTRATIONS] = { "ct.registrations", "ct.handle",
	                             "driver.io.Enabled.0.synced.registrations.head.Some.0",
	                             .optional = true },
	[TOKIO_CT_TIME_START] = { "ct.time.start", "ct.handle",
	                          "driver.time.time_source.start_time", .optional = true },
	[TOKIO_CT_TIME_ELAPSED] = { "ct.time.elapsed", "ct.handle",
	                            "driver.time.inner.Traditional.state.wheel.elapsed"
	                            " | driver.time.inner.state.wheel.elapsed"
	                            " | driver.time.inner.state.elapsed",
	                            .optional = true },

	[TOKIO_STATE] = { "task.state", HEADER, "state.val" },
	[TOKIO_POLL] = { "task.poll", HEADER, "vtable.poll" },
	[TOKIO_TRAILER_OFFSET] = { "task.trailer", HEADER, "vtable.trailer_offset" },
	[TOKIO_ID_OFFSET] = { "task.id", HEADER, "vtable.id_offset" },
	[TOKIO_SCHEDULER_OFFSET] = { "task.scheduler", HEADER, "vtable.scheduler_offset",
	                             .optional = true },
	[TOKIO_OWNER_ID] = { "task.owner", HEADER, "owner_id" },
	[TOKIO_NEXT] = { "task.next", TRAILER, "owned.next" },
	[TOKIO_PREV] = { "task.prev", TRAILER, "owned.prev" },
	[TOKIO_JOIN_WAKER] = { "task.join_waker", TRAILER, "waker", .optional = true },
};

#define FLAVOR(f, p)                                                                               \
	{                                                                                          \
		.scheduler = f, .arc = TOKIO_HANDLE_##p, .handle = TOKIO_##p##_HANDLE,             \
		.strong = TOKIO_##p##_STRONG, .closed = TOKIO_##p##_CLOSED,                        \
		.shared = TOKIO_##p##_SHARED, .owned = TOKIO_##p##_OWNED,                          \
		.shards = TOKIO_##p##_SHARDS, .shard_head = TOKIO_##p##_SHARD_HEAD,                \
		.shard_tail = TOKIO_##p##_SHARD_TAIL, .list_head = TOKIO_##p##_LIST_HEAD,          \
		.list_tail = TOKIO_##p##_LIST_TAIL, .owned_id = TOKIO_##p##_OWNED_ID,              \
		.count = TOKIO_##p##_COUNT, .name = TOKIO_##p##_NAME,                              \
		.inject = TOKIO_##p##_INJECT, .blocking_threads = TOKIO_##p##_BLOCKING_THREADS,    \
		.blocking_idle = TOKIO_##p##_BLOCKING_IDLE,                                        \
		.blocking_queue = TOKIO_##p##_BLOCKING_QUEUE,                                      \
		.blocking_jobs = TOKIO_##p##_BLOCKING_JOBS,                                        \
		.blocking_shards = TOKIO_##p##_BLOCKING_SHARDS,                                    \
		.blocking_limit = TOKIO_##p##_BLOCKING_LIMIT,                                      \
		.time_start = TOKIO_##p##_TIME_START, .time_elapsed = TOKIO_##p##_TIME_ELAPSED,    \
		.clock_unfrozen = TOKIO_##p##_CLOCK_UNFROZEN,                                      \
		.registrations = TOKIO_##p##_REGISTRATIONS,                                        \
	}
const struct tokio_flavor tokio_flavors[2] = {
	FLAVOR(TOKIO_MULTI_THREAD, MT),
	FLAVOR(TOKIO_CURRENT_THREAD, CT),
};

static const char context_path[] = "tokio::runtime::context::CONTEXT";
static const char parker_path[] = "tokio::runtime::park::CURRENT_PARKER";
static const char local_set_path[] = "tokio::task::local::CURRENT";
static const char worker_path[] = "tokio::runtime::scheduler::multi_thread::worker::CURRENT";

/* The first thread-local of that path; type NULL: none. */
static struct thread_local tokio_find_tls(struct inspector *in, struct dwarf_module *dm,
                                          const char *path)
{
	struct thread_local *found;
	size_t n;
	const char *doubt;
	struct error *err = lookup_thread_locals(dm, path, &in->arena, &found, &n, &doubt);

	error_free(err);
	return !err && n ? found[0] : (struct thread_local){ 0 };
}

static void tokio_add(struct inspector *in, const struct thread_local *context)
{
	struct tokio *k = NEW(&in->arena, struct tokio);
	struct tokio **end = &tokio_of(in)->copies;

	k->dm = context->dm;
	k->module = str_base_name(context->dm->module->path);
	k->version = lookup_crate_version(k->dm, "tokio");
	k->context = *context;
	bindings_resolve(&in->arena, k->dm, context->type, rows, TOKIO_NROWS, &k->layout);
	if (!bindings_has(&k->layout, TOKIO_CONTEXT_WORKER))
		k->worker_tls = tokio_find_tls(in, k->dm, worker_path);
	k->parker = tokio_find_tls(in, k->dm, parker_path);
	k->local_set = tokio_find_tls(in, k->dm, local_set_path);
	while (*end)
		end = &(*end)->next;
	*end = k;
}

/*
 * Is it tokio's context, and not a thread-local that std adds beside it (STATE, destructor flags)?
 */
static bool holds_context(const struct type *t)
{
	SCRATCH(tmp);
	const struct path *p;
	struct error *err;

	if (!t)
		return false;
	err = path_resolve(&tmp, t, "current_task_id", &p);
	error_free(err);
	return err == NULL;
}

void tokio_detect(struct inspector *in, struct dwarf_module *dm)
{
	struct thread_local *found;
	const char *doubt;
	size_t n;

	/* Without thread-locals there is no context. */
	if (dm->module->tls_memsz == 0 || debuginfo_is_system(dm->module))
		return;
	struct error *err = lookup_thread_locals(dm, context_path, &in->arena, &found, &n, &doubt);
	if (err) {
		LOG("tokio", "%s: %s", dm->module->path, err->message);
		error_free(err);
		return;
	}
	if (doubt)
		inspector_note(in, arena_printf(&in->arena, "%s: tokio's thread-local context: %s",
		                                dm->module->path, doubt));
	for (size_t i = 0; i < n; i++) {
		if (holds_context(found[i].type))
			tokio_add(in, &found[i]);
	}
}

void tokio_close(struct inspector *in)
{
	tokio_roots_close(in);
	for (struct tokio *k = tokio_of(in)->copies; k; k = k->next) {
		map_free(&k->plans);
		map_free(&k->vtables);
		arena_free(&k->vtables_arena);
	}
}

/* ---- collecting ---- */

/*
 * Fills the current time. A core may have none: then the latest tick of any runtime's timers is a
 * lower bound.
 */
static void find_clock(struct collector *c, struct tokio_runtime *runtimes, size_t n)
{
	struct target *t = c->in->target;

	c->clock.timers_run = true;

	for (size_t i = 0; i < n; i++)
		c->clock.paused |= tokio_clock_is_paused(t, &runtimes[i]);
	if (t->clock.known) {
		c->clock.now_ns = t->clock.monotonic_ns;
		c->clock.known = true;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t ns;
		struct error *err = tokio_timer_now(c->in, &runtimes[i], &ns);

		c->clock.timers_run &= tokio_waits_for_timers(c, &runtimes[i]);
		if (!err && ns > c->clock.now_ns) {
			c->clock.now_ns = ns;
			c->clock.known = c->clock.is_bound = true;
		}
		error_free(err);
	}
}

/*
 * The futures of tasks refer to further runtimes, and show how each was found. Where a runtime
 * exists that no thread has entered, all tasks are decoded, so that each command reports the same.
 */
static void want_leads(struct collector *c)
{
	for (size_t i = 0; i < tokio_walk(c)->nruntimes; i++)
		c->want |= tokio_walk(c)->runtimes[i].root ? WANT_TASKS : 0;
}

void tokio_list(struct collector *c)
{
	struct tokio_walk *w = tokio_walk(c);

	if (!tokio_of(c->in)->copies)
		return;
	w->threads = NEW_ARRAY(&c->scratch, struct tokio_thread, c->in->target->nthreads);
	for (struct tokio *k = tokio_of(c->in)->copies; k; k = k->next)
		tokio_forget_vtables(k);
	tokio_read_threads(c, w->threads);
	tokio_find_runtimes(c, w->threads, &w->runtimes, &w->nruntimes);
	tokio_note_wakers(c, w->threads);
	want_leads(c);
	for (size_t i = 0; i < w->nruntimes; i++)
		tokio_list_tasks(c, &w->runtimes[i]);
	find_clock(c, w->runtimes, w->nruntimes);
}

void tokio_decode(struct collector *c, struct task *task)
{
	tokio_decode_task(c, tokio_runtime_at(c, task->runtime)->tokio, task);
}

void tokio_follow(struct collector *c)
{
	size_t before = c->listed.n;

	tokio_collect_local_sets(c);
	if (c->listed.n != before) {
		collector_publish_tasks(c);
		tokio_link_running(c);
	}
	if (c->want & WANT_TASKS)
		tokio_list_jobs(c);
	if (!c->few)
		tokio_follow_leads(c);
}
