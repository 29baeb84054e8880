#include "dwarf/records/records.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/vec.h"

/* Layout of files: see records_file.c. */
#include "dwarf/records/records_private.h"

struct records *records_new(void)
{
	struct records *f = calloc(1, sizeof(*f));

	if (!f)
		out_of_memory();
	return f;
}

void records_free(struct records *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < RECORD_KINDS; i++)
		map_free(&f->fresh[i]);
	map_free(&f->interned);
	vec_free(&f->texts);
	arena_free(&f->arena);
	free(f->file.data);
	free(f);
}

static uint64_t records_key_of(uint64_t key, const char *text)
{
	return text ? map_key_on(key, text, strlen(text)) : key;
}

/* ---- reading ---- */

/* A text of this run by its reference, which is counted from the end of the file's texts. */
static const char *fresh_text(const struct records *f, uint64_t at)
{
	size_t lo = 0, hi = f->texts.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->texts.data[mid].at <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && f->texts.data[lo - 1].at == at ? f->texts.data[lo - 1].text : NULL;
}

uint64_t record_number(struct record *record)
{
	return record->r.bad ? 0 : read_uleb(&record->r);
}

const char *record_text(struct record *record)
{
	uint64_t ref = record_number(record);
	const struct records *f = record->of;

	if (ref == 0 || record->r.bad)
		return NULL;
	ref--;
	if (ref >= f->file.texts.size)
		return fresh_text(f, ref);
	/* The last byte of all texts is a NUL: records_load(). */
	return (const char *)f->file.texts.data + ref;
}

size_t record_count(struct record *record)
{
	uint64_t n = record_number(record), left = (uint64_t)(record->r.end - record->r.p);

	return (size_t)(n < left ? n : left);
}

bool record_ended(const struct record *record)
{
	return !record->r.bad && record->r.p == record->r.end;
}

static bool matches(struct record *record, uint64_t key, const char *text)
{
	if (!text)
		return !record->r.bad;
	const char *own = record_text(record);
	return own && strcmp(own, text) == 0 && record_number(record) == key && !record->r.bad;
}

bool record_find(const struct records *f, enum record_kind kind, uint64_t key, const char *text,
                 struct record *ret)
{
	uint64_t hash = f ? records_key_of(key, text) : 0;
	const struct fresh *fresh = hash ? map_get(&f->fresh[kind], hash) : NULL;

	if (hash == 0)
		return false;
	*ret = (struct record){ .of = f };
	if (fresh)
		ret->r = (struct reader){ fresh->bytes, fresh->bytes + fresh->size, false };
	else if (!records_file_find(&f->file, kind, hash, false, NULL, &ret->r))
		return false;
	return matches(ret, key, text);
}

bool record_find_below(const struct records *f, enum record_kind kind, uint64_t key,
                       uint64_t *found, struct record *ret)
{
	if (!f)
		return false;
	*ret = (struct record){ .of = f };
	return records_file_find(&f->file, kind, key, true, found, &ret->r);
}

/* ---- writing ---- */

void record_add_number(struct record_writer *d, uint64_t number)
{
	do {
		char byte = (char)(number & 0x7f);

		number >>= 7;
		if (number)
			byte = (char)(byte | (char)0x80);
		str_append_len(&d->bytes, &byte, 1);
	} while (number);
}

static uint64_t intern(struct records *f, const char *text)
{
	uint64_t hash = map_key_of(text, strlen(text));
	size_t index = (size_t)(uintptr_t)map_get(&f->interned, hash);
	uint64_t at;

	if (index && strcmp(f->texts.data[index - 1].text, text) == 0)
		return f->texts.data[index - 1].at + 1;
	at = f->file.texts.size + f->texts_size;
	*vec_push(&f->texts) = (struct fresh_text){ at, arena_strdup(&f->arena, text) };
	f->texts_size += strlen(text) + 1;
	map_put(&f->interned, hash, (void *)(uintptr_t)f->texts.n);
	return at + 1;
}

void record_add_text(struct record_writer *d, const char *text)
{
	record_add_number(d, text && d->of ? intern(d->of, text) : 0);
}

void record_begin(struct record_writer *d, struct records *f, enum record_kind kind, uint64_t key,
                  const char *text)
{
	*d = (struct record_writer){ .of = f, .kind = kind, .key = records_key_of(key, text) };
	if (records_are_paused(f))
		d->of = NULL;
	if (!text)
		return;
	record_add_text(d, text);
	record_add_number(d, key);
}

void record_end(struct record_writer *d)
{
	struct records *f = d->of;

	if (f && d->key) {
		struct fresh *fresh = NEW(&f->arena, struct fresh);

		fresh->size = d->bytes.len;
		fresh->bytes = arena_memdup(&f->arena, d->bytes.data, d->bytes.len);
		map_put(&f->fresh[d->kind], d->key, fresh);
		f->changed = true;
	}
	str_free(&d->bytes);
}

size_t records_size(const struct records *f)
{
	return f ? f->file.records.size + f->file.texts.size : 0;
}

void records_pause(struct records *f)
{
	f->paused++;
}

void records_resume(struct records *f)
{
	f->paused--;
}

bool records_are_paused(const struct records *f)
{
	return f && f->paused;
}

bool records_are_new(const struct records *f)
{
	return f && f->changed;
}
