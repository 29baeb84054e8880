/* Types as .debug_info has them: one pass over the bytes of a type's DIE, and one of its children.
 */
#include <dwarf.h>
#include <string.h>

#include "debugger/base/vec.h"
#include "dwarf/module/line.h"
#include "dwarf/names/qualified.h"
#include "dwarf/types/die_attrs.h"
#include "dwarf/types/type_private.h"

enum { MAX_ALIASES = 64 };

/*
 * The bits of a number, extended as its type requires: LLVM writes the -1 of an i64 as the one byte
 * 0xff.
 */
static uint64_t bits_of(struct die_attrs_number n, bool is_signed)
{
	if (!is_signed)
		return n.value;
	switch (n.form) {
	case DW_FORM_data1:
		return (uint64_t)(int8_t)n.value;
	case DW_FORM_data2:
		return (uint64_t)(int16_t)n.value;
	case DW_FORM_data4:
		return (uint64_t)(int32_t)n.value;
	default:
		return n.value;
	}
}

/* ---- the type itself ---- */

static enum type_kind base_kind(uint64_t encoding)
{
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

/*
 * True for children that describe the type itself; functions do not. LLVM writes elements first,
 * then template parameters, and functions last (rustc 1.63 to 1.95), so that a walk over the
 * elements ends at the first function. Functions with all their children can be most of the DIE.
 */
static bool is_element(const struct die *child)
{
	return child->tag != DW_TAG_subprogram;
}

static bool type_read_first_element(struct die *d, struct die *child)
{
	return die_child(d, child) && is_element(child);
}

static bool type_read_next_element(struct die *child)
{
	return die_sibling(child, child) && is_element(child);
}

static bool find_variant_part(struct die d, struct die *part)
{
	for (bool any = type_read_first_element(&d, part); any;
	     any = type_read_next_element(part)) {
		if (part->tag == DW_TAG_variant_part)
			return true;
	}
	return false;
}

/* The discriminant member of a variant part. */
static bool find_discr(struct die part, struct die *ret)
{
	struct die_attrs attrs;

	die_attrs_read(&part, &attrs);
	for (bool any = die_child(&part, ret); any; any = die_sibling(ret, ret)) {
		if (ret->tag == DW_TAG_member && ret->offset == attrs.discr)
			return true;
	}
	return false;
}

/* Reads the parts that distinguish an enum or a coroutine from a struct. */
static bool read_variant_kind(const struct die *d, struct type *t)
{
	struct die part, discr;
	struct die_attrs attrs;

	if (!find_variant_part(*d, &part))
		return false;
	if (find_discr(part, &discr)) {
		die_attrs_read(&discr, &attrs);
		t->coroutine = attrs.name && strcmp(attrs.name, "__state") == 0;
	}
	return true;
}

static enum type_kind type_read_kind(const struct die *d, const struct die_attrs *attrs,
                                     struct type *t)
{
	switch (d->tag) {
	case DW_TAG_base_type:
		return base_kind(attrs->encoding.value);
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
		return TYPE_POINTER;
	case DW_TAG_array_type:
		return TYPE_ARRAY;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		return read_variant_kind(d, t) ? TYPE_ENUM : TYPE_STRUCT;
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

/* Tags of which the scan records a scope. */
static bool is_scope(unsigned tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_enumeration_type || tag == DW_TAG_base_type ||
	       tag == DW_TAG_subprogram || tag == DW_TAG_variable || tag == DW_TAG_namespace;
}

static uint64_t array_count(struct die d)
{
	struct die child;
	struct die_attrs attrs;

	for (bool any = die_child(&d, &child); any; any = die_sibling(&child, &child)) {
		if (child.tag != DW_TAG_subrange_type)
			continue;
		die_attrs_read(&child, &attrs);
		/* An upper bound of -1 denotes an empty array. */
		return attrs.count.form   ? attrs.count.value
		       : attrs.upper.form ? attrs.upper.value + 1
		                          : 0;
	}
	return 0;
}

/* The nesting of arrays is bounded, whatever the file says. */
uint64_t type_array_size(const struct type *t)
{
	struct dwarf_module *dm = t->dm;
	const struct type *element = type_at(dm, t->target_die);
	uint64_t size = 0;

	if (element && dm->types.array_depth < MAX_NESTED) {
		dm->types.array_depth++;
		if (__builtin_mul_overflow(t->count, type_size(element), &size))
			size = 0;
		dm->types.array_depth--;
	}
	return size;
}

/* The DIE at the end of a chain of aliases that starts here; the DIE itself when it is no alias. */
static uint64_t behind_aliases(struct dwarf_module *dm, struct die d)
{
	uint64_t die = d.offset;
	struct die_attrs attrs;

	for (int hops = 0; hops < MAX_ALIASES && d.tag == DW_TAG_typedef; hops++) {
		die_attrs_read(&d, &attrs);
		if (attrs.type == 0)
			break;
		die = attrs.type;
		if (!die_attrs_open(dm, die, &d))
			break;
	}
	return die;
}

void type_read_shell(struct type *t)
{
	struct die d;
	struct die_attrs attrs;

	if (!die_attrs_open(t->dm, t->die, &d))
		return;
	t->found = true;
	if (d.tag == DW_TAG_typedef) {
		const struct type *real = type_at(t->dm, behind_aliases(t->dm, d));

		if (real != t)
			type_become(t, real);
		return;
	}
	die_attrs_read(&d, &attrs);
	t->kind = type_read_kind(&d, &attrs, t);
	t->target_die = attrs.type;
	t->size = attrs.size.form ? attrs.size.value : t->kind == TYPE_POINTER ? 8 : 0;
	t->align = attrs.align.form && attrs.align.value <= UINT32_MAX ? (uint32_t)attrs.align.value
	                                                               : 1;
	t->declaration = attrs.declaration;
	t->name = attrs.name;
	t->is_scope = is_scope(d.tag);
	if (t->kind == TYPE_ARRAY) {
		t->count = array_count(d);
		t->size = type_array_size(t);
	}
}

/* ---- its children ---- */

static bool is_signed_type(struct dwarf_module *dm, uint64_t die)
{
	const struct type *t = type_at(dm, die);

	return t && type_kind(t) == TYPE_INT;
}

/* A mask of the low size bytes. */
static uint64_t size_mask(uint64_t size)
{
	return size >= 8 ? UINT64_MAX : (UINT64_C(1) << size * 8) - 1;
}

static struct member member_of(struct dwarf_module *dm, const struct die_attrs *attrs)
{
	return (struct member){ .name = attrs->name,
		                .type = type_at(dm, attrs->type),
		                .offset = attrs->offset.value,
		                .restricted = attrs->access.value == DW_ACCESS_protected ||
		                              attrs->access.value == DW_ACCESS_private };
}

/* The name of a variant is that of its payload. */
static const char *payload_name(const struct type *payload)
{
	const char *name = type_short_name(payload);

	/* Long generics are scanned only if a path may precede the name. */
	return !name                                       ? "?"
	       : payload->is_scope && !payload->name_known ? name
	                                                   : qualified_last(name);
}

/* false: its number does not fit into 64 bits. */
static bool read_variant(struct type *t, struct die *d, bool is_signed, struct variant *v)
{
	struct die_attrs attrs;
	struct die child;

	die_attrs_read(d, &attrs);
	bool ret = !attrs.value_is_wide;
	v->is_default = attrs.value.form == 0;
	v->discr = bits_of(attrs.value, is_signed);
	for (bool any = die_child(d, &child); any; any = die_sibling(&child, &child)) {
		if (child.tag != DW_TAG_member)
			continue;
		die_attrs_read(&child, &attrs);
		v->payload = type_at(t->dm, attrs.type);
		v->offset = attrs.offset.value;
		if (attrs.file.value)
			v->file = line_file(t->dm, d->u, (unsigned)attrs.file.value);
		v->line = (unsigned)attrs.line.value;
		v->name = v->payload ? payload_name(v->payload) : attrs.name;
		break;
	}
	return ret;
}

static bool discr_is_signed(struct dwarf_module *dm, uint64_t discr)
{
	struct die_attrs attrs;
	struct die d;

	if (discr == 0 || !die_attrs_open(dm, discr, &d))
		return false;
	die_attrs_read(&d, &attrs);
	return is_signed_type(dm, attrs.type);
}

static void type_read_discr(struct type *t, struct die *d, struct type_choices *ret)
{
	struct member *m = NEW(&t->dm->di->arena, struct member);
	struct die_attrs attrs;

	die_attrs_read(d, &attrs);
	*m = member_of(t->dm, &attrs);
	ret->discr = m;
	ret->comp_dir = t->coroutine ? d->u->comp_dir : NULL;
}

static void read_variant_part(struct type *t, struct die *part, struct type_choices *ret)
{
	VEC(struct variant) variants = { 0 };
	struct die_attrs attrs;
	struct die child;

	die_attrs_read(part, &attrs);
	uint64_t discr = attrs.discr;
	bool is_signed = discr_is_signed(t->dm, discr), sound = true;
	for (bool any = die_child(part, &child); any; any = die_sibling(&child, &child)) {
		if (child.tag == DW_TAG_member && child.offset == discr)
			type_read_discr(t, &child, ret);
		else if (child.tag == DW_TAG_variant && variants.n < MAX_MEMBERS)
			sound &= read_variant(t, &child, is_signed, vec_push(&variants));
	}
	/* A discriminant without a type cannot be read, so that no variant can be selected. */
	if ((ret->discr && !ret->discr->type) || !sound) {
		ret->discr = NULL;
		variants.n = 0;
	}
	uint64_t size = ret->discr ? type_size(ret->discr->type) : 8;
	for (size_t i = 0; i < variants.n; i++)
		variants.data[i].discr &= size_mask(size);
	ret->nvariants = (uint32_t)variants.n;
	ret->variants = vec_to_arena(&variants, &t->dm->di->arena);
}

struct children {
	VEC(struct member) members;
	VEC(struct enumerator) enumerators;
	struct type_choices choices;
	bool has_choices;
};

static void read_member(struct type *t, struct die *d, struct children *c)
{
	struct die_attrs attrs;

	die_attrs_read(d, &attrs);
	if (c->members.n < MAX_MEMBERS)
		*vec_push(&c->members) = member_of(t->dm, &attrs);
}

static void read_enumerator(struct type *t, struct die *d, struct children *c)
{
	bool is_signed = is_signed_type(t->dm, t->target_die);
	struct die_attrs attrs;

	die_attrs_read(d, &attrs);
	if (c->enumerators.n < MAX_MEMBERS)
		*vec_push(&c->enumerators) =
			(struct enumerator){ attrs.name,
			                     bits_of(attrs.value, is_signed) & size_mask(t->size) };
}

static void read_child(struct type *t, struct die *d, struct children *c)
{
	switch (d->tag) {
	case DW_TAG_member:
		read_member(t, d, c);
		break;
	case DW_TAG_variant_part:
		read_variant_part(t, d, &c->choices);
		c->has_choices = true;
		break;
	case DW_TAG_enumerator:
		read_enumerator(t, d, c);
		break;
	default:
		break;
	}
}

void type_read_details(struct type *t, struct type_details *ret)
{
	struct arena *a = &t->dm->di->arena;
	struct children c = { 0 };
	struct die d, child;

	if (!die_attrs_open(t->dm, t->die, &d))
		return;
	for (bool any = type_read_first_element(&d, &child); any;
	     any = type_read_next_element(&child))
		read_child(t, &child, &c);
	ret->nmembers = (uint32_t)c.members.n;
	ret->members = vec_to_arena(&c.members, a);
	c.choices.nenumerators = (uint32_t)c.enumerators.n;
	if (c.choices.nenumerators || c.has_choices) {
		c.choices.enumerators = vec_to_arena(&c.enumerators, a);
		ret->choices = arena_memdup(a, &c.choices, sizeof(c.choices));
	}
}

void type_read_params(struct type *t, struct type_params *ret)
{
	VEC(struct type_param) params = { 0 };
	struct die d, child;
	struct die_attrs attrs;

	if (!die_attrs_open(t->dm, t->die, &d))
		return;
	for (bool any = type_read_first_element(&d, &child); any;
	     any = type_read_next_element(&child)) {
		if (child.tag != DW_TAG_template_type_parameter || params.n == MAX_MEMBERS)
			continue;
		die_attrs_read(&child, &attrs);
		*vec_push(&params) = (struct type_param){ attrs.name, type_at(t->dm, attrs.type) };
	}
	ret->n = params.n;
	ret->list = vec_to_arena(&params, &t->dm->di->arena);
}
