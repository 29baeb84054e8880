/*
 * Decisions about the lines at which a step may stop, from the lines of its function. Nothing here
 * reads the program.
 */
#ifndef RUNTIMES_STEP_RULES_LINE_RULES_H
#define RUNTIMES_STEP_RULES_LINE_RULES_H

#include "dwarf/lookup/function_lines.h"
#include "runtimes/step_rules/step_kind.h"

/* A step over the lines of a function. */
struct line_rules {
	const struct function_lines *lines;
	uint64_t low;       /* address at which the function begins */
	const char *file;   /* where the step is: NULL: unknown */
	unsigned line;      /* there; 0: unknown */
	size_t call;        /* the innermost inlined call there: index into lines->calls */
	size_t polled_call; /* the call that is the instance's poll function; 0: the function */
	enum step_kind kind;
	unsigned until; /* STEP_UNTIL: at least this line; 0: a later one */
	/* Whether a file has code of the user's. */
	bool (*is_users)(void *arg, const char *file);
	/* Whether a function returns a coroutine. */
	bool (*makes_coroutine)(void *arg, const struct function *f);
	void *arg;
};

/* Whether a row is of the line that steps. */
bool line_rules_is_here(const struct line_rules *r, const struct function_row *row);
/* Whether a call is around another one, or is that; 0, the function, is around all. */
bool line_rules_is_around(const struct function_lines *l, size_t outer, size_t call);
/* Whether a row is at the head of the coroutine that it is of: where that is resumed. */
bool line_rules_is_head(const struct function_lines *l, const struct function_row *row);
/* Whether a coroutine, the one of that call, has other lines than that of its declaration. */
bool line_rules_has_body(const struct function_lines *l, size_t call);
/* Whether the step may stop in the code of a row, if a thread comes to the middle of its line. */
bool line_rules_may_stop_within(const struct line_rules *r, const struct function_row *row);
/* Whether the step may stop at the beginning of a row. */
bool line_rules_may_stop_at(const struct line_rules *r, const struct function_row *row);
/* Whether a step into functions stops at a row, in a function that is inlined at the line. */
bool line_rules_enters_inlined(const struct line_rules *r, const struct function_row *row);
/* Whether the step ends at an address, by the rows there. */
bool line_rules_ends_at(const struct line_rules *r, uint64_t addr);
/*
 * Meaning of a stop at a row: the outcome of an inlined call when the code around it goes on. A
 * coroutine goes on behind an await only when what it awaits is ready. has_returned: the instance
 * is in the state of a coroutine that has.
 */
enum step_reason line_rules_reason(const struct line_rules *r, const struct function_row *row,
                                   bool has_returned);
/*
 * Whether an inlined instance may be resumed at a row: last is the address of the row before that
 * was one, as an address may have several.
 */
bool line_rules_resumes_at(const struct line_rules *r, const struct function_row *row,
                           uint64_t last);

enum line_rules_whose { LINE_NONE, LINE_HERE, LINE_OTHER };

/*
 * Whether a row belongs to the line of the step: an inlined call belongs to the line where it is
 * called. LINE_NONE: unknown, or the row is of code around.
 */
enum line_rules_whose line_rules_whose_line(const struct line_rules *r,
                                            const struct function_row *row);
/*
 * The address at which the body of a function begins that is no coroutine: the second statement, as
 * its prologue is the first. 0: that is of a library's function which is inlined there.
 */
uint64_t line_rules_body(const struct line_rules *r);
/* Index of the innermost coroutine around the code of a row; *found false: there is none. */
size_t line_rules_coroutine(const struct function_lines *l, const struct function_row *row,
                            bool *found);

#endif
