/*
 * Which tasks a command shows: its options --with, --without and --limit.
 */
#ifndef COMMANDS_ASK_SELECT_H
#define COMMANDS_ASK_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include "commands/base/call.h"
#include "commands/out/out.h"
#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "runtimes/model/model.h"

/* Rows of a command's table of options. */
#define SELECT_OPTIONS                                                                             \
	{ "with", "FIELD VALUE", true, "Only tasks of which FIELD matches" },                      \
		{ "without", "FIELD VALUE", true, "Only tasks of which FIELD does not match" },    \
	{                                                                                          \
		"limit", "N", false,                                                               \
			"Show the first N, the footer says how many there are; 0: all"             \
	}

/* What SELECT_OPTIONS need beyond their lines of help. */
#define SELECT_HELP                                                                                \
	"    VALUE is a regular expression (POSIX, extended), of a number 5, '>5', '<=5', '!=5'\n" \
	"    or 5..9. FIELD is one of id, state, runtime, type, function, location, waiting_on,\n" \
	"    task, object, thread, span, problem, depth, frames, leaves, remaining_ms, queued,\n"  \
	"    position, permits_missing."

struct selection {
	const struct task **tasks; /* that match, in the order of the snapshot */
	size_t n;
	size_t total;   /* that there are */
	bool asked;     /* with --with or --without */
	bool has_limit; /* with --limit other than 0 */
	bool all;       /* with --limit 0 */
	size_t limit;   /* SIZE_MAX: none */
};

/* ERR_USAGE for a field, an expression or a number that is none. */
struct error *select_check(const struct call *call) MUST_CHECK;
/* The tasks that match, in arena a; ERR_INTERRUPTED after ^C. */
struct error *select_tasks(struct arena *a, const struct snapshot *s, const struct call *call,
                           struct selection *ret) MUST_CHECK;

/* The footer of what is not shown, where there is something. chosen need not outlive the call. */
void select_shown(const struct selection *chosen, struct out *out);

#endif
