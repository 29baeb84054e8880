/*
 * Strings of a trace that are written once and referred to by a number. The table is bounded: when
 * it is full, its owner clears it, and numbers start again.
 */
#ifndef COMMANDS_PERFETTO_INTERNED_H
#define COMMANDS_PERFETTO_INTERNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/map.h"

enum {
	INTERNED_MAX = 1 << 15,       /* strings */
	INTERNED_MAX_BYTES = 8 << 20, /* bytes of all strings */
	INTERNED_MAX_TEXT = 4096      /* bytes of one, as it is written; longer ones are cut */
};

/* Kinds of strings. A text of two kinds has two numbers. */
enum interned_kind { INTERNED_NAME, INTERNED_KEY, INTERNED_TEXT, INTERNED_KINDS };

struct interned {
	enum interned_kind kind;
	uint64_t id;       /* from 1 on */
	const char *given; /* the text as it was passed in */
	const char *text;  /* sanitised and cut */
};

struct interned_table {
	struct map map;
	struct arena arena;
	uint64_t last;
};

bool interned_is_full(const struct interned_table *t);
/* Removes all strings and keeps the memory for others. */
void interned_clear(struct interned_table *t);
void interned_free(struct interned_table *t);

/*
 * The entry of a text, which lives until interned_clear(); *is_new: it was not there. NULL: it
 * cannot have one, because another text has its hash or it is very long.
 */
const struct interned *interned_find(struct interned_table *t, enum interned_kind kind,
                                     const char *text, bool *is_new);

/* Sanitised and cut, for a text without an entry; in arena a. */
const char *interned_clean(struct arena *a, const char *text);

#endif
