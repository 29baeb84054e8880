/*
 * Verdicts that say the same of other tasks and other locks: people want to read one of them, and
 * how many there are.
 */
#ifndef RUNTIMES_ANALYSIS_ALIKE_H
#define RUNTIMES_ANALYSIS_ALIKE_H

#include <stddef.h>

#include "debugger/base/arena.h"
#include "runtimes/graph/verdict.h"

struct alike {
	const size_t *list; /* indices of verdicts, ascending: the first one stands for all */
	size_t n;           /* at least 1 */
	size_t nbehind;     /* parties that stand behind one of them */
};

struct alikes {
	const struct alike *list; /* by their first verdict */
	size_t n;
	const size_t
		*first; /* by verdict: the first one that it is like; itself where it is that */
};

/*
 * Two are alike when nothing but ids of tasks, numbers of threads and addresses differs: of the
 * same kind and trust, with the same doubts, in the same words, and their members await at the same
 * places. All is in arena a. Linear in verdicts and their members.
 */
void alikes_make(struct arena *a, const struct verdicts *v, struct alikes *ret);

/*
 * "2 more like it: task 11, task 16": all but the first one, a few by their members, and what their
 * trees begin with where that differs; NULL where there is no other. In arena a.
 */
const char *alike_others(struct arena *a, const struct verdicts *v, const struct alike *alike);

#endif
