/* Tests of live targets: stopping, resuming, failures in between, and copying. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "debugger/live/fd_info.h"
#include "debugger/memory/page_cache.h"
#include "debugger/target/module.h"
#include "debugger/target/target.h"
#include "debugger/test/child.h"

static const char read_only_text[] = "constant text of the test program";
static char page_of_zeros[4 * BLOCK_SIZE];

static void expect_ok(struct error *err)
{
	if (err)
		fail_msg("%s", err->message);
}

static void expect_error(struct error *err, enum error_kind kind, const char *part)
{
	assert_non_null(err);
	assert_int_equal(err->kind, kind);
	if (!strstr(err->message, part))
		fail_msg("'%s' lacks '%s'", err->message, part);
	error_free(err);
}

static struct target *open_child(const struct child *c)
{
	const struct target_options options = { 0 };
	struct target *t = NULL;

	expect_ok(target_live_open(c->pid, &options, &t));
	return t;
}

static void test_stop_shows_every_thread(void **state)
{
	CHILD(c, NULL, child_pause);
	struct target *t CLEANUP(target_closep) = open_child(&c);

	(void)state;
	assert_false(t->stopped);
	assert_non_null(t->modules.main);
	expect_ok(target_stop(t));
	assert_true(t->stopped);
	assert_int_equal(t->nthreads, 1 + CHILD_WORKERS);
	assert_int_equal(t->threads[0].tid, c.pid);
	assert_true(t->clock.known);
	for (size_t i = 0; i < t->nthreads; i++) {
		const struct thread *th = &t->threads[i];
		assert_true(th->has_regs);
		assert_int_equal(th->number, i + 1);
		assert_true(th->regs.r[t->arch->sp] != 0);
		assert_true(th->regs.thread_pointer != 0);
		assert_non_null(module_at(t, th->regs.r[t->arch->pc]));
		assert_int_equal(child_state(c.pid, th->tid), 't');
	}
	for (int i = 0; i < CHILD_WORKERS; i++) {
		const struct thread *th = target_thread_by_tid(t, c.shared->workers[i].tid);
		char name[] = "worker-0";
		name[7] = (char)('0' + i);
		assert_string_equal(th->name, name);
	}
}

static void test_memory_stands_still_then_goes_on(void **state)
{
	CHILD(c, NULL, child_pause);
	struct target *t CLEANUP(target_closep) = open_child(&c);
	struct child_shared seen;

	(void)state;
	for (int round = 0; round < 20; round++) {
		expect_ok(target_stop(t));
		expect_ok(target_read(t, (uintptr_t)c.shared, &seen, sizeof(seen)));
		for (int i = 0; i < CHILD_WORKERS; i++)
			assert_int_equal(seen.workers[i].counter, c.shared->workers[i].counter);
		target_resume(t);
		assert_true(t->stop.pause_ns > 0);
		child_wait_progress(&c);
	}
	assert_int_equal(t->generation, 20);
}

static void test_what_a_stop_read_is_there_afterwards(void **state)
{
	CHILD(c, NULL, child_pause);
	struct target *t CLEANUP(target_closep) = open_child(&c);
	char text[sizeof(read_only_text)];
	struct child_shared seen, again;
	size_t got;

	(void)state;
	expect_ok(target_stop(t));
	expect_ok(target_read(t, (uintptr_t)c.shared, &seen, sizeof(seen)));
	target_resume(t);
	child_wait_progress(&c);
	expect_ok(target_read(t, (uintptr_t)c.shared, &again, sizeof(again)));
	assert_memory_equal(&seen, &again, sizeof(seen));
	expect_ok(target_read(t, (uintptr_t)read_only_text, text, sizeof(text)));
	assert_memory_equal(text, read_only_text, sizeof(text));
	/* Writable memory that was not read during the stop. */
	expect_ok(target_read_some(t, (uintptr_t)page_of_zeros + sizeof(page_of_zeros) / 2, text, 1,
	                           &got));
	assert_int_equal(got, 0);
}

static void test_threads_that_come_and_go(void **state)
{
	CHILD(c, NULL, child_churn);
	struct target *t CLEANUP(target_closep) = open_child(&c);

	(void)state;
	for (int round = 0; round < 50; round++) {
		expect_ok(target_stop(t));
		assert_true(t->nthreads >= 1 + CHILD_WORKERS);
		for (size_t i = 0; i < t->nthreads; i++) {
			char now = child_state(c.pid, t->threads[i].tid);
			assert_true(now == 't' || !t->threads[i].has_regs);
		}
		target_resume(t);
	}
	child_wait_progress(&c);
}

static void test_signals_on_their_way_arrive(void **state)
{
	enum { NSIGNALS = 200 };
	CHILD(c, NULL, child_pause);
	struct target *t CLEANUP(target_closep) = open_child(&c);

	(void)state;
	for (int i = 0; i < NSIGNALS; i++) {
		assert_int_equal(sigqueue(c.pid, SIGRTMIN, (union sigval){ 0 }), 0);
		if (i % 4 == 0) {
			expect_ok(target_stop(t));
			assert_int_equal(sigqueue(c.pid, SIGRTMIN, (union sigval){ 0 }), 0);
			target_resume(t);
		}
	}
	while (atomic_load(&c.shared->signals) < NSIGNALS + NSIGNALS / 4)
		sched_yield();
	assert_int_equal(atomic_load(&c.shared->signals), NSIGNALS + NSIGNALS / 4);
}

static void test_a_stopped_job_stays_stopped(void **state)
{
	CHILD(c, NULL, child_pause);
	struct target *t CLEANUP(target_closep) = open_child(&c);
	int status;

	(void)state;
	kill(c.pid, SIGSTOP);
	assert_int_equal(waitpid(c.pid, &status, WUNTRACED), c.pid);
	assert_true(WIFSTOPPED(status));
	for (int round = 0; round < 3; round++) {
		expect_ok(target_stop(t));
		assert_int_equal(t->nthreads, 1 + CHILD_WORKERS);
		assert_true(t->threads[0].has_regs);
		assert_int_equal(t->threads[0].run_state, 'T');
		target_resume(t);
		while (child_state(c.pid, c.pid) != 'T')
			sched_yield();
	}
	kill(c.pid, SIGCONT);
	child_wait_progress(&c);
}

static void test_interrupted_stop_lets_it_run(void **state)
{
	CHILD(c, NULL, child_pause);
	struct target *t CLEANUP(target_closep) = open_child(&c);

	(void)state;
	interrupt_request();
	struct error *err = target_stop(t);
	interrupt_clear();
	expect_error(err, ERR_INTERRUPTED, "interrupted");
	assert_false(t->stopped);
	child_wait_progress(&c);
	expect_ok(target_stop(t));
}

static void test_close_resumes(void **state)
{
	CHILD(c, NULL, child_pause);
	struct target *t = open_child(&c);

	(void)state;
	expect_ok(target_stop(t));
	target_close(t);
	child_wait_progress(&c);
}

/* The thread alone: the others go on. */
static void end_main_thread(void)
{
	syscall(SYS_exit, 0);
}

static void end_main_thread_later(void)
{
	while (atomic_load(&child_shared_->helper) == 0)
		sched_yield();
	end_main_thread();
}

static bool count_memory(uint64_t start, uint64_t end, void *arg)
{
	*(uint64_t *)arg += end - start;
	return true;
}

/* All that is found by the number of the process while its main thread is there. */
static void check_without_main_thread(struct target *t, const struct child *c)
{
	SCRATCH(tmp);
	struct child_shared seen = { 0 };
	struct descriptor descriptor;
	struct region region;
	bool changed = false;
	uint64_t bytes = 0;

	expect_ok(target_update_modules(t, &changed));
	assert_false(changed);
	assert_non_null(t->modules.main);
	expect_ok(target_stop(t));
	assert_int_equal(t->nthreads, 1 + CHILD_WORKERS);
	assert_false(t->threads[0].has_regs);
	assert_true(t->threads[1].has_regs);
	expect_ok(target_read(t, (uintptr_t)c->shared, &seen, sizeof(seen)));
	assert_int_equal(seen.workers[0].tid, c->shared->workers[0].tid);
	assert_true(target_region(t, &tmp, (uintptr_t)page_of_zeros, &region));
	expect_ok(target_each_writable(t, count_memory, &bytes));
	assert_true(bytes > 0);
	fd_info_read(t, &tmp, 0, &descriptor);
	target_resume(t);
	child_wait_progress(c);
	expect_ok(target_stop(t));
	assert_true(fd_info_read(t, &tmp, 0, &descriptor));
}

static void test_main_thread_has_ended(void **state)
{
	CHILD(c, NULL, end_main_thread);

	(void)state;
	while (child_state(c.pid, c.pid) != 'Z')
		sched_yield();
	struct target *t CLEANUP(target_closep) = open_child(&c);
	check_without_main_thread(t, &c);
}

static void test_main_thread_ends(void **state)
{
	CHILD(c, NULL, end_main_thread_later);
	struct target *t CLEANUP(target_closep) = open_child(&c);
	unsigned char byte;

	(void)state;
	atomic_store(&c.shared->helper, 1);
	while (child_state(c.pid, c.pid) != 'Z')
		sched_yield();
	/* The first read after that. */
	expect_ok(target_read(t, (uintptr_t)c.shared, &byte, 1));
	check_without_main_thread(t, &c);
}

static void test_killed_while_stopped(void **state)
{
	CHILD(c, NULL, child_pause);
	struct target *t CLEANUP(target_closep) = open_child(&c);

	(void)state;
	expect_ok(target_stop(t));
	kill(c.pid, SIGKILL);
	target_resume(t);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)c.pid, &info, WEXITED | WNOWAIT), 0);
	expect_error(target_stop(t), ERR_STATE, "has exited");
}

static void run_sleep(void)
{
	while (!atomic_load(&child_shared_->quit))
		sched_yield();
	execl("/bin/sleep", "sleep", "1000", (char *)NULL);
}

static void test_another_program_by_now(void **state)
{
	CHILD(c, NULL, run_sleep);
	struct target *t CLEANUP(target_closep) = open_child(&c);
	char path[64], name[16] = "";

	(void)state;
	atomic_store(&c.shared->quit, true);
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)c.pid);
	while (strcmp(name, "sleep\n") != 0) {
		FILE *f = fopen(path, "re");
		assert_non_null(f);
		if (!fgets(name, sizeof(name), f))
			name[0] = '\0';
		fclose(f);
	}
	/* comm changes before execve() is complete: repeat. */
	struct error *err;
	while (!(err = target_stop(t)))
		target_resume(t);
	expect_error(err, ERR_STATE, "another program");
}

/* The parent of a vfork() sleeps uninterruptibly until the child is gone. */
static void sleep_uninterruptibly(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		child_shared_->helper = getpid();
		child_pause();
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	child_shared_->helper = 0;
	child_pause();
}

static void test_uninterruptible_sleep(void **state)
{
	CHILD(c, NULL, sleep_uninterruptibly);
	struct target *t CLEANUP(target_closep) = open_child(&c);

	(void)state;
	while (c.shared->helper == 0 || child_state(c.pid, c.pid) != 'D')
		sched_yield();
	expect_ok(target_stop(t));
	assert_int_equal(t->nthreads, 1 + CHILD_WORKERS);
	assert_false(t->threads[0].has_regs);
	assert_int_equal(t->threads[0].run_state, 'D');
	assert_true(t->threads[1].has_regs);
	assert_int_equal(t->nnotes, 1);
	target_resume(t);
	child_wait_progress(&c);
	/* The thread was never stopped by us; it must not be stopped when it wakes up. */
	kill(c.shared->helper, SIGKILL);
	while (c.shared->helper != 0)
		sched_yield();
	expect_ok(target_stop(t));
	assert_true(t->threads[0].has_regs);
}

/* Forks a process that calls act(c) and then waits to be killed; returns when act() is done. */
static pid_t helper_start(const struct child *c, void (*act)(const struct child *c))
{
	int fds[2];
	char byte;

	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		act(c);
		if (write(fds[1], "x", 1) == 1)
			child_pause();
		_exit(1);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	return pid;
}

static void helper_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void act_stop(const struct child *c)
{
	if (target_stop(open_child(c)) != NULL)
		_exit(1);
}

static void test_already_traced(void **state)
{
	CHILD(c, NULL, child_pause);
	const struct target_options options = { 0 };
	struct target *t = NULL;
	char number[16];

	(void)state;
	pid_t tracer = helper_start(&c, act_stop);
	snprintf(number, sizeof(number), "%d (", (int)tracer);
	expect_error(target_live_open(c.pid, &options, &t), ERR_STATE, number);
	assert_null(t);
	helper_kill(tracer);
	t = open_child(&c);
	/* Another tracer starts between opening and stopping. */
	tracer = helper_start(&c, act_stop);
	expect_error(target_stop(t), ERR_STATE, "already traced");
	helper_kill(tracer);
	expect_ok(target_stop(t));
	target_close(t);
	child_wait_progress(&c);
}

/* Another debugger has the process for a moment, as a watchdog does: opening waits for it. */
static void test_traced_for_a_moment(void **state)
{
	CHILD(c, NULL, child_pause);
	const struct target_options options = { 0 };
	struct target *t;

	(void)state;
	pid_t tracer = helper_start(&c, act_stop), test = getpid(), end = fork();
	if (end == 0) {
		while (child_state(test, test) != 'S')
			sched_yield();
		kill(tracer, SIGKILL);
		_exit(0);
	}
	expect_ok(target_live_open(c.pid, &options, &t));
	target_close(t);
	waitpid(end, NULL, 0);
	waitpid(tracer, NULL, 0);
	child_wait_progress(&c);
}

static void test_target_survives_a_killed_debugger(void **state)
{
	CHILD(c, NULL, child_pause);

	(void)state;
	pid_t debugger = helper_start(&c, act_stop);
	assert_int_equal(child_state(c.pid, c.shared->workers[0].tid), 't');
	helper_kill(debugger);
	child_wait_progress(&c);
	while (child_state(c.pid, c.pid) != 'S')
		sched_yield();
}

static void act_stop_and_exit(const struct child *c)
{
	act_stop(c);
	exit(0);
}

static void test_target_survives_a_debugger_that_exits(void **state)
{
	CHILD(c, NULL, child_pause);
	int status;

	(void)state;
	pid_t debugger = fork();
	if (debugger == 0)
		act_stop_and_exit(&c);
	assert_int_equal(waitpid(debugger, &status, 0), debugger);
	assert_true(WIFEXITED(status));
	child_wait_progress(&c);
}

static void test_pids_that_cannot_be_opened(void **state)
{
	CHILD(c, NULL, child_pause);
	const struct target_options options = { 0 };
	struct target *t = NULL;

	(void)state;
	expect_error(target_live_open(getpid(), &options, &t), ERR_USAGE, "itself");
	expect_error(target_live_open(0, &options, &t), ERR_USAGE, "not a process id");
	expect_error(target_live_open(-5, &options, &t), ERR_USAGE, "not a process id");
	expect_error(target_live_open(c.shared->workers[0].tid, &options, &t), ERR_USAGE,
	             "is a thread of process");
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	expect_error(target_live_open(pid, &options, &t), ERR_STATE, "zombie");
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	expect_error(target_live_open(pid, &options, &t), ERR_USAGE, "no process");
	assert_null(t);
}

static void test_wrong_executable(void **state)
{
	CHILD(c, NULL, child_pause);
	struct target_options options = { .exe = "/bin/sleep" };
	struct target *t = NULL;

	(void)state;
	expect_error(target_live_open(c.pid, &options, &t), ERR_USAGE, "--force");
	options.force = true;
	expect_ok(target_live_open(c.pid, &options, &t));
	assert_string_equal(t->modules.main->file, "/bin/sleep");
	assert_int_equal(t->nnotes, 1);
	target_close(t);
	options = (struct target_options){ .exe = "/nonexistent" };
	expect_error(target_live_open(c.pid, &options, &t), ERR_OS, "/nonexistent: No such file");
	options.exe = "/proc/self/comm";
	expect_error(target_live_open(c.pid, &options, &t), ERR_USAGE, "--exe must be the program");
}

/* --- copies of one moment --- */

static unsigned char *holey; /* 4 blocks; the child lacks some of their pages */
static const unsigned missing_pages[] = { 3, 17, 18, 40 };

static bool is_missing(unsigned page)
{
	for (size_t i = 0; i < sizeof(missing_pages) / sizeof(*missing_pages); i++) {
		if (missing_pages[i] == page)
			return true;
	}
	return false;
}

/*
 * Makes holes in the child's memory. They are pages behind the end of a file, which nobody can
 * read: unmapped pages could be mapped again by a thread of the child that is just starting.
 */
static void make_holes(void)
{
	int empty = memfd_create("holes", MFD_CLOEXEC);

	for (size_t i = 0; i < sizeof(missing_pages) / sizeof(*missing_pages); i++) {
		if (mmap(holey + missing_pages[i] * CACHE_PAGE, CACHE_PAGE, PROT_READ,
		         MAP_SHARED | MAP_FIXED, empty, 0) == MAP_FAILED)
			abort();
	}
	child_pause();
}

static void read_holey(struct target *t)
{
	for (unsigned page = 0; page < 4 * BLOCK_PAGES; page++) {
		unsigned char byte = 0;
		size_t got;

		expect_ok(
			target_read_some(t, (uintptr_t)holey + page * CACHE_PAGE, &byte, 1, &got));
		assert_int_equal(got, !is_missing(page));
		assert_int_equal(byte, is_missing(page) ? 0 : page + 1);
	}
}

static void test_long_vectors_with_holes(void **state)
{
	const size_t size = 4 * BLOCK_SIZE;

	(void)state;
	holey = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(holey, MAP_FAILED);
	for (unsigned page = 0; page < 4 * BLOCK_PAGES; page++)
		memset(holey + page * CACHE_PAGE, (int)page + 1, CACHE_PAGE);
	CHILD(c, NULL, make_holes);
	struct target *t CLEANUP(target_closep) = open_child(&c);
	while (child_state(c.pid, c.pid) != 'S')
		sched_yield();
	expect_ok(target_peek(t));
	/* The cache does not know about the holes yet. */
	for (unsigned page = 0; page < 4 * BLOCK_PAGES; page++)
		page_cache_miss(t->memory.cache, (uintptr_t)holey + page * CACHE_PAGE);
	/*
	 * Pointers in corrupt tasks may have any value: both ends of the address space are not
	 * neighbours.
	 */
	for (unsigned page = 0; page < BLOCK_PAGES; page++)
		page_cache_miss(t->memory.cache, UINT64_MAX - page * CACHE_PAGE);
	page_cache_miss(t->memory.cache, 0);
	expect_ok(target_snap(t, false));
	assert_int_equal(t->stop.copy.how, COPY_STOPPED);
	read_holey(t);
	assert_int_equal(t->stop.misses, 0);
	/* Again, with known holes. */
	expect_ok(target_snap(t, false));
	read_holey(t);
	assert_int_equal(t->stop.misses, 0);
	munmap(holey, size);
}

static long switches(const struct child *c, pid_t tid)
{
	char path[64], line[256];
	long n, sum = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)c->pid, (int)tid);
	FILE *f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		const char *found = strstr(line, "voluntary_ctxt_switches:");
		if (found && sscanf(found, "voluntary_ctxt_switches: %ld", &n) == 1)
			sum += n;
	}
	fclose(f);
	return sum;
}

/* Waits until the main thread of the child sleeps. */
static void wait_asleep(const struct child *c)
{
	long before;

	do {
		before = switches(c, c->pid);
		while (child_state(c->pid, c->pid) != 'S')
			sched_yield();
	} while (switches(c, c->pid) != before);
}

static void test_peek_agrees_with_a_stop(void **state)
{
	CHILD(c, NULL, child_pause);
	struct target *t CLEANUP(target_closep) = open_child(&c);

	(void)state;
	wait_asleep(&c);
	expect_ok(target_peek(t));
	assert_int_equal(t->nthreads, 1 + CHILD_WORKERS);
	assert_int_equal(t->stop.pause_ns, 0);
	struct regs seen = t->threads[0].regs;
	uint64_t sp = seen.r[t->arch->sp], pc = seen.r[t->arch->pc];
	assert_true(t->threads[0].has_regs);
	uint64_t pointers[1 + CHILD_WORKERS];
	for (size_t i = 0; i < t->nthreads; i++)
		pointers[i] = t->threads[i].regs.thread_pointer;
	expect_ok(target_stop(t));
	const struct regs *regs = &t->threads[0].regs;
	assert_int_equal(sp, regs->r[t->arch->sp]);
	assert_int_equal(pc, regs->r[t->arch->pc]);
	assert_true(seen.in_syscall && regs->in_syscall);
	assert_int_equal(seen.syscall, regs->syscall);
	for (size_t i = 0; i < t->nthreads; i++)
		assert_int_equal(pointers[i], t->threads[i].regs.thread_pointer);
}

static void test_an_excluded_thread_sleeps_on(void **state)
{
	CHILD(c, NULL, child_pause);
	struct target *t CLEANUP(target_closep) = open_child(&c);

	(void)state;
	wait_asleep(&c);
	expect_ok(target_peek(t));
	target_exclude(t, c.pid);
	long before = switches(&c, c.pid);
	expect_ok(target_snap(t, false));
	assert_int_equal(switches(&c, c.pid), before);
	assert_int_equal(t->stop.copy.stopped, CHILD_WORKERS);
	assert_false(t->stop.copy.spoiled);
	assert_true(t->threads[0].has_regs);
	assert_false(t->threads[0].stopped);
	assert_true(t->threads[1].stopped);
	/* A stop wakes the thread up. */
	expect_ok(target_snap(t, true));
	assert_true(switches(&c, c.pid) > before);
	assert_int_equal(t->stop.copy.stopped, 1 + CHILD_WORKERS);
}

static void test_one_thread_stops_where_all_are_excluded(void **state)
{
	struct target *t CLEANUP(target_closep) = NULL;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		child_pause();
	}
	while (child_state(pid, pid) != 'S')
		sched_yield();
	expect_ok(target_live_open(pid, &(struct target_options){ 0 }, &t));
	target_exclude(t, pid);
	expect_ok(target_snap(t, false));
	assert_int_equal(t->stop.copy.stopped, 1);
	assert_true(t->threads[0].stopped);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void wake_main(void *arg)
{
	const struct child *c = arg;

	assert_int_equal(kill(c->pid, SIGRTMIN), 0);
	while (atomic_load(&c->shared->signals) == 0)
		sched_yield();
}

static void test_an_excluded_thread_that_wakes_is_noticed(void **state)
{
	CHILD(c, NULL, child_pause);
	struct target *t CLEANUP(target_closep) = open_child(&c);
	const struct brief_stop stop = { .act = wake_main, .arg = &c };
	struct copy copy = { 0 };

	(void)state;
	wait_asleep(&c);
	expect_ok(target_peek(t));
	target_exclude(t, c.pid);
	expect_ok(t->ops->stop_briefly(t, &stop, &copy));
	assert_int_equal(copy.stopped, CHILD_WORKERS);
	assert_true(copy.spoiled);
}

/* Waits until the workers but the first have counted on, which has not. */
static void let_others_count(void *arg)
{
	const struct child *c = arg;
	unsigned long before[CHILD_WORKERS];

	for (int i = 0; i < CHILD_WORKERS; i++)
		before[i] = atomic_load(&c->shared->workers[i].counter);
	for (int i = 1; i < CHILD_WORKERS; i++) {
		while (atomic_load(&c->shared->workers[i].counter) < before[i] + 1000)
			sched_yield();
	}
	assert_int_equal(atomic_load(&c->shared->workers[0].counter), before[0]);
}

static void test_only_one_thread_stops(void **state)
{
	CHILD(c, NULL, child_pause);
	struct target *t CLEANUP(target_closep) = open_child(&c);
	const struct brief_stop stop = { .act = let_others_count, .arg = &c };
	struct copy copy = { 0 };

	(void)state;
	t->stop.options.only = c.shared->workers[0].tid;
	expect_ok(target_peek(t));
	assert_int_equal(t->stop.copy.pause_ns, 0);
	expect_ok(t->ops->stop_briefly(t, &stop, &copy));
	assert_int_equal(copy.stopped, 1);
	assert_false(copy.spoiled);
	expect_ok(target_snap(t, true));
	assert_int_equal(t->stop.copy.how, COPY_LIMITED);
	assert_int_equal(t->stop.copy.stopped, 1);
	assert_int_equal(t->nthreads, 1 + CHILD_WORKERS);
	for (size_t i = 0; i < t->nthreads; i++)
		assert_int_equal(t->threads[i].stopped, t->threads[i].tid == t->stop.options.only);
	child_wait_progress(&c);
	/* The options are those of each stop. */
	t->stop.options.only = 0;
	expect_ok(target_snap(t, true));
	assert_int_equal(t->stop.copy.stopped, 1 + CHILD_WORKERS);
}

static void test_the_only_thread_has_ended(void **state)
{
	CHILD(c, NULL, child_pause);
	struct target *t CLEANUP(target_closep) = open_child(&c);

	(void)state;
	t->stop.options.only = c.pid + 1000000; /* beyond all threads of the child */
	expect_ok(target_peek(t));
	expect_error(target_snap(t, true), ERR_STATE, "has ended");
	t->stop.options.only = 0;
	expect_ok(target_snap(t, true));
	child_wait_progress(&c);
}

static void test_reading_what_another_one_traces(void **state)
{
	CHILD(c, NULL, child_pause);
	const struct target_options options = { .stop.never = true };
	struct target *t CLEANUP(target_closep) = NULL;
	char text[sizeof(read_only_text)];

	(void)state;
	pid_t tracer = helper_start(&c, act_stop);
	expect_ok(target_live_open(c.pid, &options, &t));
	expect_ok(target_peek(t));
	expect_ok(target_read(t, (uintptr_t)read_only_text, text, sizeof(text)));
	expect_ok(target_snap(t, false));
	expect_ok(target_read(t, (uintptr_t)read_only_text, text, sizeof(text)));
	assert_memory_equal(text, read_only_text, sizeof(text));
	assert_int_equal(t->stop.copy.how, COPY_RUNNING);
	assert_int_equal(t->stop.copy.stopped, 0);
	assert_int_equal(t->nthreads, 1 + CHILD_WORKERS);
	helper_kill(tracer);
	child_wait_progress(&c);
}

static void test_a_pause_too_short_to_try(void **state)
{
	CHILD(c, NULL, child_pause);
	const struct target_options options = { .stop = { .has_max = true, .max_ns = 1 } };
	struct target *t CLEANUP(target_closep) = NULL;

	(void)state;
	expect_ok(target_live_open(c.pid, &options, &t));
	wait_asleep(&c);
	expect_ok(target_peek(t));
	long before = switches(&c, c.pid);
	expect_ok(target_snap(t, true));
	assert_int_equal(switches(&c, c.pid), before);
	assert_int_equal(t->stop.copy.how, COPY_RUNNING);
	assert_int_equal(t->stop.copy.pause_ns, 0);
	assert_true(t->threads[0].has_regs);
}

static void do_nothing(void *arg)
{
	(void)arg;
}

/*
 * If the time is over before all threads have stopped, no thread may be left stopped. If the last
 * one stopped too late, act() is not called.
 */
static void test_a_stop_that_is_given_up(void **state)
{
	CHILD(c, NULL, child_pause);
	struct target *t CLEANUP(target_closep) = open_child(&c);
	const struct brief_stop stop = { .max_ns = 1, .act = do_nothing };
	struct copy copy = { 0 };

	(void)state;
	expect_ok(target_peek(t));
	for (int round = 0; round < 20; round++) {
		copy = (struct copy){ 0 };
		expect_ok(t->ops->stop_briefly(t, &stop, &copy));
		assert_int_equal(copy.stopped, 0);
		child_wait_progress(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stop_shows_every_thread),
		cmocka_unit_test(test_memory_stands_still_then_goes_on),
		cmocka_unit_test(test_what_a_stop_read_is_there_afterwards),
		cmocka_unit_test(test_threads_that_come_and_go),
		cmocka_unit_test(test_signals_on_their_way_arrive),
		cmocka_unit_test(test_a_stopped_job_stays_stopped),
		cmocka_unit_test(test_interrupted_stop_lets_it_run),
		cmocka_unit_test(test_close_resumes),
		cmocka_unit_test(test_main_thread_has_ended),
		cmocka_unit_test(test_main_thread_ends),
		cmocka_unit_test(test_killed_while_stopped),
		cmocka_unit_test(test_another_program_by_now),
		cmocka_unit_test(test_uninterruptible_sleep),
		cmocka_unit_test(test_already_traced),
		cmocka_unit_test(test_traced_for_a_moment),
		cmocka_unit_test(test_target_survives_a_killed_debugger),
		cmocka_unit_test(test_target_survives_a_debugger_that_exits),
		cmocka_unit_test(test_pids_that_cannot_be_opened),
		cmocka_unit_test(test_wrong_executable),
		cmocka_unit_test(test_long_vectors_with_holes),
		cmocka_unit_test(test_peek_agrees_with_a_stop),
		cmocka_unit_test(test_an_excluded_thread_sleeps_on),
		cmocka_unit_test(test_one_thread_stops_where_all_are_excluded),
		cmocka_unit_test(test_an_excluded_thread_that_wakes_is_noticed),
		cmocka_unit_test(test_only_one_thread_stops),
		cmocka_unit_test(test_the_only_thread_has_ended),
		cmocka_unit_test(test_reading_what_another_one_traces),
		cmocka_unit_test(test_a_pause_too_short_to_try),
		cmocka_unit_test(test_a_stop_that_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
