/*
 * Tests of the trace writer and its parts, byte by byte and at a full disk. That Perfetto's own
 * classes read it is tested by testdata/run/run_perfetto.sh.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "commands/perfetto/interned.h"
#include "commands/perfetto/open_slices.h"
#include "commands/perfetto/packet_file.h"
#include "commands/perfetto/perfetto.h"
#include "commands/perfetto/protobuf.h"
#include "debugger/base/str.h"

static void fail_on(struct error *err)
{
	if (err)
		fail_msg("%s", err->message);
}

/* ---- protobuf ---- */

static void assert_message(const struct protobuf *p, const char *hex)
{
	size_t len;
	const unsigned char *data = protobuf_data(p, &len);
	STR(text);

	for (size_t i = 0; i < len; i++)
		str_printf(&text, "%02x", data[i]);
	assert_string_equal(str_text(&text), hex);
	assert_false(p->full);
}

static void fields_are_encoded(void **state)
{
	struct protobuf *p = calloc(1, sizeof(*p));

	(void)state;
	protobuf_clear(p);
	assert_message(p, "");
	protobuf_varint(p, 1, 150); /* the example of the documentation */
	assert_message(p, "089601");
	protobuf_clear(p);
	protobuf_varint(p, 16, 0);
	assert_message(p, "800100");
	protobuf_clear(p);
	protobuf_varint(p, 15, UINT64_MAX);
	assert_message(p, "78ffffffffffffffffff01");
	protobuf_clear(p);
	protobuf_bytes(p, 2, "testing", 7);
	assert_message(p, "120774657374696e67");
	protobuf_clear(p);
	protobuf_fixed64(p, 47, 0x0102030405060708);
	assert_message(p, "f9020807060504030201");
	free(p);
}

static void messages_nest(void **state)
{
	struct protobuf *p = calloc(1, sizeof(*p));

	(void)state;
	protobuf_clear(p);
	protobuf_varint(p, 5, 1);
	size_t begin = protobuf_begin(p);
	protobuf_bytes(p, 2, "", 0);
	protobuf_varint(p, 1, 150);
	protobuf_nest(p, 3, begin);
	assert_message(p, "1a0508960112002801");
	free(p);
}

static void what_does_not_fit_is_noticed(void **state)
{
	static char text[PROTOBUF_MAX];
	struct protobuf *p = calloc(1, sizeof(*p));

	(void)state;
	protobuf_clear(p);
	protobuf_bytes(p, 1, text, PROTOBUF_MAX - 4);
	assert_false(p->full);
	protobuf_varint(p, 1, 1);
	assert_true(p->full);
	protobuf_clear(p);
	protobuf_bytes(p, 1, text, PROTOBUF_MAX);
	assert_true(p->full);
	free(p);
}

/* ---- open slices ---- */

enum { TRACKS = 300, STEPS = 200000 };

static void open_slices_are_counted(void **state)
{
	static unsigned depth[TRACKS + 1];
	struct open_slices o = { 0 };
	uint64_t random = 1;
	size_t tracks = 0;

	(void)state;
	for (size_t i = 0; i < STEPS; i++) {
		random = random * UINT64_C(6364136223846793005) + 1;
		/* Tracks that collide in the table, too; ends more often than begins at times. */
		uint64_t track = 1 + (random >> 33) % TRACKS;
		if ((random >> 60) < (i / 1000 % 2 ? 9u : 7u)) {
			open_slices_begin(&o, track);
			depth[track]++;
		} else {
			assert_int_equal(open_slices_end(&o, track), depth[track] > 0);
			depth[track] -= depth[track] > 0;
		}
	}
	for (uint64_t track = 1; track <= TRACKS; track++)
		tracks += depth[track] > 0;
	assert_int_equal(o.tracks, tracks);
	uint64_t track;
	for (size_t place = 0; (track = open_slices_next(&o, &place));) {
		assert_true(depth[track] > 0);
		depth[track]--;
		assert_true(open_slices_end(&o, track));
	}
	assert_int_equal(o.tracks, 0);
	for (size_t i = 1; i <= TRACKS; i++)
		assert_int_equal(depth[i], 0);
	open_slices_free(&o);
}

/* ---- interned strings ---- */

static void a_text_has_one_number_a_kind(void **state)
{
	struct interned_table t = { 0 };
	bool is_new;

	(void)state;
	const struct interned *first = interned_find(&t, INTERNED_NAME, "a", &is_new);
	assert_true(is_new);
	assert_ptr_equal(interned_find(&t, INTERNED_NAME, "a", &is_new), first);
	assert_false(is_new);
	const struct interned *other = interned_find(&t, INTERNED_TEXT, "a", &is_new);
	assert_true(is_new);
	assert_int_not_equal(other->id, first->id);
	interned_clear(&t);
	assert_int_equal(interned_find(&t, INTERNED_NAME, "b", &is_new)->id, 1);
	interned_free(&t);
}

static void texts_are_sanitised_and_cut(void **state)
{
	char *text = malloc(INTERNED_MAX_BYTES + 1);
	struct interned_table t = { 0 };
	bool is_new;

	(void)state;
	assert_string_equal(interned_find(&t, INTERNED_NAME, "\033\xff", &is_new)->text,
	                    "?\xef\xbf\xbd");
	/* Two bytes each, so that the limit is within a character: */
	for (size_t i = 0; i < INTERNED_MAX_TEXT; i++)
		memcpy(text + 2 * i, "\xc3\xbc", 3);
	const char *cut = interned_find(&t, INTERNED_NAME, text, &is_new)->text;
	assert_int_equal(strlen(cut), INTERNED_MAX_TEXT - 1);
	assert_string_equal(cut + INTERNED_MAX_TEXT - 4, "\xe2\x80\xa6");
	assert_int_equal((unsigned char)cut[INTERNED_MAX_TEXT - 5], 0xbc);

	memset(text, 'x', INTERNED_MAX_BYTES);
	text[INTERNED_MAX_BYTES] = '\0';
	assert_null(interned_find(&t, INTERNED_NAME, text, &is_new));
	interned_free(&t);
	free(text);
}

/* The hash of map.h over the first of two words. */
static uint64_t first_word(uint64_t seed, const char *text)
{
	const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t word, hash = (seed + 1) * factor ^ 16;

	memcpy(&word, text, sizeof(word));
	hash = (hash ^ word) * factor;
	return hash ^ hash >> 32;
}

static void another_text_with_the_same_hash_has_none(void **state)
{
	const uint64_t seed = INTERNED_NAME + 1;
	char one[17] = "aaaaaaaacccccccc", other[17] = "baaaaaaa";
	struct interned_table t = { 0 };
	uint64_t word;
	bool is_new;

	(void)state;
	do { /* until the text has no NUL */
		other[1]++;
		memcpy(&word, one + 8, sizeof(word));
		word ^= first_word(seed, one) ^ first_word(seed, other);
		memcpy(other + 8, &word, sizeof(word));
	} while (strlen(other) != 16);
	assert_int_equal(map_key_on(seed, one, 16), map_key_on(seed, other, 16));
	assert_non_null(interned_find(&t, INTERNED_NAME, one, &is_new));
	assert_null(interned_find(&t, INTERNED_NAME, other, &is_new));
	assert_false(is_new);
	interned_free(&t);
}

/* ---- files ---- */

static int new_file(void)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static size_t file_size(int fd)
{
	return (size_t)lseek(fd, 0, SEEK_END);
}

/* Files may have so many bytes, as if the disk were full then. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_full_disk_is_reported_once(void **state)
{
	struct packet_file *f = calloc(1, sizeof(*f));
	int fd = new_file(), errors = 0;
	unsigned char packet[1000];

	(void)state;
	memset(packet, 7, sizeof(packet));
	assert_int_equal(write(fd, "head", 4), 4);
	packet_file_init(f, fd);
	limit_files(300500);
	for (int i = 0; i < 1000; i++) {
		struct error *err = packet_file_add(f, packet, sizeof(packet));

		if (err)
			assert_int_equal(err->kind, ERR_OS);
		errors += err != NULL;
		error_free(err);
	}
	fail_on(packet_file_flush(f));
	limit_files(RLIM_INFINITY);
	assert_int_equal(errors, 1);
	assert_true(f->failed);
	assert_int_equal(f->written, 300000);
	assert_int_equal(file_size(fd), 300004);
	free(f);
	close(fd);
}

static void what_cannot_be_cut_off_is_reported_too(void **state)
{
	struct packet_file *f = calloc(1, sizeof(*f));
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	packet_file_init(f, fd);
	fail_on(packet_file_add(f, "packet", 6));
	struct error *err = packet_file_flush(f);
	assert_non_null(err);
	assert_int_equal(err->kind, ERR_OS);
	error_free(err);
	fail_on(packet_file_add(f, "packet", 6));
	fail_on(packet_file_flush(f));
	assert_int_equal(f->written, 0);
	free(f);
	close(fd);
}

/* ---- the trace ---- */

/* The number of whole packets in a file; fails if something else is there. */
static size_t count_packets(int fd)
{
	size_t len = file_size(fd), at = 0, n = 0;
	unsigned char *data = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);

	assert_true(data != MAP_FAILED);
	for (; at < len; n++) {
		size_t size = 0;

		assert_int_equal(data[at++], 1 << 3 | 2);
		for (unsigned shift = 0;; shift += 7) {
			assert_true(at < len && shift < 28);
			size |= (size_t)(data[at] & 0x7f) << shift;
			if (!(data[at++] & 0x80))
				break;
		}
		assert_true(size <= len - at);
		at += size;
	}
	munmap(data, len);
	return n;
}

static const struct perfetto_clocks clocks = { .monotonic = UINT64_C(3600000000000),
	                                       .boottime = UINT64_C(7200000000000),
	                                       .realtime = UINT64_C(1764000000000000000) };

static struct perfetto *open_trace(int fd)
{
	struct perfetto *p;

	fail_on(perfetto_open(fd, &clocks, 4711, "app", &p));
	return p;
}

static void slices_are_balanced(void **state)
{
	int fd = new_file();
	struct perfetto *p = open_trace(fd);
	struct perfetto_event e = { .time = clocks.monotonic, .name = "poll" };

	(void)state;
	fail_on(perfetto_add_thread(p, 4712, "worker", &e.track));
	assert_true(e.track > PERFETTO_PROCESS);
	fail_on(perfetto_end(p, &e)); /* began before the trace */
	fail_on(perfetto_begin(p, &e));
	fail_on(perfetto_begin(p, &e));
	fail_on(perfetto_instant(p, &e));
	fail_on(perfetto_end(p, &e));
	fail_on(perfetto_finish(p, 0));
	struct perfetto_counts counts = perfetto_counts(p);
	assert_int_equal(counts.events, 5);
	assert_int_equal(counts.unmatched, 1);
	assert_false(counts.failed);
	assert_int_equal(counts.bytes, file_size(fd));
	assert_int_equal(count_packets(fd), 2 + 1 + 5); /* clocks, process, thread */
	perfetto_close(p);
	close(fd);
}

static void many_open_slices_end(void **state)
{
	enum { MANY = 100000 };
	int fd = new_file();
	struct perfetto *p = open_trace(fd);

	(void)state;
	for (uint64_t track = 10; track < 10 + MANY; track++) {
		struct perfetto_event e = { .time = track, .track = track };

		fail_on(perfetto_begin(p, &e));
	}
	fail_on(perfetto_finish(p, 0));
	assert_int_equal(perfetto_counts(p).events, 2 * MANY);
	perfetto_close(p);
	close(fd);
}

/* A poll as a trace has it: with the task's id, woken by another, and where it waits at the end. */
static void write_poll(struct perfetto *p, uint64_t track, uint64_t i, const char *place)
{
	const struct perfetto_value id = { .key = "task", .number = (int64_t)(i % 1000) };
	const struct perfetto_value at = { .key = "place", .text = place };
	struct perfetto_event e = {
		.time = clocks.monotonic + 1000 * i,
		.track = track,
		.name = "app::handle::{async_fn}",
		.flow_in = i % 4 == 0 && i > 0 ? i : 0,
		.values = &id,
		.nvalues = 1,
	};

	fail_on(perfetto_begin(p, &e));
	e = (struct perfetto_event){
		.time = e.time + 700, .track = track, .values = &at, .nvalues = 1, .flow_out = 0
	};
	if (i % 4 == 3) {
		struct perfetto_event wake = {
			.time = e.time - 100, .track = track, .name = "wake", .flow_out = i + 1
		};
		fail_on(perfetto_instant(p, &wake));
	}
	fail_on(perfetto_end(p, &e));
}

static void events_are_small(void **state)
{
	enum { POLLS = 100000 };
	int fd = new_file();
	struct perfetto *p = open_trace(fd);
	uint64_t worker;

	(void)state;
	fail_on(perfetto_add_thread(p, 4712, "worker", &worker));
	for (uint64_t i = 0; i < POLLS; i++)
		write_poll(p, worker, i, i % 2 ? "app::handle src/main.rs:12" : "app::read");
	fail_on(perfetto_finish(p, 0));
	struct perfetto_counts counts = perfetto_counts(p);
	assert_true(counts.bytes <= 40 * counts.events);
	perfetto_close(p);
	close(fd);
}

/* More names than are kept: they begin anew, and the memory for them does not grow. */
static void many_names(void **state)
{
	enum { NAMES = 3 * INTERNED_MAX };
	int fd = new_file();
	struct perfetto *p = open_trace(fd);
	char name[32];

	(void)state;
	for (uint64_t i = 0; i < NAMES; i++) {
		struct perfetto_event e = { .time = i, .track = PERFETTO_PROCESS, .name = name };

		snprintf(name, sizeof(name), "name %d", (int)i);
		fail_on(perfetto_instant(p, &e));
	}
	fail_on(perfetto_finish(p, 0));
	assert_int_equal(count_packets(fd), 2 + NAMES + 2);
	perfetto_close(p);
	close(fd);
}

static void a_trace_on_a_full_disk_stays_valid(void **state)
{
	int fd = new_file(), errors = 0;
	struct perfetto *p = open_trace(fd);

	(void)state;
	limit_files(100001);
	for (uint64_t i = 0; i < 100000; i++) {
		struct perfetto_event e = { .time = i, .track = PERFETTO_PROCESS, .name = "event" };
		struct error *err = i % 2 ? perfetto_end(p, &e) : perfetto_begin(p, &e);

		errors += err != NULL;
		error_free(err);
	}
	fail_on(perfetto_count(p, 1, 2, 3));
	fail_on(perfetto_finish(p, 0));
	limit_files(RLIM_INFINITY);
	assert_int_equal(errors, 1);
	assert_true(perfetto_counts(p).failed);
	assert_true(file_size(fd) <= 100001 && file_size(fd) > 99000);
	assert_int_equal(perfetto_counts(p).bytes, file_size(fd));
	assert_true(count_packets(fd) > 1000);
	perfetto_close(p);
	close(fd);
}

/* Values of all lengths, more than fit: the packet stays within its bounds. */
static void the_largest_event_fits(void **state)
{
	static char texts[2 * PERFETTO_MAX_VALUES + 1][2 * INTERNED_MAX_TEXT];
	struct perfetto_value values[PERFETTO_MAX_VALUES + 1] = { 0 };
	int fd = new_file();
	struct perfetto *p = open_trace(fd);

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		memset(texts[i], 0xff, sizeof(texts[i]) - 1);
		texts[i][0] = (char)('a' + i);
	}
	for (size_t i = 0; i < PERFETTO_MAX_VALUES; i++)
		values[i] =
			(struct perfetto_value){ .key = texts[2 * i], .text = texts[2 * i + 1] };
	struct perfetto_event e = { .time = 1,
		                    .track = PERFETTO_PROCESS,
		                    .name = texts[2 * PERFETTO_MAX_VALUES],
		                    .values = values,
		                    .nvalues = PERFETTO_MAX_VALUES + 1,
		                    .flow_in = 1,
		                    .flow_out = UINT64_MAX };
	fail_on(perfetto_instant(p, &e));
	fail_on(perfetto_instant(p, &e));
	fail_on(perfetto_finish(p, 0));
	assert_int_equal(count_packets(fd), 2 + 2);
	perfetto_close(p);
	close(fd);
}

static void clocks_are_of_now(void **state)
{
	struct perfetto_clocks first = perfetto_clocks_now(), second = perfetto_clocks_now();

	(void)state;
	assert_true(first.monotonic > 0 && first.monotonic <= second.monotonic);
	assert_true(first.boottime >= first.monotonic);
	assert_true(first.realtime > first.boottime);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_encoded),
		cmocka_unit_test(messages_nest),
		cmocka_unit_test(what_does_not_fit_is_noticed),
		cmocka_unit_test(open_slices_are_counted),
		cmocka_unit_test(a_text_has_one_number_a_kind),
		cmocka_unit_test(texts_are_sanitised_and_cut),
		cmocka_unit_test(another_text_with_the_same_hash_has_none),
		cmocka_unit_test(a_full_disk_is_reported_once),
		cmocka_unit_test(what_cannot_be_cut_off_is_reported_too),
		cmocka_unit_test(slices_are_balanced),
		cmocka_unit_test(many_open_slices_end),
		cmocka_unit_test(events_are_small),
		cmocka_unit_test(many_names),
		cmocka_unit_test(a_trace_on_a_full_disk_stays_valid),
		cmocka_unit_test(the_largest_event_fits),
		cmocka_unit_test(clocks_are_of_now),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
