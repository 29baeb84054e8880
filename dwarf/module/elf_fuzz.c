/*
 * Fuzzes ELF files and their DWARF, headers included, as input of `layout`. Queries all types,
 * functions and addresses of the file.
 */
#include "dwarf/module/line_program.h"
#include "dwarf/scan/name_filter.h"
#include "dwarf/store/open.h"
#include "dwarf/test/module.h"

#include "dwarf/test/ask_all.h"

enum { MAX_UNITS = 16, MAX_SCOPES = 200, MAX_ADDRESSES = 24 };

static void ask_unit(struct debuginfo *di, struct dwarf_module *dm, struct unit *u,
                     struct show_cache *cache, struct arena *a)
{
	struct name_filter filter;
	line_entry_vec rows = { 0 };

	debuginfo_scan(dm, u);
	name_filter_open(&filter, &dm->sections, "new", NULL);
	name_filter_may_have(&filter, u);
	line_program_read(dm, u, &rows);
	vec_free(&rows);
	for (size_t i = 0; i < u->found.nscopes && i < MAX_SCOPES; i++) {
		struct scope s = scan_scope(&dm->sections, u, (uint32_t)i);
		const struct function *f;

		if (s.tag != DW_TAG_subprogram) {
			ask_type(di, cache, a, type_at(dm, s.die));
			continue;
		}
		f = lookup_function_die(dm, s.die);
		if (f && f->high)
			ask_address(di, a, f->low);
	}
}

static void ask_target(struct target *t)
{
	struct show_cache cache = { 0 };
	struct debuginfo *di;
	struct error *err = dwarf_open(t, &di);
	SCRATCH(a);

	if (err) {
		error_free(err);
		return;
	}
	struct dwarf_module *dm = t->modules.main ? debuginfo_module(di, t->modules.main) : NULL;
	if (dm && debuginfo_need(dm)) {
		for (size_t i = 0; i < dm->nunits && i < MAX_UNITS; i++)
			ask_unit(di, dm, &dm->units[i], &cache, &a);
	}
	if (dm) {
		ask_names(dm, &a);
		for (uint64_t i = 0; i < MAX_ADDRESSES; i++)
			ask_address(di, &a, t->modules.main->start + i * 0x40);
	}
	show_free(&cache);
	debuginfo_close(di);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[FUZZ_PATH];
	int fd = fuzz_file(data, size, path);
	struct target *t = NULL;
	struct error *err = target_file_open(path, &t);

	if (!err)
		ask_target(t);
	error_free(err);
	target_close(t);
	close(fd);
	return 0;
}

/* ---- mutation: often of debug sections, rarely of the headers that describe them ---- */

struct place {
	size_t at, size;
};

static struct place section_to_change(const uint8_t *data, size_t size, uint64_t *state)
{
	struct place found = { 0, size };
	uint64_t seen = 0;
	Elf64_Ehdr header;

	if (size < sizeof(header))
		return found;
	memcpy(&header, data, sizeof(header));
	for (size_t i = 0; i < header.e_shnum; i++) {
		uint64_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
		Elf64_Shdr s;

		if (at > size || size - at < sizeof(s))
			break;
		memcpy(&s, data + at, sizeof(s));
		bool is_parsed = s.sh_type == SHT_SYMTAB || s.sh_type == SHT_NOTE ||
		                 (s.sh_type == SHT_PROGBITS && !(s.sh_flags & SHF_ALLOC));
		if (!is_parsed || s.sh_size == 0 || s.sh_offset > size ||
		    s.sh_size > size - s.sh_offset)
			continue;
		/* Chooses among all that are reported with equal probability. */
		if (fuzz_random(state) % ++seen == 0)
			found = (struct place){ s.sh_offset, s.sh_size };
	}
	return found;
}

static void change_bytes(uint8_t *data, struct place p, uint64_t *state)
{
	static const uint64_t numbers[] = { 0,      1,          0x7f,       0x80,      0xff,
		                            0xffff, 0x7fffffff, 0xffffffff, UINT64_MAX };
	size_t at = p.at + fuzz_random(state) % p.size, from = p.at + fuzz_random(state) % p.size;
	size_t left = p.at + p.size - at, n = 1 + fuzz_random(state) % 8;
	uint64_t number = numbers[fuzz_random(state) % (sizeof(numbers) / sizeof(*numbers))];

	n = n < left ? n : left;
	switch (fuzz_random(state) % 4) {
	case 0:
		data[at] = (uint8_t)fuzz_random(state);
		break;
	case 1:
		data[at] ^= (uint8_t)(1 << fuzz_random(state) % 8);
		break;
	case 2:
		memcpy(data + at, &number, n);
		break;
	default:
		if (p.at + p.size - from >= n)
			memmove(data + at, data + from, n);
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	uint64_t state = seed;

	if (size == 0 || fuzz_random(&state) % 8 == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	struct place p = section_to_change(data, size, &state);
	for (uint64_t n = 1 + fuzz_random(&state) % 6; n; n--)
		change_bytes(data, p, &state);
	return size;
}
