/* Tests of thread-local variables, of executables and of libraries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "debugger/target/module.h"
#include "debugger/test/program.h"
#include "debugger/test/target_fake.h"

/* Offset of local.value in threads.c: local is the first and most aligned thread-local. */
enum { LOCAL_VALUE = 24 };

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

static void expect_ok(struct error *err)
{
	if (err)
		fail_msg("%s", err->message);
}

static const char *in_directory(const char *name)
{
	static char path[2 * PROGRAM_PATH];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void check_executable(const char *flags)
{
	const struct target_options options = { 0 };
	struct target *t CLEANUP(target_closep) = NULL;

	if (!program_build(directory, "program", "threads.c", flags))
		skip();
	struct program p CLEANUP(program_kill) = program_start(in_directory("program"), NULL, NULL);
	expect_ok(target_live_open(p.pid, &options, &t));
	expect_ok(target_stop(t));
	for (size_t i = 0; i < p.nthreads; i++) {
		const struct thread *th = target_thread_by_tid(t, p.threads[i].tid);
		uint64_t addr, value;
		bool found;
		expect_ok(target_tls_address(t, th, t->modules.main, LOCAL_VALUE, &addr, &found));
		assert_true(found);
		assert_int_equal(addr, p.threads[i].local);
		expect_ok(target_read_uint(t, addr, 8, &value));
		assert_true(value == UINT64_C(0x1122334455667788));
	}
	target_close(t);
	t = NULL;
	program_end(&p);
}

static void test_executables(void **state)
{
	(void)state;
	check_executable("-fPIE -pie");
	check_executable("-fno-pie -no-pie");
	check_executable("-fno-pie -static");
	check_executable("-fPIE -static-pie");
}

static const struct module *find_library(const struct target *t)
{
	for (size_t i = 0; i < t->modules.n; i++) {
		if (strstr(t->modules.data[i]->path, "/library.so"))
			return t->modules.data[i];
	}
	fail_msg("no library.so");
	return NULL;
}

/* The library's variable must have the same offset in its block in all threads. */
static void check_library(const struct program *p, bool preloaded)
{
	const struct target_options options = { 0 };
	struct target *t CLEANUP(target_closep) = NULL;
	uint64_t block, offset = 0, value;
	bool found;

	expect_ok(target_live_open(p->pid, &options, &t));
	const struct module *m = find_library(t);
	expect_ok(target_stop(t));
	for (size_t i = 0; i < p->nthreads; i++) {
		const struct thread *th = target_thread_by_tid(t, p->threads[i].tid);
		expect_ok(target_tls_address(t, th, m, 0, &block, &found));
		if (p->threads[i].library_local == 0) {
			assert_int_equal(found, preloaded);
			continue;
		}
		assert_true(found);
		if (offset == 0)
			offset = p->threads[i].library_local - block;
		assert_true(offset < m->tls_memsz);
		expect_ok(target_tls_address(t, th, m, offset, &block, &found));
		assert_int_equal(block, p->threads[i].library_local);
		expect_ok(target_read_uint(t, block, 8, &value));
		assert_true(value == UINT64_C(0x99aabbccddeeff00));
	}
}

static void test_libraries(void **state)
{
	char library[2 * PROGRAM_PATH];

	(void)state;
	snprintf(library, sizeof(library), "%s", in_directory("library.so"));
	if (!program_build(directory, "loader", "threads.c", "") ||
	    !program_build(directory, "library.so", "library.c", "-shared -fPIC"))
		skip();
	for (int preloaded = 0; preloaded < 2; preloaded++) {
		struct program p CLEANUP(program_kill) =
			program_start(in_directory("loader"), library, preloaded ? library : NULL);
		check_library(&p, preloaded);
	}
}

/* Combinations of alignment and p_vaddr, with the results of the linkers and glibc. */
static void test_variant_two_formula(void **state)
{
	static const struct {
		uint64_t memsz, align, vaddr, below; /* block = thread pointer - below */
	} cases[] = {
		{ 8, 8, 0x1000, 8 },    { 5, 4, 0x1000, 8 },      { 1, 1, 0x1003, 1 },
		{ 1, 0, 0x1003, 1 },    { 216, 64, 0x1000, 256 }, { 100, 64, 0x1010, 112 },
		{ 16, 16, 0x1008, 24 },
	};
	struct target *t CLEANUP(target_closep) = target_fake_open();
	struct thread *th = target_fake_thread(t, 1);
	uint64_t addr;
	bool found;

	(void)state;
	th->regs.thread_pointer = 0x7f0000001000;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct module m = { .path = "m",
			                  .is_main = true,
			                  .tls_memsz = cases[i].memsz,
			                  .tls_align = cases[i].align,
			                  .tls_vaddr = cases[i].vaddr };
		expect_ok(target_tls_address(t, th, &m, 0, &addr, &found));
		assert_true(found);
		assert_int_equal(0x7f0000001000 - addr, cases[i].below);
	}
}

static void test_what_is_no_thread_local(void **state)
{
	struct target *t CLEANUP(target_closep) = target_fake_open();
	struct thread *th = target_fake_thread(t, 1);
	struct module m = { .path = "m", .is_main = true, .tls_memsz = 8, .tls_align = 8 };
	uint64_t addr = 7;
	bool found = true;

	(void)state;
	struct error *err = target_tls_address(t, th, &m, 8, &addr, &found);
	assert_int_equal(err->kind, ERR_LAYOUT);
	error_free(err);
	m.tls_align = 12;
	err = target_tls_address(t, th, &m, 0, &addr, &found);
	assert_int_equal(err->kind, ERR_LAYOUT);
	error_free(err);
	m.tls_align = 8;
	th->regs.thread_pointer = 0;
	expect_ok(target_tls_address(t, th, &m, 0, &addr, &found));
	assert_false(found);
	/* A library in a program without glibc is not supported. */
	th->has_regs = true;
	th->regs.thread_pointer = 0x1000;
	m.is_main = false;
	err = target_tls_address(t, th, &m, 0, &addr, &found);
	assert_int_equal(err->kind, ERR_UNSUPPORTED);
	error_free(err);
	assert_int_equal(addr, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_executables),
		cmocka_unit_test(test_libraries),
		cmocka_unit_test(test_variant_two_formula),
		cmocka_unit_test(test_what_is_no_thread_local),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
