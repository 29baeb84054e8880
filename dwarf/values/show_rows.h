/*
 * Types that only the layer above knows and whose text is not that of their members: tables of rows
 * that it registers with a cache (show_register()), and what the functions of rows may call.
 */
#ifndef DWARF_VALUES_SHOW_ROWS_H
#define DWARF_VALUES_SHOW_ROWS_H

#include "dwarf/values/show.h"

enum show_how {
	SHOW_MEMBER,  /* as the place at expr[0] */
	SHOW_POINTEE, /* as what the pointer at expr[0] points at */
	SHOW_SOCKET,  /* its file descriptor is at expr[0] */
	SHOW_OWN,     /* as the row's function prints it */
};

struct show;
struct show_row;

/*
 * Prints v, a value of the row's type, with show_put() and the like. The bytes of v may be those of
 * another, former value: check what is read. ERR_LAYOUT before anything is printed: v is then
 * printed as any other struct.
 */
typedef struct error *show_fn(struct show *s, struct value v, const struct show_row *row);

struct show_row {
	/* Last component of the type's path without generics; what its name begins with. */
	const char *type, *within;
	enum show_how how;
	const char *expr[2]; /* paths: constants of the program, since their addresses are keys */
	show_fn *show;       /* of SHOW_OWN, which defines the meaning of expr */
};

/* rows end with a zeroed one and must outlive the cache. */
void show_register(struct show_cache *cache, const struct show_row *rows);

/* ---- for functions of rows ---- */

struct target *show_target(const struct show *s);
/*
 * A number for the object at addr, such as the length of a list that many values share. It is kept
 * as long as the target's memory is known to be the same. False: there is none.
 */
bool show_count_get(struct show *s, uint64_t addr, uint64_t *ret);
void show_count_put(struct show *s, uint64_t addr, uint64_t count);
/* show_cache.context */
void *show_context(const struct show *s);

/* Append text. Both do nothing when the text is full. */
void show_put(struct show *s, const char *text);
void show_printf(struct show *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints a value inside the current one. */
void show_inner(struct show *s, struct value v);
/* Prints the type's name in braces, where there is no other text. */
void show_type(struct show *s, const struct type *t);
/* Prints the last component of the type's path, without generics. */
void show_type_last(struct show *s, const struct type *t);

/*
 * The place that expr leads to from v. ERR_LAYOUT when the types do not have the path, ERR_CORRUPT
 * when a null pointer or another variant is on the way.
 */
struct error *show_row_place(struct show *s, struct value v, const char *expr, struct value *ret)
	MUST_CHECK;
struct error *show_row_number(struct show *s, struct value v, const char *expr, uint64_t *ret)
	MUST_CHECK;
/* show_row_number(), or 0 where the number is absent. */
uint64_t show_row_number_or_0(struct show *s, struct value v, const char *expr);
/* Does the path lead anywhere from v? */
bool show_row_leads(struct show *s, struct value v, const char *expr);

#endif
