/* A finding of the `check` command. */
#ifndef RUNTIMES_ANALYSIS_FINDING_H
#define RUNTIMES_ANALYSIS_FINDING_H

#include <stdbool.h>
#include <stddef.h>

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_ERROR };

struct finding {
	const char *check; /* name: "deadlock" */
	enum severity severity;
	const char *text;         /* one sentence */
	const char *more;         /* the command that shows more: "async task 7" */
	const char *const *tasks; /* ids of the first tasks */
	size_t ntasks,
		all_tasks; /* number of tasks listed, number of all tasks concerned; 0: no task */
	const char *const *doubts; /* reasons why the finding may be wrong */
	size_t ndoubts;
	bool possible;      /* the finding is not certain */
	size_t count;       /* number of alike verdicts that it represents, 0: it is no verdict */
	const char *others; /* short text about the other verdicts, NULL none */
};

const char *severity_name(enum severity severity);

#endif
