/* The part of a profile that --cpu asks for: which functions run in polls. */
#ifndef COMMANDS_PROFILE_PROFILE_CPU_H
#define COMMANDS_PROFILE_PROFILE_CPU_H

#include <stdint.h>

#include "commands/base/call.h"
#include "debugger/base/error.h"
#include "runtimes/timeline/cpu_profile.h"

/* Rows for the table of options. */
#define PROFILE_CPU_OPTIONS                                                                        \
	{ "cpu", NULL, false, "Also show which functions run in polls, by sampling" },             \
	{                                                                                          \
		"rate", "NUMBER", false,                                                           \
			"With --cpu: samples per second of each thread on a CPU, default 99"       \
	}

struct profile_cpu {
	unsigned hz;             /* 0: it is not wanted */
	struct cpu_profile *cpu; /* NULL: it is not wanted, or cannot be had */
	char *missing; /* the reason why all or a part of it is missing; NULL: all is there */
};

/* ERR_USAGE. */
struct error *profile_cpu_options(const struct call *call, struct profile_cpu *ret) MUST_CHECK;
/* Begins if it is wanted; unavailable samples are noted in missing, and are no error. */
void profile_cpu_begin(struct profile_cpu *p, const struct trace *t);
/* The tasks are only looked at: then there is nothing that samples could be joined to. */
void profile_cpu_without_events(struct profile_cpu *p);
void profile_cpu_close(struct profile_cpu *p);

/*
 * The calls of cpu_profile.h, none of which does anything without samples. Of an item
 * profile_cpu_read() comes before it is added to the timeline, and profile_cpu_drop() after that,
 * if its thread polled nothing before.
 */
void profile_cpu_read(struct profile_cpu *p, uint64_t time);
void profile_cpu_end(struct profile_cpu *p);
void profile_cpu_drop(struct profile_cpu *p, pid_t tid, uint64_t time);
/* Call it before the span is added to the profile. */
void profile_cpu_span(struct profile_cpu *p, const struct task_span *span,
                      struct time_profile *profile);
void profile_cpu_tree(struct profile_cpu *p, const struct time_profile *profile, struct arena *a,
                      struct profile_tree *ret);

#endif
