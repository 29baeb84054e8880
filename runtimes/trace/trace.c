#include "runtimes/trace/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debugger/base/clock.h"
#include "debugger/base/log.h"
#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "debugger/live/proc.h"
#include "debugger/probe/probe.h"
#include "dwarf/module/code_map.h"
#include "runtimes/common/inspector.h"
#include "runtimes/trace/id_set.h"

struct known_thread {
	int worker, runtime;
};

struct trace {
	struct inspector *in;
	struct trace_options options;
	struct trace_plan plan;
	struct trace_statics statics;
	struct probes *probes;
	uint64_t bias;      /* of a program that was executed later: see trace_executed() */
	size_t nattached;   /* points, of the plan */
	struct map polls;   /* run-time address of a poll function -> its point's index + 1 */
	struct map ends;    /* run-time addresses to which polls return */
	struct map tables;  /* run-time address of a table -> index + 1 of its poll function */
	struct map threads; /* tid -> struct known_thread */
	struct id_set seen; /* tasks whose spawn was passed on, or that existed before */
	uint64_t known_at;  /* when trace_know() was called; ns, CLOCK_MONOTONIC */
	uint64_t spawned;   /* id of the task that spawned_on has spawned just now */
	pid_t spawned_on;
	VEC(uint64_t) returns; /* run-time addresses of calls that return to new places */
	struct places places;
	struct trace_totals totals;
	uint64_t detach_ns;
	bool detached, behind; /* behind: the buffer was not read to its end, */
	uint64_t read_to;      /* and the last event that was read is of that time */
	uint64_t lost_seen, lost_reported;
	trace_item_fn *visit;
	void *arg;
	struct arena arena;
};

/* ---- attaching ---- */

static uint64_t bias_of(const struct trace *t, const struct code_map *code)
{
	return t->options.pid ? t->bias : code->dm->module->bias;
}

/* The file of a module as we can open it: the inode that the process has mapped. */
static const char *file_of(struct trace *t, const struct module *m)
{
	const struct target *target = t->in->target;

	if (t->options.pid)
		return m->file;
	if (m->is_main) {
		const char *file = probes_executable(t->probes);
		return file ? file : arena_printf(&t->arena, "/proc/%d/exe", (int)target->pid);
	}
	return arena_printf(&t->arena, "%s%s", target->root, m->path);
}

/* Whether a point gives events that are wanted, or what they contain. */
static bool is_needed(const struct trace *t, const struct trace_point *p)
{
	const bool *wanted = t->options.events;

	switch (p->role) {
	case TRACE_AT_WAKE:
		return wanted[TRACE_WAKE];
	case TRACE_AT_WAKER:
		return wanted[TRACE_WAKE] && t->options.wakers;
	case TRACE_AT_SPAWN:
		return wanted[TRACE_SPAWN] || wanted[TRACE_WAKE];
	case TRACE_AT_END:
		return wanted[TRACE_TERMINATE] || wanted[TRACE_SPAWN] || wanted[TRACE_POLL_END];
	case TRACE_AT_PARK:
		return wanted[TRACE_PARK] || wanted[TRACE_UNPARK];
	case TRACE_AT_RETURN:
		return !p->of_park || wanted[TRACE_UNPARK];
	default:
		return true;
	}
}

static uint8_t silence(bool hit, bool end)
{
	return (uint8_t)((hit ? 0 : PROBE_NO_HIT) | (end ? 0 : PROBE_NO_END));
}

/* Which records a point, that is needed for another one, leaves out. */
static uint8_t silence_of(const struct trace *t, const struct trace_point *p)
{
	const bool *wanted = t->options.events;

	switch (p->role) {
	case TRACE_AT_POLL:
		if (p->job == TRACE_WORKER)
			return silence(wanted[TRACE_WORKER_START], wanted[TRACE_WORKER_STOP]);
		/* The first poll of a task may show its spawn. */
		return silence(wanted[TRACE_POLL_START] || wanted[TRACE_SPAWN],
		               wanted[TRACE_POLL_END]);
	case TRACE_AT_PARK:
		return silence(wanted[TRACE_PARK], wanted[TRACE_UNPARK]);
	case TRACE_AT_END:
		return silence(wanted[TRACE_TERMINATE] || wanted[TRACE_SPAWN], true);
	default:
		return 0;
	}
}

static bool is_call(const struct trace_point *p)
{
	return p->role == TRACE_AT_POLL || p->role == TRACE_AT_PARK;
}

/* Attaches those of the new points that lie in this module: those of calls, or the others. */
static struct error *attach_module(struct trace *t, const struct code_map *code, bool calls)
{
	VEC(struct probe_site) sites = { 0 };
	struct error *err;

	for (size_t i = t->nattached; i < t->plan.n; i++) {
		const struct trace_point *p = &t->plan.points[i];

		if (p->code == code && is_call(p) == calls && is_needed(t, p))
			*vec_push(&sites) = (struct probe_site){ p->offset, 0, (uint32_t)i };
	}
	err = probes_attach(t->probes, file_of(t, code->dm->module), sites.data, sites.n);
	vec_free(&sites);
	return err;
}

/* Notes the run-time address of a point's function, or of where calls return to. */
static struct error *note_address(struct trace *t, size_t index)
{
	const struct trace_point *p = &t->plan.points[index];
	uint64_t address = p->entry + bias_of(t, p->code);

	if (p->role == TRACE_AT_POLL)
		map_put(&t->polls, address, (void *)(uintptr_t)(index + 1));
	if (p->role != TRACE_AT_RETURN)
		return NULL;
	if (!p->of_park)
		map_put(&t->ends, address, NULL);
	return probes_know_return(t->probes, address);
}

static struct error *describe(struct trace *t, size_t index)
{
	const struct trace_point *p = &t->plan.points[index];
	struct probe_point kernel = p->kernel;

	/* Where a program will be that is not executed yet is unknown. */
	if (!t->options.pid || t->bias)
		kernel.address = p->address + bias_of(t, p->code);
	kernel.silent = silence_of(t, p);
	if (t->options.no_places)
		kernel.npieces = 0;
	TRY(note_address(t, index));
	return probes_describe(t->probes, (uint32_t)index, &kernel);
}

/*
 * Attaches what was added to the plan. The program runs meanwhile: points of calls come last, and
 * go first when all are detached, so that where a call was seen, its end is seen too.
 */
static struct error *attach(struct trace *t)
{
	struct map done = { 0 }; /* modules */
	struct error *err = NULL;

	for (size_t i = t->nattached; i < t->plan.n; i++)
		TRY(describe(t, i));
	for (size_t i = t->nattached; i < t->plan.n; i++) {
		const struct code_map *code = t->plan.points[i].code;

		if (!map_put(&done, (uintptr_t)code, NULL))
			continue;
		err = attach_module(t, code, false);
		err = err ? err : attach_module(t, code, true);
		if (err)
			break;
	}
	map_free(&done);
	if (err)
		return err;
	t->nattached = t->plan.n;
	return NULL;
}

/* Static probes have the indices from here on. */
enum { FIRST_STATIC = PROBE_MAX_POINTS / 2 };

/* Whether it can be attached only where the program begins. */
static bool is_later(const struct trace *t, const struct usdt_probe *p)
{
	return t->options.pid && (p->semaphore || p->file);
}

static struct error *describe_static(struct trace *t, size_t i)
{
	const struct probe_point kernel = { .kind = PROBE_PLACE };
	uint32_t index = (uint32_t)(FIRST_STATIC + i);

	TRY(probes_describe(t->probes, index, &kernel));
	return probes_describe_place(t->probes, index, &t->statics.probes[i].place);
}

/* Attaches those that have to wait until the program begins, or the others. */
static struct error *attach_statics(struct trace *t, bool later)
{
	const struct trace_statics *statics = &t->statics;
	pid_t pid = t->options.pid ? t->options.pid : t->in->target->pid;
	SCRATCH(tmp);
	struct probe_site *sites = NEW_ARRAY(&tmp, struct probe_site, statics->n + 1);

	for (size_t i = 0, next; i < statics->n; i = next) {
		const struct module *m = statics->probes[i].module;
		size_t n = 0;

		for (next = i; next < statics->n && statics->probes[next].module == m; next++) {
			const struct usdt_probe *p = statics->probes[next].probe;

			if (is_later(t, p) != later)
				continue;
			TRY(trace_usdt_check_semaphore(pid, &statics->probes[next]));
			TRY(describe_static(t, next));
			sites[n++] = (struct probe_site){ p->location_offset, p->semaphore_offset,
				                          (uint32_t)(FIRST_STATIC + next) };
		}
		TRY(probes_attach(t->probes, file_of(t, m), sites, n));
	}
	return NULL;
}

bool trace_wants_hold(const struct trace *t)
{
	return t->options.pid && t->options.usdt;
}

static struct trace_usdt_wanted wanted_statics(const struct trace *t, bool some)
{
	return (struct trace_usdt_wanted){ t->options.usdt, t->options.usdt_texts, some };
}

static struct error *attach_loaded_statics(struct trace *t)
{
	const struct trace_usdt_wanted wanted = wanted_statics(t, false);

	if (!t->options.usdt)
		return NULL;
	TRY(trace_usdt_find_loaded(t->options.pid, &wanted, &t->arena, &t->statics));
	return attach_statics(t, true);
}

struct error *trace_executed(struct trace *t, uint64_t bias)
{
	t->bias = bias;
	probes_reopen(t->probes);
	for (size_t i = 0; i < t->plan.n; i++)
		TRY(describe(t, i));
	return attach_loaded_statics(t);
}

/* Whether /proc has the same numbers of threads as records have: not so in a container. */
static bool sees_all_threads(void)
{
	static const char first[] = "pid:[4026531836]"; /* PROC_PID_INIT_INO of the kernel */
	char name[sizeof(first)] = "";

	return readlink("/proc/self/ns/pid", name, sizeof(name)) == (ssize_t)strlen(first) &&
	       memcmp(name, first, strlen(first)) == 0;
}

/* A thread that is off its processor already shows nothing until it comes back. */
static void measure_threads(struct trace *t, const struct snapshot *s)
{
	if (!t->options.off_times || !sees_all_threads())
		return;
	for (size_t i = 0; i < s->nthreads; i++) {
		SCRATCH(tmp);
		pid_t tid = s->threads[i].tid;
		struct proc_stat stat;
		char *text = proc_read(&tmp, s->target.pid,
		                       arena_printf(&tmp, "task/%d/stat", (int)tid), NULL);

		if (text && proc_stat_parse(&tmp, text, &stat))
			probes_add_thread(t->probes, tid, stat.state != 'R');
	}
}

void trace_know(struct trace *t, const struct snapshot *s)
{
	t->known_at = clock_now_ns();
	for (size_t i = 0; i < s->nthreads; i++) {
		struct known_thread *th = NEW(&t->arena, struct known_thread);

		*th = (struct known_thread){ s->threads[i].worker, s->threads[i].runtime };
		map_put(&t->threads, (uint64_t)s->threads[i].tid, th);
	}
	measure_threads(t, s);
	for (size_t i = 0; i < s->ntasks; i++)
		id_set_add(&t->seen, s->tasks[i]->number);
	for (size_t i = 0; i < s->njobs; i++) {
		if (s->jobs[i].id)
			id_set_add(&t->seen, strtoull(s->jobs[i].id, NULL, 10));
	}
}

static struct error *make_events_plan(struct trace *t)
{
	TRY(trace_plan_make(t->in, t->options.slow, &t->arena, &t->plan));
	if (!t->plan.nameless || t->options.nameless)
		return NULL;
	return error_new(ERR_NO_DEBUGINFO,
	                 "the program is stripped, and only polls can be seen: %s",
	                 trace_plan_remedy);
}

static struct error *make_plan(struct trace *t)
{
	if (!t->options.usdt)
		return make_events_plan(t);
	const struct trace_usdt_wanted wanted = wanted_statics(t, t->options.pid != 0);
	TRY(trace_usdt_find(t->in->target, &wanted, &t->arena, &t->statics));
	struct error *err CLEANUP(error_freep) = make_events_plan(t);
	if (err && err->kind == ERR_INTERRUPTED) {
		struct error *whole = err;

		err = NULL;
		return whole;
	}
	if (err)
		trace_plan_without(&t->arena, arena_strdup(&t->arena, err->message), &t->plan);
	t->plan.has[TRACE_USDT] = true;
	return NULL;
}

struct error *trace_open(struct inspector *in, const struct trace_options *options,
                         struct trace **ret)
{
	struct trace *t CLEANUP(trace_closep) = alloc_zeroed(sizeof(*t));
	const struct probes_options probes = {
		.pid = options->pid ? options->pid : in->target->pid,
		.ring = options->ring,
		.min_ns = options->min_ns,
		.backend = options->perf ? PROBE_PERF : PROBE_BEST,
		.off_times = options->off_times,
	};

	t->in = in;
	t->options = *options;
	TRY(probes_open(&probes, &t->probes));
	TRY(make_plan(t));
	struct error *err = attach(t);
	if (err && probes_are_over(t->probes)) {
		error_free(err);
		return error_new(ERR_STATE, "process %d has ended, or executed another program",
		                 (int)probes.pid);
	}
	TRY(err);
	/* After it: a task that is polled is then known. */
	TRY(attach_statics(t, false));
	*ret = t;
	t = NULL;
	return NULL;
}

void trace_detach(struct trace *t)
{
	uint64_t start = clock_now_ns();

	probes_detach(t->probes);
	t->detached = true;
	t->detach_ns = clock_now_ns() - start;
}

uint64_t trace_detach_ns(const struct trace *t)
{
	return t->detach_ns;
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	probes_close(t->probes);
	map_free(&t->polls);
	map_free(&t->ends);
	map_free(&t->tables);
	map_free(&t->threads);
	id_set_free(&t->seen);
	places_free(&t->places);
	vec_free(&t->returns);
	arena_free(&t->arena);
	free(t);
}

void trace_closep(struct trace **t)
{
	trace_close(*t);
}

size_t trace_nstatics(const struct trace *t)
{
	return t->statics.n;
}

const struct trace_plan *trace_plan_of(const struct trace *t)
{
	return &t->plan;
}

const char *trace_off_times_missing(const struct trace *t)
{
	return probes_off_times_missing(t->probes);
}

bool trace_off_time(const struct trace *t, pid_t tid, uint64_t *ns)
{
	return probes_off_time(t->probes, tid, ns);
}

struct inspector *trace_inspector(const struct trace *t)
{
	return t->in;
}

bool trace_polls_return_to(const struct trace *t, uint64_t address)
{
	return map_has(&t->ends, address);
}

const char *trace_backend(const struct trace *t)
{
	return probes_backend(t->probes);
}

/* ---- events ---- */

static const struct trace_point *point_at(const struct trace *t, uint64_t index)
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
		uint64_t bias = bias_of(t, p->code);
		uint64_t poll = code_map_pointer(p->code, table + p->id->poll_slot - bias) + bias;

		map_put(&t->tables, table, map_get(&t->polls, poll));
	}
	return point_at(t, (uintptr_t)map_get(&t->tables, table) - 1);
}

static void set_thread(const struct trace *t, struct trace_item *item)
{
	const struct known_thread *th = map_get(&t->threads, (uint64_t)item->tid);

	item->worker = th ? th->worker : -1;
	item->runtime = th ? th->runtime : -1;
}

static void set_task(struct trace_item *item, const struct trace_point *poll)
{
	if (!poll)
		return;
	item->type = poll->type;
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

	return t->options.events[event] && (t->plan.has[event] || is_end);
}

static bool pass(struct trace *t, struct trace_item *item)
{
	if (!is_shown(t, item->event))
		return true;
	set_thread(t, item);
	t->totals.events++;
	return t->visit(item, t->arg);
}

/*
 * Passes on the spawn of a task that another event shows first, because its function was inlined,
 * or was called before the points were there.
 */
static bool pass_unseen_spawn(struct trace *t, const struct trace_item *item)
{
	struct trace_item spawn = *item;

	if (!item->task || item->time < t->known_at || !id_set_add(&t->seen, item->task))
		return true;
	spawn.event = TRACE_SPAWN;
	spawn.late = true;
	spawn.ready = false;
	spawn.poll_ns = spawn.off_ns = spawn.by = 0;
	return pass(t, &spawn);
}

static enum trace_event event_of_call(const struct trace_point *p, bool ends)
{
	if (p->role == TRACE_AT_PARK)
		return ends ? TRACE_UNPARK : TRACE_PARK;
	if (p->job == TRACE_WORKER)
		return ends ? TRACE_WORKER_STOP : TRACE_WORKER_START;
	return ends ? TRACE_POLL_END : TRACE_POLL_START;
}

/* The start or the end of a call. */
static bool take_call(struct trace *t, const struct trace_point *p, const struct probe_record *r,
                      const unsigned char *copy, struct trace_item *item)
{
	bool ends = r->kind == PROBE_RETURN;

	item->event = event_of_call(p, ends);
	item->off_ns = t->options.off_times ? r->table : 0;
	if (p->role == TRACE_AT_PARK)
		item->task = 0;
	else
		set_task(item, p);
	if (ends) {
		item->poll_ns = r->time - r->start;
		item->ready = r->flags & PROBE_FINISHED;
		item->ready_known = t->plan.has[TRACE_TERMINATE];
		item->late = r->flags & PROBE_LATE;
		t->totals.unmatched += item->late;
		if (p->places && r->copied)
			item->place =
				place_of(&t->places, t->in, &t->arena, p->places, copy, r->copied);
	} else {
		if (r->flags & PROBE_NEW_RETURN)
			*vec_push(&t->returns) = r->start;
		if (item->event == TRACE_POLL_START && !pass_unseen_spawn(t, item))
			return false;
	}
	return pass(t, item);
}

/*
 * Whether a hit is a wake-up. A point that other functions reach too is also hit when a task that
 * is spawned or yields is put into the queue at once.
 */
static bool is_wake(struct trace *t, const struct trace_point *p, const struct trace_item *item)
{
	bool spawned = t->spawned == item->task && t->spawned_on == item->tid;

	if (spawned)
		t->spawned = 0;
	return !p->shared || (!spawned && item->by != item->task);
}

static bool take_object(struct trace *t, const struct trace_point *p, const struct probe_record *r,
                        struct trace_item *item)
{
	set_task(item, poll_of_table(t, p, r->table));
	if (item->job == TRACE_WORKER)
		return true;
	switch (p->role) {
	case TRACE_AT_SPAWN:
		item->event = TRACE_SPAWN;
		if (!id_set_add(&t->seen, item->task))
			return true;
		t->spawned = item->task;
		t->spawned_on = item->tid;
		return pass(t, item);
	case TRACE_AT_WAKE:
		item->event = TRACE_WAKE;
		return !is_wake(t, p, item) || pass(t, item);
	case TRACE_AT_WAKER:
		item->event = TRACE_WAKE;
		item->used = true;
		return pass(t, item);
	default:
		item->event = TRACE_TERMINATE;
		return pass_unseen_spawn(t, item) && pass(t, item);
	}
}

/* A static probe of the program itself; item->by is known. */
static bool take_static(struct trace *t, const struct probe_record *r, const unsigned char *copy,
                        struct trace_item *item)
{
	SCRATCH(tmp);
	struct trace_hit hit;

	trace_usdt_hit(&t->statics.probes[r->point - FIRST_STATIC], r, copy, &tmp, &hit);
	item->event = TRACE_USDT;
	item->task = item->by;
	if (item->by)
		set_task(item, point_at(t, r->by_point));
	item->hit = &hit;
	return pass(t, item);
}

static bool take(const struct probe_record *r, const unsigned char *copy, void *arg)
{
	struct trace *t = arg;
	const struct trace_point *p = point_at(t, r->point);
	const struct trace_point *outer = point_at(t, r->by_point);
	struct trace_item item = { .time = r->time, .tid = (pid_t)r->tid, .task = r->id };

	bool is_static = r->kind == PROBE_PLACE && r->point >= FIRST_STATIC &&
	                 r->point - FIRST_STATIC < t->statics.n;

	t->read_to = r->time;
	if (!p && !is_static)
		return true;
	if (r->by && outer && outer->role == TRACE_AT_POLL && outer->job != TRACE_WORKER)
		item.by = r->by;
	if (is_static)
		return take_static(t, r, copy, &item);
	if (p->role == TRACE_AT_POLL || p->role == TRACE_AT_PARK)
		return take_call(t, p, r, copy, &item);
	return take_object(t, p, r, &item);
}

/* The code in which a run-time address lies; NULL: in none that has points. */
static const struct code_map *code_at(const struct trace *t, uint64_t address)
{
	for (size_t i = 0; i < t->plan.n; i++) {
		const struct code_map *code = t->plan.points[i].code;

		if (code_map_at(code, address - bias_of(t, code)))
			return code;
	}
	return NULL;
}

/* Adds points where calls were seen to return. */
static struct error *add_returns(struct trace *t)
{
	for (size_t i = 0; i < t->returns.n; i++) {
		uint64_t address = t->returns.data[i];
		const struct code_map *code = code_at(t, address);

		TRY(probes_know_return(t->probes, address));
		if (!code)
			continue;
		LOG("trace", "a call returns to 0x%" PRIx64, address - bias_of(t, code));
		trace_plan_add_return(&t->plan, t->in, code, address - bias_of(t, code),
		                      t->options.slow);
	}
	t->returns.n = 0;
	/* Nothing can be attached to a program that is gone. */
	struct error *err = probes_are_over(t->probes) ? NULL : attach(t);
	if (err && probes_are_over(t->probes)) {
		error_free(err);
		return NULL;
	}
	return err;
}

bool trace_is_over(const struct trace *t)
{
	return probes_are_over(t->probes);
}

struct error *trace_read(struct trace *t, trace_item_fn *visit, void *arg)
{
	bool more;

	t->visit = visit;
	t->arg = arg;
	do {
		TRY(probes_read(t->probes, take, t, &more));
	} while (more && t->detached);
	t->behind = more;
	return t->returns.n && !t->detached ? add_returns(t) : NULL;
}

struct error *trace_read_until_now(struct trace *t, trace_item_fn *visit, void *arg)
{
	uint64_t now = clock_now_ns();

	do {
		TRY(trace_read(t, visit, arg));
	} while (t->behind && t->read_to < now);
	return NULL;
}

bool trace_has_lost(struct trace *t, uint64_t *n)
{
	uint64_t lost = probes_count(t->probes, PROBE_LOST);
	bool more = lost != t->lost_seen;

	t->lost_seen = lost;
	*n = 0;
	if (more || t->lost_reported == lost || t->behind)
		return more;
	*n = lost - t->lost_reported;
	t->lost_reported = lost;
	return true;
}

void trace_totals(const struct trace *t, struct trace_totals *ret)
{
	*ret = t->totals;
	ret->lost = probes_count(t->probes, PROBE_LOST);
	ret->too_deep = probes_count(t->probes, PROBE_TOO_DEEP);
}
