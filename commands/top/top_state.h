/*
 * State of the screen of `top` and the effects of keys on it, without a terminal: the mode, the
 * selection, the order, and a line that is being typed.
 */
#ifndef COMMANDS_TOP_TOP_STATE_H
#define COMMANDS_TOP_TOP_STATE_H

#include "commands/top/top_page.h"

enum top_mode {
	TOP_MODE_TASKS,
	TOP_MODE_WORKERS,
	TOP_MODE_STALLS,
	TOP_MODE_TASK, /* one task with its async backtrace */
	TOP_MODE_HELP,
};

/* A key: a character, or one of these. */
enum top_key {
	TOP_KEY_ENTER = 0x100,
	TOP_KEY_ESCAPE,
	TOP_KEY_BACKSPACE,
	TOP_KEY_UP,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_RESIZE,
};

enum top_action {
	TOP_NOTHING,
	TOP_DRAW,   /* draw again */
	TOP_SELECT, /* the view has changed: select rows again, then draw */
	TOP_OPEN,   /* show the task state.task, then draw */
	TOP_QUIT,
};

enum { TOP_INPUT = 128 /* bytes of a typed line, with NUL */ };

struct top_state {
	enum top_mode mode;
	struct top_view view;
	bool paused;
	uint64_t task;          /* of TOP_MODE_TASK: its id */
	size_t selected;        /* index of a row, or the first line of a text */
	size_t offset;          /* of the first row that is shown */
	size_t rows;            /* lines that the terminal has for rows */
	bool filtering;         /* input is a filter that is being typed */
	bool sorting;           /* input is the name of a field */
	char input[TOP_INPUT];  /* the line being typed */
	char filter[TOP_INPUT]; /* view.filter points to it */
	char message[80];       /* for the last line; "": none */
};

/* view: as asked for by options; its filter is copied. */
void top_state_begin(struct top_state *s, const struct top_view *view);
/* page: the page shown now; NULL: none yet. nlines: lines of the text of other modes. */
enum top_action top_state_key(struct top_state *s, int key, const struct top_page *page,
                              size_t nlines);
/* Keeps the selection in sight of rows lines, of n that there are. */
void top_state_scroll(struct top_state *s, size_t n, size_t rows);

/* A column that fits on a line. */
struct top_fit {
	enum top_column column;
	unsigned width;
};
/* Finds the columns that fit, in order; returns how many. */
size_t top_state_fit(enum top_grouping grouping, unsigned width, struct top_fit ret[TOP_NCOLUMNS]);

/* Lines of help, with NULL at the end. */
extern const char *const top_state_help[];

#endif
