#include "runtimes/inspect/inspect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/log.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "debugger/elf/own_build.h"
#include "debugger/live/fd_info.h"
#include "dwarf/store/cache.h"
#include "dwarf/values/show_rows.h"
#include "runtimes/common/instant.h"
#include "runtimes/common/io_error.h"
#include "runtimes/common/passed_over.h"
#include "runtimes/common/waker.h"
#include "runtimes/future/leaf_queue.h"
#include "runtimes/inspect/decode.h"
#include "runtimes/inspect/layout_import.h"
#include "runtimes/inspect/one_owner.h"
#include "runtimes/inspect/opaque_waits.h"
#include "runtimes/inspect/other_executors.h"
#include "runtimes/ownership/ownership.h"
#include "runtimes/query/locals.h"
#include "runtimes/query/native.h"
#include "runtimes/query/whatis.h"
#include "runtimes/thread/block_on.h"
#include "runtimes/thread/blocked.h"
#include "runtimes/thread/stack.h"
#include "runtimes/thread/threads.h"

enum {
	MAX_ROUNDS = 3,
	MAX_LEAD_WALKS = 8, /* walks in a row that each find a new runtime */
};

/* Versions of all copies of r; if no copy is recognised, of the crate in the executable. */
static const char *inspect_version_of(struct inspector *in, struct arena *a,
                                      const struct runtime *r, struct dwarf_module *dm)
{
	struct runtime_copy copy;
	STR(text);

	for (size_t i = 0; r->copy(in, i, &copy); i++) {
		if (copy.version)
			str_printf(&text, "%s%s", text.len ? ", " : "", copy.version);
	}
	return text.len ? arena_strdup(a, str_text(&text)) : lookup_crate_version(dm, r->name);
}

/* Two runtimes may be of one crate. */
static bool inspect_has_crate(const struct runtime_crate *crates, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(crates[i].kind, name) == 0)
			return true;
	}
	return false;
}

/* The runtimes whose code was found, and the expected one where the executable has its crate. */
static void inspect_find_crates(struct inspector *in, struct arena *a, struct target_info *ret)
{
	struct dwarf_module *dm = debuginfo_module(in->di, in->target->modules.main);
	VEC(struct runtime_crate) crates = { 0 };
	struct runtime_copy copy;

	for (const struct runtime *const *r = runtimes_in(in->di); *r; r++) {
		const char *version = (*r)->expected || (*r)->copy(in, 0, &copy)
		                              ? inspect_version_of(in, a, *r, dm)
		                              : NULL;

		if (version && !inspect_has_crate(crates.data, crates.n, (*r)->name))
			*vec_push(&crates) = (struct runtime_crate){ (*r)->name, version };
	}
	ret->ncrates = crates.n;
	ret->crates = vec_to_arena(&crates, a);
}

/* Adds the crates of runtimes that were found on stacks, after describe_target(). */
static void find_late_crates(struct collector *c)
{
	struct inspector *in = c->in;
	struct runtime_copy copy;
	bool late = false;

	for (const struct runtime *const *r = runtimes_in(in->di); *r; r++)
		late |= !(*r)->expected && (*r)->copy(in, 0, &copy);
	if (late && in->target->modules.main)
		inspect_find_crates(in, c->a, &c->out->target);
}

static void describe_target(struct inspector *in)
{
	static const enum debug_tier tiers[] = {
		[DWARF_FULL] = TIER_FULL,
		[DWARF_LINES] = TIER_LINES,
		[DWARF_SYMBOLS] = TIER_SYMBOLS,
		[DWARF_NONE] = TIER_NONE,
	};
	struct target *t = in->target;
	struct target_info *info = &in->info;
	struct dwarf_module *dm =
		t->modules.main ? debuginfo_module(in->di, t->modules.main) : NULL;

	info->kind = t->ops->kind;
	info->pid = t->pid;
	info->core = inspector_clean_name(&in->arena, t->path);
	info->instance = inspector_clean_name(&in->arena, t->instance);
	info->command = inspector_clean_name(&in->arena, t->command);
	info->arch = t->arch ? t->arch->name : NULL;
	info->signal = t->signal.number;
	info->signal_tid = t->signal.tid;
	info->tier = TIER_NONE;
	info->tier_reason = "its executable was not found: name it with --exe";
	if (t->modules.main) {
		info->exe = inspector_clean_name(&in->arena, t->modules.main->path);
		if (t->modules.main->build_id_len)
			info->build_id = build_id_text(&in->arena, t->modules.main->build_id,
			                               t->modules.main->build_id_len);
	}
	if (dm) {
		info->tier = tiers[dm->tier];
		info->tier_reason = dm->tier_reason;
		info->layout = in->layout;
		if (in->layout)
			info->tier_reason =
				arena_printf(&in->arena, "from the layout file %s", in->layout);
		info->rustc = debuginfo_rustc_version(dm);
		inspect_find_crates(in, &in->arena, info);
	}
}

/* Looks for runtimes in the modules from that index on. */
static void inspect_detect(struct inspector *in, size_t from)
{
	for (const struct runtime *const *r = runtimes_in(in->di); *r; r++) {
		for (size_t i = from; (*r)->detect && i < in->di->nmodules; i++)
			(*r)->detect(in, in->di->modules[i]);
	}
}

struct error *inspector_open(struct target *t, const struct inspector_options *options,
                             struct inspector **ret)
{
	struct inspector *in = calloc(1, sizeof(*in));
	struct error *err;

	if (!in)
		out_of_memory();
	in->target = t;
	in->secrets = options ? options->secrets : NULL;
	if (options && options->cache)
		in->records.cache = cache_directory(&in->arena);
	in->own_build = in->records.cache ? own_build() : 0;
	err = layout_import_open(in, options);
	if (!err) {
		runtimes_register(in->di, &registered_runtimes);
		inspector_open_states(in);
		show_register(&in->show, instant_shown);
		show_register(&in->show, io_error_shown);
		show_register(&in->show, waker_shown);
		for (const struct crate_types *const *crate = crates_in(in->di); *crate; crate++) {
			if ((*crate)->shown)
				show_register(&in->show, (*crate)->shown);
		}
	}
	if (!err)
		err = unwinder_open(t, &in->unwinder);
	if (err) {
		inspector_close(in);
		return err;
	}
	inspect_detect(in, 0);
	describe_target(in);
	*ret = in;
	return NULL;
}

void inspector_update(struct inspector *in)
{
	size_t known = in->di->nmodules;

	debuginfo_update(in->di);
	inspect_detect(in, known);
	if (in->di->nmodules > known && in->target->modules.main)
		inspect_find_crates(in, &in->arena, &in->info);
}

const struct target_info *inspector_info(const struct inspector *in)
{
	return &in->info;
}

bool inspector_wants_look(const struct inspector *in)
{
	return in->look_again;
}

bool inspector_is_known(const struct inspector *in)
{
	const struct module *m = in->target->modules.main;
	struct dwarf_module *dm = m ? debuginfo_module(in->di, m) : NULL;

	return dm && !dm->dwarf && records_size(debuginfo_records(dm)) > 0;
}

void inspector_close(struct inspector *in)
{
	if (!in)
		return;
	for (size_t i = 0; in->di && runtimes_in(in->di)[i]; i++) {
		if (runtimes_in(in->di)[i]->close)
			runtimes_in(in->di)[i]->close(in);
	}
	unwinder_close(in->unwinder);
	debuginfo_close(in->di);
	vec_free(&in->notes);
	map_free(&in->paths);
	map_free(&in->passed_over);
	map_free(&in->drops);
	map_free(&in->coroutines);
	map_free(&in->selects);
	show_free(&in->show);
	arena_free(&in->arena);
	arena_free(&in->spare);
	free(in);
}

static void inspect_describe_threads(struct collector *c)
{
	struct target *t = c->in->target;
	struct snapshot *s = c->out;

	s->nthreads = t->nthreads;
	s->threads = NEW_ARRAY(c->a, struct thread_info, t->nthreads);
	for (size_t i = 0; i < t->nthreads; i++) {
		s->threads[i].number = t->threads[i].number;
		s->threads[i].tid = t->threads[i].tid;
		s->threads[i].name = inspector_clean_name(c->a, t->threads[i].name);
		s->threads[i].runtime = s->threads[i].worker = -1;
		if (!t->threads[i].has_regs)
			s->threads[i].problem = t->threads[i].problem
			                                ? t->threads[i].problem
			                                : "its registers could not be read";
	}
}

static void inspect_read_stacks(struct collector *c)
{
	struct target *t = c->in->target;

	c->stacks = NEW_ARRAY(&c->scratch, struct thread_stack, t->nthreads);
	for (size_t i = 0; i < t->nthreads; i++)
		stack_read(c, &t->threads[i], &c->stacks[i]);
}

struct inspect_request {
	unsigned want;
	const struct question *question;
};

struct collector *collector_new(struct inspector *in, unsigned want,
                                const struct question *question)
{
	struct collector *c = calloc(1, sizeof(*c));

	if (!c)
		out_of_memory();
	c->in = in;
	c->want = want;
	c->question = question;
	c->out = calloc(1, sizeof(*c->out));
	if (!c->out)
		out_of_memory();
	c->out->arena = in->spare;
	in->spare = (struct arena){ 0 };
	c->a = &c->out->arena;
	collector_open_states(c);
	c->decoding.frame_met = locals_of_frame;
	in->show.context = c;
	c->out->complete = true;
	return c;
}

struct snapshot *collector_finish(struct collector *c)
{
	struct snapshot *s = c->out;

	c->in->show.context = NULL;
	for (const struct runtime *const *r = runtimes_in(c->in->di); *r; r++) {
		if ((*r)->free)
			(*r)->free(c);
	}
	passed_over_keep(c);
	map_free(&c->tasks);
	map_free(&c->places);
	map_free(&c->wakers);
	map_free(&c->nodes);
	map_free(&c->vtables);
	map_free(&c->same_code);
	vec_free(&c->task_sets);
	vec_free(&c->decoding.regions);
	vec_free(&c->decoding.reported_wakers);
	vec_free(&c->opaque.waits);
	vec_free(&c->opaque.registrations);
	vec_free(&c->runtimes);
	vec_free(&c->listed);
	vec_free(&c->polls);
	free(c->reach.list);
	ownership_free(c);
	leaf_queues_free(c);
	arena_free(&c->scratch);
	arena_free(&c->decoding.words);
	free(c);
	return s;
}

/* Frees the collector and its snapshot; the next snapshot reuses the memory. */
static void collector_discard(struct collector *c)
{
	struct inspector *in = c->in;
	struct snapshot *s = collector_finish(c);

	arena_free(&in->spare);
	arena_reset(&s->arena);
	in->spare = s->arena;
	free(s);
}

/* The runtimes of which the program has a copy. */
typedef VEC(const struct runtime *) runtime_vec;

static void list_runtimes(struct collector *c, runtime_vec *found)
{
	struct runtime_copy copy;

	for (const struct runtime *const *r = runtimes_in(c->in->di); *r; r++) {
		(*r)->list(c);
		if ((*r)->copy(c->in, 0, &copy))
			*vec_push(found) = *r;
		else if ((*r)->describe_threads_by_stack)
			(*r)->describe_threads_by_stack(c);
	}
	collector_publish_tasks(c);
}

/* The phases of all runtimes: see struct runtime. Returns whether the program has one. */
static bool collect_runtimes(struct collector *c)
{
	runtime_vec found = { 0 };

	list_runtimes(c, &found);
	block_on_find_wakers(c);
	decode_tasks(c);
	for (size_t i = 0; i < found.n; i++) {
		if (found.data[i]->describe_threads)
			found.data[i]->describe_threads(c);
	}
	block_on_describe_threads(c);
	for (size_t i = 0; i < found.n; i++) {
		if (found.data[i]->follow)
			found.data[i]->follow(c);
	}
	if (c->opaque.waits.n)
		opaque_waits_explain(c, found.data, found.n);
	collector_publish_runtimes(c);
	bool any = found.n > 0;
	vec_free(&found);
	return any;
}

/* Finds what blocks each thread; of a program without a runtime, only where a stack tells a role.
 */
static void find_blocked(struct collector *c, bool all)
{
	for (size_t i = 0; i < c->out->nthreads; i++) {
		struct thread_info *info = &c->out->threads[i];
		struct marks marks;

		if (!all && info->role == THREAD_OTHER)
			continue;
		stack_find_marks(c, &c->stacks[i], &marks);
		blocked_find(c, info, &c->stacks[i], &marks);
	}
}

/* Collects everything that needs memory of one moment. c->stacks must be read. */
static void inspect_collect(struct collector *c)
{
	inspect_describe_threads(c);
	find_blocked(c, collect_runtimes(c));
	if (c->decoding.some_held)
		one_owner_resolve(c->out);
	if (c->want & WANT_OWNERS)
		ownership_search(c);
	if (c->question)
		snapshot_number_frames(c->out); /* answers name frames by their numbers */
	whatis_answer(c);
	native_answer(c);
	expression_answer(c, false);
}

static struct socket_info inspect_socket_info(const struct open_socket *socket)
{
	const struct descriptor *d = &socket->is;
	struct socket_info info = { .fd = socket->fd,
		                    .kind = d->what,
		                    .local = d->local,
		                    .peer = d->peer,
		                    .state = d->state,
		                    .unsent = d->unsent,
		                    .unread = d->unread };

	info.has_sent = d->unacknowledged >= 0 && d->retransmits >= 0;
	if (info.has_sent) {
		info.unacknowledged = (uint64_t)d->unacknowledged;
		info.retransmits = (uint64_t)d->retransmits;
	}
	info.has_window = d->peer_window >= 0;
	if (info.has_window)
		info.peer_window = (uint64_t)d->peer_window;
	return info;
}

/* Lists sockets while the target runs: one seen both before the stop and now existed during it. */
static void list_sockets(struct collector *c)
{
	struct snapshot *s = c->out;
	struct open_socket *list;
	bool more;

	s->has_sockets = c->in->target->ops->stop != NULL;
	s->nsockets = fd_info_sockets(c->in->target, c->a, &list, &more);
	s->sockets = NEW_ARRAY(c->a, struct socket_info, s->nsockets);
	for (size_t i = 0; i < s->nsockets; i++) {
		s->sockets[i] = inspect_socket_info(&list[i]);
	}
	if (more)
		snapshot_incomplete(s, "only the first %zu of its sockets are shown", s->nsockets);
}

/* Notes runtimes that the final walk found too late to list their tasks. */
static void note_leads_left(struct collector *c)
{
	if (c->leads_left)
		snapshot_incomplete(c->out, "tasks lead to a runtime that was found only while "
		                            "they were read: its tasks are missing");
}

static void inspect_finish(struct collector *c)
{
	threads_finish(c);
	note_leads_left(c);
	if (!c->warm_up)
		other_executors_find(c);
	if (c->want & WANT_OWNERS) {
		ownership_search(c); /* again: running futures are known now */
		ownership_search_stacks(c);
		ownership_resolve(c);
	}
	inspect_note_unstopped(c);
	if (!c->warm_up || c->question)
		snapshot_number_frames(c->out);
	expression_answer(c, true);
	if (c->want & WANT_LAYOUT)
		inspect_describe_layout(c);
	if (c->want & WANT_SOCKETS)
		list_sockets(c);
	c->out->target = c->in->info;
	find_late_crates(c);
	inspect_note_problems(c);
}

/*
 * Whether a thread need not be stopped because it waits in a system call that a stop would make
 * fail with EINTR. It must belong to no runtime, its stack must be read completely and contain
 * nothing that the request needs, and it must have slept since the walk began, so that it is
 * unlikely to wake during the stop. If it does wake, all threads are stopped.
 */
static bool may_sleep_on(struct collector *c, const struct thread_info *info,
                         const struct thread_stack *s)
{
	const struct thread *th = s->thread;
	const struct syscall *call = th->has_regs && th->regs.in_syscall
	                                     ? arch_syscall(c->in->target->arch, th->regs.syscall)
	                                     : NULL;

	return call && call->interrupted && !(c->want & (WANT_STACKS | WANT_OWNERS)) &&
	       info->role == THREAD_OTHER && info->runtime < 0 && !info->task && !info->root &&
	       !info->wait && s->stack.nframes > 0 && !s->stack.problem &&
	       target_slept_on(c->in->target, th->tid);
}

/* Excludes threads from the stop. An idle blocking-pool thread runs only if another one wakes it.
 */
static void exclude_idle(struct collector *c)
{
	for (size_t i = 0; i < c->out->nthreads; i++) {
		const struct thread_info *info = &c->out->threads[i];

		if (info->pooled || may_sleep_on(c, info, &c->stacks[i]))
			target_exclude(c->in->target, info->tid);
	}
}

/*
 * Makes the whole walk on the running program and discards its result. This warm-up walk caches
 * every type and line that the walk needs, records the memory pages that it reads, and determines
 * which threads need not be stopped.
 */
static struct error *warm_up_once(struct inspector *in, const struct inspect_request *request,
                                  bool *again)
{
	struct collector *c = collector_new(in, request->want, request->question);
	c->warm_up = c->by_poll = true;
	inspect_read_stacks(c);
	inspect_collect(c);
	inspect_finish(c);
	exclude_idle(c);
	*again = c->leads_left;
	collector_discard(c);
	return interrupt_check();
}

/* Repeats the warm-up walk until it finds no new runtime. */
static struct error *inspect_warm_up(struct inspector *in, const struct inspect_request *request)
{
	bool again = true;

	for (int walk = 0; again && walk < MAX_LEAD_WALKS; walk++)
		TRY(warm_up_once(in, request, &again));
	return NULL;
}

/* Repeats a walk whose result is kept until it finds no new runtime. */
static struct collector *collect_all(struct inspector *in, const struct inspect_request *request,
                                     bool by_poll)
{
	for (int walk = 1;; walk++) {
		struct collector *c = collector_new(in, request->want, request->question);

		c->by_poll = by_poll;
		inspect_read_stacks(c);
		inspect_collect(c);
		if (!c->leads_left || walk == MAX_LEAD_WALKS)
			return c;
		collector_discard(c);
	}
}

/* A snapshot of a live process in the making. */
struct live_round {
	struct inspector *in;
	const struct inspect_request *request;
	struct reading reading; /* of all rounds */
	bool stop_all;
	struct snapshot *out;
};

static void add_reading(struct live_round *r)
{
	const struct copy *copy = &r->in->target->stop.copy;
	struct reading *to = &r->reading;

	to->how = copy->how == COPY_STOPPED   ? READ_STOPPED
	          : copy->how == COPY_LIMITED ? READ_LIMITED
	                                      : READ_RUNNING;
	to->pause_ns += copy->pause_ns;
	to->longest_ns = copy->longest_ns > to->longest_ns ? copy->longest_ns : to->longest_ns;
	to->stops += copy->tries;
	to->threads = copy->stopped;
	to->bytes = copy->bytes;
}

/*
 * Looks through the native stacks of the copy alone. Only a stop tells all registers: a variable
 * that is found by one of them may lead to a page that the warm-up walk did not read. This finds it
 * before a hundred thousand tasks are walked in vain. Returns whether the copy lacks a page.
 */
static bool stacks_lead_on(const struct live_round *r)
{
	struct target *t = r->in->target;

	if (!(r->request->want & WANT_OWNERS) || t->stop.copy.how == COPY_RUNNING ||
	    t->stop.copy.spoiled)
		return false;
	struct collector *c = collector_new(r->in, r->request->want, NULL);
	c->warm_up = true;
	inspect_read_stacks(c);
	inspect_describe_threads(c);
	ownership_search(c);
	ownership_search_stacks(c);
	collector_discard(c);
	return t->stop.misses > 0;
}

static struct error *copy_once(struct live_round *r)
{
	TRY(target_snap(r->in->target, r->stop_all));
	add_reading(r);
	r->stop_all |= r->in->target->stop.copy.spoiled;
	return NULL;
}

/*
 * Stops the target only to copy the pages that the last walk read, then walks the copy. If the
 * program changed in between, a page may be missing: *complete is then false, and the next round
 * copies that page, too. first, last: there is no round before, and no next one.
 */
static struct error *copy_and_collect(struct live_round *r, bool first, bool last, bool *complete)
{
	struct target *t = r->in->target;

	TRY(copy_once(r));
	if (first && stacks_lead_on(r)) {
		target_keep_plan(t);
		TRY(copy_once(r));
	}
	struct collector *c = collector_new(r->in, r->request->want, r->request->question);
	inspect_read_stacks(c);
	inspect_collect(c);
	*complete = t->stop.misses == 0 && !t->stop.copy.spoiled && !c->leads_left;
	if (*complete || last)
		inspect_finish(c);
	/* inspect_finish() may miss pages, too: the warm-up walk did not see the running futures.
	 */
	*complete &= t->stop.misses == 0;
	/* Pages that the copy lacks are read now. */
	if (last && !*complete && r->reading.how == READ_STOPPED)
		r->reading.how = READ_LIMITED;
	LOG("inspect", "%zu pages were missing after a stop of %" PRIu64 " us%s", t->stop.misses,
	    t->stop.copy.pause_ns / 1000, t->stop.copy.spoiled ? ", a thread woke" : "");
	if (*complete || last)
		inspect_note_uncertainties(c);
	r->out = collector_finish(c);
	return interrupt_check();
}

static struct error *inspect_scan(struct inspector *in, bool few)
{
	for (const struct runtime *const *r = runtimes_in(in->di); *r; r++) {
		if ((*r)->scan && !(few && (*r)->threads_lead_to_tasks))
			TRY((*r)->scan(in));
	}
	return NULL;
}

/*
 * Walks while the target is stopped: for cores, and for programs that change in every round or are
 * halted. by_poll: no warm-up walk has cached the types.
 */
static struct error *inspect_stop_and_collect(struct inspector *in,
                                              const struct inspect_request *request, bool by_poll,
                                              struct reading *reading, struct snapshot **ret)
{
	struct target *t = in->target;

	if (by_poll)
		TRY(inspect_scan(in, false));
	TRY(target_stop(t));
	struct collector *c = collect_all(in, request, by_poll);
	/* Nothing waits for it then, and what it reads of running futures was not read before. */
	bool is_halted = target_is_halted(t);
	if (is_halted)
		inspect_finish(c);
	target_resume(t);
	reading->how = READ_STOPPED;
	reading->pause_ns += t->stop.pause_ns;
	reading->longest_ns =
		t->stop.pause_ns > reading->longest_ns ? t->stop.pause_ns : reading->longest_ns;
	reading->threads = t->nthreads;
	reading->stops++;
	if (!is_halted)
		inspect_finish(c);
	*ret = collector_finish(c);
	return NULL;
}

/* Not in the words of a failure: it is read as with --no-stop. */
static void note_failed_stops(struct live_round *r)
{
	uint64_t max_ns = target_max_pause(r->in->target);

	snapshot_note(r->out,
	              "it could not be stopped within %" PRIu64
	              " ms in %d tries, so it was read while it ran: --max-pause TIME allows a "
	              "longer stop",
	              max_ns / 1000000, PAUSE_TRIES);
}

static struct error *inspect_live(struct live_round *r)
{
	struct target *t = r->in->target;
	bool complete = false,
	     limited = t->stop.options.never || t->stop.options.has_max || t->stop.options.only;
	bool whole =
		!limited && !t->stop.options.brief; /* the last walk may be made during a stop */

	if (!limited && target_is_halted(t)) {
		target_invalidate(t);
		fd_info_look(t, (r->request->want & WANT_SOCKETS) != 0);
		return inspect_stop_and_collect(r->in, r->request, true, &r->reading, &r->out);
	}
	TRY(target_peek(t));
	if (t->stop.copy.pause_ns)
		add_reading(r);
	TRY(inspect_scan(r->in, false));
	TRY(inspect_warm_up(r->in, r->request));
	debuginfo_trim(r->in->di);
	for (int round = 1; !complete && round <= MAX_ROUNDS; round++) {
		snapshot_free(r->out);
		r->out = NULL;
		/* Each round finds only one more page of a chain: walk the target again. */
		if (round == MAX_ROUNDS) {
			target_invalidate(t);
			TRY(inspect_warm_up(r->in, r->request));
		}
		fd_info_look(t, (r->request->want & WANT_SOCKETS) != 0);
		TRY(copy_and_collect(r, round == 1, !whole && round == MAX_ROUNDS, &complete));
	}
	if (t->stop.failed)
		note_failed_stops(r);
	if (complete || !whole)
		return NULL;
	snapshot_free(r->out);
	r->out = NULL;
	return inspect_stop_and_collect(r->in, r->request, false, &r->reading, &r->out);
}

struct error *inspect(struct inspector *in, unsigned want, const struct question *question,
                      struct snapshot **ret)
{
	const struct inspect_request request = { want, question };
	struct live_round r = { .in = in,
		                .request = &request,
		                .stop_all = (want & WANT_STACKS) != 0 };
	struct error *err;

	in->look_again = false;
	if (in->target->ops->stop)
		err = inspect_live(&r);
	else
		err = inspect_stop_and_collect(in, &request, true, &(struct reading){ 0 }, &r.out);
	if (!err)
		err = interrupt_check();
	if (!err && !r.out->complete && r.out->nnotes == 0)
		snapshot_note(r.out, "what could not be read is marked where `async backtrace all` "
		                     "shows it");
	if (err) {
		snapshot_free(r.out);
		return err;
	}
	/* The graph, page or file made of the snapshot needs the memory more. */
	if (!target_is_halted(in->target))
		target_release_copy(in->target);
	r.out->reading = r.reading;
	*ret = r.out;
	return NULL;
}

/* Answers what the innermost native frame of a thread has. */
static void add_innermost_frame(struct collector *c, pid_t tid)
{
	const struct thread_info *th = snapshot_thread_by_tid(c->out, tid);
	const struct question question = { .native = true, .thread = th ? th->number : 0 };

	c->want |= WANT_LOCALS;
	c->question = &question;
	native_answer(c);
	c->question = NULL;
}

struct error *inspect_threads(struct inspector *in, const pid_t *tids, size_t n, bool locals,
                              struct snapshot **ret)
{
	struct target *t = in->target;

	target_invalidate(t);
	TRY(inspect_scan(in, true));
	TRY(target_stop_threads(t, tids, n));
	struct collector *c = collector_new(in, 0, NULL);
	c->few = c->by_poll = true;
	inspect_read_stacks(c);
	inspect_describe_threads(c);
	collect_runtimes(c);
	if (locals)
		add_innermost_frame(c, tids[0]);
	threads_finish_merged(c, tids[0]);
	target_resume(t);
	c->out->target = in->info;
	*ret = collector_finish(c);
	return NULL;
}
