#include "commands/profile/profile_cpu.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/clock.h"

enum { DEFAULT_HZ = 99 /* not in step with work that programs do every few milliseconds */ };

struct error *profile_cpu_options(const struct call *call, struct profile_cpu *ret)
{
	const char *rate = option_value(call, "rate");
	char *end;

	ret->hz = option_has(call, "cpu") ? DEFAULT_HZ : 0;
	if (!rate)
		return NULL;
	if (!ret->hz)
		return error_new(ERR_USAGE, "--rate needs --cpu");
	unsigned long hz = rate[0] >= '0' && rate[0] <= '9' ? strtoul(rate, &end, 10) : 0;
	if (!hz || hz > CPU_PROFILE_MAX_HZ || *end)
		return error_new(ERR_USAGE, "--rate takes a number from 1 to %d, not \"%s\"",
		                 CPU_PROFILE_MAX_HZ, rate);
	ret->hz = (unsigned)hz;
	return NULL;
}

void profile_cpu_begin(struct profile_cpu *p, const struct trace *t)
{
	if (!p->hz)
		return;
	struct error *err CLEANUP(error_freep) = cpu_profile_open(t, p->hz, &p->cpu);
	if (err)
		p->missing = strdup(err->message);
	else if (!cpu_profile_has_kernel(p->cpu))
		p->missing = strdup("the kernel only allows sampling the program's own code: give "
		                    "asyncdbg CAP_PERFMON to see what runs within the kernel");
}

void profile_cpu_without_events(struct profile_cpu *p)
{
	if (p->hz)
		p->missing = strdup("without events it is unknown which poll runs");
}

void profile_cpu_close(struct profile_cpu *p)
{
	cpu_profile_close(p->cpu);
	free(p->missing);
}

void profile_cpu_read(struct profile_cpu *p, uint64_t time)
{
	if (p->cpu)
		cpu_profile_read(p->cpu, time);
}

void profile_cpu_end(struct profile_cpu *p)
{
	if (p->cpu)
		cpu_profile_stop(p->cpu);
	profile_cpu_read(p, clock_now_ns());
}

void profile_cpu_drop(struct profile_cpu *p, pid_t tid, uint64_t time)
{
	if (p->cpu)
		poll_stacks_drop(cpu_profile_stacks(p->cpu), tid, time);
}

void profile_cpu_span(struct profile_cpu *p, const struct task_span *span,
                      struct time_profile *profile)
{
	if (p->cpu)
		poll_stacks_end(cpu_profile_stacks(p->cpu), span, time_profile_sample, profile);
}

void profile_cpu_tree(struct profile_cpu *p, const struct time_profile *profile, struct arena *a,
                      struct profile_tree *ret)
{
	time_profile_tree(profile, a, p->cpu ? cpu_profile_code : NULL, p->cpu, ret);
}
