/* Tests of modules: bias, files that were deleted or replaced, debug files, damaged headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <elfutils/libdwfl.h>

#include "debugger/base/str.h"
#include "debugger/elf/elf_image.h"
#include "debugger/target/module.h"
#include "debugger/test/program.h"
#include "debugger/test/target_fake.h"

static const char *directory;

static int setup(void **state)
{
	(void)state;
	directory = program_directory();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	program_remove_directory(directory);
	return 0;
}

static const char *in_directory(const char *name)
{
	static char path[2 * PROGRAM_PATH];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static struct target *open_program(const struct program *p)
{
	const struct target_options options = { 0 };
	struct target *t = NULL;
	struct error *err CLEANUP(error_freep) = target_live_open(p->pid, &options, &t);

	if (err)
		fail_msg("%s", err->message);
	return t;
}

/* The symbol has the expected address in libdwfl, so the bias is right. */
static void check_symbol(const struct target *t, const char *name, uint64_t expected)
{
	GElf_Sym sym;
	GElf_Addr addr;
	int n = dwfl_module_getsymtab(t->modules.main->dwfl);

	for (int i = 0; i < n; i++) {
		const char *s = dwfl_module_getsym_info(t->modules.main->dwfl, i, &sym, &addr, NULL,
		                                        NULL, NULL);
		if (!s || strcmp(s, name) != 0)
			continue;
		assert_int_equal(addr, expected);
		assert_int_equal(
			module_runtime_addr(t->modules.main, (struct link_addr){ sym.st_value }),
			expected);
		return;
	}
	fail_msg("no symbol %s", name);
}

static void check_kind(const char *flags, bool is_static)
{
	if (!program_build(directory, "kind", "threads.c", flags))
		skip();
	struct program p CLEANUP(program_kill) = program_start(in_directory("kind"), NULL, NULL);
	struct target *t CLEANUP(target_closep) = open_program(&p);

	assert_non_null(t->modules.main);
	assert_string_equal(t->modules.main->file, in_directory("kind"));
	assert_true(t->modules.main->build_id_len > 0);
	check_symbol(t, "variable", p.variable);
	check_symbol(t, "constant", p.constant);
	assert_ptr_equal(module_at(t, p.variable), t->modules.main);
	assert_ptr_equal(module_at(t, t->entry), t->modules.main);
	assert_null(module_at(t, 0));
	assert_null(module_at(t, UINT64_MAX));
	size_t nfiles = 0, nvdso = 0;
	for (size_t i = 0; i < t->modules.n; i++) {
		nfiles += !t->modules.data[i]->is_vdso;
		nvdso += t->modules.data[i]->is_vdso;
		assert_non_null(t->modules.data[i]->dwfl);
		assert_true(i == 0 || t->modules.data[i]->start >= t->modules.data[i - 1]->end);
	}
	assert_int_equal(nvdso, 1);
	assert_true(is_static ? nfiles == 1 : nfiles >= 3);
	assert_int_equal(t->nnotes, 0);
	target_close(t);
	t = NULL;
	assert_int_equal(program_end(&p), 0);
}

static void test_pie(void **state)
{
	(void)state;
	check_kind("-fPIE -pie", false);
}

static void test_fixed_address(void **state)
{
	(void)state;
	check_kind("-fno-pie -no-pie", false);
}

static void test_static(void **state)
{
	(void)state;
	check_kind("-fno-pie -static", true);
}

static void test_static_pie(void **state)
{
	(void)state;
	check_kind("-fPIE -static-pie", true);
}

static void test_data_and_text_in_one_page(void **state)
{
	(void)state;
	check_kind("-Wl,-z,noseparate-code", false);
}

static void test_deleted_executable(void **state)
{
	(void)state;
	if (!program_build(directory, "deleted", "threads.c", ""))
		skip();
	struct program p CLEANUP(program_kill) = program_start(in_directory("deleted"), NULL, NULL);
	assert_int_equal(unlink(in_directory("deleted")), 0);
	/* Another program now has its name. */
	assert_int_equal(program_run("cp /bin/true '%s'", in_directory("deleted")), 0);
	struct target *t CLEANUP(target_closep) = open_program(&p);

	assert_non_null(t->modules.main);
	assert_string_equal(t->modules.main->path, in_directory("deleted"));
	check_symbol(t, "variable", p.variable);
}

static void test_replaced_library(void **state)
{
	char library[2 * PROGRAM_PATH];

	(void)state;
	snprintf(library, sizeof(library), "%s", in_directory("library.so"));
	if (!program_build(directory, "loader", "threads.c", "") ||
	    !program_build(directory, "library.so", "library.c", "-shared -fPIC"))
		skip();
	struct program p CLEANUP(program_kill) =
		program_start(in_directory("loader"), library, NULL);
	assert_int_equal(unlink(library), 0);
	assert_int_equal(program_run("cp /bin/true '%s'", library), 0);
	struct target *t CLEANUP(target_closep) = open_program(&p);
	const struct module *found = NULL;

	for (size_t i = 0; i < t->modules.n; i++) {
		if (strcmp(t->modules.data[i]->path, library) == 0)
			found = t->modules.data[i];
	}
	assert_non_null(found);
	/*
	 * The file is found in map_files if that is permitted; the new file of that name is never
	 * used.
	 */
	if (found->dwfl)
		assert_true(found->tls_memsz > 0);
	else
		assert_non_null(strstr(t->notes[0], "library.so"));
}

static void test_separate_debug_file(void **state)
{
	(void)state;
	if (!program_build(directory, "stripped", "threads.c", "") ||
	    program_run("cd '%s' && objcopy --only-keep-debug stripped stripped.debug && "
	                "strip stripped && objcopy --add-gnu-debuglink=stripped.debug stripped",
	                directory) != 0)
		skip();
	struct program p CLEANUP(program_kill) =
		program_start(in_directory("stripped"), NULL, NULL);
	struct target *t CLEANUP(target_closep) = open_program(&p);
	Dwarf_Addr bias;

	assert_non_null(dwfl_module_getdwarf(t->modules.main->dwfl, &bias));
	check_symbol(t, "variable", p.variable);
}

/* --- damaged headers --- */

struct bytes {
	const char *data;
	size_t len;
};

static bool read_bytes(void *arg, uint64_t offset, void *buf, size_t len)
{
	const struct bytes *b = arg;

	if (offset > b->len || len > b->len - offset)
		return false;
	memcpy(buf, b->data + offset, len);
	return true;
}

static void make_elf(struct str *s)
{
	static const struct {
		Elf64_Nhdr header;
		char name[4], id[20];
	} note = { { 4, 20, NT_GNU_BUILD_ID }, "GNU", "0123456789abcdefghi" };
	static const Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 3,
	};
	static const Elf64_Phdr phdrs[3] = {
		{ PT_LOAD, PF_R | PF_X, 0, 0, 0, 0x300, 0x300, 4096 },
		{ PT_NOTE, PF_R, 64 + 3 * 56, 64 + 3 * 56, 0, sizeof(note), sizeof(note), 4 },
		{ PT_TLS, PF_R, 0x200, 0x200, 0, 0x10, 0x20, 16 },
	};

	str_append_len(s, (const char *)&header, sizeof(header));
	str_append_len(s, (const char *)phdrs, sizeof(phdrs));
	str_append_len(s, (const char *)&note, sizeof(note));
}

static void test_image_headers(void **state)
{
	SCRATCH(a);
	STR(elf);
	struct elf_image image;

	(void)state;
	make_elf(&elf);
	struct bytes bytes = { elf.data, elf.len };
	const struct elf_source from = { read_bytes, &bytes, false };
	assert_true(elf_image_read(&a, &from, EM_X86_64, &image));
	assert_int_equal(image.build_id_len, 20);
	assert_memory_equal(image.build_id, "0123456789abcdefghi", 20);
	assert_int_equal(image.tls->p_memsz, 0x20);
	assert_int_equal(image.low, 0);
	assert_int_equal(image.high, 0x300);
	assert_false(elf_image_read(&a, &from, EM_AARCH64, &image));
	for (bytes.len = 0; bytes.len < 64 + 3 * 56; bytes.len++)
		assert_false(elf_image_read(&a, &from, EM_X86_64, &image));
	/* A truncated note gives no build-id. */
	for (; bytes.len < elf.len; bytes.len++) {
		assert_true(elf_image_read(&a, &from, EM_X86_64, &image));
		assert_int_equal(image.build_id_len, 0);
	}
}

static void test_damaged_image_headers(void **state)
{
	static const unsigned char damage[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	STR(elf);

	(void)state;
	make_elf(&elf);
	struct bytes bytes = { elf.data, elf.len };
	for (size_t i = 0; i < elf.len; i++) {
		for (size_t j = 0; j < sizeof(damage); j++) {
			SCRATCH(a);
			struct elf_image image;
			char saved = elf.data[i];
			const struct elf_source from = { read_bytes, &bytes, j % 2 };
			elf.data[i] = (char)damage[j];
			if (elf_image_read(&a, &from, EM_X86_64, &image))
				assert_true(image.low < image.high);
			elf.data[i] = saved;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pie),
		cmocka_unit_test(test_fixed_address),
		cmocka_unit_test(test_static),
		cmocka_unit_test(test_static_pie),
		cmocka_unit_test(test_data_and_text_in_one_page),
		cmocka_unit_test(test_deleted_executable),
		cmocka_unit_test(test_replaced_library),
		cmocka_unit_test(test_separate_debug_file),
		cmocka_unit_test(test_image_headers),
		cmocka_unit_test(test_damaged_image_headers),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
