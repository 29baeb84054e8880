/* The index of poll functions by symbols: built by poll_index.c, searched by poll_symbols.c. */
#ifndef DWARF_MODULE_POLL_INDEX_H
#define DWARF_MODULE_POLL_INDEX_H

#include <ctype.h>

#include "dwarf/module/debuginfo.h"

/* Kinds of keys of entries. A symbol may have several entries. */
enum entry_kind {
	ENTRY_PATH,       /* of poll() or poll_next(): the path of its type, "app..Foo" */
	ENTRY_IDENTIFIER, /* of one whose type has no plain path: each identifier in its name */
	ENTRY_CLOSURE,    /* of a closure or a coroutine's poll function: the function's name */
};

enum { NO_ENTRY = UINT32_MAX, SYMBOL_BITS = 27 };

/* An entry: a function, by the hash of a name in its symbol. */
struct poll_symbol {
	uint64_t key, pc;
	uint32_t next;                 /* entry of the same bucket */
	uint32_t symbol : SYMBOL_BITS; /* in .symtab */
	uint32_t kind : 2, form : 2;
	uint32_t stream : 1; /* of poll_next(), not of poll() */
};

typedef VEC(struct poll_symbol) entry_vec;

/* The index of a module, built on first use. */
struct poll_index {
	entry_vec entries;
	uint32_t *buckets, mask;
	address_vec trivial; /* instances of IntoFuture::into_future() */
	/* Addresses of entries with more than one symbol: see poll_symbols_is_folded(). */
	address_vec folded;
	bool folded_read;
	bool skipped; /* a name was too long to be indexed */
};

/* Values of a module's poll_units that are no unit index plus one. */
enum { NOT_LOOKED = 0, NO_UNIT = UINT32_MAX };

static inline bool is_identifier(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/*
 * Returns the module's index, built on first use; NULL when there is no symbol table. Its entries
 * do not change.
 */
struct poll_index *poll_index_read(struct dwarf_module *dm);

#endif
