#include "dwarf/scan/abbrev.h"

#include <dwarf.h>

#include "debugger/base/vec.h"

enum { MAX_ABBREVS = 1 << 16, MAX_ATTRIBUTES = 256, NBYTES = 1 << 8 };

struct abbrev_builder {
	const struct unit *u;
	VEC(struct abbrev) abbrevs;
	VEC(struct op) ops;
	VEC(struct attribute) attributes;
};

static bool tag_wanted(unsigned tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_base_type:
	case DW_TAG_subprogram:
	case DW_TAG_variable:
		return true;
	default:
		return false;
	}
}

static void abbrev_add_op(struct abbrev_builder *b, const struct abbrev *ab, enum op_kind kind,
                          uint32_t n)
{
	struct op *last = b->ops.n > ab->ops ? &b->ops.data[b->ops.n - 1] : NULL;

	if (kind == OP_SKIP && last && last->kind == OP_SKIP) {
		last->n += n;
		return;
	}
	struct op *op = vec_push(&b->ops);
	op->kind = kind;
	op->n = n & 0xfffffff;
}

static void abbrev_add_read(struct abbrev_builder *b, const struct abbrev *ab,
                            const struct attribute *at)
{
	abbrev_add_op(b, ab, OP_READ, (uint32_t)b->attributes.n);
	*vec_push(&b->attributes) = *at;
}

/* Adds the operation that skips a value. */
static void abbrev_add_skip(struct abbrev_builder *b, const struct abbrev *ab,
                            const struct attribute *at)
{
	int size = form_size(at->form, b->u);

	if (size >= 0) {
		abbrev_add_op(b, ab, OP_SKIP, (uint32_t)size);
		return;
	}
	switch (at->form) {
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_ref_udata:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_GNU_str_index:
	case DW_FORM_GNU_addr_index:
		abbrev_add_op(b, ab, OP_ULEB, 0);
		break;
	case DW_FORM_string:
		abbrev_add_op(b, ab, OP_CSTR, 0);
		break;
	case DW_FORM_exprloc:
	case DW_FORM_block:
		abbrev_add_op(b, ab, OP_BLOCK, 0);
		break;
	case DW_FORM_block1:
		abbrev_add_op(b, ab, OP_BLOCK_FIXED, 1);
		break;
	case DW_FORM_block2:
		abbrev_add_op(b, ab, OP_BLOCK_FIXED, 2);
		break;
	case DW_FORM_block4:
		abbrev_add_op(b, ab, OP_BLOCK_FIXED, 4);
		break;
	default: /* indirect or unknown */
		abbrev_add_read(b, ab, at);
	}
}

/*
 * Adds the operation that reads a name. A name in a form other than an offset in .debug_str is read
 * on demand.
 */
static void abbrev_add_name(struct abbrev_builder *b, struct abbrev *ab, const struct attribute *at)
{
	if (at->form == DW_FORM_strp && b->u->offset_size == 4) {
		ab->flags |= SCOPE_NAME_AT;
		abbrev_add_op(b, ab, OP_NAME, 0);
	} else {
		abbrev_add_skip(b, ab, at);
	}
}

static void add_wanted(struct abbrev_builder *b, struct abbrev *ab, const struct attribute *at)
{
	switch (at->name) {
	case DW_AT_name:
		ab->flags |= SCOPE_NAMED;
		abbrev_add_name(b, ab, at);
		return;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		ab->flags |= SCOPE_LINKAGE;
		break;
	case DW_AT_ranges:
		ab->flags |= SCOPE_RANGES;
		break;
	case DW_AT_type:
		ab->flags |= SCOPE_TYPE;
		break;
	case DW_AT_specification:
	case DW_AT_abstract_origin:
		ab->flags |= SCOPE_ORIGIN;
		break;
	case DW_AT_declaration:
		if (at->form == DW_FORM_flag_present)
			ab->flags |= SCOPE_DECLARATION;
		else
			abbrev_add_read(b, ab, at);
		return;
	case DW_AT_low_pc:
	case DW_AT_high_pc:
		if (ab->tag == DW_TAG_subprogram) {
			abbrev_add_read(b, ab, at);
			return;
		}
		break;
	case DW_AT_location:
		if (ab->tag == DW_TAG_variable) {
			abbrev_add_read(b, ab, at);
			return;
		}
		break;
	default:
		break;
	}
	abbrev_add_skip(b, ab, at);
}

static void build(struct abbrev_builder *b, struct reader *r, struct abbrev *ret)
{
	struct abbrev ab = { .ops = (uint32_t)b->ops.n };
	struct attribute all[MAX_ATTRIBUTES];
	size_t n = 0;

	ab.tag = (uint16_t)read_uleb(r);
	ab.has_children = read_fixed(r, 1) != 0;
	ab.wanted = tag_wanted(ab.tag);
	for (size_t i = 0; i < MAX_ATTRIBUTES && !r->bad; i++) {
		struct attribute at = form_read_attribute(r);

		if (at.name == 0 && at.form == 0)
			break;
		all[n++] = at;
		if (ab.wanted)
			add_wanted(b, &ab, &at);
		else
			abbrev_add_skip(b, &ab, &at);
	}
	ab.nops = (uint16_t)(b->ops.n - ab.ops);
	ab.shape = fixed_abbrev_of(b->u, &ab, all, n);
	if (ab.tag && ab.shape.step.size != NOWHERE && !ab.wanted)
		ab.shape.step.skip = SKIP_OUTSIDE | SKIP_IN_FUNCTION;
	else if (ab.shape.step.size != NOWHERE && ab.tag == DW_TAG_variable)
		ab.shape.step.skip = SKIP_IN_FUNCTION;
	ab.shape.step.has_children = ab.has_children;
	*ret = ab;
}

/* Makes room for code in v. LLVM numbers codes 1, 2, 3..., without gaps. */
#define MAKE_ROOM(v, code)                                                                         \
	while ((v)->n <= (code))                                                                   \
	vec_push(v)

/* The move for the first byte of a code. Codes whose steps have a flag of skip are skipped. */
static uint8_t move_of(const struct abbrev_table *t, unsigned first, unsigned skip)
{
	if (first == 0)
		return MOVE_END;
	if (first >= 0x80)
		return MOVE_LONG_CODE;
	if (first >= t->n || !t->by_code[first].tag)
		return MOVE_OTHER;

	const struct step *step = &t->steps[first];
	unsigned size = step->size + 1u;
	if (size >= MOVE_SIZES)
		return MOVE_OTHER;
	if (!(step->skip & skip))
		return (uint8_t)(MOVE_NOTE + size);
	if (step->block_at != NOWHERE)
		return (uint8_t)(MOVE_BLOCK + size);
	return (uint8_t)((step->leb_mask[0] ? MOVE_NUMBERS : MOVE_FIXED) + size);
}

struct abbrev_table abbrev_read_table(const struct dwarf_sections *s, const struct unit *u,
                                      struct arena *a)
{
	struct reader r = reader_at(s->abbrev, u->abbrev_offset, s->abbrev.size);
	struct abbrev_builder b = { .u = u };

	vec_push(&b.abbrevs); /* code 0 is the end of siblings */
	while (!r.bad) {
		uint64_t code = read_uleb(&r);

		if (code == 0 || code >= MAX_ABBREVS)
			break;
		MAKE_ROOM(&b.abbrevs, code);
		build(&b, &r, &b.abbrevs.data[code]);
	}
	struct abbrev_table ret = { .n = b.abbrevs.n };
	ret.steps = NEW_ARRAY(a, struct step, ret.n > NBYTES ? ret.n : NBYTES);
	for (size_t i = 0; i < ret.n; i++)
		ret.steps[i] = b.abbrevs.data[i].shape.step;
	ret.by_code = vec_to_arena(&b.abbrevs, a);
	for (unsigned first = 0; first < NBYTES; first++) {
		ret.moves[0][first] = move_of(&ret, first, SKIP_OUTSIDE);
		ret.moves[1][first] = move_of(&ret, first, SKIP_IN_FUNCTION);
	}
	ret.ops = vec_to_arena(&b.ops, a);
	ret.attributes = vec_to_arena(&b.attributes, a);
	return ret;
}

const struct abbrev_table *abbrev_table_of(struct abbrev_cache *cache,
                                           const struct dwarf_sections *s, const struct unit *u)
{
	const struct unit *of = &cache->of;

	if (!cache->table.by_code || of->abbrev_offset != u->abbrev_offset ||
	    of->version != u->version || of->address_size != u->address_size ||
	    of->offset_size != u->offset_size) {
		arena_reset(&cache->arena);
		cache->table = abbrev_read_table(s, u, &cache->arena);
		cache->of = *u;
	}
	return &cache->table;
}

void abbrev_cache_free(struct abbrev_cache *cache)
{
	arena_free(&cache->arena);
	*cache = (struct abbrev_cache){ 0 };
}

struct index_builder {
	const struct unit *u;
	VEC(struct abbrev_entry) entries;
	VEC(struct attribute) attributes;
};

/* Reads the declaration that follows a code at r. */
static struct abbrev_entry abbrev_read_entry(struct index_builder *b, struct reader *r)
{
	struct abbrev_entry ret = { .first = (uint32_t)b->attributes.n };

	ret.tag = (uint16_t)read_uleb(r);
	ret.has_children = read_fixed(r, 1) != 0;
	while (ret.n < MAX_ATTRIBUTES && !r->bad) {
		struct attribute at = form_read_attribute(r);

		if (at.name == 0 && at.form == 0)
			break;
		at.size = (int16_t)form_size(at.form, b->u);
		*vec_push(&b->attributes) = at;
		ret.n++;
	}
	struct abbrev ab = { .tag = ret.tag };
	/* The list may be empty, and NULL + 0 is undefined. */
	const struct attribute *first = ret.n ? b->attributes.data + ret.first : NULL;
	ret.step = fixed_abbrev_of(b->u, &ab, first, ret.n).step;
	return ret;
}

struct abbrev_index *abbrev_index_new(const struct dwarf_sections *s, const struct unit *u)
{
	struct reader r = reader_at(s->abbrev, u->abbrev_offset, s->abbrev.size);
	struct index_builder b = { .u = u };
	struct abbrev_index *ret = calloc(1, sizeof(*ret));

	if (!ret)
		out_of_memory();
	/* Code 0, the end of siblings, has no values. */
	*vec_push(&b.entries) = (struct abbrev_entry){ .step = { .block_at = NOWHERE } };
	while (!r.bad) {
		uint64_t code = read_uleb(&r);

		if (code == 0 || code >= MAX_ABBREVS)
			break;
		MAKE_ROOM(&b.entries, code);
		struct abbrev_entry entry = abbrev_read_entry(&b, &r);
		b.entries.data[code] = entry;
	}
	ret->by_code = b.entries.data;
	ret->n = b.entries.n;
	ret->attributes = b.attributes.data;
	return ret;
}

void abbrev_index_free(struct abbrev_index *index)
{
	if (!index)
		return;
	free(index->by_code);
	free(index->attributes);
	free(index);
}
