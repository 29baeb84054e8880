/* The section and the symbol of an address, from the module's ELF file. */
#ifndef DWARF_MODULE_SYMBOLS_H
#define DWARF_MODULE_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "dwarf/module/debuginfo.h"

/* Section and symbol of an address. All texts are in the arena; NULL where there is none. */
struct symbol_place {
	const char *section; /* ".text" */
	const char *name;    /* demangled, of a symbol whose size covers the address */
	uint64_t offset;     /* from the symbol's start */
	uint64_t size;       /* of the symbol; 0: there is none */
};

/* False when no module with a file covers the run-time address. */
bool symbol_at(struct debuginfo *di, uint64_t addr, struct arena *a, struct symbol_place *ret);
/* The thread-local at an offset of the module's TLS block; NULL when no symbol covers it. */
const char *symbol_thread_local(struct debuginfo *di, const struct module *m, uint64_t offset,
                                struct arena *a);

#endif
