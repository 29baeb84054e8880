/* Replaces top_screen.c where there is no ncurses at build time. */
#include "commands/top/top_screen.h"

bool top_screen_supported(void)
{
	return false;
}

struct error *top_screen_open(bool color, bool ascii)
{
	(void)color, (void)ascii;
	return error_new(ERR_UNSUPPORTED, "this asyncdbg was built without ncurses");
}

void top_screen_close(void)
{
}

int top_screen_key(void)
{
	return -1;
}

unsigned top_screen_width(void)
{
	return 0;
}

void top_screen_draw(struct top_state *state, const struct top_page *page, struct top_names *names,
                     const char *const *text, size_t nlines)
{
	(void)state, (void)page, (void)names, (void)text, (void)nlines;
}

size_t top_screen_lines(const struct top_state *state, const struct top_page *page, size_t nlines)
{
	(void)state, (void)page;
	return nlines;
}
