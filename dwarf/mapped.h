/* The pages of a module's file that its debug info was read from. */
#ifndef DWARF_MAPPED_H
#define DWARF_MAPPED_H

#include <stddef.h>
#include <stdint.h>

#include "dwarf/parallel.h"

struct dwarf_module;

/* Where sections of a file lie in one mapping of it; base NULL: not known, or not mapped. */
struct file_mapping {
	uint8_t *base;         /* of the file's first byte */
	size_t low, high;      /* the sections' offsets span this */
	size_t size;           /* of the mapping, counted from base; 0: not confirmed */
	size_t unasked;        /* bytes that were read since somebody asked what is resident */
	struct beside sweeper; /* gives pages back */
};

/* Takes note that the bytes at an offset of the file are here. Heap copies do not fit the rest. */
void mapped_add(struct file_mapping *m, const void *data, uint64_t offset, size_t size);

/* Asks the kernel whether a file is really mapped there; before, nothing is given back. */
void mapped_confirm(struct file_mapping *m);

/*
 * Gives pages back when too much is resident: they are clean, and come back from the page cache
 * when they are touched again. A thread beside does it. Asks the kernel, 2 us.
 */
void mapped_trim(struct dwarf_module *dm);
/* The same now and then: as many bytes were read. */
void mapped_read(struct dwarf_module *dm, size_t bytes);
/* The same when little of them will be touched again: else it is left to do at the end. */
void mapped_rest(struct dwarf_module *dm);
/* Waits for that thread: before the file is unmapped. */
void mapped_wait(struct dwarf_module *dm);
/* Gives back the pages of these bytes of a section, when they are in the file. Any thread may. */
void mapped_drop(const struct dwarf_module *dm, const uint8_t *data, size_t size);

#endif
