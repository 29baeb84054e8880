/* What the command x has shown last, from where it goes on. */
#ifndef COMMANDS_BASE_EXAMINE_H
#define COMMANDS_BASE_EXAMINE_H

#include <stdbool.h>

#include "dwarf/code/memory_format.h"

struct memory_dump;

struct examined {
	struct memory_format format; /* letter 0: none yet */
	bool has_next;
	uint64_t next; /* behind the last unit that was shown */
};

/* What it shows. */
struct examine_shown {
	const struct memory_dump *dump;
	const struct memory_format *format;
	const char *symbol; /* of the first unit's address; NULL: none */
};

#endif
