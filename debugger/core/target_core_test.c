/* Tests of cores: made by hand, damaged and truncated ones, and those of gcore. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "debugger/base/str.h"
#include "debugger/target/module.h"
#include "debugger/target/target.h"
#include "debugger/test/program.h"

static const char *directory;

static void expect_ok(struct error *err)
{
	if (err)
		fail_msg("%s", err->message);
}

static void expect_error(struct error *err, enum error_kind kind, const char *part)
{
	assert_non_null(err);
	if (!strstr(err->message, part))
		fail_msg("'%s' lacks '%s'", err->message, part);
	assert_int_equal(err->kind, kind);
	assert_null(strchr(err->message, '\n'));
	error_free(err);
}

static struct error *open_core(const char *path, struct target **ret)
{
	const struct target_options options = { 0 };

	return target_core_open(path, &options, ret);
}

static const char *write_file(const void *data, size_t len)
{
	static char path[2 * PROGRAM_PATH];

	snprintf(path, sizeof(path), "%s/made", directory);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	close(fd);
	return path;
}

/* --- cores made by hand: two threads, one note of files, three segments --- */

enum { PRSTATUS_SIZE = 336, PRSTATUS_PC = 112 + 16 * 8 };
enum { LOAD_ADDR = 0x10000, GONE_ADDR = 0x20000, TEXT_ADDR = 0x30000 };

static void append(struct str *s, const void *data, size_t len)
{
	str_append_len(s, data, len);
}

static void append_note(struct str *s, uint32_t type, const void *desc, size_t len)
{
	const Elf64_Nhdr header = { .n_namesz = 5, .n_descsz = (uint32_t)len, .n_type = type };

	append(s, &header, sizeof(header));
	append(s, "CORE\0\0\0", 8);
	append(s, desc, len);
	append(s, "\0\0\0", (4 - len % 4) % 4);
}

static void append_thread(struct str *s, int tid, uint64_t pc, uint16_t signal)
{
	unsigned char status[PRSTATUS_SIZE] = { 0 };

	memcpy(status + 12, &signal, sizeof(signal));
	memcpy(status + 32, &tid, sizeof(tid));
	memcpy(status + PRSTATUS_PC, &pc, sizeof(pc));
	append_note(s, NT_PRSTATUS, status, sizeof(status));
}

static void append_notes(struct str *s, uint16_t signal)
{
	unsigned char prpsinfo[136] = { 0 };
	uint32_t siginfo[32] = { signal, 0, 1, 0, 0xdead };
	struct {
		uint64_t count, unit, start, end, offset;
		char name[8];
	} files = { 1, 4096, TEXT_ADDR, TEXT_ADDR + 0x1000, 0, "/no/exe" };
	const uint64_t auxv[] = { AT_ENTRY, TEXT_ADDR + 8, AT_NULL, 0 };

	prpsinfo[24] = 100;
	memcpy(prpsinfo + 40, "crasher\x1b", 8);
	append_thread(s, 102, 0x1111, signal);
	append_note(s, NT_PRPSINFO, prpsinfo, sizeof(prpsinfo));
	append_note(s, NT_SIGINFO, siginfo, sizeof(siginfo));
	append_note(s, NT_AUXV, auxv, sizeof(auxv));
	append_note(s, NT_FILE, &files, sizeof(files));
	append_thread(s, 100, 0x2222, 0);
	append_thread(s, 101, 0x3333, 0);
}

static void make_core(struct str *s, uint16_t signal)
{
	static const Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE,
		.e_machine = EM_X86_64,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 4,
	};
	STR(notes);
	append_notes(&notes, signal);
	uint64_t at = sizeof(header) + 4 * sizeof(Elf64_Phdr);
	const Elf64_Phdr phdrs[4] = {
		{ .p_type = PT_NOTE, .p_offset = at, .p_filesz = notes.len },
		{ PT_LOAD, PF_R | PF_W, at + notes.len, LOAD_ADDR, 0, 16, 32, 1 },
		{ PT_LOAD, PF_R | PF_W, at + notes.len + 16, GONE_ADDR, 0, 0, 4096, 1 },
		{ PT_LOAD, PF_R | PF_X, at + notes.len + 16, TEXT_ADDR, 0, 0, 4096, 1 },
	};
	append(s, &header, sizeof(header));
	append(s, phdrs, sizeof(phdrs));
	append(s, notes.data, notes.len);
	append(s, "0123456789abcdef", 16);
}

static void test_crashed_core(void **state)
{
	struct target *t CLEANUP(target_closep) = NULL;
	STR(core);
	char buf[32];
	size_t got;

	(void)state;
	make_core(&core, SIGSEGV);
	expect_ok(open_core(write_file(core.data, core.len), &t));
	assert_int_equal(t->pid, 100);
	assert_string_equal(t->command, "crasher?");
	assert_true(t->stopped);
	assert_int_equal(t->signal.number, SIGSEGV);
	assert_int_equal(t->signal.code, 1);
	assert_int_equal(t->signal.tid, 102);
	assert_int_equal(t->signal.addr, 0xdead);
	assert_int_equal(t->nthreads, 3);
	assert_int_equal(t->threads[0].tid, 100);
	assert_int_equal(t->threads[0].regs.r[t->arch->pc], 0x2222);
	assert_int_equal(t->threads[2].tid, 102);
	assert_int_equal(t->entry, TEXT_ADDR + 8);
	assert_false(t->clock.known);
	expect_ok(target_read_some(t, LOAD_ADDR + 4, buf, sizeof(buf), &got));
	assert_int_equal(got, 12);
	assert_memory_equal(buf, "456789abcdef", 12);
	expect_ok(target_read_some(t, GONE_ADDR, buf, sizeof(buf), &got));
	assert_int_equal(got, 0);
	expect_ok(target_read_some(t, TEXT_ADDR, buf, sizeof(buf), &got));
	assert_int_equal(got, 0);
	assert_null(t->modules.main);
	assert_non_null(strstr(t->notes[0], "/no/exe"));
}

struct seen {
	uint64_t start, end;
	int n;
};

static bool see(uint64_t start, uint64_t end, void *arg)
{
	struct seen *s = arg;

	s->start = start;
	s->end = end;
	s->n++;
	return true;
}

/* Read-only segments are left out, and bytes that are not in the core. */
static void test_writable_memory_of_a_core(void **state)
{
	struct target *t CLEANUP(target_closep) = NULL;
	struct seen s = { 0 };
	STR(core);

	(void)state;
	make_core(&core, SIGSEGV);
	expect_ok(open_core(write_file(core.data, core.len), &t));
	expect_ok(target_each_writable(t, see, &s));
	assert_int_equal(s.n, 1);
	assert_int_equal(s.start, LOAD_ADDR);
	assert_int_equal(s.end, LOAD_ADDR + 16);
}

static void test_core_of_a_running_process_has_no_signal(void **state)
{
	struct target *t CLEANUP(target_closep) = NULL;
	STR(core);

	(void)state;
	make_core(&core, SIGSTOP);
	expect_ok(open_core(write_file(core.data, core.len), &t));
	assert_int_equal(t->signal.number, 0);
	assert_int_equal(t->signal.tid, 0);
}

static void test_files_that_are_no_cores(void **state)
{
	struct target *t = NULL;
	STR(core);

	(void)state;
	make_core(&core, SIGSEGV);
	expect_error(open_core("/nonexistent/core", &t), ERR_OS, "No such file");
	expect_error(open_core("/", &t), ERR_UNSUPPORTED, "not a file");
	expect_error(open_core("/dev/zero", &t), ERR_UNSUPPORTED, "not a file");
	expect_error(open_core(write_file("", 0), &t), ERR_UNSUPPORTED, "empty");
	expect_error(open_core(write_file("\x7f"
	                                  "ELF",
	                                  4),
	                       &t),
	             ERR_UNSUPPORTED, "too short");
	core.data[EI_CLASS] = ELFCLASS32;
	expect_error(open_core(write_file(core.data, core.len), &t), ERR_UNSUPPORTED, "32-bit");
	core.data[EI_CLASS] = ELFCLASS64;
	core.data[18] = (char)EM_AARCH64;
	expect_error(open_core(write_file(core.data, core.len), &t), ERR_UNSUPPORTED,
	             "aarch64: not supported yet");
	core.data[18] = EM_SPARC;
	expect_error(open_core(write_file(core.data, core.len), &t), ERR_UNSUPPORTED,
	             "another machine (ELF machine 2)");
	core.data[18] = EM_X86_64;
	core.data[16] = ET_DYN;
	expect_error(open_core(write_file(core.data, core.len), &t), ERR_UNSUPPORTED, "--exe");
	memset(core.data, 'x', core.len);
	expect_error(open_core(write_file(core.data, core.len), &t), ERR_UNSUPPORTED,
	             "not an ELF file");
	memcpy(core.data, "\x28\xb5\x2f\xfd", 4);
	expect_error(open_core(write_file(core.data, core.len), &t), ERR_UNSUPPORTED, "zstd -d");
	assert_null(t);
}

/* A core that is cut anywhere either opens with what is left, or fails with an error. */
static void test_truncated_at_every_byte(void **state)
{
	STR(core);
	size_t opened = 0;

	(void)state;
	make_core(&core, SIGSEGV);
	for (size_t len = 0; len < core.len; len++) {
		struct target *t CLEANUP(target_closep) = NULL;
		struct error *err CLEANUP(error_freep) = open_core(write_file(core.data, len), &t);
		assert_true(!err == !!t);
		if (!t)
			continue;
		opened++;
		assert_true(t->nthreads > 0);
		assert_non_null(strstr(t->notes[0], "truncated"));
	}
	assert_true(opened > 0);
}

/* Damaged bytes may change the contents, but must not crash, hang or read out of bounds. */
static void test_damaged_at_every_byte(void **state)
{
	static const unsigned char damage[] = { 0x00, 0x01, 0x7f, 0xff };
	STR(core);
	char buf[64];
	size_t got;

	(void)state;
	make_core(&core, SIGSEGV);
	for (size_t i = 0; i < core.len; i++) {
		for (size_t j = 0; j < sizeof(damage); j++) {
			struct target *t CLEANUP(target_closep) = NULL;
			char saved = core.data[i];
			core.data[i] = (char)damage[j];
			error_free(open_core(write_file(core.data, core.len), &t));
			core.data[i] = saved;
			if (!t)
				continue;
			for (uint64_t addr = LOAD_ADDR; addr <= TEXT_ADDR; addr += 0x10000)
				expect_ok(target_read_some(t, addr, buf, sizeof(buf), &got));
		}
	}
}

/* --- a core of a program, made by gcore --- */

struct made {
	struct program program;
	char path[2 * PROGRAM_PATH];
	char exe[2 * PROGRAM_PATH];
};

static struct made made;

static int setup(void **state)
{

	(void)state;
	directory = program_directory();
	if (!program_build(directory, "threads", "threads.c", ""))
		return 0;
	snprintf(made.exe, sizeof(made.exe), "%s/threads", directory);
	made.program = program_start(made.exe, NULL, NULL);
	if (program_run("gcore -o '%s/core' %d", directory, (int)made.program.pid) == 0)
		snprintf(made.path, sizeof(made.path), "%s/core.%d", directory,
		         (int)made.program.pid);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	program_kill(&made.program);
	program_remove_directory(directory);
	return 0;
}

static void check_gcore(struct target *t)
{
	static const char text[] = "constant text of the test program";
	char buf[sizeof(text)];
	uint64_t value;

	assert_int_equal(t->pid, made.program.threads[0].tid);
	assert_string_equal(t->command, "threads");
	assert_int_equal(t->signal.number, 0);
	assert_int_equal(t->nthreads, PROGRAM_THREADS);
	assert_int_equal(t->threads[0].tid, t->pid);
	assert_non_null(t->modules.main);
	expect_ok(target_read_uint(t, made.program.variable, 4, &value));
	assert_int_equal(value, 4711);
	/* The core lacks this; it is read from the file. */
	expect_ok(target_read(t, made.program.constant, buf, sizeof(buf)));
	assert_string_equal(buf, text);
	for (size_t i = 0; i < PROGRAM_THREADS; i++) {
		const struct thread *th = target_thread_by_tid(t, made.program.threads[i].tid);
		assert_non_null(th);
		assert_non_null(module_at(t, th->regs.r[t->arch->pc]));
		expect_ok(target_read_uint(t, made.program.threads[i].local, 8, &value));
		assert_true(value == UINT64_C(0x1122334455667788));
	}
}

static void test_gcore(void **state)
{
	struct target *t CLEANUP(target_closep) = NULL;

	(void)state;
	if (!made.path[0])
		skip();
	expect_ok(open_core(made.path, &t));
	assert_int_equal(t->nnotes, 0);
	check_gcore(t);
}

static void test_gcore_whose_executable_moved(void **state)
{
	char moved[2 * PROGRAM_PATH];
	struct target_options options = { 0 };
	struct target *t CLEANUP(target_closep) = NULL;

	(void)state;
	if (!made.path[0])
		skip();
	snprintf(moved, sizeof(moved), "%s/elsewhere", directory);
	assert_int_equal(rename(made.exe, moved), 0);
	struct error *err = target_core_open(made.path, &options, &t);
	if (!err && !t->modules.main) {
		assert_non_null(strstr(t->notes[0], "--exe"));
		target_close(t);
		t = NULL;
		options.exe = moved;
		err = target_core_open(made.path, &options, &t);
	}
	assert_int_equal(rename(moved, made.exe), 0);
	expect_ok(err);
	assert_string_equal(t->modules.main->file, moved);
	check_gcore(t);
}

static void test_gcore_with_a_wrong_executable(void **state)
{
	const struct target_options options = { .exe = "/bin/true" };
	struct target *t = NULL;

	(void)state;
	if (!made.path[0])
		skip();
	expect_error(target_core_open(made.path, &options, &t), ERR_USAGE, "build-id");
}

static void test_gcore_truncated(void **state)
{
	char path[2 * PROGRAM_PATH];
	struct stat st;

	(void)state;
	if (!made.path[0])
		skip();
	assert_int_equal(program_run("cp '%s' '%s/made'", made.path, directory), 0);
	snprintf(path, sizeof(path), "%s/made", directory);
	assert_int_equal(stat(path, &st), 0);
	for (off_t size = st.st_size; size > 0; size -= st.st_size / 50 + 1) {
		struct target *t CLEANUP(target_closep) = NULL;
		assert_int_equal(truncate(path, size), 0);
		struct error *err CLEANUP(error_freep) = open_core(path, &t);
		assert_true(!err == !!t);
		assert_true(!t || t->nthreads == PROGRAM_THREADS);
		assert_true(!t || size == st.st_size || strstr(t->notes[0], "truncated"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crashed_core),
		cmocka_unit_test(test_writable_memory_of_a_core),
		cmocka_unit_test(test_core_of_a_running_process_has_no_signal),
		cmocka_unit_test(test_files_that_are_no_cores),
		cmocka_unit_test(test_truncated_at_every_byte),
		cmocka_unit_test(test_damaged_at_every_byte),
		cmocka_unit_test(test_gcore),
		cmocka_unit_test(test_gcore_whose_executable_moved),
		cmocka_unit_test(test_gcore_with_a_wrong_executable),
		cmocka_unit_test(test_gcore_truncated),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
