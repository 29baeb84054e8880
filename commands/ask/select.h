/* Selects the tasks that a command shows by its options --with, --without and --limit. */
#ifndef COMMANDS_ASK_SELECT_H
#define COMMANDS_ASK_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include "commands/base/call.h"
#include "commands/out/out.h"
#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "runtimes/model/model.h"

/* Rows for a command's table of options. */
#define SELECT_OPTIONS                                                                             \
	{ "with", "FIELD VALUE", true, "Show only tasks whose FIELD matches" },                    \
		{ "without", "FIELD VALUE", true, "Show only tasks whose FIELD does not match" },  \
	{                                                                                          \
		"limit", "N", false, "Show only the first N; 0: all"                               \
	}

/* Further help text for SELECT_OPTIONS. */
#define SELECT_HELP                                                                                \
	"    VALUE is an extended regular expression or, for a number, 5, '>5', '<=5', '!=5'\n"    \
	"    or 5..9. FIELD is one of id, kind, state, runtime, type, spawned_at, defined_at,\n"   \
	"    function, location, waiting_on, task, object, armed, thread, span, problem, depth,\n" \
	"    frames, leaves, remaining_ms, queued, position, permits_missing, send_queue,\n"       \
	"    retransmits, http_role, http_version, http_phase, http_method, http_path,\n"          \
	"    http_queued, http_streams, task_name, task_number."

struct selection {
	const struct task **tasks; /* matching tasks, in the order of the snapshot */
	size_t n;
	size_t total;            /* number of tasks in the snapshot */
	const struct job **jobs; /* matching jobs of blocking pools, shown behind all tasks */
	size_t njobs;
	size_t total_jobs;
	bool filtered;  /* --with or --without was given */
	bool has_limit; /* --limit other than 0 was given */
	bool all;       /* --limit 0 was given */
	size_t limit;   /* SIZE_MAX: none */
};

/* ERR_USAGE for an unknown field, or an invalid expression or number. */
struct error *select_check(const struct call *call) MUST_CHECK;
/* Selects the matching tasks, in arena a; ERR_INTERRUPTED after ^C. */
struct error *select_tasks(struct arena *a, const struct snapshot *s, const struct call *call,
                           struct selection *ret) MUST_CHECK;

/* The number of chosen jobs that are shown: tasks come first within the limit. */
size_t select_njobs(const struct selection *chosen);
/* Prints the footer about tasks that are not shown, if any. chosen need not outlive the call. */
void select_shown(const struct selection *chosen, struct out *out);

#endif
