#include "dwarf/types/die_attrs.h"

#include <dwarf.h>
#include <string.h>

enum { MAX_HOPS = 16, WIDE = 16 };

static bool is_number(unsigned form)
{
	switch (form) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_implicit_const:
	case DW_FORM_indirect:
		return true;
	default:
		return false;
	}
}

/*
 * The DIE that a reference attribute points to, 0 when there is none. References by type signature
 * are not followed: no Rust compiler writes them.
 */
static uint64_t die_attrs_reference_of(const struct die *d, unsigned form, uint64_t number)
{
	switch (form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		return number < d->u->end ? number : 0;
	case DW_FORM_ref_addr:
	case DW_FORM_indirect:
		return number < d->s->info.size ? number : 0;
	default:
		return 0;
	}
}

static struct die_attrs_number *die_attrs_number_of(struct die_attrs *ret, unsigned name)
{
	switch (name) {
	case DW_AT_byte_size:
		return &ret->size;
	case DW_AT_alignment:
		return &ret->align;
	case DW_AT_encoding:
		return &ret->encoding;
	case DW_AT_data_member_location:
		return &ret->offset;
	case DW_AT_count:
		return &ret->count;
	case DW_AT_upper_bound:
		return &ret->upper;
	case DW_AT_discr_value:
	case DW_AT_const_value:
		return &ret->value;
	case DW_AT_decl_file:
		return &ret->file;
	case DW_AT_decl_line:
		return &ret->line;
	case DW_AT_accessibility:
		return &ret->access;
	default:
		return NULL;
	}
}

/* A block is the value of a discriminant of 16 bytes: u128. */
static void read_wide(const struct attribute *at, const struct section *block,
                      struct die_attrs *ret)
{
	uint64_t low, high;

	if (block->size != WIDE)
		return;
	memcpy(&low, block->data, sizeof(low));
	memcpy(&high, block->data + sizeof(low), sizeof(high));
	ret->value = (struct die_attrs_number){ low, at->form };
	ret->value_is_wide = high != 0;
}

void die_attrs_read(struct die *d, struct die_attrs *ret)
{
	struct attribute_value v;
	struct attribute at;

	*ret = (struct die_attrs){ 0 };
	while (die_next(d, &at, &v)) {
		struct die_attrs_number *number = die_attrs_number_of(ret, at.name);

		if (number && is_number(at.form))
			*number = (struct die_attrs_number){ v.number, at.form };
		else if (at.name == DW_AT_discr_value && v.block.data)
			read_wide(&at, &v.block, ret);
		else if (at.name == DW_AT_name)
			ret->name = v.string;
		else if (at.name == DW_AT_type)
			ret->type = die_attrs_reference_of(d, at.form, v.number);
		else if (at.name == DW_AT_discr)
			ret->discr = die_attrs_reference_of(d, at.form, v.number);
		else if (at.name == DW_AT_containing_type)
			ret->containing = die_attrs_reference_of(d, at.form, v.number);
		else if (at.name == DW_AT_abstract_origin ||
		         (at.name == DW_AT_specification && !ret->origin))
			ret->origin = die_attrs_reference_of(d, at.form, v.number);
		else if (at.name == DW_AT_declaration)
			ret->declaration = v.number != 0;
	}
}

bool die_attrs_open(struct dwarf_module *dm, uint64_t offset, struct die *ret)
{
	struct unit *u = debuginfo_unit_of(dm, offset);

	return u && die_read(&dm->sections, u, offset, ret) && ret->tag != 0;
}

void die_attrs_complete(struct dwarf_module *dm, struct die_attrs *attrs)
{
	uint64_t origin = attrs->origin;
	struct die_attrs copied;
	struct die d;

	for (int hops = 0; hops < MAX_HOPS && origin && (!attrs->name || !attrs->type); hops++) {
		if (!die_attrs_open(dm, origin, &d))
			return;
		die_attrs_read(&d, &copied);
		attrs->name = attrs->name ? attrs->name : copied.name;
		attrs->type = attrs->type ? attrs->type : copied.type;
		origin = copied.origin;
	}
}
