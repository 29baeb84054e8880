/* Memory of a program as text, unit by unit, in the formats of gdb's command x. */
#ifndef DWARF_CODE_MEMORY_DUMP_H
#define DWARF_CODE_MEMORY_DUMP_H

#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"

struct debuginfo;

enum {
	MEMORY_MAX_UNITS = 1 << 16,
	MEMORY_MAX_TEXT = 200, /* bytes of a string that are shown */
};

/* Units of memory: their number and size, and how they are written. */
struct memory_format {
	uint64_t count; /* units; at most MEMORY_MAX_UNITS */
	/*
	 * x hexadecimal, d signed, u unsigned, o octal, t binary, c character, f floating-point, a
	 * address with its symbol, s string, i instruction.
	 */
	char letter;
	unsigned size; /* bytes of a unit: 1, 2, 4 or 8; of strings and instructions meaningless */
};

struct memory_unit {
	uint64_t addr;
	const char *text;   /* clean */
	const char *symbol; /* of format a: of the value; of i: of what it names; NULL: none */
};

struct memory_dump {
	struct memory_unit *units;
	size_t n;
	uint64_t end;        /* behind the last unit */
	const char *problem; /* why there are fewer units than asked for; NULL: there are not */
};

/*
 * Reads the text of a format, as "8xb", "s", "16" or "", in any order of its letters; what it
 * leaves out stays as *ret has it. Letters a and f without a size mean units of 8 bytes, c of 1.
 * ERR_USAGE: it is none.
 */
struct error *memory_format_read(const char *text, struct memory_format *ret) MUST_CHECK;

/*
 * Reads memory as it is now. Memory that is not there ends the units; ERR_FAULT where there is not
 * one. ERR_UNSUPPORTED as instruction_reader_open(). All is in arena a.
 */
struct error *memory_dump_read(struct debuginfo *di, uint64_t addr,
                               const struct memory_format *format, struct arena *a,
                               struct memory_dump *ret) MUST_CHECK;

#endif
