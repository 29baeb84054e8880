#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "commands/time/prometheus.h"
#include "runtimes/timeline/event_counts.h"

struct written {
	char *text;
	size_t size;
	struct prometheus p;
};

static const struct prometheus_label none[] = { { 0 } };

static void begin(struct written *w, const struct prometheus_label *all)
{
	w->p = (struct prometheus){ .f = open_memstream(&w->text, &w->size), .all = all };
	assert_non_null(w->p.f);
	prometheus_family(&w->p, "x", "counter", "Help.");
}

static void end(struct written *w, const char *wanted)
{
	static const char head[] = "# HELP x Help.\n# TYPE x counter\n";

	fclose(w->p.f);
	assert_memory_equal(w->text, head, sizeof(head) - 1);
	assert_string_equal(w->text + sizeof(head) - 1, wanted);
	free(w->text);
}

static void writes_labels(void **state)
{
	const struct prometheus_label all[] = { { "pid", "7" }, { 0 } };
	struct written w;

	(void)state;
	begin(&w, none);
	prometheus_number(&w.p, (prometheus_labels){ { 0 } }, UINT64_MAX);
	prometheus_number(&w.p, (prometheus_labels){ { "a", NULL }, { "b", "" } }, 0);
	end(&w, "x 18446744073709551615\nx{b=\"\"} 0\n");
	begin(&w, all);
	prometheus_number(&w.p, (prometheus_labels){ { 0 } }, 1);
	prometheus_number(&w.p, (prometheus_labels){ { "a", "q\"b\\s\nn" } }, 2);
	end(&w, "x{pid=\"7\"} 1\nx{pid=\"7\",a=\"q\\\"b\\\\s\\nn\"} 2\n");
}

static void writes_seconds(void **state)
{
	struct written w;

	(void)state;
	begin(&w, none);
	prometheus_time(&w.p, (prometheus_labels){ { 0 } }, 0);
	prometheus_time(&w.p, (prometheus_labels){ { 0 } }, 10000000000);
	prometheus_time(&w.p, (prometheus_labels){ { 0 } }, 1);
	prometheus_time(&w.p, (prometheus_labels){ { 0 } }, 1500000000);
	end(&w, "x 0\nx 10\nx 0.000000001\nx 1.5\n");
}

/* Buckets are sums of all up to them, and the last one has all. */
static void writes_a_histogram(void **state)
{
	struct event_histogram h = { .n = 4, .sum_ns = 12000000000 };
	struct written w;

	(void)state;
	h.buckets[0] = 1;
	h.buckets[1] = 2;
	h.buckets[EVENT_COUNTS_BOUNDS] = 1;
	begin(&w, none);
	prometheus_histogram(&w.p, (prometheus_labels){ { "t", "a" } }, &h);
	fflush(w.p.f);
	assert_non_null(strstr(w.text, "x_bucket{t=\"a\",le=\"0.000001\"} 1\n"
	                               "x_bucket{t=\"a\",le=\"0.000002\"} 3\n"));
	assert_non_null(strstr(w.text, "x_bucket{t=\"a\",le=\"10\"} 3\n"
	                               "x_bucket{t=\"a\",le=\"+Inf\"} 4\n"
	                               "x_sum{t=\"a\"} 12\nx_count{t=\"a\"} 4\n"));
	fclose(w.p.f);
	free(w.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_labels),
		cmocka_unit_test(writes_seconds),
		cmocka_unit_test(writes_a_histogram),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
