#include "commands/top/top_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const top_state_help[] = {
	"up, down, page up, page down, home, end   choose a row, or scroll",
	"enter     show the async backtrace of the task, again and again; of a group its tasks",
	"esc       back; without anything to go back from, no filter and no groups",
	"",
	"t w s     tasks, workers, stalls",
	"g         group by type, by place, not at all",
	"/ f       filter: a task's id, or a part of its type or place; empty: all",
	"< >       sort by the column to the left, to the right",
	"o         sort by a field: id, type, place, tasks, polls, busy, longest, p99, runnable,",
	"          wakes, own",
	"r         reverse the order",
	"p space   pause",
	"q ^C      quit",
	"",
	"POLLS/S   polls a second                  RUNQ50    half of the times runnable and not",
	"BUSY      share of the time in polls                polled were at most that long,",
	"LONGEST   the longest poll                RUNQ99    and 99 of 100",
	"P99       99 of 100 polls were at most    WAKES/S   wake-ups a second",
	"          that long                       OWN       share of its own ones",
	"",
	"All numbers are of the last interval. OWN: a task wakes itself in its poll, or yields.",
	"In groups STATE is how many are polled (p) and runnable (r).",
	NULL,
};

void top_state_begin(struct top_state *s, const struct top_view *view)
{
	*s = (struct top_state){ .view = *view };
	snprintf(s->filter, sizeof(s->filter), "%s", view->filter ? view->filter : "");
	s->view.filter = s->filter;
}

/* ---- lines that are typed ---- */

static void begin_input(struct top_state *s, bool filtering)
{
	s->filtering = filtering;
	s->sorting = !filtering;
	snprintf(s->input, sizeof(s->input), "%s", filtering ? s->filter : "");
}

static enum top_action end_input(struct top_state *s)
{
	bool filtering = s->filtering;

	s->filtering = s->sorting = false;
	s->selected = s->offset = 0;
	if (filtering) {
		memcpy(s->filter, s->input, sizeof(s->filter));
		s->view.filter_field = TOP_NFIELDS;
		return TOP_SELECT;
	}
	if (*s->input && !top_view_field_named(s->input, &s->view.sort))
		snprintf(s->message, sizeof(s->message), "unknown field: press ? for a list");
	return TOP_SELECT;
}

static enum top_action top_state_type(struct top_state *s, int key)
{
	size_t len = strlen(s->input);

	if (key == TOP_KEY_ENTER)
		return end_input(s);
	if (key == TOP_KEY_ESCAPE) {
		s->filtering = s->sorting = false;
	} else if (key == TOP_KEY_BACKSPACE) {
		while (len && ((unsigned char)s->input[len - 1] & 0xc0) == 0x80)
			s->input[--len] = '\0';
		if (len)
			s->input[len - 1] = '\0';
	} else if (key >= ' ' && key < 0x100 && key != 0x7f && len + 1 < sizeof(s->input)) {
		s->input[len] = (char)key;
		s->input[len + 1] = '\0';
	}
	return TOP_DRAW;
}

/* ---- keys ---- */

static size_t nitems(const struct top_state *s, const struct top_page *page, size_t nlines)
{
	if (s->mode == TOP_MODE_TASKS)
		return page ? page->list.total : 0;
	return nlines;
}

static enum top_action move(struct top_state *s, int key, size_t n)
{
	size_t page = s->rows > 1 ? s->rows - 1 : 1, last = n ? n - 1 : 0;
	bool text = s->mode != TOP_MODE_TASKS;

	/* A text is scrolled until its last line is the last one shown. */
	if (text)
		last = n > s->rows ? n - s->rows : 0;
	switch (key) {
	case TOP_KEY_UP:
		s->selected -= s->selected > 0;
		break;
	case TOP_KEY_DOWN:
		s->selected++;
		break;
	case TOP_KEY_PAGE_UP:
		s->selected -= s->selected < page ? s->selected : page;
		break;
	case TOP_KEY_PAGE_DOWN:
		s->selected += page;
		break;
	case TOP_KEY_HOME:
		s->selected = 0;
		break;
	default:
		s->selected = last;
		break;
	}
	s->selected = s->selected < last ? s->selected : last;
	return s->mode == TOP_MODE_TASKS ? TOP_SELECT : TOP_DRAW;
}

static enum top_action top_state_set_mode(struct top_state *s, enum top_mode mode)
{
	s->mode = mode;
	s->selected = s->offset = 0;
	return mode == TOP_MODE_TASKS ? TOP_SELECT : TOP_DRAW;
}

static enum top_action go_back(struct top_state *s)
{
	if (s->mode != TOP_MODE_TASKS)
		return top_state_set_mode(s, TOP_MODE_TASKS);
	*s->filter = '\0';
	s->view.grouping = TOP_UNGROUPED;
	s->selected = s->offset = 0;
	return TOP_SELECT;
}

static const struct top_row *selected_row(const struct top_state *s, const struct top_page *page)
{
	return page && s->selected < page->list.n ? &page->list.rows[s->selected] : NULL;
}

/* Opens the task of a row, or lists the tasks of a group. */
static enum top_action open_row(struct top_state *s, const struct top_page *page)
{
	const struct top_row *row = selected_row(s, page);
	const struct trace_frame *at;

	if (s->mode != TOP_MODE_TASKS || !row)
		return TOP_NOTHING;
	if (row->task) {
		s->task = row->task->id;
		top_state_set_mode(s, TOP_MODE_TASK);
		return TOP_OPEN;
	}
	if (s->view.grouping == TOP_BY_PLACE && row->place && row->place->nframes) {
		at = top_view_frame(row->place);
		if (at->file && at->line)
			snprintf(s->filter, sizeof(s->filter), "%s:%u", at->file, at->line);
		else
			snprintf(s->filter, sizeof(s->filter), "%s", at->function);
		s->view.filter_field = TOP_PLACE;
	} else if (row->type) {
		snprintf(s->filter, sizeof(s->filter), "%s", row->type);
		s->view.filter_field = TOP_TYPE;
	} else {
		return TOP_NOTHING;
	}
	s->view.grouping = TOP_UNGROUPED;
	s->selected = s->offset = 0;
	return TOP_SELECT;
}

/* The next column that can sort, in a direction. */
static enum top_action sort_beside(struct top_state *s, int direction)
{
	enum top_grouping grouping = s->view.grouping;
	int at = -1;

	for (int i = 0; i < TOP_NCOLUMNS; i++) {
		if (top_page_column((enum top_column)i, grouping)->sort == s->view.sort)
			at = i;
	}
	for (int i = at + direction; i >= 0 && i < TOP_NCOLUMNS; i += direction) {
		enum top_field field = top_page_column((enum top_column)i, grouping)->sort;

		if (field == TOP_NFIELDS)
			continue;
		s->view.sort = field;
		s->selected = s->offset = 0;
		return TOP_SELECT;
	}
	return TOP_NOTHING;
}

static enum top_action letter(struct top_state *s, int key)
{
	switch (key) {
	case 't':
		return top_state_set_mode(s, TOP_MODE_TASKS);
	case 'w':
		return top_state_set_mode(s, TOP_MODE_WORKERS);
	case 's':
		return top_state_set_mode(s, TOP_MODE_STALLS);
	case '?':
	case 'h':
		return top_state_set_mode(s, TOP_MODE_HELP);
	case 'p':
	case ' ':
		s->paused = !s->paused;
		return TOP_DRAW;
	case 'q':
		return TOP_QUIT;
	default:
		return TOP_NOTHING;
	}
}

static enum top_action change_view(struct top_state *s, int key)
{
	switch (key) {
	case 'g':
		s->view.grouping = (enum top_grouping)((s->view.grouping + 1) % TOP_NGROUPINGS);
		s->selected = s->offset = 0;
		return TOP_SELECT;
	case '/':
	case 'f':
	case 'o':
		begin_input(s, key != 'o');
		return TOP_DRAW;
	case '<':
	case '>':
		return sort_beside(s, key == '<' ? -1 : 1);
	case 'r':
		s->view.reverse = !s->view.reverse;
		return TOP_SELECT;
	default:
		return TOP_NOTHING;
	}
}

enum top_action top_state_key(struct top_state *s, int key, const struct top_page *page,
                              size_t nlines)
{
	if (key == TOP_KEY_RESIZE)
		return TOP_SELECT;
	*s->message = '\0';
	if (s->filtering || s->sorting)
		return top_state_type(s, key);
	if (key >= TOP_KEY_UP && key <= TOP_KEY_END)
		return move(s, key, nitems(s, page, nlines));
	if (key == TOP_KEY_ESCAPE)
		return go_back(s);
	if (key == TOP_KEY_ENTER)
		return open_row(s, page);
	enum top_action action = s->mode == TOP_MODE_TASKS ? change_view(s, key) : TOP_NOTHING;
	return action == TOP_NOTHING ? letter(s, key) : action;
}

void top_state_scroll(struct top_state *s, size_t n, size_t rows)
{
	s->rows = rows ? rows : 1;
	if (s->mode != TOP_MODE_TASKS) {
		size_t last = n > s->rows ? n - s->rows : 0;

		s->selected = s->selected < last ? s->selected : last;
		s->offset = s->selected;
		return;
	}
	if (s->selected >= n)
		s->selected = n ? n - 1 : 0;
	if (s->offset > s->selected)
		s->offset = s->selected;
	if (s->selected >= s->offset + s->rows)
		s->offset = s->selected - s->rows + 1;
}

/* ---- columns ---- */

/* Share of the rest of the line that a column of texts gets. */
static unsigned more_width(enum top_column column, const bool *shown, unsigned rest)
{
	unsigned by = shown[TOP_COLUMN_BY] ? rest / 5 : 0;

	switch (column) {
	case TOP_COLUMN_BY:
		return by;
	case TOP_COLUMN_TYPE:
		return shown[TOP_COLUMN_PLACE] ? (rest - by) / 3 : rest - by;
	case TOP_COLUMN_PLACE:
		return rest - by - (rest - by) / 3;
	default:
		return 0;
	}
}

size_t top_state_fit(enum top_grouping grouping, unsigned width, struct top_fit ret[TOP_NCOLUMNS])
{
	/* The most important ones first. */
	static const enum top_column order[TOP_NCOLUMNS] = {
		TOP_COLUMN_WHAT,         TOP_COLUMN_TYPE,    TOP_COLUMN_BUSY,
		TOP_COLUMN_POLLS,        TOP_COLUMN_LONGEST, TOP_COLUMN_RUNNABLE_P99,
		TOP_COLUMN_PLACE,        TOP_COLUMN_WAKES,   TOP_COLUMN_BY,
		TOP_COLUMN_OWN,          TOP_COLUMN_DOING,   TOP_COLUMN_P99,
		TOP_COLUMN_RUNNABLE_P50,
	};
	bool shown[TOP_NCOLUMNS] = { false };
	unsigned used = 0, rest;
	size_t n = 0;

	for (size_t i = 0; i < TOP_NCOLUMNS; i++) {
		unsigned more = top_page_column(order[i], grouping)->width + 2;

		if (used + more > width + 2 && i > 1)
			continue;
		shown[order[i]] = true;
		used += more;
	}
	rest = width + 2 > used ? width + 2 - used : 0;
	for (int i = 0; i < TOP_NCOLUMNS; i++) {
		enum top_column column = (enum top_column)i;

		if (shown[i])
			ret[n++] =
				(struct top_fit){ column, top_page_column(column, grouping)->width +
				                                  more_width(column, shown, rest) };
	}
	return n;
}
