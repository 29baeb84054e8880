/* The symbol table of a module's file, mapped from it and read without its names. */
#ifndef DWARF_MODULE_SYMTAB_H
#define DWARF_MODULE_SYMTAB_H

#include <elf.h>

#include "dwarf/module/debuginfo.h"

enum { SYMTAB_AHEAD = 3072 /* bytes of symbols to prefetch with read_ahead() */ };

/* .symtab of the file itself, or else of its debug file. */
struct symtab symtab_of(struct dwarf_module *dm);
/* A symbol's name, NULL when it has none. */
const char *symtab_name(const struct symtab *t, const Elf64_Sym *sym);
/*
 * The link-time address of the variable with that demangled name and that size; 0: no symbol, or
 * symbols at different addresses. Reads all symbols.
 */
uint64_t symtab_variable(struct dwarf_module *dm, const char *name, uint64_t size);

/* Results of a pass over the symbols that reads no names. */
struct symtab_totals {
	struct symtab t;
	struct symtab_extent *extents; /* of each SYMTAB_BLOCK symbols */
	VEC(const Elf64_Sym *) thread_locals;
};
/* The function whose size covers a link-time address; NULL none. Cached by address. */
const char *symtab_function_at(struct dwarf_module *dm, uint64_t pc);

/*
 * Calls visit with each function that has a symbol, in the order of the table. name: as in the
 * file, mangled; addr: link-time. Several symbols may have one address.
 */
typedef void symtab_function_fn(const char *name, uint64_t addr, uint64_t size, void *arg);
void symtab_each_function(struct dwarf_module *dm, symtab_function_fn *visit, void *arg);
/* Calls visit with the functions whose symbols are at a link-time address; reads no other names. */
void symtab_each_function_at(struct dwarf_module *dm, uint64_t addr, symtab_function_fn *visit,
                             void *arg);
/*
 * The link-time address of a function whose name is the wanted one; 0: there is none. Symbols that
 * other objects may use stand last (ELF, sh_info of SHT_SYMTAB): they are searched first.
 */
typedef bool symtab_name_fn(const char *name);
uint64_t symtab_function(struct dwarf_module *dm, symtab_name_fn *is_wanted);

/* Frees the data read from the symbols; it can be read again. */
void poll_index_forget(struct dwarf_module *dm);

/* The functions below need all names of a symbol table, which poll_index.c reads on first use. */

/* A function with a symbol: its unit, its link-time address, and the symbol's number. */
struct poll_place {
	struct unit *u;
	uint64_t pc;
	uint32_t symbol;
};
/* The name of the function's symbol, NULL where it has none. */
const char *poll_symbols_place_name(struct dwarf_module *dm, const struct poll_place *at);

/*
 * Calls visit with each function `poll` of the Future trait whose symbol matches the given type: by
 * the path, or by the last identifier if one of the two is no plain path. Generics are not
 * compared, since symbols have none. A unit may be visited repeatedly. False when there is no
 * symbol table.
 */
typedef void symtab_poll_fn(const struct poll_place *at, void *arg);
bool poll_symbols_each_poll(struct dwarf_module *dm, const char *type_name, symtab_poll_fn *visit,
                            void *arg);
/*
 * Calls visit with each closure and coroutine's poll function in functions of that name ("recv").
 */
bool poll_symbols_each_closure(struct dwarf_module *dm, const char *function, symtab_poll_fn *visit,
                               void *arg);

/*
 * Evidence of the symbols alone about a type: whether its path has an impl of Future, or of Stream
 * (how: enum polled_as, one bit).
 */
enum poll_symbols_poll {
	SYMTAB_POLL_UNKNOWN, /* unknown, or the impl is for some instances */
	SYMTAB_POLL_NONE,    /* no symbol of a poll function matches */
	SYMTAB_POLL_OPEN,    /* for arguments that satisfy bounds, which symbols lack */
	SYMTAB_POLL_ALL,     /* it has no generic arguments: it is polled */
};
enum poll_symbols_poll poll_symbols_poll(struct dwarf_module *dm, const char *type_name,
                                         unsigned how);

/*
 * Was the unit's crate built without an inliner (opt-level 0)? Then every function that is called
 * has code and a symbol of its own. The evidence is an instance of core's IntoFuture::into_future()
 * in the crate's own code: it exists only if nothing is inlined. False when there is no evidence.
 */
bool poll_symbols_is_unoptimised(struct dwarf_module *dm, const struct unit *u);
/*
 * Has the linker folded functions of equal code (--icf) into one of the unit's crate? The evidence
 * is an address with the symbols of two poll functions or closures.
 */
bool poll_symbols_is_folded(struct dwarf_module *dm, const struct unit *u);

#endif
