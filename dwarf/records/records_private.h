/* Private to records.c, records_copy.c and records_file.c. */
#ifndef DWARF_RECORDS_RECORDS_PRIVATE_H
#define DWARF_RECORDS_RECORDS_PRIVATE_H

#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "dwarf/records/records.h"

/* A record written in this run. */
struct fresh {
	const uint8_t *bytes;
	size_t size;
};

struct fresh_text {
	uint64_t at; /* its offset among all texts, which starts after those of the file */
	const char *text;
};

/* The bytes of a loaded file, validated as records_load() states; all empty when there is none. */
struct records_file {
	uint8_t *data;        /* owned */
	struct section texts; /* ends in a NUL */
	struct section records;
	struct section index[RECORD_KINDS]; /* rows of INDEX_ROW bytes, ascending key */
	struct records_identity identity;
	bool whole;
};

struct records {
	struct records_file file;
	struct map fresh[RECORD_KINDS]; /* hash of key and text -> struct fresh */
	VEC(struct fresh_text) texts;   /* ascending at */
	size_t texts_size;              /* bytes of all texts, with their NULs */
	struct map interned;            /* hash of a text -> its index in texts + 1 */
	bool changed;
	unsigned paused;
	struct arena arena;
};

/*
 * Finds the record under key. below: otherwise the one with the greatest key that is not above it.
 * If the keys of a file do not ascend, the search misses records or finds wrong ones, but it never
 * reads out of bounds.
 */
bool records_file_find(const struct records_file *file, enum record_kind kind, uint64_t key,
                       bool below, uint64_t *found, struct reader *ret);

#endif
