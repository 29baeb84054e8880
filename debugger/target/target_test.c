/* Tests of target.h on fake targets: reads, the page cache, stops and copies. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "debugger/base/clock.h"
#include "debugger/base/vec.h"
#include "debugger/memory/page_cache.h"
#include "debugger/target/module.h"
#include "debugger/test/target_fake.h"

/* --- reads of a fake target --- */

static void expect_ok(struct error *err)
{
	if (err)
		fail_msg("%s", err->message);
}

static void expect_fault(struct error *err, uint64_t addr)
{
	assert_non_null(err);
	assert_int_equal(err->kind, ERR_FAULT);
	assert_int_equal(err->addr, addr);
	error_free(err);
}

static void test_read_across_adjacent_areas(void **state)
{
	struct target *t CLEANUP(target_closep) = target_fake_open();
	char buf[6];

	(void)state;
	target_fake_map(t, 0x1000, "abc", 3);
	target_fake_map(t, 0x1003, "def", 3);
	expect_ok(target_read(t, 0x1000, buf, 6));
	assert_memory_equal(buf, "abcdef", 6);
	target_fake_poke(t, 0x1002, "C", 1);
	expect_ok(target_read(t, 0x1002, buf, 1));
	assert_int_equal(buf[0], 'C');
}

static void test_hole_is_no_error_for_read_some(void **state)
{
	struct target *t CLEANUP(target_closep) = target_fake_open();
	char buf[8];
	size_t got = 99;

	(void)state;
	target_fake_map(t, 0x1000, "abc", 3);
	expect_ok(target_read_some(t, 0x1001, buf, 8, &got));
	assert_int_equal(got, 2);
	expect_ok(target_read_some(t, 0x2000, buf, 8, &got));
	assert_int_equal(got, 0);
	expect_fault(target_read(t, 0x1001, buf, 8), 0x1003);
	expect_fault(target_read(t, 0, buf, 1), 0);
}

static void test_bytes_in_no_memory(void **state)
{
	struct target *t CLEANUP(target_closep) = target_fake_open();
	uint64_t one = target_lay_out(t, "abc", 3), two = target_lay_out(t, "defg", 4), number;
	char buf[8];
	size_t got;

	(void)state;
	assert_true(target_is_laid_out(one) && target_is_laid_out(two));
	assert_false(target_is_laid_out(0x7fffffffffff));
	expect_ok(target_read_some(t, one, buf, 8, &got));
	assert_int_equal(got, 3);
	assert_memory_equal(buf, "abc", 3);
	expect_ok(target_read_uint(t, two + 2, 2, &number));
	assert_int_equal(number, 'f' | 'g' << 8);
	expect_fault(target_read(t, one + 2, buf, 2), one + 3);
	expect_fault(target_read(t, one - 1, buf, 2), one - 1);
}

static void test_reads_end_at_the_top_of_the_address_space(void **state)
{
	struct target *t CLEANUP(target_closep) = target_fake_open();
	char buf[16];
	size_t got;

	(void)state;
	target_fake_map(t, UINT64_MAX - 3, "last", 4);
	target_fake_map(t, 0, "first", 5);
	expect_ok(target_read_some(t, UINT64_MAX - 3, buf, sizeof(buf), &got));
	assert_int_equal(got, 4);
}

static void test_read_uint_is_little_endian(void **state)
{
	struct target *t CLEANUP(target_closep) = target_fake_open();
	uint64_t value;

	(void)state;
	target_fake_map(t, 0x1000, "\x01\x02\x03\x04\x05\x06\x07\xff", 8);
	expect_ok(target_read_uint(t, 0x1000, 1, &value));
	assert_int_equal(value, 1);
	expect_ok(target_read_uint(t, 0x1000, 2, &value));
	assert_int_equal(value, 0x0201);
	expect_ok(target_read_uint(t, 0x1000, 4, &value));
	assert_int_equal(value, 0x04030201);
	expect_ok(target_read_uint(t, 0x1000, 8, &value));
	assert_true(value == UINT64_C(0xff07060504030201));
	value = 5;
	expect_fault(target_read_uint(t, 0x1004, 8, &value), 0x1008);
	assert_int_equal(value, 5);
}

static void test_read_cstr_is_bounded_and_clean(void **state)
{
	struct target *t CLEANUP(target_closep) = target_fake_open();
	SCRATCH(a);
	char text[1000];
	const char *s = NULL;

	(void)state;
	memset(text, 'x', sizeof(text));
	memcpy(text, "esc\x1b\0", 5);
	target_fake_map(t, 0x1000, text, sizeof(text));
	expect_ok(target_read_cstr(t, &a, 0x1000, 100, &s));
	assert_string_equal(s, "esc?");
	expect_ok(target_read_cstr(t, &a, 0x1005, 900, &s));
	assert_int_equal(strlen(s), 900);
	expect_ok(target_read_cstr(t, &a, 0x1005, 0, &s));
	assert_string_equal(s, "");
	expect_fault(target_read_cstr(t, &a, 0x1005, 5000, &s), 0x1000 + sizeof(text));
	expect_fault(target_read_cstr(t, &a, 0x9000, 10, &s), 0x9000);
}

static void test_threads_are_numbered_main_first(void **state)
{
	struct target *t CLEANUP(target_closep) = target_fake_open();
	const struct thread threads[] = {
		{ .tid = 30 }, { .tid = 7 }, { .tid = 20 }, { .tid = 9 }
	};

	(void)state;
	t->pid = 20;
	target_set_threads(t, threads, 4);
	assert_int_equal(t->threads[0].tid, 20);
	assert_int_equal(t->threads[1].tid, 7);
	assert_int_equal(t->threads[3].tid, 30);
	assert_int_equal(target_thread_by_tid(t, 9)->number, 3);
	assert_null(target_thread_by_tid(t, 1));
}

static bool count_to_two(uint64_t start, uint64_t end, void *arg)
{
	assert_true(start < end);
	return ++*(int *)arg < 2;
}

static void test_a_walk_through_memory_can_be_ended(void **state)
{
	struct target *t CLEANUP(target_closep) = target_fake_open();
	unsigned char byte = 0;
	size_t got = 0;
	int n = 0;

	(void)state;
	for (uint64_t i = 1; i <= 3; i++)
		target_fake_map(t, i << 12, "1234567", 8);
	expect_ok(target_each_writable(t, count_to_two, &n));
	assert_int_equal(n, 2);
	expect_ok(target_read_through(t, 0x1002, &byte, 1, &got));
	assert_int_equal(got, 1);
	assert_int_equal(byte, '3');
	expect_ok(target_read_through(t, 0x9000, &byte, 1, &got));
	assert_int_equal(got, 0);
}

static void test_fake_threads(void **state)
{
	struct target *t CLEANUP(target_closep) = target_fake_open();

	(void)state;
	for (int i = 1; i <= 20; i++)
		target_fake_thread(t, i * 10)->regs.thread_pointer = (uint64_t)i;
	assert_int_equal(t->nthreads, 20);
	assert_int_equal(target_thread_by_tid(t, 150)->regs.thread_pointer, 15);
	assert_int_equal(target_thread_by_tid(t, 150)->number, 15);
}

static void test_notes_are_kept_once(void **state)
{
	struct target *t CLEANUP(target_closep) = target_fake_open();

	(void)state;
	for (int i = 0; i < 10; i++)
		target_note(t, "note %d", i % 2);
	assert_int_equal(t->nnotes, 2);
	assert_string_equal(t->notes[1], "note 1");
	for (int i = 0; i < 5000; i++)
		target_note(t, "note %d", i);
	assert_int_equal(t->nnotes, 1000);
}

static void test_stopping_what_always_stands_does_nothing(void **state)
{
	struct target *t CLEANUP(target_closep) = target_fake_open();

	(void)state;
	target_fake_thread(t, 1);
	expect_ok(target_stop(t));
	assert_int_equal(t->nthreads, 1);
	target_resume(t);
	assert_true(t->stopped);
	assert_int_equal(t->generation, 0);
}

/* --- the page cache: a "live" target whose every byte is counter --- */

enum { LOW = 0x100000, HIGH = 0x200000, HOLE = 0x130000, HOLE_END = 0x134000, RODATA = 0x180000 };

struct sim {
	unsigned char counter; /* the value of all bytes now */
	unsigned reads, stops;
	unsigned moves_at; /* counter is incremented before this read; 0 never */
	unsigned slow;     /* so many brief stops take too long */
	unsigned held_up;  /* in so many brief stops nothing can be copied in time */
	bool gone;
};

static struct error *sim_read(struct target *t, uint64_t addr, void *buf, size_t len, size_t *ret)
{
	struct sim *s = t->private;
	uint64_t end = addr < HOLE ? HOLE : HIGH;

	if (++s->reads == s->moves_at)
		s->counter++;
	*ret = 0;
	if (s->gone)
		return error_new(ERR_STATE, "gone");
	if (addr < LOW || addr >= HIGH || (addr >= HOLE && addr < HOLE_END))
		return NULL;
	*ret = len < end - addr ? len : end - addr;
	memset(buf, s->counter, *ret);
	return NULL;
}

static struct error *sim_stop(struct target *t)
{
	struct sim *s = t->private;

	const struct thread thread = { .tid = 1 };

	s->stops++;
	target_set_threads(t, &thread, 1);
	return s->gone ? error_new(ERR_STATE, "gone") : NULL;
}

static void sim_nothing(struct target *t)
{
	(void)t;
}

static const struct target_ops sim_ops = { .kind = "live",
	                                   .read = sim_read,
	                                   .stop = sim_stop,
	                                   .resume = sim_nothing,
	                                   .close = sim_nothing };

enum { SLOW_NS = 3000, QUICK_NS = 1000 };

static struct error *sim_stop_briefly(struct target *t, const struct brief_stop *b,
                                      struct copy *ret)
{
	struct sim *s = t->private;

	b->prepare(b->arg);
	s->stops++;
	ret->pause_ns = s->slow ? SLOW_NS : QUICK_NS;
	ret->stopped = s->slow ? 0 : 1;
	t->stop.began = s->held_up ? 0 : clock_now_ns();
	if (ret->stopped)
		b->act(b->arg);
	s->slow -= s->slow > 0;
	s->held_up -= s->held_up > 0;
	return NULL;
}

static const struct target_ops sim_brief_ops = { .read = sim_read,
	                                         .stop = sim_stop,
	                                         .stop_briefly = sim_stop_briefly,
	                                         .resume = sim_nothing,
	                                         .close = sim_nothing };

static struct target *sim_open(struct sim *s)
{
	struct target *t = target_new(&sim_ops, arch_for_machine(EM_X86_64), true);

	*s = (struct sim){ .counter = 1 };
	t->private = s;
	return t;
}

static int byte_at(struct target *t, uint64_t addr)
{
	unsigned char byte;
	size_t got;

	expect_ok(target_read_some(t, addr, &byte, 1, &got));
	return got ? byte : -1;
}

static void test_cache_reads_in_blocks(void **state)
{
	struct sim s;
	struct target *t CLEANUP(target_closep) = sim_open(&s);

	(void)state;
	expect_ok(target_stop(t));
	assert_true(t->stopped);
	for (uint64_t addr = LOW; addr < LOW + BLOCK_SIZE; addr += 64)
		assert_int_equal(byte_at(t, addr), 1);
	assert_int_equal(s.reads, 1);
	/* An object across two blocks. */
	char buf[100];
	expect_ok(target_read(t, LOW + BLOCK_SIZE - 50, buf, sizeof(buf)));
	assert_int_equal(s.reads, 2);
}

static void test_cache_knows_holes(void **state)
{
	struct sim s;
	struct target *t CLEANUP(target_closep) = sim_open(&s);
	char buf[100];
	size_t got;

	(void)state;
	expect_ok(target_stop(t));
	assert_int_equal(byte_at(t, HOLE), -1);
	assert_int_equal(byte_at(t, HOLE_END - 1), -1);
	assert_int_equal(byte_at(t, HOLE_END), 1);
	expect_ok(target_read_some(t, HOLE - 10, buf, sizeof(buf), &got));
	assert_int_equal(got, 10);
	unsigned reads = s.reads;
	assert_int_equal(byte_at(t, HOLE), -1);
	assert_int_equal(byte_at(t, HOLE - 1), 1);
	assert_int_equal(s.reads, reads);
	assert_int_equal(byte_at(t, 0), -1);
	assert_int_equal(byte_at(t, UINT64_MAX), -1);
}

static void test_stop_drops_what_warm_up_walks_read(void **state)
{
	struct sim s;
	struct target *t CLEANUP(target_closep) = sim_open(&s);

	(void)state;
	assert_int_equal(byte_at(t, LOW), 1);
	s.counter = 2;
	expect_ok(target_stop(t));
	assert_int_equal(t->generation, 1);
	assert_int_equal(byte_at(t, LOW), 2);
}

static void test_bytes_of_a_stop_stay_until_the_next(void **state)
{
	struct sim s;
	struct target *t CLEANUP(target_closep) = sim_open(&s);

	(void)state;
	expect_ok(target_stop(t));
	assert_int_equal(byte_at(t, LOW), 1);
	target_resume(t);
	assert_false(t->stopped);
	s.counter = 2;
	assert_int_equal(byte_at(t, LOW), 1);
	/* This was not read during the stop: it must not be read from the running target. */
	assert_int_equal(byte_at(t, LOW + 2 * BLOCK_SIZE), -1);
	expect_ok(target_stop(t));
	assert_int_equal(byte_at(t, LOW), 2);
	assert_int_equal(byte_at(t, LOW + 2 * BLOCK_SIZE), 2);
}

static void test_constant_memory_is_read_after_resume(void **state)
{
	struct sim s;
	struct target *t CLEANUP(target_closep) = sim_open(&s);
	struct mapping constant[] = { { .start = RODATA - 0x10000, .end = RODATA - 0x8000 },
		                      { .start = RODATA, .end = RODATA + 2 * CACHE_PAGE } };
	char buf[3 * CACHE_PAGE];
	size_t got;

	(void)state;
	t->memory.constant = constant;
	t->memory.nconstant = 2;
	expect_ok(target_stop(t));
	target_resume(t);
	expect_ok(target_read_some(t, RODATA, buf, sizeof(buf), &got));
	assert_int_equal(got, 2 * CACHE_PAGE);
	assert_int_equal(byte_at(t, RODATA - 1), -1);
	assert_int_equal(byte_at(t, RODATA + 2 * CACHE_PAGE), -1);
	s.gone = true;
	assert_int_equal(byte_at(t, RODATA), 1);
	assert_int_equal(byte_at(t, RODATA - 0x10000), -1);
}

static void test_a_stop_reads_what_was_used_before(void **state)
{
	struct sim s;
	struct target *t CLEANUP(target_closep) = sim_open(&s);

	(void)state;
	/* A warm-up walk on the running program uses two addresses, one of them in a hole. */
	expect_ok(target_stop(t));
	target_resume(t);
	target_invalidate(t);
	byte_at(t, LOW);
	assert_int_equal(byte_at(t, HOLE), -1);
	s.counter = 2;
	expect_ok(target_stop(t));
	target_resume(t);
	s.counter = 3;
	assert_int_equal(t->stop.misses, 0);
	/* The stop has read both: the value is that of the stop, and a hole is no miss. */
	assert_int_equal(byte_at(t, LOW), 2);
	assert_int_equal(byte_at(t, HOLE), -1);
	assert_int_equal(t->stop.misses, 0);
}

static void test_a_miss_is_counted_and_read_next_time(void **state)
{
	struct sim s;
	struct target *t CLEANUP(target_closep) = sim_open(&s);

	(void)state;
	expect_ok(target_stop(t));
	target_resume(t);
	assert_int_equal(byte_at(t, LOW), -1);
	assert_int_equal(t->stop.misses, 1);
	s.counter = 2;
	expect_ok(target_stop(t));
	target_resume(t);
	s.counter = 3;
	assert_int_equal(byte_at(t, LOW), 2);
	assert_int_equal(t->stop.misses, 0);
}

static void test_reads_aside_are_not_copied(void **state)
{
	struct sim s;
	struct target *t CLEANUP(target_closep) = sim_open(&s);
	struct target_scratch_cache before;

	(void)state;
	expect_ok(target_peek(t));
	assert_int_equal(byte_at(t, LOW), 1);
	target_begin_scratch_cache(t, &before);
	s.counter = 2;
	assert_int_equal(byte_at(t, LOW), 2);
	assert_int_equal(byte_at(t, HIGH - 1), 2);
	target_end_scratch_cache(t, &before);
	assert_int_equal(byte_at(t, LOW), 1);
	expect_ok(target_snap(t, false));
	assert_int_equal(t->stop.copy.bytes, CACHE_PAGE);
	assert_int_equal(byte_at(t, HIGH - 1), -1);
	assert_int_equal(t->stop.misses, 1);
}

/* Or else a breakpoint whose condition reads registers would keep the bytes of each hit. */
static void test_bytes_aside_are_forgotten(void **state)
{
	struct target *t CLEANUP(target_closep) = target_fake_open();
	uint64_t one = target_lay_out(t, "abc", 3);
	struct target_scratch_cache before;
	char buf[4];

	(void)state;
	target_begin_scratch_cache(t, &before);
	uint64_t two = target_lay_out(t, "defg", 4);
	expect_ok(target_read(t, two, buf, 4));
	assert_memory_equal(buf, "defg", 4);
	target_end_scratch_cache(t, &before);
	assert_int_equal(t->stop.laid_out.list.n, 1);
	expect_ok(target_read(t, one, buf, 3));
	assert_memory_equal(buf, "abc", 3);
	expect_fault(target_read(t, one, buf, 4), one + 3);
}

/* Uses a page as a warm-up walk does, and copies it. */
static void snap(struct target *t)
{
	expect_ok(target_peek(t));
	byte_at(t, LOW);
	expect_ok(target_snap(t, false));
}

static void test_a_snap_is_of_one_moment(void **state)
{
	struct sim s;
	struct target *t CLEANUP(target_closep) = sim_open(&s);

	(void)state;
	snap(t);
	assert_int_equal(s.stops, 1);
	assert_int_equal(t->stop.copy.how, COPY_STOPPED);
	assert_int_equal(t->stop.copy.bytes, CACHE_PAGE);
	s.counter = 2;
	assert_int_equal(byte_at(t, LOW), 1);
	assert_int_equal(t->stop.doubts, 0);
	assert_int_equal(byte_at(t, LOW + BLOCK_SIZE), -1);
	assert_int_equal(t->stop.doubts, 1);
}

static void test_a_kept_plan_is_copied_with_what_it_lacked(void **state)
{
	struct sim s;
	struct target *t CLEANUP(target_closep) = sim_open(&s);

	(void)state;
	snap(t);
	assert_int_equal(byte_at(t, LOW + BLOCK_SIZE), -1);
	assert_int_equal(t->stop.misses, 1);
	target_keep_plan(t);
	s.counter = 2;
	expect_ok(target_snap(t, false));
	s.counter = 3;
	assert_int_equal(t->stop.copy.bytes, 2 * BLOCK_SIZE);
	assert_int_equal(byte_at(t, LOW), 2);
	assert_int_equal(byte_at(t, LOW + BLOCK_SIZE), 2);
	assert_int_equal(t->stop.misses, 0);
	/* A page that nobody has read since is not copied once more. */
	expect_ok(target_snap(t, false));
	assert_int_equal(t->stop.copy.bytes, 2 * CACHE_PAGE);
	expect_ok(target_snap(t, false));
	assert_int_equal(t->stop.copy.bytes, 0);
}

static void test_without_a_stop_changes_are_doubts(void **state)
{
	struct sim s;
	struct target *t CLEANUP(target_closep) = sim_open(&s);

	(void)state;
	t->stop.options.never = true;
	snap(t);
	assert_int_equal(t->stop.copy.how, COPY_RUNNING);
	assert_int_equal(byte_at(t, LOW), 1);
	assert_int_equal(t->stop.doubts, 0);
	/* Three reads: warm-up walk, copy, comparison. The memory changes before the last. */
	s.reads = 0;
	s.moves_at = 3;
	snap(t);
	assert_int_equal(s.reads, 3);
	assert_int_equal(byte_at(t, LOW), 1);
	assert_int_equal(t->stop.doubts, 1);
	uint64_t value;
	expect_ok(target_read_uint(t, LOW, 4, &value));
	assert_int_equal(value, 0x01010101);
	assert_int_equal(t->stop.doubts, 2);
	assert_int_equal(s.stops, 0);
	snap(t);
	assert_int_equal(byte_at(t, LOW), 2);
	assert_int_equal(t->stop.doubts, 0);
}

static void test_a_pause_of_nothing_is_no_stop(void **state)
{
	struct sim s;
	struct target *t CLEANUP(target_closep) = sim_open(&s);

	(void)state;
	t->stop.options.has_max = true;
	snap(t);
	assert_int_equal(s.stops, 0);
	assert_int_equal(t->stop.copy.how, COPY_RUNNING);
}

static void test_a_pause_that_is_too_short_for_the_pages(void **state)
{
	struct sim s;
	struct target *t CLEANUP(target_closep) = sim_open(&s);

	(void)state;
	/* This target never sets stopped_at: its time is always over, though its page takes no
	 * time. */
	t->stop.options = (struct stop_options){ .has_max = true, .max_ns = 1000000000 };
	snap(t);
	assert_int_equal(s.stops, PAUSE_TRIES);
	assert_int_equal(t->stop.copy.how, COPY_LIMITED);
	assert_int_equal(byte_at(t, LOW), 1);
	assert_int_equal(t->stop.doubts, 0);
	/* Warm-up walk, a copy before each stop, comparison. None during a stop. */
	s.reads = 0;
	s.moves_at = PAUSE_TRIES + 2;
	snap(t);
	assert_int_equal(s.reads, PAUSE_TRIES + 2);
	assert_int_equal(byte_at(t, LOW), 1);
	assert_int_equal(t->stop.doubts, 1);
}

/* 24 threads on two busy processors took 41 ms to stop, and up to 938. */
static void test_a_stop_that_takes_too_long_is_tried_again(void **state)
{
	static const struct {
		unsigned slow, stops;
		uint64_t pause_ns, longest_ns;
		enum copy_how how;
	} rows[] = {
		{ 0, 1, QUICK_NS, QUICK_NS, COPY_STOPPED },
		{ 1, 2, SLOW_NS + QUICK_NS, SLOW_NS, COPY_STOPPED },
		{ 2, 3, 2 * SLOW_NS + QUICK_NS, SLOW_NS, COPY_STOPPED },
		{ 9, PAUSE_TRIES, 3 * SLOW_NS, SLOW_NS, COPY_RUNNING },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sim s;
		struct target *t CLEANUP(target_closep) = sim_open(&s);

		t->ops = &sim_brief_ops;
		t->stop.options.brief = true;
		s.slow = rows[i].slow;
		snap(t);
		assert_int_equal(s.stops, rows[i].stops);
		assert_int_equal(t->stop.copy.tries, rows[i].stops);
		assert_int_equal(t->stop.copy.pause_ns, rows[i].pause_ns);
		assert_int_equal(t->stop.copy.longest_ns, rows[i].longest_ns);
		assert_int_equal(t->stop.copy.how, rows[i].how);
		assert_int_equal(t->stop.failed, rows[i].how == COPY_RUNNING);
		assert_int_equal(byte_at(t, LOW), 1);
	}
}

/* A check of eight threads, on a machine that compiled something: its copy waited for a processor.
 */
static void test_a_copy_that_was_held_up_is_tried_again(void **state)
{
	struct sim s;
	struct target *t CLEANUP(target_closep) = sim_open(&s);

	(void)state;
	t->ops = &sim_brief_ops;
	t->stop.options.brief = true;
	s.held_up = 1;
	snap(t);
	assert_int_equal(t->stop.copy.tries, 2);
	assert_int_equal(t->stop.copy.pause_ns, 2 * QUICK_NS);
	assert_int_equal(t->stop.copy.how, COPY_STOPPED);
	s.held_up = 9;
	snap(t);
	assert_int_equal(t->stop.copy.tries, PAUSE_TRIES);
	assert_int_equal(t->stop.copy.how, COPY_LIMITED);
}

static void test_the_pause_is_limited_by_itself(void **state)
{
	struct target t = { .stop.options = { .brief = true }, .nthreads = 24 };

	(void)state;
	assert_int_equal(target_max_pause(&t), 20000000);
	t.nthreads = 2003;
	assert_int_equal(target_max_pause(&t), 100150000);
	t.stop.options = (struct stop_options){ .brief = true, .has_max = true, .max_ns = 5 };
	assert_int_equal(target_max_pause(&t), 5);
	t.stop.options = (struct stop_options){ 0 };
	assert_int_equal(target_max_pause(&t), 0);
}

static void test_a_target_that_is_gone(void **state)
{
	struct sim s;
	struct target *t CLEANUP(target_closep) = sim_open(&s);
	char byte;

	(void)state;
	s.gone = true;
	struct error *err = target_stop(t);
	assert_int_equal(err->kind, ERR_STATE);
	error_free(err);
	assert_false(t->stopped);
	s.gone = false;
	expect_ok(target_stop(t));
	s.gone = true;
	err = target_read(t, LOW, &byte, 1);
	assert_int_equal(err->kind, ERR_STATE);
	error_free(err);
}

/* Both the copy and the stop fail; the sanitizer reports an error that nobody frees. */
static void test_a_target_that_goes_before_its_stop(void **state)
{
	struct sim s;
	struct target *t CLEANUP(target_closep) = sim_open(&s);

	(void)state;
	t->stop.options = (struct stop_options){ .has_max = true, .max_ns = 1000000000 };
	expect_ok(target_peek(t));
	byte_at(t, LOW);
	s.gone = true;
	struct error *err = target_snap(t, false);
	assert_int_equal(err->kind, ERR_STATE);
	error_free(err);
}

static struct error *read_sim(void *arg, uint64_t addr, void *buf, size_t len, size_t *ret)
{
	return sim_read(arg, addr, buf, len, ret);
}

static void test_cache_grows(void **state)
{
	struct page_cache *c = page_cache_new();
	struct sim s = { .counter = 3 };
	struct target t = { .private = &s };
	const unsigned char *page;

	(void)state;
	for (uint64_t i = 0; i < 3000; i++)
		expect_ok(page_cache_fill(c, i * BLOCK_SIZE, false, read_sim, &t));
	for (uint64_t i = 0; i < 3000; i++) {
		uint64_t addr = i * BLOCK_SIZE;
		bool there = addr >= LOW && addr < HIGH && !(addr >= HOLE && addr < HOLE_END);
		assert_int_equal(page_cache_get(c, addr, &page), there ? PAGE_PRESENT : PAGE_HOLE);
		assert_int_equal(page_cache_get(c, addr + CACHE_PAGE, &page), PAGE_UNKNOWN);
	}
	page_cache_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_across_adjacent_areas),
		cmocka_unit_test(test_hole_is_no_error_for_read_some),
		cmocka_unit_test(test_bytes_in_no_memory),
		cmocka_unit_test(test_reads_end_at_the_top_of_the_address_space),
		cmocka_unit_test(test_read_uint_is_little_endian),
		cmocka_unit_test(test_read_cstr_is_bounded_and_clean),
		cmocka_unit_test(test_threads_are_numbered_main_first),
		cmocka_unit_test(test_a_walk_through_memory_can_be_ended),
		cmocka_unit_test(test_fake_threads),
		cmocka_unit_test(test_notes_are_kept_once),
		cmocka_unit_test(test_stopping_what_always_stands_does_nothing),
		cmocka_unit_test(test_cache_reads_in_blocks),
		cmocka_unit_test(test_cache_knows_holes),
		cmocka_unit_test(test_stop_drops_what_warm_up_walks_read),
		cmocka_unit_test(test_bytes_of_a_stop_stay_until_the_next),
		cmocka_unit_test(test_constant_memory_is_read_after_resume),
		cmocka_unit_test(test_a_stop_reads_what_was_used_before),
		cmocka_unit_test(test_a_miss_is_counted_and_read_next_time),
		cmocka_unit_test(test_reads_aside_are_not_copied),
		cmocka_unit_test(test_bytes_aside_are_forgotten),
		cmocka_unit_test(test_a_snap_is_of_one_moment),
		cmocka_unit_test(test_a_kept_plan_is_copied_with_what_it_lacked),
		cmocka_unit_test(test_without_a_stop_changes_are_doubts),
		cmocka_unit_test(test_a_pause_of_nothing_is_no_stop),
		cmocka_unit_test(test_a_pause_that_is_too_short_for_the_pages),
		cmocka_unit_test(test_a_stop_that_takes_too_long_is_tried_again),
		cmocka_unit_test(test_a_copy_that_was_held_up_is_tried_again),
		cmocka_unit_test(test_the_pause_is_limited_by_itself),
		cmocka_unit_test(test_a_target_that_is_gone),
		cmocka_unit_test(test_a_target_that_goes_before_its_stop),
		cmocka_unit_test(test_cache_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
