/* Computes from an abbreviation alone at which offsets the values of its DIEs lie. */
#include <dwarf.h>

#include "dwarf/scan/abbrev.h"

static const struct shape no_shape = { .step.size = NOWHERE };

/*
 * Enters the offset of a value that the scanner reads; false when struct shape has no field for it.
 */
static bool place_value(struct shape *shape, const struct unit *u, const struct abbrev *ab,
                        const struct attribute *at, uint8_t where)
{
	bool function = ab->tag == DW_TAG_subprogram;
	int size = form_size(at->form, u);

	switch (at->name) {
	case DW_AT_name:
		if (at->form == DW_FORM_strp && u->offset_size == 4)
			shape->name_at = where;
		return true;
	case DW_AT_low_pc:
		shape->low_at = where;
		return !function || (at->form == DW_FORM_addr && size == 8);
	case DW_AT_high_pc:
		shape->high_at = where;
		shape->high_size = (uint8_t)size;
		shape->high_is_offset = !form_is_address(at->form);
		return !function || ((at->form == DW_FORM_addr || at->form == DW_FORM_data4 ||
		                      at->form == DW_FORM_data8) &&
		                     size <= 8);
	case DW_AT_declaration:
		return at->form == DW_FORM_flag_present;
	case DW_AT_location:
		shape->has_location = ab->tag == DW_TAG_variable && size < 0;
		return true;
	default:
		return true;
	}
}

/* The size of a value in a shape; -1 when a shape cannot hold it. */
static int size_in_shape(struct shape *shape, const struct unit *u, unsigned form, uint8_t where)
{
	int size = form_size(form, u);

	if (size >= 0)
		return size;
	switch (form) {
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_ref_udata:
		for (size_t i = 0; i < 2; i++) {
			if (!shape->step.leb_mask[i]) {
				shape->step.leb_at[i] = where;
				shape->step.leb_mask[i] = 0x80;
				return 1;
			}
		}
		return -1;
	case DW_FORM_exprloc:
	case DW_FORM_block:
	case DW_FORM_block1:
		/* step_over() tests numbers only after the block. */
		if (shape->step.block_at != NOWHERE || shape->step.leb_mask[0])
			return -1;
		shape->step.block_at = where;
		return 1;
	default:
		return -1;
	}
}

struct shape fixed_abbrev_of(const struct unit *u, const struct abbrev *ab,
                             const struct attribute *attributes, size_t n)
{
	struct shape ret = {
		.step.block_at = NOWHERE, .name_at = NOWHERE, .low_at = NOWHERE, .high_at = NOWHERE
	};
	int at = 0;

	for (size_t i = 0; i < n; i++) {
		int size = size_in_shape(&ret, u, attributes[i].form, (uint8_t)at);

		if (size < 0 ||
		    (ab->wanted && !place_value(&ret, u, ab, &attributes[i], (uint8_t)at)))
			return no_shape;
		at += size;
		if (at >= NOWHERE)
			return no_shape;
	}
	ret.step.size = (uint8_t)at;
	return ret;
}
