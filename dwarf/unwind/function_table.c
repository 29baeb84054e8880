#include "dwarf/unwind/function_table.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>

#include "debugger/base/map.h"

enum { RELATIVE = DW_EH_PE_pcrel | DW_EH_PE_sdata4 };

/* A section of such entries. */
struct function_table_state {
	const Elf_Data *data;
	const unsigned char *ident; /* of the ELF file */
	uint64_t address;           /* of its first byte; link-time */
};

/* Bytes of a value in an encoding; 0: it varies, or the encoding is unknown. */
static size_t encoded_len(uint8_t encoding)
{
	switch (encoding & 0xf) {
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	}
	return 0;
}

/* Whether the addresses of the functions of a CIE are relative to themselves. */
static bool has_relative(const Dwarf_CIE *cie)
{
	const uint8_t *at = cie->augmentation_data;
	const uint8_t *end = at ? at + cie->augmentation_data_size : NULL;

	if (cie->augmentation[0] != 'z')
		return false;
	for (const char *c = cie->augmentation + 1; *c && at && at < end; c++) {
		if (*c == 'R')
			return *at == RELATIVE;
		if (*c == 'S' || *c == 'B')
			continue;
		size_t len = *c == 'L' ? 1 : *c == 'P' ? encoded_len(*at) : 0;
		if (!len || len >= (size_t)(end - at))
			return false;
		at += len + (*c == 'P');
	}
	return false;
}

static void visit_fde(const struct function_table_state *t, const Dwarf_FDE *fde,
                      function_table_fn *visit, void *arg)
{
	int32_t distance;
	uint32_t len;

	if (fde->end < fde->start ||
	    (size_t)(fde->end - fde->start) < sizeof(distance) + sizeof(len))
		return;
	uint64_t at = t->address + (uint64_t)(fde->start - (const uint8_t *)t->data->d_buf);
	memcpy(&distance, fde->start, sizeof(distance));
	memcpy(&len, fde->start + sizeof(distance), sizeof(len));
	uint64_t low = at + (uint64_t)(int64_t)distance;
	if (len && low + len > low)
		visit(low, low + len, arg);
}

/*
 * Visits all functions of a table. Each entry is read once: those of functions know only the
 * entries that come before them.
 */
static void each_of_table(const struct function_table_state *t, function_table_fn *visit, void *arg)
{
	struct map relative = { 0 }; /* offsets of CIEs, + 1 */
	Dwarf_Off at = 0, next = 0;
	Dwarf_CFI_Entry entry;
	int got;

	while ((got = dwarf_next_cfi(t->ident, (Elf_Data *)(uintptr_t)t->data, true, at, &next,
	                             &entry)) != 1) {
		bool is_cie = got == 0 && dwarf_cfi_cie_p(&entry);

		if (is_cie && has_relative(&entry.cie))
			map_put(&relative, at + 1, NULL);
		else if (got == 0 && !is_cie && map_has(&relative, entry.fde.CIE_pointer + 1))
			visit_fde(t, &entry.fde, visit, arg);
		if (next <= at) /* an entry that cannot be read, and tells no length */
			break;
		at = next;
	}
	map_free(&relative);
}

void function_table_each(Elf *elf, function_table_fn *visit, void *arg)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (!elf || gelf_getclass(elf) != ELFCLASS64 || elf_getshdrstrndx(elf, &names) != 0)
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *name =
			gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;
		Elf_Data *data =
			name && strcmp(name, ".eh_frame") == 0 && shdr.sh_type != SHT_NOBITS
				? elf_getdata(scn, NULL)
				: NULL;

		if (data && data->d_buf)
			each_of_table(
				&(struct function_table_state){
					data, (const unsigned char *)elf_getident(elf, NULL),
					shdr.sh_addr },
				visit, arg);
	}
}
