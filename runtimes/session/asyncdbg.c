/* The handle of one program (asyncdbg.h): opens it, and takes and caches its snapshots. */
#include "runtimes/session/asyncdbg.h"
#include "debugger/base/str.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/arena.h"
#include "debugger/base/file_fault.h"
#include "debugger/host/suspension.h"
#include "debugger/live/live_check.h"
#include "dwarf/values/parts.h"
#include "runtimes/analysis/checks.h"
#include "runtimes/analysis/holders.h"
#include "runtimes/common/inspector.h"
#include "runtimes/graph/verdict.h"

struct asyncdbg {
	struct target *target; /* NULL: a saved snapshot, or no program */
	struct inspector *inspector;
	bool saved;                 /* the handle has only a saved snapshot */
	unsigned saved_wants;       /* wants of the saved snapshot */
	struct saved_names names;   /* names in the saved snapshot */
	struct saved_origin origin; /* origin of the saved snapshot */
	struct snapshot *snapshot;  /* the current one; NULL: none */
	unsigned wants;             /* wants of the current snapshot */
	struct question question;   /* question of the current snapshot; its strings are in the
	                               snapshot's arena */
	struct waiting waiting;     /* of the current snapshot */
	struct graph *graph;       /* of the snapshot of the last asyncdbg_verdicts(); NULL: none */
	struct verdicts *verdicts; /* of that graph */
	bool few;                  /* the current snapshot is of asyncdbg_threads() */
	bool looked_again;         /* see asyncdbg_take_snapshot() */
	bool pinned;
	uint64_t nloads;    /* number of times that modules have come or gone */
	struct arena arena; /* lives until asyncdbg_close() */
};

static struct asyncdbg *new_handle(void)
{
	struct asyncdbg *d = calloc(1, sizeof(*d));

	if (!d)
		abort();
	return d;
}

struct asyncdbg *asyncdbg_from_snapshot(struct snapshot *snap, unsigned wants,
                                        const struct saved_origin *origin)
{
	struct asyncdbg *d = new_handle();

	d->saved = true;
	d->saved_wants = wants;
	d->origin = *origin;
	d->snapshot = snap;
	saved_find_names(snap, &d->names);
	return d;
}

static struct error *open_saved(const char *file, struct asyncdbg **ret)
{
	struct saved_info info;
	struct snapshot *snap;

	TRY(saved_read(file, &snap, &info));
	*ret = asyncdbg_from_snapshot(snap, info.wants,
	                              &(struct saved_origin){ .when = info.when });
	(*ret)->origin.file = arena_strdup(&(*ret)->arena, file);
	return NULL;
}

/* Copies a name: the target and the inspector keep pointers to some names. */
static const char *keep(struct asyncdbg *d, const char *text)
{
	return text ? arena_strdup(&d->arena, text) : NULL;
}

static struct error *open_target(struct asyncdbg *d, const struct asyncdbg_options *options)
{
	struct target_options target = options->target;
	struct inspector_options inspector = options->inspector;

	target.exe = keep(d, target.exe);
	inspector.layout = keep(d, inspector.layout);
	if (options->pid)
		TRY(target_live_open(options->pid, &target, &d->target));
	else if (options->file)
		TRY(target_core_open(options->file, &target, &d->target));
	else if (options->program)
		TRY(target_file_open(options->program, &d->target));
	return d->target ? inspector_open(d->target, &inspector, &d->inspector) : NULL;
}

struct error *asyncdbg_open(const struct asyncdbg_options *options, struct asyncdbg **ret)
{
	if ((options->pid != 0) + (options->file != NULL) + (options->program != NULL) > 1)
		return error_new(ERR_USAGE,
		                 "only one of a process, a file and an executable may be given");
	if (options->file && saved_is(options->file))
		return open_saved(options->file, ret);

	struct asyncdbg *d CLEANUP(asyncdbg_closep) = new_handle();

	TRY(open_target(d, options));
	*ret = d;
	d = NULL;
	return NULL;
}

static void drop_graph(struct asyncdbg *d)
{
	verdicts_free(d->verdicts);
	graph_free(d->graph);
	d->verdicts = NULL;
	d->graph = NULL;
}

void asyncdbg_drop(struct asyncdbg *d)
{
	if (!d)
		return;
	drop_graph(d);
	holders_waiting_free(&d->waiting);
	if (d->saved)
		return;
	snapshot_free(d->snapshot);
	d->snapshot = NULL;
	d->few = false;
	d->wants = 0;
	d->question = (struct question){ 0 };
}

void asyncdbg_close(struct asyncdbg *d)
{
	if (!d)
		return;
	asyncdbg_drop(d);
	if (d->saved)
		snapshot_free(d->snapshot);
	if (d->inspector)
		inspector_close(d->inspector);
	target_close(d->target);
	arena_free(&d->arena);
	free(d);
}

void asyncdbg_closep(struct asyncdbg **d)
{
	asyncdbg_close(*d);
}

enum asyncdbg_kind asyncdbg_kind(const struct asyncdbg *d)
{
	if (d && d->saved)
		return ASYNCDBG_SAVED;
	if (!d || !d->target)
		return ASYNCDBG_NONE;
	if (strcmp(d->target->ops->kind, "file") == 0)
		return ASYNCDBG_FILE;
	return strcmp(d->target->ops->kind, "core") == 0 ? ASYNCDBG_CORE : ASYNCDBG_LIVE;
}

const struct saved_origin *asyncdbg_origin(const struct asyncdbg *d)
{
	return d && d->saved ? &d->origin : NULL;
}

struct target *asyncdbg_target(const struct asyncdbg *d)
{
	return d ? d->target : NULL;
}

struct error *asyncdbg_update_modules(struct asyncdbg *d, bool *changed)
{
	*changed = false;
	if (!d->target || !d->inspector)
		return NULL;
	struct error *err = target_update_modules(d->target, changed);
	if (*changed)
		inspector_update(d->inspector);
	d->nloads += *changed;
	return err;
}

uint64_t asyncdbg_nloads(const struct asyncdbg *d)
{
	return d ? d->nloads : 0;
}

/* A runtime may be in a library that was loaded since. What is wrong is found by the look itself.
 */
static struct error *see_libraries(struct asyncdbg *d)
{
	bool changed;
	struct error *err = asyncdbg_update_modules(d, &changed);

	if (!err || err->kind == ERR_INTERRUPTED)
		return err;
	error_free(err);
	return NULL;
}

bool asyncdbg_has_ended(const struct asyncdbg *d)
{
	const struct arch *arch;
	struct error *err CLEANUP(error_freep) =
		asyncdbg_kind(d) == ASYNCDBG_LIVE ? live_check(d->target->pid, false, &arch) : NULL;

	return err != NULL;
}

struct inspector *asyncdbg_inspector(const struct asyncdbg *d)
{
	return d ? d->inspector : NULL;
}

struct debuginfo *asyncdbg_debuginfo(const struct asyncdbg *d)
{
	return d && d->inspector ? d->inspector->di : NULL;
}

struct parts_context asyncdbg_parts_context(const struct asyncdbg *d)
{
	struct inspector *in = asyncdbg_inspector(d);

	return in ? (struct parts_context){ in->target, in->di, &in->show, in->secrets }
	          : (struct parts_context){ 0 };
}

static struct error *check_has_types(const struct asyncdbg *d)
{
	switch (asyncdbg_kind(d)) {
	case ASYNCDBG_NONE:
		return error_new(ERR_USAGE, "no process, core or executable given");
	case ASYNCDBG_SAVED:
		return error_new(ERR_STATE, "a saved snapshot has no types: use the process, its "
		                            "core or its executable");
	default:
		return NULL;
	}
}

struct error *asyncdbg_types(struct asyncdbg *d, const char *regex, size_t limit, struct arena *a,
                             struct type_list *ret)
{
	TRY(check_has_types(d));
	return types_find(d->inspector, regex, limit, a, ret);
}

struct error *asyncdbg_type(struct asyncdbg *d, const char *name, struct arena *a,
                            struct type_info *ret)
{
	TRY(check_has_types(d));
	return types_describe(d->inspector, name, a, ret);
}

/* Does the current snapshot answer the question? */
static bool is_answered(const struct asyncdbg *d, const struct question *q)
{
	const struct question *answered = &d->question;

	if (!q)
		return true;
	return !q->typed && str_same(q->task, answered->task) &&
	       str_same(q->print, answered->print) && q->names == answered->names &&
	       q->thread == answered->thread && q->frame == answered->frame &&
	       q->native == answered->native && q->has_whatis == answered->has_whatis &&
	       q->whatis == answered->whatis;
}

/* Copies a question into the arena of the snapshot that answers it. */
static struct question keep_question(struct snapshot *snap, const struct question *q)
{
	struct question kept = q ? *q : (struct question){ 0 };

	kept.task = kept.task ? arena_strdup(&snap->arena, kept.task) : NULL;
	kept.print = kept.print ? arena_strdup(&snap->arena, kept.print) : NULL;
	kept.typed = NULL;
	return kept;
}

/* The wants that a snapshot taken with others does not satisfy. */
static unsigned asyncdbg_lacking(unsigned wants, unsigned taken)
{
	return wants & ~(taken & WANT_LOCALS ? taken | WANT_LOCAL_NAMES : taken);
}

/* Like a target, show only what the command requested: the saved snapshot may have more. */
static struct error *asyncdbg_saved_snapshot(struct asyncdbg *d, unsigned wants,
                                             const struct question *question,
                                             const struct snapshot **ret)
{
	if (question)
		return error_new(ERR_STATE,
		                 "a saved snapshot has none of the program's memory: use the "
		                 "process or its core; \"locals\" shows the saved variables");
	if (d->saved_wants & WANT_STACKS)
		wants &= ~(unsigned)WANT_JOB_STACKS;
	/* Older snapshots lack the owners, and have everything else that they were saved for. */
	if (!(d->saved_wants & WANT_DESCRIPTORS))
		wants &= ~(unsigned)WANT_DESCRIPTORS;
	if (asyncdbg_lacking(wants, d->saved_wants))
		return error_new(ERR_STATE, "the snapshot lacks what this command shows; save "
		                            "another one with this asyncdbg");
	d->wants = d->snapshot->target.core ? d->wants | wants : wants;
	saved_show_names(&d->names, d->wants & WANT_HOLDINGS);
	*ret = d->snapshot;
	return NULL;
}

/*
 * Takes a snapshot; and once, where that makes something certain, a second one. Only once: in a
 * busy program some future may always be about to be woken.
 */
/* inspect(), and all files that it read were whole. */
static struct error *asyncdbg_inspect_whole(struct asyncdbg *d, unsigned wants,
                                            const struct question *question, struct snapshot **ret)
{
	TRY(inspect(d->inspector, wants, question, ret));

	struct error *err = file_fault_check();
	if (err) {
		snapshot_free(*ret);
		*ret = NULL;
	}
	return err;
}

static struct error *asyncdbg_take_snapshot(struct asyncdbg *d, unsigned wants,
                                            const struct question *question, struct snapshot **ret)
{
	enum { BETWEEN_MS = 30 };

	TRY(asyncdbg_inspect_whole(d, wants, question, ret));
	if (d->looked_again || !inspector_wants_look(d->inspector))
		return NULL;
	d->looked_again = true;
	snapshot_free(*ret);
	*ret = NULL;
	TRY(interrupt_sleep(BETWEEN_MS / 1000.0));
	return asyncdbg_inspect_whole(d, wants, question, ret);
}

struct error *asyncdbg_snapshot(struct asyncdbg *d, unsigned wants, const struct question *question,
                                const struct snapshot **ret)
{
	enum asyncdbg_kind kind = asyncdbg_kind(d);

	if (kind == ASYNCDBG_NONE || kind == ASYNCDBG_FILE)
		return error_new(ERR_USAGE, "no process, core or saved snapshot given");
	if (kind == ASYNCDBG_SAVED)
		return asyncdbg_saved_snapshot(d, wants, question, ret);

	bool still = kind == ASYNCDBG_CORE || d->pinned;

	if (!still || !d->snapshot || d->few || asyncdbg_lacking(wants, d->wants) ||
	    !is_answered(d, question)) {
		struct snapshot *fresh;

		/*
		 * Keep the former wants; otherwise two alternating commands would each take a new
		 * snapshot.
		 */
		if (still)
			wants |= d->wants;
		TRY(see_libraries(d));
		TRY(asyncdbg_take_snapshot(d, wants, question, &fresh));
		asyncdbg_drop(d);
		d->snapshot = fresh;
		d->question = keep_question(fresh, question);
		d->wants = wants;
	}
	*ret = d->snapshot;
	return NULL;
}

struct error *asyncdbg_threads(struct asyncdbg *d, const pid_t *tids, size_t n, bool locals,
                               const struct snapshot **ret)
{
	struct snapshot *fresh;

	if (asyncdbg_kind(d) != ASYNCDBG_LIVE || !target_is_halted(d->target))
		return asyncdbg_snapshot(d, WANT_RUNNING, NULL, ret);
	TRY(inspect_threads(d->inspector, tids, n, locals, &fresh));
	asyncdbg_drop(d);
	d->snapshot = fresh;
	d->few = true;
	*ret = fresh;
	return NULL;
}

struct error *asyncdbg_take(struct asyncdbg *d, unsigned wants, struct snapshot **ret)
{
	if (!asyncdbg_target(d) || asyncdbg_kind(d) == ASYNCDBG_FILE)
		return error_new(ERR_STATE, "there is no program to read again");
	TRY(see_libraries(d));
	return asyncdbg_inspect_whole(d, wants, NULL, ret);
}

bool asyncdbg_reuse_snapshot(struct asyncdbg *d, bool pinned)
{
	bool before = d && d->pinned;

	if (d)
		d->pinned = pinned;
	return before;
}

const struct snapshot *asyncdbg_last(const struct asyncdbg *d)
{
	return d ? d->snapshot : NULL;
}

unsigned asyncdbg_last_wants(const struct asyncdbg *d)
{
	return d ? d->wants : 0;
}

const struct question *asyncdbg_last_question(const struct asyncdbg *d)
{
	static const struct question none;

	return d ? &d->question : &none;
}

const struct verdicts *asyncdbg_verdicts(struct asyncdbg *d, const struct snapshot *snap)
{
	if (!d->graph || d->graph->snapshot != snap) {
		drop_graph(d);
		d->graph = graph_build(snap);
		d->verdicts = verdicts_find(d->graph);
	}
	return d->verdicts;
}

/*
 * Waits until the second look is due. A thread that was asleep all the while, as /proc counts its
 * switches, was in one and the same call. The count begins after the first look, whose stop is
 * therefore not counted.
 */
static struct error *wait_for_second_look(struct asyncdbg *d, struct look *before, size_t n,
                                          double interval)
{
	TRY(target_peek(d->target));
	TRY(interrupt_sleep(interval));
	for (size_t i = 0; i < n; i++)
		before[i].slept_on = target_slept_on(d->target, before[i].tid);
	return NULL;
}

/* Whether check() looks twice. A program that stands still does not move between two looks. */
static bool has_second_look(const struct asyncdbg *d, double interval)
{
	return asyncdbg_kind(d) == ASYNCDBG_LIVE && interval != 0 && !target_is_halted(d->target);
}

unsigned asyncdbg_check_wants(const struct asyncdbg *d, double interval)
{
	return has_second_look(d, interval) ? WANT_RUNNING : ASYNCDBG_CHECK_WANTS;
}

/*
 * Keeps the activity of the workers in c->s, and takes another snapshot. *late: that has a runtime
 * which two looks are needed to judge, and which only the trees of all tasks led to.
 */
static struct error *look_again(struct asyncdbg *d, struct checks *c, bool *late)
{
	struct look *before = checks_look(c->a, c->s, &c->nbefore);
	unsigned wants = d->wants | ASYNCDBG_CHECK_WANTS;
	const struct seen_runtimes seen = checks_seen_runtimes(c->a, c->s);

	c->before = before;
	c->suspended |= process_is_suspended(d->target->pid);
	c->threadless = checks_threadless(c->a, c->s, &c->nthreadless);
	/*
	 * The first snapshot is dropped: two take twice the memory. The checks have kept the parts
	 * of it that they need.
	 */
	asyncdbg_drop(d);
	c->s = NULL;
	TRY(wait_for_second_look(d, before, c->nbefore, c->interval));

	c->suspended |= process_is_suspended(d->target->pid);
	bool pinned = asyncdbg_reuse_snapshot(d, false);
	struct error *err = asyncdbg_snapshot(d, wants, NULL, &c->s);

	asyncdbg_reuse_snapshot(d, pinned);
	c->two_looks = !err;
	*late = !err && checks_met_late(&seen, c->s);
	return err;
}

/* The second look, and a third one where that is late. */
static struct error *look_twice(struct asyncdbg *d, double interval, struct checks *c)
{
	bool late = true;

	c->stands_still =
		asyncdbg_kind(d) == ASYNCDBG_LIVE && interval != 0 && target_is_halted(d->target);
	if (!has_second_look(d, interval))
		return NULL;
	c->interval = interval;
	for (int look = 2; late && look <= 3; look++)
		TRY(look_again(d, c, &late));
	return NULL;
}

/* ERR_STATE when the program is not understood, which a first look may have seen too little for. */
static struct error *check_understood(struct asyncdbg *d, struct checks *c)
{
	unsigned wants = d->wants | ASYNCDBG_CHECK_WANTS;

	if (!snapshot_is_understood(c->s) && c->s == d->snapshot && !d->saved &&
	    asyncdbg_lacking(wants, d->wants))
		TRY(asyncdbg_snapshot(d, wants, NULL, &c->s));
	return snapshot_check_understood(c->s);
}

struct error *asyncdbg_check(struct asyncdbg *d, const struct snapshot *snap, double interval,
                             struct arena *a, struct checks_result *ret)
{
	struct checks c = { .a = a, .s = snap };

	TRY(check_understood(d, &c));
	TRY(look_twice(d, interval, &c));
	TRY(snapshot_check_understood(c.s));
	c.v = asyncdbg_verdicts(d, c.s);
	return checks_run(&c, ret);
}

struct waiting *asyncdbg_waiting(struct asyncdbg *d)
{
	return d ? &d->waiting : NULL;
}
