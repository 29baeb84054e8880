/*
 * Limits how many pages of a module's file stay resident after its debug info was read. If the page
 * cache keeps the file in large folios (most file systems, Linux 6.18), the kernel maps two
 * megabytes for each byte that is touched. That costs less than mapping pages one by one, but they
 * count as resident.
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

/* The sections of a file in one mapping of it; base NULL: unknown, or not mapped. */
struct file_mapping {
	uint8_t *base;              /* of the file's first byte */
	size_t low, high;           /* the sections' offsets span this */
	struct file_part scattered; /* a section that is read at scattered places */
	size_t size;                /* of the mapping, counted from base; 0: not confirmed */
	size_t unchecked;           /* bytes read since residency was last checked */
	long faults;                /* page faults of the thread at the last check by faults */
	unsigned nsweeps;           /* sweeps before it was split into pieces */
	bool in_pieces;             /* all of it is split, not only the scattered section */
};

/*
 * Registers the memory that holds a range of the file. False when it is not part of the mapping:
 * heap copies do not match the other sections.
 */
bool residency_add(struct file_mapping *m, const void *data, uint64_t offset, size_t size);

/* residency_add() of the section that is read at scattered places: it is mapped in small pieces. */
void residency_add_scattered(struct file_mapping *m, const void *data, uint64_t offset,
                             size_t size);

/* Checks with the kernel that a file is mapped there; before that, no pages are dropped. */
void residency_confirm(struct file_mapping *m);

/*
 * Drops pages when too much is resident. They are clean, and come back from the page cache when
 * they are touched again. Queries the kernel, 2 us.
 */
void residency_trim(struct dwarf_module *dm);
/* residency_trim() only after enough bytes were read. bytes: read since the last call. */
void residency_read(struct dwarf_module *dm, size_t bytes);
/* residency_trim() only after many page faults of the thread: cheap to call often, 0.3 us. */
void residency_touched(struct dwarf_module *dm);
/* residency_trim() with a low limit, for when few of the pages will be touched again. */
void residency_release_file_pages(struct dwarf_module *dm);
/* Drops all pages: nothing more will be read. */
void residency_release(struct dwarf_module *dm);
/*
 * Drops the pages of these bytes of a section, if they are mapped from the file, and the rest of
 * the folios that hold them.
 */
void residency_drop(const struct dwarf_module *dm, const uint8_t *data, size_t size);

/*
 * A pass over a large section that touches little of it. Initialise from to the section's first
 * byte.
 */
struct residency_pass {
	const struct dwarf_module *dm;
	const uint8_t *from;
};
/*
 * Reports that the pass has reached p. When too much is resident, the pages before p are dropped.
 */
void residency_passed(struct residency_pass *pass, const uint8_t *p);

#endif
