#include "commands/incident/persistent_findings.h"

#include <stdlib.h>
#include <string.h>

#include "runtimes/analysis/checks.h"

static const char *const *copy_list(struct arena *a, const char *const *list, size_t n)
{
	const char **copy = NEW_ARRAY(a, const char *, n);

	for (size_t i = 0; i < n; i++)
		copy[i] = arena_strdup(a, list[i]);
	return copy;
}

static void copy_finding(struct arena *a, const struct finding *f, struct finding *ret)
{
	*ret = *f;
	ret->check = arena_strdup(a, f->check);
	ret->text = arena_strdup(a, f->text);
	ret->more = f->more ? arena_strdup(a, f->more) : NULL;
	ret->others = f->others ? arena_strdup(a, f->others) : NULL;
	ret->tasks = copy_list(a, f->tasks, f->ntasks);
	ret->doubts = copy_list(a, f->doubts, f->ndoubts);
}

/* ---- comparison of findings ---- */

static bool persistent_findings_has_task(const struct finding *f, const char *id)
{
	for (size_t i = 0; i < f->ntasks; i++) {
		if (strcmp(f->tasks[i], id) == 0)
			return true;
	}
	return false;
}

/* all: the tasks are the same; else they overlap. */
static bool persistent_findings_is_same(const struct finding *a, const struct finding *b, bool all)
{
	size_t common = 0;

	if (strcmp(a->check, b->check) != 0)
		return false;
	if (!a->ntasks && !b->ntasks)
		return strcmp(a->more ? a->more : "", b->more ? b->more : "") == 0;
	for (size_t i = 0; i < a->ntasks; i++)
		common += persistent_findings_has_task(b, a->tasks[i]);
	return all ? common == a->ntasks && common == b->ntasks : common > 0;
}

static struct persistent_finding *persistent_findings_find(struct persistent_findings *list,
                                                           const struct finding *f, bool all)
{
	for (size_t i = 0; i < list->found.n; i++) {
		struct persistent_finding *l = list->found.data[i];

		if (!l->seen && persistent_findings_is_same(&l->finding, f, all))
			return l;
	}
	return NULL;
}

/* ---- one more check ---- */

static struct persistent_finding *persistent_findings_add(struct persistent_findings *list)
{
	if (list->found.n == PERSISTENT_FINDINGS_MAX)
		return NULL;
	struct persistent_finding *l = alloc_zeroed(sizeof(*l));
	*vec_push(&list->found) = l;
	return l;
}

static void persistent_findings_drop(struct persistent_finding *l)
{
	arena_free(&l->arena);
	free(l);
}

static void persistent_findings_take(struct persistent_finding *l, const struct finding *f)
{
	struct arena arena = { 0 };

	/* The newest text is kept, and the previous one is freed. */
	copy_finding(&arena, f, &l->finding);
	arena_free(&l->arena);
	l->arena = arena;
	l->seen = true;
	l->looks++;
}

/* Counts on for findings that were there before, and adds the others. */
static void take_all(struct persistent_findings *list, const struct finding *found, size_t n,
                     const char *on)
{
	SCRATCH(tmp);
	bool *taken = NEW_ARRAY(&tmp, bool, n);

	for (size_t i = 0; i < list->found.n; i++)
		list->found.data[i]->seen = false;
	for (int all = 1; all >= 0; all--) {
		for (size_t i = 0; i < n; i++) {
			struct persistent_finding *l = NULL;

			if (!taken[i] && checks_list_has(on, &found[i]))
				l = persistent_findings_find(list, &found[i], all);
			if (l)
				persistent_findings_take(l, &found[i]);
			taken[i] |= l != NULL;
		}
	}
	list->left_out = 0;
	for (size_t i = 0; i < n; i++) {
		if (taken[i] || !checks_list_has(on, &found[i]))
			continue;
		struct persistent_finding *l = persistent_findings_add(list);

		list->left_out += !l;
		if (l)
			persistent_findings_take(l, &found[i]);
	}
}

/* Copies the findings that are due, or over, into arena a. */
static struct batch batch_of(struct persistent_findings *list, struct arena *a, uint64_t looks,
                             bool gone)
{
	struct batch ret = { NEW_ARRAY(a, struct finding, list->found.n), 0, gone };

	for (size_t i = 0; i < list->found.n; i++) {
		struct persistent_finding *l = list->found.data[i];
		bool due = gone ? l->reported && !l->seen
		                : l->seen && !l->reported && l->looks >= looks;

		if (!due)
			continue;
		l->reported = true;
		copy_finding(a, &l->finding, &ret.data[ret.n++]);
	}
	return ret;
}

void persistent_findings_compare(struct persistent_findings *list, struct arena *a,
                                 const struct finding *found, size_t n, const char *on,
                                 uint64_t looks, struct batch *gone, struct batch *due)
{
	size_t kept = 0;

	take_all(list, found, n, on);
	*gone = batch_of(list, a, looks, true);
	*due = batch_of(list, a, looks, false);
	for (size_t i = 0; i < list->found.n; i++) {
		if (list->found.data[i]->seen)
			list->found.data[kept++] = list->found.data[i];
		else
			persistent_findings_drop(list->found.data[i]);
	}
	list->found.n = kept;
}

void persistent_findings_free(struct persistent_findings *list)
{
	for (size_t i = 0; i < list->found.n; i++)
		persistent_findings_drop(list->found.data[i]);
	vec_free(&list->found);
}
