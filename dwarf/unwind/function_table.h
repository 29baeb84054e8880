/*
 * The functions of a file by the table that unwinds its stack (.eh_frame), which stripping leaves
 * in place: where each begins and ends, without its name.
 */
#ifndef DWARF_UNWIND_FUNCTION_TABLE_H
#define DWARF_UNWIND_FUNCTION_TABLE_H

#include <libelf.h>
#include <stdint.h>

/*
 * Calls visit with the link-time range of each entry, in the order of the table. Entries that have
 * addresses in another form than compilers for x86-64 write (4 bytes, relative to themselves) are
 * left out. The table may be hostile.
 */
typedef void function_table_fn(uint64_t low, uint64_t high, void *arg);
void function_table_each(Elf *elf, function_table_fn *visit, void *arg);

#endif
