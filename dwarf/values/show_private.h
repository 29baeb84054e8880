/* Shared by show.c, which prints the language's types, and show_std.c, which prints std's types. */
#ifndef DWARF_VALUES_SHOW_PRIVATE_H
#define DWARF_VALUES_SHOW_PRIVATE_H

#include "dwarf/values/show.h"
#include "dwarf/values/show_rows.h"

/* The state of one text under construction. */
struct show {
	struct target *target;
	struct debuginfo *di;
	struct show_cache *cache;
	struct str out;
	unsigned depth, values;
	bool full;                     /* "..." was written; nothing may follow */
	const struct secrets *secrets; /* names whose values are redacted; NULL: none */
	bool redacted;                 /* a value was redacted */
};

/*
 * Prints a value that replaces the current one: behind a pointer, inside a wrapper. The depth
 * stays.
 */
void show_behind(struct show *s, struct value v);

enum quoting {
	QUOTE_STR,   /* UTF-8: "..." */
	QUOTE_BYTES, /* as the crate bytes prints it: b"..." */
	QUOTE_C,     /* as a CStr: "..." with bytes escaped */
};
/* Prints len bytes at addr as a string literal; at most SHOW_STRING of them. */
struct error *show_quoted(struct show *s, uint64_t addr, uint64_t len, enum quoting how) MUST_CHECK;

/* show_inner() of a member; prints REDACTED if its name is secret. */
void show_named(struct show *s, const char *name, struct value v);
/*
 * show_inner() of a map's value; prints REDACTED if its key is secret. The text of the key is in
 * s->out, in [from, end).
 */
void show_keyed(struct show *s, size_t from, size_t end, struct value v);

/*
 * Call this before each element. Writes the separator, except before the first; false: the limit of
 * elements is reached.
 */
bool show_next(struct show *s, uint64_t index);
/* Prints count consecutive elements of one type. */
void show_elements(struct show *s, const struct type *element, uint64_t addr, uint64_t count);

/*
 * The place that expr leads to from v. expr must be a constant of the program, because its address
 * is the cache key. ERR_LAYOUT when the types do not have the path, ERR_CORRUPT when a null pointer
 * or another variant is on the way.
 */
struct error *show_place(struct target *t, struct show_cache *cache, struct value v,
                         const char *expr, struct value *ret) MUST_CHECK;
struct error *show_uint(struct target *t, struct show_cache *cache, struct value v,
                        const char *expr, uint64_t *ret) MUST_CHECK;

/* The target of a pointer for which type_is_slice() is true. */
struct fat {
	const struct type *element; /* NULL: unknown */
	uint64_t addr, count;
	bool is_text; /* a str */
};
struct error *show_read_fat(struct target *t, struct value v, struct fat *ret) MUST_CHECK;

/* ---- show_std.c ---- */

struct std_row;
typedef struct error *std_fn(struct show *s, struct value v, const struct std_row *row);

struct std_row {
	const char *type,
		/*
	         * Last component of the type's path without generics, and a namespace that precedes
	         * it.
	         */
		*within;
	std_fn *show;
	const char *expr[3]; /* paths; the row's function defines their meaning */
};

/*
 * Does t match? type: last component of its path without generics; within: a namespace before it.
 */
bool show_is(const struct type *t, const char *type, const char *within);

/*
 * The target of a pointer inside single-member structs. A wide pointer to a slice or str is
 * returned itself, and one to an object whose type is unknown.
 */
struct error *show_follow(struct target *t, struct value v, struct value *ret) MUST_CHECK;

/*
 * Prints v if it is one of std's types; *done: it is. ERR_LAYOUT: its members are unknown; nothing
 * was written.
 */
struct error *show_std(struct show *s, struct value v, bool *done) MUST_CHECK;

/* ---- functions of rows: show_collections.c, show_net.c, show_time.c, show_sync.c ---- */

std_fn show_string, show_vec, show_deque, show_hash_map, show_hash_set, show_btree_map,
	show_btree_set, show_linked_list;
std_fn show_duration, show_instant, show_system_time;
std_fn show_once, show_once_lock, show_std_lock, show_once_cell, show_lazy_cell, show_mpsc,
	show_thread_handle, show_weak;
std_fn show_v4, show_v6, show_socket_v4, show_socket_v6;

#endif
