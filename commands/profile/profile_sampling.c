#include "commands/profile/profile_sampling.h"

#include "commands/time/trace_loop.h"
#include "debugger/base/clock.h"
#include "debugger/base/log.h"
#include "debugger/host/process_list.h"
#include "debugger/target/target.h"

static bool is_off(pid_t tid, bool *off, void *arg)
{
	const struct profile_sampling *p = arg;

	return process_thread_is_off(asyncdbg_target(p->s->handle)->pid, tid, off);
}

static void profile_sampling_pass(const struct task_span *span, void *arg)
{
	const struct profile_sampling *p = arg;

	p->visit(span, p->arg);
}

static bool profile_sampling_is_over(struct profile_sampling *p)
{
	struct error *stop CLEANUP(error_freep) = interrupt_check();

	if (stop)
		interrupt_clear();
	p->stopped |= stop != NULL;
	return p->stopped || (double)clock_since(p->start) / 1e9 >= p->duration;
}

/* Waits; false: there is nothing more to look at. */
static bool wait_for_next(struct profile_sampling *p)
{
	while (clock_now_ns() < p->looks.next) {
		if (trace_loop_process_ended(p->pidfd))
			return false;
		if (profile_sampling_is_over(p))
			break;
	}
	return true;
}

static struct error *profile_sampling_look(struct profile_sampling *p)
{
	const struct snapshot *s;

	TRY(quiet_looks_take(&p->looks, &s));
	uint64_t time = clock_now_ns();
	task_samples_add(p->samples, s, p->end, time);
	p->end = time;
	p->n++;
	return NULL;
}

struct error *profile_sampling_run(struct profile_sampling *p)
{
	const struct snapshot *s;

	TRY(quiet_looks_begin(p->s, WANT_TASKS, &p->looks, &s));
	p->samples = task_samples_new(profile_sampling_pass, is_off, p);
	p->start = p->end = clock_now_ns();

	for (bool more = true; more && !profile_sampling_is_over(p);) {
		more = wait_for_next(p);
		struct error *err = more ? profile_sampling_look(p) : NULL;

		if (err && !p->n)
			return err;
		if (err)
			LOG("trace", "the tasks could not be read: %s", err->message);
		error_free(err);
	}
	return NULL;
}
