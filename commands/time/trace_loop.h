/*
 * Functions shared by the commands that follow a trace: their options, the beginning, the loop
 * until the time is over, the process has ended or ^C, and the end.
 */
#ifndef COMMANDS_TIME_TRACE_LOOP_H
#define COMMANDS_TIME_TRACE_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "commands/base/call.h"
#include "commands/out/out.h"
#include "commands/time/sink.h"
#include "runtimes/trace/trace.h"

/* The option --allow-slow of these commands. */
#define FOLLOWING_SLOW_OPTION                                                                      \
	{                                                                                          \
		"allow-slow", NULL, false,                                                         \
			"Also use probe points that need a single step: 2 to 20 us each"           \
	}
/*
 * The trace that the call asks for, without events. ASYNCDBG_PROBES=perf in the environment, for
 * tests, restricts it to the features of older kernels.
 */
struct trace_options trace_loop_options(const struct call *call);

/*
 * Attaches a trace to the process of the session, tells it what exists and prints a note for each
 * wanted event that the program does not show. The caller frees *trace with trace_close(), also
 * where an error is returned. *known: a snapshot with these wants, of which WANT_TASKS is one,
 * taken after attaching; the session owns it.
 */
struct error *trace_loop_begin(struct session *s, const struct trace_options *options,
                               unsigned wants, const struct out *out, struct trace **trace,
                               const struct snapshot **known) MUST_CHECK;
/* The notes of trace_loop_begin() alone. */
void trace_loop_warn(const struct trace *t, const bool *wanted, const struct out *out);

/*
 * The session of the process that is traced. Where asyncdbg has started the program, the session of
 * the command knows the executable alone; one of its process is opened when it is needed first.
 */
struct live_session {
	struct session *of; /* of the command; borrowed */
	pid_t pid;          /* of a program that was started; 0: of is the session of the process */
	struct session opened;
	struct asyncdbg_options options; /* of opened */
};
struct error *trace_loop_live(struct live_session *l, struct session **ret) MUST_CHECK;
void trace_loop_close_live(struct live_session *l);
/* Takes a snapshot for trace_look_with(); arg: a struct live_session. */
struct snapshot *trace_loop_look_at_threads(void *arg);

struct trace_loop {
	struct trace *trace;
	pid_t pid;       /* of the process */
	double duration; /* seconds; 0: without end */
	uint64_t start;  /* ns, CLOCK_MONOTONIC: when it began */
	trace_item_fn *item;
	/*
	 * Called every few milliseconds, after the items; NULL: none. now: that of
	 * trace_read_until_now(). ended: for the last time.
	 */
	struct error *(*tick)(uint64_t now, bool ended, void *arg);
	const bool *done; /* set by item or tick to end it; NULL: not used */
	void *arg;
	bool *executed; /* set at the end: the process has executed another program; NULL: ignored
	                 */
};

/*
 * Detaches the trace at the end. The first error of reading it and tick(), but for ^C, which is the
 * end.
 */
struct error *trace_loop_run(const struct trace_loop *f) MUST_CHECK;
/* ^C is how these commands end, whatever it interrupts: frees that error. All others are returned.
 */
struct error *trace_loop_unless_interrupted(struct error *err) MUST_CHECK;
/* Waits a few milliseconds; true as soon as the process of the pidfd has ended. */
bool trace_loop_process_ended(int pidfd);

/*
 * Looks at the queues of a live process, for which it is stopped for a moment, and calls visit for
 * each. If that fails, as of a process that has ended, it is not called.
 */
typedef void trace_loop_queue_fn(const struct sink_queue *q, void *arg);
void trace_loop_look(struct session *s, trace_loop_queue_fn *visit, void *arg);
enum { TRACE_LOOP_LOOK_NS = 500000000 /* between two looks */ };

/* Prints a note if events were lost. STATUS_PARTIAL: they were, or a wanted one is missing. */
enum status trace_loop_end(const struct trace *t, const bool *wanted, const struct out *out);

#endif
