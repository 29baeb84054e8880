/* Tests of function_table.c, on the test's own executable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include "debugger/base/error.h"
#include "debugger/base/file.h"
#include "dwarf/unwind/function_table.h"

enum { MAX_FILE = 64 << 20, ROUNDS = 2000 };

static uint8_t *bytes;
static size_t len;

static int setup(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct error *err = file_read(fd, "the test", MAX_FILE, &bytes, &len);

	(void)state;
	close(fd);
	elf_version(EV_CURRENT);
	return err ? -1 : 0;
}

static int teardown(void **state)
{
	(void)state;
	file_bytes_free(&bytes);
	return 0;
}

struct wanted {
	uint64_t low, high;
	size_t found, all;
};

static void compare(uint64_t low, uint64_t high, void *arg)
{
	struct wanted *w = arg;

	w->all++;
	w->found += low == w->low && high == w->high;
}

/* A section by its name; header is filled. */
static Elf_Scn *section(Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *scn = NULL;
	size_t names;

	elf_getshdrstrndx(elf, &names);
	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, header)) {
		const char *own = elf_strptr(elf, names, header->sh_name);

		if (own && strcmp(own, name) == 0)
			return scn;
	}
	fail_msg("there is no section %s", name);
	return NULL;
}

static struct wanted range_of(Elf *elf, const char *function)
{
	GElf_Shdr header;
	Elf_Data *data = elf_getdata(section(elf, ".symtab", &header), NULL);
	GElf_Sym sym;

	for (int i = 0; gelf_getsym(data, i, &sym); i++) {
		const char *name = elf_strptr(elf, header.sh_link, sym.st_name);

		if (name && strcmp(name, function) == 0)
			return (struct wanted){ sym.st_value, sym.st_value + sym.st_size, 0, 0 };
	}
	return (struct wanted){ 0 };
}

static void test_the_functions_of_a_file(void **state)
{
	static const char *const functions[] = { "main", "range_of", "function_table_each" };
	Elf *elf = elf_memory((char *)bytes, len);

	(void)state;
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		struct wanted w = range_of(elf, functions[i]);

		if (!w.low) /* inlined */
			continue;
		function_table_each(elf, compare, &w);
		assert_int_equal(w.found, 1);
	}
	elf_end(elf);
	function_table_each(NULL, compare, NULL);
}

/* Whatever the bytes are, the search ends; it finds at most an entry for each 8 bytes. */
static void test_a_table_that_is_damaged(void **state)
{
	Elf *elf = elf_memory((char *)bytes, len);
	GElf_Shdr header;

	(void)state;
	section(elf, ".eh_frame", &header);
	elf_end(elf);
	uint8_t *table = bytes + header.sh_offset;
	uint8_t *saved = malloc(header.sh_size);
	assert_non_null(saved);
	memcpy(saved, table, header.sh_size);
	srand(1);
	for (int i = 0; i < ROUNDS; i++) {
		struct wanted w = { 0 };

		for (int n = rand() % 8 + 1; n > 0; n--)
			table[(size_t)rand() % header.sh_size] = (uint8_t)rand();
		elf = elf_memory((char *)bytes, len);
		function_table_each(elf, compare, &w);
		elf_end(elf);
		assert_true(w.all <= header.sh_size / 8);
		memcpy(table, saved, header.sh_size);
	}
	free(saved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_functions_of_a_file),
		cmocka_unit_test(test_a_table_that_is_damaged),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
