/* Events of tasks and threads, decoded from the records of the kernel. */
#include <inttypes.h>
#include <string.h>

#include "debugger/base/clock.h"
#include "debugger/base/log.h"
#include "runtimes/common/call_site.h"
#include "runtimes/trace/trace_key.h"
#include "runtimes/trace/trace_private.h"
#include "runtimes/trace/worker_job.h"

static const struct trace_point *trace_events_point_at(const struct trace *t, uint64_t index)
{
	return index < t->plan.n ? &t->plan.points[index] : NULL;
}

/* The point of the poll function that a table has; by the file, where tables are constants. */
static const struct trace_point *poll_of_table(struct trace *t, const struct trace_point *p,
                                               uint64_t table)
{
	if (!table)
		return NULL;
	if (!map_has(&t->tables, table)) {
		uint64_t bias = trace_load_bias(t, p->code);
		uint64_t poll = code_map_pointer(p->code, table + p->id->poll_slot - bias) + bias;

		map_put(&t->tables, table, map_get(&t->polls, poll));
	}
	return trace_events_point_at(t, (uintptr_t)map_get(&t->tables, table) - 1);
}

/* The type of a task whose poll function serves several types, by its table; NULL: unknown. */
static const char *type_of_table(struct trace *t, const struct trace_point *p, uint64_t table)
{
	if (!p->runtime->tracing.type_of_table || !table)
		return NULL;
	if (!map_has(&t->types, table)) {
		const char *name = p->runtime->tracing.type_of_table(
			t->in, p->code, table - trace_load_bias(t, p->code));

		map_put(&t->types, table,
		        name ? (void *)(uintptr_t)inspector_clean_name(&t->arena, name) : NULL);
	}
	return map_get(&t->types, table);
}

static void trace_events_set_task(struct trace *t, struct trace_item *item,
                                  const struct trace_point *poll, uint64_t table)
{
	if (!poll)
		return;
	item->type = poll->type ? poll->type : type_of_table(t, poll, table);
	item->job = poll->job;
}

/*
 * Whether an event is passed on: one of which only some can be seen is not, but for ends, each of
 * which says whether it was seen itself.
 */
static bool is_shown(const struct trace *t, enum trace_event event)
{
	bool is_end =
		event == TRACE_POLL_END || event == TRACE_WORKER_STOP || event == TRACE_UNPARK;

	return t->options.events[event] &&
	       (event == TRACE_USDT || (t->has && t->has[event]) || is_end);
}

static bool trace_events_pass(struct trace *t, struct trace_item *item)
{
	if (!is_shown(t, item->event))
		return true;
	trace_threads_fill(&t->threads, item);
	t->totals.events++;
	return t->visit(item, t->arg);
}

/* Whether a task was not seen before. table: of its functions; 0: unknown. */
static bool is_new_task(struct trace *t, const struct trace_point *p, uint64_t task, uint64_t table)
{
	if (!p->kernel.is_own_id)
		return id_set_add(&t->seen, task);
	struct task_life *life = task_lives_at(&t->lives, task);
	/* Another table means another type: the earlier task at this address has ended unseen. */
	if (table && life->table && table != life->table)
		life->lives = false;
	bool is_new = task_lives_begin(&t->lives, task);
	life->table = table ? table : life->table;
	return is_new;
}

static const struct source_place *trace_events_spawn_site(struct trace *t,
                                                          const struct trace_point *p,
                                                          uint64_t table, uint64_t location);

/* Place where the task of a call was spawned, if it records that; NULL: unknown. copy: behind r. */
static const struct source_place *spawn_site_of_call(struct trace *t, const struct trace_point *p,
                                                     const struct probe_record *r,
                                                     const unsigned char *copy)
{
	uint64_t words[2]; /* the table, and the address of the Location */

	if (!p->kernel.behind_id || r->kind != PROBE_CALL || r->copied != sizeof(words))
		return NULL;
	memcpy(words, copy, sizeof(words));
	return words[0] && words[1] ? trace_events_spawn_site(t, p, words[0], words[1]) : NULL;
}

/*
 * Passes on the spawn of a task that another event shows first, because its function was inlined,
 * or was called before the points were there. r: the record of that event, with its copy.
 */
static bool pass_unseen_spawn(struct trace *t, const struct trace_point *p,
                              const struct trace_item *item, uint64_t table,
                              const struct probe_record *r, const unsigned char *copy)
{
	struct trace_item spawn = *item;
	bool before = item->time < t->interval.known;

	/* Addresses are followed from the first record on: another task may get one. */
	if (!item->task || (before && !p->kernel.is_own_id) ||
	    !is_new_task(t, p, item->task, table) || before)
		return true;
	spawn.event = TRACE_SPAWN;
	spawn.late = true;
	spawn.ready = false;
	spawn.poll_ns = spawn.at_most_ns = spawn.off_ns = spawn.by = 0;
	spawn.spawned_at = spawn_site_of_call(t, p, r, copy);
	return trace_events_pass(t, &spawn);
}

static enum trace_event event_of_call(const struct trace_point *p, bool ends)
{
	if (p->role == TRACE_AT_PARK)
		return ends ? TRACE_UNPARK : TRACE_PARK;
	if (p->job == TRACE_WORKER)
		return ends ? TRACE_WORKER_STOP : TRACE_WORKER_START;
	return ends ? TRACE_POLL_END : TRACE_POLL_START;
}

/* The table that follows the record of a call; 0: unknown. */
static uint64_t table_of_call(const struct trace_point *p, const struct probe_record *r,
                              const unsigned char *copy)
{
	uint64_t table = 0;

	if (p->kernel.is_own_id && r->kind == PROBE_CALL && r->copied == sizeof(table))
		memcpy(&table, copy, sizeof(table));
	return table;
}

/* Whether bytes copied from a task may be of a later poll, or of another task there. */
static bool is_stale(struct trace *t, const struct trace_point *p, const struct trace_item *item)
{
	if (!p->kernel.is_own_id)
		return false;
	const struct task_life *life = task_lives_at(&t->lives, item->task);
	return !life->lives || life->tid != item->tid;
}

static void trace_events_end_call(struct trace *t, const struct trace_point *p,
                                  const struct probe_record *r, const unsigned char *copy,
                                  struct trace_item *item)
{
	uint64_t ns = clock_between(r->start, r->time);

	item->ready = r->flags & PROBE_FINISHED;
	item->late = r->flags & PROBE_LATE;
	item->poll_ns = item->late ? 0 : ns;
	item->at_most_ns = item->late ? ns : 0;
	item->ready_known = p->has[TRACE_TERMINATE] && !(item->late && p->kernel.has_result);
	t->totals.unmatched += item->late;
	if (p->kernel.is_own_id && !p->type)
		item->type = type_of_table(t, p, task_lives_at(&t->lives, item->task)->table);
	if (p->places && r->copied && !is_stale(t, p, item))
		item->place = place_of(&t->places, t->in, &t->arena, p->places, copy, r->copied);
}

static bool trace_events_begin_call(struct trace *t, const struct trace_point *p,
                                    const struct probe_record *r, const unsigned char *copy,
                                    struct trace_item *item)
{
	const uint64_t table = table_of_call(p, r, copy);

	if (r->flags & PROBE_NEW_RETURN)
		*vec_push(&t->returns) = r->start;
	if (item->event != TRACE_POLL_START)
		return true;
	bool goes_on = pass_unseen_spawn(t, p, item, table, r, copy);
	if (p->kernel.is_own_id && item->task) {
		struct task_life *life = task_lives_at(&t->lives, item->task);

		life->tid = item->tid;
		life->queued = false;
		life->polled = true;
	}
	return goes_on;
}

/* Passes on the end of a task that the result of its poll shows. */
static bool pass_returned_end(struct trace *t, const struct trace_point *p,
                              const struct trace_item *item)
{
	struct trace_item end = *item;

	if (p->kernel.is_own_id && item->task)
		task_lives_at(&t->lives, item->task)->polled = false;
	if (!p->kernel.has_result || !item->ready || !item->task)
		return true;
	end.event = TRACE_TERMINATE;
	end.poll_ns = end.at_most_ns = end.off_ns = 0;
	end.ready = end.ready_known = false;
	task_lives_end(&t->lives, item->task);
	return trace_events_pass(t, &end);
}

/* Records that the thread begins to run a worker, if the call is that of its job. */
static void begin_worker(struct trace *t, const struct trace_point *p, const struct probe_record *r,
                         const unsigned char *copy, const struct trace_item *item)
{
	struct worker_identity who;

	if (item->event == TRACE_WORKER_START)
		trace_threads_begin(&t->threads, item->tid,
		                    p->worker && worker_job_read(p->worker, copy, r->copied, &who)
		                            ? &who
		                            : NULL);
}

/* Handles the start or the end of a call. */
static bool take_call(struct trace *t, const struct trace_point *p, const struct probe_record *r,
                      const unsigned char *copy, struct trace_item *item)
{
	bool ends = r->kind == PROBE_RETURN;

	if (p->has_none && (uint32_t)r->object != p->none)
		return true;
	uint64_t table = table_of_call(p, r, copy);

	item->event = event_of_call(p, ends);
	item->off_ns = t->options.off_times ? r->table : 0;
	if (p->role == TRACE_AT_PARK)
		item->task = 0;
	else
		trace_events_set_task(t, item, p, table);
	if (!ends) {
		begin_worker(t, p, r, copy, item);
		return trace_events_begin_call(t, p, r, copy, item) && trace_events_pass(t, item);
	}
	trace_events_end_call(t, p, r, copy, item);
	bool goes_on = pass_returned_end(t, p, item) &&
	               (item->poll_ns < t->options.min_ns || trace_events_pass(t, item));
	if (item->event == TRACE_WORKER_STOP)
		trace_threads_end(&t->threads, item->tid);
	return goes_on;
}

/*
 * Whether a hit is a wake-up. A point that other functions reach too is also hit when a task that
 * is spawned or yields is put into the queue at once.
 */
static bool trace_events_is_wake(struct trace *t, const struct trace_point *p,
                                 const struct trace_item *item)
{
	bool spawned = t->spawned == item->task && t->spawned_on == item->tid;

	if (spawned)
		t->spawned = 0;
	return !p->shared || (!spawned && item->by != item->task);
}

static bool trace_events_take_end(struct trace *t, const struct trace_point *p,
                                  const struct probe_record *r, struct trace_item *item)
{
	item->event = TRACE_TERMINATE;
	bool goes_on =
		pass_unseen_spawn(t, p, item, r->table, r, NULL) && trace_events_pass(t, item);
	if (p->kernel.is_own_id && item->task)
		task_lives_end(&t->lives, item->task);
	return goes_on;
}

/* Handles a use of a waker. */
static bool take_use(struct trace *t, const struct trace_point *p, struct trace_item *item)
{
	item->event = TRACE_WAKE;
	if (p->queues && item->task) {
		struct task_life *life = task_lives_at(&t->lives, item->task);
		bool slept = life->lives && !life->polled && !life->queued;

		life->queued = true;
		if (slept && !trace_events_pass(t, item))
			return false;
	}
	item->used = true;
	return !t->options.wakers || trace_events_pass(t, item);
}

/* ---- where tasks are spawned ---- */

enum { MAX_NAME = 4096, MAX_SITES = 65536 };

/* The text of the file at a link-time address; NULL: it is none. */
static char *trace_events_text_at(const struct code_map *code, struct arena *a, uint64_t address,
                                  uint64_t len)
{
	if (!address || !len || len > MAX_NAME)
		return NULL;
	char *text = NEW_ARRAY(a, char, len + 1);
	for (uint64_t i = 0; i < len; i++) {
		uint64_t byte;

		if (!debuginfo_initial_number(code->dm, address + i, 1, &byte))
			return NULL;
		text[i] = (char)byte;
	}
	return text;
}

/* Whether tasks with that table have the address where the program's point reads it. */
static bool has_location(const struct trace_point *p, uint64_t table)
{
	const struct probe_id *id = p->id;

	return code_map_pointer(p->code, table + id->location.slot) ==
	       code_map_pointer(p->code, table + id->id_slot) + id->location.behind_id;
}

static void read_site(struct trace *t, const struct trace_point *p, uint64_t location,
                      struct source_place *ret)
{
	const struct probe_location *l = &p->id->location;
	uint64_t name = code_map_pointer(p->code, location + l->file), len, line;

	if (!debuginfo_initial_number(p->code->dm, location + l->file + sizeof(name), sizeof(len),
	                              &len) ||
	    !debuginfo_initial_number(p->code->dm, location + l->line, sizeof(uint32_t), &line) ||
	    !line)
		return;
	const char *file = trace_events_text_at(p->code, &t->arena, name, len);
	if (!file || !*file)
		return;
	*ret = (struct source_place){ .file = file, .line = (unsigned)line };
	ret->file_short = inspector_location(t->in, &t->arena, p->code->dm, file).text;
}

/*
 * Place where a task was spawned, from the Location at a run-time address, which a task with that
 * table has. NULL: the address is no constant of the module that has the point.
 */
static const struct source_place *trace_events_spawn_site(struct trace *t,
                                                          const struct trace_point *p,
                                                          uint64_t table, uint64_t location)
{
	uint64_t bias = trace_load_bias(t, p->code);
	struct source_place *place = map_get(&t->sites, location);

	if (!place) {
		if (t->sites.n >= MAX_SITES || !debuginfo_is_constant(p->code->dm, location - bias))
			return NULL;
		place = NEW(&t->arena, struct source_place);
		map_put(&t->sites, location, place);
		if (has_location(p, table - bias))
			read_site(t, p, location - bias, place);
		else
			LOG("trace", "the table 0x%" PRIx64 " tells no location", table - bias);
	}
	return place->line ? place : NULL;
}

/* Place where a task was spawned, from the calls that led there; NULL: unknown. */
static const struct source_place *spawn_call(struct trace *t, const struct trace_point *p,
                                             const unsigned char *copy, size_t len)
{
	uint64_t addresses[PROBE_MAX_PATH], key = map_key_on(p->address, copy, len);
	struct source_place *place = map_get(&t->ways, key);
	size_t n = len / sizeof(*addresses);

	if (!place) {
		if (t->ways.n >= MAX_SITES || n > PROBE_MAX_PATH)
			return NULL;
		memcpy(addresses, copy, n * sizeof(*addresses));
		place = NEW(&t->arena, struct source_place);
		map_put(&t->ways, key, place);
		call_site_of_spawn(t->in, p->runtime, p->code, p->entry, p->stored_at, addresses, n,
		                   &t->arena, place);
		LOG("trace", "a spawn at %s:%u, by %zu calls, the last returns to 0x%" PRIx64,
		    place->file ? place->file : "?", place->line, n, n ? addresses[n - 1] : 0);
	}
	return place->line ? place : NULL;
}

/* Sets the place of a spawn from the copy behind its record. */
static void set_site(struct trace *t, const struct trace_point *p, const struct probe_record *r,
                     const unsigned char *copy, struct trace_item *item)
{
	uint64_t location;

	if (p->kernel.path_from) {
		item->spawned_at = r->copied ? spawn_call(t, p, copy, r->copied) : NULL;
		return;
	}
	if (r->copied != sizeof(location))
		return;
	memcpy(&location, copy, sizeof(location));
	item->spawned_at = trace_events_spawn_site(t, p, r->table, location);
}

/* ---- records ---- */

static bool take_object(struct trace *t, const struct trace_point *p, const struct probe_record *r,
                        const unsigned char *copy, struct trace_item *item)
{
	const struct trace_point *poll = poll_of_table(t, p, r->table);

	/* The exchanged word is the state of a task only if the table is a task's. */
	if (p->kernel.exchange.used && !poll)
		return true;
	trace_events_set_task(t, item, poll, r->table);
	if (item->job == TRACE_WORKER)
		return true;
	switch (p->role) {
	case TRACE_AT_SPAWN:
		item->event = TRACE_SPAWN;
		if (!is_new_task(t, p, item->task, r->table))
			return true;
		t->spawned = item->task;
		t->spawned_on = item->tid;
		set_site(t, p, r, copy, item);
		return trace_events_pass(t, item);
	case TRACE_AT_WAKE:
		item->event = TRACE_WAKE;
		return !trace_events_is_wake(t, p, item) || trace_events_pass(t, item);
	case TRACE_AT_WAKER:
		return take_use(t, p, item);
	default:
		return trace_events_take_end(t, p, r, item);
	}
}

/* Handles a hit of a static probe of the program itself; item->by is known. */
static bool take_static(struct trace *t, const struct probe_record *r, const unsigned char *copy,
                        struct trace_item *item)
{
	SCRATCH(tmp);
	struct trace_hit hit;

	trace_usdt_hit(&t->statics.probes[r->point - FIRST_STATIC], r, copy, &tmp, &hit);
	item->event = TRACE_USDT;
	item->task = item->by;
	if (item->by)
		trace_events_set_task(t, item, trace_events_point_at(t, r->by_point), 0);
	item->hit = &hit;
	return trace_events_pass(t, item);
}

bool trace_take(const struct probe_record *r, const unsigned char *copy, void *arg)
{
	struct trace *t = arg;
	const struct trace_point *p = trace_events_point_at(t, r->point);
	const struct trace_point *outer = trace_events_point_at(t, r->by_point);
	struct trace_item item = { .time = r->time, .tid = (pid_t)r->tid, .task = r->id };

	bool is_static = r->kind == PROBE_PLACE && r->point >= FIRST_STATIC &&
	                 r->point - FIRST_STATIC < t->statics.n;

	t->interval.read_to = r->time > t->interval.read_to ? r->time : t->interval.read_to;
	if ((!p && !is_static) || (t->interval.detached && r->time > t->interval.end))
		return true;
	t->has = p ? p->has : NULL;
	if (p && p->kernel.is_own_id)
		item.task = trace_key_of_address(p->runtime->name, r->id);
	if (r->by && outer && outer->role == TRACE_AT_POLL && outer->job != TRACE_WORKER)
		item.by = outer->kernel.is_own_id
		                  ? trace_key_of_address(outer->runtime->name, r->by)
		                  : r->by;
	if (is_static)
		return take_static(t, r, copy, &item);
	if (p->role == TRACE_AT_POLL || p->role == TRACE_AT_PARK)
		return take_call(t, p, r, copy, &item);
	return take_object(t, p, r, copy, &item);
}
