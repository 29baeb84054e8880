/* Inside of records.c and records_file.c. */
#ifndef DWARF_RECORDS_RECORDS_PRIVATE_H
#define DWARF_RECORDS_RECORDS_PRIVATE_H

#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "dwarf/records/records.h"

/* A record of this run. */
struct fresh {
	const uint8_t *bytes;
	size_t size;
};

struct fresh_text {
	uint64_t at; /* its place among all texts, behind those of the file */
	const char *text;
};

/* A file's bytes, checked as records_load() says; all empty when there is none. */
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
	size_t texts_size;              /* of them, with their NULs */
	struct map interned;            /* hash of a text -> its index in texts + 1 */
	bool changed;
	unsigned paused;
	struct arena arena;
};

/*
 * The record below key; below: or the one with the greatest key that is not above it. A file whose
 * keys do not ascend finds less or something else, never more than it has.
 */
bool records_file_find(const struct records_file *file, enum record_kind kind, uint64_t key,
                       bool below, uint64_t *found, struct reader *ret);

#endif
