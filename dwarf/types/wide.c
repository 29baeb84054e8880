/* Classifies wide pointers, and makes sized types for what they lead to (wide.h). */
#include "dwarf/types/wide.h"

#include <string.h>

#include "debugger/base/map.h"
#include "dwarf/names/qualified.h"
#include "dwarf/types/type_private.h"

enum {
	MAX_TAILS = 64,      /* structs whose last member is a struct with a tail, one in another */
	MAX_SIZED = 1 << 14, /* types made for one module; lengths in a target may be endless */
	MAX_OBJECT_ALIGN = 1 << 29, /* rustc's limit for #[repr(align)] */
	MAX_SCALAR_ALIGN = 8,
};

/* ---- pointers ---- */

/* The name of the pointee, which ends at the end or at a comma. NULL: no pointer's name. */
static const char *pointee_name(const char *name)
{
	static const char *const prefixes[] = { "&mut ", "&", "*const ", "*mut ",
		                                "alloc::boxed::Box<" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return name + strlen(prefixes[i]);
	}
	return NULL;
}

static bool wide_is_dyn_name(const char *name)
{
	return strncmp(name + (*name == '('), "dyn ", 4) == 0;
}

/* Whether a name, which may be followed by other generics, is "str". */
static bool is_str_name(const char *name)
{
	return strncmp(name, "str", 3) == 0 && (!name[3] || strchr(",>", name[3]));
}

static enum wide_kind kind_of(const struct type *t, bool has_vtable)
{
	const char *name = pointee_name(type_name(t));

	if (!name)
		return WIDE_NONE;
	if (has_vtable)
		return wide_is_dyn_name(name) ? WIDE_DYN : WIDE_STRUCT;
	return *name == '[' ? WIDE_SLICE : is_str_name(name) ? WIDE_STR : WIDE_STRUCT;
}

static enum wide_kind wide_read_kind(const struct type *t)
{
	if (type_kind(t) != TYPE_STRUCT || type_size(t) != 2 * sizeof(uint64_t))
		return WIDE_NONE;
	if (type_member(t, "data_ptr") && type_member(t, "length"))
		return kind_of(t, false);
	return type_member(t, "pointer") && type_member(t, "vtable") ? kind_of(t, true) : WIDE_NONE;
}

enum wide_kind type_wide_kind(const struct type *t)
{
	struct type *mutable;

	type_kind(t); /* completes it */
	if (!t->wide_known) {
		enum wide_kind kind = wide_read_kind(t);

		mutable = type_unlock(t);
		mutable->wide = (unsigned char)kind;
		mutable->wide_known = true;
	}
	return t->wide;
}

struct wide type_wide(const struct type *t)
{
	struct wide ret = { .kind = type_wide_kind(t) };

	if (ret.kind == WIDE_NONE)
		return ret;
	const struct member *data = type_member(t, "data_ptr");
	ret.has_vtable = !data;
	data = data ? data : type_member(t, "pointer");
	ret.data = data->offset;
	ret.meta = type_member(t, ret.has_vtable ? "vtable" : "length")->offset;
	ret.pointee = type_target(data->type);
	return ret;
}

bool type_is_object(const struct type *t)
{
	return wide_is_dyn_name(type_name(t));
}

/* ---- tails ---- */

enum tail {
	TAIL_NONE,     /* the struct is sized */
	TAIL_UNKNOWN,  /* it may be either */
	TAIL_DYN,      /* its last member is a trait object, */
	TAIL_STRUCT,   /* a struct with a tail, */
	TAIL_SLICE,    /* a [T], */
	TAIL_IS_STR,   /* a str, */
	TAIL_IS_BYTES, /* a str or a [u8] */
};

static const struct member *last_member(const struct type *t)
{
	size_t n;
	const struct member *members = type_members(t, &n);

	return type_kind(t) == TYPE_STRUCT && n && members[n - 1].type ? &members[n - 1] : NULL;
}

static uint64_t wide_round_up(uint64_t n, uint64_t align)
{
	return align > 1 ? (n + align - 1) / align * align : n;
}

/*
 * Kind of the last member by the generics of its struct: the template parameter `T` of Dst<[u16]>
 * has the DIE of u16, as the member `tail: T` has, and only the struct's name has the brackets.
 * TAIL_UNKNOWN: the member's type is no parameter, or several, or names and DIEs do not match, as
 * with constants among the generics.
 */
static enum tail tail_of_generics(const struct type *t, const struct member *last)
{
	SCRATCH(tmp);
	enum tail ret = TAIL_UNKNOWN;
	size_t n, nargs;
	const struct type_param *params = type_params(t, &n);
	const char *const *args = qualified_generics(&tmp, type_name(t), &nargs);

	for (size_t i = 0; i < n && n == nargs; i++) {
		if (!params[i].type ||
		    strcmp(type_name(params[i].type), type_name(last->type)) != 0)
			continue;
		enum tail now = strcmp(args[i], "str") == 0 ? TAIL_IS_STR
		                : args[i][0] == '[' && strcmp(args[i], type_name(last->type)) != 0
		                        ? TAIL_SLICE
		                        : TAIL_NONE;

		if (ret != TAIL_UNKNOWN && ret != now)
			return TAIL_UNKNOWN;
		ret = now;
	}
	return ret;
}

/* Types of structs that rustc makes, none of which can have a tail; and wide pointers. */
static bool is_always_sized(const struct type *t)
{
	const char *name = type_name(t);

	return type_wide_kind(t) != WIDE_NONE || (*name == '(' && !wide_is_dyn_name(name)) ||
	       qualified_last(name)[0] == '{';
}

static enum tail slice_of(const struct type *element)
{
	return strcmp(type_name(element), "u8") == 0 ? TAIL_IS_BYTES : TAIL_SLICE;
}

/* A struct with a tail has the size of what comes before it: does this one have another? */
static bool has_room_for_last(const struct type *t, const struct member *last)
{
	return last->offset + type_size(last->type) <= type_size(t) &&
	       (type_size(last->type) == 0 ||
	        wide_round_up(last->offset, type_align(t)) != type_size(t));
}

/*
 * The tail of a type. certain: it is a struct that must have one. A slice may be hidden in the
 * padding of a struct without generics, { long: u64, short: u8, tail: [u8] }: that may as well be a
 * sized struct with a u8.
 */
static enum tail find_tail(const struct type *t, bool certain, int depth)
{
	const struct member *last;
	enum tail inner, tail;

	if (wide_is_dyn_name(type_name(t)))
		return TAIL_DYN;
	if (type_kind(t) == TYPE_OPAQUE || depth == MAX_TAILS)
		return TAIL_UNKNOWN;
	last = last_member(t);
	if (!last || is_always_sized(t))
		return TAIL_NONE;
	inner = find_tail(last->type, false, depth + 1);
	if (inner > TAIL_UNKNOWN)
		return TAIL_STRUCT;
	if (!certain && has_room_for_last(t, last))
		return inner;
	tail = tail_of_generics(t, last);
	if (tail == TAIL_IS_STR || tail == TAIL_SLICE)
		return tail;
	if (inner == TAIL_UNKNOWN)
		return TAIL_UNKNOWN;
	return certain || last->offset + type_size(last->type) > type_size(t) ? slice_of(last->type)
	                                                                      : TAIL_UNKNOWN;
}

/* ---- sized types ---- */

/* The key of a made type. */
struct tail_layout {
	const struct object_layout *object; /* NULL: a slice */
	uint64_t count;
	int depth;
};

/* A type that was made before. */
struct wide_sized {
	const struct type *of, *object;
	uint64_t size, align; /* of the object; size is the count of a slice */
	const struct type *made;
};

static struct type *copy_type(const struct type *t)
{
	size_t n;
	struct type *ret = NEW(&t->dm->di->arena, struct type);

	type_name(t);
	type_params(t, &n);
	*ret = *t;
	ret->memo = (struct type_memo){ 0 };
	return ret;
}

static const struct type *make_array(const struct type *element, uint64_t count, enum tail tail)
{
	struct arena *a = &element->dm->di->arena;
	uint64_t size = type_size(element), align = type_align(element);
	struct type *ret;

	if (size && count > INT64_MAX / size)
		return NULL;
	ret = NEW(a, struct type);
	*ret = (struct type){ .dm = element->dm,
		              .place = type_die(element),
		              .die = type_die(element),
		              .target_die = type_die(element),
		              .size = size * count,
		              .count = count,
		              .kind = TYPE_ARRAY,
		              .align = (uint32_t)align,
		              .shell_read = true,
		              .shell_known = true,
		              .name_known = true,
		              .found = true };
	ret->tail_text = tail == TAIL_IS_STR     ? TAIL_STR
	                 : tail == TAIL_IS_BYTES ? TAIL_BYTES
	                                         : TAIL_ELEMENTS;
	ret->name = tail == TAIL_IS_STR ? "str" : arena_printf(a, "[%s]", type_name(element));
	return ret;
}

/* The object itself, or the type dyn T with the object's size. */
static const struct type *make_object(const struct type *t, const struct object_layout *object)
{
	if (object->type)
		return object->type;
	struct type *ret = copy_type(t);
	ret->size = object->size;
	ret->align = (uint32_t)object->align;
	return ret;
}

/*
 * Is it #[repr(packed)], whose tail is less aligned than the vtable says? Seen by a member that is
 * aligned less than its type.
 */
static bool is_packed(const struct type *t)
{
	size_t n;
	const struct member *members = type_members(t, &n);

	for (size_t i = 0; i < n; i++) {
		const struct type *m = members[i].type;
		uint64_t align = m ? type_align(m) : 1;

		if (m && (type_kind(m) < TYPE_ARRAY && type_size(m) <= MAX_SCALAR_ALIGN))
			align = type_size(m);
		if (align > type_align(t) || (align && members[i].offset % align))
			return true;
	}
	return false;
}

static const struct type *wide_make_sized(const struct type *t, const struct tail_layout *l,
                                          uint64_t *align);

static const struct type *make_tail(const struct member *last, enum tail tail,
                                    const struct tail_layout *l, uint64_t *align)
{
	struct tail_layout inner = *l;

	inner.depth++;
	*align = l->object ? l->object->align : 1;
	switch (tail) {
	case TAIL_DYN:
		return l->object ? make_object(last->type, l->object) : NULL;
	case TAIL_STRUCT:
		return wide_make_sized(last->type, &inner, align);
	case TAIL_SLICE:
	case TAIL_IS_STR:
	case TAIL_IS_BYTES:
		return l->object ? NULL : make_array(last->type, l->count, tail);
	default:
		return NULL;
	}
}

/* The kind of the last member of t, which has a tail. */
static enum tail tail_kind(const struct type *t, const struct member *last,
                           const struct tail_layout *l)
{
	if (!l->object)
		return find_tail(t, true, l->depth);
	return wide_is_dyn_name(type_name(last->type)) ? TAIL_DYN : TAIL_STRUCT;
}

/* *align: the alignment of the type that is returned. */
static const struct type *wide_make_sized(const struct type *t, const struct tail_layout *l,
                                          uint64_t *align)
{
	const struct member *last = last_member(t);
	uint64_t tail_align;
	size_t n;

	if (!last || l->depth == MAX_TAILS || (l->object && is_packed(t)))
		return NULL;
	enum tail kind = tail_kind(t, last, l);
	const struct type *tail = make_tail(last, kind, l, &tail_align);
	if (!tail)
		return NULL;
	struct type *ret = copy_type(t);
	struct type_details *d = NEW(&t->dm->di->arena, struct type_details);
	const struct member *members = type_members(t, &n);
	struct member *own = NEW_ARRAY(&t->dm->di->arena, struct member, n);
	*d = *t->details;
	memcpy(own, members, n * sizeof(*own));
	own[n - 1].type = tail;
	own[n - 1].offset = l->object ? wide_round_up(last->offset, tail_align) : last->offset;
	d->members = own;
	d->single_known = false;
	ret->details = d;
	*align = type_align(t) > tail_align ? type_align(t) : tail_align;
	ret->align = (uint32_t)*align;
	uint64_t end = own[n - 1].offset + (kind == TAIL_DYN ? l->object->size : tail->size);
	ret->size = wide_round_up(end, *align);
	return ret;
}

/* The entry of a type that is wanted; its `made` is NULL when it is new. NULL: there are too many.
 */
static struct wide_sized *find_sized(struct dwarf_module *dm, const struct wide_sized *want,
                                     bool *is_new)
{
	uint64_t key =
		map_key_of_pair(map_key_of_pair((uintptr_t)want->of, (uintptr_t)want->object),
	                        map_key_of_pair(want->size, want->align));
	struct wide_sized *known = map_get(&dm->types.sized, key);

	*is_new = !known || known->of != want->of || known->object != want->object ||
	          known->size != want->size || known->align != want->align;
	if (!*is_new)
		return known;
	if (dm->types.nsized >= MAX_SIZED)
		return NULL;
	dm->types.nsized++;
	known = NEW(&dm->di->arena, struct wide_sized);
	*known = *want;
	map_put(&dm->types.sized, key, known);
	return known;
}

static const struct type *sized(const struct type *t, const struct tail_layout *l)
{
	const struct object_layout *o = l->object;
	struct wide_sized want = { .of = t,
		                   .object = o ? o->type : NULL,
		                   .size = o ? o->size : l->count,
		                   .align = o ? o->align : 0 };
	uint64_t align;
	bool is_new;
	struct wide_sized *entry = find_sized(t->dm, &want, &is_new);

	if (entry && is_new)
		entry->made = wide_make_sized(t, l, &align);
	return entry ? entry->made : NULL;
}

const struct type *type_with_slice(const struct type *t, uint64_t count)
{
	struct tail_layout l = { .count = count };

	type_kind(t); /* completes it */
	return count > INT64_MAX ? NULL : sized(t, &l);
}

const struct type *type_with_object(const struct type *t, const struct object_layout *object)
{
	struct tail_layout l = { .object = object };

	type_kind(t); /* completes it */
	if (object->size > INT64_MAX || object->align == 0 || object->align > MAX_OBJECT_ALIGN ||
	    (object->align & (object->align - 1)))
		return NULL;
	return sized(t, &l);
}

const struct type *type_of_slice(const struct type *element, enum wide_kind kind, uint64_t count)
{
	/* Alignments of objects are at least 1: no entry of sized() is like it. */
	struct wide_sized want = { .of = element, .object = element, .size = count };
	bool is_new;

	want.align = kind == WIDE_STR ? 2 * (uint64_t)MAX_OBJECT_ALIGN : 0;
	struct wide_sized *entry = find_sized(element->dm, &want, &is_new);
	if (entry && is_new)
		entry->made =
			make_array(element, count, kind == WIDE_STR ? TAIL_IS_STR : TAIL_SLICE);
	return entry ? entry->made : NULL;
}

enum tail_text type_tail_text(const struct type *t)
{
	return type_kind(t) == TYPE_ARRAY ? t->tail_text : TAIL_ELEMENTS;
}
