#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "commands/time/sink.h"
#include "debugger/base/arena.h"
#include "runtimes/model/model.h"
#include "runtimes/timeline/timeline.h"

enum { START = 1000, TASKS = 5000, ALIVE = 10 };

static uint64_t read_varint(const unsigned char **at)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		value |= (uint64_t)(**at & 0x7f) << shift;
		if (!(*(*at)++ & 0x80))
			break;
	}
	return value;
}

/* Packets of a file that begin with the description of a track, as they are written here. */
static size_t count_tracks(const unsigned char *at, const unsigned char *end)
{
	enum { PACKET_TRACK_DESCRIPTOR = 60, LEN = 2 };
	size_t n = 0;

	while (at < end) {
		assert_int_equal(*at++, 1 << 3 | LEN);
		size_t len = read_varint(&at);
		const unsigned char *next = at + len;

		while (at < next) {
			uint64_t tag = read_varint(&at);
			uint64_t value = read_varint(&at);

			n += tag == (PACKET_TRACK_DESCRIPTOR << 3 | LEN);
			if ((tag & 7) == LEN)
				at += value;
		}
		assert_ptr_equal(at, next);
	}
	return n;
}

struct traced {
	FILE *f;
	struct sink *sink;
	struct timeline *before;
	struct snapshot about;
	struct thread_info thread;
	struct trace_plan plan;
	struct arena a;
};

static void begin(struct traced *t)
{
	static const struct sink_filter filter;
	static bool wanted[TRACE_NEVENTS];
	static struct answer answer;
	const struct out out = { .format = OUT_TEXT };

	*t = (struct traced){ .f = tmpfile(),
		              .before = timeline_new(TIMELINE_SPANS | TIMELINE_CALLS, NULL, NULL) };
	assert_non_null(t->f);
	/* A thread that has ended since the snapshot: the kernel no longer knows its name. */
	t->thread = (struct thread_info){ .tid = 1 << 29, .name = "gone-by-now" };
	t->about.threads = &t->thread;
	t->about.nthreads = 1;
	t->about.target.pid = getpid();
	t->about.target.command = "my-server";
	answer = (struct answer){ .command = "trace", .snapshot = &t->about };
	const struct trace_heading heading = {
		.plan = &t->plan,
		.answer = &answer,
		.wanted = wanted,
		.start = START,
		.filter = &filter,
		.before = t->before,
	};
	t->sink = sink_new(&out, t->f, true);
	t->sink->ops->begin(t->sink, &heading);
}

static void add(struct traced *t, enum trace_event event, uint64_t time, uint64_t task)
{
	sink_item(t->sink, &(struct trace_item){ .event = event,
	                                         .time = time,
	                                         .tid = getpid(),
	                                         .worker = 3,
	                                         .runtime = 0,
	                                         .task = task,
	                                         .type = "app::request" });
}

/* Ends the trace and returns the bytes of its file, of which there are *len. */
static const unsigned char *end(struct traced *t, size_t *len)
{
	sink_flush(t->sink);
	sink_end(t->sink, &(struct trace_ending){ .duration_ns = 10 * TASKS });
	assert_null(sink_error(t->sink));
	*len = (size_t)lseek(fileno(t->f), 0, SEEK_END);
	unsigned char *bytes = NEW_ARRAY(&t->a, unsigned char, *len);
	assert_int_equal(pread(fileno(t->f), bytes, *len, 0), *len);
	return bytes;
}

static void free_traced(struct traced *t)
{
	sink_freep(&t->sink);
	timeline_free(t->before);
	arena_free(&t->a);
	fclose(t->f);
}

/* A server with a task a request: those of one type that have ended make room for others. */
static void test_lanes(void **state)
{
	struct traced t;
	size_t len;

	(void)state;
	begin(&t);
	for (uint64_t i = 1; i <= TASKS; i++) {
		add(&t, TRACE_SPAWN, START + i, i);
		if (i > ALIVE)
			add(&t, TRACE_TERMINATE, START + i, i - ALIVE);
	}
	const unsigned char *bytes = end(&t, &len);
	size_t n = count_tracks(bytes, bytes + len);
	/* The process, a thread, the type, tasks of their own, and as many lanes as are alive. */
	assert_in_range(n, 300, 330);
	assert_non_null(memmem(bytes, len, "task 4321", 9));
	assert_non_null(memmem(bytes, len, "lane 1", 6));
	free_traced(&t);
}

/* The process and its threads have their own names. */
static void test_names(void **state)
{
	struct traced t;
	char name[64] = "";
	size_t len;

	(void)state;
	begin(&t);
	add(&t, TRACE_POLL_START, START + 1, 1);
	sink_item(t.sink, &(struct trace_item){ .event = TRACE_WAKE,
	                                        .time = START + 2,
	                                        .tid = 1 << 29,
	                                        .worker = -1,
	                                        .task = 1 });
	const unsigned char *bytes = end(&t, &len);
	FILE *comm = fopen("/proc/self/comm", "r");
	assert_non_null(comm);
	assert_non_null(fgets(name, sizeof(name), comm));
	fclose(comm);
	strcpy(name + strcspn(name, "\n"), " (worker 0/3)");
	assert_non_null(memmem(bytes, len, name, strlen(name)));
	assert_non_null(memmem(bytes, len, "my-server", 9));
	assert_non_null(memmem(bytes, len, "gone-by-now", 11));
	free_traced(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
