/* A process that would have to serve its own page faults, and does not. */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "debugger/live/served_memory.h"
#include "debugger/target/target.h"
#include "debugger/test/child.h"

/* FAR: in no block that a read of the first pages takes whole. */
enum { PAGE = 4096, PAGES = 64, PRESENT = 3, FAR = 50, MARK = 0x5a };

static unsigned char *served;

/* A userfaultfd that serves all pages of served; -1: the right to one is missing. */
static int register_pages(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .range = { (uintptr_t)served, (uint64_t)PAGES * PAGE },
		                         .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 && ioctl(fd, UFFDIO_REGISTER, &range) == 0)
		return fd;
	return -1;
}

static bool copy_page(int fd, uint64_t at)
{
	static unsigned char page[PAGE];
	struct uffdio_copy copy = { .dst = at, .src = (uintptr_t)page, .len = PAGE };

	memset(page, MARK, sizeof(page));
	return ioctl(fd, UFFDIO_COPY, &copy) == 0;
}

/* One page is present, and nobody serves the others. */
static void serve(void)
{
	int fd = register_pages();

	child_shared_->signals = fd >= 0 && copy_page(fd, (uintptr_t)served + PRESENT * PAGE);
}

static void map_pages(void)
{
	served = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
	              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(served, MAP_FAILED);
}

/* Both would wait for ever: the process for its tracer, the tracer for the process. */
static void absent_pages_are_not_waited_for(void **state)
{
	map_pages();
	CHILD(c, serve, child_pause);
	const struct target_options options = { .stop = { .all = true } };
	struct target *t CLEANUP(target_closep) = NULL;
	unsigned char page[2 * PAGE];
	size_t got;

	(void)state;
	if (!c.shared->signals)
		skip();
	alarm(60);
	assert_null(target_live_open(c.pid, &options, &t));
	assert_null(target_peek(t));
	for (int stopped = 0; stopped < 2; stopped++) {
		if (stopped)
			assert_null(target_snap(t, true));
		assert_null(target_read_some(t, (uintptr_t)served, page, PAGE, &got));
		assert_int_equal(got, 0);
		assert_null(target_read_some(t, (uintptr_t)served + PRESENT * PAGE, page,
		                             sizeof(page), &got));
		assert_int_equal(got, PAGE);
		assert_int_equal(page[PAGE - 1], MARK);
	}
	assert_int_equal(t->nnotes, 1);
	child_wait_progress(&c);
	alarm(0);
}

/* Serves each page when it is touched. */
static void *serve_pages(void *arg)
{
	int fd = *(int *)arg;
	struct uffd_msg message;

	while (read(fd, &message, sizeof(message)) == (ssize_t)sizeof(message))
		copy_page(fd, message.arg.pagefault.address / PAGE * PAGE);
	return NULL;
}

static void serve_well(void)
{
	static int fd;
	pthread_t thread;

	fd = register_pages();
	child_shared_->signals = fd >= 0 && pthread_create(&thread, NULL, serve_pages, &fd) == 0;
}

/* Reads a page of served, of which so many bytes are expected, all with the mark. */
static void expect_page(struct target *t, uint64_t index, size_t bytes)
{
	unsigned char page[PAGE];
	size_t got;

	assert_null(target_read_through(t, (uintptr_t)served + index * PAGE, page, PAGE, &got));
	assert_int_equal(got, bytes);
	if (got)
		assert_int_equal(page[PAGE - 1], MARK);
}

/* The process serves its pages, which it can only while it runs. */
static void absent_pages_are_requested_while_it_runs(void **state)
{
	map_pages();
	CHILD(c, serve_well, child_pause);
	const struct target_options options = { .stop = { .all = true } };
	struct target *t CLEANUP(target_closep) = NULL;

	(void)state;
	if (!c.shared->signals)
		skip();
	alarm(60);
	assert_null(target_live_open(c.pid, &options, &t));
	assert_null(target_peek(t));
	expect_page(t, 1, PAGE);
	assert_null(target_stop(t));
	expect_page(t, 1, PAGE);
	expect_page(t, FAR, 0);
	target_resume(t);
	expect_page(t, FAR, PAGE);
	child_wait_progress(&c);
	alarm(0);
}

/* A page that nobody serves is requested once, and keeps no other page from being read. */
static void a_reader_is_left_behind(void **state)
{
	map_pages();
	CHILD(c, serve, child_pause);
	const struct target_options options = { 0 };
	struct target *t CLEANUP(target_closep) = NULL;

	(void)state;
	if (!c.shared->signals)
		skip();
	alarm(60);
	assert_null(target_live_open(c.pid, &options, &t));
	for (int i = 0; i < 200; i++) {
		expect_page(t, 0, 0);
		expect_page(t, PRESENT, PAGE);
	}
	alarm(0);
}

static void parts_are_of_one_kind(void **state)
{
	struct served_memory m = { 0 };
	bool is_served;

	(void)state;
	assert_int_equal(served_memory_part(&m, 0x1000, 77, &is_served), 77);
	assert_false(is_served);
	*vec_push(&m.spans) = (struct served_span){ 0x10000, 0x20000 };
	m.pagemap = -1;
	assert_int_equal(served_memory_part(&m, 0xf000, 0x8000, &is_served), 0x1000);
	assert_false(is_served);
	assert_int_equal(served_memory_part(&m, 0x10000, 0x8000, &is_served), 0x8000);
	assert_true(is_served);
	assert_int_equal(served_memory_part(&m, 0x1ffff, 0x8000, &is_served), 1);
	assert_true(is_served);
	assert_int_equal(served_memory_part(&m, 0x20000, 0x8000, &is_served), 0x8000);
	assert_false(is_served);
	served_memory_free(&m);
}

static void present_bytes_are_counted(void **state)
{
	struct served_memory m = { 0 };

	(void)state;
	served_memory_find(&m, getpid());
	assert_int_equal(served_memory_present(&m, (uintptr_t)&m, sizeof(m)), sizeof(m));
	*vec_push(&m.spans) = (struct served_span){ 0x10000, 0x20000 };
	m.pagemap = -1;
	assert_int_equal(served_memory_present(&m, 0xf000, 0x800), 0x800);
	assert_int_equal(served_memory_present(&m, 0xf000, 0x2000), 0x1000);
	assert_int_equal(served_memory_present(&m, 0x1f000, 0x2000), 0);
	assert_int_equal(served_memory_present(&m, 0x20000, UINT64_MAX), UINT64_MAX);
	served_memory_free(&m);
}

/* A user may have mounted any number of file systems. */
static void all_mounts_are_found(void **state)
{
	enum { MOUNTS = 300 };
	static char text[MOUNTS * 120];
	fuse_devices found = { 0 };
	size_t len = 0;

	(void)state;
	for (int i = 0; i < MOUNTS; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		                        "%d 35 0:%d / /mnt rw - fuse.sshfs here: rw\n"
		                        "%d 35 8:%d / /disk rw - ext4 /dev/disk rw\n",
		                        i, 100 + i, i, i);
	FILE *f = fmemopen(text, len, "r");
	assert_non_null(f);
	served_memory_find_fuse(f, &found);
	fclose(f);
	assert_int_equal(found.n, MOUNTS);
	assert_string_equal(found.data[MOUNTS - 1].number, "0:399");
	vec_free(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(absent_pages_are_not_waited_for),
		cmocka_unit_test(absent_pages_are_requested_while_it_runs),
		cmocka_unit_test(a_reader_is_left_behind),
		cmocka_unit_test(parts_are_of_one_kind),
		cmocka_unit_test(present_bytes_are_counted),
		cmocka_unit_test(all_mounts_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
