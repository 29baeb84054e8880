#include "commands/profile/profile_sampling.h"

#include "commands/time/following.h"
#include "debugger/base/clock.h"
#include "debugger/base/log.h"
#include "debugger/live/proc.h"
#include "debugger/target/target.h"

/* By its state: one that waits for a processor counts as if it had one. */
static bool is_off(pid_t tid, bool *off, void *arg)
{
	const struct profile_sampling *p = arg;
	SCRATCH(tmp);
	struct proc_stat stat;
	char *text = proc_read(&tmp, asyncdbg_target(p->s->handle)->pid,
	                       arena_printf(&tmp, "task/%d/stat", (int)tid), NULL);

	if (!text || !proc_stat_parse(&tmp, text, &stat))
		return false;
	*off = stat.state != 'R';
	return true;
}

static void pass(const struct task_span *span, void *arg)
{
	const struct profile_sampling *p = arg;

	p->visit(span, p->arg);
}

static bool is_over(struct profile_sampling *p)
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
		if (following_process_ended(p->pidfd))
			return false;
		if (is_over(p))
			break;
	}
	return true;
}

static struct error *look(struct profile_sampling *p)
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
	p->samples = task_samples_new(pass, is_off, p);
	p->start = p->end = clock_now_ns();

	for (bool more = true; more && !is_over(p);) {
		more = wait_for_next(p);
		struct error *err = more ? look(p) : NULL;

		if (err && !p->n)
			return err;
		if (err)
			LOG("trace", "no look at the tasks: %s", err->message);
		error_free(err);
	}
	return NULL;
}
