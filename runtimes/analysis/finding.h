/* What `check` finds. */
#ifndef RUNTIMES_ANALYSIS_FINDING_H
#define RUNTIMES_ANALYSIS_FINDING_H

#include <stddef.h>

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_ERROR };

struct finding {
	const char *check; /* name: "deadlock" */
	enum severity severity;
	const char *text;          /* one sentence */
	const char *more;          /* the command that shows more: "async task 7" */
	const char *const *tasks;  /* ids, the first ones */
	size_t ntasks, all_tasks;  /* listed; how many it is about, 0: it is about no task */
	const char *const *doubts; /* why it may not be so */
	size_t ndoubts;
	bool possible;      /* it may not be so: what counts as certain is without this */
	size_t count;       /* how many verdicts it stands for, 0: it is none */
	const char *others; /* the other ones in a few words, NULL none */
};

const char *severity_name(enum severity severity);

#endif
