/*
 * The pages of a module's file that its debug info was read from. Where the page cache keeps the
 * file in large folios (most file systems, Linux 6.18), the kernel maps two megabytes for each byte
 * that is touched: that costs less than to map them one by one, but they count as resident.
 */
#ifndef DWARF_MODULE_RESIDENCY_H
#define DWARF_MODULE_RESIDENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_module;

/* Offsets [low, high) of a file. */
struct file_part {
	size_t low, high;
};

/* Where sections of a file lie in one mapping of it; base NULL: not known, or not mapped. */
struct file_mapping {
	uint8_t *base;              /* of the file's first byte */
	size_t low, high;           /* the sections' offsets span this */
	struct file_part scattered; /* a section of which a few bytes are read here and there */
	size_t size;                /* of the mapping, counted from base; 0: not confirmed */
	size_t unasked;             /* bytes that were read since somebody asked what is resident */
	long faults;                /* of the thread, when it asked by them */
	unsigned nsweeps;           /* until it was cut into pieces */
	bool in_pieces;             /* all of it, not only what is scattered */
};

/*
 * Takes note that the bytes at an offset of the file are here. False where they are no part of the
 * mapping: heap copies do not fit the rest.
 */
bool residency_add(struct file_mapping *m, const void *data, uint64_t offset, size_t size);

/* The same of the section that is read here and there: it is mapped in small pieces. */
void residency_add_scattered(struct file_mapping *m, const void *data, uint64_t offset,
                             size_t size);

/* Asks the kernel whether a file is really mapped there; before, nothing is given back. */
void residency_confirm(struct file_mapping *m);

/*
 * Gives pages back when too much is resident: they are clean, and come back from the page cache
 * when they are touched again. Asks the kernel, 2 us.
 */
void residency_trim(struct dwarf_module *dm);
/* The same now and then: as many bytes were read. */
void residency_read(struct dwarf_module *dm, size_t bytes);
/* The same when the thread had many page faults since: cheap to ask often, 0.3 us. */
void residency_touched(struct dwarf_module *dm);
/* The same when little of them will be touched again: else it is left to do at the end. */
void residency_rest(struct dwarf_module *dm);
/* Gives all of them back: nothing more will be read. */
void residency_release(struct dwarf_module *dm);
/*
 * Gives back the pages of these bytes of a section, when they are in the file, and what the kernel
 * may have mapped with them. Any thread may.
 */
void residency_drop(const struct dwarf_module *dm, const uint8_t *data, size_t size);

/* A pass over a large section that touches little of it. from starts as its first byte. */
struct residency_pass {
	const struct dwarf_module *dm;
	const uint8_t *from;
};
/* It has come to p: when too much is resident, what is behind it is given back. */
void residency_passed(struct residency_pass *pass, const uint8_t *p);

#endif
