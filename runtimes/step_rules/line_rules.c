#include "runtimes/step_rules/line_rules.h"

#include <string.h>

bool line_rules_is_here(const struct line_rules *r, const struct function_row *row)
{
	return row->line == r->line &&
	       (row->file == r->file || (row->file && r->file && strcmp(row->file, r->file) == 0));
}

bool line_rules_is_around(const struct function_lines *l, size_t outer, size_t call)
{
	while (call && call != outer)
		call = l->calls[call].parent;
	return call == outer;
}

/*
 * The head of a coroutine has the code that panics if it must not be resumed, too. A step that
 * begins there is at the same line.
 */
bool line_rules_is_head(const struct function_lines *l, const struct function_row *row)
{
	const struct function_call *call = &l->calls[row->call];

	return call->is_coroutine && row->line == call->line;
}

bool line_rules_has_body(const struct function_lines *l, size_t call)
{
	for (size_t i = 0; i < l->nrows; i++) {
		const struct function_row *row = &l->rows[i];

		if (row->call == call && row->statement && row->line &&
		    row->line != l->calls[call].line)
			return true;
	}
	return false;
}

/* Whether the line has a row that is in no await that is in progress. */
static bool begins_outside(const struct function_lines *l, const struct function_row *row)
{
	for (size_t i = 0; i < l->nrows; i++) {
		const struct function_row *other = &l->rows[i];

		if (other->line == row->line && other->call == row->call && other->statement &&
		    !other->in_await)
			return true;
	}
	return false;
}

bool line_rules_may_stop_within(const struct line_rules *r, const struct function_row *row)
{
	const struct function_lines *l = r->lines;
	unsigned least = r->until ? r->until : r->line + 1;

	/* Arguments are not known at the entry, and the function did not get there. */
	if (!row->line || row->addr == r->low || line_rules_is_head(l, row))
		return false;
	if (r->kind == STEP_UNTIL && row->call == r->call && row->line < least)
		return false;
	if (r->kind == STEP_FINISH && row->call == r->call)
		return false;
	/*
	 * The code around an inlined function counts as what it returns to. An inlined coroutine
	 * that is suspended returns to the await, too.
	 */
	if (row->call != r->call)
		return line_rules_is_around(l, row->call, r->call) &&
		       r->is_users(r->arg, row->file) &&
		       !(row->in_await && l->calls[r->call].is_coroutine);
	/* Macros of libraries have lines of their own files. */
	if (line_rules_is_here(r, row) || !r->is_users(r->arg, row->file))
		return false;
	return !row->in_await || !begins_outside(l, row);
}

bool line_rules_may_stop_at(const struct line_rules *r, const struct function_row *row)
{
	return row->statement && line_rules_may_stop_within(r, row);
}

/*
 * Whether an inlined coroutine has not come to its body yet at a row: the row is of its head, or of
 * the async function, which only makes it.
 */
static bool is_before_body(const struct line_rules *r, const struct function_row *row)
{
	const struct function *f = r->lines->calls[row->call].function;

	return (f && r->makes_coroutine(r->arg, f)) ||
	       (line_rules_is_head(r->lines, row) && line_rules_has_body(r->lines, row->call));
}

bool line_rules_enters_inlined(const struct line_rules *r, const struct function_row *row)
{
	return r->kind == STEP_INTO && row->statement && row->line && row->call != r->call &&
	       line_rules_is_around(r->lines, r->call, row->call) &&
	       r->is_users(r->arg, row->file) && !is_before_body(r, row);
}

bool line_rules_ends_at(const struct line_rules *r, uint64_t addr)
{
	for (size_t i = 0; i < r->lines->nrows; i++) {
		const struct function_row *row = &r->lines->rows[i];

		if (row->addr == addr &&
		    (line_rules_may_stop_at(r, row) || line_rules_enters_inlined(r, row)))
			return true;
	}
	return false;
}

enum step_reason line_rules_reason(const struct line_rules *r, const struct function_row *row,
                                   bool has_returned)
{
	const struct function_call *call = &r->lines->calls[r->call];
	bool awaited = r->call && r->lines->calls[call->parent].is_coroutine;

	if (row->call == r->call)
		return STEP_LINE;
	if (call->is_coroutine && !awaited && !has_returned)
		return STEP_LEFT;
	return call->is_coroutine || r->kind == STEP_FINISH ? STEP_RETURNED : STEP_LINE;
}

bool line_rules_resumes_at(const struct line_rules *r, const struct function_row *row,
                           uint64_t last)
{
	return row->call == r->polled_call && row->addr != last &&
	       line_rules_is_head(r->lines, row);
}

enum line_rules_whose line_rules_whose_line(const struct line_rules *r,
                                            const struct function_row *row)
{
	const struct function_lines *l = r->lines;
	size_t call = row->call;

	if (!row->line || !line_rules_is_around(l, r->call, call))
		return LINE_NONE;
	if (call == r->call)
		return line_rules_is_here(r, row) ? LINE_HERE : LINE_OTHER;
	while (l->calls[call].parent != r->call)
		call = l->calls[call].parent;
	const struct function_row at = { .file = l->calls[call].call_file,
		                         .line = l->calls[call].call_line };
	if (!at.line || !at.file)
		return LINE_NONE;
	return line_rules_is_here(r, &at) ? LINE_HERE : LINE_OTHER;
}

uint64_t line_rules_body(const struct line_rules *r)
{
	for (size_t i = 0; i < r->lines->nrows; i++) {
		const struct function_row *row = &r->lines->rows[i];

		if (row->statement && row->line && row->addr > r->low)
			return r->is_users(r->arg, row->file) ? row->addr : 0;
	}
	return r->low;
}

size_t line_rules_coroutine(const struct function_lines *l, const struct function_row *row,
                            bool *found)
{
	size_t call = row->call;

	while (call && !l->calls[call].is_coroutine)
		call = l->calls[call].parent;
	*found = l->calls[call].is_coroutine;
	return call;
}
