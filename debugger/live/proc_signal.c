/* Effect of a signal on a process: signal(7), core(5). */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/live/proc.h"

static bool writes_core(int signal)
{
	static const int signals[] = { SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,
		                       SIGFPE,  SIGSEGV, SIGSYS,  SIGXCPU, SIGXFSZ };

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		if (signals[i] == signal)
			return true;
	}
	return false;
}

/* Text behind a name at the beginning of a line; NULL: there is no such line. */
static const char *value_of(const char *status, const char *name)
{
	const char *line = strstr(status, name);

	return line ? line + strlen(name) : NULL;
}

static bool has_signal(const char *status, const char *name, int signal)
{
	const char *mask = value_of(status, name);

	return mask && strtoull(mask, NULL, 16) >> (signal - 1) & 1;
}

/* The first process of a namespace ignores what it does not handle. */
static bool is_first(const char *status)
{
	const char *ids = value_of(status, "\nNStgid:");
	char *end = NULL;
	long id = 0;

	for (; ids && *ids && *ids != '\n'; ids = end) {
		id = strtol(ids, &end, 10);
		if (end == ids)
			break;
	}
	return id == 1;
}

bool proc_signal_ends(pid_t tid, int signal)
{
	SCRATCH(tmp);
	const char *status = writes_core(signal) ? proc_read(&tmp, tid, "status", NULL) : NULL;

	return status && !has_signal(status, "\nSigCgt:", signal) &&
	       !has_signal(status, "\nSigIgn:", signal) && !is_first(status);
}
