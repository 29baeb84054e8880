#include "debugger/elf/claimed_size.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { GNU_HEADER = 12 /* "ZLIB" and the size, big-endian: .zdebug of binutils before 2.26 */ };

static const uint64_t most = UINT64_C(2) << 30;

static uint64_t gnu_size(Elf_Scn *section)
{
	const Elf_Data *data = elf_rawdata(section, NULL);
	const unsigned char *p = data ? data->d_buf : NULL;
	uint64_t size = 0;

	if (!p || data->d_size < GNU_HEADER || memcmp(p, "ZLIB", 4) != 0)
		return 0;
	for (int i = 4; i < GNU_HEADER; i++)
		size = size << 8 | p[i];
	return size;
}

/* The sum of what all compressed sections claim; UINT64_MAX where it is beyond all numbers. */
static uint64_t claimed(Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names;
	uint64_t sum = 0;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return 0;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		GElf_Chdr compression;
		uint64_t size = 0;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		const char *name = elf_strptr(elf, names, header.sh_name);
		if (header.sh_flags & SHF_COMPRESSED)
			size = gelf_getchdr(section, &compression) ? compression.ch_size : 0;
		else if (name && strncmp(name, ".zdebug", strlen(".zdebug")) == 0)
			size = gnu_size(section);
		if (__builtin_add_overflow(sum, size, &sum))
			return UINT64_MAX;
	}
	return sum;
}

/* UINT64_MAX: unknown. */
static uint64_t free_memory(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	uint64_t kib, found = UINT64_MAX;
	char line[128];

	while (f && found == UINT64_MAX && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "MemAvailable: %" SCNu64 " kB", &kib) == 1)
			found = kib * 1024;
	}
	if (f)
		fclose(f);
	return found;
}

const char *claimed_size_problem(struct Elf *elf, struct arena *a)
{
	uint64_t size = claimed(elf), available = size ? free_memory() : 0;

	if (size <= most && size <= available)
		return NULL;
	return arena_printf(
		a,
		"its compressed debug sections would take %.1f GB, and are not expanded: %s; if "
		"you trust the file, decompress them with `objcopy --decompress-debug-sections`",
		(double)size / 1e9,
		size > most ? "more than 2 GB is not plausible"
			    : "there is not enough free memory");
}
