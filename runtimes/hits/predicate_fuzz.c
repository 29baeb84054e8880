/*
 * Fuzzes conditions of breakpoints: the first byte of an input chooses the values of their
 * operands.
 */
#include "debugger/test/fuzz.h"
#include "runtimes/hits/predicate.h"

static struct error *find(void *arg, const struct predicate *operand, struct predicate_value *ret)
{
	unsigned *bits = arg;
	unsigned kind = *bits % 7;

	*bits = *bits / 7 + 5 * *bits + 1;
	if (operand->path && !*operand->path)
		fuzz_fail("an empty path", "");
	*ret = (struct predicate_value){ .kind = kind < 5 ? (enum predicate_kind)kind : 0,
		                         .truth = *bits & 1,
		                         .number = *bits % 9,
		                         .negative = *bits % 9 && kind & 1,
		                         .real = kind & 1 ? 0.5 : 0,
		                         .text = "text" };
	return kind == 5 ? error_new(ERR_STATE, "unreadable") : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SCRATCH(a);
	const struct predicate *c;

	if (size < 2 || memchr(data, 0, size))
		return 0;
	unsigned bits = data[0];
	struct error *err =
		predicate_parse(&a, arena_strndup(&a, (const char *)data + 1, size - 1), &c);
	if (!err) {
		bool ret, again;

		err = predicate_evaluate(c, find, &bits, &ret);
		bits = data[0];
		struct error *second = predicate_evaluate(c, find, &bits, &again);
		if (!err != !second || (!err && ret != again))
			fuzz_fail("another answer", "");
		error_free(second);
		predicate_needs_task(c);
	}
	if (err)
		fuzz_check_line(err->message);
	error_free(err);
	return 0;
}
