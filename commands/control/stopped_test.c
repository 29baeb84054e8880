/* Tests of stops of the debuggee as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "commands/base/seen_variables.h"
#include "commands/control/stopped.h"
#include "commands/test/answer.h"

static const char *print(struct caught *c, const struct stopped *stopped)
{
	const struct answer answer = { .command = "continue" };

	catch (c, TEXT);
	out_begin(c->out, &answer);
	part_stopped(c->out, stopped);
	assert_null(out_end(c->out));
	fflush(c->options.answers);
	return c->answers;
}

static struct watchpoint watched(unsigned number, const char *text, bool changed)
{
	return (struct watchpoint){ .number = number,
		                    .text = text,
		                    .kind = changed ? WATCH_WRITE : WATCH_READ,
		                    .hits.changed = changed,
		                    .old = "1",
		                    .value = "2" };
}

/* The headline has the first one, and each of the others a line, with its values. */
static void all_that_halt(void **state)
{
	const struct watchpoint first = watched(1, "a.count", true),
				second = watched(2, "b", false);
	const struct breakpoint broken = { .number = 3, .text = "src/main.rs:41" }, unclear = {
		.number = 4, .text = "app::serve", .undecided = true, .problem = "no variable `n`"
	};
	const struct watchpoint *watches[] = { &first, &second };
	const struct breakpoint *breakpoints[] = { &broken, &unclear };
	struct stopped stopped = { .why = { .reason = CONTROL_WATCH },
		                   .watch = &first,
		                   .watches = watches,
		                   .nwatches = 2,
		                   .breakpoint = &broken,
		                   .breakpoints = breakpoints,
		                   .nbreakpoints = 2,
		                   .function = "app::serve",
		                   .file = "src/main.rs",
		                   .line = 41 };
	CAUGHT(watch);
	CAUGHT(line);

	(void)state;
	assert_string_equal(
		print(&watch, &stopped),
		"watchpoint 1: a.count: app::serve at src/main.rs:41\n"
		"    old: 1\n"
		"    new: 2\n"
		"also read watchpoint 2: b\n"
		"    value: 2\n"
		"also breakpoint 3: src/main.rs:41\n"
		"also breakpoint 4: app::serve\n"
		"    ! its condition cannot be read, so it stops once: no variable `n`\n");
	stopped.why.reason = CONTROL_BREAKPOINT;
	stopped.watch = NULL;
	stopped.nwatches = 0;
	stopped.aliases = "app::other";
	assert_string_equal(
		print(&line, &stopped),
		"breakpoint 3: app::serve at src/main.rs:41 [or app::other: they share their "
		"code]\n"
		"also breakpoint 4: app::serve\n"
		"    ! its condition cannot be read, so it stops once: no variable `n`\n");
}

static void what_a_step_has_changed(void **state)
{
	const char long_value[] = "\"a text of more than forty bytes, as many have\"";
	const struct local list[] = { { .name = "n", .type = "u32", .value = "2" },
		                      { .name = "s", .type = "&str", .value = "\"b\"" },
		                      { .name = "new", .type = "u8", .value = "1" } };
	struct changed_variable changed[12] = { { &list[0], "1" }, { &list[1], long_value } };
	struct stopped stopped = { .why = { .reason = CONTROL_CAUGHT },
		                   .step = { .reason = STEP_LINE, .kind = STEP_NEXT },
		                   .function = "app::serve",
		                   .file = "src/main.rs",
		                   .line = 41,
		                   .source = "    next(n);",
		                   .changed = changed,
		                   .nchanged = 3 };
	CAUGHT(few);
	CAUGHT(many);

	(void)state;
	for (size_t i = 2; i < 12; i++)
		changed[i].now = &list[2];
	assert_string_equal(print(&few, &stopped), "step: app::serve at src/main.rs:41\n"
	                                           "    n: u32 = 2, was 1\n"
	                                           "    s: &str = \"b\"\n"
	                                           "    new: u8 = 1\n"
	                                           "=>    41      next(n);\n");
	stopped.nchanged = 12;
	assert_non_null(strstr(print(&many, &stopped),
	                       "    new: u8 = 1\n"
	                       "    and 2 more have changed: \"locals\" shows all\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(all_that_halt),
		                            cmocka_unit_test(what_a_step_has_changed) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
