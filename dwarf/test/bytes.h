/* For tests: DWARF written by hand. */
#ifndef DWARF_TEST_BYTES_H
#define DWARF_TEST_BYTES_H

#include <dwarf.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/scan/reader.h"

/* Bytes that grow; data is a heap block of exactly n bytes, so that ASan sees each overrun. */
struct bytes {
	uint8_t *data;
	size_t n;
};

static inline void put(struct bytes *b, const void *data, size_t n)
{
	uint8_t *grown = realloc(b->data, b->n + n + !(b->n + n));

	if (!grown)
		abort();
	b->data = grown;
	if (n)
		memcpy(b->data + b->n, data, n);
	b->n += n;
}

static inline void put_fixed(struct bytes *b, uint64_t value, size_t size)
{
	put(b, &value, size);
}

static inline void put_uleb(struct bytes *b, uint64_t value)
{
	do {
		put_fixed(b, (value & 0x7f) | (value > 0x7f ? 0x80 : 0), 1);
		value >>= 7;
	} while (value);
}

static inline void put_text(struct bytes *b, const char *text)
{
	put(b, text, strlen(text) + 1);
}

static inline void free_bytes(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){ 0 };
}

static inline struct section section_of_bytes(const struct bytes *b)
{
	return (struct section){ b->data, b->n };
}

/* An abbreviation: pairs of attribute and form, then 0. */
static inline void put_abbrev(struct bytes *b, unsigned code, unsigned tag, int children, ...)
{
	va_list args;
	unsigned name;

	put_uleb(b, code);
	put_uleb(b, tag);
	put_fixed(b, (uint64_t)children, 1);
	va_start(args, children);
	while ((name = va_arg(args, unsigned))) {
		put_uleb(b, name);
		put_uleb(b, va_arg(args, unsigned));
	}
	va_end(args);
	put_fixed(b, 0, 2);
}

/* Starts a compile unit of DWARF 4 or 5, 32-bit; the result goes to end_unit(). */
static inline size_t begin_unit(struct bytes *b, unsigned version, unsigned abbrev_offset)
{
	size_t at = b->n;

	put_fixed(b, 0, 4);
	put_fixed(b, version, 2);
	if (version >= 5) {
		put_fixed(b, DW_UT_compile, 1);
		put_fixed(b, 8, 1);
		put_fixed(b, abbrev_offset, 4);
	} else {
		put_fixed(b, abbrev_offset, 4);
		put_fixed(b, 8, 1);
	}
	return at;
}

static inline void end_unit(struct bytes *b, size_t at)
{
	uint32_t length = (uint32_t)(b->n - at - 4);

	memcpy(b->data + at, &length, 4);
}

#endif
