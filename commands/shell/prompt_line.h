/* Reads a line at the prompt, with libedit: ^C discards it, ^Z stops asyncdbg and brings it back.
 */
#ifndef COMMANDS_SHELL_PROMPT_LINE_H
#define COMMANDS_SHELL_PROMPT_LINE_H

#include <stdio.h>

/* Reads a character from the terminal, for rl_getc_function; -1 at its end, and at ^C. */
int prompt_line_getc(FILE *f);

/* The line, for free(); NULL at the end of input, and at ^C: see interrupt_check(). */
char *prompt_line_read(const char *prompt);

#endif
