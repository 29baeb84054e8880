#include "runtimes/inspect/other_executors.h"

#include <ctype.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/module/async_code.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"
#include "dwarf/store/enumerate.h"
#include "runtimes/inspect/polling_code.h"
#include "runtimes/ownership/ownership.h"
#include "runtimes/thread/block_on.h"
#include "runtimes/thread/stack.h"

enum { MAX_THREADS = 8 /* that a message names */ };

/* The first match counts. The rows of runtimes come before these. */
const struct crate_row other_executors[] = {
	{ "monoio", "monoio" },
	{ "glommio", "glommio" },
	{ "compio_runtime", "compio" },
	{ "embassy_executor", "embassy-executor" },
	{ "bevy_tasks", "bevy_tasks" },
	{ "async_std", "async-std" },
	{ "async_executor", "async-executor (smol)" },
	{ "async_io", "async-io (smol)" },
	{ "futures_executor", "futures-executor" },
	{ "pollster", "pollster" },
	{ 0 },
};

/* Row n of all tables; NULL: there are fewer. */
static const struct crate_row *other_executors_crate_row(const struct inspector *in, size_t n)
{
	const struct crate_row *row;

	for (const struct runtime *const *r = runtimes_in(in->di); *r; r++) {
		for (row = (*r)->former; row && row->crate; row++) {
			if (n-- == 0)
				return row;
		}
	}
	return n < sizeof(other_executors) / sizeof(*other_executors) - 1 ? &other_executors[n]
	                                                                  : NULL;
}

/* ---- what a thread executes ---- */

enum zone {
	ZONE_PLAIN, /* outside all runtimes */
	ZONE_JOB,   /* in a job of a blocking pool */
	ZONE_KNOWN, /* in something that a known runtime polls */
};

/*
 * Whether a block_on polls at this moment nothing but the future that runs a known executor, which
 * polls no task: it looks for one, or the task has not begun or has ended; or it is in a loop
 * around an executor, between two runs of that. Then its tasks are those that are listed. With a
 * layout file a frame without a name may poll.
 */
static bool is_between_tasks(struct collector *c, size_t thread, const struct marks *marks,
                             const struct mark *block_on)
{
	const struct thread_stack *stack = &c->stacks[thread];
	const struct mark *last = &marks->data[marks->n - 1];

	if (c->in->layout)
		return false;
	if (!stack->only_executors &&
	    !block_on_runs_executor(c, block_on, &c->out->threads[thread]))
		return false;
	if (last == block_on)
		return polling_code_is_executor(c, stack, block_on);
	return last == block_on + 1 && last->kind == MARK_TASK_POLL &&
	       last->of != stack->unlisted && !polling_code_within(c, stack, last);
}

static enum zone zone_within(struct collector *c, size_t thread, const struct marks *marks,
                             const struct mark *m)
{
	const struct thread_stack *stack = &c->stacks[thread];
	const char *name;

	if (m->of == stack->unlisted)
		return ZONE_PLAIN;
	if (!block_on_is_explained(c, m, &c->out->threads[thread]))
		return is_between_tasks(c, thread, marks, m) ? ZONE_KNOWN : ZONE_PLAIN;
	if (!m->of->threads.job)
		return ZONE_KNOWN;
	if (m->kind != MARK_TASK_POLL)
		return m->kind == MARK_BLOCKING_RUN ? ZONE_JOB : ZONE_KNOWN;
	name = stack_mark_future_name(&c->scratch, m);
	if (name)
		return m->of->threads.job(&c->scratch, name) ? ZONE_JOB : ZONE_KNOWN;
	/* Without generics: in a pool thread the outermost task poll is its job. */
	return marks->data[0].kind == MARK_BLOCKING_RUN ? ZONE_JOB : ZONE_KNOWN;
}

/* Whether an outer function on the stack is a method of a type that contains futures. */
static bool is_inside_owner(const struct collector *c, const struct thread_stack *stack,
                            const struct location *inner)
{
	for (size_t i = stack->stack.nframes; i-- > 0;) {
		for (size_t j = stack->nfunctions[i]; j-- > 0;) {
			const struct location *l = &stack->functions[i][j];

			if (l == inner)
				return false;
			if (polling_code_counts(c, l) && polling_code_owns_futures(l))
				return true;
		}
	}
	return false;
}

/* A function on a thread's stack. */
struct sight {
	const struct thread_stack *stack;
	size_t frame, level;
};

static const struct location *other_executors_seen(const struct sight *s)
{
	return &s->stack->functions[s->frame][s->level];
}

/*
 * Finds the function on a thread that polls, or waits for futures to poll, and belongs to no known
 * runtime. Goes from the outermost frame inward: functions outward of a runtime's loop are its
 * callers, so finding the loop discards a waiting function found before.
 */
static bool find_on(struct collector *c, size_t thread, struct sight *ret)
{
	const struct thread_stack *stack = &c->stacks[thread];
	enum zone zone = ZONE_PLAIN;
	bool waits = false;
	struct marks marks;
	size_t next = 0;

	stack_find_marks(c, stack, &marks);
	for (size_t i = stack->stack.nframes; i-- > 0;) {
		for (size_t j = stack->nfunctions[i]; j-- > 0;) {
			const struct sight here = { stack, i, j };
			const struct location *l = other_executors_seen(&here);
			const struct mark *m = &marks.data[next];

			if (next < marks.n && m->frame == i && m->level == j) {
				zone = zone_within(c, thread, &marks, m);
				waits = false;
				next++;
			}
			if (zone == ZONE_KNOWN)
				return false;
			if (!polling_code_counts(c, l))
				continue;
			if (polling_code_polls(c, l)) {
				*ret = here;
				return zone == ZONE_PLAIN || is_inside_owner(c, stack, l);
			}
			if (zone == ZONE_PLAIN && !waits && polling_code_waits(l)) {
				*ret = here;
				waits = true;
			}
		}
	}
	return waits;
}

/* ---- texts ---- */

/*
 * The names of the known runtimes for messages: those of the program, or, if it has none, those
 * that are expected in most programs.
 */
static const char *other_executors_known_runtimes(const struct collector *c)
{
	const struct runtime *const *list = runtimes_in(c->in->di);
	bool any = false;
	STR(text);

	for (size_t i = 0; list[i]; i++)
		any |= collector_has_runtime(c, list[i]);
	for (size_t i = 0; list[i]; i++) {
		if (any ? collector_has_runtime(c, list[i]) : list[i]->expected)
			str_printf(&text, "%s%s", text.len ? " and " : "", list[i]->name);
	}
	return arena_strdup(c->a, str_text(&text));
}

/* The runtime that most programs have. */
static const struct runtime *other_executors_expected_runtime(const struct inspector *in)
{
	const struct runtime *const *r = runtimes_in(in->di);

	while (*r && !(*r)->expected)
		r++;
	return *r;
}

/*
 * The version of the expected runtime where the program has it; NULL: it does not, or the version
 * is unknown.
 */
static const char *other_executors_expected_version(const struct inspector *in)
{
	const struct runtime *r = other_executors_expected_runtime(in);

	for (size_t i = 0; r && i < in->info.ncrates; i++) {
		if (strcmp(in->info.crates[i].kind, r->name) == 0)
			return in->info.crates[i].version;
	}
	return NULL;
}

/* Whether a path of the crate occurs in the name or in its generics. */
static bool names_crate(const char *name, const char *crate)
{
	const size_t len = strlen(crate);

	for (const char *at = name; (at = strstr(at, crate)); at += len) {
		bool begins = at == name ||
		              (!isalnum((unsigned char)at[-1]) && at[-1] != '_' && at[-1] != ':');

		if (begins && str_begins(at + len, "::"))
			return true;
	}
	return false;
}

/* The lowest index below `row` of a crate row that a function on the stack matches, else `row`. */
static size_t row_on_stack(const struct inspector *in, const struct thread_stack *stack, size_t row)
{
	const struct crate_row *crate;

	for (size_t i = 0; i < stack->stack.nframes; i++) {
		for (size_t j = 0; j < stack->nfunctions[i]; j++) {
			const char *name = stack->functions[i][j].name;

			for (size_t k = 0;
			     name && k < row && (crate = other_executors_crate_row(in, k)); k++) {
				if (names_crate(name, crate->crate))
					row = k;
			}
		}
	}
	return row;
}

static bool other_executors_has_crate(struct dwarf_module *dm, const char *crate)
{
	for (size_t i = 0; debuginfo_need(dm) && i < dm->nunits; i++) {
		if (unit_is_of_crate(&dm->units[i], crate, strlen(crate)))
			return true;
	}
	return false;
}

/* The executor's name by the crates that are linked in; NULL unknown. */
static const char *name_in_program(struct inspector *in)
{
	const struct crate_row *row;
	const char *version = other_executors_expected_version(in);

	/* A 0.x version of the expected runtime is not recognised. */
	if (version && str_begins(version, "0."))
		return arena_printf(&in->arena, "%s %s", other_executors_expected_runtime(in)->name,
		                    version);
	for (size_t k = 0; (row = other_executors_crate_row(in, k)); k++) {
		for (size_t i = 0; i < in->di->nmodules; i++) {
			struct dwarf_module *dm = debuginfo_program_module(in->di, i);

			if (dm && other_executors_has_crate(dm, row->crate))
				return row->name;
		}
	}
	return NULL;
}

/* The function that contains a closure. */
static const char *outer_function(struct arena *a, const char *name)
{
	const char *closure = strstr(name, "::{closure");

	return closure ? arena_strndup(a, name, (size_t)(closure - name)) : name;
}

/* Names the nearest function outside std, without its closures:
 * "futures_executor::local_pool::run_executor". */
static const char *other_executors_function_name(struct collector *c, struct sight s)
{
	const size_t level = s.level, frame = s.frame;
	bool own = false;

	for (s.frame = frame; !own && s.frame < s.stack->stack.nframes; s.frame += !own) {
		for (s.level = s.frame == frame ? level : 0;
		     !own && s.level < s.stack->nfunctions[s.frame]; s.level += !own)
			own = polling_code_counts(c, other_executors_seen(&s)) &&
			      !str_begins(other_executors_seen(&s)->name, "std::");
	}
	if (!own)
		s = (struct sight){ s.stack, frame, level };
	return outer_function(c->a, coroutine_function_name(c->a, other_executors_seen(&s)));
}

/* ---- the report ---- */

/* Appends "thread 1 in app::run, thread 5 in ..." to the text. Returns the number of threads. */
static size_t list_threads(struct collector *c, struct str *to, const char **executor)
{
	size_t n = 0, row = SIZE_MAX;

	for (size_t i = 0; i < c->out->nthreads; i++) {
		const struct thread_info *th = &c->out->threads[i];
		struct sight sight;

		if (th->pooled || !find_on(c, i, &sight))
			continue;
		const char *function = other_executors_function_name(c, sight);
		if (c->want & WANT_HOLDINGS)
			ownership_unsearched(c,
			                     "the tasks of another executor than %s: it is on "
			                     "thread %u, in %s",
			                     other_executors_known_runtimes(c), th->number,
			                     function);
		if (n++ < MAX_THREADS)
			str_printf(to, "%sthread %u in %s", to->len ? ", " : "", th->number,
			           function);
		row = row_on_stack(c->in, &c->stacks[i], row);
	}
	*executor = row != SIZE_MAX ? other_executors_crate_row(c->in, row)->name : NULL;
	if (n > MAX_THREADS)
		str_printf(to, " and %zu more", n - MAX_THREADS);
	return n;
}

static bool has_async_code(struct inspector *in)
{
	if (!in->async_code_known) {
		in->async_code_known = true;
		for (size_t i = 0; i < in->di->nmodules && !in->has_async_code; i++) {
			struct dwarf_module *dm = in->di->modules[i];

			in->has_async_code =
				!debuginfo_is_system(dm->module) && module_has_async_code(dm);
		}
	}
	return in->has_async_code;
}

static bool other_executors_uses_known(const struct collector *c)
{
	for (const struct runtime *const *r = runtimes_in(c->in->di); *r; r++) {
		if (collector_has_runtime(c, *r))
			return true;
	}
	return false;
}

/*
 * Whether the program has a known runtime. Without full debug info, threads with a role show it.
 * With full debug info and no recognised copy, such threads belong to an unknown version.
 */
static bool other_executors_has_runtime(const struct collector *c)
{
	if (other_executors_uses_known(c))
		return true;
	for (size_t i = 0; c->in->info.tier != TIER_FULL && i < c->out->nthreads; i++) {
		if (c->out->threads[i].role != THREAD_OTHER)
			return true;
	}
	return false;
}

static const char *lead(const struct collector *c, bool unknown)
{
	const struct runtime *expected = other_executors_expected_runtime(c->in);
	const char *version = other_executors_expected_version(c->in);

	if (!unknown)
		return arena_printf(c->a, "async code runs outside of %s",
		                    other_executors_known_runtimes(c));
	if (c->in->info.tier != TIER_FULL)
		return "this program has async code, but not the debug info that identifies its "
		       "runtime";
	/* The crate is linked in, but no table row matches its thread-locals. */
	if (version)
		return arena_printf(
			c->a,
			"this program has async code, and %s %s, which asyncdbg does not read: %s",
			expected->name, version, expected->reads);
	return c->in->notes.n ? "this program has async code, but its runtime was not recognised"
	                      : arena_printf(c->a, "this program has async code, and no %s",
	                                     other_executors_known_runtimes(c));
}

/*
 * With a layout file, functions outside the runtime have no names. If the program has another
 * executor, a thread outside the runtime may run it, so this adds a note.
 */
static void uncertainty_unnamed(struct collector *c)
{
	const struct module *m = c->in->target->modules.main;
	struct dwarf_module *dm = m ? debuginfo_module(c->in->di, m) : NULL;
	const struct thread_info *first = NULL;
	const char *function = NULL, *why = "this layout file does not say whether there are any";
	size_t n = 0;

	if (!dm || (enumerated_executor(dm, &function) && !function))
		return;
	for (size_t i = c->out->nthreads; i-- > 0;) {
		const struct thread_info *th = &c->out->threads[i];

		if (th->role == THREAD_OTHER && !th->pooled) {
			first = th;
			n++;
		}
	}
	if (n == 0)
		return;
	if (function)
		why = arena_printf(
			c->a, "the program has %s, which polls futures",
			outer_function(c->a, name_without_generics(
						     c->a, inspector_clean_name(c->a, function))));
	snapshot_incomplete(c->out,
	                    "a layout file does not say what thread %u%s %s: tasks that run there "
	                    "without %s are not shown (%s)",
	                    first->number, n > 1 ? " and others" : "", n > 1 ? "do" : "does",
	                    other_executors_known_runtimes(c), why);
}

/* Whether a known runtime reads the tasks of all executors of a crate. */
static bool is_read(const struct inspector *in, const char *crate)
{
	const struct runtime *const *r = runtimes_in(in->di);

	while (*r && strcmp((*r)->executor, crate) != 0)
		r++;
	return *r != NULL;
}

/* Why the tasks of an executor of that name are not shown. */
static const char *other_executors_why_unseen(const struct inspector *in, const char *name)
{
	const struct crate_row *row;

	for (size_t k = 0; (row = other_executors_crate_row(in, k)); k++) {
		if (strcmp(row->name, name) == 0 && is_read(in, row->crate))
			return "whose tasks were not found";
	}
	return "which is unknown to asyncdbg";
}

void other_executors_find(struct collector *c)
{
	struct snapshot *s = c->out;
	const char *executor = NULL, *linked = NULL;
	bool unknown = !other_executors_has_runtime(c) && has_async_code(c->in);
	size_t n = 0;
	STR(threads);
	STR(text);

	if (c->in->layout && other_executors_uses_known(c))
		uncertainty_unnamed(c);
	if (unknown || other_executors_uses_known(c))
		n = list_threads(c, &threads, &executor);
	if (!unknown && n == 0)
		return;
	if (n == 0 && c->in->info.tier == TIER_FULL)
		linked = name_in_program(c->in);
	str_append(&text, lead(c, unknown));
	if (n)
		str_printf(&text, ", on %s", str_text(&threads));
	if (executor)
		str_printf(&text, ": it runs on %s, %s", executor,
		           other_executors_why_unseen(c->in, executor));
	else if (linked)
		str_printf(&text, ": it has the code of %s, %s", linked,
		           other_executors_why_unseen(c->in, linked));
	else if (!(unknown && other_executors_expected_version(c->in)) &&
	         (n || c->in->info.tier == TIER_FULL))
		str_append(&text, ": asyncdbg does not know what runs it");
	s->others = arena_strdup(c->a, str_text(&text));
	snapshot_incomplete(s, "%s; its tasks are not shown", s->others);
}
