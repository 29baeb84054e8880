/* Between show.c, which knows the language, and show_std.c, which knows std's types. */
#ifndef DWARF_VALUES_SHOW_PRIVATE_H
#define DWARF_VALUES_SHOW_PRIVATE_H

#include "dwarf/values/show.h"

/* One text in the making. */
struct show {
	struct target *target;
	struct debuginfo *di;
	struct show_cache *cache;
	struct str out;
	unsigned depth, values;
	bool full;                     /* "..." was written, nothing follows */
	const struct secrets *secrets; /* names whose values are not shown; NULL: all are */
	bool redacted;                 /* one was not */
};

/* Each ignores its text once the text is full. */
void show_put(struct show *s, const char *text);
void show_printf(struct show *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A value within the one at hand. */
void show_inner(struct show *s, struct value v);
/* The same where it takes the place of the one at hand: behind a pointer, within a wrapper. */
void show_behind(struct show *s, struct value v);
/* The place of the type's name where there is nothing else to show. */
void show_type(struct show *s, const struct type *t);

enum quoting {
	QUOTE_STR,   /* UTF-8: "..." */
	QUOTE_BYTES, /* as crate bytes does: b"..." */
	QUOTE_C,     /* as a CStr: "..." with bytes escaped */
};
/* len bytes at addr as a string literal; at most SHOW_STRING of them. */
struct error *show_quoted(struct show *s, uint64_t addr, uint64_t len, enum quoting how) MUST_CHECK;

/* show_inner(), but of a member whose name is secret REDACTED. */
void show_named(struct show *s, const char *name, struct value v);
/*
 * show_inner(), but REDACTED where the text of its key is secret: s->out has that in [from, end).
 */
void show_keyed(struct show *s, size_t from, size_t end, struct value v);

/* Between elements, before each but the first; false: enough of them were shown. */
bool show_next(struct show *s, uint64_t index);
/* count elements of one type behind each other. */
void show_elements(struct show *s, const struct type *element, uint64_t addr, uint64_t count);

/*
 * The place at a path from v; expr is a constant of the program: its address is the key of the
 * cache. ERR_LAYOUT when the types do not have it, ERR_CORRUPT when a pointer or variant on the
 * way leads elsewhere.
 */
struct error *show_place(struct target *t, struct show_cache *cache, struct value v,
                         const char *expr, struct value *ret) MUST_CHECK;
struct error *show_uint(struct target *t, struct show_cache *cache, struct value v,
                        const char *expr, uint64_t *ret) MUST_CHECK;

/* What a type_is_slice() points at. */
struct fat {
	const struct type *element; /* NULL: a str or what is like it */
	uint64_t addr, count;
	bool is_text;  /* str, Path, OsStr, CStr */
	bool with_nul; /* CStr: count includes it */
};
struct error *show_read_fat(struct target *t, struct value v, struct fat *ret) MUST_CHECK;
/* The concrete value behind a trait object; *found false: no debug info says what it is. */
struct error *show_read_dyn(struct target *t, struct debuginfo *di, struct value v,
                            struct value *ret, bool *found) MUST_CHECK;

/* ---- show_std.c ---- */

struct std_row;
typedef struct error *std_fn(struct show *s, struct value v, const struct std_row *row);

struct std_row {
	const char *type,
		*within; /* last component of the type's path, and a namespace before it */
	std_fn *show;
	const char *expr[3]; /* what it is for, its function says */
};

/* Is t of that type? type: last component of its path, generics cut; within: a namespace before. */
bool show_is(const struct type *t, const char *type, const char *within);

/* What a pointer below single-member structs points at; a fat one is its own place. */
struct error *show_follow(struct target *t, struct value v, struct value *ret) MUST_CHECK;
/* show_place() and show_uint() for a row's function. */
struct error *show_row_place(struct show *s, struct value v, const char *expr, struct value *ret)
	MUST_CHECK;
struct error *show_row_number(struct show *s, struct value v, const char *expr, uint64_t *ret)
	MUST_CHECK;
/* The same where it may be absent, with 0 instead. */
uint64_t show_row_number_or_0(struct show *s, struct value v, const char *expr);

/*
 * Shows v when it is of one of std's types. ERR_LAYOUT: its members are not those that are known;
 * nothing was written.
 */
struct error *show_std(struct show *s, struct value v, bool *done) MUST_CHECK;

/* ---- show_collections.c, show_net.c: functions of rows ---- */

std_fn show_string, show_vec, show_deque, show_hash_map, show_hash_set, show_btree_map,
	show_btree_set;
std_fn show_v4, show_v6, show_socket_v4, show_socket_v6;

#endif
