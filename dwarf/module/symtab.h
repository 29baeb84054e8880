/* The symbol table of a module's file as it lies there, read without looking at names. */
#ifndef DWARF_MODULE_SYMTAB_H
#define DWARF_MODULE_SYMTAB_H

#include <elf.h>

#include "dwarf/module/debuginfo.h"

enum { SYMTAB_AHEAD = 3072 /* bytes of symbols that read_ahead() is asked for */ };

/* .symtab of the file itself, else of its debug file. */
struct symtab symtab_of(struct dwarf_module *dm);
/* A symbol's name, NULL when it has none. */
const char *symtab_name(const struct symtab *t, const Elf64_Sym *sym);

/* What is found without looking at names, in one pass. */
struct symtab_survey {
	struct symtab t;
	struct symtab_extent *extents; /* of each SYMTAB_BLOCK symbols */
	VEC(const Elf64_Sym *) thread_locals;
};
/* The function whose size covers a link-time address; NULL none. Remembered by address. */
const char *symtab_function_at(struct dwarf_module *dm, uint64_t pc);

/* Frees what was read of the symbols; it may be read again. */
void poll_index_forget(struct dwarf_module *dm);

/* What follows is told by all names of a symbol table, which poll_index.c reads when asked. */

/* A function with a symbol: its unit, its link-time address, and the symbol's number. */
struct poll_place {
	struct unit *u;
	uint64_t pc;
	uint32_t symbol;
};
/* Its symbol's name, NULL where it has none. */
const char *poll_symbols_place_name(struct dwarf_module *dm, const struct poll_place *at);

/*
 * Calls visit with each function `poll` of the Future trait whose symbol names a type as the given
 * one: the same path, or where one of the two is no plain path, the last identifier. Generics are
 * not compared, since symbols have none. A unit may come again. False when there is no symbol
 * table to ask.
 */
typedef void symtab_poll_fn(const struct poll_place *at, void *arg);
bool poll_symbols_each_poll(struct dwarf_module *dm, const char *type_name, symtab_poll_fn *visit,
                            void *arg);
/* The same for closures, and poll functions of coroutines, in functions of that name ("recv"). */
bool poll_symbols_each_closure(struct dwarf_module *dm, const char *function, symtab_poll_fn *visit,
                               void *arg);

/* What the symbols alone say of a type: whether some impl of Future is for its path. */
enum poll_symbols_poll {
	SYMTAB_POLL_UNKNOWN, /* they cannot tell, or the impl is for some instances */
	SYMTAB_POLL_NONE,    /* no poll function is called by its symbol */
	SYMTAB_POLL_OPEN, /* for all arguments that satisfy the impl's bounds, which no symbol has
	                   */
	SYMTAB_POLL_ALL,  /* it has no arguments: a future */
};
enum poll_symbols_poll poll_symbols_poll(struct dwarf_module *dm, const char *type_name);

/*
 * Was the unit's crate built without an inliner (opt-level 0)? Then a function that is called has
 * code and a symbol of its own. Told by core's IntoFuture::into_future() of a future: it stands in
 * the crate's own code only where nothing at all is inlined. False when nothing tells.
 */
bool poll_symbols_is_unoptimised(struct dwarf_module *dm, const struct unit *u);

#endif
