/* Sections that claim to be larger than they are, in files of a few hundred bytes. */
#include <gelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "debugger/elf/claimed_size.h"

enum { NAMES = 1, DEBUG = NAMES + 10 /* in the names below */ };

static char names[] = "\0.shstrtab\0.debug_info\0.zdebug_line";

static Elf_Scn *add(Elf *elf, size_t name, GElf_Word type, GElf_Xword flags, void *bytes,
                    size_t len)
{
	Elf_Scn *section = elf_newscn(elf);
	Elf_Data *data = elf_newdata(section);
	GElf_Shdr header;

	*data = (Elf_Data){
		.d_buf = bytes, .d_size = len, .d_type = ELF_T_BYTE, .d_version = EV_CURRENT
	};
	assert_non_null(gelf_getshdr(section, &header));
	header.sh_name = (GElf_Word)name;
	header.sh_type = type;
	header.sh_flags = flags;
	assert_int_not_equal(gelf_update_shdr(section, &header), 0);
	return section;
}

/* A file with sections of both forms, which claim those sizes. */
static const char *problem(struct arena *a, uint64_t standard, uint64_t gnu)
{
	Elf64_Chdr chdr = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = standard, .ch_addralign = 1 };
	unsigned char old[16] = "ZLIB";
	int fd = memfd_create("sections", MFD_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_WRITE, NULL);
	GElf_Ehdr header;

	for (int i = 0; i < 8; i++)
		old[4 + i] = (unsigned char)(gnu >> (56 - 8 * i));
	assert_non_null(gelf_newehdr(elf, ELFCLASS64));
	add(elf, NAMES, SHT_STRTAB, 0, names, sizeof(names));
	add(elf, DEBUG, SHT_PROGBITS, SHF_COMPRESSED, &chdr, sizeof(chdr));
	add(elf, DEBUG + 12, SHT_PROGBITS, 0, old, sizeof(old));
	assert_non_null(gelf_getehdr(elf, &header));
	header.e_shstrndx = 1;
	header.e_type = ET_DYN;
	header.e_machine = EM_X86_64;
	header.e_version = EV_CURRENT;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	assert_int_not_equal(gelf_update_ehdr(elf, &header), 0);
	assert_true(elf_update(elf, ELF_C_WRITE) > 0);
	elf_end(elf);

	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	const char *found = claimed_size_problem(elf, a);
	elf_end(elf);
	close(fd);
	return found;
}

static void sizes_are_checked_before_they_are_expanded(void **state)
{
	static const struct {
		uint64_t standard, gnu;
		const char *problem; /* NULL: none */
	} rows[] = {
		{ 1000, 1000, NULL },
		{ UINT64_C(15) << 30, 0, "16.1 GB" },
		{ 0, UINT64_C(15) << 30, "16.1 GB" },
		{ UINT64_C(3) << 29, UINT64_C(3) << 29, "3.2 GB" },
		{ UINT64_MAX, UINT64_MAX, "2 GB" },
	};

	(void)state;
	elf_version(EV_CURRENT);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		SCRATCH(a);
		const char *found = problem(&a, rows[i].standard, rows[i].gnu);

		if (rows[i].problem) {
			assert_non_null(found);
			assert_non_null(strstr(found, rows[i].problem));
		} else {
			assert_null(found);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_checked_before_they_are_expanded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
