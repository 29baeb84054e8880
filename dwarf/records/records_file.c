/*
 * The file format of records. All numbers are little-endian:
 *
 *     header   struct header
 *     index    for each kind its rows, ascending key: key (8 bytes), offset (4), size (4)
 *     texts    NUL-terminated strings; the last byte is a NUL
 *     records  ULEB128 numbers; a text is its offset in texts + 1, 0 none
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/parallel.h"
#include "dwarf/records/records_private.h"

enum { INDEX_ROW = 16, BLOCK = 1 << 20 /* bytes */ };

static const char magic[8] NONSTRING = "adbfacts";
static const char version[16] = ASYNCDBG_VERSION;

struct header {
	char magic[8] NONSTRING;
	uint32_t format, kinds;
	char version[16];  /* of the asyncdbg that wrote it */
	uint64_t size;     /* of the whole file */
	uint64_t checksum; /* of all bytes after this field */
	uint64_t fingerprint;
	uint32_t whole, build_id_len;
	unsigned char build_id[BUILD_ID_MAX];
	uint64_t ntexts, nrecords; /* bytes */
	uint64_t rows[RECORD_KINDS];
};

static uint64_t checksum_of_block(const uint8_t *data, size_t size)
{
	uint64_t lanes[4] = { 1, 2, 3, 4 };
	size_t i = 0;

	for (; i + 32 <= size; i += 32) {
		for (unsigned j = 0; j < 4; j++) {
			uint64_t word;

			memcpy(&word, data + i + j * 8, 8);
			lanes[j] = (lanes[j] ^ word) * UINT64_C(0x9e3779b97f4a7c15);
			lanes[j] ^= lanes[j] >> 29;
		}
	}
	for (; i < size; i++)
		lanes[0] = (lanes[0] ^ data[i]) * UINT64_C(0x100000001b3);
	return (lanes[0] * 3 ^ lanes[1] * 5 ^ lanes[2] * 7 ^ lanes[3]) + size;
}

/* Blocks whose checksums are computed by several threads. */
struct blocks {
	const uint8_t *data;
	size_t size, n;
	uint64_t *sums;
	atomic_size_t next; /* index of the next unclaimed block */
};

static void *sum_blocks(void *arg)
{
	struct blocks *b = arg;
	size_t i;

	while ((i = atomic_fetch_add(&b->next, 1)) < b->n) {
		size_t at = i * BLOCK, left = b->size - at;

		b->sums[i] = checksum_of_block(b->data + at, left < BLOCK ? left : BLOCK);
	}
	return NULL;
}

/*
 * Detects torn and rotten files. It is no protection against an attacker, who can compute a valid
 * checksum.
 */
static uint64_t checksum(const uint8_t *data, size_t size)
{
	SCRATCH(tmp);
	struct blocks b = { .data = data, .size = size, .n = (size + BLOCK - 1) / BLOCK };

	b.sums = NEW_ARRAY(&tmp, uint64_t, b.n);
	parallel_run(sum_blocks, &b, b.n);
	return checksum_of_block((const uint8_t *)b.sums, b.n * sizeof(*b.sums));
}

static uint64_t header_checksum(const uint8_t *data, size_t size)
{
	size_t from = offsetof(struct header, fingerprint);

	return checksum(data + from, size - from);
}

void records_sign(void *data, size_t size)
{
	struct header h;

	if (size < sizeof(h))
		return;
	memcpy(&h, data, sizeof(h));
	memcpy(h.magic, magic, sizeof(magic));
	h.format = RECORDS_FORMAT;
	h.kinds = RECORD_KINDS;
	memcpy(h.version, version, sizeof(version));
	h.size = size;
	memcpy(data, &h, sizeof(h));
	h.checksum = header_checksum(data, size);
	memcpy(data, &h, sizeof(h));
}

static struct error *check_header(const struct header *h, const uint8_t *data, size_t size)
{
	if (size < sizeof(*h) || memcmp(h->magic, magic, sizeof(magic)) != 0)
		return error_new(ERR_CORRUPT, "it is not a cache file");
	if (h->format != RECORDS_FORMAT || h->kinds != RECORD_KINDS ||
	    memcmp(h->version, version, sizeof(version)) != 0)
		return error_new(ERR_UNSUPPORTED, "another version of asyncdbg wrote it");
	if (h->size != size || h->checksum != header_checksum(data, size))
		return error_new(ERR_CORRUPT, "its checksum is wrong");
	if (h->build_id_len > sizeof(h->build_id))
		return error_new(ERR_CORRUPT, "its build-id is too long");
	return NULL;
}

/* Takes the next len bytes; false when there are not as many. */
static bool records_file_take(struct section *left, uint64_t len, struct section *ret)
{
	if (len > left->size)
		return false;
	*ret = (struct section){ left->data, (size_t)len };
	left->data += len;
	left->size -= (size_t)len;
	return true;
}

struct records_file_row {
	uint64_t key;
	uint32_t at, size;
};

static struct records_file_row records_file_row_at(struct section index, size_t i)
{
	struct records_file_row row;

	memcpy(&row, index.data + i * INDEX_ROW, INDEX_ROW);
	return row;
}

/* Rejects rows that overlap: they could make a small file expand into much data. */
static bool rows_fit(const struct records_file *file)
{
	uint64_t total = 0;

	for (size_t kind = 0; kind < RECORD_KINDS; kind++) {
		for (size_t i = 0; i < file->index[kind].size / INDEX_ROW; i++)
			total += records_file_row_at(file->index[kind], i).size;
	}
	return total <= file->records.size;
}

static struct error *find_parts(struct records_file *file, const struct header *h, size_t size)
{
	struct section left = { file->data + sizeof(*h), size - sizeof(*h) };
	bool fits = true;

	for (size_t i = 0; fits && i < RECORD_KINDS; i++)
		fits = h->rows[i] <= left.size / INDEX_ROW &&
		       records_file_take(&left, h->rows[i] * INDEX_ROW, &file->index[i]);
	fits = fits && records_file_take(&left, h->ntexts, &file->texts) &&
	       records_file_take(&left, h->nrecords, &file->records) && left.size == 0;
	if (!fits || !rows_fit(file) ||
	    (file->texts.size && file->texts.data[file->texts.size - 1] != 0))
		return error_new(ERR_CORRUPT, "its parts do not fit");
	return NULL;
}

static struct error *records_file_check_identity(const struct header *h,
                                                 const struct records_identity *expected)
{
	if (h->build_id_len != expected->build_id_len ||
	    memcmp(h->build_id, expected->build_id, h->build_id_len) != 0)
		return error_new(ERR_CORRUPT, "it belongs to a program with another build-id");
	if (h->fingerprint != expected->fingerprint)
		return error_new(ERR_CORRUPT, "it belongs to a program with other sections");
	return NULL;
}

struct error *records_load(struct records *f, void *data, size_t size,
                           const struct records_identity *expected)
{
	struct records_file file = { .data = data };
	struct header h = { 0 };
	struct error *err;

	memcpy(&h, data, size < sizeof(h) ? size : sizeof(h));
	err = check_header(&h, data, size);
	if (!err)
		err = find_parts(&file, &h, size);
	if (!err && expected)
		err = records_file_check_identity(&h, expected);
	if (err || f->file.data || f->texts.n) {
		free(data);
		return err ? err : error_new(ERR_STATE, "records are already loaded");
	}
	memcpy(file.identity.build_id, h.build_id, h.build_id_len);
	file.identity.build_id_len = h.build_id_len;
	file.identity.fingerprint = h.fingerprint;
	file.whole = h.whole != 0;
	f->file = file;
	return NULL;
}

const struct records_identity *records_identity(const struct records *f)
{
	return f && f->file.data ? &f->file.identity : NULL;
}

bool records_are_whole(const struct records *f)
{
	return f && f->file.whole;
}

bool records_file_find(const struct records_file *file, enum record_kind kind, uint64_t key,
                       bool below, uint64_t *found, struct reader *ret)
{
	struct section index = file->index[kind];
	size_t first = 0, n = index.size / INDEX_ROW;

	if (n == 0)
		return false;
	/* Branchless: the direction of the comparison is not predictable. */
	for (size_t half; (half = n / 2) > 0; n -= half) {
		read_ahead(index.data, (first + half / 2) * INDEX_ROW);
		read_ahead(index.data, (first + half + half / 2) * INDEX_ROW);
		first += half * (records_file_row_at(index, first + half).key <= key);
	}
	struct records_file_row row = records_file_row_at(index, first);
	if (row.key > key || (!below && row.key != key))
		return false;
	if (found)
		*found = row.key;
	*ret = reader_at(file->records, row.at, (uint64_t)row.at + row.size);
	return !ret->bad;
}

/* ---- writing ---- */

struct records_file_source {
	struct records_file_row row;
	const uint8_t *bytes;
};

typedef VEC(struct records_file_source) source_vec;

static int by_key(const void *a, const void *b)
{
	const struct records_file_source *x = a, *y = b;

	return x->row.key < y->row.key ? -1 : x->row.key > y->row.key;
}

/*
 * Calls visit for all records of a kind: those of this run, and those of the file that this run has
 * not replaced.
 */
static void each_source(const struct records *f, size_t kind,
                        void (*visit)(const struct records_file_source *source, void *arg),
                        void *arg)
{
	const struct map *fresh = &f->fresh[kind];
	struct section index = f->file.index[kind];

	for (size_t i = 0; i < index.size / INDEX_ROW; i++) {
		struct records_file_row row = records_file_row_at(index, i);
		struct reader r = reader_at(f->file.records, row.at, (uint64_t)row.at + row.size);

		if (!r.bad && !map_has(fresh, row.key))
			visit(&(struct records_file_source){ row, r.p }, arg);
	}
	for (size_t i = 0; i < fresh->capacity; i++) {
		const struct fresh *own = fresh->slots[i].value;

		if (!own)
			continue;
		struct records_file_row row = { fresh->slots[i].key, 0, (uint32_t)own->size };
		visit(&(struct records_file_source){ row, own->bytes }, arg);
	}
}

struct records_file_extent {
	size_t rows, bytes;
};

static void measure(const struct records_file_source *source, void *arg)
{
	struct records_file_extent *e = arg;

	e->rows++;
	e->bytes += source->row.size;
}

static void gather(const struct records_file_source *source, void *arg)
{
	*vec_push((source_vec *)arg) = *source;
}

/* Write positions of the sections. */
struct records_file_output {
	uint8_t *row, *records;
	size_t nrecords; /* bytes written so far */
};

static void write_kind(const struct records *f, size_t kind, struct records_file_output *out)
{
	source_vec sources = { 0 };

	each_source(f, kind, gather, &sources);
	if (sources.n)
		qsort(sources.data, sources.n, sizeof(*sources.data), by_key);
	for (size_t i = 0; i < sources.n; i++) {
		struct records_file_source *s = &sources.data[i];

		s->row.at = (uint32_t)out->nrecords;
		memcpy(out->row, &s->row, INDEX_ROW);
		out->row += INDEX_ROW;
		memcpy(out->records + out->nrecords, s->bytes, s->row.size);
		out->nrecords += s->row.size;
	}
	vec_free(&sources);
}

static void write_texts(const struct records *f, uint8_t *to)
{
	if (f->file.texts.size)
		memcpy(to, f->file.texts.data, f->file.texts.size);
	for (size_t i = 0; i < f->texts.n; i++)
		strcpy((char *)to + f->texts.data[i].at, f->texts.data[i].text);
}

void *records_save(const struct records *f, const struct records_identity *identity, bool whole,
                   size_t *size)
{
	struct header h = { .whole = whole };
	struct records_file_extent all = { 0 };

	memcpy(h.build_id, identity->build_id, identity->build_id_len);
	h.build_id_len = (uint32_t)identity->build_id_len;
	h.fingerprint = identity->fingerprint;
	for (size_t kind = 0; kind < RECORD_KINDS; kind++) {
		size_t before = all.rows;

		each_source(f, kind, measure, &all);
		h.rows[kind] = all.rows - before;
	}
	h.ntexts = f->file.texts.size + f->texts_size;
	h.nrecords = all.bytes;
	/* The output is allocated once, in its final size: it is the largest allocation of all. */
	*size = sizeof(h) + all.rows * INDEX_ROW + h.ntexts + all.bytes;
	uint8_t *data = malloc(*size), *texts = data + sizeof(h) + all.rows * INDEX_ROW;
	struct records_file_output out = { .row = data + sizeof(h), .records = texts + h.ntexts };

	if (!data)
		out_of_memory();
	for (size_t kind = 0; kind < RECORD_KINDS; kind++)
		write_kind(f, kind, &out);
	write_texts(f, texts);
	memcpy(data, &h, sizeof(h));
	records_sign(data, *size);
	return data;
}
