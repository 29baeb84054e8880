#include "dwarf/lookup/function_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <limits.h>
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "dwarf/lookup/argument_place.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/module/line.h"
#include "dwarf/module/line_program.h"
#include "dwarf/types/type.h"

enum { MAX_SPANS = 1 << 16, MAX_FUNCTION_ROWS = 1 << 18 };

/* Code of an inlined call, or of a block that polls an awaited future. */
struct span {
	uint64_t low, high; /* link-time */
	size_t call;
	bool in_await;
	int depth;
};

struct function_lines_reading {
	const struct function *f;
	VEC(struct span) spans;
	VEC(struct function_call) calls;
	VEC(struct function_row) rows;
	struct map awaits; /* function_lines_await_key() of those of which a place is known */
};

static bool function_lines_has_awaitee(Dwarf_Die *block)
{
	Dwarf_Die child;

	if (dwarf_child(block, &child) != 0)
		return false;
	do {
		const char *name =
			dwarf_tag(&child) == DW_TAG_variable ? dwarf_diename(&child) : NULL;

		if (name && strcmp(name, "__awaitee") == 0)
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

static void add_spans(struct function_lines_reading *r, Dwarf_Die *die, const struct span *like)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0 && r->spans.n < MAX_SPANS) {
		struct span *s = vec_push(&r->spans);

		*s = *like;
		s->low = low;
		s->high = high;
	}
}

/* The function itself, or one that is inlined. */
static struct function_call *function_lines_describe(struct function_lines_reading *r,
                                                     Dwarf_Die *function)
{
	struct function_call *call = vec_push(&r->calls);
	const char *name = dwarf_diename(function);
	int line = 0;

	call->function = lookup_function_die(r->f->dm, dwarf_dieoffset(function));
	call->is_coroutine = name && str_begins(name, "{async_");
	call->file = line_file_of(r->f->dm, function);
	if (dwarf_decl_line(function, &line) == 0 && line > 0)
		call->line = (unsigned)line;
	return call;
}

static unsigned function_lines_number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	return dwarf_attr(die, name, &attr) && dwarf_formudata(&attr, &value) == 0 &&
	                       value <= UINT32_MAX
	               ? (unsigned)value
	               : 0;
}

/* Key of an await, which is the same in all copies of its function. */
static uint64_t function_lines_await_key(const struct function_lines_reading *r, size_t call,
                                         unsigned line, unsigned column)
{
	uint64_t place = (uint64_t)line << 32 | column;

	return map_key_of_pair((uintptr_t)r->calls.data[call].function, place);
}

/* A coroutine polls what it awaits, in its own code, at the place of the await. */
static void note_await(struct function_lines_reading *r, const struct function_call *call,
                       Dwarf_Die *die)
{
	const struct type *result =
		r->calls.data[call->parent].is_coroutine && call->function && !call->is_coroutine
			? function_read_result(call->function)
			: NULL;
	unsigned column = function_lines_number_of(die, DW_AT_call_column);

	if (!column || !r->calls.data[call->parent].is_coroutine ||
	    (!call->is_coroutine && !(result && type_is(result, "core::task::poll::Poll"))))
		return;
	map_put(&r->awaits,
	        function_lines_await_key(r, call->parent,
	                                 function_lines_number_of(die, DW_AT_call_line), column),
	        NULL);
}

static const char *call_file(const struct function_lines_reading *r, Dwarf_Die *die)
{
	struct unit *u = debuginfo_unit_of(r->f->dm, r->f->die);
	unsigned number = function_lines_number_of(die, DW_AT_call_file);

	return u && number ? line_file(r->f->dm, u, number) : NULL;
}

static void function_lines_add_call(struct function_lines_reading *r, Dwarf_Die *die,
                                    struct span *like)
{
	Dwarf_Attribute origin;
	Dwarf_Die function;

	if (!dwarf_attr(die, DW_AT_abstract_origin, &origin) ||
	    !dwarf_formref_die(&origin, &function))
		return;
	struct function_call *call = function_lines_describe(r, &function);
	call->site = dwarf_dieoffset(die);
	call->parent = like->call;
	call->call_line = function_lines_number_of(die, DW_AT_call_line);
	call->call_file = call_file(r, die);
	note_await(r, call, die);
	like->call = r->calls.n - 1;
	like->in_await = false;
}

static void function_lines_add_scope(struct function_lines_reading *r, Dwarf_Die *die,
                                     const struct span *outer)
{
	Dwarf_Die child;

	if (outer->depth > DIE_MAX_NESTING || dwarf_child(die, &child) != 0)
		return;
	do {
		int tag = dwarf_tag(&child);
		struct span span = *outer;

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block)
			continue;
		span.depth++;
		if (tag == DW_TAG_inlined_subroutine)
			function_lines_add_call(r, &child, &span);
		else
			span.in_await |= function_lines_has_awaitee(&child);
		if (span.call != outer->call || span.in_await != outer->in_await)
			add_spans(r, &child, &span);
		function_lines_add_scope(r, &child, &span);
	} while (dwarf_siblingof(&child, &child) == 0);
}

/* The innermost span at a link-time address. */
static struct span span_at(const struct function_lines_reading *r, uint64_t pc)
{
	struct span best = { .depth = 0 };

	for (size_t i = 0; i < r->spans.n; i++) {
		const struct span *s = &r->spans.data[i];

		if (pc >= s->low && pc < s->high && s->depth >= best.depth)
			best = *s;
	}
	return best;
}

enum { MAX_RANGES = 64 /* of a function; unoptimised and most optimised ones have one */ };

/* The code of the function itself. */
struct function_lines_extent {
	size_t n;
	Dwarf_Addr low[MAX_RANGES], high[MAX_RANGES];
};

static void read_extent(Dwarf_Die *function, struct function_lines_extent *ret)
{
	Dwarf_Addr base;
	ptrdiff_t at = 0;

	for (ret->n = 0; ret->n < MAX_RANGES; ret->n++) {
		at = dwarf_ranges(function, at, &base, &ret->low[ret->n], &ret->high[ret->n]);
		if (at <= 0)
			return;
	}
}

static bool function_lines_is_in(const struct function_lines_extent *e, Dwarf_Addr addr)
{
	for (size_t i = 0; i < e->n; i++) {
		if (addr >= e->low[i] && addr < e->high[i])
			return true;
	}
	return false;
}

static uint64_t lowest(const struct function_lines_extent *e)
{
	uint64_t ret = UINT64_MAX;

	for (size_t i = 0; i < e->n; i++)
		ret = e->low[i] < ret ? e->low[i] : ret;
	return ret;
}

static uint64_t highest(const struct function_lines_extent *e)
{
	uint64_t ret = 0;

	for (size_t i = 0; i < e->n; i++)
		ret = e->high[i] > ret ? e->high[i] : ret;
	return ret;
}

static void function_lines_read_rows(struct function_lines_reading *r, Dwarf_Die *function)
{
	struct dwarf_module *dm = r->f->dm;
	struct unit *u = debuginfo_unit_of(dm, r->f->die);
	line_entry_vec entries = { 0 };
	struct function_lines_extent extent;

	read_extent(function, &extent);
	if (!u || u->stmt_list == UINT64_MAX || !extent.n)
		return;
	line_program_read_within(dm, u, lowest(&extent), highest(&extent), &entries);
	for (size_t i = 0; i < entries.n && r->rows.n < MAX_FUNCTION_ROWS; i++) {
		const struct line_entry *entry = &entries.data[i];

		if (entry->ends_sequence || !function_lines_is_in(&extent, entry->addr))
			continue;
		struct span span = span_at(r, entry->addr);
		*vec_push(&r->rows) = (struct function_row){
			.addr = dm->module->bias + entry->addr,
			.file = line_file(dm, u, entry->file),
			.line = entry->line <= INT_MAX ? entry->line : 0,
			.column = entry->column <= INT_MAX ? entry->column : 0,
			.call = span.call,
			.statement = entry->is_statement,
			.in_await = span.in_await,
		};
	}
	vec_free(&entries);
}

/*
 * The code that makes the awaited future has the columns of its call, so that a row with the column
 * of the await belongs to it: the return of one that is suspended, for one. Unoptimised code has no
 * such gaps; there it is the call of into_future(), which is all that an await of a variable has to
 * make.
 */
static void fill_gaps(struct function_lines_reading *r)
{
	if (argument_place_stays(r->f))
		return;
	for (size_t i = 0; i < r->rows.n; i++) {
		const struct function_row *row = &r->rows.data[i];

		/* Rows behind a statement may have the column of anything in the line. */
		if (row->in_await && row->statement && row->column)
			map_put(&r->awaits,
			        function_lines_await_key(r, row->call, row->line, row->column),
			        NULL);
	}
	for (size_t i = 0; i < r->rows.n; i++) {
		struct function_row *row = &r->rows.data[i];

		row->in_await |= map_has(
			&r->awaits, function_lines_await_key(r, row->call, row->line, row->column));
	}
}

static int compare_rows(const void *a, const void *b)
{
	const struct function_row *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static const char *function_lines_directory_of(Dwarf_Die *function)
{
	Dwarf_Die cu, *unit = dwarf_diecu(function, &cu, NULL, NULL);
	Dwarf_Attribute attr;

	return unit && dwarf_attr(unit, DW_AT_comp_dir, &attr) ? dwarf_formstring(&attr) : NULL;
}

void function_lines_read(const struct function *f, struct arena *a, struct function_lines *ret)
{
	struct function_lines_reading r = { .f = f };
	Dwarf_Die die;

	*ret = (struct function_lines){ 0 };
	if (!debuginfo_need(f->dm) || !f->dm->dwarf || !dwarf_offdie(f->dm->dwarf, f->die, &die))
		return;
	function_lines_describe(&r, &die)->function = f;
	function_lines_add_scope(&r, &die, &(struct span){ .depth = 0 });
	function_lines_read_rows(&r, &die);
	fill_gaps(&r);
	map_free(&r.awaits);
	if (r.rows.n)
		qsort(r.rows.data, r.rows.n, sizeof(*r.rows.data), compare_rows);
	ret->comp_dir = function_lines_directory_of(&die);
	vec_free(&r.spans);
	ret->nrows = r.rows.n;
	ret->rows = vec_to_arena(&r.rows, a);
	ret->ncalls = r.calls.n;
	ret->calls = vec_to_arena(&r.calls, a);
}

const struct function_row *function_lines_at(const struct function_lines *l, uint64_t addr)
{
	const struct function_row *found = NULL;

	for (size_t i = 0; i < l->nrows && l->rows[i].addr <= addr; i++) {
		const struct function_row *row = &l->rows[i];

		/* The last of several rows at one address counts; line 0 continues a line. */
		if (!found || row->line || row->call != found->call)
			found = row;
	}
	return found;
}
