#include "runtimes/inspect/layout_export.h"
#include "runtimes/common/none_argument.h"

#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/qualified.h"
#include "dwarf/records/records_copy.h"
#include "dwarf/store/enumerate.h"
#include "dwarf/store/layout_file.h"
#include "dwarf/values/show.h"
#include "runtimes/future/combinator.h"
#include "runtimes/future/future.h"
#include "runtimes/future/leaf.h"
#include "runtimes/inspect/may_run_tasks.h"
#include "runtimes/ownership/ownership.h"
#include "runtimes/query/locals.h"
#include "runtimes/thread/block_on.h"
#include "runtimes/thread/block_on_waker.h"

enum { MAX_RUNTIMES = 8 };
enum { SHARE_OF_UNITS = 50, SHARE_OF_TYPES = 40 }; /* of the progress, percent */

/* A function of the waker of a FuturesUnordered; its generics give the node type (waker.c). */
static const char waker_clone[] = "clone_arc_raw<";
/*
 * Names of clone functions by which waker.c recognises wakers: tokio's, and those of futures' and
 * core's noop wakers.
 */
static const char *const waker_functions[] = { waker_clone, "noop_clone",
	                                       "call_once<core::task::wake::" };

static bool is_of_waker(const char *own_name)
{
	return str_begins_with_any(own_name, waker_functions);
}

/* A runtime in the executable. */
struct exported {
	const struct runtime *of;
	struct runtime_copy copy;
};

/* A poll function of tasks. */
struct exported_poll {
	const struct runtime *of;
	uint64_t addr;
};

struct exporter {
	struct inspector *in;
	struct exported runtimes[MAX_RUNTIMES];
	size_t nruntimes;
	struct dwarf_module *dm;
	VEC(const struct type *) types; /* found so far, in order: the queue of walk_types() */
	struct map met;
	VEC(struct exported_poll) polls;
	struct warm_up *counts;
	warm_up_progress *progress;
	void *arg;
};

static void layout_export_meet(struct exporter *r, const struct type *t)
{
	if (t && map_put(&r->met, (uintptr_t)t, NULL))
		*vec_push(&r->types) = t;
}

static void meet_type(const struct type *t, void *arg)
{
	layout_export_meet(arg, t);
}

/* ---- roots ---- */

static bool layout_export_is_of_row(const struct probe_row *row, const char *path)
{
	const char *last = qualified_last(path);
	size_t len = strlen(row->name);

	return str_begins(path, row->within) && qualified_base_len(last) == len &&
	       strncmp(last, row->name, len) == 0;
}

/* Whether a trace needs the function: it is of the runtime's probe points. */
static bool is_probed(const struct runtime *r, const char *path)
{
	const struct probe_row *row = r->tracing.probes;

	while (row && row->name && !layout_export_is_of_row(row, path))
		row++;
	return row && row->name;
}

/* Notes for a trace which argument tells that a call of the function has none. */
static void layout_export_note_none(const struct function *f, const struct runtime *r)
{
	for (const struct probe_row *row = r->tracing.probes; row && row->name; row++) {
		if (row->none && layout_export_is_of_row(row, f->name))
			none_argument_note(f, row->none);
	}
}

/* Whether the path is that of a row, of that kind. */
static bool layout_export_is_marked(const struct mark_row *row, enum mark_kind kind,
                                    const char *path)
{
	const char *last = qualified_last(path);

	for (; row && row->name; row++) {
		size_t len = strlen(row->name);

		if (row->kind == kind && str_begins(path, row->within) &&
		    qualified_base_len(last) == len && strncmp(last, row->name, len) == 0)
			return true;
	}
	return false;
}

/* Is it the function of a runtime that polls a task? */
static bool is_task_poll(const struct runtime *r, const char *path)
{
	return r->tracing.task_poll
	               ? str_begins(path, r->tracing.task_poll)
	               : layout_export_is_marked(r->threads.marks, MARK_TASK_POLL, path);
}

/*
 * Whether a function is exported because it shows what a thread does, or where a trace can see
 * events. These are functions of a runtime: those without generics, poll functions, and those in
 * the runtime's tables. The other generic functions are left out, because a large program has one
 * instance per task type.
 */
static bool tells_of(const struct runtime *r, const char *path)
{
	if (is_task_poll(r, path) || is_probed(r, path) ||
	    runtime_begins_with_one(path, r->tracing.functions))
		return true;
	return str_begins(path, r->threads.loop) &&
	       (!strchr(path, '<') || str_begins(qualified_last(path), "poll"));
}

/*
 * The crate of that block_on, in which threads run the tasks of a runtime without its own; NULL: it
 * is none.
 */
static const struct runtime *layout_export_block_on_crate(const struct exporter *r,
                                                          const char *path)
{
	bool needed = false;

	for (size_t i = 0; i < r->nruntimes; i++)
		needed |= !r->runtimes[i].of->expected;
	for (const struct runtime *of = block_on_crates; needed && of->name; of++) {
		if (layout_export_is_marked(of->threads.marks, MARK_BLOCK_ON, path))
			return of;
	}
	return NULL;
}

/*
 * Is it a closure of a block_on, which may be its loop, with its future in the frame? Of a runtime
 * only where its loops are such.
 */
static bool is_in_block_on(const struct exporter *r, const char *path)
{
	static const char closure[] = "::{closure#";
	const char *end = strstr(path, closure);
	SCRATCH(tmp);

	if (!end)
		return false;
	path = arena_strndup(&tmp, path, (size_t)(end - path));
	for (size_t i = 0; i < r->nruntimes; i++) {
		const struct runtime *of = r->runtimes[i].of;

		if (of->threads.loops_inside &&
		    layout_export_is_marked(of->threads.marks, MARK_BLOCK_ON, path))
			return true;
	}
	return layout_export_block_on_crate(r, path);
}

/* Is it the block_on of an exported runtime, whatever its name is? */
static bool is_own_block_on(const struct exporter *r, const char *path)
{
	for (size_t i = 0; i < r->nruntimes; i++) {
		if (layout_export_is_marked(r->runtimes[i].of->threads.marks, MARK_BLOCK_ON, path))
			return true;
	}
	return false;
}

static bool tells(const char *path, void *arg)
{
	const struct exporter *r = arg;

	if (is_of_waker(qualified_last(path)) || layout_export_block_on_crate(r, path) ||
	    is_in_block_on(r, path))
		return true;
	for (size_t i = 0; i < r->nruntimes; i++) {
		if (tells_of(r->runtimes[i].of, path))
			return true;
	}
	return false;
}

/* Does the path, or the beginning of one, begin with that crate or its name? */
static bool layout_export_is_in_crate(const char *path, const char *crate)
{
	size_t len = strlen(crate);

	if (!strchr(path, ':'))
		return str_begins(crate, path);
	return strncmp(path, crate, len) == 0 && strncmp(path + len, "::", 2) == 0;
}

static bool layout_export_is_of_runtime(const struct runtime *r, const char *crate)
{
	const char *const *f = r->tracing.functions;

	while (f && *f && !layout_export_is_in_crate(*f, crate))
		f++;
	return layout_export_is_in_crate(r->path, crate) || (f && *f);
}

/* May the crate have functions for which tells() is true? */
static bool of_crate(const char *crate, void *arg)
{
	const struct exporter *r = arg;
	bool own = false;

	for (size_t i = 0; i < r->nruntimes; i++)
		own |= layout_export_is_of_runtime(r->runtimes[i].of, crate);
	for (const struct runtime *of = block_on_crates; !own && of->name; of++)
		own = layout_export_is_in_crate(of->path, crate);
	return own;
}

/*
 * Adds the type that a block_on polls, and the node type of a FuturesUnordered waker. For functions
 * that poll a task only the name is queried: plan_tasks() adds the types by the poll function.
 */
static void ask_about_generics(struct exporter *r, const struct function *f)
{
	static const char *const params[] = { "F", "T", "W" };
	const char *last = qualified_last(f->name);

	for (size_t i = 0; i < r->nruntimes; i++) {
		const char *begin = r->runtimes[i].of->tracing.task_functions;

		if (begin && str_begins(f->name, begin))
			function_param(f, "T");
	}
	if (!str_begins(last, "block_on") && !str_begins(last, waker_clone) &&
	    !is_own_block_on(r, f->name))
		return;
	for (size_t i = 0; i < sizeof(params) / sizeof(*params); i++)
		layout_export_meet(r, function_param(f, params[i]));
	const struct runtime *crate = layout_export_block_on_crate(r, f->name);
	if (!crate)
		return;
	layout_export_meet(r, function_first_argument(f));
	block_on_waker_learn(f, crate, meet_type, r);
}

static void visit_function(const struct function *f, void *arg)
{
	struct exporter *r = arg;

	for (size_t i = 0; f->high && i < r->nruntimes; i++)
		layout_export_note_none(f, r->runtimes[i].of);
	for (size_t i = 0; f->high && i < r->nruntimes; i++) {
		if (!is_task_poll(r->runtimes[i].of, f->name))
			continue;
		*vec_push(&r->polls) = (struct exported_poll){ r->runtimes[i].of, f->low };
		return;
	}
	ask_about_generics(r, f);
}

static void plan_tasks(struct exporter *r)
{
	for (size_t i = 0; i < r->polls.n; i++) {
		struct task_types types;

		if (!r->polls.data[i].of->tasks.types)
			continue;
		r->counts->tasks++;
		r->polls.data[i].of->tasks.types(r->in, r->polls.data[i].addr, &types);
		layout_export_meet(r, types.future);
		for (size_t o = 0; types.others && types.others[o]; o++)
			layout_export_meet(r, types.others[o]);
		layout_export_meet(r, types.stored);
		layout_export_meet(r, types.cell);
		layout_export_meet(r, types.header);
	}
}

/* Adds the concrete type of a vtable, unless the trait's objects contain no futures or resources.
 */
static bool visit_vtable(const struct type *concrete, const char *name, void *arg)
{
	static const char *const dull[] = {
		"core::fmt::",       "std::io::",      "core::error::",
		"std::error::",      "core::any::",    "std::panic::",
		"core::ops::drop::", "std::backtrace", "core::panic::",
	};
	struct exporter *r = arg;
	const char *trait = NULL;

	for (const char *p = name; (p = strstr(p, " as ")); p += 4)
		trait = p + 4;
	if (trait && str_begins_with_any(trait, dull))
		return false;
	layout_export_meet(r, concrete);
	return trait != NULL;
}

/*
 * Whether a function of that name can be another executor's: not one of the runtimes, of a block_on
 * that the file has, or of std. One
 * that is named now_or_never, as in futures-util and hyper, is none: it polls what it is given
 * once, with a waker that wakes nobody.
 */
static bool may_execute(const char *name, void *arg)
{
	static const char *const others[] = { "core::", "alloc::", "std::" };
	static const char once[] = "now_or_never";
	const char *last = qualified_last(name);
	const struct exporter *r = arg;

	if (str_begins(last, once) && (!last[sizeof(once) - 1] || last[sizeof(once) - 1] == '<'))
		return false;
	for (size_t i = 0; i < r->nruntimes; i++) {
		if (str_begins(name, r->runtimes[i].of->path) ||
		    str_begins(name, r->runtimes[i].of->threads.loop))
			return false;
	}
	if (layout_export_block_on_crate(r, name))
		return false;
	return !str_begins_with_any(name, others);
}

static bool executes(const struct function *f, void *arg)
{
	const struct exporter *r = arg;

	return may_run_tasks(r->in, f);
}

static void note_units(size_t done, size_t all, void *arg)
{
	struct exporter *r = arg;

	r->progress((unsigned)(done * SHARE_OF_UNITS / all), r->arg);
}

/* ---- types ---- */

static void ignore_instance(const char *name, bool has_code, void *arg)
{
	(void)name, (void)has_code, (void)arg;
}

/* Queries what drops values in all crates: a type's glue may be in its own crate or in a user's. */
static void ask_about_drops(struct dwarf_module *dm)
{
	for (size_t i = 0; i < dm->nunits; i++) {
		lookup_each_instance(dm, dm->units[i].first_die, DROP_GLUE, ignore_instance, NULL);
		lookup_each_instance(dm, dm->units[i].first_die, OWN_DROP, ignore_instance, NULL);
	}
}

static void meet_of_leaf(struct exporter *r, const struct crate_types *crate, const struct type *t)
{
	const struct type *next;

	for (size_t i = 0; crate->leaf_type && (next = crate->leaf_type(t, i)); i++)
		layout_export_meet(r, next);
}

/* Makes the queries of decoding a value of type t that go beyond reading the type itself. */
static void ask_about(struct exporter *r, const struct type *t)
{
	struct value globals;

	if (type_is_coroutine(t)) {
		const struct coroutine_plan *plan = coroutine_plan(r->in, t);

		for (size_t i = 0; i < plan->nstates; i++)
			coroutine_state(r->in, t, plan, i);
		ownership_warm_up(t);
	}
	if (type_kind(t) == TYPE_STRUCT || type_kind(t) == TYPE_ENUM)
		future_is_stream(r->in, t); /* this also decides whether it is a future */
	if (select_join_is_poll_fn(t))
		select_join_learn(r->in, t);
	for (const struct crate_types *const *crate = crates_of(t); *crate; crate++) {
		if ((*crate)->leaf_static && (*crate)->leaf_static(t, &globals))
			layout_export_meet(r, globals.type);
		meet_of_leaf(r, *crate, t);
	}
}

/* Adds the types that a path or show_value() can step to from t. */
static void layout_export_meet_parts(struct exporter *r, const struct type *t)
{
	static const char *const params[] = { "T", "S", "F", "Fut", "W", "K", "V", "A", "B" };
	const struct member *members;
	const struct variant *variants;
	size_t n;

	layout_export_meet(r, type_target(t));
	members = type_members(t, &n);
	for (size_t i = 0; i < n; i++)
		layout_export_meet(r, members[i].type);
	if (type_discr(t))
		layout_export_meet(r, type_discr(t)->type);
	variants = type_variants(t, &n);
	for (size_t i = 0; i < n; i++)
		layout_export_meet(r, variants[i].payload);
	for (size_t i = 0; i < sizeof(params) / sizeof(*params); i++)
		layout_export_meet(r, type_param(t, params[i]));
}

/* Adds a B-tree's inner node type. No member of the leaf node refers to it, so
 * dwarf/values/show_collections.c looks it up by name. */
static void meet_inner_node(struct exporter *r, const struct type *t)
{
	static const char leaf[] = "alloc::collections::btree::node::LeafNode<";
	SCRATCH(tmp);

	if (str_begins(type_name(t), leaf))
		layout_export_meet(r, lookup_type(type_module(t),
		                                  arena_printf(&tmp,
		                                               "alloc::collections::btree::node::"
		                                               "InternalNode<%s",
		                                               type_name(t) + sizeof(leaf) - 1),
		                                  type_die(t)));
}

static struct error *walk_types(struct exporter *r)
{
	for (size_t i = 0; i < r->types.n; i++) {
		const struct type *t = r->types.data[i];

		TRY(interrupt_check());
		layout_export_meet_parts(r, t);
		meet_inner_node(r, t);
		layout_export_meet(r, ownership_whole_type(t));
		ask_about(r, t);
		if (i % 4096 == 0)
			r->progress(SHARE_OF_UNITS + (unsigned)(i * SHARE_OF_TYPES / r->types.n),
			            r->arg);
	}
	return NULL;
}

/* Resolves the bindings of the runtime's own structures and of all leaves. */
static struct error *ask_layout(struct inspector *in)
{
	struct snapshot *s;

	TRY(inspect(in, WANT_LAYOUT, NULL, &s));
	snapshot_free(s);
	return NULL;
}

/*
 * Can a layout file have its tasks? Either poll functions tell their types, or tasks are trait
 * objects, whose types visit_vtable() finds.
 */
static bool layout_export_is_exportable(const struct runtime *r)
{
	return r->tasks.types || r->detect_unused;
}

/* Adds the types by which a runtime's own structures are read. */
static void meet_own(struct exporter *r, const struct runtime_copy *copy)
{
	const struct bindings *layout = copy->layout;

	for (size_t i = 0; i < layout->n; i++) {
		layout_export_meet(r, layout->slots[i].root);
		layout_export_meet(r, bindings_type(layout, i));
	}
	for (size_t i = 0; i < sizeof(copy->types) / sizeof(copy->types[0]); i++)
		layout_export_meet(r, copy->types[i]);
}

/* Exports the paths of runtimes without tasks of their own, which name those of others. */
static void meet_names(struct exporter *r)
{
	struct runtime_copy copy;

	for (const struct runtime *const *list = runtimes_in(r->in->di); *list; list++) {
		if (!layout_export_is_exportable(*list) && (*list)->copy(r->in, 0, &copy) &&
		    copy.dm == r->dm)
			meet_own(r, &copy);
	}
}

static struct error *layout_export_warm_up(struct exporter *r)
{
	const struct enumerate_ops ops = {
		.of_crate = of_crate,
		.anywhere = is_of_waker,
		.tells = tells,
		.function = visit_function,
		.vtable = visit_vtable,
		.may_execute = may_execute,
		.executes = executes,
		.progress = note_units,
	};

	TRY(ask_layout(r->in));
	for (size_t i = 0; i < r->nruntimes; i++)
		meet_own(r, &r->runtimes[i].copy);
	meet_names(r);
	TRY(enumerate_code(r->dm, &ops, r));
	enumerated_note_probes(r->dm);
	plan_tasks(r);
	ask_about_drops(r->dm);
	show_learn(r->dm);
	return walk_types(r);
}

static struct error *write_file(struct exporter *r, const char *path)
{
	struct dwarf_module *dm = r->dm;
	size_t ntypes[2];

	types_flush(dm, true);
	struct records *merged = records_merged(debuginfo_records(dm), ntypes);
	struct error *err = layout_file_write(path, dm, merged, &r->counts->size);

	r->counts->types = ntypes[0];
	r->counts->written = ntypes[1];
	records_free(merged);
	return err;
}

/* Finds the runtimes of the executable that a layout file can have. */
static void find_runtimes(struct exporter *r)
{
	for (const struct runtime *const *list = runtimes_in(r->in->di); *list; list++) {
		struct exported *e = &r->runtimes[r->nruntimes];

		if (!layout_export_is_exportable(*list) || r->nruntimes == MAX_RUNTIMES)
			continue;
		if ((*list)->detect_unused)
			(*list)->detect_unused(r->in);
		if (!(*list)->copy(r->in, 0, &e->copy))
			continue;
		e->of = *list;
		r->dm = r->dm ? r->dm : e->copy.dm;
		r->nruntimes++;
	}
}

static const char *exportable(struct inspector *in)
{
	STR(names);

	for (const struct runtime *const *list = runtimes_in(in->di); *list; list++) {
		if (layout_export_is_exportable(*list) && !strstr(str_text(&names), (*list)->name))
			str_printf(&names, "%s%s", names.len ? " or " : "", (*list)->name);
	}
	return arena_strdup(&in->arena, str_text(&names));
}

struct error *layout_export_write(struct inspector *in, const char *path,
                                  warm_up_progress *progress, void *arg, struct warm_up *ret)
{
	struct exporter r = { .in = in, .counts = ret, .progress = progress, .arg = arg };
	struct error *err;

	*ret = (struct warm_up){ 0 };
	if (in->layout)
		return error_new(ERR_NO_DEBUGINFO,
		                 "%s has no full debug info itself: only the layout file %s",
		                 in->info.exe, in->layout);
	if (in->info.tier != TIER_FULL)
		return error_new(ERR_NO_DEBUGINFO, "%s has no full debug info: %s", in->info.exe,
		                 in->info.tier_reason ? in->info.tier_reason : "none");
	find_runtimes(&r);
	if (!r.nruntimes)
		return error_new(ERR_LAYOUT, "%s has no %s runtime in it", in->info.exe,
		                 exportable(in));
	err = layout_export_warm_up(&r);
	if (!err)
		err = write_file(&r, path);
	progress(100, arg);
	vec_free(&r.types);
	vec_free(&r.polls);
	map_free(&r.met);
	return err;
}
