/* Waits of futures that cannot be entered, by registrations of a made-up driver. */
#include "runtimes/inspect/opaque_waits.h"
#include "runtimes/test/futures.h"

enum { OWN = 0x5550, OTHER = 0x6660, NOBODY = 0x7770, FIRST = 0x1000, SECOND = 0x2000 };

static const struct registration *driver;
static size_t ndriver;

static void report(struct collector *c, registration_fn *fn, void *arg)
{
	(void)c;
	for (size_t i = 0; i < ndriver; i++)
		fn(&driver[i], arg);
}

static void test_waits(void **state)
{
	static const struct {
		struct registration driver[6];
		struct known_registration known;
		unsigned wanted;
		const char *kind, *phrase;
	} cases[] = {
		{ { { { NULL, FIRST }, OTHER, IO_READS } }, { 0, 0 }, 0, "unknown", "not known" },
		{ { { { NULL, FIRST }, OWN, IO_READS }, { { NULL, SECOND }, OTHER, IO_READS } },
		  { 0, 0 },
		  0,
		  "waker",
		  "its waker is registered: readable, descriptor unknown" },
		/* A registration has a reader, a writer and a list. */
		{ { { { NULL, FIRST }, OWN, IO_READS },
		    { { NULL, FIRST }, OTHER, IO_READS },
		    { { NULL, FIRST }, OWN, IO_WRITES } },
		  { 0, 0 },
		  0,
		  "waker",
		  "its waker is registered: readable or writable, descriptor unknown" },
		/* A write that was given up leaves its waker. */
		{ { { { NULL, FIRST }, OWN, IO_READS | IO_WRITES } },
		  { 0, 0 },
		  IO_READS,
		  "waker",
		  "its waker is registered: readable, descriptor unknown" },
		/* A leaf of another branch waits there. */
		{ { { { NULL, FIRST }, OWN, IO_READS } },
		  { OWN, FIRST },
		  0,
		  "unknown",
		  "not known" },
		{ { { { NULL, FIRST }, OWN, IO_READS }, { { NULL, SECOND }, OWN, IO_WRITES } },
		  { OWN, FIRST },
		  0,
		  "waker",
		  "its waker is registered: writable, descriptor unknown" },
		{ { { { NULL, SECOND }, OWN, IO_READS }, { { NULL, FIRST }, OWN, IO_WRITES } },
		  { 0, 0 },
		  0,
		  "waker",
		  "its waker is registered: writable, readable" },
		{ { { { NULL, 1 }, OWN, IO_READS },
		    { { NULL, 2 }, OWN, IO_READS },
		    { { NULL, 3 }, OWN, IO_WRITES },
		    { { NULL, 4 }, OWN, 64 },
		    { { NULL, 5 }, OWN, IO_READS } },
		  { 0, 0 },
		  0,
		  "waker",
		  "its waker is registered: readable, readable, writable and 2 others" },
		/* No direction: nothing that happens wakes it. */
		{ { { { NULL, FIRST }, OWN, 0 } }, { 0, 0 }, 0, "unknown", "not known" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		static const struct runtime silent = { .name = "silent" };
		static const struct runtime loud = { .name = "loud", .registrations = report };
		const struct runtime *const runtimes[] = { &silent, &loud };
		struct futures f = futures_open();
		struct collector *c = f.c;
		struct wait own = { .kind = "unknown", .phrase = "not known" }, nobody = own;
		struct future mine = { .wait = &own }, other = { .wait = &nobody };

		driver = cases[i].driver;
		ndriver = sizeof(cases[i].driver) / sizeof(*driver);
		*vec_push(&c->opaque.waits) =
			(struct opaque_wait){ &mine, NULL, true, OWN, cases[i].wanted };
		*vec_push(&c->opaque.waits) = (struct opaque_wait){ &other, NULL, true, NOBODY, 0 };
		*vec_push(&c->opaque.registrations) = cases[i].known;
		opaque_waits_explain(c, runtimes, 2);
		assert_string_equal(own.kind, cases[i].kind);
		assert_string_equal(own.phrase, cases[i].phrase);
		assert_string_equal(nobody.phrase, "not known");
		futures_close(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
