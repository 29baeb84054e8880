#include "commands/top/top_screen.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "debugger/base/progress.h"
#include "debugger/base/vec.h"
#include "runtimes/trace/trace_key.h"

/* curses.h has macros of these names. */
#undef lines
#undef columns

enum {
	MAX_HINTS = 3,           /* hints that are shown above the rows */
	MAX_MESSAGES = 64 << 10, /* bytes that were written to standard error meanwhile */
	MAX_END = 256,           /* bytes that end the screen */
	ESCAPE_MS = 25,          /* after which an escape is no beginning of another key */
};

enum { COLOR_TITLE = 1, COLOR_HINT, COLOR_HOT };

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS };
enum { NSIGNALS = sizeof(signals) / sizeof(*signals), NENDINGS = 4 /* the first ones */ };

/* There is one terminal, and a signal handler must know its former modes. */
static struct {
	SCREEN *screen;
	struct termios before;
	char end[MAX_END]; /* bytes sent to the terminal to leave the screen */
	size_t nend;
	struct sigaction actions[NSIGNALS];
	volatile sig_atomic_t ending; /* a signal has come that ends it */
	int error, messages;          /* standard error as it was, and the file in place of it */
	bool color, ascii;
} term;

bool top_screen_supported(void)
{
	return true;
}

/* ---- signals ---- */

/* Restores the terminal in a signal handler: only async-signal-safe calls. */
static void restore_at_once(void)
{
	ssize_t written = write(STDOUT_FILENO, term.end, term.nend);

	(void)written;
	tcsetattr(STDIN_FILENO, TCSANOW, &term.before);
}

static void top_screen_on_signal(int signal)
{
	bool ends = false;

	for (size_t i = 0; i < NENDINGS; i++)
		ends |= signals[i] == signal;
	interrupt_request();
	if (ends && !term.ending) {
		term.ending = 1;
		return;
	}
	restore_at_once();
	sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	raise(signal);
}

static void top_screen_catch_signals(void)
{
	const struct sigaction catch = { .sa_handler = top_screen_on_signal,
		                         .sa_flags = SA_RESTART };

	term.ending = 0;
	for (size_t i = 0; i < NSIGNALS; i++)
		sigaction(signals[i], &catch, &term.actions[i]);
}

/* ---- standard error ---- */

static void keep_messages(void)
{
	fflush(stderr);
	progress_enable(NULL, 0);
	term.messages = memfd_create("messages", MFD_CLOEXEC);
	term.error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (term.messages >= 0 && term.error >= 0)
		dup2(term.messages, STDERR_FILENO);
}

static void give_messages(void)
{
	char text[4096];
	ssize_t n;
	size_t all = 0;

	fflush(stderr);
	if (term.error >= 0)
		dup2(term.error, STDERR_FILENO);
	if (isatty(STDERR_FILENO))
		progress_enable(stderr, PROGRESS_DELAY_MS);
	while (term.messages >= 0 && all < MAX_MESSAGES &&
	       (n = pread(term.messages, text, sizeof(text), (off_t)all)) > 0) {
		if (write(STDERR_FILENO, text, (size_t)n) != n)
			break;
		all += (size_t)n;
	}
	if (term.messages >= 0)
		close(term.messages);
	if (term.error >= 0)
		close(term.error);
}

/* ---- opening and closing ---- */

/* String of a terminfo capability; NULL: none. */
static const char *top_screen_text_of(const char *name)
{
	char capability[16];

	snprintf(capability, sizeof(capability), "%s", name);
	const char *text = tigetstr(capability);
	return text == (const char *)-1 ? NULL : text;
}

/* A capability without parameters. */
static void top_screen_add_end(const char *name)
{
	const char *text = top_screen_text_of(name);
	size_t len = text ? strlen(text) : 0;

	if (!len || len > MAX_END - term.nend)
		return;
	memcpy(term.end + term.nend, text, len);
	term.nend += len;
}

static void set_colors(bool color)
{
	term.color = color && has_colors();
	if (!term.color)
		return;
	start_color();
	use_default_colors();
	init_pair(COLOR_TITLE, COLOR_CYAN, -1);
	init_pair(COLOR_HINT, COLOR_YELLOW, -1);
	init_pair(COLOR_HOT, COLOR_RED, -1);
}

static struct error *no_screen(void)
{
	const char *name = getenv("TERM");
	SCRATCH(tmp);

	if (term.screen) {
		endwin();
		delscreen(term.screen);
		term.screen = NULL;
		tcsetattr(STDIN_FILENO, TCSADRAIN, &term.before);
	}
	return error_new(ERR_STATE, "the terminal \"%s\" has none",
	                 name ? str_clean(&tmp, name, strlen(name)) : "");
}

struct error *top_screen_open(bool color, bool ascii)
{
	if (tcgetattr(STDIN_FILENO, &term.before) != 0)
		return error_os(errno, "reading the settings of the terminal");
	term.screen = newterm(NULL, stdout, stdin);
	if (!term.screen || !top_screen_text_of("cup"))
		return no_screen();
	term.ascii = ascii;
	term.nend = 0;
	top_screen_add_end("sgr0");
	top_screen_add_end("cnorm");
	top_screen_add_end("rmkx");
	top_screen_add_end("rmcup");
	top_screen_catch_signals();
	keep_messages();
	set_colors(color);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	return NULL;
}

void top_screen_close(void)
{
	if (!term.screen)
		return;
	endwin();
	delscreen(term.screen);
	term.screen = NULL;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &term.before);
	for (size_t i = 0; i < NSIGNALS; i++)
		sigaction(signals[i], &term.actions[i], NULL);
	give_messages();
}

/* ---- keys ---- */

int top_screen_key(void)
{
	static const struct {
		int key;
		int is;
	} keys[] = {
		{ KEY_ENTER, TOP_KEY_ENTER },
		{ '\r', TOP_KEY_ENTER },
		{ '\n', TOP_KEY_ENTER },
		{ 27, TOP_KEY_ESCAPE },
		{ KEY_BACKSPACE, TOP_KEY_BACKSPACE },
		{ 127, TOP_KEY_BACKSPACE },
		{ 8, TOP_KEY_BACKSPACE },
		{ KEY_UP, TOP_KEY_UP },
		{ KEY_DOWN, TOP_KEY_DOWN },
		{ KEY_PPAGE, TOP_KEY_PAGE_UP },
		{ KEY_NPAGE, TOP_KEY_PAGE_DOWN },
		{ KEY_HOME, TOP_KEY_HOME },
		{ KEY_END, TOP_KEY_END },
		{ KEY_RESIZE, TOP_KEY_RESIZE },
	};
	int key = getch();

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (keys[i].key == key)
			return keys[i].is;
	}
	return key >= ' ' && key < 0x100 ? key : -1;
}

unsigned top_screen_width(void)
{
	return COLS > 0 ? (unsigned)COLS : 80;
}

/* ---- drawing ---- */

static chtype top_screen_colored(short pair)
{
	return term.color ? (chtype)COLOR_PAIR(pair) : 0;
}

/* A line, cut to the width of the terminal. */
static void top_screen_put_line(int y, const char *text, chtype style)
{
	STR(line);

	table_append_cut(&line, text, (size_t)(COLS > 0 ? COLS : 0), term.ascii ? "..." : "…");
	for (size_t i = 0; MB_CUR_MAX == 1 && i < line.len; i++) {
		if ((unsigned char)line.data[i] >= 0x80)
			line.data[i] = '?';
	}
	attrset((int)style);
	mvaddnstr(y, 0, str_text(&line), (int)line.len);
	attrset((int)A_NORMAL);
}

static void top_screen_append_cell(struct str *s, const char *text, unsigned width, bool right)
{
	size_t own = text_width(text);
	int blanks = own < width ? (int)(width - own) : 0;

	if (right)
		str_printf(s, "%*s", blanks, "");
	table_append_cut(s, text, width, term.ascii ? "..." : "…");
	if (!right)
		str_printf(s, "%*s", blanks, "");
}

/* top_screen_put_line(), filled up to the end of the line. */
static void put_whole_line(int y, struct str *line, chtype style)
{
	int blanks = COLS - (int)text_width(str_text(line));

	str_printf(line, "%*s", blanks > 0 ? blanks : 0, "");
	top_screen_put_line(y, str_text(line), style);
}

static void top_screen_put_head(const struct top_view *view, const struct top_fit *fits, size_t n,
                                int y)
{
	STR(line);
	SCRATCH(a);

	for (size_t i = 0; i < n; i++) {
		const struct top_column_info *c = top_page_column(fits[i].column, view->grouping);
		bool sorted = c->sort == view->sort;

		str_append(&line, i ? "  " : "");
		top_screen_append_cell(&line, sorted ? arena_printf(&a, "*%s", c->title) : c->title,
		                       fits[i].width, c->right);
	}
	put_whole_line(y, &line, A_BOLD | A_UNDERLINE);
}

static void top_screen_put_row(const struct top_page *p, const struct top_row *row,
                               struct top_names *names, const struct top_fit *fits, size_t n, int y,
                               bool selected)
{
	bool hot = row->task && row->task->doing == DOING_POLLING;
	STR(line);
	SCRATCH(a);

	for (size_t i = 0; i < n; i++) {
		const struct top_column_info *c =
			top_page_column(fits[i].column, p->view->grouping);

		str_append(&line, i ? "  " : "");
		top_screen_append_cell(&line, top_page_cell(p, row, fits[i].column, names, &a),
		                       fits[i].width, c->right);
	}
	put_whole_line(y, &line, selected ? A_REVERSE : hot ? top_screen_colored(COLOR_HOT) : 0);
}

/* Returns the line behind them. */
static int top_screen_put_hints(const struct top_page *p, struct top_names *names, int y)
{
	SCRATCH(a);

	for (size_t i = 0; i < p->hints.n && i < MAX_HINTS; i++) {
		const struct top_hint *h = &p->hints.list[i];
		const char *more =
			i == MAX_HINTS - 1 && p->hints.n > MAX_HINTS
				? arena_printf(&a, "  (%zu more)", p->hints.n - MAX_HINTS)
				: "";

		top_screen_put_line(y++,
		                    arena_printf(&a, "%s: %s: %s%s", top_hints_name(h->kind),
		                                 top_hints_text(&a, h),
		                                 top_page_name(names, h->type), more),
		                    top_screen_colored(COLOR_HINT));
	}
	return y;
}

static void top_screen_put_tasks(struct top_state *s, const struct top_page *p,
                                 struct top_names *names, int y)
{
	struct top_fit fits[TOP_NCOLUMNS];
	size_t n = top_state_fit(p->view->grouping, top_screen_width(), fits);

	y = top_screen_put_hints(p, names, y);
	top_screen_put_head(&s->view, fits, n, y++);
	top_state_scroll(s, p->list.total, LINES > y + 1 ? (size_t)(LINES - y - 1) : 1);
	for (size_t i = 0; i < s->rows && s->offset + i < p->list.n; i++)
		top_screen_put_row(p, &p->list.rows[s->offset + i], names, fits, n, y + (int)i,
		                   s->offset + i == s->selected);
}

/* ---- texts ---- */

typedef VEC(const char *) text_lines;

static void add_workers(const struct top_page *p, struct arena *a, text_lines *lines)
{
	for (size_t i = 0; i < p->nworkers; i++)
		*vec_push(lines) =
			arena_printf(a, "%-24s  %s", top_page_worker_name(&p->workers[i], a),
		                     top_page_worker(p, &p->workers[i], a));
	if (!p->nworkers)
		*vec_push(lines) = "no worker is known";
}

static void add_stalls(const struct top_page *p, struct top_names *names, struct arena *a,
                       text_lines *lines)
{
	const struct top_frame *f = p->frame;

	*vec_push(lines) = arena_printf(a, "%10s  %8s  %8s  %7s  %s", "AGO", "LENGTH", "TASK",
	                                "TID", "TYPE, AND WHERE IT WENT TO SLEEP");
	for (size_t i = 0; i < f->nstalls; i++) {
		const struct top_stall *s = &f->stalls[i];
		const char *place = top_view_place_text(a, s->place);
		uint64_t ago = moment_between(moment_at(s->began.ns + s->ns), f->time);

		*vec_push(lines) = arena_printf(a, "%10s  %8s  %8s  %7d  %s%s%s",
		                                s->open ? "still polls"
		                                : ago   ? top_page_time(a, ago)
		                                        : "now",
		                                top_page_time(a, s->ns), trace_key_text(a, s->task),
		                                (int)s->tid, top_page_name(names, s->type),
		                                place ? ", " : "", place ? place : "");
	}
	*vec_push(lines) =
		arena_printf(a, "%" PRIu64 " polls over the limit so far", f->stall_total);
}

static void add_lines(const struct top_state *s, const struct top_page *p, struct top_names *names,
                      struct arena *a, text_lines *lines)
{
	switch (s->mode) {
	case TOP_MODE_WORKERS:
		add_workers(p, a, lines);
		break;
	case TOP_MODE_STALLS:
		add_stalls(p, names, a, lines);
		break;
	case TOP_MODE_HELP:
		for (size_t i = 0; top_state_help[i]; i++)
			*vec_push(lines) = top_state_help[i];
		break;
	default:
		break;
	}
}

size_t top_screen_lines(const struct top_state *s, const struct top_page *p, size_t nlines)
{
	size_t n = 0;

	switch (s->mode) {
	case TOP_MODE_WORKERS:
		return p && p->nworkers ? p->nworkers : 1;
	case TOP_MODE_STALLS:
		return p ? p->frame->nstalls + 2 : 0;
	case TOP_MODE_HELP:
		while (top_state_help[n])
			n++;
		return n;
	default:
		return nlines;
	}
}

static void top_screen_put_text(struct top_state *s, const char *const *text, size_t n, int y)
{
	top_state_scroll(s, n, LINES > y + 1 ? (size_t)(LINES - y - 1) : 1);
	for (size_t i = 0; i < s->rows && s->offset + i < n; i++)
		top_screen_put_line(y + (int)i, text[s->offset + i], 0);
}

static const char *mode_name(enum top_mode mode)
{
	static const char *const names[] = { "tasks", "workers", "stalls", "task", "help" };

	return names[mode];
}

static void append_view(struct str *line, const struct top_state *s, const struct top_page *p)
{
	str_printf(line, ", sorted by %s%s", top_view_field_name(s->view.sort),
	           s->view.reverse ? ", reversed" : "");
	if (s->view.grouping)
		str_printf(line, ", by %s", top_view_grouping_name(s->view.grouping));
	if (*s->filter)
		str_printf(line, ", with \"%s\"", s->filter);
	if (p)
		str_printf(line, ", row %zu of %zu", p->list.total ? s->selected + 1 : 0,
		           p->list.total);
}

static void put_footer(const struct top_state *s, const struct top_page *p)
{
	STR(line);

	if (s->filtering || s->sorting) {
		str_printf(&line, "%s: %s_", s->filtering ? "filter" : "sort by", s->input);
	} else if (*s->message) {
		str_append(&line, s->message);
	} else {
		str_printf(&line, "%s%s", mode_name(s->mode), s->paused ? ", paused" : "");
		if (s->mode == TOP_MODE_TASKS)
			append_view(&line, s, p);
		str_append(&line, "   ? help  q quit");
	}
	STR(clean);
	str_append_clean(&clean, str_text(&line), line.len);
	top_screen_put_line(LINES - 1, str_text(&clean), A_BOLD);
}

void top_screen_draw(struct top_state *s, const struct top_page *p, struct top_names *names,
                     const char *const *text, size_t nlines)
{
	text_lines lines = { 0 };
	SCRATCH(a);
	int y = 0;

	erase();
	if (!p) {
		top_screen_put_line(0, "top: the first interval is not over yet",
		                    A_BOLD | top_screen_colored(COLOR_TITLE));
		put_footer(s, p);
		refresh();
		return;
	}
	top_screen_put_line(
		y++,
		arena_printf(&a, "top: process %d %s: %s", (int)p->answer->snapshot->target.pid,
	                     p->answer->snapshot->target.command, top_page_summary(p, &a)),
		A_BOLD | top_screen_colored(COLOR_TITLE));
	if (p->sampling)
		top_screen_put_line(y++, top_page_sampling(p, &a), top_screen_colored(COLOR_HINT));
	if (s->mode == TOP_MODE_TASKS) {
		top_screen_put_tasks(s, p, names, y);
	} else if (s->mode == TOP_MODE_TASK) {
		top_screen_put_text(s, text, nlines, y);
	} else {
		add_lines(s, p, names, &a, &lines);
		top_screen_put_text(s, lines.data, lines.n, y);
		vec_free(&lines);
	}
	put_footer(s, p);
	refresh();
}
