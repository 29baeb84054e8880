#include "runtimes/trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debugger/base/clock.h"
#include "debugger/base/log.h"
#include "debugger/base/path.h"
#include "debugger/base/str.h"
#include "debugger/live/proc.h"
#include "dwarf/frame/call_path.h"
#include "runtimes/common/call_site.h"
#include "runtimes/trace/plan_private.h"
#include "runtimes/trace/trace_key.h"
#include "runtimes/trace/trace_private.h"

/* ---- the calls that lead to spawns ---- */

/* Arguments of a search for calls. */
struct frames {
	struct trace *t;
	const struct code_map *code;
	const char *never; /* never_through */
};

static void trace_add_frame(uint64_t after, const struct call_frame *frame, void *arg)
{
	struct trace *t = ((const struct frames *)arg)->t;
	const struct probe_frame probed = { frame->distance, frame->by_pointer, frame->kept };

	t->nframes += probes_know_frame(t->probes, after, &probed);
}

/*
 * Whether a call in a function of a task's table is one of its own code: the function that polls
 * has the future inlined, which may spawn. Anything unknown counts as its own.
 */
static bool is_own_call(uint64_t after, void *arg)
{
	static const char *const std[] = { "core::", "alloc::", "std::", NULL };
	const struct frames *f = arg;
	SCRATCH(tmp);
	size_t n, i = 0;
	const struct location *l = lookup_rust_functions_at(
		f->t->in->di, after - 1 + f->code->dm->module->bias, &tmp, &n);

	while (l && i < n && l[i].name && runtime_begins_with_one(l[i].name, std))
		i++;
	return !l || i >= n || !l[i].name || str_begins(l[i].name, f->never);
}

/* Whether a point shows where a task was spawned, by the calls that have led there. */
static bool trace_is_wanted_path(const struct trace *t, const struct trace_point *p)
{
	return p->kernel.path_from && t->options.sites && t->options.events[TRACE_SPAWN];
}

/*
 * Mangled paths of all runtimes that spawn for one: its spawners, or the functions they lead
 * through.
 */
static const char **mangled_parts(const struct trace *t, struct arena *a, const struct runtime *of,
                                  bool spawners)
{
	VEC(const char *) parts = { 0 };

	for (const struct runtime *const *r = runtimes_in(t->in->di); *r; r++) {
		const char *const *paths =
			spawners ? (*r)->tracing.spawners : (*r)->tracing.spawn_through;

		for (; call_site_spawns_for(*r, of) && paths && *paths; paths++)
			*vec_push(&parts) = plan_mangled(a, *paths);
	}
	if (spawners)
		*vec_push(&parts) = plan_mangled(a, of->tracing.spawn_caller_within);
	*vec_push(&parts) = NULL;
	return vec_to_arena(&parts, a);
}

/* Whether the ways to two points are looked for together. */
static bool is_with(const struct trace_point *a, const struct trace_point *b)
{
	return a->code == b->code && a->runtime == b->runtime &&
	       a->never_through == b->never_through;
}

/* Adds the frames of calls that lead to points of one runtime in a module: first and others. */
static void trace_add_frames(struct trace *t, const struct trace_point *first)
{
	SCRATCH(tmp);
	const struct runtime *r = first->runtime;
	struct frames frames = { t, first->code, first->never_through };
	uint64_t *targets = NEW_ARRAY(&tmp, uint64_t, t->plan.n);
	struct call_path_search search = {
		.targets = targets,
		.parts = mangled_parts(t, &tmp, r, false),
		.indirect = r->tracing.spawn_caller ? mangled_parts(t, &tmp, r, true) : NULL,
		.end = frames.never ? plan_mangled(&tmp, frames.never) : NULL,
		.ends = is_own_call,
	};

	for (size_t i = 0; i < t->plan.n; i++) {
		const struct trace_point *p = &t->plan.points[i];

		if (trace_is_wanted_path(t, p) && is_with(first, p))
			targets[search.n++] = p->entry;
	}
	call_path_frames(t->in->target, first->code, &search, trace_add_frame, &frames);
	LOG("trace", "%zu calls may lead to a spawn", t->nframes);
}

static void add_all_frames(struct trace *t)
{
	struct map done = { 0 };

	for (size_t i = 0; i < t->plan.n; i++) {
		const struct trace_point *p = &t->plan.points[i];

		uint64_t of = map_key_of_pair((uintptr_t)p->runtime, (uintptr_t)p->never_through);

		if (trace_is_wanted_path(t, p) &&
		    map_put(&done, map_key_of_pair((uintptr_t)p->code, of), NULL))
			trace_add_frames(t, p);
	}
	map_free(&done);
}

/* ---- attaching ---- */

uint64_t trace_load_bias(const struct trace *t, const struct code_map *code)
{
	return t->options.pid ? t->bias : code->dm->module->bias;
}

uint64_t trace_point_address(const struct trace *t, const struct trace_point *p)
{
	return t->is_mapped ? p->address + trace_load_bias(t, p->code) : 0;
}

/*
 * Opens a file by its name in the root of the process. The kernel would follow a link there, which
 * the process may have made, to a file of the host; through a descriptor it gets the one that was
 * found in that root.
 */
static struct error *trace_open_library(struct trace *t, const struct module *m, const char **ret)
{
	SCRATCH(tmp);
	const char *path = arena_printf(&tmp, "%s%s", t->in->target->root, m->path);
	const char *known = map_get(&t->libraries, (uintptr_t)m);

	*ret = known;
	if (known)
		return NULL;
	int fd = path_find(path, 0, NULL);
	if (fd < 0)
		return error_os(errno, "opening %s", path);
	*vec_push(&t->files) = fd;
	char *own = arena_printf(&t->arena, "/proc/self/fd/%d", fd);
	map_put(&t->libraries, (uintptr_t)m, own);
	*ret = own;
	return NULL;
}

/* The file of a module as we can open it: the inode that the process has mapped. */
static struct error *file_of(struct trace *t, const struct module *m, const char **ret)
{
	const char *file = m->is_main && !t->options.pid ? probes_executable(t->probes) : m->file;

	if (!t->options.pid && !m->is_main)
		return trace_open_library(t, m, ret);
	*ret = file ? file : arena_printf(&t->arena, "/proc/%d/exe", (int)t->in->target->pid);
	return NULL;
}

/*
 * Whether only the starts of polls are wanted of a runtime, which saves a second breakpoint where
 * they return. Wakers and spawners are known from the task that the thread polls then, and where
 * tasks are known by their addresses, from their ends.
 */
static bool has_starts_alone(const struct trace *t, const struct trace_point *p)
{
	for (size_t i = 0; i < TRACE_NEVENTS; i++) {
		if (t->options.events[i] && i != TRACE_POLL_START && i != TRACE_WORKER_START)
			return false;
	}
	return !p->id->is_address && !t->options.off_times;
}

/* Whether a point gives events that are wanted, or parts of them. */
static bool is_needed(const struct trace *t, const struct trace_point *p)
{
	const bool *wanted = t->options.events;

	switch (p->role) {
	case TRACE_AT_WAKE:
		return wanted[TRACE_WAKE];
	case TRACE_AT_WAKER:
		return wanted[TRACE_WAKE] && (t->options.wakers || p->queues);
	case TRACE_AT_SPAWN:
		return p->for_place ? t->options.sites && wanted[TRACE_SPAWN]
		                    : wanted[TRACE_SPAWN] || wanted[TRACE_WAKE];
	case TRACE_AT_END:
		return p->kernel.is_own_id || wanted[TRACE_TERMINATE] || wanted[TRACE_SPAWN] ||
		       wanted[TRACE_POLL_END];
	case TRACE_AT_PARK:
		/* A park shows that the poll before it has ended, soon after that. */
		return wanted[TRACE_PARK] || wanted[TRACE_UNPARK] ||
		       (wanted[TRACE_POLL_END] && t->plan.late_ends);
	case TRACE_AT_RETURN:
		return (!p->of_park || wanted[TRACE_UNPARK]) && !has_starts_alone(t, p);
	default:
		return true;
	}
}

static uint8_t trace_silence(bool hit, bool end)
{
	return (uint8_t)((hit ? 0 : PROBE_NO_HIT) | (end ? 0 : PROBE_NO_END));
}

/* Records that a point leaves out because it is only needed for another point. */
static uint8_t silence_of(const struct trace *t, const struct trace_point *p)
{
	const bool *wanted = t->options.events;

	switch (p->role) {
	case TRACE_AT_POLL:
		/*
		 * Calls of worker jobs show which threads are workers, whatever events are wanted.
		 */
		if (has_starts_alone(t, p))
			return trace_silence(p->job == TRACE_WORKER || wanted[TRACE_POLL_START],
			                     false) |
			       PROBE_NO_CALL;
		if (p->job == TRACE_WORKER)
			return trace_silence(true, true);
		/* The first poll of a task may show its spawn. */
		return trace_silence(p->kernel.is_own_id || wanted[TRACE_POLL_START] ||
		                             wanted[TRACE_SPAWN],
		                     p->kernel.has_result || wanted[TRACE_POLL_END]);
	case TRACE_AT_PARK:
		return trace_silence(wanted[TRACE_PARK], wanted[TRACE_UNPARK]) |
		       (wanted[TRACE_UNPARK] ? 0 : PROBE_NO_CALL);
	case TRACE_AT_END:
		return trace_silence(p->kernel.is_own_id || wanted[TRACE_TERMINATE] ||
		                             wanted[TRACE_SPAWN],
		                     true);
	default:
		return 0;
	}
}

static bool is_call(const struct trace_point *p)
{
	return p->role == TRACE_AT_POLL || p->role == TRACE_AT_PARK;
}

/* Attaches the new points that lie in this module: those of calls, or the others. */
static struct error *attach_module(struct trace *t, const struct code_map *code, bool calls)
{
	VEC(struct probe_site) sites = { 0 };
	const char *file;
	struct error *err = file_of(t, code->dm->module, &file);

	if (err)
		return err;
	for (size_t i = t->nattached; i < t->plan.n; i++) {
		const struct trace_point *p = &t->plan.points[i];

		if (p->code == code && is_call(p) == calls && is_needed(t, p))
			*vec_push(&sites) = (struct probe_site){ p->offset, 0, (uint32_t)i };
	}
	err = probes_attach(t->probes, file, sites.data, sites.n);
	vec_free(&sites);
	return err;
}

/* Records the run-time address of a point's function, or of where calls return to. */
static struct error *note_address(struct trace *t, size_t index)
{
	const struct trace_point *p = &t->plan.points[index];
	uint64_t address = p->entry + trace_load_bias(t, p->code);

	if (p->role == TRACE_AT_POLL)
		map_put(&t->polls, address, (void *)(uintptr_t)(index + 1));
	if (p->role != TRACE_AT_RETURN)
		return NULL;
	if (!p->of_park)
		map_put(&t->ends, address, NULL);
	return probes_know_return(t->probes, address);
}

static struct error *trace_describe(struct trace *t, size_t index)
{
	const struct trace_point *p = &t->plan.points[index];
	struct probe_point kernel = p->kernel;

	kernel.address = trace_point_address(t, p);
	kernel.silent = silence_of(t, p);
	kernel.path_from = trace_is_wanted_path(t, p) ? p->address : 0;
	if (kernel.path_from)
		kernel.path_kept =
			call_path_kept(t->in->target, p->address + p->code->dm->module->bias);
	if (t->options.no_places && !kernel.at_entry)
		kernel.npieces = 0;
	TRY(note_address(t, index));
	return probes_describe(t->probes, (uint32_t)index, &kernel);
}

/*
 * Attaches the new points of the plan. The program runs meanwhile: points of calls come last, and
 * go first when all are detached, so that where a call was seen, its end is seen too.
 */
static struct error *attach(struct trace *t)
{
	struct map done = { 0 }; /* modules */
	struct error *err = NULL;

	for (size_t i = t->nattached; i < t->plan.n; i++)
		TRY(trace_describe(t, i));
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

/* Attaches the static probes that have to wait until the program begins, or the others. */
static struct error *attach_statics(struct trace *t, bool later)
{
	const struct trace_statics *statics = &t->statics;
	pid_t pid = t->options.pid ? t->options.pid : t->in->target->pid;
	SCRATCH(tmp);
	struct probe_site *sites = NEW_ARRAY(&tmp, struct probe_site, statics->n + 1);

	for (size_t i = 0, next; i < statics->n; i = next) {
		const struct module *m = statics->probes[i].module;
		const char *file;
		size_t n = 0;

		TRY(file_of(t, m, &file));

		for (next = i; next < statics->n && statics->probes[next].module == m; next++) {
			const struct usdt_probe *p = statics->probes[next].probe;

			if (is_later(t, p) != later)
				continue;
			TRY(trace_usdt_check_semaphore(pid, &statics->probes[next]));
			TRY(describe_static(t, next));
			sites[n++] = (struct probe_site){ p->location_offset, p->semaphore_offset,
				                          (uint32_t)(FIRST_STATIC + next) };
		}
		TRY(probes_attach(t->probes, file, sites, n));
	}
	return NULL;
}

bool trace_wants_libraries(const struct trace *t)
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
	t->is_mapped = true;
	probes_reopen(t->probes);
	for (size_t i = 0; i < t->plan.n; i++)
		TRY(trace_describe(t, i));
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

/* A thread that is off its CPU, and is not polled, shows nothing by itself. */
static void measure_threads(struct trace *t, const struct snapshot *s)
{
	if (!t->options.off_times || !sees_all_threads())
		return;
	for (size_t i = 0; i < s->nthreads; i++)
		probes_add_thread(t->probes, s->threads[i].tid);
}

static void know_by_address(struct trace *t, const struct task *task)
{
	uint64_t key = trace_key(task);

	task_lives_begin(&t->lives, key);
	task_lives_at(&t->lives, key)->queued = task->state != TASK_IDLE;
}

void trace_seed_from_snapshot(struct trace *t, const struct snapshot *s)
{
	t->interval.known = clock_now_ns();
	trace_threads_know(&t->threads, s);
	measure_threads(t, s);
	for (size_t i = 0; i < s->ntasks; i++) {
		if (s->tasks[i]->number)
			id_set_add(&t->seen, s->tasks[i]->number);
		else
			know_by_address(t, s->tasks[i]);
	}
	for (size_t i = 0; i < s->njobs; i++) {
		if (s->jobs[i].id)
			id_set_add(&t->seen, strtoull(s->jobs[i].id, NULL, 10));
	}
}

void trace_look_with(struct trace *t, trace_look_fn *look, void *arg)
{
	t->threads.look = look;
	t->threads.arg = arg;
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
	t->is_mapped = !options->pid;
	TRY(probes_open(&probes, &t->probes));
	TRY(make_plan(t));
	add_all_frames(t);
	struct error *err = attach(t);
	if (err && probes_are_over(t->probes)) {
		error_free(err);
		return error_new(ERR_STATE, "process %d has ended or executed another program",
		                 (int)probes.pid);
	}
	TRY(err);
	/* Static probes come after the runtime's points: then the task that is polled is known. */
	TRY(attach_statics(t, false));
	t->interval.placed = clock_now_ns();
	*ret = t;
	t = NULL;
	return NULL;
}

void trace_detach(struct trace *t)
{
	if (t->interval.detached)
		return;
	t->interval.end = clock_now_ns();
	t->losses.at_end = probes_count(t->probes, PROBE_LOST);
	t->interval.detached = true;
	probes_detach(t->probes);
	t->interval.detach_ns = clock_since(t->interval.end);
}

uint64_t trace_start(const struct trace *t)
{
	return t->interval.known > t->interval.placed ? t->interval.known : t->interval.placed;
}

uint64_t trace_end(const struct trace *t)
{
	return t->interval.detached ? t->interval.end : clock_now_ns();
}

uint64_t trace_detach_ns(const struct trace *t)
{
	return t->interval.detach_ns;
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	probes_close(t->probes);
	map_free(&t->polls);
	map_free(&t->ends);
	map_free(&t->tables);
	trace_threads_free(&t->threads);
	map_free(&t->libraries);
	for (size_t i = 0; i < t->files.n; i++)
		close(t->files.data[i]);
	vec_free(&t->files);
	map_free(&t->types);
	map_free(&t->sites);
	map_free(&t->ways);
	id_set_free(&t->seen);
	task_lives_free(&t->lives);
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

/* The code in which a run-time address lies; NULL: in none that has points. */
static const struct code_map *code_at(const struct trace *t, uint64_t address)
{
	for (size_t i = 0; i < t->plan.n; i++) {
		const struct code_map *code = t->plan.points[i].code;

		if (code_map_at(code, address - trace_load_bias(t, code)))
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
		LOG("trace", "a call returns to 0x%" PRIx64, address - trace_load_bias(t, code));
		trace_plan_add_return(&t->plan, t->in, code, address - trace_load_bias(t, code),
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
		TRY(probes_read(t->probes, trace_take, t, &more));
	} while (more && t->interval.detached);
	t->interval.behind = more;
	return t->returns.n && !t->interval.detached ? add_returns(t) : NULL;
}

struct error *trace_read_until_now(struct trace *t, trace_item_fn *visit, void *arg, uint64_t *now)
{
	uint64_t began = clock_now_ns();

	*now = t->interval.read_to;
	do {
		TRY(trace_read(t, visit, arg));
	} while (t->interval.behind && t->interval.read_to < began);
	/* Points write on while the buffer is read, in the order of their times. */
	*now = t->interval.detached          ? t->interval.end
	       : t->interval.read_to > began ? t->interval.read_to
	                                     : began;
	return NULL;
}

/* The number of lost events up to the end; losses while the points are removed do not count. */
static uint64_t trace_lost_of(const struct trace *t)
{
	return t->interval.detached ? t->losses.at_end : probes_count(t->probes, PROBE_LOST);
}

bool trace_has_lost(struct trace *t, uint64_t *n)
{
	uint64_t lost = trace_lost_of(t);
	bool more = lost != t->losses.seen;

	more |= t->losses.early;
	t->losses.early = false;
	t->losses.seen = lost;
	*n = 0;
	if (more || t->losses.reported == lost || t->interval.behind)
		return more;
	*n = lost - t->losses.reported;
	t->losses.reported = lost;
	return true;
}

uint64_t trace_lost_now(struct trace *t)
{
	uint64_t lost = trace_lost_of(t), n = lost - t->losses.reported;

	t->losses.early |= n > 0;
	t->losses.reported = lost;
	return n;
}

void trace_totals(const struct trace *t, struct trace_totals *ret)
{
	*ret = t->totals;
	ret->lost = trace_lost_of(t);
	ret->too_deep = probes_count(t->probes, PROBE_TOO_DEEP);
}
