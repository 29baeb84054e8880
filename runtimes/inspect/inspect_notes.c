/* What a snapshot says about itself: what is missing, why, and the layout contract. */
#include <string.h>

#include "runtimes/common/inspector.h"
#include "runtimes/future/leaf.h"
#include "runtimes/tokio/tokio_root.h"

static const char type_root[] = "type:";

static const char *generic_root(struct arena *a, const char *root)
{
	return arena_printf(a,
	                    "the program has no '%s' without parameters; of a generic type each "
	                    "instance is resolved when it is met",
	                    root + strlen(type_root));
}

/*
 * The paths of leaves are resolved when a leaf is met, so that nobody pays for those that are
 * not there; for the whole contract all of them are.
 */
static void describe_leaves(struct collector *c, const struct tokio *k,
                            const struct layout_row *rows, struct layout_info **at)
{
	struct layout l;
	size_t n = 0;

	while (rows[n].key)
		n++;
	layout_resolve(&c->in->arena, k->dm, NULL, rows, n, &l);
	for (size_t i = 0; i < n; i++) {
		if (!l.slots[i].root && strncmp(rows[i].root, type_root, strlen(type_root)) == 0)
			l.slots[i].tried = generic_root(&c->in->arena, rows[i].root);
	}
	layout_describe(&l, c->a, k->module, *at);
	*at += n;
}

void inspect_describe_layout(struct collector *c)
{
	static const struct layout_row *const leaves[] = {
		leaf_core_layout, leaf_time_layout,    leaf_task_layout,   leaf_sync_layout,
		leaf_io_layout,   leaf_process_layout, leaf_stream_layout,
	};
	enum { NLEAVES = sizeof(leaves) / sizeof(leaves[0]) };
	struct snapshot *s = c->out;
	size_t nleaves = 0;

	for (size_t i = 0; i < NLEAVES; i++) {
		for (const struct layout_row *row = leaves[i]; row->key; row++)
			nleaves++;
	}
	for (const struct tokio *k = c->in->tokio; k; k = k->next)
		s->nlayout += k->layout.n + nleaves;
	s->layout = NEW_ARRAY(c->a, struct layout_info, s->nlayout);
	struct layout_info *at = s->layout;
	for (const struct tokio *k = c->in->tokio; k; k = k->next) {
		layout_describe(&k->layout, c->a, k->module, at);
		at += k->layout.n;
		for (size_t i = 0; i < NLEAVES; i++)
			describe_leaves(c, k, leaves[i], &at);
	}
}

void inspect_note_problems(struct collector *c)
{
	struct target *t = c->in->target;
	struct snapshot *s = c->out;
	const struct target_info *info = &c->in->info;

	for (size_t i = 0; i < t->nnotes; i++)
		snapshot_note(s, "%s", t->notes[i]);
	for (size_t i = 0; i < t->nmodules; i++) {
		if (t->modules[i].debug_note)
			snapshot_note(s, "%s: %s", t->modules[i].path, t->modules[i].debug_note);
	}
	if (info->tier != TIER_FULL)
		snapshot_incomplete(s, "%s: %s", info->exe ? info->exe : "the program",
		                    info->tier_reason);
	for (size_t i = 0; i < c->in->notes.n; i++)
		snapshot_incomplete(s, "%s", c->in->notes.data[i]);
	if (c->in->roots && c->in->roots->cut)
		snapshot_incomplete(s, "%s", c->in->roots->cut);
	for (const struct tokio *k = c->in->tokio; k; k = k->next) {
		for (size_t i = 0; i < k->layout.n; i++) {
			if (k->layout.slots[i].status == ROW_BROKEN)
				snapshot_incomplete(s, "tokio's '%s' was not understood: %s",
				                    k->layout.rows[i].key,
				                    k->layout.slots[i].tried);
		}
	}
	if (s->nruntimes == 0 && c->in->tokio)
		snapshot_note(s, "no thread has entered a tokio runtime");
	else if (s->nruntimes == 0 && info->tier == TIER_FULL && c->in->notes.n == 0 && !s->others)
		snapshot_note(s,
		              "no tokio in this program: neither its executable nor its libraries "
		              "have tokio's thread-local context");
}

/* What a thread blocks on or runs is seen on its stack; of one that was not stopped not always. */
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
			info->problem = clean_name(c->a, c->stacks[i].stack.problem);
		n++;
	}
	if (n)
		snapshot_incomplete(c->out,
		                    "%zu of %zu threads were not stopped, and their stacks are not "
		                    "known whole: what they run or block on may be missing",
		                    n, t->nthreads);
}

/* Of what changes while it is read, the tasks have marks of their own. */
void inspect_note_doubts(struct collector *c)
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
		                    "of them may be of several moments",
		                    changed, c->out->ntasks);
	if (t->doubts > 0)
		snapshot_incomplete(c->out,
		                    "%s: where its lists changed meanwhile, tasks may be missing",
		                    doubtful[t->copy.how]);
}
