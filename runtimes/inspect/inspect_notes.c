/* Adds the notes of a snapshot (what is missing, and why) and the list of layout bindings. */
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/common/inspector.h"
#include "runtimes/common/runtime.h"

static const char type_root[] = "type:";

static const char *generic_root(struct arena *a, const char *root)
{
	return arena_printf(a,
	                    "the program has no '%s' without parameters; of a generic type each "
	                    "instance is resolved when it is met",
	                    root + strlen(type_root));
}

/*
 * Normally the paths of a leaf are resolved when the first such leaf is decoded, which saves time
 * for leaves that the program lacks. The list of bindings needs all of them.
 */
static void describe_leaves(struct collector *c, const struct runtime_copy *copy,
                            const struct binding_row *rows, struct layout_info **at)
{
	struct bindings l;
	size_t n = 0;

	while (rows[n].key)
		n++;
	bindings_resolve(&c->in->arena, copy->dm, NULL, rows, n, &l);
	for (size_t i = 0; i < n; i++) {
		if (!l.slots[i].root && strncmp(rows[i].root, type_root, strlen(type_root)) == 0)
			l.slots[i].tried = generic_root(&c->in->arena, rows[i].root);
	}
	bindings_describe(&l, c->a, copy->module, *at);
	*at += n;
}

static size_t count_leaf_rows(const struct crate_types *crate)
{
	size_t n = 0;

	for (size_t i = 0; crate->leaf_bindings && crate->leaf_bindings[i]; i++) {
		for (const struct binding_row *row = crate->leaf_bindings[i]; row->key; row++)
			n++;
	}
	return n;
}

static void describe_rows(struct collector *c, const struct runtime_copy *copy,
                          const struct crate_types *crate, struct layout_info **at)
{
	for (size_t i = 0; crate->leaf_bindings && crate->leaf_bindings[i]; i++)
		describe_leaves(c, copy, crate->leaf_bindings[i], at);
}

static void describe_copy(struct collector *c, const struct runtime *r,
                          const struct runtime_copy *copy, struct layout_info **at)
{
	bindings_describe(copy->layout, c->a, copy->module, *at);
	*at += copy->layout->n;
	describe_rows(c, copy, r->types, at);
}

/* The executable, where it has a crate of that table which is no runtime; otherwise NULL. */
static struct dwarf_module *module_with(const struct collector *c, const struct crate_types *crate)
{
	struct module *m = c->in->target->modules.main;
	struct dwarf_module *dm = m && crate->crate ? debuginfo_module(c->in->di, m) : NULL;

	return dm && lookup_crate_version(dm, crate->crate) ? dm : NULL;
}

void inspect_describe_layout(struct collector *c)
{
	const struct runtime *const *runtimes = runtimes_in(c->in->di);
	const struct crate_types *const *crates = crates_in(c->in->di);
	struct snapshot *s = c->out;
	struct runtime_copy copy;

	for (const struct runtime *const *r = runtimes; *r; r++) {
		for (size_t i = 0; (*r)->copy(c->in, i, &copy); i++)
			s->nlayout += copy.layout->n + count_leaf_rows((*r)->types);
	}
	for (const struct crate_types *const *crate = crates; *crate; crate++)
		s->nlayout += module_with(c, *crate) ? count_leaf_rows(*crate) : 0;
	s->layout = NEW_ARRAY(c->a, struct layout_info, s->nlayout);
	struct layout_info *at = s->layout;
	for (const struct runtime *const *r = runtimes; *r; r++) {
		for (size_t i = 0; (*r)->copy(c->in, i, &copy); i++)
			describe_copy(c, *r, &copy, &at);
	}
	for (const struct crate_types *const *crate = crates; *crate; crate++) {
		copy.dm = module_with(c, *crate);
		copy.module = copy.dm ? str_base_name(copy.dm->module->path) : NULL;
		if (copy.dm)
			describe_rows(c, &copy, *crate, &at);
	}
}

static void note_broken(struct collector *c, const struct runtime *r)
{
	struct runtime_copy copy;

	if (r->note)
		r->note(c);
	if (!collector_has_runtime(c, r))
		return;
	for (size_t n = 0; r->copy(c->in, n, &copy); n++) {
		for (size_t i = 0; i < copy.layout->n; i++) {
			if (copy.layout->slots[i].status == ROW_BROKEN)
				snapshot_incomplete(c->out, "%s's '%s' was not understood: %s",
				                    r->name, copy.layout->rows[i].key,
				                    copy.layout->slots[i].tried);
		}
	}
}

/* Notes why no runtime may have been found. */
static void inspect_notes_none(struct collector *c, const struct runtime *r)
{
	struct runtime_copy copy;

	if (r->copy(c->in, 0, &copy))
		snapshot_note(c->out, "no thread has entered a %s runtime", r->name);
	else if (c->in->info.tier == TIER_FULL && c->in->notes.n == 0 && !c->out->others)
		snapshot_note(c->out,
		              "no %s in this program: neither its executable nor its libraries "
		              "have %s's thread-local context",
		              r->name, r->name);
}

/*
 * The file whose debug info was looked for: with --exe another than the target names. A path below
 * /proc is the target's own file.
 */
static const char *file_that_was_read(const struct collector *c)
{
	const struct module *m = c->in->target->modules.main;
	const char *file = m ? m->file : NULL, *exe = c->in->info.exe;

	return file && strncmp(file, "/proc/", 6) != 0 ? inspector_clean_name(c->a, file)
	                                               : (exe ? exe : "the program");
}

void inspect_note_problems(struct collector *c)
{
	struct target *t = c->in->target;
	struct snapshot *s = c->out;
	const struct target_info *info = &c->in->info;

	for (size_t i = 0; i < t->nnotes; i++)
		snapshot_note(s, "%s", t->notes[i]);
	for (size_t i = 0; i < t->modules.n; i++) {
		if (t->modules.data[i]->debug_note)
			snapshot_note(s, "%s: %s", t->modules.data[i]->path,
			              t->modules.data[i]->debug_note);
	}
	if (info->tier != TIER_FULL)
		snapshot_incomplete(s, "%s: %s", file_that_was_read(c), info->tier_reason);
	for (size_t i = 0; i < c->in->notes.n; i++)
		snapshot_incomplete(s, "%s", c->in->notes.data[i]);
	for (const struct runtime *const *r = runtimes_in(c->in->di); *r; r++) {
		note_broken(c, *r);
		if (s->nruntimes == 0 && (*r)->expected)
			inspect_notes_none(c, *r);
	}
}

/* Notes threads that were not stopped and whose stacks are incomplete: what they run is unknown. */
void inspect_note_unstopped(struct collector *c)
{
	const struct target *t = c->in->target;
	size_t n = 0;

	for (size_t i = 0; i < t->nthreads; i++) {
		struct thread_info *info = &c->out->threads[i];
		const struct thread *th = &t->threads[i];
		bool cut = th->has_regs ? th->unknown_regs && c->stacks[i].stack.problem
		                        : th->problem != NULL;

		if (!cut || info->pooled)
			continue;
		if (!info->problem)
			info->problem = inspector_clean_name(c->a, c->stacks[i].stack.problem);
		n++;
	}
	if (n)
		snapshot_incomplete(
			c->out,
			"%zu of %zu threads were not stopped, and their stacks are incomplete: the "
			"tasks they run or futures they block on may be missing",
			n, t->nthreads);
}

/* Notes changes during the read: tasks are marked one by one, lists of tasks are not. */
void inspect_note_uncertainties(struct collector *c)
{
	static const char *const doubtful[] = {
		[COPY_STOPPED] =
			"the process was not stopped long enough to copy what is new in it",
		[COPY_LIMITED] = "the process was not stopped for as long as copying took",
		[COPY_RUNNING] = "the process was not stopped",
	};
	const struct target *t = c->in->target;
	size_t changed = 0;

	for (size_t i = 0; i < c->out->ntasks; i++)
		changed += c->out->tasks[i]->changed;
	if (changed)
		snapshot_incomplete(c->out,
		                    "%zu of %zu tasks changed while they were read: what is shown "
		                    "of them may mix several moments",
		                    changed, c->out->ntasks);
	if (t->stop.doubts > 0)
		snapshot_incomplete(c->out,
		                    "%s: where its lists changed meanwhile, tasks may be missing",
		                    doubtful[t->stop.copy.how]);
}
