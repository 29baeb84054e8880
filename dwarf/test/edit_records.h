/*
 * For fuzzers: records of a file of records changed by a script, so that few bytes change what a
 * record says and the file around it stays right. An edit is EDIT_SIZE bytes: what to do, the kind
 * of the record, which of that kind (2 bytes), the place within it, and a number (3 bytes).
 */
#ifndef DWARF_TEST_EDIT_RECORDS_H
#define DWARF_TEST_EDIT_RECORDS_H

#include "debugger/test/fuzz.h"
#include "dwarf/records/records_private.h"

enum { EDIT_SIZE = 8, EDIT_MAX = 32, EDIT_NUMBERS = 4096, EDIT_INDEX_ROW = 16 };

enum edit_what {
	EDIT_NUMBER, /* a number of the record becomes another one */
	EDIT_POWER,  /* it becomes a power of two, or one less */
	EDIT_SELF,   /* it becomes the record's own key, a type that is part of itself */
	EDIT_OTHER,  /* it becomes the key of another record of that kind */
	EDIT_CUT,    /* the record ends there */
	EDIT_COPY,   /* the record becomes that of another key */
	EDIT_REPEAT, /* a member is there as often more, and counted: three numbers */
	EDIT_INSERT, /* a number more */
	EDIT_BYTES,  /* the last byte at that place changes: a number without an end */
	EDIT_WHATS,
};

struct edit_record {
	uint64_t key;
	const uint8_t *bytes;
	size_t size;
};

static inline size_t edit_count(const struct records *f, unsigned kind)
{
	return f->file.index[kind].size / EDIT_INDEX_ROW;
}

static inline struct edit_record edit_record_at(const struct records *f, unsigned kind, size_t nth)
{
	const uint8_t *row = f->file.index[kind].data + nth * EDIT_INDEX_ROW;
	struct edit_record ret = { 0 };
	uint32_t at, size;

	memcpy(&ret.key, row, 8);
	memcpy(&at, row + 8, 4);
	memcpy(&size, row + 12, 4);
	if ((uint64_t)at + size <= f->file.records.size) {
		ret.bytes = f->file.records.data + at;
		ret.size = size;
	}
	return ret;
}

struct edit_numbers {
	uint64_t n[EDIT_NUMBERS];
	size_t count;
};

static inline void edit_read(const struct edit_record *from, struct edit_numbers *to)
{
	struct reader r = { from->bytes, from->bytes + from->size, false };

	to->count = 0;
	while (from->size && r.p < r.end && to->count < EDIT_NUMBERS)
		to->n[to->count++] = read_uleb(&r);
}

static inline void edit_repeat(struct edit_numbers *v, size_t at, uint64_t times)
{
	enum { MEMBER = 3 };
	size_t room = (EDIT_NUMBERS - v->count) / MEMBER, behind = at + MEMBER;

	if (at == 0 || behind > v->count)
		return;
	times = times < room ? times : room;
	memmove(v->n + behind + times * MEMBER, v->n + behind, (v->count - behind) * sizeof(*v->n));
	for (size_t i = 0; i < times * MEMBER; i++)
		v->n[behind + i] = v->n[at + i % MEMBER];
	v->n[at - 1] += times;
	v->count += times * MEMBER;
}

static inline void edit_apply(struct edit_numbers *v, const uint8_t *edit, const struct records *f,
                              unsigned kind, uint64_t own)
{
	size_t at = v->count ? edit[4] % v->count : 0, n = edit_count(f, kind);
	uint64_t number = edit[5] | (uint64_t)edit[6] << 8 | (uint64_t)edit[7] << 16;

	switch (edit[0] % EDIT_WHATS) {
	case EDIT_NUMBER:
		v->n[at] = number;
		break;
	case EDIT_POWER:
		v->n[at] = (UINT64_C(1) << number % 64) - (number >> 6 & 1);
		break;
	case EDIT_SELF:
		v->n[at] = own;
		break;
	case EDIT_OTHER:
		v->n[at] = n ? edit_record_at(f, kind, number % n).key : 0;
		break;
	case EDIT_CUT:
		v->count = at;
		break;
	case EDIT_COPY:
		if (n) {
			struct edit_record other = edit_record_at(f, kind, number % n);

			edit_read(&other, v);
		}
		break;
	case EDIT_REPEAT:
		edit_repeat(v, at, number);
		break;
	case EDIT_INSERT:
		if (v->count < EDIT_NUMBERS) {
			memmove(v->n + at + 1, v->n + at, (v->count - at) * sizeof(*v->n));
			v->n[at] = number;
			v->count++;
		}
		break;
	default:
		break;
	}
}

/* One edit; f then knows the changed record instead of the file's. Several of a record add up. */
static inline void edit_one(struct records *f, const uint8_t *edit)
{
	static struct edit_numbers v;
	unsigned kind = edit[1] % RECORD_KINDS;
	size_t n = edit_count(f, kind);
	struct record_writer d;

	if (n == 0)
		return;
	struct edit_record from = edit_record_at(f, kind, (edit[2] | (size_t)edit[3] << 8) % n);
	const struct fresh *before = map_get(&f->fresh[kind], from.key);
	if (before) {
		from.bytes = before->bytes;
		from.size = before->size;
	}
	if (!from.key)
		return;
	edit_read(&from, &v);
	edit_apply(&v, edit, f, kind, from.key);
	record_begin(&d, f, (enum record_kind)kind, from.key, NULL);
	for (size_t i = 0; i < v.count; i++)
		record_add_number(&d, v.n[i]);
	if (edit[0] % EDIT_WHATS == EDIT_BYTES && d.bytes.len)
		d.bytes.data[edit[4] % d.bytes.len] ^= (char)edit[5];
	record_end(&d);
}

/* The file at data (not taken) after the edits of a script; malloced. */
static inline void *edit_file(const void *data, size_t size, const uint8_t *script, size_t len,
                              size_t *ret_size)
{
	struct records *f = records_new();
	void *copy = malloc(size);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	struct error *err = records_load(f, copy, size, NULL);
	if (err)
		fuzz_fail("the file to be edited", err->message);
	for (size_t i = 0; i < EDIT_MAX && (i + 1) * EDIT_SIZE <= len; i++)
		edit_one(f, script + i * EDIT_SIZE);
	void *ret = records_save(f, records_identity(f), true, ret_size);
	records_free(f);
	return ret;
}

#endif
