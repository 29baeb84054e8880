#include "dwarf/module/alternate.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debugger/base/log.h"
#include "debugger/elf/claimed_size.h"
#include "debugger/target/debug_file.h"

/* The smallest ELF file that libdw accepts as debug info: its .debug_str has one NUL. */
struct nothing {
	Elf64_Ehdr header;
	char names[24];
	char strings[8];
	Elf64_Shdr sections[3];
};

static const struct nothing nothing = {
	.header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_REL,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shoff = offsetof(struct nothing, sections),
		.e_shnum = 3,
		.e_shstrndx = 2,
	},
	.names = "\0.debug_str\0.shstrtab",
	.sections = {
		[1] = { .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_size = 1,
			.sh_offset = offsetof(struct nothing, strings), .sh_addralign = 1 },
		[2] = { .sh_name = 12, .sh_type = SHT_STRTAB, .sh_size = 24,
			.sh_offset = offsetof(struct nothing, names), .sh_addralign = 1 },
	},
};

static bool is_reference(uint64_t form)
{
	return form == DW_FORM_GNU_ref_alt || form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8;
}

/* Whether DIEs of a kind refer to those of the file. Skips its attributes (DWARF 5, 7.5.3). */
static bool skip_attributes(struct reader *r)
{
	bool refers = false;

	while (!r->bad) {
		uint64_t name = read_uleb(r), form = read_uleb(r);

		if (form == DW_FORM_implicit_const)
			read_sleb(r);
		if (!name && !form)
			break;
		refers |= is_reference(form);
	}
	return refers;
}

static bool has_references(struct section abbrev)
{
	struct reader r = reader_at(abbrev, 0, abbrev.size);
	bool ret = false;

	while (!ret && !r.bad && r.p < r.end) {
		/* 0: the end of the table of a unit. */
		if (!read_uleb(&r))
			continue;
		read_uleb(&r);    /* its tag */
		read_skip(&r, 1); /* whether it has children */
		ret = skip_attributes(&r);
	}
	return ret;
}

/* Opens the file. If there is none, dm->alternate stays without a Dwarf. */
static void open_file(struct dwarf_module *dm, const struct debug_link *link)
{
	struct alternate *alt = &dm->alternate;
	const char *main_file, *debug_file;
	char *path = NULL;

	dwfl_module_info(dm->module->dwfl, NULL, NULL, NULL, NULL, NULL, &main_file, &debug_file);
	const char *beside = debug_file ? debug_file : main_file;
	alt->fd = beside ? debug_file_find(dm->di->target, dm->module, beside, link, &path) : -1;
	if (alt->fd < 0)
		return;
	alt->is_open = true;
	alt->elf = elf_begin(alt->fd, ELF_C_READ_MMAP, NULL);
	const char *problem = alt->elf ? claimed_size_problem(alt->elf, &dm->di->arena) : NULL;
	alt->dwarf = alt->elf && !problem ? dwarf_begin_elf(alt->elf, DWARF_C_READ, NULL) : NULL;
	LOG("dwarf", "%s: alternate debug file %s", dm->module->path, path);
	free(path);
}

void alternate_open(struct dwarf_module *dm)
{
	struct alternate *alt = &dm->alternate;
	struct debug_link link = { 0 };
	const void *id;
	ssize_t len = dwelf_dwarf_gnu_debugaltlink(dm->dwarf, &link.name, &id);

	if (len <= 0)
		return;
	link.build_id = id;
	link.build_id_len = (size_t)len;
	open_file(dm, &link);
	if (!alt->dwarf) {
		alternate_close(dm); /* the file has no DWARF */
		alt->image = malloc(sizeof(nothing));
		if (!alt->image)
			out_of_memory();
		memcpy(alt->image, &nothing, sizeof(nothing));
		alt->elf = elf_memory(alt->image, sizeof(nothing));
		alt->dwarf = alt->elf ? dwarf_begin_elf(alt->elf, DWARF_C_READ, NULL) : NULL;
	}
	alt->has_dies = has_references(dm->sections.abbrev);
	alt->user = dm->dwarf;
	dwarf_setalt(dm->dwarf, alt->dwarf);
}

void alternate_close(struct dwarf_module *dm)
{
	struct alternate *alt = &dm->alternate;

	if (alt->user)
		dwarf_setalt(alt->user, NULL);
	if (alt->dwarf)
		dwarf_end(alt->dwarf);
	if (alt->elf)
		elf_end(alt->elf);
	if (alt->is_open)
		close(alt->fd);
	free(alt->image);
	*alt = (struct alternate){ 0 };
}
