#include "runtimes/common/io_error.h"

#include "debugger/base/str.h"
#include "dwarf/test/places.h"

static void check(struct fixture *f, struct show_cache *cache, struct value v, uint64_t word,
                  const char *expected)
{
	poke(f, v.addr, word, sizeof(word));
	const char *text = show_value(f->target, f->di, cache, &f->arena, v, NULL);
	if (!str_begins(text, expected))
		fail_msg("%s, not %s", text, expected);
}

/* The bits of the word: an error of the system, a kind, a message of the program, a boxed error. */
static void test_words(void **state)
{
	struct fixture f = values_open();
	struct show_cache cache = { 0 };

	(void)state;
	places_map(&f);
	show_register(&cache, io_error_shown);
	struct value v = member(place_of(&f, "values::Others"), "failed");
	const struct type *custom = must_find(&f, "std::io::error::Custom");
	check(&f, &cache, v, 104ULL << 32 | 2,
	      "Os { code: 104, message: \"Connection reset by peer\" }");
	check(&f, &cache, v, 0xffffffff00000002, "Os { code: -1 }");
	check(&f, &cache, v, 104ULL << 32 | 6, "<invalid>");
	check(&f, &cache, v, 3, "Kind(NotFound)");
	check(&f, &cache, v, 3 | 255ULL << 32, "Kind(<invalid>)");
	check(&f, &cache, v, 3 | 1ULL << 31, "<invalid>");
	poke(&f, ELSEWHERE + offset_of(custom, "kind"), 2, 1);
	check(&f, &cache, v, ELSEWHERE + 1, "Custom { kind: ConnectionRefused, error: ");
	check(&f, &cache, v, ELSEWHERE, "SimpleMessage { kind: ");
	check(&f, &cache, v, 0, "<invalid>");
	check(&f, &cache, v, HOLE + 1, "Custom { kind: <unreadable>, ");
	show_free(&cache);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
