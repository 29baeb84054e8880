/*
 * Which units may hold the poll function of a future. A small crate is looked through whole. In
 * one of megabytes the search goes from near to far, and ends when it is answered: the type's own
 * unit, what was scanned before, the units of the same object file, those where the symbol table
 * has such a function, and what the poll functions of the last contexts have inlined.
 */
#ifndef DWARF_LOOKUP_POLL_UNITS_H
#define DWARF_LOOKUP_POLL_UNITS_H

#include "dwarf/module/debuginfo.h"

struct poll_question {
	struct dwarf_module *dm;
	struct unit *here;    /* the unit of the type */
	const char *name;     /* of the type, qualified */
	const char *function; /* around a coroutine; NULL: of any other type */
	bool plain;           /* hardly a future: units where it may be inlined are not worth it */
	uint64_t key;
	bool (*answered)(const struct poll_question *q);
};

/* Reads units (polled_read()) until the question is answered, or nobody can answer it. */
void poll_units_ask(const struct poll_question *q);

/* Has the crate of the question so many units left that not all are looked through? */
bool poll_units_is_large(const struct poll_question *q);

/* The function around a coroutine: "recv" of "recv::{async_fn_env#0}", NULL none. */
const char *poll_units_function(const struct type *coroutine, struct arena *a);

/* Do two units come from one crate? */
bool poll_units_same_crate(const struct unit *a, const struct unit *b);

#endif
