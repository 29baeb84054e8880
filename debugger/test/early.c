/*
 * A library for LD_PRELOAD that acts before a program's own code begins: it raises the signal whose
 * number EARLY_SIGNAL is, or waits for ever.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void act(void)
{
	const char *number = getenv("EARLY_SIGNAL");

	if (number)
		raise(atoi(number));
	else
		pause();
}
