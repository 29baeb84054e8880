#include "commands/time/trace_loop.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "debugger/base/clock.h"
#include "debugger/base/file.h"
#include "debugger/base/log.h"
#include "debugger/host/process_end.h"

enum {
	RING = 16 << 20,
	WAIT_MS = 5, /* between two reads of the ring */
};

struct trace_options trace_loop_options(const struct call *call)
{
	const char *probes = getenv("ASYNCDBG_PROBES");

	return (struct trace_options){
		.ring = RING,
		.slow = option_has(call, "allow-slow"),
		.perf = probes && strcmp(probes, "perf") == 0,
	};
}

/* The events that are missing for the reason of the nth, which is the first that has it. */
static void warn_missing(const struct trace_plan *plan, size_t nth, const bool *wanted, FILE *f)
{
	const char *reason = plan->missing[nth].reason;
	bool first = true;

	for (size_t i = 0; i < plan->nmissing; i++) {
		enum trace_event event = plan->missing[i].event;

		if (!wanted[event] || plan->missing[i].never ||
		    strcmp(plan->missing[i].reason, reason) != 0)
			continue;
		if (i < nth)
			return;
		fprintf(f, "%s%s", first ? "note: no " : ", ", trace_event_name(event));
		first = false;
	}
	if (!first)
		fprintf(f, ": %s\n", reason);
}

void trace_loop_warn(const struct trace *t, const bool *wanted, const struct out *out)
{
	const struct trace_plan *plan = trace_plan_of(t);

	for (size_t i = 0; i < plan->nmissing; i++) {
		if (wanted[plan->missing[i].event] && !plan->missing[i].never)
			warn_missing(plan, i, wanted, out->options.messages);
	}
	/* The ends of tasks show when a job has ended, where they were asked for as well. */
	if (wanted[TRACE_POLL_END] && wanted[TRACE_WORKER_STOP] && plan->late_job_ends.reason)
		fprintf(out->options.messages, "note: no task-poll-end of blocking jobs: %s\n",
		        plan->late_job_ends.reason);
}

struct error *trace_loop_begin(struct session *s, const struct trace_options *options,
                               unsigned wants, const struct out *out, struct trace **trace,
                               const struct snapshot **known)
{
	/* The layouts are resolved by a snapshot; tasks that exist are those after attaching. */
	TRY(session_snapshot(s, WANT_LAYOUT, NULL, known));
	TRY(trace_open(asyncdbg_inspector(s->handle), options, trace));
	TRY(session_snapshot(s, wants, NULL, known));
	trace_seed_from_snapshot(*trace, *known);
	trace_loop_warn(*trace, options->events, out);
	return NULL;
}

struct error *trace_loop_live(struct live_session *l, struct session **ret)
{
	*ret = l->pid ? &l->opened : l->of;
	if (!l->pid || l->opened.handle)
		return NULL;
	l->options = *l->of->options;
	l->options.program = NULL;
	l->options.pid = l->pid;
	return session_open(&l->options, &l->opened);
}

void trace_loop_close_live(struct live_session *l)
{
	if (l->opened.handle)
		session_close(&l->opened);
	l->opened = (struct session){ 0 };
}

struct snapshot *trace_loop_look_at_threads(void *arg)
{
	struct snapshot *snap = NULL;
	struct session *s;
	struct error *err CLEANUP(error_freep) = trace_loop_live(arg, &s);

	err = err ? err : asyncdbg_take(s->handle, 0, &snap);
	if (err)
		LOG("trace", "the threads could not be read: %s", err->message);
	return snap;
}

bool trace_loop_process_ended(int pidfd)
{
	struct pollfd fd = { pidfd, POLLIN, 0 };

	return poll(&fd, 1, WAIT_MS) > 0;
}

static bool trace_loop_is_over(const struct trace_loop *f)
{
	struct error *stop CLEANUP(error_freep) = interrupt_check();

	return stop || (f->done && *f->done) ||
	       (f->duration > 0 && (double)clock_since(f->start) / 1e9 >= f->duration);
}

struct error *trace_loop_unless_interrupted(struct error *err)
{
	if (!err || err->kind != ERR_INTERRUPTED)
		return err;
	error_free(err);
	return NULL;
}

struct error *trace_loop_run(const struct trace_loop *f)
{
	int pidfd CLEANUP(file_close) = (int)syscall(SYS_pidfd_open, f->pid, 0);
	bool ended = false, executed = false;
	uint64_t now;

	while (!ended) {
		ended = trace_loop_process_ended(pidfd);
		if (!ended && trace_is_over(f->trace)) {
			ended = true;
			executed = process_has_executed(f->pid, pidfd);
		}
		ended = ended || trace_loop_is_over(f);
		if (ended)
			trace_detach(f->trace);
		/*
		 * ^C may interrupt the read or the tick. That error is dropped: the loop detaches
		 * and ends with its next iteration, as trace_loop_is_over() also sees the ^C.
		 */
		TRY(trace_loop_unless_interrupted(
			trace_read_until_now(f->trace, f->item, f->arg, &now)));
		if (f->tick)
			TRY(trace_loop_unless_interrupted(f->tick(now, ended, f->arg)));
	}
	if (f->executed)
		*f->executed = executed;
	return NULL;
}

void trace_loop_look(struct session *s, trace_loop_queue_fn *visit, void *arg)
{
	const struct snapshot *snap = NULL;
	struct error *err CLEANUP(error_freep) = session_snapshot(s, 0, NULL, &snap);
	struct sink_queue q = { .time = clock_now_ns() };

	if (err) {
		LOG("trace", "the queues could not be read: %s", err->message);
		return;
	}
	for (size_t i = 0; i < snap->nruntimes; i++) {
		q.runtime = (int)snap->runtimes[i].index;
		q.worker = -1;
		q.length = snap->runtimes[i].inject_len;
		if (snap->runtimes[i].has_inject)
			visit(&q, arg);
	}
	for (size_t i = 0; i < snap->nthreads; i++) {
		const struct thread_info *th = &snap->threads[i];

		q.runtime = th->runtime;
		q.worker = th->worker;
		q.length = th->queue_len;
		if (th->has_queue && th->runtime >= 0 && th->worker >= 0)
			visit(&q, arg);
	}
}

enum status trace_loop_end(const struct trace *t, const bool *wanted, const struct out *out)
{
	const struct trace_plan *plan = trace_plan_of(t);
	struct trace_totals totals;
	bool missing;

	trace_totals(t, &totals);
	missing = totals.lost || totals.too_deep;
	for (size_t i = 0; i < plan->nmissing; i++)
		missing |= wanted[plan->missing[i].event] && !plan->missing[i].never;
	if (totals.lost)
		fprintf(out->options.messages,
		        "note: %" PRIu64
		        " events were lost: they came faster than they could be read\n",
		        totals.lost);
	return missing ? STATUS_PARTIAL : STATUS_OK;
}
