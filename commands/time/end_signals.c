#include "commands/time/end_signals.h"

#include <stddef.h>

#include "debugger/base/error.h"

static const int signals[END_SIGNALS] = { SIGINT, SIGTERM, SIGHUP };

static void end_signals_on(int signal)
{
	(void)signal;
	interrupt_request();
}

void end_signals_catch(struct end_signals *ret)
{
	const struct sigaction end = { .sa_handler = end_signals_on,
		                       .sa_flags = (int)(SA_RESTART | SA_RESETHAND) };

	for (size_t i = 0; i < END_SIGNALS; i++) {
		sigaction(signals[i], NULL, &ret->before[i]);
		/* A signal that nohup ignores stays ignored. */
		if (ret->before[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &end, NULL);
	}
}

void end_signals_restore(const struct end_signals *s)
{
	for (size_t i = 0; i < END_SIGNALS; i++)
		sigaction(signals[i], &s->before[i], NULL);
}
