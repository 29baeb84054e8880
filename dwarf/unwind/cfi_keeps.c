#include "dwarf/unwind/cfi_keeps.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	HEADER_SIZE = 12, /* of .eh_frame_hdr, up to its table */
	RELATIVE = DW_EH_PE_pcrel | DW_EH_PE_sdata4,
	COUNT = DW_EH_PE_udata4,
	TABLE = DW_EH_PE_datarel | DW_EH_PE_sdata4,
};

/* .eh_frame and the sorted table of its entries, as LSB 5.0 (10.6.2) has it. */
struct cfi_keeps_tables {
	Elf *elf;
	Elf_Data *frames;
	const unsigned char *table;
	size_t n;                                /* entries of the table */
	uint64_t frames_address, header_address; /* link-time */
};

struct cfi_keeps_entry {
	int32_t function, frame; /* relative to the header */
};

static bool find_tables(Elf *elf, struct cfi_keeps_tables *ret)
{
	const Elf_Data *header = NULL;
	Elf_Scn *scn = NULL;
	size_t names;

	*ret = (struct cfi_keeps_tables){ .elf = elf };
	if (!elf || gelf_getclass(elf) != ELFCLASS64 || elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((!header || !ret->frames) && (scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *name =
			gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;

		if (!name || shdr.sh_type == SHT_NOBITS)
			continue;
		if (strcmp(name, ".eh_frame_hdr") == 0) {
			header = elf_rawdata(scn, NULL);
			ret->header_address = shdr.sh_addr;
		} else if (strcmp(name, ".eh_frame") == 0) {
			ret->frames = elf_rawdata(scn, NULL);
			ret->frames_address = shdr.sh_addr;
		}
	}
	static const unsigned char expected[] = { 1, RELATIVE, COUNT, TABLE };
	uint32_t n;

	if (!header || !header->d_buf || header->d_size < HEADER_SIZE || !ret->frames ||
	    !ret->frames->d_buf || memcmp(header->d_buf, expected, sizeof(expected)) != 0)
		return false;
	ret->table = (const unsigned char *)header->d_buf + HEADER_SIZE;
	memcpy(&n, ret->table - sizeof(n), sizeof(n));
	ret->n = n;
	return n && n <= (header->d_size - HEADER_SIZE) / sizeof(struct cfi_keeps_entry);
}

static struct cfi_keeps_entry entry_at(const struct cfi_keeps_tables *t, size_t i)
{
	struct cfi_keeps_entry ret;

	memcpy(&ret, t->table + i * sizeof(ret), sizeof(ret));
	return ret;
}

/* The offset in .eh_frame of the entry of the function that has the link-time address. */
static uint64_t cfi_keeps_frame_of(const struct cfi_keeps_tables *t, uint64_t address)
{
	size_t low = 0, high = t->n;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		uint64_t begin =
			t->header_address + (uint64_t)(int64_t)entry_at(t, middle).function;

		if (begin <= address)
			low = middle;
		else
			high = middle;
	}
	return t->header_address + (uint64_t)(int64_t)entry_at(t, low).frame - t->frames_address;
}

static bool cfi_keeps_read_entry(const struct cfi_keeps_tables *t, uint64_t offset,
                                 Dwarf_CFI_Entry *ret)
{
	Dwarf_Off next;

	return offset < t->frames->d_size &&
	       dwarf_next_cfi((const unsigned char *)elf_getident(t->elf, NULL), t->frames, true,
	                      offset, &next, ret) == 0;
}

/*
 * Whether the instructions may have a rule "undefined" for the register: anything that looks like
 * one counts.
 */
static bool may_undefine(const uint8_t *at, const uint8_t *end, unsigned reg)
{
	for (; at && at < end && end - at > 1; at++) {
		if (at[0] == DW_CFA_undefined && at[1] == reg)
			return true;
	}
	return false;
}

static bool frame_may_undefine(const struct cfi_keeps_tables *t, uint64_t address, unsigned reg)
{
	Dwarf_CFI_Entry fde, cie;

	return !cfi_keeps_read_entry(t, cfi_keeps_frame_of(t, address), &fde) ||
	       dwarf_cfi_cie_p(&fde) || !cfi_keeps_read_entry(t, fde.fde.CIE_pointer, &cie) ||
	       !dwarf_cfi_cie_p(&cie) || may_undefine(fde.fde.start, fde.fde.end, reg) ||
	       may_undefine(cie.cie.initial_instructions, cie.cie.initial_instructions_end, reg);
}

/* Whether libdw has no rule for the register, or the rule "undefined". */
static bool is_without_rule(Dwarf_Frame *frame, unsigned reg)
{
	Dwarf_Op memory[3], *ops = memory;
	size_t n = 1;

	return dwarf_frame_register(frame, (int)reg, memory, &ops, &n) == 0 && n == 0 &&
	       ops == memory;
}

uint64_t cfi_keeps(const struct target *t, uint64_t pc, uint64_t regs)
{
	Dwfl_Module *module = dwfl_addrmodule(t->dwfl, pc);
	Dwarf_Addr bias, elf_bias;
	Dwarf_CFI *cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
	Dwarf_Frame *frame = NULL;
	struct cfi_keeps_tables tables;
	uint64_t ret = 0;

	if (!cfi || dwarf_cfi_addrframe(cfi, pc - bias, &frame) != 0)
		return 0;
	for (unsigned i = 0; i < t->arch->nregs; i++)
		ret |= UINT64_C(1) << i & regs & (is_without_rule(frame, i) ? UINT64_MAX : 0);
	free(frame);
	if (!ret || !find_tables(dwfl_module_getelf(module, &elf_bias), &tables))
		return 0;
	for (unsigned i = 0; i < t->arch->nregs; i++) {
		if (ret >> i & 1 && frame_may_undefine(&tables, pc - elf_bias, i))
			ret &= ~(UINT64_C(1) << i);
	}
	return ret;
}
