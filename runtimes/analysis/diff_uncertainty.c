/* The reasons why the result of a comparison may be unreliable. */
#include <string.h>

#include "runtimes/analysis/diff.h"

static void diff_uncertainty_add(struct diff *d, const char *doubt)
{
	if (d->ndoubts < DIFF_MAX_DOUBTS)
		d->doubts[d->ndoubts++] = doubt;
}

static const char *diff_uncertainty_name_of(const char *name, const char *otherwise)
{
	return name ? name : otherwise;
}

/*
 * The evidence that the snapshots are of different processes; NULL: they may be of one. In arena a.
 */
static const char *difference(struct arena *a, const struct target_info *x,
                              const struct target_info *y)
{
	bool known = x->instance && y->instance;

	if (known && strcmp(x->instance, y->instance) == 0)
		return NULL;
	if (x->pid != y->pid)
		return arena_printf(a, "pid %d and pid %d", (int)x->pid, (int)y->pid);
	if (known)
		return arena_printf(a, "pid %d was started again between them", (int)x->pid);
	if (x->build_id && y->build_id && strcmp(x->build_id, y->build_id) != 0)
		return arena_printf(a, "their executables have the build-ids %.16s and %.16s",
		                    x->build_id, y->build_id);
	/*
	 * Paths are compared only without build-ids: an executable with the same build-id may have
	 * another path.
	 */
	if (!(x->build_id && y->build_id) && x->exe && y->exe && strcmp(x->exe, y->exe) != 0)
		return arena_printf(a, "their executables are %s and %s", x->exe, y->exe);
	return NULL;
}

static void report_incomplete(struct diff *d, const struct snapshot *s, const char *name,
                              bool notes)
{
	if (s->complete)
		return;
	diff_uncertainty_add(d, arena_printf(&d->arena,
	                                     "%s is incomplete: tasks that seem new or gone may "
	                                     "just not have been read%s%s",
	                                     name, notes && s->nnotes ? "; " : "",
	                                     notes && s->nnotes ? s->notes[0] : ""));
}

void diff_find_uncertainties(struct diff *d)
{
	const char *before = diff_uncertainty_name_of(d->before_name, "the first look");
	const char *after = diff_uncertainty_name_of(d->after_name, "the second");
	const char *how = difference(&d->arena, &d->before->target, &d->after->target);

	if (how)
		diff_uncertainty_add(
			d, arena_printf(&d->arena,
		                        "%s and %s seem to be of different processes (%s): then a "
		                        "task of one is not a task of the other, whatever its id",
		                        before, after, how));
	/* The notes of the later snapshot are printed with the answer anyway. */
	report_incomplete(d, d->before, before, true);
	report_incomplete(d, d->after, after, false);
}
