/*
 * Where the source declares a variable. The members of a coroutine do not say (rustc 1.63 to 1.97);
 * the variables of its poll function do, and the lexical blocks around an await are those of the
 * source, in optimised code as well: there in the abstract function, which no optimisation touches.
 */
#include <dwarf.h>
#include <string.h>

#include "dwarf/line.h"
#include "dwarf/said.h"
#include "dwarf/search.h"
#include "dwarf/type.h"

enum { MAX_ORIGINS = 4, MAX_DIES = 1 << 18, MAX_POLLS = 32 };

/* Where a variable lies, as far as unoptimised code says it with one expression. */
struct spot {
	enum { SPOT_UNKNOWN, SPOT_STACK, SPOT_SAVED } kind;
	int64_t base;    /* SPOT_SAVED: where in the frame the pointer to the coroutine lies, */
	uint64_t offset; /* and how far from its beginning the variable is */
};

/* A block of the function; up is the one around it, the function's own is 0. */
struct block {
	size_t up;
	bool own; /* the source's: in no function that was inlined */
};

struct candidate {
	size_t block;
	struct unit *unit;
	uint64_t file, line;
	struct spot spot;
};

struct await {
	size_t block;
	uint64_t line;
	struct spot spot;
};

/* What of a poll function matters for one question. */
struct body {
	struct dwarf_module *dm;
	const struct saved_variable *wanted;
	VEC(struct block) blocks;
	VEC(struct candidate) candidates;
	VEC(struct await) awaits;
};

/* ---- one variable ---- */

static struct spot read_spot(struct section s)
{
	struct reader r = { s.data, s.data + s.size, false };
	struct spot at = { SPOT_UNKNOWN, 0, 0 };

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

static struct spot spot_of(struct die d)
{
	struct attribute_value v;
	struct attribute at;

	while (die_next(&d, &at, &v)) {
		if (at.name == DW_AT_location && at.form == DW_FORM_exprloc)
			return read_spot(v.block);
	}
	return (struct spot){ SPOT_UNKNOWN, 0, 0 };
}

static bool is_of_type(struct dwarf_module *dm, const struct said *said, const char *type)
{
	return said->type && strcmp(type_name(type_at(dm, said->type)), type) == 0;
}

static void read_variable(struct body *b, const struct die *d, size_t block)
{
	const struct saved_variable *wanted = b->wanted;
	struct die again = *d;
	struct said said;

	said_read(&again, &said);
	struct said whole = said;
	said_complete(b->dm, &whole);
	if (!whole.name)
		return;
	if (strcmp(whole.name, wanted->name) == 0 && is_of_type(b->dm, &whole, wanted->type))
		*vec_push(&b->candidates) = (struct candidate){ block, d->u, said.file.value,
			                                        said.line.value, spot_of(*d) };
	else if (wanted->awaitee && strcmp(whole.name, "__awaitee") == 0 &&
	         is_of_type(b->dm, &whole, wanted->awaitee))
		*vec_push(&b->awaits) = (struct await){ block, said.line.value, spot_of(*d) };
}

/* ---- the function ---- */

/* Its DIEs in the order in which they stand: to skip a block costs as much as to read it. */
static void read_body(struct body *b, struct die *function)
{
	uint64_t at = function->has_children ? die_end(function) : 0;
	size_t block = 0;
	struct die d;

	b->blocks.n = b->candidates.n = b->awaits.n = 0;
	*vec_push(&b->blocks) = (struct block){ 0, true };
	for (size_t n = 0; at && n < MAX_DIES; n++) {
		if (!die_read(function->s, function->u, at, &d))
			break;
		bool own = b->blocks.data[block].own;
		if (own && (d.tag == DW_TAG_variable || d.tag == DW_TAG_formal_parameter))
			read_variable(b, &d, block);
		at = die_end(&d);
		if (d.tag == 0) {
			if (block == 0)
				return;
			block = b->blocks.data[block].up;
		} else if (d.has_children) {
			*vec_push(&b->blocks) =
				(struct block){ block, own && d.tag == DW_TAG_lexical_block };
			block = b->blocks.n - 1;
		}
	}
	/* Cut short: what is missing may hide what was found. */
	b->candidates.n = b->awaits.n = 0;
}

static bool is_around(const struct body *b, size_t outer, size_t inner)
{
	while (inner > outer)
		inner = b->blocks.data[inner].up;
	return inner == outer;
}

/* ---- which of several ---- */

enum fit { FIT_NOT, FIT_MAYBE, FIT_EXACTLY };

static enum fit fit_of(const struct body *b, const struct candidate *c, const struct await *await)
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

/* The one that is in scope at an await; false when there is none, or no telling which. */
static bool find_in_scope(const struct body *b, const struct await *await, struct candidate *ret)
{
	enum fit best = FIT_NOT;
	bool sure = false;

	for (size_t i = 0; i < b->candidates.n; i++) {
		const struct candidate *c = &b->candidates.data[i];
		enum fit fit = fit_of(b, c, await);

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

static bool has_await_at(const struct body *b, uint64_t line)
{
	for (size_t i = 0; line && i < b->awaits.n; i++) {
		if (b->awaits.data[i].line == line)
			return true;
	}
	return false;
}

/* All awaits that may be the one must say the same. */
static bool find_at_awaits(const struct body *b, struct candidate *ret)
{
	bool by_line = has_await_at(b, b->wanted->line), found = false;

	for (size_t i = 0; i < b->awaits.n; i++) {
		const struct await *await = &b->awaits.data[i];
		struct candidate one;

		if (by_line && await->line != b->wanted->line)
			continue;
		if (!find_in_scope(b, await, &one))
			return false;
		if (found && (one.line != ret->line || one.file != ret->file))
			return false;
		*ret = one;
		found = true;
	}
	return found;
}

/* Before the first poll there are captures alone: variables of no block. */
static bool find_capture(const struct body *b, struct candidate *ret)
{
	const struct await beginning = { .block = 0 };

	return find_in_scope(b, &beginning, ret);
}

static bool find(const struct body *b, struct candidate *ret)
{
	return b->wanted->awaitee ? find_at_awaits(b, ret) : find_capture(b, ret);
}

/* The function that others are copies of comes last, and knows best: it is whole. */
static bool find_in_poll(struct body *b, uint64_t poll, struct candidate *ret)
{
	bool any = false;
	struct said said;
	struct die d;

	for (int hops = 0; poll && hops < MAX_ORIGINS && said_open(b->dm, poll, &d); hops++) {
		struct die again = d;

		read_body(b, &d);
		if (b->awaits.n || (!b->wanted->awaitee && b->candidates.n))
			any = find(b, ret);
		said_read(&again, &said);
		poll = said.origin;
	}
	return any;
}

bool search_declaration(const struct saved_variable *wanted, const char **file, unsigned *line)
{
	struct body b = { .dm = type_module(wanted->coroutine), .wanted = wanted };
	uint64_t polls[MAX_POLLS];
	size_t n = search_polls(wanted->coroutine, polls, MAX_POLLS);
	struct candidate found;
	bool any = false;

	/* Of other instances the types are others. */
	for (size_t i = 0; i < n && !any; i++)
		any = find_in_poll(&b, polls[i], &found);
	vec_free(&b.blocks);
	vec_free(&b.candidates);
	vec_free(&b.awaits);
	if (!any)
		return false;
	*line = (unsigned)found.line;
	*file = line_file(b.dm, found.unit, (unsigned)found.file);
	return *file != NULL;
}

bool search_variable_place(struct dwarf_module *dm, uint64_t variable, const char **file,
                           unsigned *line)
{
	struct said said;
	struct die d;

	for (int hops = 0; variable && hops < MAX_ORIGINS; hops++) {
		if (!said_open(dm, variable, &d))
			return false;
		struct unit *unit = d.u;
		said_read(&d, &said);
		if (said.line.value) {
			*line = (unsigned)said.line.value;
			*file = line_file(dm, unit, (unsigned)said.file.value);
			return *file != NULL;
		}
		variable = said.origin;
	}
	return false;
}
