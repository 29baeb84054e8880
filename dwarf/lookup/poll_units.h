/*
 * Decides which units are searched for the poll function of a future. A small crate is searched
 * whole. In a crate with megabytes of debug info the search goes from near to far and ends at the
 * first result: the type's own unit, units that are scanned already, units of the same object file,
 * units where the symbol table has such a function, functions inlined into the poll functions of
 * the last contexts (lookup_context()), and units anywhere that mention Pin<&mut T> (pin_refs.h).
 */
#ifndef DWARF_LOOKUP_POLL_UNITS_H
#define DWARF_LOOKUP_POLL_UNITS_H

#include "dwarf/module/debuginfo.h"

struct poll_question {
	struct dwarf_module *dm;
	struct unit *here;    /* the unit of the type */
	const char *name;     /* of the type, qualified */
	const char *function; /* the function that a coroutine belongs to; NULL: not a coroutine */
	bool plain; /* unlikely to be a future: units that may only inline its poll are skipped */
	uint64_t key;
	bool (*answered)(const struct poll_question *q);
};

/* Reads units (poll_fn_read()) until the query is answered or no unit is left to read. */
void poll_units_ask(const struct poll_question *q);

/* Has the crate so much debug info that it is not searched whole? */
bool poll_units_is_large(const struct poll_question *q);

/* The function that a coroutine belongs to: "recv" of "recv::{async_fn_env#0}"; NULL: none. */
const char *poll_units_function(const struct type *coroutine, struct arena *a);

/* Do two units belong to the same crate? */
bool poll_units_same_crate(const struct unit *a, const struct unit *b);

#endif
