/*
 * Finds where the source declares a variable of a coroutine. The members of a coroutine have no
 * source line (rustc 1.63 to 1.97), but the variables of its poll function do. The lexical blocks
 * around an await are those of the source, also in optimised code: optimisation does not change the
 * abstract function.
 *
 * To find the await of the function that belongs to a state: it awaits a value of the same type.
 * The state has the line of the `.await`. The variable `__awaitee` has the line where the awaited
 * expression begins, which is the same line or an earlier one. For an await that a macro wrote, the
 * state has a line of the macro and the function has the line of the macro's caller.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/module/line.h"
#include "dwarf/types/die_attrs.h"
#include "dwarf/types/type.h"

enum { MAX_ORIGINS = 4, MAX_DIES = 1 << 20, MAX_POLLS = 32, MAX_PAIRS = 1 << 26 };

#define ANY_LINE UINT64_MAX

/* The location of a variable, if unoptimised code describes it with a single expression. */
struct declared_spot {
	enum { SPOT_UNKNOWN, SPOT_STACK, SPOT_SAVED } kind;
	int64_t base;    /* SPOT_SAVED: frame offset of the pointer to the coroutine */
	uint64_t offset; /* SPOT_SAVED: offset of the variable in the coroutine */
};

/*
 * A block of the function. up is the enclosing block; block 0 is the function's own. The blocks
 * inside it have the numbers up to end.
 */
struct declared_block {
	size_t up, end;
	bool own; /* a block of the function's source, not of an inlined function */
};

struct declared_candidate {
	size_t block;
	struct unit *unit;
	uint64_t file, line;
	struct declared_spot spot;
};

struct declared_await {
	size_t block;
	uint64_t line;
	struct declared_spot spot;
};

/*
 * Chooses the awaits that may belong to the state: the other awaits, by their lines, must match the
 * other states, each of which has the line of the end of the expression. So none may be behind its
 * state when both are sorted; lines[n] are those of the awaits, states[n - 1] those of the other
 * states.
 */
struct pairing {
	bool known;       /* else any await may be the one */
	uint64_t *lines;  /* malloc */
	uint64_t *states; /* malloc */
	size_t n;
	size_t first_bad; /* the first pair that does not match while no await before it is left out
	                   */
	size_t last_bad;  /* behind the last one that does not while one is */
};

/* The parts of a poll function that one query needs. */
struct body {
	struct dwarf_module *dm;
	const struct saved_variable *wanted;
	const char *awaitee; /* name of the awaited type; NULL: the coroutine was never polled */
	uint64_t line;       /* line of the await; ANY_LINE: the state does not tell it */
	VEC(uint64_t) lines; /* the lines of all states that await that type */
	bool other; /* the function is an instance for other types: its types and locations do not
	               apply */
	VEC(struct declared_block) blocks;
	VEC(struct declared_candidate) candidates;
	VEC(struct declared_await) awaits;
	struct pairing pairing;
};

/* ---- one variable ---- */

static struct declared_spot read_spot(struct section s)
{
	struct reader r = reader_at(s, 0, s.size);
	struct declared_spot at = { SPOT_UNKNOWN, 0, 0 };

	if (!s.data || s.size < 2 || *r.p++ != DW_OP_fbreg)
		return at;
	at.base = read_sleb(&r);
	if (!r.bad && r.p == r.end) {
		at.kind = SPOT_STACK;
		return at;
	}
	if (r.bad || *r.p++ != DW_OP_deref)
		return at;
	if (r.p < r.end && *r.p == DW_OP_plus_uconst) {
		r.p++;
		at.offset = read_uleb(&r);
	}
	at.kind = !r.bad && r.p == r.end ? SPOT_SAVED : SPOT_UNKNOWN;
	return at;
}

static struct declared_spot spot_of(const struct body *b, struct die d)
{
	struct attribute_value v;
	struct attribute at;

	while (!b->other && die_next(&d, &at, &v)) {
		if (at.name == DW_AT_location && at.form == DW_FORM_exprloc)
			return read_spot(v.block);
	}
	return (struct declared_spot){ SPOT_UNKNOWN, 0, 0 };
}

static bool is_of_type(const struct body *b, const struct die_attrs *attrs, const char *type)
{
	return b->other ||
	       (attrs->type && strcmp(type_name(type_at(b->dm, attrs->type)), type) == 0);
}

static void read_variable(struct body *b, const struct die *d, size_t block)
{
	const struct saved_variable *wanted = b->wanted;
	struct die again = *d;
	struct die_attrs attrs;

	die_attrs_read(&again, &attrs);
	struct die_attrs whole = attrs;
	die_attrs_complete(b->dm, &whole);
	if (!whole.name)
		return;
	if (strcmp(whole.name, wanted->name) == 0 && is_of_type(b, &whole, wanted->type))
		*vec_push(&b->candidates) =
			(struct declared_candidate){ block, d->u, attrs.file.value,
			                             attrs.line.value, spot_of(b, *d) };
	else if (b->awaitee && strcmp(whole.name, "__awaitee") == 0 &&
	         is_of_type(b, &whole, b->awaitee))
		*vec_push(&b->awaits) =
			(struct declared_await){ block, attrs.line.value, spot_of(b, *d) };
}

/* ---- the function ---- */

/* Reads the DIEs in file order; skipping a block would cost as much as reading it. */
static void read_body(struct body *b, struct die *function)
{
	uint64_t at = function->has_children ? die_end(function) : 0;
	size_t block = 0;
	struct die d;

	b->blocks.n = b->candidates.n = b->awaits.n = 0;
	*vec_push(&b->blocks) = (struct declared_block){ .own = true };
	for (size_t n = 0; at && n < MAX_DIES; n++) {
		if (!die_read(function->s, function->u, at, &d))
			break;
		bool own = b->blocks.data[block].own;
		if (own && (d.tag == DW_TAG_variable || d.tag == DW_TAG_formal_parameter))
			read_variable(b, &d, block);
		at = die_end(&d);
		if (d.tag == 0) {
			b->blocks.data[block].end = b->blocks.n;
			if (block == 0)
				return;
			block = b->blocks.data[block].up;
		} else if (d.has_children) {
			own &= d.tag == DW_TAG_lexical_block;
			*vec_push(&b->blocks) = (struct declared_block){ .up = block, .own = own };
			block = b->blocks.n - 1;
		}
	}
	/* The read was cut short. An unread variable may shadow one that was found. */
	b->candidates.n = b->awaits.n = 0;
}

static bool is_around(const struct body *b, size_t outer, size_t inner)
{
	return inner >= outer && inner < b->blocks.data[outer].end;
}

/* ---- which of several ---- */

enum declared_fit { FIT_NOT, FIT_MAYBE, FIT_EXACTLY };

static enum declared_fit fit_of(const struct body *b, const struct declared_candidate *c,
                                const struct declared_await *await)
{
	if (!is_around(b, c->block, await->block))
		return FIT_NOT;
	if (c->spot.kind == SPOT_UNKNOWN || await->spot.kind != SPOT_SAVED)
		return FIT_MAYBE;
	return c->spot.kind == SPOT_SAVED && c->spot.base == await->spot.base &&
	                       c->spot.offset == b->wanted->offset
	               ? FIT_EXACTLY
	               : FIT_NOT;
}

/* The candidate in scope at an await; false when there is none, or several fit. */
static bool find_in_scope(const struct body *b, const struct declared_await *await,
                          struct declared_candidate *ret)
{
	enum declared_fit best = FIT_NOT;
	bool sure = false;

	for (size_t i = 0; i < b->candidates.n; i++) {
		const struct declared_candidate *c = &b->candidates.data[i];
		enum declared_fit fit = fit_of(b, c, await);

		if (fit == FIT_NOT || fit < best)
			continue;
		if (fit > best) {
			best = fit;
			*ret = *c;
			sure = true;
		}
		sure &= c->line == ret->line && c->file == ret->file && c->unit == ret->unit;
	}
	return sure && ret->line;
}

static int by_line(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void declared_sort(uint64_t *lines, size_t n)
{
	if (n)
		qsort(lines, n, sizeof(*lines), by_line);
}

/* The states but the one of the await's line; false: the numbers do not match. */
static bool declared_read_lines(const struct body *b, struct pairing *p)
{
	size_t n = 0;
	bool left_out = false;

	p->n = b->awaits.n;
	if (!p->n || p->n != b->lines.n)
		return false;
	p->lines = alloc_zeroed(p->n * sizeof(*p->lines));
	p->states = alloc_zeroed(p->n * sizeof(*p->states));
	for (size_t i = 0; i < p->n; i++) {
		p->lines[i] = b->awaits.data[i].line;
		if (b->lines.data[i] == b->line && !left_out)
			left_out = true;
		else
			p->states[n++] = b->lines.data[i];
	}
	declared_sort(p->lines, p->n);
	declared_sort(p->states, n);
	return left_out;
}

static void pairing_read(const struct body *b, struct pairing *p)
{
	*p = (struct pairing){ 0 };
	p->known = declared_read_lines(b, p);
	if (!p->known)
		return;
	p->first_bad = p->n;
	for (size_t i = p->n - 1; i--;) {
		if (p->lines[i] > p->states[i])
			p->first_bad = i;
		if (p->lines[i + 1] > p->states[i] && !p->last_bad)
			p->last_bad = i + 1;
	}
}

static void pairing_free(struct pairing *p)
{
	free(p->lines);
	free(p->states);
}

/* Can this await belong to the state? */
static bool may_be_await(const struct body *b, size_t index)
{
	const struct pairing *p = &b->pairing;
	uint64_t line = b->awaits.data[index].line;
	size_t low = 0, high = p->n;

	if (!p->known)
		return true;
	if (line > b->line)
		return false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->lines[middle] < line)
			low = middle + 1;
		else
			high = middle;
	}
	return low <= p->first_bad && low >= p->last_bad;
}

/* All awaits that can belong to the state must give the same declaration. */
static bool find_at_awaits(const struct body *b, bool any_await, struct declared_candidate *ret)
{
	bool found = false;

	for (size_t i = 0; i < b->awaits.n; i++) {
		struct declared_candidate one;

		if (!any_await && !may_be_await(b, i))
			continue;
		if (!find_in_scope(b, &b->awaits.data[i], &one))
			return false;
		if (found && (one.line != ret->line || one.file != ret->file))
			return false;
		*ret = one;
		found = true;
	}
	return found;
}

static bool is_any_await(const struct body *b)
{
	for (size_t i = 0; i < b->awaits.n; i++) {
		if (may_be_await(b, i))
			return false;
	}
	return true;
}

/* Before the first poll only the captures exist; they belong to no block. */
static bool find_capture(const struct body *b, struct declared_candidate *ret)
{
	const struct declared_await beginning = { .block = 0 };

	return find_in_scope(b, &beginning, ret);
}

static bool declared_find(struct body *b, struct declared_candidate *ret)
{
	bool found;

	/* A limit above any real source: each await is compared with each candidate. */
	if (b->candidates.n * b->awaits.n > MAX_PAIRS)
		return false;
	if (!b->awaitee)
		return find_capture(b, ret);
	/* Awaits are missing if their code was merged with other code: its blocks are gone too. */
	if (b->awaits.n < b->lines.n)
		return false;
	pairing_read(b, &b->pairing);
	found = find_at_awaits(b, is_any_await(b), ret);
	pairing_free(&b->pairing);
	return found;
}

/* ---- the query ---- */

static const char *declared_awaitee_of(const struct variant *v)
{
	const struct member *m = v->payload ? type_member(v->payload, "__awaitee") : NULL;

	return m && m->type ? type_name(m->type) : NULL;
}

/* The await line of a state. A line in another file than the function's belongs to a macro. */
static uint64_t declared_line_of(const struct variant *v, const struct variant *function)
{
	bool own = v->file && function->file && strcmp(v->file, function->file) == 0;

	return own && v->line ? v->line : ANY_LINE;
}

/* False when the state has no variables. */
static bool read_state(struct body *b)
{
	size_t n, state = b->wanted->state;
	const struct variant *variants = type_variants(b->wanted->coroutine, &n);

	b->lines.n = 0;
	if (state >= n)
		return false;
	b->awaitee = declared_awaitee_of(&variants[state]);
	b->line = declared_line_of(&variants[state], &variants[0]);
	for (size_t i = 0; b->awaitee && i < n; i++) {
		const char *other = declared_awaitee_of(&variants[i]);

		if (other && (b->other || strcmp(other, b->awaitee) == 0))
			*vec_push(&b->lines) = declared_line_of(&variants[i], &variants[0]);
	}
	return b->awaitee ||
	       (variants[state].name && strcmp(variants[state].name, "Unresumed") == 0);
}

/* Is this the coroutine's own poll function? Two versions of a crate have functions of one name. */
static bool is_same_function(const struct body *b, uint64_t poll)
{
	size_t n;
	const struct variant *first = type_variants(b->wanted->coroutine, &n);
	const char *file, *dir;
	unsigned line;

	return n && first->file && lookup_dwarf_variable_place(b->dm, poll, &file, &dir, &line) &&
	       line == first->line && strcmp(file, first->file) == 0;
}

/* The abstract function comes last, and its result is preferred: it is complete. */
static bool find_in_poll(struct body *b, uint64_t poll, struct declared_candidate *ret)
{
	bool any = false;
	struct die_attrs attrs;
	struct die d;

	for (int hops = 0; poll && hops < MAX_ORIGINS && die_attrs_open(b->dm, poll, &d); hops++) {
		struct die again = d;

		read_body(b, &d);
		if (b->awaits.n || (!b->awaitee && b->candidates.n))
			any = declared_find(b, ret);
		die_attrs_read(&again, &attrs);
		poll = attrs.origin;
	}
	return any;
}

/*
 * Searches the poll function of the coroutine; if only instances for other types exist, searches
 * the first of them.
 */
static bool find_in_polls(struct body *b, struct declared_candidate *ret)
{
	const struct type *t = b->wanted->coroutine;
	const struct unit *own = debuginfo_unit_of(b->dm, type_die(t));
	uint64_t polls[MAX_POLLS];
	size_t n = read_state(b) ? lookup_dwarf_polls(t, polls, MAX_POLLS) : 0;

	for (size_t i = 0; i < n; i++) {
		if ((debuginfo_unit_of(b->dm, polls[i]) == own || is_same_function(b, polls[i])) &&
		    find_in_poll(b, polls[i], ret))
			return true;
	}
	b->other = true;
	return n && strchr(type_name(t), '<') && is_same_function(b, polls[0]) && read_state(b) &&
	       find_in_poll(b, polls[0], ret);
}

bool lookup_dwarf_declaration(const struct saved_variable *wanted, const char **file,
                              unsigned *line)
{
	struct body b = { .dm = type_module(wanted->coroutine), .wanted = wanted };
	struct declared_candidate found;
	bool any = find_in_polls(&b, &found);

	vec_free(&b.lines);
	vec_free(&b.blocks);
	vec_free(&b.candidates);
	vec_free(&b.awaits);
	residency_touched(b.dm);
	if (!any)
		return false;
	*line = (unsigned)found.line;
	*file = line_file(b.dm, found.unit, (unsigned)found.file);
	return *file != NULL;
}

bool lookup_dwarf_variable_place(struct dwarf_module *dm, uint64_t variable, const char **file,
                                 const char **comp_dir, unsigned *line)
{
	struct die_attrs attrs;
	struct die d;

	for (int hops = 0; variable && hops < MAX_ORIGINS; hops++) {
		if (!die_attrs_open(dm, variable, &d))
			return false;
		struct unit *unit = d.u;
		die_attrs_read(&d, &attrs);
		if (attrs.line.value) {
			*line = (unsigned)attrs.line.value;
			*file = line_file(dm, unit, (unsigned)attrs.file.value);
			*comp_dir = unit->comp_dir;
			return *file != NULL;
		}
		variable = attrs.origin;
	}
	return false;
}
