#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtimes/model/model.h"
#include "runtimes/trace/item_ring.h"

/* Items whose number is their task's id, of every form. */
static const char *const types[] = { "app::first", "app::second", NULL };
static const struct trace_place here = { .number = 1 };
static const struct source_place site = { .file = "src/main.rs", .line = 1 };
static const struct usdt_probe probe = { .provider = "shop", .name = "order" };

static struct trace_hit make_hit(uint64_t number, const char *text)
{
	struct trace_hit hit = { .probe = &probe, .n = 2 };

	hit.arguments[0] = (struct trace_argument){ .known = true, .is_signed = true };
	hit.arguments[0].value = (uint64_t) - (int64_t)number;
	hit.arguments[1] = (struct trace_argument){ .known = text != NULL, .text = text };
	return hit;
}

static struct trace_item make_item(uint64_t number, const struct trace_hit *hit)
{
	enum trace_event event = hit ? TRACE_USDT : (enum trace_event)(number % TRACE_USDT);

	return (struct trace_item){
		.event = event,
		.time = UINT64_C(1) << 60 | (number * 1000 - (number % 7) * 1500),
		.tid = (pid_t)(number % 5 + 1000000),
		.worker = (int)(number % 3) - 1,
		.runtime = (int)(number % 2) - 1,
		.task = number,
		.type = types[number % 3],
		.job = (enum trace_job)(number % 3),
		.poll_ns = number % 5 == 0 ? 0
		           : number % 4    ? number
		                           : UINT64_MAX,
		.at_most_ns = number % 5 ? 0 : number,
		.ready = number % 2,
		.late = number % 5 == 0,
		.place = number % 4 ? NULL : &here,
		.by = number % 6 ? 0 : number * number,
		.spawned_at = event == TRACE_SPAWN && number % 2 ? &site : NULL,
		.hit = hit,
	};
}

static void assert_equal(const struct trace_item *a, const struct trace_item *b)
{
	assert_int_equal(a->event, b->event);
	assert_int_equal(a->time, b->time);
	assert_int_equal(a->tid, b->tid);
	assert_int_equal(a->worker, b->worker);
	assert_int_equal(a->runtime, b->runtime);
	assert_int_equal(a->task, b->task);
	assert_ptr_equal(a->type, b->type);
	assert_int_equal(a->job, b->job);
	assert_int_equal(a->poll_ns, b->poll_ns);
	assert_int_equal(a->at_most_ns, b->at_most_ns);
	assert_int_equal(a->ready, b->ready);
	assert_int_equal(a->late, b->late);
	assert_ptr_equal(a->place, b->place);
	assert_int_equal(a->by, b->by);
	assert_ptr_equal(a->spawned_at, b->spawned_at);
	assert_int_equal(!a->hit, !b->hit);
	if (!a->hit)
		return;
	assert_ptr_equal(a->hit->probe, b->hit->probe);
	assert_int_equal(a->hit->n, b->hit->n);
	for (size_t i = 0; i < a->hit->n; i++) {
		const struct trace_argument *p = &a->hit->arguments[i], *q = &b->hit->arguments[i];

		assert_int_equal(p->known, q->known);
		assert_int_equal(p->is_signed, q->is_signed);
		assert_int_equal(p->value, q->value);
		assert_string_equal(p->text ? p->text : "none", q->text ? q->text : "none");
	}
}

struct counted {
	uint64_t displaced;
};

static void add_number(struct item_ring *r, uint64_t number)
{
	struct trace_hit hit = make_hit(number, number % 26 ? "a cup" : NULL);
	struct trace_item item = make_item(number, number % 13 ? NULL : &hit);

	item_ring_add(r, &item);
}

static void assert_number(const struct trace_item *item, uint64_t number)
{
	struct trace_hit hit = make_hit(number, number % 26 ? "a cup" : NULL);
	struct trace_item made = make_item(number, number % 13 ? NULL : &hit);

	assert_equal(item, &made);
}

static void displace(const struct trace_item *item, void *arg)
{
	assert_number(item, ++((struct counted *)arg)->displaced);
}

static struct item_ring *make_ring(struct counted *c)
{
	struct item_ring *r;

	assert_null(item_ring_new(ITEM_RING_MIN, displace, c, &r));
	return r;
}

/* Reads from a place on; the number of the last item. */
static uint64_t read_all(const struct item_ring *r, struct item_ring_place place, uint64_t first)
{
	struct trace_item item;
	SCRATCH(tmp);

	for (; item_ring_read(r, &place, &tmp, &item); first++)
		assert_number(&item, first);
	return first - 1;
}

static void test_all_comes_back(void **state)
{
	struct counted c = { 0 };
	struct item_ring *r CLEANUP(item_ring_freep) = make_ring(&c);

	(void)state;
	assert_int_equal(read_all(r, item_ring_oldest(r), 1), 0);
	for (uint64_t i = 1; i <= 1000; i++)
		add_number(r, i);
	assert_int_equal(item_ring_count(r), 1000);
	assert_int_equal(c.displaced, 0);
	assert_int_equal(read_all(r, item_ring_oldest(r), 1), 1000);
	assert_int_equal(read_all(r, item_ring_end(r), 1001), 1000);
}

static void test_oldest_are_displaced(void **state)
{
	enum { MANY = 100000, SMALL = 40 };
	struct counted c = { 0 };
	struct item_ring *r CLEANUP(item_ring_freep) = make_ring(&c);
	struct item_ring_place middle = { 0 };

	(void)state;
	for (uint64_t i = 1; i <= MANY; i++) {
		if (i == MANY - 100)
			middle = item_ring_end(r);
		add_number(r, i);
		if (i % 9999 == 0)
			assert_int_equal(read_all(r, item_ring_oldest(r), c.displaced + 1), i);
	}
	assert_int_equal(c.displaced + item_ring_count(r), MANY);
	assert_true(item_ring_count(r) > ITEM_RING_MIN / SMALL);
	assert_int_equal(read_all(r, middle, MANY - 100), MANY);
}

static void ignore(const struct trace_item *item, void *arg)
{
	(void)item;
	(void)arg;
}

/* What is longer than any item may be has no text. */
static void test_long_texts(void **state)
{
	static char text[5000];
	struct item_ring *r CLEANUP(item_ring_freep) = NULL;
	struct trace_hit hit = { .probe = &probe, .n = USDT_MAX_OPERANDS };
	struct trace_item item = make_item(1, &hit), got;
	struct item_ring_place place;
	SCRATCH(tmp);

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	for (size_t i = 0; i < hit.n; i++)
		hit.arguments[i] =
			(struct trace_argument){ .known = true, .value = i, .text = text };
	assert_null(item_ring_new(ITEM_RING_MIN, ignore, NULL, &r));
	for (int i = 0; i < 100; i++)
		item_ring_add(r, &item);
	place = item_ring_oldest(r);
	assert_true(item_ring_read(r, &place, &tmp, &got));
	assert_string_equal(got.hit->arguments[0].text, text);
	assert_null(got.hit->arguments[1].text);
	assert_int_equal(got.hit->arguments[11].value, 11);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_comes_back),
		cmocka_unit_test(test_oldest_are_displaced),
		cmocka_unit_test(test_long_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
