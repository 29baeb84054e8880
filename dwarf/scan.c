#include "dwarf/scan.h"

#include <dwarf.h>
#include <stdlib.h>

#include "debugger/base/vec.h"
#include "dwarf/abbrev.h"
#include "dwarf/die.h"

enum {
	MAX_DEPTH = 512,
	LARGE_UNIT = 512 * 1024,
	LARGE_UNIT_SCOPES = 128 * 1024, /* 2 MB of notes, which come in huge pages */
};

/* SCOPE_ADDRESS or SCOPE_TLS of a variable, and where it is; 0 when it is not of that kind. */
static uint16_t read_location(const struct dwarf_sections *s, const struct unit *u,
                              struct section block, uint64_t *low)
{
	struct reader r = reader_at(block, 0, block.size);
	unsigned op = (unsigned)read_fixed(&r, 1);
	uint64_t operand = 0;

	switch (op) {
	case DW_OP_addr:
		operand = read_fixed(&r, u->address_size);
		break;
	case DW_OP_addrx:
	case DW_OP_constx:
	case DW_OP_GNU_addr_index:
	case DW_OP_GNU_const_index:
		operand = form_address_at(s, u, read_uleb(&r));
		break;
	case DW_OP_const4u:
		operand = read_fixed(&r, 4);
		break;
	case DW_OP_const8u:
		operand = read_fixed(&r, 8);
		break;
	case DW_OP_constu:
		operand = read_uleb(&r);
		break;
	default:
		return 0;
	}
	if (r.bad)
		return 0;
	*low = operand;
	if (r.p == r.end) {
		if (op == DW_OP_addr || op == DW_OP_addrx || op == DW_OP_GNU_addr_index)
			return SCOPE_ADDRESS;
		return 0;
	}
	unsigned next = (unsigned)read_fixed(&r, 1);
	return next == DW_OP_GNU_push_tls_address || next == DW_OP_form_tls_address ? SCOPE_TLS : 0;
}

struct scanner {
	struct abbrev_cache abbrevs;
	struct arena notes;
	/* Of the unit at hand: the same memory for one after the other. */
	VEC(struct scope_note) scopes;
	VEC(struct unit_function) functions;
	VEC(struct unit_result) results;
};

/* One pass over a unit's DIEs. */
struct pass {
	const struct dwarf_sections *s;
	struct unit *u;
	const struct abbrev_table *abbrevs;
	unsigned wanted_tag; /* stop at the first of these; 0: note scopes */
	bool found;
	struct scanner *out; /* NULL when a tag is wanted */
};

/* What the attributes that are read say, beside the note. */
struct extent {
	uint64_t low, high;
	uint32_t type; /* counted from the unit's start; 0: another unit's, or none */
	bool has_low, high_is_offset;
};

static void read_wanted(struct pass *p, struct reader *r, const struct attribute *at, unsigned tag,
                        struct scope_note *note, struct extent *extent)
{
	struct attribute_value v;

	form_read(p->s, p->u, r, at, &v);
	if (at->name == DW_AT_low_pc && tag == DW_TAG_subprogram) {
		extent->low = v.number;
		extent->has_low = true;
	} else if (at->name == DW_AT_high_pc && tag == DW_TAG_subprogram) {
		extent->high = v.number;
		extent->high_is_offset = !form_is_address(at->form);
	} else if (at->name == DW_AT_declaration && v.number) {
		note->flags |= SCOPE_DECLARATION;
	} else if (at->name == DW_AT_location && tag == DW_TAG_variable) {
		note->flags |= read_location(p->s, p->u, v.block, &extent->low);
	}
}

/* Moves r behind the DIE's attributes; note is NULL when nothing of them is wanted. */
static void run_ops(struct pass *p, struct reader *r, const struct abbrev *ab,
                    struct scope_note *note, struct extent *extent)
{
	const struct op *op = &p->abbrevs->ops[ab->ops], *end = op + ab->nops;
	struct attribute_value ignored;

	for (; op < end; op++) {
		switch ((enum op_kind)op->kind) {
		case OP_SKIP:
			read_skip(r, op->n);
			break;
		case OP_ULEB:
			read_uleb(r);
			break;
		case OP_CSTR:
			read_cstr(r);
			break;
		case OP_BLOCK:
			read_skip(r, read_uleb(r));
			break;
		case OP_BLOCK_FIXED:
			read_skip(r, read_fixed(r, op->n));
			break;
		case OP_NAME:
			if (note) {
				note->name = (uint32_t)read_fixed(r, 4);
				note->flags |= SCOPE_NAME_AT;
			} else {
				read_skip(r, 4);
			}
			break;
		case OP_TYPE:
			if (note)
				extent->type = (uint32_t)read_fixed(r, 4);
			else
				read_skip(r, 4);
			break;
		case OP_READ:
			if (note)
				read_wanted(p, r, &p->abbrevs->attributes[op->n], ab->tag, note,
				            extent);
			else
				form_read(p->s, p->u, r, &p->abbrevs->attributes[op->n], &ignored);
			break;
		}
	}
}

/* Are there, behind r, as many bytes as a DIE can have that has a shape? */
static bool has_room(const struct reader *r, const struct abbrev *ab)
{
	return ab->shape.step.size != NOWHERE && r->end - r->p > MAX_SHAPE;
}

static void note_function(struct pass *p, struct scope_note *note, const struct extent *extent)
{
	uint64_t high = extent->high_is_offset ? extent->low + extent->high : extent->high;
	uint64_t size = high > extent->low ? high - extent->low : 0;

	/* A linker that dropped the function left a tombstone. */
	if (!extent->has_low || extent->low == 0)
		return;
	note->flags |= SCOPE_ADDRESS;
	*vec_push(&p->out->functions) = (struct unit_function){
		.low = extent->low,
		.size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX,
		.scope = (uint32_t)(p->out->scopes.n - 1),
	};
}

static uint64_t value_at(const uint8_t *p, unsigned size)
{
	uint64_t value = 0;

	memcpy(&value, p, size);
	return value;
}

/* The same as run_ops() does, of a DIE at p that has its shape. */
static void read_shape(struct pass *p, const uint8_t *at, size_t block, const struct abbrev *ab,
                       struct scope_note *note, struct extent *extent)
{
	const struct shape *s = &ab->shape;

/* Where a value lies that has its place in a shape. */
#define PLACE(place) (at + (place) + ((place) > s->step.block_at ? block : 0))
	if (s->name_at != NOWHERE) {
		note->name = (uint32_t)value_at(PLACE(s->name_at), 4);
		note->flags |= SCOPE_NAME_AT;
	}
	if (s->has_location)
		note->flags |= read_location(p->s, p->u,
		                             (struct section){ at + s->step.block_at + 1, block },
		                             &extent->low);
	if (ab->tag != DW_TAG_subprogram)
		return;
	if (s->type_at != NOWHERE)
		extent->type = (uint32_t)value_at(PLACE(s->type_at), 4);
	if (s->low_at != NOWHERE) {
		extent->low = value_at(PLACE(s->low_at), 8);
		extent->has_low = true;
	}
	if (s->high_at != NOWHERE) {
		extent->high = value_at(PLACE(s->high_at), s->high_size);
		extent->high_is_offset = s->high_is_offset;
	}
#undef PLACE
}

/* A DIE with its abbreviation; r is behind its code, and then behind its values. */
static void note_scope(struct pass *p, struct reader *r, const struct abbrev *ab, uint64_t die,
                       uint32_t parent)
{
	struct scope_note *note = vec_push(&p->out->scopes);
	struct extent extent = { 0 };
	const uint8_t *behind;
	size_t block;

	note->die = (uint32_t)(die - p->u->start);
	note->parent = parent;
	note->tag = ab->tag;
	note->flags = ab->flags;
	behind = has_room(r, ab) ? step_over(&ab->shape.step, r->p, &block) : NULL;
	if (behind) {
		read_shape(p, r->p, block, ab, note, &extent);
		r->p = behind;
	} else {
		run_ops(p, r, ab, note, &extent);
	}
	if (ab->tag != DW_TAG_subprogram)
		return;
	note_function(p, note, &extent);
	if (note->flags & SCOPE_TYPE)
		*vec_push(&p->out->results) = (struct unit_result){
			.scope = (uint32_t)(p->out->scopes.n - 1),
			.type = extent.type,
		};
}

/* Moves r behind the DIE's values. */
static void skip_values(struct pass *p, struct reader *r, const struct abbrev *ab)
{
	size_t block;
	const uint8_t *behind = has_room(r, ab) ? step_over(&ab->shape.step, r->p, &block) : NULL;

	if (behind)
		r->p = behind;
	else
		run_ops(p, r, ab, NULL, NULL);
}

/* Where a pass is in the tree: the scopes around. */
struct depth {
	uint32_t parent;
	bool in_function; /* locals are libdw's business */
};

/*
 * Behind the DIEs that follow and become no scope, as far as they are read by their shapes; most
 * DIEs are such. It stops also where the depth would leave [1, MAX_DEPTH).
 */
static const uint8_t *skip_many(const struct abbrev_table *abbrevs, const uint8_t *p,
                                const uint8_t *end, struct depth **depth, struct depth *last)
{
	const struct step *steps = abbrevs->steps;
	struct depth *at = *depth, *first = last - MAX_DEPTH + 1;
	size_t n = abbrevs->n, block;

	while (p < end) {
		uint32_t code = p[0], len = 1;

		if (code == 0) {
			if (at == first)
				break;
			at--;
			p++;
			continue;
		}
		if (code >= 0x80) {
			code = (code & 0x7f) | (uint32_t)p[1] << 7;
			len = 2;
			if (p[1] >= 0x80)
				break;
		}
		if (code >= n)
			break;
		const struct step *s = &steps[code];
		if (!(s->skip & (at->in_function ? SKIP_IN_FUNCTION : SKIP_OUTSIDE)))
			break;
		const uint8_t *behind = step_over(s, p + len, &block);
		if (!behind)
			break;
		if (s->has_children) {
			if (at == last)
				break;
			at[1] = at[0];
			at++;
		}
		p = behind;
	}
	*depth = at;
	return p;
}

static void run_pass(struct pass *p)
{
	struct unit *u = p->u;
	struct reader r = reader_at(p->s->info, u->first_die, u->end);
	struct depth stack[MAX_DEPTH] = { { SCOPE_NONE, false } }, *at = stack;
	struct depth *last = &stack[MAX_DEPTH - 1];

	/* A note's offset has 32 bits. */
	if (u->end - u->start > UINT32_MAX)
		r.end = p->s->info.data + u->start + UINT32_MAX;
	while (!r.bad && r.p < r.end) {
		if (p->out && at > stack && r.end - r.p > MAX_SHAPE)
			r.p = skip_many(p->abbrevs, r.p, r.end - MAX_SHAPE, &at, last);
		uint64_t die = (uint64_t)(r.p - p->s->info.data);
		uint64_t code = *r.p < 0x80 ? *r.p++ : read_uleb(&r);

		if (code == 0) {
			if (at == stack)
				break;
			at--;
			continue;
		}
		if (code >= p->abbrevs->n || p->abbrevs->by_code[code].tag == 0)
			break;
		const struct abbrev *ab = &p->abbrevs->by_code[code];
		uint32_t self = at->parent;

		if (p->wanted_tag) {
			p->found |= ab->tag == p->wanted_tag;
			if (p->found)
				return;
		}
		if (ab->wanted && at > stack && !(at->in_function && ab->tag == DW_TAG_variable) &&
		    p->out) {
			note_scope(p, &r, ab, die, self);
			self = (uint32_t)(p->out->scopes.n - 1);
		} else {
			skip_values(p, &r, ab);
		}
		if (ab->has_children) {
			if (at == last)
				break;
			at[1] = (struct depth){ self,
				                at->in_function || ab->tag == DW_TAG_subprogram };
			at++;
		}
	}
}

struct scanner *scanner_new(void)
{
	struct scanner *s = calloc(1, sizeof(*s));

	if (!s)
		out_of_memory();
	return s;
}

void scanner_reset(struct scanner *s, bool keep)
{
	if (keep)
		arena_reset(&s->notes);
	else
		arena_free(&s->notes);
}

void scanner_free(struct scanner *s)
{
	if (!s)
		return;
	abbrev_cache_free(&s->abbrevs);
	arena_free(&s->notes);
	vec_free(&s->scopes);
	vec_free(&s->functions);
	vec_free(&s->results);
	free(s);
}

/* A copy of a vector's elements in the notes; NULL of none. */
#define KEEP(scanner, v)                                                                           \
	((v)->n ? arena_memdup(&(scanner)->notes, (v)->data, (v)->n * sizeof(*(v)->data)) : NULL)

void scan_unit(const struct dwarf_sections *s, struct unit *u, struct scanner *out)
{
	if (u->scanned)
		return;
	u->scanned = true;
	scan_unit_root(s, u, &(struct root_abbrevs){ 0 });
	struct pass p = {
		.s = s, .u = u, .abbrevs = abbrev_table_of(&out->abbrevs, s, u), .out = out
	};
	out->scopes.n = out->functions.n = out->results.n = 0;
	if (u->end - u->start >= LARGE_UNIT) {
		out->notes.huge = true;
		vec_reserve(&out->scopes, LARGE_UNIT_SCOPES);
	}
	run_pass(&p);
	u->nscopes = out->scopes.n;
	u->scopes = KEEP(out, &out->scopes);
	u->nfunctions = out->functions.n;
	u->functions = KEEP(out, &out->functions);
	u->nresults = out->results.n;
	u->results = KEEP(out, &out->results);
}

bool scan_has_tag(const struct dwarf_sections *s, struct unit *u, unsigned tag)
{
	SCRATCH(tmp);

	scan_unit_root(s, u, &(struct root_abbrevs){ 0 });
	struct abbrev_table abbrevs = abbrev_read_table(s, u, &tmp);
	struct pass p = { .s = s, .u = u, .abbrevs = &abbrevs, .wanted_tag = tag };
	run_pass(&p);
	return p.found;
}

void scan_forget(struct unit *u)
{
	u->results = NULL;
	u->nresults = 0;
	abbrev_index_free(u->abbrevs);
	free(u->starts);
	u->scopes = NULL;
	u->functions = NULL;
	u->starts = NULL;
	u->abbrevs = NULL;
	u->nscopes = u->nfunctions = 0;
	u->scanned = u->queued = false;
}

/* ---- a scope's DIE ---- */

static void set_scope_attribute(struct die *d, const struct attribute *at,
                                const struct attribute_value *v, struct scope *ret, bool *is_size)
{
	switch (at->name) {
	case DW_AT_name:
		ret->name = v->string;
		break;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		ret->linkage = v->string;
		break;
	case DW_AT_low_pc:
		ret->low = v->number;
		break;
	case DW_AT_high_pc:
		ret->high = v->number;
		*is_size = !form_is_address(at->form);
		break;
	case DW_AT_specification:
	case DW_AT_abstract_origin:
		ret->origin = v->number;
		break;
	case DW_AT_location:
		if (d->tag == DW_TAG_variable)
			read_location(d->s, d->u, v->block, &ret->low);
		break;
	default:
		break;
	}
}

struct scope scan_scope(const struct dwarf_sections *s, struct unit *u, uint32_t index)
{
	const struct scope_note *note = &u->scopes[index];
	struct scope ret = {
		.die = u->start + note->die,
		.parent = note->parent,
		.tag = note->tag,
		.declaration = note->flags & SCOPE_DECLARATION,
		.has_address = note->flags & SCOPE_ADDRESS,
		.is_tls = note->flags & SCOPE_TLS,
		.has_ranges = note->flags & SCOPE_RANGES,
	};
	struct attribute at;
	struct attribute_value v;
	bool high_is_size = false;
	struct die d;

	if (!die_read(s, u, ret.die, &d))
		return ret;
	while (die_next(&d, &at, &v))
		set_scope_attribute(&d, &at, &v, &ret, &high_is_size);
	if (high_is_size)
		ret.high += ret.low;
	return ret;
}

const char *scan_scope_name(const struct dwarf_sections *s, struct unit *u, uint32_t index)
{
	const struct scope_note *note = &u->scopes[index];

	if (note->flags & SCOPE_NAME_AT)
		return section_string(s->str, note->name);
	return note->flags & SCOPE_NAMED ? scan_scope(s, u, index).name : NULL;
}

uint32_t scan_scope_at(const struct unit *u, uint64_t die)
{
	size_t lo = 0, hi = u->nscopes;
	uint64_t offset = die - u->start;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (u->scopes[mid].die <= offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && u->scopes[lo - 1].die == offset ? (uint32_t)(lo - 1) : SCOPE_NONE;
}
