#include "debugger/live/terminal.h"

#include <signal.h>
#include <unistd.h>

/*
 * Blocks SIGTTOU: in the background, where we are while the program has the terminal, each of these
 * calls would stop us.
 */
static void hold_stop(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTTOU);
	pthread_sigmask(SIG_BLOCK, &set, before);
}

static void set_modes(bool is_known, const struct termios *modes)
{
	/* Not TCSADRAIN, which waits: the output may be held by ^S. */
	if (is_known)
		tcsetattr(STDIN_FILENO, TCSANOW, modes);
}

void terminal_give(struct terminal *t, pid_t group)
{
	sigset_t before;

	if (!t->lent)
		return;
	hold_stop(&before);
	t->has_own = tcgetattr(STDIN_FILENO, &t->own) == 0;
	set_modes(t->has_program, &t->program);
	tcsetpgrp(STDIN_FILENO, group);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void terminal_take(struct terminal *t)
{
	sigset_t before;

	if (!t->lent)
		return;
	hold_stop(&before);
	tcsetpgrp(STDIN_FILENO, getpgrp());
	t->has_program = tcgetattr(STDIN_FILENO, &t->program) == 0;
	set_modes(t->has_own, &t->own);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
