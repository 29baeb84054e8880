#include "dwarf/lookup/code_places.h"

#include <elfutils/libdw.h>
#include <string.h>

#include "debugger/arch/arch.h"
#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "dwarf/lookup/argument_place.h"
#include "dwarf/lookup/code_ways.h"
#include "dwarf/lookup/function_names.h"
#include "dwarf/lookup/in_await.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/module/line.h"
#include "dwarf/module/line_rows.h"
#include "dwarf/names/qualified.h"

enum {
	/* Rows of other functions, after which the first that is not in the function ends it. */
	MANY_MISSES = 20000,
	MAX_PLACES = 100000,
	MAX_SAME_LINE = 1000, /* rows */
	MAX_TRAP = 8,         /* bytes */
	MAX_JOINED = 64,      /* bytes from a row to a better one of its line */
};

/*
 * Passes over the rows, by which rows will do: each is for functions that have no place by the ones
 * before.
 */
enum code_places_pass {
	PASS_BEGINNINGS,  /* where execution comes to the line */
	PASS_NOT_AWAITED, /* not where an await is in progress */
	PASS_ANY,
	NPASSES,
};

/* The row of the first place of a key. */
struct found_row {
	unsigned line, column;
	uint64_t size;  /* of its code; 0: unknown */
	uint64_t shape; /* see struct line_row */
};

/* Result of function_at() for a row: each pass asks again. */
struct row_function {
	const struct location *location; /* NULL: none */
	bool known;
};

/* The rows of a line in one function that was compiled without optimisation. */
struct reached_rows {
	unsigned line; /* 0: none yet */
	uint64_t key;
	bool known; /* which of them execution comes to first */
	VEC(struct reached_place) places;
};

/* The places of one search, one for each key: a function's DIE or that of an inlined call. */
struct code_places_search {
	struct debuginfo *di;
	struct arena *a;
	struct map found;               /* key -> index in first_rows + 1 */
	const line_row_vec *rows;       /* of a module, ascending line and address */
	struct row_function *functions; /* of each row; owned */
	struct map await_columns;       /* keys by column_key(), */
	unsigned columns_of;            /* of this line; 0: of none */
	struct reached_rows reached;    /* of the last line and function asked for */
	enum code_places_pass pass;
	VEC(struct found_row) first_rows;
	VEC(struct code_place) places;
	bool of_line; /* the places of a line are searched, not those of functions */
};

static struct error *code_places_read_rows(struct debuginfo *di, const char *file, size_t module,
                                           struct dwarf_module **dm, line_row_vec *ret)
{
	*dm = debuginfo_program_module(di, module);
	return *dm ? line_rows_read(*dm, file, ret) : NULL;
}

/* The compiler's drop glue of a coroutine has the lines of its awaits. */
static bool is_drop_glue(const struct function *f)
{
	return f->name && (qualified_is(f->name, "core::ptr::drop_in_place") ||
	                   qualified_is(f->name, "core::ptr::drop_glue"));
}

/*
 * Whether a row is that of a function's declaration, at its entry. The compiler gives the
 * instructions that save registers there the place of the code behind them, which may be of an
 * inlined call; the row is the function's own.
 */
static bool is_entry_row(const struct function *f, const struct line_row *row, uint64_t addr)
{
	Dwarf_Die die;
	int line;

	if (addr != f->low || !dwarf_offdie(f->dm->dwarf, f->die, &die))
		return false;
	const char *file = line_file_of(f->dm, &die);
	return file && line_rows_file_is(row->file, file) && dwarf_decl_line(&die, &line) == 0 &&
	       line >= 0 && (unsigned)line == row->line;
}

/* See function_at(). */
static const struct location *find_function(struct code_places_search *s,
                                            const struct line_row *row, uint64_t addr)
{
	size_t n;

	/* Code that the linker dropped is at 0, or close to it. */
	if (!lookup_function(s->di, addr))
		return NULL;
	/* Records of the cache are not used: they do not have the site of an inlined call. */
	const struct location *l = lookup_dwarf_functions_at(s->di, addr, s->a, &n);

	if (n > 1 && l[n - 1].function && is_entry_row(l[n - 1].function, row, addr))
		l = &l[n - 1];
	return l->function && !is_drop_glue(l->function) ? l : NULL;
}

/* The innermost function at one of s->rows; NULL: no code is there, or drop glue. */
static const struct location *function_at(struct code_places_search *s, struct dwarf_module *dm,
                                          const struct line_row *row, uint64_t *addr)
{
	struct row_function *f = &s->functions[row - s->rows->data];

	*addr = dm->module->bias + row->addr;
	if (!f->known)
		*f = (struct row_function){ find_function(s, row, *addr), true };
	return f->location;
}

static void set_rows(struct code_places_search *s, const line_row_vec *rows)
{
	free(s->functions);
	s->rows = rows;
	s->functions = alloc_zeroed((rows->n + 1) * sizeof(*s->functions));
	s->columns_of = 0;
	s->reached.line = 0;
}

static uint64_t code_places_key_of(const struct location *l)
{
	return l->site ? l->site : l->function->die;
}

/* The row after the prologue of the function that begins at this address; NULL: none. */
static const struct line_row *after_prologue(const line_row_vec *rows, const struct line_row *from,
                                             uint64_t size)
{
	const struct line_row *best = NULL;

	for (size_t i = 0; i < rows->n; i++) {
		const struct line_row *row = &rows->data[i];

		if (row->addr > from->addr && row->addr - from->addr < size && row->prologue_end &&
		    (!best || row->addr < best->addr))
			best = row;
	}
	return best;
}

/* The blocks have gaps, so the beginning of the run counts, too. */
static bool code_places_is_in_await(struct dwarf_module *dm, const struct location *l,
                                    const struct line_row *row)
{
	return in_await_has(dm, code_places_key_of(l), row->addr) ||
	       in_await_has(dm, code_places_key_of(l), row->run);
}

static uint64_t column_key(const struct location *l, const struct line_row *row)
{
	return map_key_of_pair(map_key_of_text(l->function->name), row->column);
}

/* The first row of the line of a row. */
static const struct line_row *code_places_first_of_line(const struct code_places_search *s,
                                                        const struct line_row *row)
{
	while (row > s->rows->data && row[-1].line == row->line)
		row--;
	return row;
}

/* Collects the columns of a line's awaits in all functions of the module. */
static void find_await_columns(struct code_places_search *s, struct dwarf_module *dm, unsigned line,
                               const struct line_row *row)
{
	const struct line_row *end = s->rows->data + s->rows->n;

	map_clear(&s->await_columns);
	s->columns_of = line;
	for (row = code_places_first_of_line(s, row); row < end && row->line == line; row++) {
		uint64_t addr;
		const struct location *l = function_at(s, dm, row, &addr);

		if (l && l->function->name && code_places_is_in_await(dm, l, row))
			map_put(&s->await_columns, column_key(l, row), NULL);
	}
}

/*
 * Whether another row of the line with the same column is in an await, in any instance of the
 * function: this one is then in a gap of the block. The code that makes the awaited future has the
 * columns of its call. Unoptimised code has no gaps.
 */
static bool has_column_of_await(struct code_places_search *s, struct dwarf_module *dm,
                                const struct location *l, const struct line_row *row)
{
	if (!l->inlined && argument_place_stays(l->function))
		return false;
	if (s->columns_of != row->line)
		find_await_columns(s, dm, row->line, row);
	return l->function->name && map_has(&s->await_columns, column_key(l, row));
}

/* Whether a trap is at an address, or ends there. */
static bool has_trap(struct code_places_search *s, uint64_t addr)
{
	const struct arch *arch = s->di->target->arch;
	unsigned char code[2 * MAX_TRAP];
	size_t size = arch->breakpoint.trap_size;

	if (!size || size > MAX_TRAP || addr < size)
		return false;
	struct error *err = target_read(s->di->target, addr - size, code, 2 * size);
	bool found = !err && (memcmp(code, arch->breakpoint.trap, size) == 0 ||
	                      memcmp(code + size, arch->breakpoint.trap, size) == 0);

	error_free(err);
	return found;
}

/* Execution never goes on behind such a row: that is the panic of an overflow, or the like. */
static bool ends_in_trap(struct code_places_search *s, struct dwarf_module *dm,
                         const struct line_row *row)
{
	return row->end && has_trap(s, dm->module->bias + row->end);
}

/*
 * Whether a later row of the line is the better one: all that comes to this one comes to that, but
 * other code comes to that alone, as where optimised code has merged what a resumed function does
 * with what leads to the line.
 */
static bool is_joined_later(struct code_places_search *s, struct dwarf_module *dm,
                            const struct location *l, const struct line_row *row)
{
	const struct line_row *end = s->rows->data + s->rows->n;
	uint64_t key = code_places_key_of(l), from = dm->module->bias + row->addr;

	/* Rows of a line ascend; the next one of the same function decides. */
	for (const struct line_row *next = row + 1;
	     next < end && next->line == row->line && next->addr - row->addr <= MAX_JOINED;
	     next++) {
		uint64_t addr;
		const struct location *other = function_at(s, dm, next, &addr);

		if (other && code_places_key_of(other) == key && next->run != row->run &&
		    !code_places_is_in_await(dm, other, next) &&
		    !has_column_of_await(s, dm, other, next))
			return code_ways_join(s->di, from, addr);
	}
	return false;
}

/* Whether a function makes the coroutine of an async function or block, which another one polls. */
static bool makes(const struct location *maker, const struct location *poll)
{
	SCRATCH(tmp);
	const char *inner = function_names_plain(&tmp, poll->function->name);
	const char *outer = maker && maker->function->name
	                            ? function_names_plain(&tmp, maker->function->name)
	                            : NULL;
	size_t len = outer ? strlen(outer) : 0;

	return len && strncmp(inner, outer, len) == 0 && str_begins(inner + len, "::") &&
	       str_begins(qualified_last(inner), "{async_");
}

/*
 * Whether a row is of an async function or block as a whole, in its own code: what is done at each
 * poll before and behind its body. It has the place at which the coroutine is made, and nothing in
 * the body does.
 */
static bool is_of_whole(struct code_places_search *s, struct dwarf_module *dm,
                        const struct location *l, const struct line_row *row)
{
	const struct line_row *end = s->rows->data + s->rows->n,
			      *other = code_places_first_of_line(s, row);

	if (!row->column || !l->function->name || !strstr(l->function->name, "{async_"))
		return false;
	for (; other < end && other->line == row->line; other++) {
		uint64_t addr;

		if (other->column == row->column && makes(function_at(s, dm, other, &addr), l))
			return true;
	}
	return false;
}

/* Collects the rows of a line in a function, and asks which of them execution comes to first. */
static void find_reached(struct code_places_search *s, struct dwarf_module *dm,
                         const struct location *l, const struct line_row *row)
{
	const struct line_row *end = s->rows->data + s->rows->n;
	struct reached_rows *r = &s->reached;
	size_t n = 0;

	r->line = row->line;
	r->key = code_places_key_of(l);
	r->places.n = 0;
	for (row = code_places_first_of_line(s, row); row < end && row->line == r->line; row++) {
		uint64_t addr;
		const struct location *other = function_at(s, dm, row, &addr);

		if (!other || code_places_key_of(other) != r->key || ends_in_trap(s, dm, row))
			continue;
		bool awaits = code_places_is_in_await(dm, other, row);
		*vec_push(&r->places) =
			(struct reached_place){ .addr = addr, .is_barrier = awaits };
		n += !awaits;
	}
	r->known = n > 1 && code_ways_first(s->di, l->function, r->places.data, r->places.n);
}

/*
 * Whether all that comes to a row has come to another one of its line before. In optimised code
 * that is not known.
 */
static bool is_behind(struct code_places_search *s, struct dwarf_module *dm,
                      const struct location *l, const struct line_row *row)
{
	const struct reached_rows *r = &s->reached;

	if (l->inlined || !argument_place_stays(l->function))
		return false;
	if (r->line != row->line || r->key != code_places_key_of(l))
		find_reached(s, dm, l, row);
	for (size_t i = 0; r->known && i < r->places.n; i++) {
		if (r->places.data[i].addr == dm->module->bias + row->addr)
			return !r->places.data[i].first;
	}
	return false;
}

static bool will_do(struct code_places_search *s, struct dwarf_module *dm, const struct location *l,
                    const struct line_row *row)
{
	switch (s->pass) {
	case PASS_BEGINNINGS:
		return !code_places_is_in_await(dm, l, row) &&
		       !has_column_of_await(s, dm, l, row) && !ends_in_trap(s, dm, row) &&
		       !is_joined_later(s, dm, l, row) && !is_behind(s, dm, l, row);
	case PASS_NOT_AWAITED:
		return !code_places_is_in_await(dm, l, row);
	default:
		return true;
	}
}

/*
 * Whether a row is a copy of the one at the place found: optimised code may have several. They have
 * the same column, and the same size or the same rows behind them; the jump at the end of a copy
 * may be a longer one.
 */
static bool is_copy(const struct code_places_search *s, const struct found_row *first,
                    const struct line_row *row)
{
	bool same_rows = row->shape && row->shape == first->shape;

	return s->pass == PASS_BEGINNINGS && row->addr == row->run && row->line == first->line &&
	       row->column && row->column == first->column && first->size &&
	       (same_rows || row->end - row->addr == first->size);
}

static void add_place(struct code_places_search *s, struct dwarf_module *dm,
                      const struct location *l, const struct line_row *row, uint64_t addr,
                      unsigned line)
{
	size_t first = (size_t)(uintptr_t)map_get(&s->found, code_places_key_of(l));

	if (s->places.n >= MAX_PLACES ||
	    (first && !is_copy(s, &s->first_rows.data[first - 1], row)) || !will_do(s, dm, l, row))
		return;
	*vec_push(&s->places) = (struct code_place){
		.addr = addr,
		.function = l->function->name,
		.linkage = l->function->linkage,
		.file = row->file,
		.comp_dir = row->unit->comp_dir,
		.line = line,
		.inlined = l->inlined,
	};
	if (first)
		return;
	*vec_push(&s->first_rows) = (struct found_row){
		.line = row->line,
		.column = row->column,
		.size = row->end > row->addr ? row->end - row->addr : 0,
		.shape = row->shape,
	};
	map_put(&s->found, code_places_key_of(l), (void *)(uintptr_t)s->first_rows.n);
}

/* Adds a row of a line, past the prologue if it is the entry of a function. */
static void code_places_add_row(struct code_places_search *s, struct dwarf_module *dm,
                                const line_row_vec *rows, const struct line_row *row)
{
	uint64_t addr;
	const struct location *l = function_at(s, dm, row, &addr);

	if (!l)
		return;
	uint64_t place = addr;
	const struct line_row *shown = row;

	if (!l->inlined && addr == l->function->low) {
		const struct line_row *body =
			after_prologue(rows, row, l->function->high - l->function->low);
		const struct location *there = body ? function_at(s, dm, body, &place) : NULL;

		shown = there && code_places_key_of(there) == code_places_key_of(l) ? body : row;
	}
	if (!s->of_line || !is_of_whole(s, dm, l, shown))
		add_place(s, dm, l, row, place, shown->line);
}

static int compare_places(const void *a, const void *b)
{
	const struct code_place *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static void code_places_finish(struct code_places_search *s, struct code_places *ret)
{
	size_t n = 0;

	if (s->places.n)
		qsort(s->places.data, s->places.n, sizeof(*s->places.data), compare_places);
	for (size_t i = 0; i < s->places.n; i++) {
		if (!n || s->places.data[n - 1].addr != s->places.data[i].addr)
			s->places.data[n++] = s->places.data[i];
	}
	s->places.n = n;
	ret->n = n;
	ret->data = vec_to_arena(&s->places, s->a);
	map_free(&s->found);
	map_free(&s->await_columns);
	vec_free(&s->first_rows);
	vec_free(&s->reached.places);
	free(s->functions);
}

/* ---- lines ---- */

/*
 * Adds the places of a line. The code that makes the awaited future comes before that which polls
 * it, wherever the compiler has put them: the latter is also where a suspended function resumes.
 */
static struct error *add_line(struct code_places_search *s, struct dwarf_module *dm,
                              const line_row_vec *rows, unsigned line)
{
	for (s->pass = 0; s->pass < NPASSES; s->pass++) {
		for (size_t i = 0; i < rows->n && rows->data[i].line <= line; i++) {
			if (rows->data[i].line == line)
				code_places_add_row(s, dm, rows, &rows->data[i]);
		}
		TRY(interrupt_check());
	}
	return NULL;
}

/* Adds the places of the first line from line on that has code in this module. */
static struct error *add_next_line(struct code_places_search *s, struct dwarf_module *dm,
                                   const line_row_vec *rows, unsigned line, unsigned *found)
{
	unsigned tried = 0;

	for (size_t i = 0; i < rows->n; i++) {
		unsigned here = rows->data[i].line;

		if (here < line || here == tried || (*found && here != *found))
			continue;
		tried = here;
		TRY(add_line(s, dm, rows, here));
		if (s->places.n)
			*found = here;
	}
	return NULL;
}

struct error *lookup_line_places(struct debuginfo *di, const char *file, unsigned line,
                                 struct arena *a, struct code_places *ret)
{
	struct code_places_search s = { .di = di, .a = a, .of_line = true };
	struct error *err = NULL;

	*ret = (struct code_places){ 0 };
	for (size_t i = 0; i < di->nmodules && !err; i++) {
		line_row_vec rows = { 0 };
		struct dwarf_module *dm;

		err = code_places_read_rows(di, file, i, &dm, &rows);
		set_rows(&s, &rows);
		if (!err && rows.n)
			err = add_next_line(&s, dm, &rows, line, &ret->line);
		vec_free(&rows);
	}
	code_places_finish(&s, ret);
	return err;
}

/* ---- functions ---- */

/* Whether a location is in the function of the name: the same path without generics. */
static bool code_places_is_in(struct code_places_search *s, const struct location *l,
                              const struct named_function *f)
{
	SCRATCH(tmp);

	(void)s;
	return l->function->name &&
	       strcmp(function_names_plain(&tmp, l->function->name), f->plain) == 0;
}

static bool code_places_is_better(const struct named_function *f, const struct line_row *row,
                                  const struct location *l, uint64_t addr)
{
	/* The entry of an async function is passed at every poll, its body's first line once. */
	if (f->is_async)
		return row->line > f->line;
	return l->inlined || addr != l->function->low;
}

/*
 * Whether a row is behind the whole function, after so many rows of others: it is in one that is
 * declared later, and not in the function.
 */
static bool is_behind_all(struct code_places_search *s, struct dwarf_module *dm,
                          const struct line_row *row, const struct named_function *f, size_t misses)
{
	uint64_t addr;
	const struct location *l = misses < MANY_MISSES ? NULL : function_at(s, dm, row, &addr);
	Dwarf_Die die;
	int line;
	SCRATCH(tmp);

	if (!l || !l->function->name || !dwarf_offdie(dm->dwarf, l->function->die, &die))
		return false;
	const char *plain = function_names_plain(&tmp, l->function->name);
	const char *own = qualified_last(f->plain);
	/* "app::run" is around what is in "app::run::{async_fn#0}". */
	const size_t len =
		own[0] == '{' ? (size_t)(own - f->plain) - strlen("::") : strlen(f->plain);
	return dwarf_decl_line(&die, &line) == 0 && line > 0 && (unsigned)line > f->line &&
	       !(strncmp(plain, f->plain, len) == 0 && str_begins(plain + len, "::"));
}

/* Adds the rows of one line that are of the function; returns how many are of others. */
static size_t add_rows_of(struct code_places_search *s, struct dwarf_module *dm,
                          const struct line_row *row, size_t n, const struct named_function *f,
                          bool body)
{
	size_t misses = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t addr;
		const struct location *l = function_at(s, dm, &row[i], &addr);

		if (!l || !code_places_is_in(s, l, f))
			misses++;
		else if (!body)
			code_places_add_row(s, dm, s->rows, &row[i]);
		else if (code_places_is_better(f, &row[i], l, addr))
			add_place(s, dm, l, &row[i], addr, row[i].line);
	}
	return misses;
}

/*
 * The first line of each instance of the function has its place: rows come in the order of lines.
 * An out-of-line function that is not async begins where its prologue ends.
 */
static struct error *code_places_add_function(struct code_places_search *s, struct dwarf_module *dm,
                                              const struct named_function *f, bool body,
                                              enum code_places_pass first,
                                              enum code_places_pass last)
{
	const line_row_vec *rows = s->rows;
	size_t misses = 0, n;

	for (size_t i = 0; i < rows->n; i += n) {
		const struct line_row *row = &rows->data[i];
		size_t others = 0;

		if (is_behind_all(s, dm, row, f, misses))
			break;

		for (n = 1; i + n < rows->n && row[n].line == row->line;)
			n++;
		if (row->line < f->line)
			continue;
		for (s->pass = first; s->pass <= last; s->pass++)
			others = add_rows_of(s, dm, row, n, f, body);
		misses = others < n ? 0 : misses + others;
		TRY(interrupt_check());
	}
	return NULL;
}

/* Adds the first line of the body of an async function, block or closure. */
static struct error *add_body(struct code_places_search *s, const struct named_function *f)
{
	TRY(code_places_add_function(s, f->dm, f, true, PASS_BEGINNINGS, PASS_NOT_AWAITED));
	return code_places_add_function(s, f->dm, f, true, PASS_ANY, PASS_ANY);
}

/* The lines of an async function and of the first async block in it, behind the declaration. */
struct body_lines {
	unsigned first, last;             /* its own; 0: none */
	unsigned block_first, block_last; /* 0: none */
	bool inlined;                     /* the block is inlined somewhere, */
	bool within;                      /* and into the function */
};

static void code_places_extend(unsigned line, unsigned *first, unsigned *last)
{
	*first = *first && *first < line ? *first : line;
	*last = *last > line ? *last : line;
}

/* A row of the block: whether it is inlined, directly or not, into the function. */
static void note_inlined(struct code_places_search *s, const struct named_function *f,
                         uint64_t addr, struct body_lines *ret)
{
	SCRATCH(tmp);
	size_t n;
	const struct location *l = lookup_dwarf_functions_at(s->di, addr, &tmp, &n);

	ret->inlined |= n > 1;
	for (size_t i = 1; i < n && !ret->within; i++)
		ret->within = l[i].function && code_places_is_in(s, &l[i], f);
}

static struct error *find_body_lines(struct code_places_search *s, const struct named_function *f,
                                     const struct named_function *block, struct body_lines *ret)
{
	const line_row_vec *rows = s->rows;
	size_t misses = 0;

	for (size_t i = 0; i < rows->n && !is_behind_all(s, f->dm, &rows->data[i], f, misses);
	     i++) {
		const struct line_row *row = &rows->data[i];
		uint64_t addr;
		const struct location *l =
			row->line > f->line ? function_at(s, f->dm, row, &addr) : NULL;

		misses += l && row->line > f->line;
		if (l && code_places_is_in(s, l, f)) {
			code_places_extend(row->line, &ret->first, &ret->last);
			misses = 0;
		} else if (l && code_places_is_in(s, l, block)) {
			code_places_extend(row->line, &ret->block_first, &ret->block_last);
			misses = 0;
			note_inlined(s, f, addr, ret);
		}
		TRY(interrupt_check());
	}
	return NULL;
}

/*
 * Whether the block has the whole body, into which an attribute may have put it: of the function
 * itself nothing but its last line is left. Optimised code may have lost other lines, but then the
 * block is inlined where it is polled, which is not there.
 */
static bool has_whole_body(const struct body_lines *l)
{
	return l->block_first && l->first == l->last && (!l->first || l->block_last <= l->first) &&
	       (l->inlined ? l->within : l->first != 0);
}

static struct error *add_async(struct code_places_search *s, const struct named_function *f)
{
	struct named_function block = *f;
	struct body_lines lines = { 0 };

	block.plain = arena_printf(s->a, "%s::{async_block#0}", f->plain);
	TRY(find_body_lines(s, f, &block, &lines));
	return add_body(s, has_whole_body(&lines) ? &block : f);
}

static struct error *add_named(struct code_places_search *s, const struct named_function *f,
                               struct code_places *ret)
{
	line_row_vec rows = { 0 };
	struct error *err = line_rows_read(f->dm, f->file, &rows);
	size_t before = s->places.n;

	set_rows(s, &rows);
	if (!err && f->is_async)
		err = add_async(s, f);
	if (!err && s->places.n == before) {
		err = code_places_add_function(s, f->dm, f, false, PASS_ANY, PASS_ANY);
		ret->every_poll |= f->is_async && s->places.n > before;
	}
	vec_free(&rows);
	return err;
}

struct error *lookup_function_places(struct debuginfo *di, const char *path, struct arena *a,
                                     struct code_places *ret)
{
	struct code_places_search s = { .di = di, .a = a };
	struct named_function *functions;
	size_t n;

	*ret = (struct code_places){ 0 };
	TRY(function_names_find(di, path, a, &functions, &n));
	struct error *err = NULL;
	for (size_t i = 0; i < n && !err; i++)
		err = add_named(&s, &functions[i], ret);
	code_places_finish(&s, ret);
	ret->line = ret->n ? ret->data[0].line : 0;
	return err;
}
