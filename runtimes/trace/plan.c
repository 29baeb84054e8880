#include "runtimes/trace/plan.h"
#include "runtimes/common/none_argument.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/arch/arch.h"
#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "debugger/target/target.h"
#include "dwarf/module/code_map.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"
#include "dwarf/store/enumerate.h"
#include "runtimes/common/boxed_future.h"
#include "runtimes/common/inspector.h"
#include "runtimes/places/place.h"
#include "runtimes/trace/plan_private.h"
#include "runtimes/trace/returns.h"
#include "runtimes/trace/vtable_scan.h"
#include "runtimes/trace/worker_job.h"

static const char *const event_names[TRACE_NEVENTS] = {
	[TRACE_SPAWN] = "task-spawn",
	[TRACE_POLL_START] = "task-poll-start",
	[TRACE_POLL_END] = "task-poll-end",
	[TRACE_TERMINATE] = "task-terminate",
	[TRACE_WORKER_START] = "worker-thread-start",
	[TRACE_WORKER_STOP] = "worker-thread-stop",
	[TRACE_PARK] = "worker-thread-park",
	[TRACE_UNPARK] = "worker-thread-unpark",
	[TRACE_WAKE] = "task-wake",
	[TRACE_USDT] = "usdt",
};

const char *trace_event_name(enum trace_event event)
{
	return event_names[event];
}

bool trace_event_named(const char *name, enum trace_event *ret)
{
	for (size_t i = 0; i < TRACE_NEVENTS; i++) {
		if (strcmp(event_names[i], name) == 0) {
			*ret = (enum trace_event)i;
			return true;
		}
	}
	return false;
}

enum trace_role plan_role(enum probe_event event)
{
	switch (event) {
	case PROBE_EVENT_POLL:
		return TRACE_AT_POLL;
	case PROBE_EVENT_WAKE:
		return TRACE_AT_WAKE;
	case PROBE_EVENT_WAKER:
		return TRACE_AT_WAKER;
	case PROBE_EVENT_SPAWN:
		return TRACE_AT_SPAWN;
	case PROBE_EVENT_END:
		return TRACE_AT_END;
	case PROBE_EVENT_PARK:
		return TRACE_AT_PARK;
	}
	return TRACE_AT_POLL;
}

uint8_t plan_kernel_kind(enum trace_role role)
{
	switch (role) {
	case TRACE_AT_POLL:
	case TRACE_AT_PARK:
		return PROBE_CALL;
	case TRACE_AT_RETURN:
		return PROBE_RETURN;
	case TRACE_AT_END:
		return PROBE_FINAL;
	case TRACE_AT_WAKE:
	case TRACE_AT_WAKER:
	case TRACE_AT_SPAWN:
		return PROBE_OBJECT;
	}
	return 0;
}

/* ---- functions ---- */

const char *plan_mangled(struct arena *a, const char *path)
{
	STR(text);

	while (*path) {
		size_t len = strcspn(path, ":");

		str_printf(&text, "%zu%.*s", len, (int)len, path);
		path += len + strspn(path + len, ":");
	}
	return arena_strdup(a, str_text(&text));
}

static const char *symbol_name(struct planner *p, const struct code_function *f)
{
	const char *name = demangle(p->a, f->name);

	return name + (*name == '<');
}

const char *plan_name(struct planner *p, const struct code_function *f)
{
	const struct function *found =
		lookup_function(p->in->di, f->low + p->code->dm->module->bias);

	if (found && found->name && found->low == f->low + p->code->dm->module->bias)
		return found->name;
	return symbol_name(p, f);
}

/* direct: whether it is a function of the module itself. */
static bool plan_is_function(const char *name, const char *within, const char *wanted, bool *direct)
{
	const char *last = qualified_last(name);

	*direct = last == name + strlen(within);
	return str_begins(name, within) && qualified_base_len(last) == strlen(wanted) &&
	       strncmp(last, wanted, strlen(wanted)) == 0;
}

typedef void function_fn(struct planner *p, const struct code_function *f, const char *name,
                         bool direct, const void *arg);

/* Collects the functions of a row; by their symbols, so that no other unit is read. */
static void plan_find_functions(struct planner *p, const char *within, const char *wanted,
                                function_fn *found, const void *arg)
{
	SCRATCH(tmp);
	bool direct;
	const char *path = plan_mangled(&tmp, within), *own = plan_mangled(&tmp, wanted);

	for (size_t i = 0; i < p->code->n; i++) {
		const struct code_function *f = &p->code->functions[i];
		const char *at = strstr(f->name, path);

		if (!at || !strstr(at + strlen(path), own))
			continue;
		const char *name = plan_name(p, f);
		/* Debug info has methods in their type, wherever their impl is. */
		if (!plan_is_function(name, within, wanted, &direct))
			name = symbol_name(p, f);
		if (plan_is_function(name, within, wanted, &direct))
			found(p, f, name, direct, arg);
	}
}

/* ---- points ---- */

/* The name of a task's future, or of the closure of a job; *job: which of both. */
static const char *name_future(struct planner *p, const struct type *future, enum trace_job *job)
{
	const char *name = type_name(future);
	const char *closure = p->runtime->threads.job ? p->runtime->threads.job(p->a, name) : NULL;

	if (!closure)
		return inspector_clean_name(p->a, name);
	*job = p->runtime->threads.worker_job && strstr(closure, p->runtime->threads.worker_job)
	               ? TRACE_WORKER
	               : TRACE_BLOCKING;
	return inspector_clean_name(p->a, closure);
}

/* Fills in the point's future; others: further types that it may have; NULL: none. */
static void describe_future(struct planner *p, const struct type *future,
                            const struct type *const *others, struct trace_point *point)
{
	enum trace_job job = TRACE_TASK;

	if (!future)
		return;
	const struct type *inner = boxed_future(future);

	point->boxed = inner != NULL;
	point->size = type_size(inner ? inner : future);
	point->type = name_future(p, future, &point->job);
	for (; others && *others; others++)
		point->type =
			arena_printf(p->a, "%s or %s", point->type, name_future(p, *others, &job));
}

static void describe_task(struct planner *p, const struct code_function *f,
                          struct trace_point *point)
{
	uint64_t addr = f->low + p->code->dm->module->bias;
	const struct function *found;
	struct task_types types;

	if (p->nameless)
		return;
	if (point->role == TRACE_AT_POLL) {
		p->runtime->tasks.types(p->in, addr, &types);
		describe_future(p, types.future, types.others, point);
		if (types.has_offset && !types.others && point->job == TRACE_TASK)
			point->places = place_plan_make(p->in, p->a, &types, &point->kernel);
		if (point->job == TRACE_WORKER)
			point->worker = worker_job_plan_make(p->in, p->a, p->runtime, &types,
			                                     &point->kernel);
	} else if (point->role == TRACE_AT_END && point->slow && !p->id->is_address) {
		found = lookup_function(p->in->di, addr);
		describe_future(p, found ? function_param(found, "T") : NULL, NULL, point);
	}
}

/* The point with the same address, role and stack delta; NULL: none. */
static struct trace_point *point_like(struct planner *p, const struct trace_point *point)
{
	for (size_t i = 0; i < p->points.n; i++) {
		struct trace_point *x = &p->points.data[i];

		if (x->role == point->role && x->code == point->code &&
		    x->address == point->address &&
		    x->kernel.stack_delta == point->kernel.stack_delta)
			return x;
	}
	return NULL;
}

/*
 * The site for a function that only moves its arguments and jumps into another one: the entry of
 * that one.
 */
static bool find_behind_jump(const struct planner *p, const struct code_bytes *bytes, int argument,
                             struct code_site *ret)
{
	struct code_tail tail;
	struct code_bytes next;
	struct code_site site;

	if (!code_tail_jump(bytes, (unsigned)argument, &tail))
		return false;
	uint64_t target = tail.slot ? code_map_pointer(p->code, tail.slot) : tail.target;
	const struct code_function *f = code_map_at(p->code, target);
	if (!f || f->low != target || !code_map_bytes(p->code, f, &next) ||
	    !code_entry_site(&next, (int)tail.argument, &site) || site.slow)
		return false;
	*ret = site;
	return true;
}

/*
 * argument: CODE_NO_ARGUMENT for none. loops: the site may run more than once. *shared: other
 * functions reach the site too.
 */
static bool find_site(const struct planner *p, const struct code_function *f, int argument,
                      bool loops, struct code_site *ret, bool *shared)
{
	struct code_bytes bytes;

	*shared = false;
	if (!code_map_bytes(p->code, f, &bytes) ||
	    !(loops ? code_looped_site : code_entry_site)(&bytes, argument, ret))
		return false;
	/* Only the way of an argument leads on behind calls, as a debug build has them (Deref). */
	if (ret->slow && argument == CODE_NO_ARGUMENT && !code_entry_site(&bytes, 0, ret))
		return false;
	/* Spawns, which reach a shared site too, are not seen where functions have no names. */
	if (ret->slow && argument >= 0 && !(p->nameless && p->slow))
		*shared = find_behind_jump(p, &bytes, argument, ret);
	return true;
}

void plan_add(struct planner *p, const struct probe_row *row, bool rare,
              const struct trace_point *point)
{
	if (point->slow && !p->slow && !rare) {
		p->left_out++;
		p->slow_of[row->event]++;
		return;
	}
	if (point_like(p, point))
		return;
	p->matches[row->event]++;
	*vec_push(&p->points) = *point;
}

/* Whether a hit shows where the task was spawned, by the calls that have led to it. */
static bool has_path(const struct planner *p, const struct probe_row *row)
{
	return row->event == PROBE_EVENT_SPAWN && !row->unless && p->runtime->tracing.spawners &&
	       !p->id->location.behind_id && !p->code->stripped;
}

/* Whether a point of wake-ups is at that address: which of the two is hit first is unknown. */
static bool has_wake_at(const struct planner *p, uint64_t address)
{
	for (size_t i = p->first; i < p->points.n; i++) {
		const struct trace_point *x = &p->points.data[i];

		if (x->role == TRACE_AT_WAKE && x->code == p->code && x->address == address)
			return true;
	}
	return false;
}

/*
 * The argument that decides whether a call counts (none of a row), and its value then; false:
 * unknown.
 */
static bool find_none(const struct planner *p, const struct code_function *f,
                      const struct probe_row *row, int *argument, uint32_t *none)
{
	const unsigned char *registers = p->in->target->arch->arguments;
	struct none_argument found;

	if (p->nameless || !none_argument_of(p->in->di, p->code->dm, f->low, row->none, &found))
		return false;
	*none = found.none;
	for (*argument = 0; *argument < 3; ++*argument) {
		if (registers[*argument] == found.reg)
			return true;
	}
	return false;
}

/* name: NULL for unknown; job: of a TRACE_AT_POLL, where debug info does not tell. */
static void plan_add_function(struct planner *p, const struct code_function *f, const char *name,
                              const struct probe_row *row, enum trace_job job)
{
	struct code_site site;
	struct trace_point point = {
		.role = plan_role(row->event),
		.runtime = p->runtime,
		.copy = p->copy,
		.code = p->code,
		.id = p->id,
		.has = p->has,
		.function =
			name ? inspector_clean_name(p->a, name_without_generics(p->a, name)) : NULL,
		.entry = f->low,
		.parameter = row->argument,
		.job = job,
		.queues = row->queues,
		.for_place = row->for_place,
		.of_jobs = row->of_jobs,
		.never_through = row->never_through,
	};
	bool identified = point.role != TRACE_AT_PARK;
	int argument = identified ? (int)row->argument : CODE_NO_ARGUMENT;

	point.has_none = row->none != NULL;
	if (row->none && !find_none(p, f, row, &argument, &point.none)) {
		p->unseen[row->event]++;
		return;
	}

	if (p->points.n >= PROBE_MAX_POINTS / 2 ||
	    !find_site(p, f, argument, point.role == TRACE_AT_WAKER, &site, &point.shared))
		return;
	point.address = site.address;
	point.slow = site.slow;
	if (row->for_place && has_wake_at(p, point.address))
		return;
	point.offset = code_map_offset(p->code, point.address);
	point.kernel = (struct probe_point){
		.kind = plan_kernel_kind(point.role),
		.argument = (uint8_t)site.argument,
		.is_own_id = identified && p->id->is_address,
		.table_offset = identified ? (uint32_t)p->id->table_offset : 0,
		.id_slot = identified ? (uint32_t)p->id->id_slot : 0,
		.stack_delta = site.stack_delta,
		.stack_slot = site.stack_slot,
		.busy_offset = identified ? (uint32_t)p->id->busy_offset : 0,
		.busy_mask = identified ? p->id->busy_mask : 0,
		.behind_id = point.role == TRACE_AT_SPAWN ? (uint32_t)p->id->location.behind_id : 0,
		.path_from = has_path(p, row) ? point.address : 0,
		.has_result = row->returns_end,
		.unfinished = row->unfinished,
	};
	describe_task(p, f, &point);
	/* Points that are hit once in the life of a worker may be slow. */
	plan_add(p, row,
	         point.job == TRACE_WORKER || row->once ||
	                 (row->rare && name && strstr(name, row->rare)),
	         &point);
}

static void add_point(struct planner *p, const struct code_function *f, const char *name,
                      bool direct, const void *arg)
{
	const struct probe_row *row = arg;

	if (!direct && row->direct)
		return;
	if (row->exchange || row->calls)
		plan_inside(p, f, name, row);
	else if (!row->not_calling || !plan_inside_calls(p, f, row->not_calling))
		plan_add_function(p, f, name, row, TRACE_TASK);
}

static const struct probe_row *row_named(const struct probe_row *rows, const char *name)
{
	for (; rows->name; rows++) {
		if (strcmp(rows->name, name) == 0)
			return rows;
	}
	return NULL;
}

static void count_function(struct planner *p, const struct code_function *f, const char *name,
                           bool direct, const void *arg)
{
	size_t *n = *(size_t *const *)arg;

	(void)p, (void)f, (void)name, (void)direct;
	++*n;
}

static bool plan_has_function(struct planner *p, const struct probe_row *row)
{
	size_t n = 0, *counter = &n;

	if (row)
		plan_find_functions(p, row->within, row->name, count_function, &counter);
	return n > 0;
}

static void note_caller(struct planner *p, const struct code_function *f, const char *name,
                        bool direct, const void *arg)
{
	(void)arg, (void)name;
	if (!direct)
		*vec_push(&p->callers) = f->low;
}

static void plan_rows(struct planner *p)
{
	for (const struct probe_row *row = p->runtime->tracing.probes; row->name; row++) {
		if (row->unless &&
		    plan_has_function(p, row_named(p->runtime->tracing.probes, row->unless)))
			continue;
		if (row->drops)
			plan_inside_drops(p, row);
		else if (row->stores_table)
			plan_inside_stores(p, row);
		else
			plan_find_functions(p, row->within, row->name, add_point, row);
		p->returns_end |= row->returns_end;
	}
	if (p->runtime->tracing.poll_caller)
		plan_find_functions(p, p->runtime->tracing.poll_caller_within,
		                    p->runtime->tracing.poll_caller, note_caller, NULL);
}

/* ---- returns ---- */

/* Whether only jobs of a blocking pool return to a point. */
static bool is_of_jobs(const struct planner *p, const struct trace_point *point)
{
	SCRATCH(tmp);
	size_t n, i = 0;
	const struct location *l = lookup_rust_functions_at(
		p->in->di, point->address + p->code->dm->module->bias, &tmp, &n);

	if (!p->runtime || !p->runtime->tracing.job_callers)
		return false;
	if (!l || !n)
		return point->function &&
		       runtime_begins_with_one(point->function, p->runtime->tracing.job_callers);
	while (i < n &&
	       !(l[i].name && runtime_begins_with_one(l[i].name, p->runtime->tracing.job_callers)))
		i++;
	return i < n;
}

/* The counter of slow return sites that a left-out point belongs to. */
static size_t *slow_count(struct planner *p, const struct trace_point *point)
{
	if (point->of_park)
		return &p->slow_unparks;
	return is_of_jobs(p, point) ? &p->slow_job_ends : &p->slow_ends;
}

static void add_return_point(const struct return_site *site, void *arg)
{
	struct planner *p = arg;
	const struct trace_point point = {
		.role = TRACE_AT_RETURN,
		.runtime = p->runtime,
		.copy = p->copy,
		.code = p->code,
		.id = p->id,
		.has = p->has,
		.function = site->function,
		.entry = site->after,
		.address = site->address,
		.offset = code_map_offset(p->code, site->address),
		.slow = site->slow,
		.of_park = p->of_park,
		.kernel = { .kind = PROBE_RETURN,
		            .stack_delta = site->stack_delta,
		            .has_result = site->has_result },
	};
	struct trace_point *same = point_like(p, &point);

	p->unseen[PROBE_EVENT_END] += p->returns_end && !p->of_park && !site->has_result;
	if (point.slow && !p->slow)
		++*slow_count(p, &point);
	else if (same)
		same->of_park &= point.of_park;
	else
		*vec_push(&p->points) = point;
}

static void plan_returns(struct planner *p)
{
	struct returns r = { p->in,
		             p->code,
		             p->a,
		             add_return_point,
		             p,
		             .runtime = p->runtime,
		             .over_calls = true,
		             .nameless = p->nameless };
	size_t n = p->points.n;

	p->of_park = true;
	for (size_t i = p->first; i < n; i++) {
		if (p->points.data[i].role == TRACE_AT_PARK)
			returns_of_function(&r, p->points.data[i].entry);
	}
	r.over_calls = p->of_park = false;
	returns_of_polls(&r, p->callers.data, p->callers.n, p->id);
}

/* ---- the plan ---- */

/* Several runtimes may have their code in one module. */
static struct error *plan_read_code(struct planner *p, struct dwarf_module *dm)
{
	for (size_t i = 0; i < p->points.n; i++) {
		p->code = p->points.data[i].code;
		if (p->code->dm == dm)
			return NULL;
	}
	struct code_map *code = NEW(p->a, struct code_map);
	TRY(code_map_read(dm, p->a, code));
	p->code = code;
	return NULL;
}

/* Begins the points of a runtime: those that are added next belong to it. */
static void begin_runtime(struct planner *p, const struct runtime *runtime)
{
	p->runtime = runtime;
	p->returns_end = false;
	p->first = p->points.n;
	p->has = NEW_ARRAY(p->a, bool, TRACE_NEVENTS);
}

static struct error *plan_one_copy(struct planner *p, const struct runtime_copy *copy)
{
	struct probe_id *id = NEW(p->a, struct probe_id);

	if (p->in->layout_differs && copy->dm->module == p->in->target->modules.main)
		return error_new(ERR_UNSUPPORTED,
		                 "%s belongs to another build: it does not know where the "
		                 "functions of this one are",
		                 p->in->layout);
	if (!p->runtime->tracing.probe_id || !p->runtime->tracing.probe_id(p->in, p->copy, id))
		return error_new(ERR_LAYOUT, "%s: the ids of its tasks cannot be found",
		                 p->runtime->name);
	p->id = id;
	TRY(plan_read_code(p, copy->dm));
	p->outdated |= p->code->stripped && !enumerated_has_probes(copy->dm);
	p->callers.n = 0;
	plan_rows(p);
	plan_returns(p);
	return NULL;
}

/* ---- without names ---- */

/* Adds points at functions that look like those of tasks, by their tables. */
static struct error *plan_tables(struct planner *p)
{
	struct map wakes = { 0 }; /* functions that have been added: many tasks share one */
	struct error *err = NULL;
	static const struct probe_row poll = { .event = PROBE_EVENT_POLL };
	static const struct probe_row wake = { .event = PROBE_EVENT_WAKE };
	size_t n;
	const struct task_functions *tasks =
		vtable_scan_find(p->code, p->runtime->tracing.probe_pattern, p->a, &n);

	for (size_t i = 0; i < n && !err; i++) {
		plan_add_function(p, code_map_at(p->code, tasks[i].poll), NULL, &poll,
		                  tasks[i].is_job ? TRACE_BLOCKING : TRACE_UNKNOWN_JOB);
		/* Jobs are never woken. */
		if (!tasks[i].is_job && map_put(&wakes, tasks[i].wake, NULL))
			plan_add_function(p, code_map_at(p->code, tasks[i].wake), NULL, &wake,
			                  TRACE_TASK);
		err = interrupt_check();
	}
	map_free(&wakes);
	return err;
}

/* Plans the executable by its machine code alone; *found: it has tasks. */
static struct error *plan_nameless(struct planner *p, bool *found)
{
	const struct module *m = p->in->target->modules.main;
	struct dwarf_module *dm = m ? debuginfo_module(p->in->di, m) : NULL;
	struct code_map *code = NEW(p->a, struct code_map);

	if (!dm || p->in->layout)
		return NULL;
	struct error *err = code_map_read(dm, p->a, code);
	if (err && err->kind != ERR_NO_DEBUGINFO && err->kind != ERR_UNSUPPORTED)
		return err;
	error_free(err);
	if (err || !code->stripped)
		return NULL;
	p->code = code;
	p->nameless = true;
	p->callers.n = p->copy = 0;
	for (const struct runtime *const *list = runtimes_in(p->in->di); *list; list++) {
		if (!(*list)->tracing.probe_pattern)
			continue;
		begin_runtime(p, *list);
		p->id = &(*list)->tracing.probe_pattern->id;
		TRY(plan_tables(p));
		plan_returns(p);
		plan_coverage(p);
	}
	*found = p->points.n > 0;
	return NULL;
}

/* Plans all copies of a runtime; *found: it has one. */
static struct error *plan_runtime(struct planner *p, const struct runtime *runtime, bool *found)
{
	struct runtime_copy copy;

	begin_runtime(p, runtime);
	for (p->copy = 0; runtime->copy(p->in, p->copy, &copy); p->copy++) {
		TRY(interrupt_check());
		TRY(plan_one_copy(p, &copy));
		*found = true;
	}
	/* A runtime that is linked, and runs no task of any type, has no functions for tasks. */
	if (p->points.n > p->first || (runtime->expected && p->copy > 0))
		plan_coverage(p);
	return NULL;
}

/* Plans all runtimes; an error in one leaves the others. */
static struct error *plan_all(struct planner *p, bool *found)
{
	struct error *bad CLEANUP(error_freep) = NULL;

	for (const struct runtime *const *list = runtimes_in(p->in->di); *list; list++) {
		struct error *err = (*list)->tracing.probes ? plan_runtime(p, *list, found) : NULL;

		if (!err)
			continue;
		if (err->kind == ERR_INTERRUPTED || bad) {
			error_free(bad);
			bad = NULL;
			return err;
		}
		bad = err;
		plan_coverage_none(p, arena_strdup(p->a, err->message));
	}
	if (bad && !*found) {
		struct error *err = bad;

		bad = NULL;
		return err;
	}
	return *found ? NULL : plan_nameless(p, found);
}

static void plan_finish(struct planner *p, struct trace_plan *ret)
{
	struct trace_plan plan = *p->plan;

	plan_coverage_sites(p);
	plan.arena = p->a;
	plan.left_out = p->left_out;
	plan.nameless = p->nameless;
	for (size_t i = 0; i < p->points.n; i++)
		plan.nslow += p->points.data[i].slow;
	plan.n = p->points.n;
	plan.points = vec_to_arena(&p->points, p->a);
	plan.nmissing = p->missing.n;
	plan.missing = vec_to_arena(&p->missing, p->a);
	plan.nmissing_keys = p->missing_keys.n;
	plan.missing_keys = vec_to_arena(&p->missing_keys, p->a);
	*ret = plan;
}

struct error *trace_plan_make(struct inspector *in, bool slow, struct arena *a,
                              struct trace_plan *ret)
{
	struct trace_plan begun = { 0 };
	struct planner p = { .in = in, .a = a, .slow = slow, .plan = &begun };
	bool found = false;
	struct error *err = plan_all(&p, &found);

	if (!err && !found)
		err = error_new(ERR_LAYOUT,
		                "the program has no async runtime whose events can be traced%s",
		                p.nameless ? "; it is stripped: if it has one, " PLAN_REMEDY : "");
	if (!err && !p.points.n)
		err = error_new(ERR_LAYOUT, "no probe points were found in the program");
	if (!err)
		plan_finish(&p, ret);
	vec_free(&p.points);
	vec_free(&p.callers);
	vec_free(&p.missing);
	vec_free(&p.missing_keys);
	return err;
}

struct trace_point_code trace_point_code(const struct trace_point *p)
{
	return (struct trace_point_code){ .module = p->code->dm->module,
		                          .stripped = p->code->stripped,
		                          .table_offset = p->id->table_offset,
		                          .id_slot = p->id->id_slot,
		                          .poll_slot = p->id->poll_slot };
}

void trace_plan_without(struct arena *a, const char *reason, struct trace_plan *ret)
{
	struct trace_missing *missing = NEW_ARRAY(a, struct trace_missing, TRACE_USDT);

	for (size_t i = 0; i < TRACE_USDT; i++)
		missing[i] =
			(struct trace_missing){ .event = (enum trace_event)i, .reason = reason };
	*ret = (struct trace_plan){ .arena = a, .missing = missing, .nmissing = TRACE_USDT };
}

bool trace_plan_add_return(struct trace_plan *plan, struct inspector *in,
                           const struct code_map *code, uint64_t address, bool slow)
{
	struct planner p = { .in = in, .a = plan->arena, .slow = slow };
	struct returns r = {
		.in = in, .code = code, .a = plan->arena, .found = add_return_point, .arg = &p
	};
	size_t n = plan->n;

	p.code = code;
	for (size_t i = 0; i < n; i++)
		*vec_push(&p.points) = plan->points[i];
	p.runtime = n ? plan->points[0].runtime : NULL;
	p.has = n ? (bool *)(uintptr_t)plan->points[0].has : NULL;
	p.id = n ? plan->points[0].id : NULL;
	returns_of_address(&r, address);
	plan->n = p.points.n;
	plan->points = vec_to_arena(&p.points, plan->arena);
	return plan->n > n;
}
