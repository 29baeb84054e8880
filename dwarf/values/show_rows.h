/*
 * Types that only the layer above knows and whose text is not that of their members: tables of rows
 * that it registers with a cache (show_register()).
 */
#ifndef DWARF_VALUES_SHOW_ROWS_H
#define DWARF_VALUES_SHOW_ROWS_H

#include "dwarf/values/show.h"

enum show_how {
	SHOW_MEMBER,  /* as the place at expr[0] */
	SHOW_POINTEE, /* as what the pointer at expr[0] points at */
	SHOW_LOCK, /* what it holds is at expr[0]; locked unless the number at expr[1] exceeds 1 */
	SHOW_SOCKET, /* its file descriptor is at expr[0] */
	SHOW_NAME,   /* as its type's name alone */
};

struct show_row {
	/* Last component of the type's path without generics; what its name begins with. */
	const char *type, *within;
	enum show_how how;
	const char *expr[2]; /* paths: constants of the program, since their addresses are keys */
};

/* rows end with a zeroed one and must outlive the cache. */
void show_register(struct show_cache *cache, const struct show_row *rows);

#endif
