#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "commands/top/top_state.h"

enum { ROWS = 10, TASKS = 100 };

struct fixture {
	struct top_state s;
	struct top_page page;
	struct top_task tasks[TASKS];
	struct top_row rows[TASKS];
};

static void begin(struct fixture *f)
{
	const struct top_view view = { .sort = TOP_BUSY, .filter_field = TOP_NFIELDS };

	memset(f, 0, sizeof(*f));
	top_state_begin(&f->s, &view);
	for (size_t i = 0; i < TASKS; i++) {
		f->tasks[i].id = i + 1;
		f->rows[i].task = &f->tasks[i];
	}
	f->page.list = (struct top_list){ f->rows, TASKS, TASKS, TASKS };
	top_state_scroll(&f->s, TASKS, ROWS);
}

static enum top_action type(struct fixture *f, int key)
{
	enum top_action action = top_state_key(&f->s, key, &f->page, 0);

	top_state_scroll(&f->s, TASKS, ROWS);
	return action;
}

static void type_text(struct fixture *f, const char *text)
{
	for (; *text; text++)
		type(f, (unsigned char)*text);
}

static void test_selection(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	type(&f, TOP_KEY_UP);
	assert_int_equal(f.s.selected, 0);
	for (int i = 0; i < ROWS; i++)
		assert_int_equal(type(&f, TOP_KEY_DOWN), TOP_SELECT);
	assert_int_equal(f.s.selected, ROWS);
	assert_int_equal(f.s.offset, 1);
	type(&f, TOP_KEY_PAGE_DOWN);
	assert_int_equal(f.s.selected, 2 * ROWS - 1);
	type(&f, TOP_KEY_END);
	assert_int_equal(f.s.selected, TASKS - 1);
	assert_int_equal(f.s.offset, TASKS - ROWS);
	type(&f, TOP_KEY_PAGE_UP);
	assert_int_equal(f.s.selected, TASKS - ROWS);
	assert_int_equal(type(&f, TOP_KEY_ENTER), TOP_OPEN);
	assert_int_equal(f.s.mode, TOP_MODE_TASK);
	assert_int_equal(f.s.task, TASKS - ROWS + 1);
	assert_int_equal(type(&f, TOP_KEY_ESCAPE), TOP_SELECT);
	assert_int_equal(f.s.mode, TOP_MODE_TASKS);
	/* There are fewer rows now. */
	f.s.selected = 50;
	top_state_scroll(&f.s, 3, ROWS);
	assert_int_equal(f.s.selected, 2);
	top_state_scroll(&f.s, 0, ROWS);
	assert_int_equal(f.s.selected, 0);
}

static void test_scrolling_a_text(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	top_state_key(&f.s, '?', &f.page, 0);
	assert_int_equal(f.s.mode, TOP_MODE_HELP);
	top_state_scroll(&f.s, 25, ROWS);
	top_state_key(&f.s, TOP_KEY_END, &f.page, 25);
	top_state_scroll(&f.s, 25, ROWS);
	assert_int_equal(f.s.offset, 15);
	top_state_key(&f.s, TOP_KEY_DOWN, &f.page, 25);
	assert_int_equal(f.s.selected, 15);
	assert_int_equal(top_state_key(&f.s, 'q', &f.page, 25), TOP_QUIT);
}

static void test_filter(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_int_equal(type(&f, '/'), TOP_DRAW);
	type_text(&f, "appx\xc3\xa4");
	type(&f, TOP_KEY_BACKSPACE);
	assert_string_equal(f.s.input, "appx");
	type(&f, TOP_KEY_BACKSPACE);
	assert_string_equal(f.s.filter, "");
	assert_int_equal(type(&f, TOP_KEY_ENTER), TOP_SELECT);
	assert_string_equal(f.s.view.filter, "app");
	/* One that is not typed to its end changes nothing. */
	type(&f, 'f');
	type_text(&f, "q");
	type(&f, TOP_KEY_ESCAPE);
	assert_string_equal(f.s.view.filter, "app");
	type(&f, '/');
	for (int i = 0; i < 2 * TOP_INPUT; i++)
		type(&f, 'x');
	assert_int_equal(strlen(f.s.input), TOP_INPUT - 1);
	type(&f, TOP_KEY_ESCAPE);
	assert_int_equal(type(&f, TOP_KEY_ESCAPE), TOP_SELECT);
	assert_string_equal(f.s.view.filter, "");
}

static void test_order(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	type(&f, '>');
	assert_int_equal(f.s.view.sort, TOP_LONGEST);
	type(&f, '<');
	type(&f, '<');
	assert_int_equal(f.s.view.sort, TOP_POLLS);
	type(&f, 'o');
	type_text(&f, "place");
	type(&f, TOP_KEY_ENTER);
	assert_int_equal(f.s.view.sort, TOP_PLACE);
	assert_int_equal(type(&f, '>'), TOP_NOTHING);
	type(&f, 'o');
	type_text(&f, "plac");
	type(&f, TOP_KEY_ENTER);
	assert_int_equal(f.s.view.sort, TOP_PLACE);
	assert_true(*f.s.message);
	type(&f, 'r');
	assert_true(f.s.view.reverse);
	assert_false(*f.s.message);
}

static void test_groups(void **state)
{
	static const struct trace_frame frame = { "app::run", "src/main.rs", 12, false, NULL };
	static const struct trace_place place = { .frames = &frame, .nframes = 1 };
	struct fixture f;

	(void)state;
	begin(&f);
	type(&f, 'g');
	assert_int_equal(f.s.view.grouping, TOP_BY_TYPE);
	f.rows[0] = (struct top_row){ .type = "app::T" };
	assert_int_equal(type(&f, TOP_KEY_ENTER), TOP_SELECT);
	assert_int_equal(f.s.view.grouping, TOP_UNGROUPED);
	assert_int_equal(f.s.view.filter_field, TOP_TYPE);
	assert_string_equal(f.s.view.filter, "app::T");
	type(&f, 'g');
	type(&f, 'g');
	f.rows[0] = (struct top_row){ .place = &place };
	type(&f, TOP_KEY_ENTER);
	assert_int_equal(f.s.view.filter_field, TOP_PLACE);
	assert_string_equal(f.s.view.filter, "src/main.rs:12");
	type(&f, 'g');
	f.rows[0] = (struct top_row){ 0 };
	assert_int_equal(type(&f, TOP_KEY_ENTER), TOP_NOTHING);
}

static void test_columns(void **state)
{
	struct top_fit fits[TOP_NCOLUMNS];

	(void)state;
	for (unsigned width = 40; width < 400; width++) {
		size_t n = top_state_fit(TOP_UNGROUPED, width, fits);
		unsigned used = 0;

		for (size_t i = 0; i < n; i++)
			used += fits[i].width + (i ? 2 : 0);
		assert_int_equal(used, width);
		assert_int_equal(fits[0].column, TOP_COLUMN_WHAT);
	}
	assert_int_equal(top_state_fit(TOP_UNGROUPED, 400, fits), TOP_NCOLUMNS);
	/* What must be there is there, even where it does not fit. */
	assert_int_equal(top_state_fit(TOP_UNGROUPED, 3, fits), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_selection), cmocka_unit_test(test_scrolling_a_text),
		cmocka_unit_test(test_filter),    cmocka_unit_test(test_order),
		cmocka_unit_test(test_groups),    cmocka_unit_test(test_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
