/* Decodes waits for other tasks: tokio::task. */
#include <inttypes.h>

#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "runtimes/common/waker.h"
#include "runtimes/future/leaf_queue.h"
#include "runtimes/model/names.h"
#include "runtimes/tokio/local_set.h"
#include "runtimes/tokio/tokio_leaf.h"
#include "runtimes/tokio/tokio_root.h"

#define JOIN_SET "type:tokio::task::join_set::JoinSet"
#define ENTRY    "type:tokio::util::idle_notified_set::ListEntry"
#define TRACKER  "type:tokio_util::task::task_tracker::TaskTrackerWaitFuture"

enum {
	JOIN_RAW,
	SET_LENGTH,
	SET_NOTIFIED,
	SET_IDLE,
	SET_WAKER,
	ENTRY_NEXT,
	ENTRY_TASK,
	TRACKER_STATE,
	TRACKER_WAKER,
};

const struct binding_row leaf_task_layout[] = {
	[JOIN_RAW] = { "join.raw", "type:tokio::runtime::task::join::JoinHandle", "raw",
	               .optional = true },
	/* from a JoinSet | from the IdleNotifiedSet in it */
	[SET_LENGTH] = { "join_set.length", JOIN_SET, "inner.length | length", .optional = true },
	[SET_NOTIFIED] = { "join_set.notified", JOIN_SET, "inner.lists.notified | lists.notified",
	                   .optional = true },
	[SET_IDLE] = { "join_set.idle", JOIN_SET, "inner.lists.idle | lists.idle",
	               .optional = true },
	[SET_WAKER] = { "join_set.waker", JOIN_SET, "inner.lists.waker | lists.waker",
	                .optional = true },
	[ENTRY_NEXT] = { "join_set.next", ENTRY, "pointers.inner.next.Some.pointer",
	                 .optional = true },
	[ENTRY_TASK] = { "join_set.task", ENTRY, "value.raw", .optional = true },
	[TRACKER_STATE] = { "task_tracker.state", TRACKER, "inner.state", .optional = true },
	[TRACKER_WAKER] = { "task_tracker.waker", TRACKER, "future.waiter.waker",
	                    .optional = true },
	{ 0 },
};

/* A set may have millions of members: beyond these only their number is reported. */
enum { MAX_MEMBERS = 4096, MAX_DIE_ATTRS = 8 };

struct error *leaf_task_read(struct collector *c, uint64_t addr, struct tokio_header *h,
                             struct tokio **ret)
{
	struct error *err = NULL;

	for (struct tokio *k = tokio_of(c->in)->copies; k; k = k->next) {
		error_free(err);
		err = tokio_read_header(c->in->target, k, addr, h);
		*ret = k;
		if (!err)
			break;
	}
	return err;
}

static void leaf_task_describe_job(struct leaf *l, const struct tokio_header *h,
                                   const struct tokio_job *job)
{
	enum task_state state = tokio_task_state(h->state);
	const char *name = job->function ? job->function : "?";

	/* The function of the job may have been merged with others of equal code. */
	if (job->aliases)
		name = arena_printf(l->d->c->a, "%s or one with the same code", name);
	wait_string(l, "job", job->function);
	if (state == TASK_RUNNING && job->thread) {
		wait_int(l, "thread", job->thread);
		wait_phrase(l, "join handle of blocking job %s %s, running on thread #%u",
		            waker_task_text(l->d->c, l->w->task), name, job->thread);
	} else if (job->queued) {
		bool ordered = job->ahead != JOB_NO_ORDER;

		if (ordered)
			wait_int(l, "ahead", (int64_t)job->ahead);
		wait_phrase(l, "join handle of blocking job %s %s, queued%s%s",
		            waker_task_text(l->d->c, l->w->task), name,
		            job->no_thread ? " in a pool without threads" : "",
		            ordered ? leaf_text(l, ", %" PRIu64 " ahead of it", job->ahead) : "");
	} else {
		wait_phrase(l, "join handle of blocking job %s %s (%s)",
		            waker_task_text(l->d->c, l->w->task), name,
		            state == TASK_SCHEDULED ? "queued" : task_state_name(state));
	}
}

struct error *leaf_task_arm(struct leaf *l, const struct tokio *k, const struct tokio_header *h)
{
	struct value trailer = { k->layout.slots[TOKIO_JOIN_WAKER].root, h->trailer }, place;
	bool found;

	/* The waker is uninitialised or being changed unless the bit is set. */
	if (!(h->state & TOKIO_HAS_JOIN_WAKER)) {
		leaf_arm_none(l);
		return NULL;
	}
	TRY(bindings_eval(l->d->c->in->target, &k->layout, TOKIO_JOIN_WAKER, trailer, &place,
	                  &found));
	return found ? leaf_arm(l, place) : NULL;
}

static struct error *leaf_task_decode_join(struct leaf *l)
{
	struct collector *c = l->d->c;
	struct tokio *k = NULL;
	struct tokio_header h;
	struct tokio_job job;

	TRY(leaf_uint(l, l->v, leaf_task_layout[JOIN_RAW].path, &l->w->object));
	if (!tokio_of(c->in)->copies)
		return error_new(ERR_LAYOUT, "tokio was not found");
	TRY(leaf_task_read(c, l->w->object, &h, &k));
	TRY(leaf_task_arm(l, k, &h));
	tokio_lead(c, h.addr, LEAD_JOIN_HANDLE);
	const char *state = task_state_name(tokio_task_state(h.state));
	l->w->task = arena_printf(c->a, "%" PRIu64, h.id);
	wait_string(l, "task_state", state);
	if (tokio_read_job(c, k, &h, &job)) {
		leaf_task_describe_job(l, &h, &job);
		return NULL;
	}
	/* Each copy of tokio counts its own tasks. */
	const struct task *task = map_get(&c->tasks, l->w->object);
	const char *whose = task && tokio_of(c->in)->copies->next
	                            ? leaf_text(l, " of runtime %u", task->runtime)
	                            : "";
	wait_phrase(l, "join handle of task %s%s (%s)", waker_task_text(l->d->c, l->w->task), whose,
	            state);
	return NULL;
}

/* ---- JoinSet ---- */

/* The members found in a set's lists. */
struct leaf_task_members {
	VEC(const char *) ids, states;
	size_t finished;
	bool all; /* none was left out */
};

static struct error *read_member(struct leaf *l, struct value entry, struct leaf_task_members *m)
{
	struct collector *c = l->d->c;
	struct tokio_header h;
	struct tokio *k;
	uint64_t raw;

	TRY(leaf_uint(l, entry, leaf_task_layout[ENTRY_TASK].path, &raw));
	TRY(leaf_task_read(c, raw, &h, &k));
	tokio_lead(c, h.addr, LEAD_JOIN_SET);
	enum task_state state = tokio_task_state(h.state);
	m->finished += state == TASK_COMPLETE;
	*vec_push(&m->ids) = arena_uint(c->a, h.id);
	*vec_push(&m->states) = task_state_name(state);
	return NULL;
}

/* Reads the entries of one of the set's two linked lists. */
static struct error *read_list(struct leaf *l, const char *expr, struct leaf_task_members *m)
{
	struct value list, at, entry;
	bool found;

	TRY(leaf_place(l, l->v, expr, &list, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the set has no lists");
	TRY(leaf_place(l, list, "head.Some.pointer", &at, &found));
	while (found) {
		if (m->ids.n >= MAX_MEMBERS) {
			m->all = false;
			return NULL;
		}
		if (!type_target(at.type))
			return error_new(ERR_LAYOUT, "%s points at no known type",
			                 type_name(at.type));
		entry.type = type_target(at.type);
		TRY(target_read_uint(l->d->c->in->target, at.addr, 8, &entry.addr));
		TRY(read_member(l, entry, m));
		TRY(leaf_place(l, entry, leaf_task_layout[ENTRY_NEXT].path, &at, &found));
	}
	return NULL;
}

static void members_free(struct leaf_task_members *m)
{
	vec_free(&m->ids);
	vec_free(&m->states);
}

static void say_members(struct leaf *l, struct leaf_task_members *m, uint64_t length)
{
	size_t n = m->ids.n;
	STR(text);

	for (size_t i = 0; i < n && i < MAX_DIE_ATTRS; i++)
		str_printf(&text, "%s%s %s", i ? ", " : " " MARKED_BEGIN_LIST "(", m->ids.data[i],
		           m->states.data[i]);
	if (n)
		str_printf(&text, "%s)" MARKED_CLOSE, length > MAX_DIE_ATTRS ? ", ..." : "");
	wait_phrase(l, "join set of %s%s%s%s", leaf_count(l, length, "task"),
	            m->all && m->finished
	                    ? leaf_text(l, ", %zu finished and not joined", m->finished)
	                    : "",
	            m->all ? "" : leaf_text(l, ", only %zu of which were looked at", n),
	            str_text(&text));
}

static struct error *decode_join_set(struct leaf *l)
{
	struct arena *a = l->d->c->a;
	struct leaf_task_members m CLEANUP(members_free) = { .all = true };
	uint64_t length;

	TRY(leaf_uint(l, l->v, leaf_task_layout[SET_LENGTH].path, &length));
	TRY(leaf_arm_at(l, l->v, leaf_task_layout[SET_WAKER].path));
	wait_int(l, "tasks_in_set", (int64_t)length);
	TRY(read_list(l, leaf_task_layout[SET_NOTIFIED].path, &m));
	TRY(read_list(l, leaf_task_layout[SET_IDLE].path, &m));
	if (m.all)
		wait_int(l, "finished", (int64_t)m.finished);
	say_members(l, &m, length);
	size_t n = m.ids.n;
	wait_list(l, "tasks", vec_to_arena(&m.ids, a), n);
	wait_list(l, "states", vec_to_arena(&m.states, a), n);
	return NULL;
}

/* ---- tokio_util's TaskTracker ---- */

static struct error *decode_tracker(struct leaf *l)
{
	uint64_t state;

	/* The lowest bit is "closed", the others count (task/task_tracker.rs, 0.7.10). */
	TRY(leaf_uint(l, l->v, leaf_task_layout[TRACKER_STATE].path, &state));
	TRY(leaf_arm_at(l, l->v, leaf_task_layout[TRACKER_WAKER].path));
	wait_int(l, "tasks_in_set", (int64_t)(state >> 1));
	wait_bool(l, "closed", state & 1);
	wait_phrase(l, "task tracker of %s%s", leaf_count(l, state >> 1, "task"),
	            state & 1 ? "" : ", not closed");
	return NULL;
}

/*
 * A LocalSet that is awaited itself completes when all its tasks do; they are listed later. If it
 * was polled and is not complete, it has a task.
 */
static struct error *decode_local_set(struct leaf *l)
{
	struct collector *c = l->d->c;
	struct tokio_header h;
	struct tokio *k;
	uint64_t first;

	TRY(local_set_list(c, l->v, &l->w->object, &first));
	if (first)
		TRY(leaf_task_read(c, first, &h, &k));
	else if (l->d->strict)
		return error_new(ERR_CORRUPT, "a LocalSet without tasks keeps nobody waiting");
	TRY(leaf_arm_at(l, l->v, local_set_waker_path));
	wait_phrase(l, "LocalSet");
	task_set_met(l->d, &local_set_ops, l->v, l->f);
	return NULL;
}

static struct error *leaf_task_decode_yield(struct leaf *l)
{
	wait_phrase(l, "yielded to other tasks, will be polled again");
	return NULL;
}

const struct leaf_row leaf_task_rows[] = {
	{ .type = "tokio::task::local::LocalSet",
	  .kind = "local_set",
	  .decode = decode_local_set,
	  .proves = true },
	{ .type = "tokio::runtime::task::join::JoinHandle",
	  .kind = "join",
	  .decode = leaf_task_decode_join,
	  .proves = true },
	{ .type = "tokio::task::join_set::JoinSet",
	  .kind = "join_set",
	  .decode = decode_join_set,
	  .resource = true,
	  .owns_tasks = true },
	{ .type = "tokio::util::idle_notified_set::IdleNotifiedSet",
	  .kind = "join_set",
	  .decode = decode_join_set,
	  .resource = true },
	{ .type = "tokio_util::task::task_tracker::TaskTrackerWaitFuture",
	  .kind = "task_tracker",
	  .decode = decode_tracker },
	{ .type = "tokio::task::yield_now::yield_now::{async_fn#0}::YieldNow",
	  .kind = "yield",
	  .decode = leaf_task_decode_yield },
	{ 0 },
};
