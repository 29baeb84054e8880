#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "commands/profile/profile_view.h"
#include "debugger/base/str.h"

enum { MAX_OUTPUT = 64 << 10 };

static struct trace_frame frames[] = { { "app::outer", "app.rs", 9, false, NULL },
	                               { "app::inner", NULL, 0, false, NULL } };
static const struct trace_place place = { .frames = frames,
	                                  .nframes = 2,
	                                  .leaf = "std::[u8; 4]\n" };
static const struct trace_plan plan = { 0 };
static const bool wanted[TRACE_NEVENTS];

struct test {
	struct time_profile *profile;
	struct profile_tree tree;
	struct arena arena;
	struct snapshot snapshot;
	struct answer answer;
	struct out_options options;
	struct profile_view view;
	char output[MAX_OUTPUT];
};

static void add(struct test *t, enum task_doing doing, uint64_t from, uint64_t to, bool last)
{
	time_profile_add(&(struct task_span){ .task = 7,
	                                      .type = "app::outer::{async_fn_env#0}",
	                                      .doing = doing,
	                                      .from = { from },
	                                      .to = { to },
	                                      .exact = true,
	                                      .last = last,
	                                      .off_ns = 2000,
	                                      .off_known = true,
	                                      .place = &place,
	                                      .resumed = &place },
	                 t->profile);
}

static int set_up(void **state)
{
	struct test *t = alloc_zeroed(sizeof(*t));

	t->profile = time_profile_new();
	add(t, DOING_WAITING, 0, 5000, false);
	add(t, DOING_POLLING, 5000, 12000, true);
	time_profile_tree(t->profile, &t->arena, NULL, NULL, &t->tree);
	t->answer = (struct answer){ .command = "profile", .snapshot = &t->snapshot };
	t->view = (struct profile_view){ .tree = &t->tree,
		                         .answer = &t->answer,
		                         .options = &t->options,
		                         .plan = &plan,
		                         .wanted = wanted,
		                         .backend = "uprobe_multi",
		                         .duration_ns = 12000 };
	*state = t;
	return 0;
}

static int tear_down(void **state)
{
	struct test *t = *state;

	time_profile_free(t->profile);
	arena_free(&t->arena);
	free(t);
	return 0;
}

/* What a writer has written to f, which is closed. */
static const char *written(struct test *t, FILE *f)
{
	rewind(f);
	size_t n = fread(t->output, 1, sizeof(t->output) - 1, f);
	fclose(f);
	t->output[n] = '\0';
	return t->output;
}

static void test_folded(void **state)
{
	struct test *t = *state;
	FILE *f = tmpfile();

	profile_folded_write(f, &t->view);
	assert_string_equal(
		written(t, f),
		"async fn app::outer;app::outer at app.rs:9;app::inner;[polling] 5\n"
		"async fn app::outer;app::outer at app.rs:9;app::inner;[off-processor] 2\n"
		"async fn app::outer;app::outer at app.rs:9;app::inner;std::[u8, 4]?;[waiting] "
		"5\n");
}

static void test_text(void **state)
{
	struct test *t = *state;
	FILE *f = tmpfile();

	profile_text_write(f, &t->view);
	const char *text = written(t, f);
	assert_non_null(strstr(text, "0.0 s: 1 tasks, 1 polls"));
	assert_non_null(strstr(text, "OFF-CPU"));
	assert_non_null(strstr(text, "16.7 %"));
	assert_non_null(strstr(text, "app::inner < app::outer at app.rs:9 < async fn app::outer"));
	t->view.no_off = "so it is";
	f = tmpfile();
	profile_text_write(f, &t->view);
	assert_null(strstr(written(t, f), "OFF-CPU  "));
}

static void test_json(void **state)
{
	struct test *t = *state;
	FILE *f = tmpfile();

	profile_json_write(f, &t->view, true);
	const char *text = written(t, f);
	assert_non_null(strstr(text, "{\"polling\":5000,\"off_processor\":2000,\"runnable\":0,"
	                             "\"waiting\":5000,\"unknown\":0}"));
	assert_non_null(strstr(text, "\"frames\":[{\"function\":\"app::outer\",\"file\":"
	                             "\"app.rs\",\"line\":9},{\"function\":\"app::inner\","
	                             "\"file\":null,\"line\":null}]"));
	t->view.no_off = "so it is";
	f = tmpfile();
	profile_json_write(f, &t->view, true);
	assert_non_null(strstr(written(t, f), "\"off_processor\":null"));
}

static void test_pprof(void **state)
{
	struct test *t = *state;
	FILE *f = tmpfile();
	/* A sample: three locations, 1 is the innermost; then four values. */
	static const unsigned char sample[] = { 0x12, 16,   8,    1,    8,    2,    8, 3,    0x10,
		                                0x88, 0x27, 0x10, 0xd0, 0x0f, 0x10, 0, 0x10, 0 };
	unsigned char bytes[4096];

	assert_null(profile_pprof_write(f, &t->view));
	rewind(f);
	gzFile gz = gzdopen(dup(fileno(f)), "rb");
	int n = gzread(gz, bytes, sizeof(bytes));
	gzclose(gz);
	fclose(f);
	assert_true(n > 100);
	assert_memory_equal(bytes, "\x32\0\x32\x0bnanoseconds", 15);
	assert_non_null(memmem(bytes, (size_t)n,
	                       "\x32\x0a"
	                       "app::inner",
	                       12));
	assert_non_null(memmem(bytes, (size_t)n, sample, sizeof(sample)));
}

static const struct trace_frame code[] = { { "app::compute", "c.rs", 4, false, NULL },
	                                   { "app::add", "c.rs", 0, false, NULL } };

static const struct trace_frame *code_of(uint32_t stack, const struct trace_place *at, size_t *n,
                                         void *arg)
{
	(void)stack, (void)at, (void)arg;
	*n = sizeof(code) / sizeof(*code);
	return code;
}

/* What polls run on processors is below the await at which they went on. */
static void test_cpu(void **state)
{
	struct test *t = *state;
	const struct task_span poll = { .task = 8,
		                        .type = "app::outer::{async_fn_env#0}",
		                        .doing = DOING_POLLING,
		                        .from = { 12000 },
		                        .to = { 21000 },
		                        .resumed = &place,
		                        .last = true };

	time_profile_sample(&poll, 0, t->profile);
	time_profile_add(&poll, t->profile);
	time_profile_tree(t->profile, &t->arena, code_of, NULL, &t->tree);
	t->view.cpu_hz = 99;
	t->view.cpu = (struct cpu_totals){ .samples = 3, .in_polls = 1, .lost = 1, .cut = 2 };
	FILE *f = tmpfile();
	profile_folded_write(f, &t->view);
	assert_non_null(
		strstr(written(t, f), "app::inner;app::compute at c.rs:4;app::add;[polling] 14\n"));
	f = tmpfile();
	profile_json_write(f, &t->view, true);
	const char *text = written(t, f);
	assert_non_null(strstr(text, "\"cpu\":{\"rate\":99,\"samples\":3,\"in_polls\":1,\"cut\":2,"
	                             "\"lost\":1,\"missing\":null}"));
	assert_non_null(strstr(text, "\"code\":[{\"function\":\"app::compute\",\"file\":\"c.rs\","
	                             "\"line\":4},{\"function\":\"app::add\",\"file\":\"c.rs\","
	                             "\"line\":null}],\"samples\":1"));
	f = tmpfile();
	profile_text_write(f, &t->view);
	assert_non_null(strstr(written(t, f), "app::add < app::compute at c.rs:4 < app::inner"));
}

static void test_notes_of_cpu(void **state)
{
	struct test *t = *state;
	SCRATCH(tmp);

	assert_null(profile_view_note(&tmp, &t->view, PROFILE_NOTE_NO_CPU));
	assert_null(profile_view_note(&tmp, &t->view, PROFILE_NOTE_CPU));
	t->view.no_cpu = "it was refused";
	assert_string_equal(profile_view_note(&tmp, &t->view, PROFILE_NOTE_NO_CPU),
	                    "what runs in polls is not seen: it was refused");
	t->view.cpu = (struct cpu_totals){ .samples = 3, .in_polls = 1, .lost = 1, .cut = 2 };
	t->view.cpu_hz = 99;
	assert_string_equal(profile_view_note(&tmp, &t->view, PROFILE_NOTE_CPU),
	                    "what runs in polls is an estimate from 1 sample, of 3 at 99 a second");
	assert_string_equal(profile_view_note(&tmp, &t->view, PROFILE_NOTE_CPU_CUT),
	                    "the stack of 2 samples could not be unwound to a poll");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_folded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_text, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_json, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_pprof, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cpu, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_notes_of_cpu, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
