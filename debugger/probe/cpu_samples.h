/*
 * Samples of what the threads of a running process do on CPUs, at a fixed rate of the time
 * that each of them is on one: their registers and the innermost part of their stacks. The kernel
 * takes them (perf events by its own clock, no counters of the chip): the process is neither
 * stopped nor changed.
 *
 * Permissions needed: CAP_PERFMON, or kernel.perf_event_paranoid of at most 2, with which there are
 * no samples of what runs within the kernel.
 */
#ifndef DEBUGGER_PROBE_CPU_SAMPLES_H
#define DEBUGGER_PROBE_CPU_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/arch/arch.h"
#include "debugger/base/error.h"

struct cpu_samples;

struct cpu_sample {
	uint64_t time; /* ns, CLOCK_MONOTONIC */
	pid_t tid;
	bool in_kernel;       /* the thread was within the kernel, which the registers led into */
	const uint64_t *regs; /* of the program itself, arch->nregs by DWARF number */
	const unsigned char *stack; /* a copy, from the stack pointer on */
	size_t stack_size;          /* bytes of it; 0: it could not be read */
};

enum { CPU_SAMPLES_STACK = 16 << 10 /* bytes of a stack that are copied */ };

/*
 * Begins to sample all threads of process pid, of that architecture, and those that they start: hz
 * times in a second for which one is on a CPU. ERR_UNSUPPORTED, ERR_OS with the remedy. Free
 * *ret with cpu_samples_close().
 */
struct error *cpu_samples_open(pid_t pid, const struct arch *arch, unsigned hz,
                               struct cpu_samples **ret) MUST_CHECK;
/* Ends sampling; the samples that were taken can still be read. */
void cpu_samples_stop(struct cpu_samples *s);
/* NULL is allowed. */
void cpu_samples_close(struct cpu_samples *s);
void cpu_samples_closep(struct cpu_samples **s);

/* Whether there are samples of what runs within the kernel. */
bool cpu_samples_have_kernel(const struct cpu_samples *s);

/* The sample is valid during the call. */
typedef void cpu_sample_fn(const struct cpu_sample *sample, void *arg);
/*
 * Passes on what was sampled since the last call, those of one thread in their order as long as it
 * stays on one CPU. A buffer has room for about 60 ms at 499 Hz.
 */
void cpu_samples_read(struct cpu_samples *s, cpu_sample_fn *visit, void *arg);
/* Samples for which there was no room, of those that were read so far. */
uint64_t cpu_samples_lost(const struct cpu_samples *s);

#endif
