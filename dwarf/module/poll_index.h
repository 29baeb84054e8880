/* Inside of poll_index.c, which makes it, and poll_symbols.c, which asks it. */
#ifndef DWARF_MODULE_POLL_INDEX_H
#define DWARF_MODULE_POLL_INDEX_H

#include <ctype.h>

#include "dwarf/module/debuginfo.h"

/* What a symbol is entered for. Several entries may be of one symbol. */
enum entry_kind {
	ENTRY_PATH,       /* a poll function; the path of the type, "app..Foo" */
	ENTRY_IDENTIFIER, /* one of an unknown path: any identifier in its name */
	ENTRY_CLOSURE,    /* a closure, or poll function of a coroutine: the function's name */
};

enum { NO_ENTRY = UINT32_MAX, SYMBOL_BITS = 28 };

/* A function whose symbol has a name, by the name's hash. */
struct poll_symbol {
	uint64_t key, pc;
	uint32_t next;                 /* entry of the same bucket */
	uint32_t symbol : SYMBOL_BITS; /* in .symtab */
	uint32_t kind : 2, form : 2;
};

typedef VEC(struct poll_symbol) entry_vec;

/* Of a module: made when somebody asks first. */
struct poll_index {
	entry_vec entries;
	uint32_t *buckets, mask;
	address_vec trivial;
	bool skipped; /* a name */
};

/* Values of a module's poll_units: what is no unit's index plus one. */
enum { NOT_LOOKED = 0, NO_UNIT = UINT32_MAX };

static inline bool is_identifier(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Reads the symbols if nobody has; NULL when there is no symbol table. The entries stay. */
struct poll_index *poll_index_read(struct dwarf_module *dm);

#endif
