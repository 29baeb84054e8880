/*
 * Hardware breakpoints and watchpoints: perf_event_open(2), PERF_TYPE_BREAKPOINT, one event for
 * each of them in each thread. An event sends SIGURG to its thread (fcntl(2), F_SETOWN_EX and
 * F_SETSIG): the signal information has the file descriptor. tracer.h says why.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "debugger/base/file.h"
#include "debugger/live/proc.h"
#include "debugger/live/tracer_private.h"

enum { MAX_LEN = 8 };

/* ---- events of the kernel ---- */

static int tracer_watch_open_event(const struct tracer_watch *w, pid_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.sample_period = 1,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.remove_on_exec = 1,
		.bp_addr = w->addr,
		.bp_len = w->len,
		.bp_type = w->kind == TRACER_WRITTEN ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW,
	};
	const struct f_owner_ex owner = { F_OWNER_TID, tid };

	if (w->kind == TRACER_EXECUTED) {
		attr.bp_type = HW_BREAKPOINT_X;
		attr.bp_len = sizeof(long);
	}
	int fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fcntl(fd, F_SETOWN_EX, &owner) == 0 && fcntl(fd, F_SETSIG, SIGURG) == 0 &&
	    fcntl(fd, F_SETFL, O_ASYNC) == 0 && ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0)
		return fd;
	int errnum = errno;
	close(fd);
	errno = errnum;
	return -1;
}

/* Returns 0 or an errno. A thread that has ended needs no event. */
static int add_event(struct tracer *tr, struct tracee *tracee, unsigned n)
{
	if (tracee->state == TRACEE_GONE || tracee->watch_fd[n])
		return 0;
	int fd = tracer_watch_open_event(&tr->hardware.watches[n], tracee->tid);
	if (fd < 0)
		return errno == ESRCH ? 0 : errno;
	if (!tr->hardware.lowest_fd || fd < tr->hardware.lowest_fd)
		tr->hardware.lowest_fd = fd;
	if (fd > tr->hardware.highest_fd)
		tr->hardware.highest_fd = fd;
	tracee->watch_fd[n] = fd + 1;
	return 0;
}

static void remove_event(struct tracee *tracee, unsigned n)
{
	if (tracee->watch_fd[n])
		close(tracee->watch_fd[n] - 1);
	tracee->watch_fd[n] = 0;
	tracee->late &= ~(1U << n);
}

void tracer_watch_thread(struct tracer *tr, struct tracee *tracee)
{
	for (unsigned n = 0; n < TRACER_MAX_WATCHES; n++) {
		int errnum = tr->hardware.watches[n].len ? add_event(tr, tracee, n) : 0;

		if (errnum)
			tracer_keep_event(tr, (struct event){ .kind = EVENT_UNWATCHED,
			                                      .tid = tracee->tid,
			                                      .status = errnum });
	}
}

void tracer_unwatch_thread(struct tracee *tracee)
{
	for (unsigned n = 0; n < TRACER_MAX_WATCHES; n++)
		remove_event(tracee, n);
}

/* ---- requests ---- */

static bool is_same(const struct tracer_watch *a, const struct tracer_watch *b)
{
	return a->addr == b->addr && a->len == b->len && a->kind == b->kind;
}

static struct tracer_watch normal(const struct tracer_watch *w)
{
	struct tracer_watch ret = *w;

	if (w->kind == TRACER_EXECUTED)
		ret.len = 1;
	return ret;
}

static struct error *tracer_watch_refused(int errnum, const struct tracer_watch *w)
{
	switch (errnum) {
	case ENOSPC:
		return error_new(ERR_STATE,
		                 "the hardware breakpoints are in use by another debugger or perf");
	case EMFILE:
		return error_new(
			ERR_OS,
			"too many threads for the limit of open files: raise it (ulimit -n)");
	case ENOSYS:
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return error_new(ERR_UNSUPPORTED,
		                 "this kernel or virtual machine has no hardware breakpoints");
	case EINVAL:
		return error_new(
			ERR_UNSUPPORTED,
			"no hardware breakpoint of %u bytes can be at 0x%llx; the kernel must "
			"be Linux 5.13 or later",
			w->len, (unsigned long long)w->addr);
	case EACCES:
	case EPERM:
		break;
	default:
		return error_os(errnum, "setting a hardware breakpoint");
	}
	if (!proc_perf_is_for_users())
		return error_new(ERR_OS, "the kernel permits no hardware breakpoint: give asyncdbg "
		                         "CAP_PERFMON, or lower kernel.perf_event_paranoid to 2");
	return error_new(ERR_OS, "no hardware breakpoint is permitted: a seccomp filter or a "
	                         "security module forbids perf_event_open; run asyncdbg outside "
	                         "the container, or start the container with --cap-add=PERFMON");
}

static struct error *tracer_watch_check(const struct tracer_watch *w)
{
	if (w->len == 0 || w->len > MAX_LEN || (w->len & (w->len - 1)))
		return error_new(ERR_USAGE, "it has %u bytes: hardware can watch 1, 2, 4 or 8",
		                 w->len);
	if (w->addr % w->len)
		return error_new(ERR_USAGE, "the address 0x%llx is not a multiple of its %u bytes",
		                 (unsigned long long)w->addr, w->len);
	return NULL;
}

static void remove_watch(struct tracer *tr, unsigned n)
{
	for (size_t i = 0; i < tr->tracees.n; i++)
		remove_event(&tr->tracees.data[i], n);
	tr->hardware.watches[n] = (struct tracer_watch){ 0 };
	tracer_filter_set(&tr->hardware.filters[n], NULL, 0);
}

static void use_watch(struct tracer *tr, unsigned n, const struct tracer_watch *w)
{
	tr->hardware.watches[n] = *w;
	tr->hardware.watches[n].filters = NULL; /* the caller's */
	tracer_filter_set(&tr->hardware.filters[n], w->filters, w->nfilters);
}

struct error *tracer_watch(struct tracer *tr, const struct tracer_watch *w)
{
	const struct tracer_watch wanted = normal(w);
	unsigned n = TRACER_MAX_WATCHES;

	TRY(tracer_watch_check(&wanted));
	for (unsigned i = TRACER_MAX_WATCHES; i-- > 0;) {
		if (is_same(&tr->hardware.watches[i], &wanted)) {
			use_watch(tr, i, &wanted);
			return NULL;
		}
		if (!tr->hardware.watches[i].len)
			n = i;
	}
	if (n == TRACER_MAX_WATCHES)
		return error_new(ERR_STATE, "all %d hardware breakpoints of this CPU are in use",
		                 TRACER_MAX_WATCHES);
	file_raise_limit();
	use_watch(tr, n, &wanted);
	for (size_t i = 0; i < tr->tracees.n; i++) {
		struct tracee *tracee = &tr->tracees.data[i];
		int errnum = tracee->kept ? add_event(tr, tracee, n) : 0;

		if (errnum) {
			remove_watch(tr, n);
			return tracer_watch_refused(errnum, &wanted);
		}
	}
	return NULL;
}

void tracer_unwatch(struct tracer *tr, const struct tracer_watch *w)
{
	const struct tracer_watch wanted = normal(w);

	for (unsigned n = 0; n < TRACER_MAX_WATCHES; n++) {
		if (tr->hardware.watches[n].len && is_same(&tr->hardware.watches[n], &wanted))
			remove_watch(tr, n);
	}
}

void tracer_unwatch_all(struct tracer *tr)
{
	for (unsigned n = 0; n < TRACER_MAX_WATCHES; n++)
		remove_watch(tr, n);
}

/* ---- threads that hit one ---- */

static bool tracer_watch_is_at(const struct tracer_watch *w, uint64_t addr)
{
	return w->len && w->kind == TRACER_EXECUTED && w->addr == addr;
}

bool tracer_is_watched(const struct tracer *tr, uint64_t addr)
{
	for (unsigned n = 0; n < TRACER_MAX_WATCHES; n++) {
		if (tracer_watch_is_at(&tr->hardware.watches[n], addr))
			return true;
	}
	return false;
}

/* F_SETSIG: the code is what poll() would say, and si_fd the descriptor. */
static bool is_of_event(const struct tracer *tr, const siginfo_t *info)
{
	return info->si_signo == SIGURG &&
	       (info->si_code == POLL_IN || info->si_code == POLL_HUP) && tr->hardware.lowest_fd &&
	       info->si_fd >= tr->hardware.lowest_fd && info->si_fd <= tr->hardware.highest_fd;
}

bool tracer_is_hit_pending(struct tracer *tr, const struct tracee *tracee)
{
	enum { AT_ONCE = 16 };
	siginfo_t pending[AT_ONCE];
	struct __ptrace_peeksiginfo_args from = { .nr = AT_ONCE };
	uint64_t blocked;

	/* A thread with another signal to receive first would enter a handler. */
	if (!tr->hardware.lowest_fd || tracee->signal || tracee->group_stop)
		return false;
	for (;;) {
		long n = ptrace(PTRACE_PEEKSIGINFO, tracee->tid, &from, pending);

		for (long i = 0; i < n; i++) {
			if (is_of_event(tr, &pending[i]))
				return ptrace(PTRACE_GETSIGMASK, tracee->tid,
				              (void *)sizeof(blocked), &blocked) == 0 &&
				       !(blocked >> (SIGURG - 1) & 1);
		}
		if (n < AT_ONCE)
			return false;
		from.off += AT_ONCE;
	}
}

bool tracer_take_hit(struct tracer *tr, struct tracee *tracee)
{
	siginfo_t info;

	if (!tr->hardware.lowest_fd || tracee->signal != SIGURG ||
	    ptrace(PTRACE_GETSIGINFO, tracee->tid, NULL, &info) != 0 || !is_of_event(tr, &info))
		return false;
	for (unsigned n = 0; n < TRACER_MAX_WATCHES; n++) {
		if (tracee->watch_fd[n] == info.si_fd + 1)
			tracee->late |= 1U << n;
	}
	return true;
}

/*
 * Queues the event of a hit. False: it is not new, and the thread has left the breakpoint since; or
 * a filter lets the thread pass, which has its resume flag set.
 */
static bool report(struct tracer *tr, struct tracee *tracee, unsigned n, bool new)
{
	unsigned char regs[TRACER_MAX_USER_REGS];
	const struct tracer_watch *w = &tr->hardware.watches[n];
	struct glance g = { .tid = tracee->tid };
	bool executed = w->kind == TRACER_EXECUTED;
	bool there = executed && tracer_pc(tr, tracee->tid) == w->addr;

	tracee->late &= ~(1U << n);
	if (executed && !there && !new)
		return false;
	if (there && tracer_read_registers(tr, tracee->tid, regs) &&
	    !tracer_filter_matches(tr, &g, regs, &tr->hardware.filters[n])) {
		tracer_count_pass(tr, &tr->hardware.filters[n]);
		return false;
	}
	if (there)
		tracee->reported = w->addr;
	tracer_keep_event(tr, (struct event){ .kind = executed ? EVENT_BREAKPOINT : EVENT_WATCH,
	                                      .tid = tracee->tid,
	                                      .addr = w->addr,
	                                      .halted = true });
	return true;
}

bool tracer_report_hit(struct tracer *tr, const struct tracee *new)
{
	for (size_t i = 0; i < tr->tracees.n; i++) {
		struct tracee *tracee = &tr->tracees.data[i];

		for (unsigned n = 0; tracee->late && n < TRACER_MAX_WATCHES; n++) {
			if ((tracee->late >> n & 1) && tracee->state == TRACEE_STOPPED &&
			    report(tr, tracee, n, tracee == new))
				return true;
		}
	}
	return false;
}
