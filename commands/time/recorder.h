/*
 * The flight recorder, `trace --ring SIZE --when CONDITION`: keeps the last items of a trace in
 * memory, and writes them to a file when a condition is met, with a snapshot beside it.
 */
#ifndef COMMANDS_TIME_RECORDER_H
#define COMMANDS_TIME_RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "commands/out/out.h"
#include "commands/time/recorder_options.h"
#include "commands/time/sink.h"
#include "runtimes/trace/trace.h"

struct live_session;

/* Parts of the recorded trace that the recorder needs; all are borrowed. */
struct recorder_setup {
	struct live_session *live;
	struct out *out;
	struct trace *trace;
	pid_t pid;
	bool perfetto; /* format of the files */
	/*
	 * Heading of each file, which sets start and before itself; wanted has the events to be
	 * written.
	 */
	struct trace_heading heading;
	uint64_t min_ns; /* shorter polls are left out */
};

struct recorder;

/*
 * Begins to record. known: the tasks that existed when the trace was attached, or NULL, none. The
 * errors of the first look for a deadlock; ERR_UNSUPPORTED where the program does not show an event
 * that a condition needs. setup and options must outlive it. From here on SIGUSR1 writes a file.
 */
struct error *recorder_begin(const struct recorder_setup *setup,
                             const struct recorder_options *options, const struct snapshot *known,
                             struct recorder **ret) MUST_CHECK;
/* NULL is allowed. */
void recorder_free(struct recorder *r);
void recorder_freep(struct recorder **r);

/* Callbacks for struct trace_loop; arg is the recorder. */
bool recorder_item(const struct trace_item *item, void *arg);
struct error *recorder_tick(uint64_t now, bool ended, void *arg) MUST_CHECK;
/* Becomes true when all files are written. */
const bool *recorder_done(const struct recorder *r);
/* Files that are written. */
uint64_t recorder_count(const struct recorder *r);
/* A part of what a file should have is missing. */
bool recorder_is_partial(const struct recorder *r);

#endif
