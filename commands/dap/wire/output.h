/* Output of a launched program, sent as "output" events. A thread reads its two pipes. */
#ifndef COMMANDS_DAP_WIRE_OUTPUT_H
#define COMMANDS_DAP_WIRE_OUTPUT_H

#include <pthread.h>

#include "commands/dap/wire/message.h"
#include "debugger/base/error.h"

/* All zeros at first. */
struct output {
	struct sender *sender;
	int fds[2];  /* the ends that are read: standard output, standard error; 0: none */
	int quit[2]; /* closed to end the thread */
	pthread_t thread;
	bool started;
};

/* Opens the pipes; write_ends: for the program, which the caller closes. */
struct error *output_open(struct output *o, struct sender *sender, int write_ends[2]) MUST_CHECK;
/* Starts the thread. */
struct error *output_start(struct output *o) MUST_CHECK;
/* Sends the contents of the pipes, and closes them. No-op if they are not open. */
void output_close(struct output *o);

#endif
