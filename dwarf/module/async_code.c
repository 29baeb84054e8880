#include "dwarf/module/async_code.h"

#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <string.h>

#include "dwarf/module/symtab.h"

/* Split, so that asyncdbg's own file does not contain the whole message. */
static const char subject[] = "`async fn`", rest[] = " resumed after ";

static bool is_constant_data(const GElf_Shdr *shdr)
{
	return shdr->sh_type == SHT_PROGBITS && (shdr->sh_flags & SHF_ALLOC) &&
	       !(shdr->sh_flags & (SHF_EXECINSTR | SHF_WRITE));
}

static bool contains_message(const char *data, size_t size)
{
	const size_t before = sizeof(subject) - 1;
	const char *end = data + size;

	for (const char *at = data; at < end; at++) {
		at = memmem(at, (size_t)(end - at), rest, sizeof(rest) - 1);
		if (!at)
			return false;
		if ((size_t)(at - data) >= before && memcmp(at - before, subject, before) == 0)
			return true;
	}
	return false;
}

static bool has_message(const struct module *m)
{
	GElf_Addr bias;
	Elf *elf = m->dwfl ? dwfl_module_getelf(m->dwfl, &bias) : NULL;

	for (Elf_Scn *scn = NULL; elf && (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr shdr;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &shdr) || !is_constant_data(&shdr))
			continue;
		data = elf_rawdata(scn, NULL);
		if (data && data->d_buf && contains_message(data->d_buf, data->d_size))
			return true;
	}
	return false;
}

/*
 * Matches "..$u20$as$u20$core..future..future..Future$GT$4poll17h..", and in v0 "..6Future4poll".
 */
static bool has_poll_symbol(struct dwarf_module *dm)
{
	struct symtab t = symtab_of(dm);

	for (size_t i = 0; i < t.n; i++) {
		const char *name =
			ELF64_ST_TYPE(t.data[i].st_info) == STT_FUNC && t.data[i].st_value != 0
				? symtab_name(&t, &t.data[i])
				: NULL;

		if (name && name[0] == '_' &&
		    (strstr(name, "..Future$GT$4poll17h") || strstr(name, "6Future4poll")))
			return true;
	}
	return false;
}

bool module_has_async_code(struct dwarf_module *dm)
{
	return has_message(dm->module) || has_poll_symbol(dm);
}
