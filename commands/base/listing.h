/*
 * Source text around a line, as `list` and a stop show it, and where the last listing has ended.
 */
#ifndef COMMANDS_BASE_LISTING_H
#define COMMANDS_BASE_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"

struct session;

/* A line of a source file, as debug info names it. */
struct source_line {
	const char *file;     /* NULL: unknown */
	const char *comp_dir; /* of its unit; NULL: unknown */
	const char *display;  /* as answers show the file; NULL: `file` */
	unsigned line;        /* 0: unknown */
};

/* Lines to show; in the arena of the call, clean. */
struct listing {
	const char *file;   /* for display */
	const char *path;   /* of the file that was read */
	bool moved;         /* path is not where the debug info says that it is */
	unsigned first;     /* the number of lines[0] */
	unsigned current;   /* the line in focus; 0: it is in another file, or not known */
	const char **lines; /* nlines */
	size_t nlines;
};

enum { LISTING_LINES = 10 };

/*
 * Place of the last listing. All zeros: there was none since the focus changed. The strings are in
 * its arena.
 */
struct listed {
	struct source_line place; /* of the file that is listed; line: the first that was shown */
	unsigned end;             /* the line behind the last one that was shown */
	struct source_line focus; /* the line of the frame in focus */
	struct arena arena;
};

/*
 * Reads n lines from `first` on, LISTING_LINES at most; ERR_STATE where the file has none there.
 * The session's next listing goes on from there. A file that is newer than the executable is
 * reported once to messages.
 */
struct error *listing_read(struct session *s, const struct source_line *place, unsigned first,
                           unsigned n, FILE *messages, struct arena *a, struct listing *ret)
	MUST_CHECK;
/* The first line of a listing around a line. */
unsigned listing_first(unsigned line);
/* The text of a line, clean and in arena a; NULL if it cannot be read. Reports as above. */
const char *listing_line(struct session *s, const struct source_line *place, FILE *messages,
                         struct arena *a);
/* Says where the frame in focus stands; the next listing is around that line. */
void listing_set_focus(struct session *s, const struct source_line *place);
/*
 * Forgets the last listing, as the focus or the program has changed: the next one starts at the
 * focus.
 */
void listing_forget(struct session *s);
void listing_close(struct session *s);

#endif
