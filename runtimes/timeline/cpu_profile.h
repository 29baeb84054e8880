/*
 * CPU profile of polls: samples of the threads of a process, unwound up to where the runtime polls
 * a task, and joined to the poll in which they were taken.
 */
#ifndef RUNTIMES_TIMELINE_CPU_PROFILE_H
#define RUNTIMES_TIMELINE_CPU_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtimes/timeline/poll_stacks.h"
#include "runtimes/timeline/time_profile.h"
#include "runtimes/trace/trace.h"

struct cpu_profile;

enum { CPU_PROFILE_MAX_HZ = 10000 };

struct cpu_totals {
	uint64_t samples;  /* samples that were taken */
	uint64_t in_polls; /* samples that belong to the poll of a task or a job */
	uint64_t cut;      /* samples, in polls or not, the rest of whose stack is not known */
	uint64_t lost;     /* samples for which the kernel had no room */
};

/*
 * Begins to sample the process of a trace, hz times in a second of each thread on a CPU, at
 * most CPU_PROFILE_MAX_HZ. The errors
 * of cpu_samples_open(). The trace must live longer.
 */
struct error *cpu_profile_open(const struct trace *t, unsigned hz, struct cpu_profile **ret)
	MUST_CHECK;
/* NULL is allowed. */
void cpu_profile_close(struct cpu_profile *p);
void cpu_profile_closep(struct cpu_profile **p);

/* Stops sampling; the samples taken so far can still be read. */
void cpu_profile_stop(struct cpu_profile *p);
/*
 * Reads the samples taken so far, if there may be some that were taken before that time (ns,
 * CLOCK_MONOTONIC). Call it with the time of each event before the event is added to the spans.
 */
void cpu_profile_read(struct cpu_profile *p, uint64_t until);
/* The samples and the polls that they were in: for the spans and items of the trace. */
struct poll_stacks *cpu_profile_stacks(struct cpu_profile *p);

/* A profile_code_fn; arg is the struct cpu_profile, and the functions live as long as that. */
const struct trace_frame *cpu_profile_code(uint32_t stack, const struct trace_place *place,
                                           size_t *n, void *arg);
void cpu_profile_totals(const struct cpu_profile *p, struct cpu_totals *ret);
/* Whether code within the kernel is sampled too. */
bool cpu_profile_has_kernel(const struct cpu_profile *p);

#endif
