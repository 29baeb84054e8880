/* Tests of the parts of an answer: their order, their data and their formats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "commands/test/answer.h"

struct note {
	int number;
	const char *word;
};

static void note_text(struct text *t, const void *part)
{
	const struct note *note = part;

	str_printf(&t->line, "%d %s", note->number, note->word);
	text_end_line(t);
}

static void last_text(struct text *t, const void *part)
{
	text_at_end(t, note_text, part);
}

static void note_json(struct json_writer *w, const void *part)
{
	const struct note *note = part;

	json_put_int(w, note->word, note->number);
}

static const struct part_kind both = { sizeof(struct note), note_text, note_json };
static const struct part_kind last = { sizeof(struct note), last_text, note_json };
static const struct part_kind text_only = { sizeof(struct note), note_text, NULL };
static const struct part_kind json_only = { sizeof(struct note), NULL, note_json };

static void show(struct caught *c, const struct part_kind *kind, int number, const char *word)
{
	struct note note = { number, word };

	out_part(c->out, kind, &note);
	/* The answer has a copy. */
	note = (struct note){ 0, "changed" };
}

static const char *answer(struct caught *c, enum format format)
{
	catch (c, format);
	out_begin(c->out, &(struct answer){ .command = "notes" });
	show(c, &last, 1, "last");
	show(c, &both, 2, "first");
	show(c, &text_only, 3, "unwritten");
	show(c, &json_only, 4, "unprinted");
	show(c, &both, 5, "second");
	assert_null(out_end(c->out));
	fflush(c->options.answers);
	return c->answers;
}

/* Text is printed at once, but for what belongs to the end. */
static void test_text(void **state)
{
	CAUGHT(c);

	(void)state;
	assert_string_equal(answer(&c, TEXT), "2 first\n3 unwritten\n5 second\n1 last\n");
}

/* A document has the members of the parts in the order of the calls. */
static void test_json(void **state)
{
	CAUGHT(c);

	(void)state;
	assert_non_null(strstr(answer(&c, JSONL), "\"command\":\"notes\",\"last\":1,\"first\":2,"
	                                          "\"unprinted\":4,\"second\":5}"));
}

/* No part of a dropped answer is shown in the next answer. */
static void test_dropped(void **state)
{
	(void)state;
	for (enum format format = TEXT; format <= JSON; format++) {
		CAUGHT(c);

		catch (&c, format);
		out_begin(c.out, &(struct answer){ .command = "notes" });
		show(&c, &last, 1, "last");
		show(&c, &json_only, 2, "dropped");
		out_drop(c.out);
		out_begin(c.out, &(struct answer){ .command = "notes" });
		show(&c, &both, 3, "kept");
		assert_null(out_end(c.out));
		fflush(c.options.answers);
		if (format == TEXT)
			assert_string_equal(c.answers, "3 kept\n");
		assert_null(strstr(c.answers, "dropped"));
		assert_null(strstr(strstr(c.answers, "kept") + 1, "kept"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
