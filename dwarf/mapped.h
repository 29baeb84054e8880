/* The pages of a module's file that its debug info was read from. */
#ifndef DWARF_MAPPED_H
#define DWARF_MAPPED_H

#include <stddef.h>
#include <stdint.h>

struct dwarf_module;

/* Where sections of a file lie in one mapping of it; base NULL: not known, or not mapped. */
struct file_mapping {
	uint8_t *base;    /* of the file's first byte */
	size_t low, high; /* the sections' offsets span this */
};

/* Takes note that the bytes at an offset of the file are here. Heap copies do not fit the rest. */
void mapped_add(struct file_mapping *m, const void *data, uint64_t offset, size_t size);

/*
 * Gives pages back when more than a few ten megabytes of files are resident: they are clean, and
 * come back from the page cache when they are touched again. Asks the kernel, 2 us.
 */
void mapped_trim(struct dwarf_module *dm);
/* The same for the bytes of .debug_info between two offsets, unasked. Any thread may. */
void mapped_drop_info(const struct dwarf_module *dm, uint64_t start, uint64_t end);

#endif
