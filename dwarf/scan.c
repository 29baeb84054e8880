#include "dwarf/scan.h"

#include <dwarf.h>
#include <stdlib.h>

#include "debugger/base/vec.h"

enum { MAX_DEPTH = 512, MAX_ABBREVS = 1 << 16, MAX_ATTRIBUTES = 256 };

struct attribute {
	uint16_t name, form;
	int64_t implicit;
};

struct abbrev {
	uint16_t tag;
	bool has_children;
	bool wanted; /* its attributes matter */
	uint16_t nattributes;
	int32_t fixed_size; /* total bytes when every form has a fixed size, else -1 */
	const struct attribute *attributes;
};

struct abbrev_table {
	struct abbrev *by_code; /* index: code; tag 0: no such code */
	size_t n;
};

/* What one attribute of a DIE said. */
struct attribute_value {
	uint64_t number;
	const char *string;
	struct section block;
};

static bool tag_wanted(unsigned tag)
{
	switch (tag) {
	case DW_TAG_compile_unit:
	case DW_TAG_partial_unit:
	case DW_TAG_skeleton_unit:
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

/* Bytes of a form, -1 when they vary. */
static int form_size(unsigned form, const struct unit *u)
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

static uint64_t address_at_index(const struct dwarf_sections *s, const struct unit *u,
                                 uint64_t index)
{
	uint64_t at = u->addr_base + index * u->address_size;
	struct reader r = reader_at(s->addr, at, at + u->address_size);

	return read_fixed(&r, u->address_size);
}

static void read_block(struct reader *r, uint64_t size, struct attribute_value *ret)
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
		ret->number = address_at_index(s, u, read_uleb(r));
		break;
	case DW_FORM_exprloc:
	case DW_FORM_block:
		read_block(r, read_uleb(r), ret);
		break;
	case DW_FORM_block1:
		read_block(r, read_fixed(r, 1), ret);
		break;
	case DW_FORM_block2:
		read_block(r, read_fixed(r, 2), ret);
		break;
	case DW_FORM_block4:
		read_block(r, read_fixed(r, 4), ret);
		break;
	default: /* an unknown form has an unknown size: the unit ends here */
		r->bad = true;
		r->p = r->end;
	}
}

static void read_attribute(const struct dwarf_sections *s, const struct unit *u, struct reader *r,
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
		ret->number = address_at_index(s, u, ret->number);
		break;
	default:
		break;
	}
}

static void read_abbrev(struct reader *r, const struct unit *u, struct arena *a, struct abbrev *ret)
{
	struct attribute attributes[MAX_ATTRIBUTES];
	size_t n = 0;
	int64_t fixed = 0;

	ret->tag = (uint16_t)read_uleb(r);
	ret->has_children = read_fixed(r, 1) != 0;
	ret->wanted = tag_wanted(ret->tag);
	while (!r->bad && n < MAX_ATTRIBUTES) {
		struct attribute at = { 0 };

		at.name = (uint16_t)read_uleb(r);
		at.form = (uint16_t)read_uleb(r);
		if (at.form == DW_FORM_implicit_const)
			at.implicit = read_sleb(r);
		if (at.name == 0 && at.form == 0)
			break;
		int size = form_size(at.form, u);
		fixed = size < 0 || fixed < 0 ? -1 : fixed + size;
		attributes[n++] = at;
	}
	ret->fixed_size = (int32_t)fixed;
	ret->nattributes = (uint16_t)n;
	ret->attributes = arena_memdup(a, attributes, n * sizeof(*attributes));
}

static struct abbrev_table read_abbrevs(const struct dwarf_sections *s, const struct unit *u,
                                        struct arena *a)
{
	struct reader r = reader_at(s->abbrev, u->abbrev_offset, s->abbrev.size);
	VEC(struct abbrev) table = { 0 };

	vec_push(&table); /* code 0 is the end of siblings */
	while (!r.bad) {
		uint64_t code = read_uleb(&r);

		if (code == 0 || code >= MAX_ABBREVS)
			break;
		while (table.n <= code) /* LLVM numbers them 1, 2, 3...: no gaps there */
			vec_push(&table);
		read_abbrev(&r, u, a, &table.data[code]);
	}
	struct abbrev_table ret = { .n = table.n };
	ret.by_code = vec_to_arena(&table, a);
	return ret;
}

static void read_location(const struct dwarf_sections *s, const struct unit *u,
                          struct section block, struct scope *ret)
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
		operand = address_at_index(s, u, read_uleb(&r));
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
		return;
	}
	if (r.bad)
		return;
	ret->low = operand;
	if (r.p == r.end) {
		ret->has_address =
			op == DW_OP_addr || op == DW_OP_addrx || op == DW_OP_GNU_addr_index;
		return;
	}
	unsigned next = (unsigned)read_fixed(&r, 1);
	ret->is_tls = next == DW_OP_GNU_push_tls_address || next == DW_OP_form_tls_address;
}

static bool form_is_address(unsigned form)
{
	return form == DW_FORM_addr || form == DW_FORM_addrx || form == DW_FORM_GNU_addr_index ||
	       (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4);
}

static void read_scope(const struct dwarf_sections *s, const struct unit *u, struct reader *r,
                       const struct abbrev *ab, struct scope *ret)
{
	bool high_is_offset = false;

	for (size_t i = 0; i < ab->nattributes; i++) {
		const struct attribute *at = &ab->attributes[i];
		struct attribute_value v;

		read_attribute(s, u, r, at, &v);
		switch (at->name) {
		case DW_AT_name:
			ret->name = v.string;
			break;
		case DW_AT_linkage_name:
		case DW_AT_MIPS_linkage_name:
			ret->linkage = v.string;
			break;
		case DW_AT_low_pc:
			ret->low = v.number;
			ret->has_address = true;
			break;
		case DW_AT_high_pc:
			ret->high = v.number;
			high_is_offset = !form_is_address(at->form);
			break;
		case DW_AT_ranges:
			ret->has_ranges = true;
			break;
		case DW_AT_declaration:
			ret->declaration = v.number != 0;
			break;
		case DW_AT_specification:
		case DW_AT_abstract_origin:
			ret->origin = v.number;
			break;
		case DW_AT_location:
			if (ab->tag == DW_TAG_variable)
				read_location(s, u, v.block, ret);
			break;
		default:
			break;
		}
	}
	if (high_is_offset)
		ret->high += ret->low;
	/* A linker that dropped the function left a tombstone. */
	if (ab->tag == DW_TAG_subprogram && ret->low == 0)
		ret->has_address = false;
}

static void skip_die(const struct dwarf_sections *s, const struct unit *u, struct reader *r,
                     const struct abbrev *ab)
{
	if (ab->fixed_size >= 0) {
		read_skip(r, (uint64_t)ab->fixed_size);
		return;
	}
	for (size_t i = 0; i < ab->nattributes; i++) {
		int size = form_size(ab->attributes[i].form, u);
		struct attribute_value ignored;

		if (size >= 0)
			read_skip(r, (uint64_t)size);
		else
			read_attribute(s, u, r, &ab->attributes[i], &ignored);
	}
}

void scan_unit(const struct dwarf_sections *s, struct unit *u, struct arena *a)
{
	if (u->scanned)
		return;
	u->scanned = true;
	scan_unit_root(s, u);

	SCRATCH(tmp);
	struct abbrev_table abbrevs = read_abbrevs(s, u, &tmp);
	struct reader r = reader_at(s->info, u->first_die, u->end);
	VEC(struct scope) scopes = { 0 };
	struct {
		uint32_t parent;
		bool in_function; /* locals are libdw's business */
	} stack[MAX_DEPTH] = { { SCOPE_NONE, false } };
	size_t depth = 0;

	while (!r.bad && r.p < r.end) {
		uint64_t die = (uint64_t)(r.p - s->info.data);
		uint64_t code = read_uleb(&r);

		if (code == 0) {
			if (depth == 0)
				break;
			depth--;
			continue;
		}
		if (code >= abbrevs.n || abbrevs.by_code[code].tag == 0)
			break;
		const struct abbrev *ab = &abbrevs.by_code[code];
		uint32_t parent = stack[depth].parent, self = parent;
		bool in_function = stack[depth].in_function;
		bool wanted =
			ab->wanted && depth > 0 && !(in_function && ab->tag == DW_TAG_variable);

		if (wanted) {
			struct scope *scope = vec_push(&scopes);
			scope->die = die;
			scope->parent = parent;
			scope->tag = ab->tag;
			read_scope(s, u, &r, ab, scope);
			self = (uint32_t)(scopes.n - 1);
		} else {
			skip_die(s, u, &r, ab);
		}
		if (ab->has_children) {
			if (++depth == MAX_DEPTH)
				break;
			stack[depth].parent = self;
			stack[depth].in_function = in_function || ab->tag == DW_TAG_subprogram;
		}
	}
	u->nscopes = scopes.n;
	u->scopes = vec_to_arena(&scopes, a);
}

static void set_root_attribute(struct unit *u, const struct attribute *at,
                               const struct attribute_value *v)
{
	switch (at->name) {
	case DW_AT_name:
		u->name = v->string;
		break;
	case DW_AT_comp_dir:
		u->comp_dir = v->string;
		break;
	case DW_AT_producer:
		u->producer = v->string;
		break;
	case DW_AT_stmt_list:
		u->stmt_list = v->number;
		break;
	case DW_AT_low_pc:
		u->low_pc = v->number;
		break;
	case DW_AT_str_offsets_base:
		u->str_offsets_base = v->number;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		u->addr_base = v->number;
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		u->dwo_name = v->string;
		break;
	default:
		break;
	}
}

/* Units that one object file holds share a table: the code may stand anywhere in it. */
static bool find_abbrev(const struct dwarf_sections *s, const struct unit *u, uint64_t code,
                        struct arena *a, struct abbrev *ret)
{
	struct reader r = reader_at(s->abbrev, u->abbrev_offset, s->abbrev.size);

	for (int i = 0; i < MAX_ABBREVS && !r.bad; i++) {
		uint64_t at = read_uleb(&r);

		if (at == 0)
			return false;
		read_abbrev(&r, u, a, ret);
		if (at == code)
			return !r.bad;
	}
	return false;
}

void scan_unit_root(const struct dwarf_sections *s, struct unit *u)
{
	if (u->header_read)
		return;
	u->header_read = true;
	u->stmt_list = UINT64_MAX;
	/* The default bases just behind the section headers, for units that name none. */
	u->str_offsets_base = u->version >= 5 ? 8 : 0;
	u->addr_base = u->version >= 5 ? 8 : 0;

	SCRATCH(tmp);
	struct abbrev ab = { 0 };
	struct reader first = reader_at(s->info, u->first_die, u->end);
	uint64_t code = read_uleb(&first);

	if (first.bad || !find_abbrev(s, u, code, &tmp, &ab))
		return;
	/* Twice: strings may come before the base that they count from. */
	for (int pass = 0; pass < 2; pass++) {
		struct reader r = reader_at(s->info, u->first_die, u->end);

		read_uleb(&r);
		for (size_t i = 0; i < ab.nattributes && !r.bad; i++) {
			struct attribute_value v;

			read_attribute(s, u, &r, &ab.attributes[i], &v);
			set_root_attribute(u, &ab.attributes[i], &v);
		}
	}
}

static bool read_unit_header(const struct dwarf_sections *s, uint64_t at, struct unit *ret)
{
	struct reader r = reader_at(s->info, at, s->info.size);
	uint64_t length = read_fixed(&r, 4);

	ret->start = at;
	ret->offset_size = 4;
	if (length == 0xffffffff) {
		ret->offset_size = 8;
		length = read_fixed(&r, 8);
	}
	uint64_t body = (uint64_t)(r.p - s->info.data);
	if (r.bad || length > s->info.size - body)
		return false;
	ret->end = body + length;
	ret->version = (uint16_t)read_fixed(&r, 2);
	ret->type = DW_UT_compile;
	if (ret->version >= 5) {
		ret->type = (uint8_t)read_fixed(&r, 1);
		ret->address_size = (uint8_t)read_fixed(&r, 1);
		ret->abbrev_offset = read_fixed(&r, ret->offset_size);
		if (ret->type == DW_UT_skeleton || ret->type == DW_UT_split_compile)
			read_skip(&r, 8);
		else if (ret->type == DW_UT_type || ret->type == DW_UT_split_type)
			read_skip(&r, 8u + ret->offset_size);
	} else {
		ret->abbrev_offset = read_fixed(&r, ret->offset_size);
		ret->address_size = (uint8_t)read_fixed(&r, 1);
	}
	ret->first_die = (uint64_t)(r.p - s->info.data);
	return !r.bad && ret->version >= 2 && ret->version <= 5 &&
	       (ret->address_size == 4 || ret->address_size == 8) && ret->first_die <= ret->end;
}

struct unit *scan_unit_headers(const struct dwarf_sections *s, struct arena *a, size_t *nret)
{
	VEC(struct unit) units = { 0 };
	struct unit u = { 0 };

	for (uint64_t at = 0; at < s->info.size && read_unit_header(s, at, &u); at = u.end) {
		*vec_push(&units) = u;
		u = (struct unit){ .end = u.end };
	}
	*nret = units.n;
	return vec_to_arena(&units, a);
}

static int by_low(const void *a, const void *b)
{
	const struct unit_function *x = a, *y = b;

	/* Of several at one address the longest comes last: a look-up sees it first. */
	if (x->low == y->low)
		return x->high < y->high ? -1 : x->high > y->high;
	return x->low < y->low ? -1 : 1;
}

void scan_unit_functions(struct unit *u, struct arena *a)
{
	if (u->functions)
		return;
	size_t n = 0;
	for (size_t i = 0; i < u->nscopes; i++)
		n += u->scopes[i].tag == DW_TAG_subprogram && u->scopes[i].has_address;
	u->functions = NEW_ARRAY(a, struct unit_function, n + 1);
	for (size_t i = 0; i < u->nscopes; i++) {
		const struct scope *s = &u->scopes[i];

		if (s->tag == DW_TAG_subprogram && s->has_address)
			u->functions[u->nfunctions++] =
				(struct unit_function){ s->low, s->high, (uint32_t)i };
	}
	qsort(u->functions, u->nfunctions, sizeof(*u->functions), by_low);
}

uint32_t scan_scope_at(const struct unit *u, uint64_t die)
{
	size_t lo = 0, hi = u->nscopes;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (u->scopes[mid].die <= die)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && u->scopes[lo - 1].die == die ? (uint32_t)(lo - 1) : SCOPE_NONE;
}
