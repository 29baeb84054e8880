/* The part of a profile that --cpu asks for: which functions run in polls. */
#ifndef COMMANDS_PROFILE_PROFILE_CPU_H
#define COMMANDS_PROFILE_PROFILE_CPU_H

#include <stdint.h>

#include "commands/base/call.h"
#include "debugger/base/error.h"
#include "runtimes/trace/cpu_profile.h"

/* For the table of options. */
#define PROFILE_CPU_OPTIONS                                                                        \
	{ "cpu", NULL, false, "Also tell which functions run in polls, by samples" },              \
	{                                                                                          \
		"rate", "NUMBER", false,                                                           \
			"With --cpu: samples in a second of each thread on a processor: 99"        \
	}

struct profile_cpu {
	unsigned hz;             /* 0: it is not wanted */
	struct cpu_profile *cpu; /* NULL: it is not wanted, or cannot be had */
	char *missing;           /* why it cannot be had, or what of it; NULL: all is there */
};

/* ERR_USAGE. */
struct error *profile_cpu_options(const struct call *call, struct profile_cpu *ret) MUST_CHECK;
/* Begins if it is wanted; what cannot be had is missing, and no error. */
void profile_cpu_begin(struct profile_cpu *p, const struct trace *t);
/* The tasks are only looked at: then there is nothing that samples could be joined to. */
void profile_cpu_without_events(struct profile_cpu *p);
void profile_cpu_close(struct profile_cpu *p);

/*
 * The calls of cpu_profile.h, none of which does anything without samples. Of an item
 * profile_cpu_read() comes before and profile_cpu_item() after it is added to the spans.
 */
void profile_cpu_read(struct profile_cpu *p, uint64_t time);
void profile_cpu_end(struct profile_cpu *p);
void profile_cpu_item(struct profile_cpu *p, const struct trace_item *item);
void profile_cpu_lost(struct profile_cpu *p);
/* Before the span is added to the profile. */
void profile_cpu_span(struct profile_cpu *p, const struct task_span *span,
                      struct time_profile *profile);
void profile_cpu_tree(struct profile_cpu *p, const struct time_profile *profile, struct arena *a,
                      struct profile_tree *ret);

#endif
