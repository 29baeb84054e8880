#include "commands/shell/prompt_line.h"

#include <editline/readline.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>
#include <wchar.h>

#include "debugger/base/error.h"

static volatile sig_atomic_t stop_requested, was_continued;

static void on_job_signal(int signal)
{
	if (signal == SIGTSTP)
		stop_requested = 1;
	else
		was_continued = 1;
}

/*
 * While a line is typed, the terminal is in another mode, which the shell that we stop for must not
 * get, and which it does not give back. A ^Z that is ignored stays so.
 */
static void watch_jobs(bool on, struct sigaction before[2])
{
	static const int signals[2] = { SIGTSTP, SIGCONT };
	const struct sigaction action = { .sa_handler = on_job_signal };

	for (int i = 0; i < 2; i++) {
		if (!on)
			sigaction(signals[i], &before[i], NULL);
		else if (sigaction(signals[i], NULL, &before[i]) == 0 &&
		         (before[i].sa_handler != SIG_IGN || signals[i] == SIGCONT))
			sigaction(signals[i], &action, NULL);
	}
}

/* Stops where ^Z asks for it; after the SIGCONT that ends this, the line is there again. */
static void take_job_signals(void)
{
	if (stop_requested) {
		stop_requested = 0;
		rl_deprep_terminal();
		raise(SIGSTOP);
	}
	if (!was_continued)
		return;
	was_continued = 0;
	rl_deprep_terminal();
	rl_prep_terminal(1);
	rl_forced_update_display();
}

/*
 * Reads a byte; false: none came before the end or ^C. Signals are taken while it waits alone: one
 * that comes between the look at the flags and the wait would be seen at the next key.
 */
static bool read_byte(int fd, char *byte)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT };
	sigset_t held, before;
	bool goes_on;

	sigemptyset(&held);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaddset(&held, signals[i]);
	sigprocmask(SIG_BLOCK, &held, &before);
	do {
		take_job_signals();
		goes_on = !interrupt_is_requested();
	} while (goes_on && ppoll(&ready, 1, NULL, &before) < 0 && errno == EINTR);
	goes_on = goes_on && read(fd, byte, 1) == 1;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return goes_on;
}

/*
 * libedit would have the terminal make carriage returns of newlines, and leave those of the Enter
 * key. What is typed behind a line that lets a program run may be read by the program, as its own
 * lines. Before each line, when libedit has made its own modes and not set them yet.
 */
static int keep_newlines(void)
{
	rl_parse_and_bind("setty -d -inlcr +icrnl");
	return 0;
}

/*
 * libedit's own reader retries the first read that a signal breaks, so that ^C would only be
 * seen at the next key. This one gives up at once. The UTF-8 is decoded because libedit takes
 * the result for a wide character.
 */
int prompt_line_getc(FILE *f)
{
	mbstate_t state = { 0 };
	wchar_t wide;
	char byte;

	for (int i = 0; i < MB_LEN_MAX; i++) {
		if (!read_byte(fileno(f), &byte))
			return -1;
		size_t used = mbrtowc(&wide, &byte, 1, &state);
		if (used == (size_t)-2)
			continue;
		return used == (size_t)-1 ? (unsigned char)byte : (int)wide;
	}
	return -1;
}

char *prompt_line_read(const char *prompt)
{
	struct sigaction before[2];

	rl_pre_input_hook = keep_newlines;
	watch_jobs(true, before);
	char *line = readline(prompt);
	watch_jobs(false, before);
	return line;
}
