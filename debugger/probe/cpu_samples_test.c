/* Tests of cpu_samples.c, on a process whose workers compute. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <elf.h>

#include "debugger/base/clock.h"
#include "debugger/probe/cpu_samples.h"
#include "debugger/test/child.h"

enum { HZ = 1000, WANTED = 5 };

struct seen {
	const struct child *child;
	const struct arch *arch;
	size_t n, of_worker[CHILD_WORKERS], whole;
	uint64_t first, last;
};

static void see(const struct cpu_sample *sample, void *arg)
{
	struct seen *seen = arg;

	seen->n++;
	for (int i = 0; i < CHILD_WORKERS; i++)
		seen->of_worker[i] += seen->child->shared->workers[i].tid == sample->tid;
	assert_int_not_equal(sample->regs[seen->arch->pc], 0);
	assert_int_not_equal(sample->regs[seen->arch->sp], 0);
	assert_true(sample->stack_size <= CPU_SAMPLES_STACK);
	seen->whole += sample->stack_size > 0;
	seen->last = sample->time;
	if (!seen->first)
		seen->first = sample->time;
}

static bool is_enough(const struct seen *seen)
{
	for (int i = 0; i < CHILD_WORKERS; i++) {
		if (seen->of_worker[i] < WANTED)
			return false;
	}
	return true;
}

/* NULL: the kernel lets nobody here take samples. */
static struct cpu_samples *open_samples(const struct child *child)
{
	struct cpu_samples *s = NULL;
	struct error *err CLEANUP(error_freep) =
		cpu_samples_open(child->pid, arch_for_machine(EM_X86_64), HZ, &s);

	if (err)
		print_message("left out: %s\n", err->message);
	return s;
}

static void test_threads(void **state)
{
	CHILD(child, NULL, child_pause);
	uint64_t before = clock_now_ns();
	struct cpu_samples *s CLEANUP(cpu_samples_closep) = open_samples(&child);
	struct seen seen = { .child = &child, .arch = arch_for_machine(EM_X86_64) };

	(void)state;
	if (!s)
		skip();
	while (!is_enough(&seen))
		cpu_samples_read(s, see, &seen);
	assert_true(seen.first >= before);
	assert_true(seen.last <= clock_now_ns());
	assert_true(seen.whole > 0);
	cpu_samples_stop(s);
	cpu_samples_read(s, see, &seen);
	seen.n = 0;
	child_wait_progress(&child);
	cpu_samples_read(s, see, &seen);
	assert_int_equal(seen.n, 0);
	assert_int_equal(cpu_samples_lost(s), 0);
}

/* Its workers are started later, by a thread that is sampled. */
static struct child_shared *let_go;

static void wait_for_go(void)
{
	while (!atomic_load(&let_go->quit))
		sched_yield();
}

static void test_later_threads(void **state)
{
	struct child child = { 0 };
	struct cpu_samples *s = NULL;

	(void)state;
	let_go = mmap(NULL, sizeof(*let_go), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
	              0);
	assert_true(let_go != MAP_FAILED);
	child = child_begin(wait_for_go, child_pause);
	s = open_samples(&child);
	atomic_store(&let_go->quit, true);
	child_wait_ready(&child);
	struct seen seen = { .child = &child, .arch = arch_for_machine(EM_X86_64) };
	while (s && !is_enough(&seen))
		cpu_samples_read(s, see, &seen);
	cpu_samples_close(s);
	child_end(&child);
	munmap(let_go, sizeof(*let_go));
	if (!s)
		skip();
}

static void test_refused(void **state)
{
	struct cpu_samples *s = NULL;
	struct arch none = *arch_for_machine(EM_X86_64);

	(void)state;
	none.perf_regs = NULL;
	struct error *err CLEANUP(error_freep) = cpu_samples_open(getpid(), &none, HZ, &s);
	assert_non_null(err);
	assert_int_equal(err->kind, ERR_UNSUPPORTED);
	assert_null(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_later_threads),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
