#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "commands/time/sink.h"
#include "runtimes/model/model.h"
#include "runtimes/timeline/timeline.h"

/* A disk with a file. */
struct disk {
	size_t room, used;
	char bytes[1 << 20];
};

static ssize_t write_disk(void *cookie, const char *bytes, size_t len)
{
	struct disk *d = cookie;
	size_t fits = d->room - d->used < len ? d->room - d->used : len;

	memcpy(d->bytes + d->used, bytes, fits);
	d->used += fits;
	if (fits < len)
		errno = ENOSPC;
	return (ssize_t)fits;
}

static FILE *open_disk(struct disk *d)
{
	const cookie_io_functions_t functions = { .write = write_disk };
	FILE *f = fopencookie(d, "w", functions);

	assert_non_null(f);
	return f;
}

static void write_items(struct sink *s, size_t n)
{
	const struct trace_item item = {
		.time = 1, .tid = 1, .worker = -1, .runtime = -1, .type = "x"
	};

	for (size_t i = 0; i < n; i++)
		sink_item(s, &item);
}

/* A write fails within a batch of items; what comes later has another errno, or has room again. */
static void the_disk_is_full(enum out_format format)
{
	static struct disk disk;
	FILE *f = open_disk(&disk);
	const struct out out = { .format = format };
	struct sink *s CLEANUP(sink_freep) = sink_new(&out, f, false);

	disk.used = 0;
	disk.room = 100000;
	write_items(s, 5000);
	assert_int_equal(s->failed, ENOSPC);
	assert_int_equal(disk.used, 100000);
	errno = ECANCELED;
	disk.room = sizeof(disk.bytes);
	write_items(s, 1);
	sink_flush(s);
	sink_end(s, &(struct trace_ending){ 0 });
	struct error *err = sink_error(s);
	assert_non_null(err);
	assert_int_equal(err->errnum, ENOSPC);
	error_free(err);
	assert_int_equal(disk.used, 100000);
	fclose(f);
}

static void the_disk_is_full_of_text(void **state)
{
	(void)state;
	the_disk_is_full(OUT_TEXT);
}

static void the_disk_is_full_of_lines(void **state)
{
	(void)state;
	the_disk_is_full(OUT_JSON_LINES);
}

static void the_disk_has_room(void **state)
{
	static struct disk disk = { .room = sizeof(disk.bytes) };
	FILE *f = open_disk(&disk);
	const struct out out = { .format = OUT_TEXT };
	struct sink *s CLEANUP(sink_freep) = sink_new(&out, f, false);

	(void)state;
	write_items(s, 10);
	sink_flush(s);
	assert_null(sink_error(s));
	assert_true(disk.used > 10);
	fclose(f);
}

/* Members that items share are as they would be without that. */
static void items_as_lines(void **state)
{
	static const char wanted[] =
		"{\"t\":1,\"event\":\"task-spawn\",\"tid\":7,\"worker\":0,\"runtime\":2,"
		"\"task\":\"3\",\"type\":\"a\\\"b\",\"kind\":\"task\",\"by\":null,"
		"\"spawned_at\":null}\n"
		"{\"t\":2,\"event\":\"task-wake\",\"tid\":7,\"worker\":0,\"runtime\":2,"
		"\"task\":\"3\",\"type\":\"a\\\"b\",\"kind\":\"task\",\"by\":\"4\"}\n"
		"{\"t\":3,\"event\":\"task-wake\",\"tid\":7,\"worker\":null,\"runtime\":null,"
		"\"task\":\"5\",\"type\":null,\"kind\":\"blocking\",\"by\":null}\n"
		"{\"t\":4,\"event\":\"worker-thread-park\",\"tid\":null,\"worker\":null,"
		"\"runtime\":null,\"task\":null}\n";
	const struct trace_item items[] = {
		{ .event = TRACE_SPAWN,
		  .time = 1,
		  .tid = 7,
		  .runtime = 2,
		  .task = 3,
		  .type = "a\"b" },
		{ .event = TRACE_WAKE,
		  .time = 2,
		  .tid = 7,
		  .runtime = 2,
		  .task = 3,
		  .type = items[0].type,
		  .by = 4 },
		{ .event = TRACE_WAKE,
		  .time = 3,
		  .tid = 7,
		  .worker = -1,
		  .runtime = -1,
		  .task = 5,
		  .job = TRACE_BLOCKING },
		{ .event = TRACE_PARK, .time = 4, .tid = -1, .worker = -1, .runtime = -1 },
	};
	static struct disk disk = { .room = sizeof(disk.bytes) };
	FILE *f = open_disk(&disk);
	const struct out out = { .format = OUT_JSON_LINES };
	struct sink *s CLEANUP(sink_freep) = sink_new(&out, f, false);

	(void)state;
	for (unsigned round = 0; round < 2; round++) {
		disk.used = 0;
		for (size_t i = 0; i < sizeof(items) / sizeof(*items); i++)
			sink_item(s, &items[i]);
		sink_flush(s);
		assert_int_equal(disk.used, strlen(wanted));
		assert_memory_equal(disk.bytes, wanted, disk.used);
	}
	fclose(f);
}

/* Ends that were not seen themselves: how long it took is a bound. */
static void late_ends_have_bounds(void **state)
{
	static const char wanted[] =
		"{\"t\":9,\"event\":\"task-poll-end\",\"tid\":7,\"worker\":0,\"runtime\":0,"
		"\"task\":\"3\",\"type\":null,\"kind\":\"task\",\"poll_ns\":null,"
		"\"poll_ns_at_most\":52000000,\"ready\":null,\"place\":null,\"late\":true}\n"
		"{\"t\":9,\"event\":\"worker-thread-unpark\",\"tid\":7,\"worker\":0,\"runtime\":0,"
		"\"task\":null,\"parked_ns\":null,\"parked_ns_at_most\":8,\"late\":true}\n";
	const struct trace_item items[] = {
		{ .event = TRACE_POLL_END,
		  .time = 9,
		  .tid = 7,
		  .task = 3,
		  .at_most_ns = 52000000,
		  .late = true },
		{ .event = TRACE_UNPARK, .time = 9, .tid = 7, .at_most_ns = 8, .late = true },
	};
	static struct disk disk = { .room = sizeof(disk.bytes) };
	FILE *f = open_disk(&disk);
	const struct out out = { .format = OUT_JSON_LINES };
	struct sink *s CLEANUP(sink_freep) = sink_new(&out, f, false);

	(void)state;
	for (size_t i = 0; i < sizeof(items) / sizeof(*items); i++)
		sink_item(s, &items[i]);
	sink_flush(s);
	assert_int_equal(disk.used, strlen(wanted));
	assert_memory_equal(disk.bytes, wanted, disk.used);
	fclose(f);
}

static void assert_has(const char *bytes, size_t len, const char *text)
{
	assert_non_null(memmem(bytes, len, text, strlen(text)));
}

/* A slice of Perfetto has the name of the program's own line, and the whole chain. */
static void slices_have_chains(void **state)
{
	static const struct trace_frame frames[] = {
		{ "app::run", "src/main.rs", 12, false, NULL },
		{ "tokio::io::copy", "io/copy.rs", 7, true, NULL },
	};
	static const struct trace_place place = {
		.number = 1, .frames = frames, .nframes = 2, .leaf = "tokio::io::Readiness"
	};
	static char bytes[1 << 16];
	FILE *f = tmpfile();
	const struct out out = { .format = OUT_TEXT };
	struct sink *s CLEANUP(sink_freep) = sink_new(&out, f, true);
	struct timeline *before CLEANUP(timeline_freep) =
		timeline_new(TIMELINE_SPANS | TIMELINE_CALLS, NULL, NULL);
	const struct trace_plan plan = { 0 };
	const struct snapshot nothing = { 0 };
	const struct answer answer = { .snapshot = &nothing };
	const struct sink_filter filter = { 0 };
	const bool wanted[TRACE_NEVENTS] = { false };

	(void)state;
	s->ops->begin(s, &(struct trace_heading){ .plan = &plan,
	                                          .answer = &answer,
	                                          .wanted = wanted,
	                                          .filter = &filter,
	                                          .before = before });
	sink_item(s, &(struct trace_item){
			     .event = TRACE_POLL_START, .time = 1, .tid = 7, .task = 3 });
	sink_item(
		s,
		&(struct trace_item){
			.event = TRACE_POLL_END, .time = 2, .tid = 7, .task = 3, .place = &place });
	sink_flush(s);
	assert_null(sink_error(s));
	rewind(f);
	size_t n = fread(bytes, 1, sizeof(bytes), f);
	assert_has(bytes, n, "waiting at src/main.rs:12");
	assert_has(bytes, n,
	           "app::run at src/main.rs:12 > tokio::io::copy at io/copy.rs:7 > "
	           "tokio::io::Readiness");
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_as_lines),
		cmocka_unit_test(late_ends_have_bounds),
		cmocka_unit_test(slices_have_chains),
		cmocka_unit_test(the_disk_is_full_of_text),
		cmocka_unit_test(the_disk_is_full_of_lines),
		cmocka_unit_test(the_disk_has_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
