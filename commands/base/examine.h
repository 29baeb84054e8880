/* Memory that the command x showed last, and where it continues. */
#ifndef COMMANDS_BASE_EXAMINE_H
#define COMMANDS_BASE_EXAMINE_H

#include <stdbool.h>

#include "dwarf/code/memory_dump.h"

struct memory_dump;

struct examined {
	struct memory_format format; /* letter 0: none yet */
	bool has_next;
	uint64_t next; /* the address behind the last unit that was shown */
};

/* Memory to show. */
struct examine_shown {
	const struct memory_dump *dump;
	const struct memory_format *format;
	const char *symbol; /* of the first unit's address; NULL: none */
};

#endif
