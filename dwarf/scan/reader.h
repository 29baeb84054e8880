/*
 * A cursor over bytes of a DWARF section. A read past the end yields zeros and sets bad, so that a
 * parser checks once, at the end of a record. Little-endian, as all targets are.
 */
#ifndef DWARF_SCAN_READER_H
#define DWARF_SCAN_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct section {
	const uint8_t *data;
	size_t size;
};

/*
 * Prefetches the cache line that lies so many bytes after p, for a reader that gets there later.
 * The address may be invalid.
 */
static inline void read_ahead(const void *p, size_t bytes)
{
	__builtin_prefetch((const void *)((uintptr_t)p + bytes));
}

struct reader {
	const uint8_t *p, *end;
	bool bad;
};

/* A reader over section bytes [offset, end); bad from the start when they do not exist. */
static inline struct reader reader_at(struct section s, uint64_t offset, uint64_t end)
{
	static const uint8_t absent; /* no arithmetic with NULL, not even with 0 */
	const uint8_t *data = s.data ? s.data : &absent;

	if (offset > s.size || end > s.size || offset > end)
		return (struct reader){ data, data, true };
	return (struct reader){ data + offset, data + end, false };
}

static inline uint64_t read_fixed(struct reader *r, unsigned size)
{
	uint64_t value = 0;

	if ((size_t)(r->end - r->p) < size) {
		r->bad = true;
		r->p = r->end;
		return 0;
	}
	memcpy(&value, r->p, size > 8 ? 8 : size);
	r->p += size;
	return value;
}

static inline void read_skip(struct reader *r, uint64_t size)
{
	if ((uint64_t)(r->end - r->p) < size) {
		r->bad = true;
		r->p = r->end;
		return;
	}
	r->p += size;
}

static inline uint64_t read_uleb(struct reader *r)
{
	uint64_t value = 0;

	for (unsigned shift = 0; r->p < r->end; shift += 7) {
		uint8_t byte = *r->p++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	r->bad = true;
	return 0;
}

static inline int64_t read_sleb(struct reader *r)
{
	uint64_t value = 0;

	for (unsigned shift = 0; r->p < r->end;) {
		uint8_t byte = *r->p++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80)) {
			if (shift < 64 && (byte & 0x40))
				value |= ~UINT64_C(0) << shift;
			return (int64_t)value;
		}
	}
	r->bad = true;
	return 0;
}

/* A NUL-terminated string inside the section, "" when it does not end there. */
static inline const char *read_cstr(struct reader *r)
{
	const uint8_t *start = r->p;
	const uint8_t *nul = memchr(start, 0, (size_t)(r->end - start));

	if (!nul) {
		r->bad = true;
		r->p = r->end;
		return "";
	}
	r->p = nul + 1;
	return (const char *)start;
}

/* The string at offset of a string section, NULL when there is none. */
static inline const char *section_string(struct section s, uint64_t offset)
{
	if (offset >= s.size || s.data[s.size - 1] != 0)
		return NULL;
	return (const char *)s.data + offset;
}

#endif
