#include "dwarf/module/debuginfo_clone.h"

#include <pthread.h>

#include "dwarf/records/records.h"
#include "dwarf/test/module.h"

/* What a debuginfo says of some types, as text. */
struct reader_thread {
	struct dwarf_module *dm;
	const struct type *ready;
	char *said;
};

static const char *const names[] = { "shapes::Ready", "shapes::Lists",
	                             "shapes::leaf::{async_fn_env#0}" };

static void say(struct str *text, const struct type *t, int depth)
{
	size_t n, nvariants;
	const struct member *members = type_members(t, &n);
	const struct variant *variants = type_variants(t, &nvariants);

	str_printf(text, "%s %llu", type_name(t), (unsigned long long)type_size(t));
	for (size_t i = 0; depth < 4 && i < n; i++) {
		str_printf(text, " .%s ", members[i].name ? members[i].name : "");
		if (members[i].type)
			say(text, members[i].type, depth + 1);
	}
	for (size_t i = 0; depth < 4 && i < nvariants; i++) {
		str_printf(text, " |%s:%u ", variants[i].name ? variants[i].name : "",
		           variants[i].line);
		if (variants[i].payload)
			say(text, variants[i].payload, depth + 1);
	}
}

static void *read_types(void *arg)
{
	struct reader_thread *r = arg;
	STR(text);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct type *t = lookup_type(r->dm, names[i], 0);

		if (t)
			say(&text, t, 0);
		str_printf(&text, "%s polled: %d\n", names[i], t && lookup_has_poll(t));
	}
	r->ready = lookup_type(r->dm, names[0], 0);
	r->said = strdup(str_text(&text));
	return NULL;
}

/* Both at once, each with what is its own. */
static void test_two_threads(void **state)
{
	struct fixture f = shapes_open();
	struct target *t = target_twin(f.target);
	struct debuginfo *twin = debuginfo_twin(f.di, t);
	struct reader_thread a = { .dm = f.dm }, b = { .dm = twin->modules[0] };
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, read_types, &b), 0);
	read_types(&a);
	pthread_join(thread, NULL);
	assert_string_equal(a.said, b.said);
	assert_non_null(strstr(a.said, "shapes::Ready polled: 1"));
	assert_non_null(strstr(a.said, "shapes::Lists polled: 0"));
	assert_non_null(a.ready);
	assert_ptr_not_equal(a.ready, b.ready);
	assert_int_equal(type_die(a.ready), type_die(b.ready));
	free(a.said);
	free(b.said);
	debuginfo_close(twin);
	target_twin_join(t);
	fixture_close(&f);
}

/* What the twin alone was asked becomes a fact of the first one. */
static void test_absorb(void **state)
{
	struct fixture f = shapes_open();
	struct target *t = target_twin(f.target);
	struct debuginfo *twin = debuginfo_twin(f.di, t);
	struct facts *facts = debuginfo_facts(f.dm);
	struct fact fact;

	(void)state;
	const struct type *ready = lookup_type(twin->modules[0], names[0], 0);
	assert_non_null(ready);
	assert_true(lookup_has_poll(ready));
	type_members(ready, &(size_t){ 0 });
	assert_false(fact_find(facts, FACT_TYPE, type_die(ready), NULL, &fact));
	assert_false(fact_find(facts, FACT_HAS_POLL, type_die(ready), names[0], &fact));
	debuginfo_absorb(f.di, twin);
	assert_true(fact_find(facts, FACT_TYPE, type_die(ready), NULL, &fact));
	assert_true(fact_find(facts, FACT_DETAILS, type_die(ready), NULL, &fact));
	assert_true(fact_find(facts, FACT_HAS_POLL, type_die(ready), names[0], &fact));
	assert_int_equal(fact_number(&fact), 1);
	debuginfo_close(twin);
	target_twin_join(t);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_threads),
		cmocka_unit_test(test_absorb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
