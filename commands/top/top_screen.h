/*
 * The screen of `top`: a page of it on a terminal, and keys. One file has it with ncurses, another
 * one stands in where asyncdbg was built without.
 */
#ifndef COMMANDS_TOP_TOP_SCREEN_H
#define COMMANDS_TOP_TOP_SCREEN_H

#include "commands/top/top_state.h"
#include "debugger/base/error.h"

/* False: built without ncurses. */
bool top_screen_supported(void);
/*
 * Takes over the terminal of standard input and output, and SIGINT, SIGTERM, SIGHUP and SIGQUIT:
 * the first one is as ^C, the second one ends asyncdbg with the terminal as it was. Output to
 * standard error meanwhile is written when the screen is closed. One screen at a time. ERR_STATE
 * where the terminal has no such screen.
 */
struct error *top_screen_open(bool color, bool ascii) MUST_CHECK;
/* Leaves the terminal as it was; does nothing without a screen. */
void top_screen_close(void);
/* The next key that was typed, as in top_state.h; -1: none. */
int top_screen_key(void);
unsigned top_screen_width(void);
/*
 * Draws the page; NULL: there is none yet. text: the lines of TOP_MODE_TASK. Fills state->rows and
 * keeps the selection in sight.
 */
void top_screen_draw(struct top_state *state, const struct top_page *page, struct top_names *names,
                     const char *const *text, size_t nlines);
/* The number of lines of the text that the mode shows. */
size_t top_screen_lines(const struct top_state *state, const struct top_page *page, size_t nlines);

#endif
