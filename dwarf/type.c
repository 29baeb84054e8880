#include "dwarf/type.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

#include "debugger/base/vec.h"
#include "dwarf/line.h"
#include "dwarf/lookup.h"
#include "dwarf/qualified.h"
#include "dwarf/type_inside.h"

static bool attr_uint(Dwarf_Die *die, unsigned name, uint64_t *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &value) != 0)
		return false;
	*ret = value;
	return true;
}

/*
 * A discriminant or enumerator may be written signed or unsigned. LLVM writes the -1 of an i64
 * as the one byte 0xff: only the type says what that is.
 */
static bool attr_bits(Dwarf_Die *die, unsigned name, bool is_signed, uint64_t *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Sword value;

	if (!dwarf_attr(die, name, &attr))
		return false;
	if ((is_signed || dwarf_whatform(&attr) == DW_FORM_sdata) &&
	    dwarf_formsdata(&attr, &value) == 0) {
		*ret = (uint64_t)value;
		return true;
	}
	return attr_uint(die, name, ret);
}

static bool attr_flag(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	bool value;

	return dwarf_attr(die, name, &attr) && dwarf_formflag(&attr, &value) == 0 && value;
}

static uint64_t attr_ref(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Die target;

	if (!dwarf_attr(die, name, &attr) || !dwarf_formref_die(&attr, &target))
		return 0;
	return dwarf_dieoffset(&target);
}

static enum type_kind base_kind(Dwarf_Die *die)
{
	uint64_t encoding = 0;

	attr_uint(die, DW_AT_encoding, &encoding);
	switch (encoding) {
	case DW_ATE_boolean:
		return TYPE_BOOL;
	case DW_ATE_UTF:
		return TYPE_CHAR;
	case DW_ATE_signed:
	case DW_ATE_signed_char:
		return TYPE_INT;
	case DW_ATE_float:
		return TYPE_FLOAT;
	default:
		return TYPE_UINT;
	}
}

static bool has_variant_part(Dwarf_Die *die)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child) != 0)
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_variant_part)
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

static enum type_kind kind_of(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_base_type:
		return base_kind(die);
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
		return TYPE_POINTER;
	case DW_TAG_array_type:
		return TYPE_ARRAY;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		return has_variant_part(die) ? TYPE_ENUM : TYPE_STRUCT;
	case DW_TAG_enumeration_type:
		return TYPE_CENUM;
	case DW_TAG_union_type:
		return TYPE_UNION;
	case DW_TAG_subroutine_type:
		return TYPE_FUNCTION;
	default:
		return TYPE_OPAQUE;
	}
}

static void read_array_bounds(Dwarf_Die *die, struct type *t)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child) != 0)
		return;
	do {
		uint64_t upper;

		if (dwarf_tag(&child) != DW_TAG_subrange_type)
			continue;
		if (attr_uint(&child, DW_AT_count, &t->count))
			return;
		/* An upper bound of -1 is how an empty array is written. */
		if (attr_uint(&child, DW_AT_upper_bound, &upper))
			t->count = upper + 1;
		return;
	} while (dwarf_siblingof(&child, &child) == 0);
}

static const char *array_name(const struct type *t)
{
	const struct type *element = type_target(t);

	return arena_printf(&t->dm->di->arena, "[%s; %llu]", element ? type_name(element) : "?",
	                    (unsigned long long)t->count);
}

static void read_shell(struct dwarf_module *dm, Dwarf_Die *die, struct type *t)
{
	t->kind = kind_of(die);
	t->target_die = attr_ref(die, DW_AT_type);
	if (!attr_uint(die, DW_AT_byte_size, &t->size) && t->kind == TYPE_POINTER)
		t->size = 8;
	t->align = 1;
	attr_uint(die, DW_AT_alignment, &t->align);
	t->declaration = attr_flag(die, DW_AT_declaration);
	if (t->kind == TYPE_ARRAY) {
		const struct type *element;

		read_array_bounds(die, t);
		element = type_at(dm, t->target_die);
		if (!element || __builtin_mul_overflow(t->count, type_size(element), &t->size))
			t->size = 0;
		t->name = array_name(t);
		return;
	}
	t->name = lookup_die_name(dm, t->die);
	if (!t->name)
		t->name = dwarf_diename(die);
}

const struct type *type_at(struct dwarf_module *dm, uint64_t die)
{
	Dwarf_Die d;

	if (die == 0)
		return NULL;
	struct type *t = map_get(&dm->types, die);
	if (t) {
		if (!t->kept)
			type_keep(t, die);
		return t;
	}
	if (++dm->ntypes % 256 == 0)
		mapped_trim(dm);
	t = NEW(&dm->di->arena, struct type);
	t->dm = dm;
	t->die = die;
	map_put(&dm->types, die, t);
	if (type_known_shell(t) || !debuginfo_need(dm) || !dwarf_offdie(dm->dwarf, die, &d))
		return t;
	if (dwarf_tag(&d) == DW_TAG_typedef) {
		uint64_t target = attr_ref(&d, DW_AT_type);
		const struct type *real = target != die ? type_at(dm, target) : NULL;

		if (real)
			*t = *(const struct type *)real;
		type_keep(t, die);
		return t;
	}
	read_shell(dm, &d, t);
	type_keep(t, die);
	return t;
}

/* Types are logically immutable: this fills in what was not asked for before. */
static struct type *unlock(const struct type *t)
{
	union {
		const struct type *c;
		struct type *m;
	} u = { t };

	return u.m;
}

static const struct type *complete(const struct type *t)
{
	if (!t->declaration)
		return t;
	struct type *mutable = unlock(t);
	uint64_t die = t->die;
	mutable->declaration = false;
	const struct type *full = t->name ? lookup_type(t->dm, t->name, t->die) : NULL;
	if (full && full != t && !full->declaration) {
		const char *name = t->name;

		*mutable = *full;
		mutable->name = name;
	} else {
		mutable->kind = TYPE_OPAQUE;
	}
	type_keep(mutable, die);
	return t;
}

static const char *comp_dir(const struct type *t)
{
	const struct unit *u = debuginfo_unit_of(t->dm, t->die);

	return u ? u->comp_dir : NULL;
}

static void read_variant(struct type *t, Dwarf_Die *die, bool is_signed, struct variant *v)
{
	Dwarf_Die child;
	uint64_t number;

	v->is_default = !attr_bits(die, DW_AT_discr_value, is_signed, &v->discr);
	if (dwarf_child(die, &child) != 0)
		return;
	do {
		if (dwarf_tag(&child) != DW_TAG_member)
			continue;
		v->payload = type_at(t->dm, attr_ref(&child, DW_AT_type));
		attr_uint(&child, DW_AT_data_member_location, &v->offset);
		struct unit *u = debuginfo_unit_of(t->dm, t->die);
		if (u && attr_uint(&child, DW_AT_decl_file, &number) && number)
			v->file = line_file(t->dm, u, (unsigned)number);
		if (attr_uint(&child, DW_AT_decl_line, &number))
			v->line = (unsigned)number;
		v->name =
			v->payload ? qualified_last(type_name(v->payload)) : dwarf_diename(&child);
		return;
	} while (dwarf_siblingof(&child, &child) == 0);
}

static void read_member(struct dwarf_module *dm, Dwarf_Die *die, struct member *m)
{
	m->name = dwarf_diename(die);
	m->type = type_at(dm, attr_ref(die, DW_AT_type));
	attr_uint(die, DW_AT_data_member_location, &m->offset);
}

static bool is_signed_type(struct dwarf_module *dm, uint64_t die)
{
	const struct type *t = type_at(dm, die);

	return t && type_kind(t) == TYPE_INT;
}

/* All ones in the bits that a number of size bytes has. */
static uint64_t size_mask(uint64_t size)
{
	return size >= 8 ? UINT64_MAX : (UINT64_C(1) << size * 8) - 1;
}

static void read_variant_part(struct type *t, Dwarf_Die *part)
{
	VEC(struct variant) variants = { 0 };
	struct arena *a = &t->dm->di->arena;
	uint64_t discr = attr_ref(part, DW_AT_discr);
	Dwarf_Die child;
	bool is_signed = discr && dwarf_offdie(t->dm->dwarf, discr, &child) &&
	                 is_signed_type(t->dm, attr_ref(&child, DW_AT_type));

	if (dwarf_child(part, &child) == 0) {
		do {
			if (dwarf_tag(&child) == DW_TAG_member &&
			    dwarf_dieoffset(&child) == discr) {
				struct member *m = NEW(a, struct member);

				read_member(t->dm, &child, m);
				t->discr = m;
				t->is_coroutine = m->name && strcmp(m->name, "__state") == 0;
				t->comp_dir = t->is_coroutine ? comp_dir(t) : NULL;
			} else if (dwarf_tag(&child) == DW_TAG_variant &&
			           variants.n < MAX_MEMBERS) {
				read_variant(t, &child, is_signed, vec_push(&variants));
			}
		} while (dwarf_siblingof(&child, &child) == 0);
	}
	uint64_t size = t->discr && t->discr->type ? type_size(t->discr->type) : 8;
	for (size_t i = 0; i < variants.n; i++)
		variants.data[i].discr &= size_mask(size);
	t->nvariants = variants.n;
	t->variants = vec_to_arena(&variants, a);
}

/* Members, variants, enumerators and template parameters: the children of the DIE. */
static const struct type *details(const struct type *t)
{
	VEC(struct member) members = { 0 };
	VEC(struct enumerator) enumerators = { 0 };
	VEC(struct type_param) params = { 0 };
	Dwarf_Die die, child;

	complete(t);
	if (t->details_read) {
		if (!t->details_kept)
			type_keep_details(unlock(t));
		return t;
	}
	struct type *m = unlock(t);
	m->details_read = true;
	if (type_known_details(m))
		return t;
	if (!debuginfo_need(t->dm) || !dwarf_offdie(t->dm->dwarf, t->die, &die) ||
	    dwarf_child(&die, &child) != 0) {
		type_keep_details(m);
		return t;
	}
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_member:
			if (members.n < MAX_MEMBERS)
				read_member(t->dm, &child, vec_push(&members));
			break;
		case DW_TAG_variant_part:
			read_variant_part(m, &child);
			break;
		case DW_TAG_enumerator:
			if (enumerators.n < MAX_MEMBERS) {
				struct enumerator *e = vec_push(&enumerators);

				e->name = dwarf_diename(&child);
				attr_bits(&child, DW_AT_const_value,
				          is_signed_type(t->dm, t->target_die), &e->value);
				e->value &= size_mask(t->size);
			}
			break;
		case DW_TAG_template_type_parameter: {
			struct type_param *p = vec_push(&params);

			p->name = dwarf_diename(&child);
			p->type = type_at(t->dm, attr_ref(&child, DW_AT_type));
			break;
		}
		default:
			break;
		}
	} while (dwarf_siblingof(&child, &child) == 0);

	struct arena *a = &t->dm->di->arena;
	m->nmembers = members.n;
	m->members = vec_to_arena(&members, a);
	m->nenumerators = enumerators.n;
	m->enumerators = vec_to_arena(&enumerators, a);
	m->nparams = params.n;
	m->params = vec_to_arena(&params, a);
	type_keep_details(m);
	return t;
}

enum type_kind type_kind(const struct type *t)
{
	return complete(t)->kind;
}

const char *type_name(const struct type *t)
{
	return t->name ? t->name : "?";
}

uint64_t type_size(const struct type *t)
{
	return complete(t)->size;
}

uint64_t type_align(const struct type *t)
{
	return complete(t)->align ? t->align : 1;
}

const struct type *type_target(const struct type *t)
{
	return type_at(t->dm, t->target_die);
}

uint64_t type_count(const struct type *t)
{
	return t->count;
}

const struct member *type_members(const struct type *t, size_t *n)
{
	*n = details(t)->nmembers;
	return t->members;
}

const struct member *type_member(const struct type *t, const char *name)
{
	details(t);
	for (size_t i = 0; i < t->nmembers; i++) {
		if (t->members[i].name && strcmp(t->members[i].name, name) == 0 &&
		    t->members[i].type)
			return &t->members[i];
	}
	return NULL;
}

const struct member *type_discr(const struct type *t)
{
	return details(t)->discr;
}

const struct variant *type_variants(const struct type *t, size_t *n)
{
	*n = details(t)->nvariants;
	return t->variants;
}

const struct variant *type_variant(const struct type *t, const char *name)
{
	details(t);
	for (size_t i = 0; i < t->nvariants; i++) {
		if (t->variants[i].name && strcmp(t->variants[i].name, name) == 0 &&
		    t->variants[i].payload)
			return &t->variants[i];
	}
	return NULL;
}

const struct enumerator *type_enumerators(const struct type *t, size_t *n)
{
	*n = details(t)->nenumerators;
	return t->enumerators;
}

const struct type_param *type_params(const struct type *t, size_t *n)
{
	*n = details(t)->nparams;
	return t->params;
}

const struct type *type_param(const struct type *t, const char *name)
{
	details(t);
	for (size_t i = 0; i < t->nparams; i++) {
		if (t->params[i].name && strcmp(t->params[i].name, name) == 0)
			return t->params[i].type;
	}
	return NULL;
}

bool type_is_coroutine(const struct type *t)
{
	return type_kind(t) == TYPE_ENUM && details(t)->is_coroutine;
}

bool type_is_dyn(const struct type *t)
{
	if (type_kind(t) != TYPE_STRUCT)
		return false;
	if (!t->dyn_known) {
		unlock(t)->is_dyn = type_member(t, "pointer") && type_member(t, "vtable");
		unlock(t)->dyn_known = true;
	}
	return t->is_dyn;
}

struct type_memo *type_memo(const struct type *t)
{
	return &unlock(t)->memo;
}

bool type_is(const struct type *t, const char *path)
{
	const char *name = type_name(t);
	size_t len = strlen(path);

	return strncmp(name, path, len) == 0 && (name[len] == '\0' || name[len] == '<');
}

const char *type_comp_dir(const struct type *t)
{
	return details(t)->comp_dir;
}

struct dwarf_module *type_module(const struct type *t)
{
	return t->dm;
}

uint64_t type_die(const struct type *t)
{
	return t->die;
}

static const struct member *find_single(const struct type *t)
{
	const struct member *single = NULL;

	details(t);
	for (size_t i = 0; i < t->nmembers; i++) {
		const struct member *m = &t->members[i];

		if (!m->type || type_size(m->type) == 0)
			continue;
		if (single)
			return NULL;
		single = m;
	}
	return single;
}

const struct member *type_single_member(const struct type *t)
{
	if (type_kind(t) != TYPE_STRUCT && type_kind(t) != TYPE_UNION)
		return NULL;
	if (!t->single_known) {
		unlock(t)->single = find_single(t);
		unlock(t)->single_known = true;
	}
	return t->single;
}
