#include "debugger/elf/elf_sections.h"

#include <gelf.h>
#include <libelf.h>
#include <string.h>

/* An Elf of libelf; never defined. */
static Elf *elf_of(struct elf_sections *s)
{
	return (Elf *)s;
}

struct elf_sections *elf_sections_open(int fd)
{
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

	if (elf && elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		elf = NULL;
	}
	return (struct elf_sections *)elf;
}

void elf_sections_close(struct elf_sections *s)
{
	elf_end(elf_of(s));
}

/* The next section of that name with contents, after section; NULL: there is none. */
static Elf_Scn *elf_sections_next(Elf *elf, Elf_Scn *section, const char *name, GElf_Shdr *header)
{
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *found = gelf_getshdr(section, header)
		                            ? elf_strptr(elf, names, header->sh_name)
		                            : NULL;

		if (found && header->sh_type != SHT_NOBITS && strcmp(found, name) == 0)
			return section;
	}
	return NULL;
}

bool elf_sections_has(struct elf_sections *s, const char *name)
{
	GElf_Shdr header;

	return elf_sections_next(elf_of(s), NULL, name, &header) != NULL;
}

bool elf_sections_address(struct elf_sections *s, const char *name, uint64_t *ret)
{
	GElf_Shdr header;

	if (!elf_sections_next(elf_of(s), NULL, name, &header))
		return false;
	*ret = header.sh_addr;
	return true;
}

size_t elf_sections_each(struct elf_sections *s, const char *name, size_t max,
                         elf_section_fn *visit, void *arg)
{
	Elf_Scn *section = NULL;
	size_t left_out = 0;
	GElf_Shdr header;

	while ((section = elf_sections_next(elf_of(s), section, name, &header))) {
		bool is_plain = header.sh_size <= max && !(header.sh_flags & SHF_COMPRESSED);
		Elf_Data *data = is_plain ? elf_rawdata(section, NULL) : NULL;

		if (data && data->d_buf) {
			max -= header.sh_size;
			visit(arg, data->d_buf, data->d_size);
		} else if (header.sh_size > 0) {
			left_out++;
		}
	}
	return left_out;
}
