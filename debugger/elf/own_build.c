#include "debugger/elf/own_build.h"

#include <link.h>
#include <string.h>

#include "debugger/elf/elf_image.h"

/*
 * Reads the build-id of the program, which dl_iterate_phdr() reports first. A non-zero result ends
 * the iteration before the libraries.
 */
static int read_build(struct dl_phdr_info *info, size_t size, void *ret)
{
	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const unsigned char *data = (const unsigned char *)info->dlpi_addr + p->p_vaddr;
		struct elf_note note;

		if (p->p_type != PT_NOTE)
			continue;
		for (size_t at = 0; elf_note_next(data, p->p_memsz, &at, &note);) {
			if (elf_note_is(&note, "GNU", NT_GNU_BUILD_ID) &&
			    note.desc_len >= sizeof(uint64_t))
				memcpy(ret, note.desc, sizeof(uint64_t));
		}
	}
	return 1;
}

uint64_t own_build(void)
{
	uint64_t ret = 0;

	dl_iterate_phdr(read_build, &ret);
	return ret;
}
