/*
 * Fuzzes files of records: the contents of a cache file or a layout file are turned into types,
 * functions and lines, and all accessors are called on them.
 *
 * The first byte of an input selects the format of the rest. Even: a script (edit_records.h) that
 * modifies the records of testdata/unit/shapes.elf, or of values.elf if bit 1 is set. Odd: a whole
 * file, whose header is recomputed.
 */
#include "dwarf/records/records.h"
#include "dwarf/records/records_copy.h"
#include "dwarf/test/edit_records.h"
#include "dwarf/test/module.h"

#include "dwarf/test/ask_all.h"

enum { MAX_TYPES = 48, MAX_ADDRESSES = 8 };

static struct {
	void *data;
	size_t size;
} bases[2];

static const struct records_identity identity = { .build_id = "0123456789", .build_id_len = 10 };

static uint64_t key_at(const struct records *f, enum record_kind kind, size_t i)
{
	return edit_record_at(f, kind, i).key;
}

/* Reads a record of that kind, modified or not. */
static void ask_record(struct fixture *f, struct show_cache *cache, enum record_kind kind,
                       uint64_t key)
{
	switch (kind) {
	case RECORD_TYPE:
	case RECORD_DETAILS:
	case RECORD_GENERICS:
	case RECORD_POLL:
		ask_type(f->di, cache, &f->arena, type_at(f->dm, key));
		break;
	case RECORD_LINES:
	case RECORD_INLINED:
	case RECORD_CODE:
	case RECORD_PC:
		ask_address(f->di, &f->arena, key + BIAS + 1);
		ask_address(f->di, &f->arena, key + BIAS);
		break;
	case RECORD_FUNCTION:
	case RECORD_INLINES:
		lookup_function_die(f->dm, key);
		break;
	default:
		break;
	}
}

/* Queries what a script changed first, then some of all records in the file. */
static void ask_all(struct fixture *f, const uint8_t *script, size_t len)
{
	static const enum record_kind kinds[] = { RECORD_TYPE, RECORD_LINES, RECORD_CODE,
		                                  RECORD_FUNCTION };
	const struct records *records = debuginfo_records(f->dm);
	struct show_cache cache = { 0 };

	for (size_t at = 0; len - at >= EDIT_SIZE && at < EDIT_MAX * EDIT_SIZE; at += EDIT_SIZE) {
		unsigned kind = script[at + 1] % RECORD_KINDS;
		size_t n = edit_count(records, kind);
		size_t nth = script[at + 2] | (size_t)script[at + 3] << 8;

		if (n)
			ask_record(f, &cache, (enum record_kind)kind,
			           key_at(records, (enum record_kind)kind, nth % n));
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t max = kinds[i] == RECORD_TYPE ? MAX_TYPES : MAX_ADDRESSES;
		size_t n = edit_count(records, kinds[i]), step = n / max + 1;

		for (size_t nth = len % step; nth < n; nth += step)
			ask_record(f, &cache, kinds[i], key_at(records, kinds[i], nth));
	}
	ask_names(f->dm, &f->arena);
	show_free(&cache);
}

/* Saves the records of a file's debug info as a file of records. */
static void learn(const char *path, void **data, size_t *size)
{
	struct fixture f = fixture_open_file(path);
	struct show_cache cache = { 0 };

	ask_map_memory(f.target);
	for (size_t i = 0; i < f.dm->nunits || (i == 0 && debuginfo_need(f.dm)); i++) {
		struct unit *u = &f.dm->units[i];

		debuginfo_scan(f.dm, u);
		for (size_t j = 0; j < u->found.nscopes; j++) {
			struct scope s = scan_scope(&f.dm->sections, u, (uint32_t)j);

			if (s.tag == DW_TAG_structure_type || s.tag == DW_TAG_enumeration_type ||
			    s.tag == DW_TAG_union_type)
				ask_type(f.di, &cache, &f.arena, type_at(f.dm, s.die));
			if (s.tag == DW_TAG_subprogram) {
				const struct function *fn = lookup_function_die(f.dm, s.die);

				if (fn && fn->high)
					ask_address(f.di, &f.arena, fn->low);
			}
		}
	}
	ask_names(f.dm, &f.arena);
	types_flush(f.dm, true);
	*data = records_save(debuginfo_records(f.dm), &identity, true, size);
	show_free(&cache);
	fixture_close(&f);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	learn("testdata/unit/shapes.elf", &bases[0].data, &bases[0].size);
	learn("testdata/unit/values.elf", &bases[1].data, &bases[1].size);
	return 0;
}

static struct records *records_of(const uint8_t *data, size_t size)
{
	struct records *ret = records_new();
	size_t n = size - 1;
	void *file;

	if (data[0] & 1) {
		file = malloc(n + !n);
		if (!file)
			abort();
		memcpy(file, data + 1, n);
		records_sign(file, n);
	} else {
		unsigned base = data[0] >> 1 & 1;

		file = edit_file(bases[base].data, bases[base].size, data + 1, n, &n);
	}
	struct error *err = records_load(ret, file, n, NULL);
	if (err) {
		error_free(err);
		records_free(ret);
		return NULL;
	}
	return ret;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hand_made none = { 0 };
	struct records *records = size ? records_of(data, size) : NULL;

	if (!records)
		return 0;
	struct fixture f = hand_made_open(&none);
	ask_map_memory(f.target);
	records_free(f.dm->records);
	f.dm->records = records;
	f.dm->described = f.dm->loaded = false;
	ask_all(&f, data + 1, size - 1);
	types_flush(f.dm, true);
	records_free(records_merged(records, NULL));
	fixture_close(&f);
	return 0;
}
