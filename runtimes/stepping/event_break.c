#include "runtimes/stepping/event_break.h"

#include <inttypes.h>
#include <string.h>

#include "debugger/probe/probe_record.h"
#include "debugger/target/target.h"
#include "dwarf/module/code_map.h"
#include "dwarf/names/demangle.h"
#include "runtimes/common/inspector.h"
#include "runtimes/stepping/debuggee.h"
#include "runtimes/stepping/event_break_private.h"
#include "runtimes/trace/plan.h"
#include "runtimes/trace/trace_key.h"

/* Places where the events of a program can be seen. */
struct event_points {
	struct arena arena;
	struct trace_plan plan;
	const char *problem; /* why there are none; NULL: there are */
	bool no_runtime;     /* the reason is that no runtime is in the program */
};

/* ---- what was typed ---- */

struct error *event_break_check(enum event_break_kind kind, const char *subject)
{
	uint64_t key;

	if (event_break_is_catch(kind))
		return NULL;
	if (kind == EVENT_BREAK_SPAWN)
		return *subject ? NULL : error_new(ERR_USAGE, "the type of a future is missing");
	if (trace_key_read(subject, &key) && key)
		return NULL;
	return error_new(ERR_USAGE, "\"%s\" is not a task id", subject);
}

struct event_break *event_break_new(enum event_break_kind kind, const char *subject,
                                    uint64_t every_ns)
{
	struct event_break *e = calloc(1, sizeof(*e));

	if (!e)
		out_of_memory();
	e->kind = kind;
	e->subject = arena_strdup(&e->arena, subject);
	e->every_ns = every_ns;
	if (kind == EVENT_BREAK_SPAWN)
		e->has_regex = regcomp(&e->regex, subject, REG_EXTENDED | REG_NOSUB) == 0;
	else if (!event_break_is_catch(kind) && !trace_key_read(subject, &e->key))
		e->key = 0;
	return e;
}

void event_break_free(struct event_break *e)
{
	if (!e)
		return;
	if (e->has_regex)
		regfree(&e->regex);
	vec_free(&e->seen);
	arena_free(&e->arena);
	arena_free(&e->hit_arena);
	free(e);
}

/* ---- where events can be seen ---- */

static struct error *make_points(struct debuggee *d)
{
	struct event_points *points = calloc(1, sizeof(*points));
	const struct snapshot *snap;

	if (!points)
		out_of_memory();
	d->event_points = points;
	TRY(asyncdbg_snapshot(d->handle, WANT_RUNNING, NULL, &snap));
	/* A point that needs a single step costs no more than others here. */
	struct error *err CLEANUP(error_freep) =
		trace_plan_make(asyncdbg_inspector(d->handle), true, &points->arena, &points->plan);
	if (!err)
		return NULL;
	points->problem = arena_strdup(&points->arena, err->message);
	points->no_runtime = err->kind == ERR_LAYOUT;
	if (err->kind != ERR_INTERRUPTED)
		return NULL;
	struct error *ret = err;
	err = NULL;
	return ret;
}

void event_break_forget(struct debuggee *d)
{
	if (!d->event_points)
		return;
	arena_free(&d->event_points->arena);
	free(d->event_points);
	d->event_points = NULL;
}

static struct error *points_of(struct debuggee *d, const struct event_points **ret)
{
	struct error *err = d->event_points ? NULL : make_points(d);

	if (err)
		event_break_forget(d);
	*ret = d->event_points;
	return err;
}

static uint64_t event_break_entry_of(const struct trace_point *point)
{
	return point->entry + point->code->dm->module->bias;
}

/* Address at which a thread halts: a breakpoint needs no cheap place, so that it is the entry. */
static uint64_t event_break_address_of(const struct trace_point *point)
{
	return (point->inside ? point->address : point->entry) + point->code->dm->module->bias;
}

/* The point of a poll function; NULL: none. */
static const struct trace_point *point_of_poll(const struct event_points *points, uint64_t poll)
{
	for (size_t i = 0; i < points->plan.n; i++) {
		const struct trace_point *p = &points->plan.points[i];

		if (p->role == TRACE_AT_POLL && event_break_entry_of(p) == poll)
			return p;
	}
	return NULL;
}

static const char *event_break_reason_of(const struct event_points *points, enum trace_event event)
{
	for (size_t i = 0; i < points->plan.nmissing; i++) {
		if (points->plan.missing[i].event == event)
			return points->plan.missing[i].reason;
	}
	return "the compiler has inlined the function";
}

/* ---- tasks in memory ---- */

static bool event_break_read_word(struct control *c, uint64_t addr, uint64_t *ret)
{
	struct error *err CLEANUP(error_freep) = control_read(c, addr, ret, sizeof(*ret));

	return !err;
}

/* A function in the table of a task; 0: it cannot be read. */
static uint64_t event_break_function_of(struct control *c, const struct probe_id *id,
                                        uint64_t header, uint64_t slot)
{
	uint64_t table, ret;

	return event_break_read_word(c, header + id->table_offset, &table) &&
	                       event_break_read_word(c, table + slot, &ret)
	               ? ret
	               : 0;
}

/* The number of a task that has one; 0: it cannot be read. */
static uint64_t event_break_number_of(struct control *c, uint64_t header, uint64_t table_offset,
                                      uint64_t id_slot)
{
	uint64_t table, offset, number;

	return event_break_read_word(c, header + table_offset, &table) &&
	                       event_break_read_word(c, table + id_slot, &offset) &&
	                       event_break_read_word(c, header + offset, &number)
	               ? number
	               : 0;
}

/* The key of a task; 0: it cannot be read. */
static uint64_t event_break_key_of(struct control *c, const struct trace_point *point,
                                   uint64_t header)
{
	if (point->id->is_address)
		return trace_key_of_address(point->runtime->name, header);
	return event_break_number_of(c, header, point->id->table_offset, point->id->id_slot);
}

static bool is_running(struct control *c, const struct probe_id *id, uint64_t header)
{
	uint64_t state;

	return id->running_mask && event_break_read_word(c, header + id->busy_offset, &state) &&
	       (state & id->running_mask);
}

/* ---- finding ---- */

struct event_break_finder {
	struct breakpoint *bp;
	struct event_break *e;
	const struct event_points *points;
	struct arena *a; /* of the places */
	VEC(struct breakpoint_place) places;
};

/* The register that has the task at a point, or leads to it. False: more than one does. */
static bool register_of(const struct event_break_finder *f, const struct trace_point *point,
                        struct tracer_filter *ret)
{
	const struct arch *arch = asyncdbg_target(f->bp->debuggee->handle)->arch;
	const struct probe_exchange *x = &point->kernel.exchange;

	*ret = (struct tracer_filter){ .reg = arch->arguments[point->parameter], .size = 8 };
	if (!x->used)
		return true;
	ret->reg = x->base;
	ret->offset[0] = x->displacement;
	return x->index == PROBE_NO_REGISTER && x->base != PROBE_NO_REGISTER;
}

/* filter NULL: for every thread that comes there. */
static void event_break_add_place(struct event_break_finder *f, const struct trace_point *point,
                                  uint64_t addr, const struct tracer_filter *filter)
{
	struct tracer_filter *own = NULL;

	for (size_t i = 0; !filter && i < f->places.n; i++) {
		if (f->places.data[i].addr == addr)
			return;
	}
	if (filter) {
		own = NEW(f->a, struct tracer_filter);
		*own = *filter;
	}
	*vec_push(&f->places) = (struct breakpoint_place){ .addr = addr,
		                                           .function = point->function,
		                                           .breakpoint = f->bp,
		                                           .point = point,
		                                           .filter = own };
}

/* A place at which only the task counts. */
static void add_task_place(struct event_break_finder *f, const struct trace_point *point,
                           uint64_t addr)
{
	struct tracer_filter filter;
	bool has_filter = register_of(f, point, &filter);

	for (size_t i = 0; i < f->places.n; i++) {
		if (f->places.data[i].addr == addr)
			return;
	}
	filter.value = f->e->header;
	event_break_add_place(f, point, addr, has_filter ? &filter : NULL);
}

static enum trace_event event_of(enum event_break_kind kind)
{
	switch (kind) {
	case EVENT_BREAK_WAKE:
		return TRACE_WAKE;
	case EVENT_BREAK_SPAWN:
		return TRACE_SPAWN;
	case EVENT_BREAK_DONE:
		return TRACE_TERMINATE;
	default:
		return TRACE_POLL_START;
	}
}

static void event_break_note_unseen(struct event_break_finder *f, enum trace_event event,
                                    const char *what)
{
	f->bp->note = arena_printf(f->a, "%s cannot be observed in this program: %s", what,
	                           event_break_reason_of(f->points, event));
}

/* The points of the runtime whose poll function that is. */
static void add_points(struct event_break_finder *f, const struct trace_point *poll)
{
	for (size_t i = 0; i < f->points->plan.n; i++) {
		const struct trace_point *p = &f->points->plan.points[i];
		bool fits = f->e->kind == EVENT_BREAK_DONE
		                    ? p->role == TRACE_AT_END
		                    : p->role == TRACE_AT_WAKE || p->role == TRACE_AT_WAKER;

		if (fits && p->runtime == poll->runtime && p->copy == poll->copy)
			add_task_place(f, p, event_break_address_of(p));
	}
}

static struct error *add_drops(struct event_break_finder *f, const struct trace_point *poll,
                               uint64_t entry)
{
	struct breakpoint_place *found = NULL;
	size_t n;

	TRY(drop_break_find(f->bp, poll, entry, &found, &n));
	for (size_t i = 0; i < n; i++)
		*vec_push(&f->places) = found[i];
	return NULL;
}

/* The places at which a task that is there has its event. */
static struct error *find_task_places(struct event_break_finder *f)
{
	struct control *c = &f->bp->debuggee->control;
	const struct trace_point *poll = NULL;
	uint64_t addr = 0;

	for (size_t i = 0; i < f->points->plan.n && !poll; i++) {
		const struct trace_point *p = &f->points->plan.points[i];

		addr = p->role == TRACE_AT_POLL
		               ? event_break_function_of(c, p->id, f->e->header, p->id->poll_slot)
		               : 0;
		if (addr && addr == event_break_entry_of(p) &&
		    event_break_key_of(c, p, f->e->header) == f->e->key)
			poll = p;
	}
	if (poll)
		f->e->module = poll->code->dm->module;
	if (!poll) {
		f->bp->note = "the function that polls the task is unknown";
	} else if (f->e->kind == EVENT_BREAK_RESUME) {
		add_task_place(f, poll, addr);
	} else if (f->e->kind == EVENT_BREAK_DROP) {
		return add_drops(f, poll, addr);
	} else {
		bool shown = poll->has[event_of(f->e->kind)];

		if (shown)
			add_points(f, poll);
		if (!f->places.n)
			event_break_note_unseen(f, event_of(f->e->kind),
			                        f->e->kind == EVENT_BREAK_DONE
			                                ? "ends of tasks"
			                                : "wake-ups of tasks");
	}
	return NULL;
}

/* Whether a spawn of that runtime can be distinguished from another use of a task. */
static bool event_break_shows_spawns(const struct trace_point *p)
{
	return p->role == TRACE_AT_SPAWN && !p->id->is_address && !p->for_place;
}

/* All spawns: for types that are too many to test, and for a task that is not there yet. */
static void add_spawns(struct event_break_finder *f)
{
	for (size_t i = 0; i < f->points->plan.n; i++) {
		const struct trace_point *p = &f->points->plan.points[i];

		if (event_break_shows_spawns(p))
			event_break_add_place(f, p, event_break_address_of(p), NULL);
	}
}

static bool is_in(const struct event_break *e, const char *text)
{
	return strstr(text, e->subject) ||
	       (e->has_regex && regexec(&e->regex, text, 0, NULL, 0) == 0);
}

/*
 * Matches a type by its whole name, or a coroutine by its displayed name:
 * "app::run::{async_block#0}".
 */
static bool event_break_matches(const struct event_break *e, const char *type)
{
	SCRATCH(tmp);

	return type && (is_in(e, type) || is_in(e, name_function(&tmp, type)));
}

/* The spawns of tasks with one poll function. */
static void add_spawns_of(struct event_break_finder *f, const struct trace_point *poll)
{
	for (size_t i = 0; i < f->points->plan.n; i++) {
		const struct trace_point *p = &f->points->plan.points[i];
		struct tracer_filter filter;

		if (!event_break_shows_spawns(p) || p->runtime != poll->runtime ||
		    p->copy != poll->copy || !register_of(f, p, &filter))
			continue;
		filter.nloads = 2;
		filter.offset[0] = (int64_t)p->id->table_offset;
		filter.offset[1] = (int64_t)p->id->poll_slot;
		filter.value = event_break_entry_of(poll);
		event_break_add_place(f, p, event_break_address_of(p), &filter);
	}
}

/* Notes that the event has no place in the program as it is. */
static void event_break_wait_for_library(struct event_break_finder *f, const char *why)
{
	f->bp->pending = f->bp->debuggee->libraries.function != 0;
	f->bp->note = arena_printf(
		f->a, "%s%s", why,
		f->bp->pending ? "; it is resolved when a library that has it is loaded" : "");
}

static const char no_own_place[] = "its runtime has no single function that creates tasks";

static void find_spawns(struct event_break_finder *f)
{
	enum { MAX_TYPES = 16 };
	const struct trace_plan *plan = &f->points->plan;
	const struct trace_point *last = NULL;
	size_t n = 0;

	for (size_t i = 0; i < plan->n; i++) {
		if (plan->points[i].role != TRACE_AT_POLL ||
		    !event_break_matches(f->e, plan->points[i].type))
			continue;
		last = &plan->points[i];
		n++;
	}
	if (!n && plan->nameless)
		f->bp->note = event_break_reason_of(f->points, TRACE_SPAWN);
	else if (!n)
		event_break_wait_for_library(f,
		                             "no task of the program runs a future of such a type");
	if (!n)
		return;
	for (size_t i = 0; n <= MAX_TYPES && i < plan->n; i++) {
		if (plan->points[i].role == TRACE_AT_POLL &&
		    event_break_matches(f->e, plan->points[i].type))
			add_spawns_of(f, &plan->points[i]);
	}
	if (n > MAX_TYPES)
		add_spawns(f);
	if (!f->places.n && last->id->is_address)
		f->bp->note = no_own_place;
	else if (!f->places.n)
		event_break_note_unseen(f, TRACE_SPAWN, "spawns of tasks");
}

static struct error *event_break_find_task(struct event_break_finder *f)
{
	const struct snapshot *snap;

	TRY(asyncdbg_snapshot(f->bp->debuggee->handle, WANT_TASKS, NULL, &snap));
	for (size_t i = 0; i < snap->ntasks && !f->e->header; i++) {
		if (trace_key_is(trace_key(snap->tasks[i]), f->e->key)) {
			f->e->header = snap->tasks[i]->addr;
			f->e->key = trace_key(snap->tasks[i]);
		}
	}
	return NULL;
}

static bool has_number(const struct event_break *e)
{
	return strspn(e->subject, "0123456789") == strlen(e->subject);
}

/* The task is looked for when tasks are made. */
static void wait_for_task(struct event_break_finder *f)
{
	if (has_number(f->e))
		add_spawns(f);
	if (f->places.n)
		f->bp->note = "no such task yet; waiting for it";
	else
		event_break_wait_for_library(f, "no such task");
}

static struct error *find_places(struct event_break_finder *f)
{
	if (f->points->problem && f->points->no_runtime) {
		event_break_wait_for_library(f, f->points->problem);
	} else if (f->points->problem) {
		f->bp->note = arena_strdup(f->a, f->points->problem);
	} else if (f->e->kind == EVENT_BREAK_SPAWN) {
		find_spawns(f);
	} else {
		if (!f->e->header)
			TRY(event_break_find_task(f));
		if (f->e->header)
			return find_task_places(f);
		wait_for_task(f);
	}
	return NULL;
}

/*
 * Whether the task is still of the same program: another copy of a library counts its tasks from
 * the start.
 */
static bool holds(const struct event_break *e)
{
	return e->keeps && !(e->module && e->module->is_unloaded);
}

static void forget_task(struct event_break *e)
{
	e->header = 0;
	e->module = NULL;
	e->over = false;
}

static struct error *find_task_event(struct breakpoint *bp)
{
	struct event_break_finder f = { .bp = bp, .e = bp->event, .a = &bp->find_arena };

	if (!holds(f.e))
		forget_task(f.e);
	f.e->keeps = false;
	if (f.e->over) {
		bp->note = "its task has ended";
		return NULL;
	}
	TRY(points_of(bp->debuggee, &f.points));
	struct error *err = find_places(&f);
	bp->nplaces = f.places.n;
	bp->places = vec_to_arena(&f.places, f.a);
	vec_free(&f.places);
	return err;
}

void event_break_keep(struct event_break *e)
{
	e->keeps = true;
}

struct error *event_break_find(struct breakpoint *bp)
{
	if (bp->event->kind == EVENT_BREAK_DEADLOCK)
		return NULL;
	return event_break_is_catch(bp->event->kind) ? panic_break_find(bp) : find_task_event(bp);
}

/* ---- hits ---- */

static uint64_t event_break_register_value(const struct regs *regs, unsigned reg)
{
	return reg == PROBE_NO_REGISTER ? 0 : regs->r[reg];
}

/* Whether the exchange before the point was made, and is the event. */
static bool was_exchanged(const struct arch *arch, const struct probe_exchange *x,
                          const struct regs *regs)
{
	uint64_t before = regs->r[0], after = event_break_register_value(regs, x->source);

	return (regs->flags & arch->equal_flag) && !(before & x->old_none) &&
	       !(after & x->new_none) && (after & x->new_any) &&
	       (!x->old_any || (before & x->old_any));
}

/* The task's header at a hit; 0: it is no event. */
static uint64_t header_at(const struct arch *arch, const struct trace_point *point,
                          const struct regs *regs)
{
	const struct probe_exchange *x = &point->kernel.exchange;

	if (!x->used)
		return regs->r[arch->arguments[point->parameter]];
	if (!was_exchanged(arch, x, regs))
		return 0;
	return event_break_register_value(regs, x->base) +
	       event_break_register_value(regs, x->index) * x->scale +
	       (uint64_t)(int64_t)x->displacement;
}

static void event_break_note_hit(struct event_break *e, uint64_t key, const char *type)
{
	arena_free(&e->hit_arena);
	e->task = key ? trace_key_text(&e->hit_arena, key) : NULL;
	e->type = type ? arena_strdup(&e->hit_arena, type) : NULL;
}

/* Internal breakpoints of one address share their filters, so that each has to test its own. */
static bool decide_spawn(struct breakpoint *bp, const struct breakpoint_place *place,
                         uint64_t header)
{
	const struct trace_point *point = place->point;
	struct control *c = &bp->debuggee->control;
	uint64_t poll = event_break_function_of(c, point->id, header, point->id->poll_slot);
	const struct trace_point *of = point_of_poll(bp->debuggee->event_points, poll);

	if (!of || !event_break_matches(bp->event, of->type) ||
	    (place->filter && place->filter->value != poll))
		return false;
	event_break_note_hit(bp->event, event_break_key_of(c, point, header), of->type);
	return true;
}

static bool decide_task(struct breakpoint *bp, const struct trace_point *point, uint64_t header)
{
	struct control *c = &bp->debuggee->control;
	struct event_break *e = bp->event;

	if (header != e->header || e->over)
		return false;
	if (event_break_key_of(c, point, header) != e->key) {
		e->over = true; /* another task has its memory */
		return false;
	}
	/* A waker of a task that sleeps goes on to a function that puts the task into a queue. */
	if (point->role == TRACE_AT_WAKER && !is_running(c, point->id, header))
		return false;
	e->over = e->kind == EVENT_BREAK_DONE;
	event_break_note_hit(e, e->key, NULL);
	return true;
}

static bool decide_drop(struct breakpoint *bp, const struct trace_point *point, uint64_t argument)
{
	struct event_break *e = bp->event;

	if (e->over)
		return false;
	e->over = event_break_key_of(&bp->debuggee->control, point, e->header) != e->key;
	return !e->over && drop_break_decide(e, asyncdbg_inspector(bp->debuggee->handle), argument);
}

/* A task is made while one is looked for. */
static struct error *meet_task(struct breakpoint *bp, const struct trace_point *point,
                               uint64_t header)
{
	if (event_break_key_of(&bp->debuggee->control, point, header) != bp->event->key)
		return NULL;
	bp->event->header = header;
	event_break_keep(bp->event);
	return breakpoint_find_again(bp);
}

struct error *event_break_decide(const struct breakpoint_place *place,
                                 const struct internal_hit *hit, bool *counts)
{
	SCRATCH(tmp);
	struct breakpoint *bp = place->breakpoint;
	const struct trace_point *point = place->point;
	const struct arch *arch = asyncdbg_target(bp->debuggee->handle)->arch;
	struct regs regs;

	*counts = false;
	if (event_break_is_catch(bp->event->kind))
		return panic_break_decide(bp, hit, counts);
	TRY(control_registers(&bp->debuggee->control, hit->tid, &tmp, &regs));
	if (bp->event->kind == EVENT_BREAK_DROP && bp->event->header) {
		*counts = decide_drop(bp, point, regs.r[arch->arguments[0]]);
		return NULL;
	}
	uint64_t header = header_at(arch, point, &regs);
	if (!header)
		return NULL;
	if (bp->event->kind == EVENT_BREAK_SPAWN)
		*counts = decide_spawn(bp, place, header);
	else if (!bp->event->header)
		return meet_task(bp, point, header);
	else
		*counts = decide_task(bp, point, header);
	return NULL;
}

/* ---- for steps ---- */

/* Whether all tasks that a poll function may have are made at places that are known. */
static bool has_all_spawns(const struct event_points *points, const struct trace_point *poll)
{
	for (size_t i = 0; poll->has[TRACE_SPAWN] && i < points->plan.n; i++) {
		const struct trace_point *p = &points->plan.points[i];

		if (event_break_shows_spawns(p) && p->runtime == poll->runtime &&
		    p->copy == poll->copy)
			return true;
	}
	return false;
}

static const char *event_break_why_unseen(const struct event_points *points)
{
	if (points->problem)
		return points->problem;
	for (size_t i = 0; i < points->plan.n; i++) {
		const struct trace_point *p = &points->plan.points[i];

		if (p->role != TRACE_AT_POLL || has_all_spawns(points, p))
			continue;
		return p->id->is_address ? no_own_place
		                         : event_break_reason_of(points, TRACE_SPAWN);
	}
	return NULL;
}

struct error *event_break_spawns(struct debuggee *d, event_spawn_fn *visit, void *arg,
                                 const char **unseen)
{
	const struct event_points *points;

	TRY(points_of(d, &points));
	*unseen = event_break_why_unseen(points);
	for (size_t i = 0; !points->problem && i < points->plan.n; i++) {
		if (event_break_shows_spawns(&points->plan.points[i]))
			TRY(visit(arg, event_break_address_of(&points->plan.points[i])));
	}
	return NULL;
}

static void event_break_find_future(struct inspector *in, const struct runtime *runtime,
                                    struct event_task *task)
{
	struct task_types types = { 0 };

	if (runtime->tasks.types)
		runtime->tasks.types(in, task->poll, &types);
	if (!types.future || !types.has_offset || types.whole || types.others)
		return;
	task->future = types.future;
	task->future_at = task->header + types.offset;
}

/* Internal breakpoints of an address are hit together: the first point that has a task there is the
 * one. */
struct error *event_break_spawned(struct debuggee *d, const struct internal_hit *hit,
                                  struct event_task *ret)
{
	SCRATCH(tmp);
	const struct event_points *points = d->event_points;
	struct control *c = &d->control;
	struct regs regs;

	*ret = (struct event_task){ 0 };
	TRY(control_registers(c, hit->tid, &tmp, &regs));
	for (size_t i = 0; points && i < points->plan.n && !ret->poll; i++) {
		const struct trace_point *p = &points->plan.points[i];

		if (!event_break_shows_spawns(p) || event_break_address_of(p) != hit->addr)
			continue;
		*ret = (struct event_task){ .table_offset = p->id->table_offset,
			                    .id_slot = p->id->id_slot };
		ret->header = header_at(asyncdbg_target(d->handle)->arch, p, &regs);
		ret->key = ret->header ? event_break_key_of(c, p, ret->header) : 0;
		ret->poll =
			ret->key ? event_break_function_of(c, p->id, ret->header, p->id->poll_slot)
				 : 0;
		if (ret->poll)
			event_break_find_future(asyncdbg_inspector(d->handle), p->runtime, ret);
	}
	if (!ret->poll)
		ret->header = 0;
	return NULL;
}

bool event_break_has_task(struct debuggee *d, const struct event_task *task)
{
	return event_break_number_of(&d->control, task->header, task->table_offset,
	                             task->id_slot) == task->key;
}
