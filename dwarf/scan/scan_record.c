#include "dwarf/scan/scan_record.h"

#include <dwarf.h>

#include "dwarf/scan/form.h"

uint16_t scan_record_location(const struct dwarf_sections *s, const struct unit *u,
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

/* Values of attributes that are not part of the note. */
struct scan_record_extent {
	uint64_t low, high;
	bool has_low, high_is_offset;
};

static void read_wanted(struct pass *p, struct reader *r, const struct attribute *at, unsigned tag,
                        struct scope_note *note, struct scan_record_extent *extent)
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
		note->flags |= scan_record_location(p->s, p->u, v.block, &extent->low);
	}
}

/* Moves r to the end of the DIE's attributes. note is NULL when no attribute is wanted. */
static void run_ops(struct pass *p, struct reader *r, const struct abbrev *ab,
                    struct scope_note *note, struct scan_record_extent *extent)
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
			if (note)
				note->name = (uint32_t)read_fixed(r, 4);
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

/* Do enough bytes follow r for any DIE of a fixed shape? */
static bool has_room(const struct reader *r, const struct abbrev *ab)
{
	return ab->shape.step.size != NOWHERE && r->end - r->p > MAX_SHAPE;
}

static uint32_t load_4(const uint8_t *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static uint64_t load_8(const uint8_t *p)
{
	uint64_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

/* The address of a value, for a DIE whose block has so many bytes of content. */
static const uint8_t *scan_record_place(const uint8_t *values, size_t block, const struct shape *s,
                                        uint8_t at)
{
	return values + at + (at > s->step.block_at ? block : 0);
}

static struct scan_record_extent scan_record_read_function(const uint8_t *values, size_t block,
                                                           const struct shape *s)
{
	struct scan_record_extent ret = { 0 };

	if (s->low_at != NOWHERE) {
		ret.low = load_8(scan_record_place(values, block, s, s->low_at));
		ret.has_low = true;
	}
	if (s->high_at != NOWHERE) {
		const uint8_t *high = scan_record_place(values, block, s, s->high_at);

		ret.high = s->high_size == 4 ? load_4(high) : load_8(high);
		ret.high_is_offset = s->high_is_offset;
	}
	return ret;
}

static void grow(struct scope_notes *notes)
{
	size_t used = notes->n * sizeof(*notes->data), room;

	notes->data = arena_reopen(notes->arena, used, 2 * used, &room);
	notes->capacity = room / sizeof(*notes->data);
}

static inline struct scope_note *add_note(struct pass *p, const uint8_t *die,
                                          const struct abbrev *ab, uint32_t parent)
{
	struct scope_notes *notes = &p->out->scopes;

	if (notes->n == notes->capacity)
		grow(notes);
	struct scope_note *note = &notes->data[notes->n++];
	*note = (struct scope_note){
		.die = (uint32_t)((uint64_t)(die - p->s->info.data) - p->u->start),
		.parent = parent,
		.tag = ab->tag,
		.flags = ab->flags,
	};
	return note;
}

static void scan_record_note_function(struct pass *p, struct scope_note *note,
                                      const struct scan_record_extent *extent)
{
	uint64_t high = extent->high_is_offset ? extent->low + extent->high : extent->high;
	uint64_t size = high > extent->low ? high - extent->low : 0;
	uint32_t scope = (uint32_t)(p->out->scopes.n - 1);

	/* An address of 0 is a tombstone: the linker dropped the function. */
	if (extent->has_low && extent->low != 0) {
		note->flags |= SCOPE_ADDRESS;
		*vec_push(&p->out->functions) = (struct unit_function){
			.low = extent->low,
			.size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX,
			.scope = scope,
		};
	} else if (extent->has_low) {
		note->flags |= SCOPE_DROPPED;
	}
}

static void scan_record_note_variable(struct pass *p)
{
	*vec_push(&p->out->variables) = (uint32_t)(p->out->scopes.n - 1);
}

/* Records a DIE of a fixed shape. */
static inline void note_shape(struct pass *p, const uint8_t *die, const uint8_t *values,
                              size_t block, const struct abbrev *ab, uint32_t parent)
{
	const struct shape *s = &ab->shape;
	struct scope_note *note = add_note(p, die, ab, parent);

	if (s->name_at != NOWHERE)
		note->name = load_4(scan_record_place(values, block, s, s->name_at));
	if (ab->tag == DW_TAG_subprogram) {
		struct scan_record_extent extent = scan_record_read_function(values, block, s);

		scan_record_note_function(p, note, &extent);
	} else if (ab->tag == DW_TAG_variable) {
		struct section location = { values + s->step.block_at + 1, block };
		uint64_t low;

		scan_record_note_variable(p);
		if (s->has_location)
			note->flags |= scan_record_location(p->s, p->u, location, &low);
	}
}

void scan_record_scope(struct pass *p, struct reader *r, const uint8_t *die,
                       const struct abbrev *ab, uint32_t parent)
{
	struct scan_record_extent extent = { 0 };
	size_t block;
	const uint8_t *behind = has_room(r, ab) ? step_over(&ab->shape.step, r->p, &block) : NULL;

	if (behind) {
		note_shape(p, die, r->p, block, ab, parent);
		r->p = behind;
		return;
	}
	struct scope_note *note = add_note(p, die, ab, parent);
	run_ops(p, r, ab, note, &extent);
	if (ab->tag == DW_TAG_subprogram)
		scan_record_note_function(p, note, &extent);
	else if (ab->tag == DW_TAG_variable)
		scan_record_note_variable(p);
}

void scan_record_skip_values(struct pass *p, struct reader *r, const struct abbrev *ab)
{
	size_t block;
	const uint8_t *behind = has_room(r, ab) ? step_over(&ab->shape.step, r->p, &block) : NULL;

	if (behind)
		r->p = behind;
	else
		run_ops(p, r, ab, NULL, NULL);
}

bool scan_record_if_fixed(struct pass *pass, const uint8_t *p, uint32_t parent, size_t *block)
{
	const struct abbrev *ab = &pass->abbrevs->by_code[p[0]];
	bool shaped = step_over(&ab->shape.step, p + 1, block) != NULL;

	if (shaped)
		note_shape(pass, p, p + 1, *block, ab, parent);
	return shaped;
}
