/* Tests of unwind.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <elfutils/libdwfl.h>

#include "debugger/target/module.h"
#include "debugger/test/program.h"
#include "debugger/test/target_fake.h"
#include "dwarf/unwind/cfa_rule.h"
#include "dwarf/unwind/unwind.h"

static const char *directory;
static struct program program;

static int setup(void **state)
{
	char path[2 * PROGRAM_PATH];

	(void)state;
	directory = program_directory();
	if (!program_build(directory, "threads", "threads.c", ""))
		return 0;
	snprintf(path, sizeof(path), "%s/threads", directory);
	program = program_start(path, NULL, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	program_kill(&program);
	program_remove_directory(directory);
	return 0;
}

static void expect_ok(struct error *err)
{
	if (err)
		fail_msg("%s", err->message);
}

/* The index of the frame in function name, -1 if there is none. */
static int frame_of(const struct target *t, const struct stack *stack, const char *name)
{
	for (size_t i = 0; i < stack->nframes; i++) {
		const struct module *m = module_at(t, stack->frames[i].lookup_pc);
		const char *s =
			m ? dwfl_module_addrname(m->dwfl, stack->frames[i].lookup_pc) : NULL;
		if (s && strcmp(s, name) == 0)
			return (int)i;
	}
	return -1;
}

/* What the rule of a frame says is where the next one begins. */
static void check_rule(const struct target *t, const struct frame *frame, const struct frame *outer)
{
	struct cfa_rule rule;

	if (!cfa_rule_at(t, frame->lookup_pc, &rule) || !(frame->known_regs >> rule.reg & 1))
		return;
	assert_int_equal(frame->regs[rule.reg] + (uint64_t)rule.offset, outer->sp);
}

/* rbx, which no function that is called from there has changed: see threads.c. */
static void check_preserved(const struct frame *frame)
{
#ifdef __x86_64__
	enum { RBX = 3, PRESERVED = 4712 };

	assert_true(frame->known_regs >> RBX & 1);
	assert_int_equal(frame->regs[RBX], PRESERVED);
#endif
}

static void check_stack(const struct target *t, const struct thread *th, const struct stack *stack)
{
	bool is_main = th->tid == t->pid;

	if (stack->problem)
		fail_msg("thread %u: %s", th->number, stack->problem);
	assert_true(stack->nframes >= 4);
	assert_int_equal(stack->frames[0].pc, th->regs.r[t->arch->pc]);
	assert_int_equal(stack->frames[0].lookup_pc, stack->frames[0].pc);
	assert_int_equal(stack->frames[0].sp, th->regs.r[t->arch->sp]);
	for (size_t i = 1; i < stack->nframes; i++) {
		assert_true(stack->frames[i].has_sp);
		assert_true(stack->frames[i].sp > stack->frames[i - 1].sp);
		assert_int_equal(stack->frames[i].lookup_pc, stack->frames[i].pc - 1);
		assert_false(stack->frames[i].known_regs & t->arch->changed_regs);
		check_rule(t, &stack->frames[i - 1], &stack->frames[i]);
	}
	if (is_main) {
		assert_true(frame_of(t, stack, "main") > 0);
		assert_int_equal(frame_of(t, stack, "_start"), stack->nframes - 1);
		return;
	}
	int worker = frame_of(t, stack, "worker");
	assert_true(worker > 0);
	assert_int_equal(frame_of(t, stack, "middle"), worker - 1);
	assert_int_equal(frame_of(t, stack, "innermost"), worker - 2);
	check_preserved(&stack->frames[worker - 1]);
}

/* libdwfl attaches once, but the threads are those of each stop. */
static void test_every_stop_of_a_live_program(void **state)
{
	const struct target_options options = { 0 };
	struct target *t CLEANUP(target_closep) = NULL;
	struct unwinder *u = NULL;

	(void)state;
	if (program.pid == 0)
		skip();
	expect_ok(target_live_open(program.pid, &options, &t));
	for (int round = 0; round < 3; round++) {
		SCRATCH(a);
		expect_ok(unwinder_open(t, &u));
		expect_ok(target_stop(t));
		struct stack *stacks = NEW_ARRAY(&a, struct stack, t->nthreads);
		for (size_t i = 0; i < t->nthreads; i++)
			expect_ok(unwind_thread(u, &a, &t->threads[i], &stacks[i]));
		target_resume(t);
		assert_int_equal(t->nthreads, PROGRAM_THREADS);
		for (size_t i = 0; i < t->nthreads; i++)
			check_stack(t, &t->threads[i], &stacks[i]);
		unwinder_close(u);
	}
}

static bool is_address(uint64_t address, void *arg)
{
	return address == *(const uint64_t *)arg;
}

/* The stack of a thread from a copy of its innermost bytes is the same as from the target. */
static void check_copy(struct target *t, struct unwinder *u, const struct thread *th)
{
	static unsigned char bytes[16 << 10];
	struct stack_copy copy = { .regs = th->regs.r, .bytes = bytes };
	struct stack whole, part;
	SCRATCH(a);

	expect_ok(unwind_thread(u, &a, th, &whole));
	expect_ok(target_read_some(t, th->regs.r[t->arch->sp], bytes, sizeof(bytes), &copy.size));
	unwind_copy(u, &a, &copy, NULL, NULL, &part);
	assert_null(part.problem);
	assert_int_equal(part.nframes, whole.nframes);
	for (size_t i = 0; i < part.nframes; i++)
		assert_int_equal(part.frames[i].pc, whole.frames[i].pc);
	/* Of no interest from its third frame on. */
	unwind_copy(u, &a, &copy, is_address, &whole.frames[2].pc, &part);
	assert_null(part.problem);
	assert_int_equal(part.nframes, 2);
	/* It ends where the copy does, and says so. */
	copy.size = 8;
	unwind_copy(u, &a, &copy, NULL, NULL, &part);
	assert_non_null(part.problem);
	assert_true(part.nframes < whole.nframes);
	for (size_t i = 1; i + 1 < whole.nframes; i++) {
		copy.size = whole.frames[i].sp - whole.frames[0].sp;
		unwind_copy(u, &a, &copy, NULL, NULL, &part);
		assert_non_null(part.problem);
		assert_int_equal(part.nframes, i + 1);
	}
}

static void test_copies_of_stacks(void **state)
{
	const struct target_options options = { 0 };
	struct target *t CLEANUP(target_closep) = NULL;
	struct unwinder *u = NULL;

	(void)state;
	if (program.pid == 0)
		skip();
	expect_ok(target_live_open(program.pid, &options, &t));
	expect_ok(unwinder_open(t, &u));
	expect_ok(target_stop(t));
	for (size_t i = 0; i < t->nthreads; i++)
		check_copy(t, u, &t->threads[i]);
	target_resume(t);
}

static void test_core(void **state)
{
	const struct target_options options = { 0 };
	struct target *t CLEANUP(target_closep) = NULL;
	struct unwinder *u = NULL;
	struct stack stack;
	char path[2 * PROGRAM_PATH];
	SCRATCH(a);

	(void)state;
	if (program.pid == 0 ||
	    program_run("gcore -o '%s/core' %d", directory, (int)program.pid) != 0)
		skip();
	snprintf(path, sizeof(path), "%s/core.%d", directory, (int)program.pid);
	expect_ok(target_core_open(path, &options, &t));
	expect_ok(unwinder_open(t, &u));
	assert_int_equal(t->nthreads, PROGRAM_THREADS);
	for (size_t i = 0; i < t->nthreads; i++) {
		expect_ok(unwind_thread(u, &a, &t->threads[i], &stack));
		check_stack(t, &t->threads[i], &stack);
	}
}

/* Skips the test where there is no program. */
static void stop_program(struct target **t, struct unwinder **u)
{
	const struct target_options options = { 0 };

	if (program.pid == 0)
		skip();
	expect_ok(target_live_open(program.pid, &options, t));
	expect_ok(unwinder_open(*t, u));
	expect_ok(target_stop(*t));
}

/* Its registers may be changed. */
static struct thread copy_of_worker(const struct target *t, struct arena *a)
{
	struct thread ret = t->threads[1];

	ret.regs.r = arena_memdup(a, ret.regs.r, t->arch->nregs * sizeof(*ret.regs.r));
	return ret;
}

static void test_damaged_registers(void **state)
{
	struct target *t CLEANUP(target_closep) = NULL;
	struct unwinder *u = NULL;
	struct stack stack;
	SCRATCH(a);

	(void)state;
	stop_program(&t, &u);
	struct thread th = copy_of_worker(t, &a);
	th.regs.r[t->arch->sp] = 16; /* unreadable stack */
	expect_ok(unwind_thread(u, &a, &th, &stack));
	assert_int_equal(stack.nframes, 1);
	assert_non_null(stack.problem);
	th.regs.r[t->arch->pc] = 0x10; /* jumped to nowhere, sp is bad too */
	expect_ok(unwind_thread(u, &a, &th, &stack));
	assert_true(stack.nframes <= 1);
	assert_non_null(stack.problem);
	th.has_regs = false;
	expect_ok(unwind_thread(u, &a, &th, &stack));
	assert_int_equal(stack.nframes, 0);
	assert_string_equal(stack.problem, "the thread's registers are not known");
	expect_ok(unwind_thread(u, &a, &t->threads[1], &stack));
	check_stack(t, &t->threads[1], &stack);
}

/* The address of a word of the thread's stack that points to the stack itself. */
static uint64_t find_own_pointer(struct target *t, uint64_t sp)
{
	enum { WORDS = 1024 };
	static uint64_t words[WORDS];
	size_t got;

	expect_ok(target_read_some(t, sp, words, sizeof(words), &got));
	for (size_t i = 0; i < got / sizeof(*words); i++) {
		if (words[i] >= sp && words[i] < sp + got)
			return sp + i * sizeof(*words);
	}
	fail_msg("no pointer to the stack in it");
	return 0;
}

/* Code without unwind information, and a frame pointer that leads to no return address. */
static void test_no_return_address(void **state)
{
	struct target *t CLEANUP(target_closep) = NULL;
	struct unwinder *u = NULL;
	struct stack stack;
	SCRATCH(a);

	(void)state;
	stop_program(&t, &u);
	struct thread th = copy_of_worker(t, &a);
	uint64_t sp = th.regs.r[t->arch->sp];
	th.regs.r[t->arch->fp] = find_own_pointer(t, sp) - sizeof(uint64_t);
	th.regs.r[t->arch->pc] = sp;
	expect_ok(unwind_thread(u, &a, &th, &stack));
	assert_int_equal(stack.nframes, 1);
	assert_non_null(stack.problem);
	assert_non_null(strstr(stack.problem, "is not in code"));
}

/* The address behind a system call in code without unwind information, as clone3() has one. */
static uint64_t find_bare_syscall(struct target *t, uint64_t near)
{
	enum { BYTES = 1 << 16 };
	static unsigned char code[2 * BYTES];
	const struct module *m = module_at(t, near);
	Dwarf_Addr bias;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(m->dwfl, &bias);
	size_t got;

	expect_ok(target_read_some(t, near - BYTES, code, sizeof(code), &got));
	for (size_t i = 0; i + 2 <= got; i++) {
		Dwarf_Frame *frame = NULL;
		uint64_t behind = near - BYTES + i + 2;

		if (code[i] == 0x0f && code[i + 1] == 0x05 &&
		    dwarf_cfi_addrframe(cfi, behind - bias, &frame) != 0)
			return behind;
		free(frame);
	}
	return 0;
}

/* A thread that has executed nothing has no caller, whatever its frame pointer leads to. */
static void test_new_thread(void **state)
{
	struct target *t CLEANUP(target_closep) = NULL;
	struct unwinder *u = NULL;
	struct stack stack;
	SCRATCH(a);

	(void)state;
	stop_program(&t, &u);
	expect_ok(unwind_thread(u, &a, &t->threads[1], &stack));
	struct thread th = copy_of_worker(t, &a);
	/* The outermost frame is in clone3(). */
	th.regs.r[t->arch->pc] = find_bare_syscall(t, stack.frames[stack.nframes - 1].pc);
	if (!th.regs.r[t->arch->pc]) {
		target_resume(t);
		skip();
	}
	th.regs.r[0] = 0;
	expect_ok(unwind_thread(u, &a, &th, &stack));
	assert_int_equal(stack.nframes, 1);
	assert_null(stack.problem);
	/* The thread that has made it goes on. */
	th.regs.r[0] = 1;
	th.regs.r[t->arch->fp] = find_own_pointer(t, th.regs.r[t->arch->sp]) - sizeof(uint64_t);
	expect_ok(unwind_thread(u, &a, &th, &stack));
	assert_non_null(stack.problem);
}

static void test_without_modules(void **state)
{
	struct target *t CLEANUP(target_closep) = target_fake_open();
	struct unwinder *u = NULL;
	struct error *err CLEANUP(error_freep) = unwinder_open(t, &u);

	(void)state;
	assert_int_equal(err->kind, ERR_NO_DEBUGINFO);
	assert_null(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_stop_of_a_live_program),
		cmocka_unit_test(test_copies_of_stacks),
		cmocka_unit_test(test_core),
		cmocka_unit_test(test_damaged_registers),
		cmocka_unit_test(test_no_return_address),
		cmocka_unit_test(test_new_thread),
		cmocka_unit_test(test_without_modules),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
