#include "dwarf/scan/form.h"

#include <dwarf.h>

struct attribute form_read_attribute(struct reader *abbrev)
{
	struct attribute at = { 0 };

	at.name = (uint16_t)read_uleb(abbrev);
	at.form = (uint16_t)read_uleb(abbrev);
	if (at.form == DW_FORM_implicit_const)
		at.implicit = read_sleb(abbrev);
	return at;
}

int form_size(unsigned form, const struct unit *u)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return u->address_size;
	case DW_FORM_ref_addr:
		return u->version <= 2 ? u->address_size : u->offset_size;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_GNU_ref_alt:
		return u->offset_size;
	default:
		return -1;
	}
}

static const char *string_at_index(const struct dwarf_sections *s, const struct unit *u,
                                   uint64_t index)
{
	uint64_t at = u->str_offsets_base + index * u->offset_size;
	struct reader r = reader_at(s->str_offsets, at, at + u->offset_size);
	uint64_t offset = read_fixed(&r, u->offset_size);

	return r.bad ? NULL : section_string(s->str, offset);
}

uint64_t form_address_at(const struct dwarf_sections *s, const struct unit *u, uint64_t index)
{
	uint64_t at = u->addr_base + index * u->address_size;
	struct reader r = reader_at(s->addr, at, at + u->address_size);

	return read_fixed(&r, u->address_size);
}

static void form_read_block(struct reader *r, uint64_t size, struct attribute_value *ret)
{
	ret->block.data = r->p;
	ret->block.size = size <= (uint64_t)(r->end - r->p) ? size : 0;
	read_skip(r, size);
}

static void read_variable_form(const struct dwarf_sections *s, const struct unit *u,
                               struct reader *r, unsigned form, struct attribute_value *ret)
{
	switch (form) {
	case DW_FORM_string:
		ret->string = read_cstr(r);
		break;
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
		ret->number = read_uleb(r);
		if (form == DW_FORM_ref_udata)
			ret->number += u->start;
		break;
	case DW_FORM_sdata:
		ret->number = (uint64_t)read_sleb(r);
		break;
	case DW_FORM_strx:
	case DW_FORM_GNU_str_index:
		ret->string = string_at_index(s, u, read_uleb(r));
		break;
	case DW_FORM_addrx:
	case DW_FORM_GNU_addr_index:
		ret->number = form_address_at(s, u, read_uleb(r));
		break;
	case DW_FORM_exprloc:
	case DW_FORM_block:
		form_read_block(r, read_uleb(r), ret);
		break;
	case DW_FORM_block1:
		form_read_block(r, read_fixed(r, 1), ret);
		break;
	case DW_FORM_block2:
		form_read_block(r, read_fixed(r, 2), ret);
		break;
	case DW_FORM_block4:
		form_read_block(r, read_fixed(r, 4), ret);
		break;
	default: /* an unknown form has an unknown size: the unit ends here */
		r->bad = true;
		r->p = r->end;
	}
}

void form_read(const struct dwarf_sections *s, const struct unit *u, struct reader *r,
               const struct attribute *at, struct attribute_value *ret)
{
	unsigned form = at->form;

	*ret = (struct attribute_value){ 0 };
	if (form == DW_FORM_indirect)
		form = (unsigned)read_uleb(r);

	int size = form_size(form, u);
	if (size < 0) {
		read_variable_form(s, u, r, form, ret);
		return;
	}
	ret->number = read_fixed(r, (unsigned)size);
	switch (form) {
	case DW_FORM_flag_present:
		ret->number = 1;
		break;
	case DW_FORM_implicit_const:
		ret->number = (uint64_t)at->implicit;
		break;
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
		ret->number += u->start;
		break;
	case DW_FORM_strp:
		ret->string = section_string(s->str, ret->number);
		break;
	case DW_FORM_line_strp:
		ret->string = section_string(s->line_str, ret->number);
		break;
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
		ret->string = string_at_index(s, u, ret->number);
		break;
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
		ret->number = form_address_at(s, u, ret->number);
		break;
	default:
		break;
	}
}

bool form_is_address(unsigned form)
{
	return form == DW_FORM_addr || form == DW_FORM_addrx || form == DW_FORM_GNU_addr_index ||
	       (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4);
}
