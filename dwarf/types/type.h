/*
 * Rust types as DWARF describes them. A type is read on first use, cached by its DIE and immutable
 * afterwards. All types live as long as the debuginfo. Accessors read lazily and never fail: what
 * the DWARF lacks is returned as absent (0, NULL).
 */
#ifndef DWARF_TYPES_TYPE_H
#define DWARF_TYPES_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf/module/debuginfo.h"

enum type_kind {
	TYPE_OPAQUE, /* nothing usable: no type, or a declaration that no unit completes */
	TYPE_BOOL,
	TYPE_CHAR,
	TYPE_INT,
	TYPE_UINT,
	TYPE_FLOAT,
	TYPE_POINTER, /* references, raw pointers, and Box<T> of sized T */
	TYPE_ARRAY,
	TYPE_STRUCT, /* tuples, closures and fat pointers too */
	TYPE_ENUM,   /* with a variant part: Rust enums with data, and coroutines */
	TYPE_CENUM,  /* enumerators only */
	TYPE_UNION,
	TYPE_FUNCTION,
};

struct type;

struct member {
	const char *name; /* as in DWARF: "head", "__0" */
	const struct type *type;
	uint64_t offset;
	bool restricted; /* only the crate of the type may access it: DW_AT_accessibility */
};

struct variant {
	const char *name;           /* "Some", "Suspend0" */
	uint64_t discr;             /* masked to the discriminant's size */
	const struct type *payload; /* a struct at offset in the enum */
	uint64_t offset;
	const char *file; /* full path, of a coroutine's await point; NULL none */
	unsigned line;    /* there */
	bool is_default;  /* the dataful variant of a niche: matches any other discriminant */
};

struct enumerator {
	const char *name;
	uint64_t value;
};

struct type_param {
	const char *name; /* "T" */
	const struct type *type;
};

/* The type whose DIE is at this offset; NULL for die 0. */
const struct type *type_at(struct dwarf_module *dm, uint64_t die);

enum type_kind type_kind(const struct type *t);
/* Qualified: "core::option::Option<u64>". Never NULL; "?" when it has none. */
const char *type_name(const struct type *t);
uint64_t type_size(const struct type *t);
/* DW_AT_alignment; 1 when absent. */
uint64_t type_align(const struct type *t);
/* Pointee of a pointer, element of an array, underlying type of a CENUM; NULL otherwise. */
const struct type *type_target(const struct type *t);
/* Elements of an array. */
uint64_t type_count(const struct type *t);

const struct member *type_members(const struct type *t, size_t *n);
const struct member *type_member(const struct type *t, const char *name);
/*
 * The member of an ENUM that holds the discriminant. Its type is never NULL. NULL when there is a
 * single variant, and when the debug info is broken: the type has no variants then.
 */
const struct member *type_discr(const struct type *t);
const struct variant *type_variants(const struct type *t, size_t *n);
const struct variant *type_variant(const struct type *t, const char *name);
const struct enumerator *type_enumerators(const struct type *t, size_t *n);
const struct type *type_param(const struct type *t, const char *name);
const struct type_param *type_params(const struct type *t, size_t *n);

/* A compiler-made future: an enum whose discriminant is the artificial `__state`. */
bool type_is_coroutine(const struct type *t);
/* A wide pointer to a slice or a str: members `data_ptr` and `length`. See wide.h. */
bool type_is_slice(const struct type *t);
/* A wide pointer to a trait object itself: members `pointer` and `vtable`. */
bool type_is_dyn(const struct type *t);
/* Does the name, cut at its first '<', equal path ("tokio::time::sleep::Sleep")? */
bool type_is(const struct type *t, const char *path);

/* Compilation directory of a type's unit, of a coroutine only; NULL unknown. */
const char *type_comp_dir(const struct type *t);

struct dwarf_module *type_module(const struct type *t);
uint64_t type_die(const struct type *t);

/*
 * Results that were computed once for a type, so that decoding a value compares no names again. All
 * zero at first; it lives as long as the type. Call type_kind() before: it completes a declaration
 * and takes over the memo of the complete type.
 */
struct type_memo {
	void *above;            /* owned by the layer above */
	uint32_t scalar_offset; /* value.c: the only scalar in the type */
	uint8_t scalar_size;    /* 0: there is none, or it was not computed yet */
	/* lookup_cached.c: lookup_polled_as() */
	unsigned char polled_as : 2;
	bool poll_known : 1;
	bool poll_queried : 1;  /* queried while records were stored */
	bool poll_recorded : 1; /* already written to the records */
};
struct type_memo *type_memo(const struct type *t);

/*
 * Writes records of the types that were queried so far; until then only the types themselves hold
 * the results. whole: also reads and writes what a reader may query of each type that was seen.
 * Call it before the records are saved or copied.
 */
void types_flush(struct dwarf_module *dm, bool whole);

/*
 * The key of RECORD_HAS_POLL. The search starts near the type, so that the result may differ for a
 * DIE of another unit. 0 with a layout file, in which equal types are merged.
 */
uint64_t type_poll_key(const struct type *t);

/* The only member that has a size, when there is exactly one; NULL otherwise. */
const struct member *type_single_member(const struct type *t);

#endif
