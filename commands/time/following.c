#include "commands/time/following.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "debugger/base/clock.h"
#include "debugger/base/file.h"

enum {
	WAIT_MS = 5,   /* between two reads of the ring */
	END_MS = 1000, /* for a process that has given its memory back to end */
};

/* Whether the process has ended; waits for that. */
static bool has_ended(int pidfd, int ms)
{
	struct pollfd fd = { pidfd, POLLIN, 0 };

	return poll(&fd, 1, ms) > 0;
}

static bool is_over(const struct following *f)
{
	struct error *stop CLEANUP(error_freep) = interrupt_check();

	return stop ||
	       (f->duration > 0 && (double)(clock_now_ns() - f->start) / 1e9 >= f->duration);
}

struct error *following_run(const struct following *f)
{
	int pidfd CLEANUP(file_close) = (int)syscall(SYS_pidfd_open, f->pid, 0);
	bool ended = false;

	while (!ended) {
		ended = has_ended(pidfd, WAIT_MS) || trace_is_over(f->trace) || is_over(f);
		if (ended)
			trace_detach(f->trace);
		TRY(trace_read(f->trace, f->item, f->arg));
		if (f->tick)
			TRY(f->tick(ended, f->arg));
	}
	if (f->executed)
		*f->executed = pidfd >= 0 && trace_is_over(f->trace) && !has_ended(pidfd, END_MS);
	return NULL;
}

void following_warn(const struct trace_plan *plan, const bool *wanted, const struct out *out)
{
	for (size_t i = 0; i < plan->nmissing; i++) {
		if (wanted[plan->missing[i].event])
			fprintf(out->options.messages, "note: no %s: %s\n",
			        trace_event_name(plan->missing[i].event), plan->missing[i].reason);
	}
}

bool following_misses(const struct trace_plan *plan, const bool *wanted)
{
	for (size_t i = 0; i < TRACE_NEVENTS; i++) {
		if (wanted[i] && !plan->has[i])
			return true;
	}
	return false;
}
