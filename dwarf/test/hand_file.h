/* For tests and fuzzers: an ELF file with sections made by hand. */
#ifndef DWARF_TEST_HAND_FILE_H
#define DWARF_TEST_HAND_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dwarf/test/bytes.h"

struct hand_section {
	const char *name;
	struct section content;
	uint64_t address; /* link-time; 0: it is not loaded */
};

static inline void put_section_header(struct bytes *out, uint32_t name, uint32_t type,
                                      uint64_t address, uint64_t offset, uint64_t size)
{
	Elf64_Shdr header = { .sh_name = name,
		              .sh_type = type,
		              .sh_flags = address ? SHF_ALLOC : 0,
		              .sh_addr = address,
		              .sh_offset = offset,
		              .sh_size = size,
		              .sh_addralign = 1 };

	put(out, &header, sizeof(header));
}

/* .eh_frame_hdr is found through its segment, too. */
static inline void put_program_headers(struct bytes *out, uint64_t low, uint64_t high,
                                       const struct hand_section *header, uint64_t offset)
{
	const Elf64_Phdr phdrs[] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_vaddr = low,
		  .p_memsz = high - low,
		  .p_align = 0x1000 },
		{ .p_type = header ? PT_GNU_EH_FRAME : PT_NULL,
		  .p_flags = PF_R,
		  .p_offset = offset,
		  .p_vaddr = header ? header->address : 0,
		  .p_filesz = header ? header->content.size : 0,
		  .p_memsz = header ? header->content.size : 0 },
	};

	put(out, phdrs, sizeof(phdrs));
}

/* An executable of x86-64 in memory with n sections; [low, high) are its link-time addresses. */
static inline int hand_file(const struct hand_section *sections, size_t n, uint64_t low,
                            uint64_t high)
{
	static const char own_name[] = ".shstrtab";
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
		              .e_type = ET_EXEC,
		              .e_machine = EM_X86_64,
		              .e_version = 1,
		              .e_phoff = sizeof(header),
		              .e_ehsize = sizeof(header),
		              .e_phentsize = sizeof(Elf64_Phdr),
		              .e_phnum = 2,
		              .e_shentsize = sizeof(Elf64_Shdr),
		              .e_shnum = (uint16_t)(n + 2),
		              .e_shstrndx = (uint16_t)(n + 1) };
	uint64_t first = sizeof(header) + 2 * sizeof(Elf64_Phdr), offset = first;
	struct bytes out = { 0 }, names = { 0 }, headers = { 0 }, contents = { 0 };
	const struct hand_section *frames = NULL;
	uint64_t frames_offset = 0;

	put_fixed(&names, 0, 1);
	put_section_header(&headers, 0, SHT_NULL, 0, 0, 0);
	for (size_t i = 0; i < n; i++, offset = first + contents.n) {
		if (strcmp(sections[i].name, ".eh_frame_hdr") == 0) {
			frames = &sections[i];
			frames_offset = offset;
		}
		put_section_header(&headers, (uint32_t)names.n, SHT_PROGBITS, sections[i].address,
		                   offset, sections[i].content.size);
		put_text(&names, sections[i].name);
		put(&contents, sections[i].content.data, sections[i].content.size);
	}
	put_section_header(&headers, (uint32_t)names.n, SHT_STRTAB, 0, offset,
	                   names.n + sizeof(own_name));
	put(&names, own_name, sizeof(own_name));
	header.e_shoff = offset + names.n;
	put(&out, &header, sizeof(header));
	put_program_headers(&out, low, high, frames, frames_offset);
	put(&out, contents.data, contents.n);
	put(&out, names.data, names.n);
	put(&out, headers.data, headers.n);
	int fd = memfd_create("module", MFD_CLOEXEC);
	if (fd < 0 || write(fd, out.data, out.n) != (ssize_t)out.n)
		abort();
	free_bytes(&out);
	free_bytes(&names);
	free_bytes(&headers);
	free_bytes(&contents);
	return fd;
}

#endif
