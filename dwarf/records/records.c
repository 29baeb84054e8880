#include "dwarf/records/records.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/vec.h"

/* The bytes of a file and of an empty set of facts alike; see records_file.c. */
#include "dwarf/records/records_private.h"

struct facts *facts_new(void)
{
	struct facts *f = calloc(1, sizeof(*f));

	if (!f)
		out_of_memory();
	return f;
}

void facts_free(struct facts *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < FACT_KINDS; i++)
		map_free(&f->fresh[i]);
	map_free(&f->interned);
	vec_free(&f->texts);
	arena_free(&f->arena);
	free(f->file.data);
	free(f);
}

static uint64_t key_of(uint64_t key, const char *text)
{
	return text ? map_key_on(key, text, strlen(text)) : key;
}

/* ---- asking ---- */

/* A text of memory by its reference, which is counted from the end of the file's. */
static const char *fresh_text(const struct facts *f, uint64_t at)
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

uint64_t fact_number(struct fact *fact)
{
	return fact->r.bad ? 0 : read_uleb(&fact->r);
}

const char *fact_text(struct fact *fact)
{
	uint64_t ref = fact_number(fact);
	const struct facts *f = fact->of;

	if (ref == 0 || fact->r.bad)
		return NULL;
	ref--;
	if (ref >= f->file.texts.size)
		return fresh_text(f, ref);
	/* The last byte of all texts is a NUL: facts_load(). */
	return (const char *)f->file.texts.data + ref;
}

size_t fact_count(struct fact *fact)
{
	uint64_t n = fact_number(fact), left = (uint64_t)(fact->r.end - fact->r.p);

	return (size_t)(n < left ? n : left);
}

bool fact_ended(const struct fact *fact)
{
	return !fact->r.bad && fact->r.p == fact->r.end;
}

static bool matches(struct fact *fact, uint64_t key, const char *text)
{
	if (!text)
		return !fact->r.bad;
	const char *own = fact_text(fact);
	return own && strcmp(own, text) == 0 && fact_number(fact) == key && !fact->r.bad;
}

bool fact_find(const struct facts *f, enum fact_kind kind, uint64_t key, const char *text,
               struct fact *ret)
{
	uint64_t hash = f ? key_of(key, text) : 0;
	const struct fresh *fresh = hash ? map_get(&f->fresh[kind], hash) : NULL;

	if (hash == 0)
		return false;
	*ret = (struct fact){ .of = f };
	if (fresh)
		ret->r = (struct reader){ fresh->bytes, fresh->bytes + fresh->size, false };
	else if (!facts_file_find(&f->file, kind, hash, false, NULL, &ret->r))
		return false;
	return matches(ret, key, text);
}

bool fact_find_below(const struct facts *f, enum fact_kind kind, uint64_t key, uint64_t *found,
                     struct fact *ret)
{
	if (!f)
		return false;
	*ret = (struct fact){ .of = f };
	return facts_file_find(&f->file, kind, key, true, found, &ret->r);
}

/* ---- telling ---- */

void fact_add_number(struct fact_draft *d, uint64_t number)
{
	do {
		char byte = (char)(number & 0x7f);

		number >>= 7;
		if (number)
			byte = (char)(byte | (char)0x80);
		str_append_len(&d->bytes, &byte, 1);
	} while (number);
}

static uint64_t intern(struct facts *f, const char *text)
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

void fact_add_text(struct fact_draft *d, const char *text)
{
	fact_add_number(d, text && d->of ? intern(d->of, text) : 0);
}

void fact_begin(struct fact_draft *d, struct facts *f, enum fact_kind kind, uint64_t key,
                const char *text)
{
	*d = (struct fact_draft){ .of = f, .kind = kind, .key = key_of(key, text) };
	if (facts_are_paused(f))
		d->of = NULL;
	if (!text)
		return;
	fact_add_text(d, text);
	fact_add_number(d, key);
}

void fact_end(struct fact_draft *d)
{
	struct facts *f = d->of;

	if (f && d->key) {
		struct fresh *fresh = NEW(&f->arena, struct fresh);

		fresh->size = d->bytes.len;
		fresh->bytes = arena_memdup(&f->arena, d->bytes.data, d->bytes.len);
		map_put(&f->fresh[d->kind], d->key, fresh);
		f->changed = true;
	}
	str_free(&d->bytes);
}

size_t facts_size(const struct facts *f)
{
	return f ? f->file.records.size + f->file.texts.size : 0;
}

void facts_pause(struct facts *f)
{
	f->paused++;
}

void facts_resume(struct facts *f)
{
	f->paused--;
}

bool facts_are_paused(const struct facts *f)
{
	return f && f->paused;
}

bool facts_are_new(const struct facts *f)
{
	return f && f->changed;
}
