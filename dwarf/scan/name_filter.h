/*
 * Tells without a scan which units have no DIE of a name: a name is an offset in a section of
 * strings, and a unit in whose bytes the offset does not occur has no such DIE. Looking for few
 * offsets in bytes takes a fraction of the time of a scan.
 */
#ifndef DWARF_SCAN_NAME_FILTER_H
#define DWARF_SCAN_NAME_FILTER_H

#include "dwarf/scan/scan.h"

enum { NAME_FILTER_MAX = 16 /* offsets that are looked for */ };

/* Initialise with name_filter_open(). It owns nothing. */
struct name_filter {
	const struct dwarf_sections *s;
	const char *base;
	uint32_t offsets[NAME_FILTER_MAX]; /* of strings with that base, their low 4 bytes */
	size_t n;
	bool all;                 /* there are more: each unit may have the name */
	const struct unit *forms; /* the unit whose abbreviations were read last; NULL: none */
	bool has_text, has_other; /* forms of names in them, besides offsets */
};

/* Receives the bytes that were read and are not needed any more, in any thread. */
struct name_filter_watcher {
	void (*done)(const uint8_t *data, size_t size, void *arg);
	void *arg;
};
/*
 * base: a component of a path without its generics, as "serve"; "" is in each unit. Reads all
 * strings, in several threads. watcher may be NULL; the others must live as long as the filter.
 */
void name_filter_open(struct name_filter *f, const struct dwarf_sections *s, const char *base,
                      const struct name_filter_watcher *watcher);
/*
 * False: no DIE of the unit has a name that is base, or base and generics. True: one may have.
 * Reads the bytes of the unit. u->first must be set.
 */
bool name_filter_may_have(struct name_filter *f, const struct unit *u);

#endif
