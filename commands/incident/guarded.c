#include "commands/incident/guarded.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "commands/incident/patient_file.h"
#include "debugger/base/arena.h"
#include "debugger/base/clock.h"
#include "debugger/base/file.h"
#include "debugger/host/process_list.h"

enum {
	LOOK_MS = 200, /* between two looks at the times of files */
	TTY_PRECISION_S =
		8, /* precision of a terminal's time of change: tty_update_time() of the kernel */
	MAX_ROUNDS = 1000, /* rounds of ending processes that start others */
	ROUND_MS = 20,
};

/* ---- output ---- */

static struct error *open_output(struct guarded_output *o, int fd)
{
	struct stat st;

	*o = (struct guarded_output){ .fd = fd, .ends = { -1, -1 } };
	if (fstat(fd, &st) != 0)
		return NULL;
	o->last_change = st.st_mtim;
	o->kind = S_ISREG(st.st_mode) ? OUTPUT_TIME : isatty(fd) ? OUTPUT_TTY : OUTPUT_RELAY;
	if (o->kind == OUTPUT_RELAY && pipe2(o->ends, O_CLOEXEC) != 0)
		return error_os(errno, "a pipe for the output");
	return NULL;
}

/* Whether these are one file, so that writes to both stay in order. */
static bool guarded_is_same_file(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

static struct error *open_outputs(struct guarded *g)
{
	if (g->limits.silence <= 0)
		return NULL;
	TRY(open_output(&g->outputs[0], STDOUT_FILENO));
	if (!guarded_is_same_file(STDOUT_FILENO, STDERR_FILENO))
		return open_output(&g->outputs[1], STDERR_FILENO);
	return NULL;
}

static void guarded_close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Reads from the pipe, where there is room; false at its end. */
static bool guarded_take_output(struct guarded_output *o)
{
	if (o->len == sizeof(o->waiting))
		return true;
	ssize_t n = read(o->ends[0], o->waiting + o->len, sizeof(o->waiting) - o->len);

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	o->len += (size_t)n;
	return n > 0;
}

/* Passes on as much as can be written without blocking. */
static void guarded_pass_output(struct guarded_output *o)
{
	while (o->len) {
		ssize_t n = patient_file_write(o->fd, o->waiting, o->len);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0 && errno != EINTR) {
			o->len = 0; /* the reader is gone */
			guarded_close_end(&o->ends[0]);
			return;
		}
		o->len -= n > 0 ? (size_t)n : 0;
		memmove(o->waiting, o->waiting + (n > 0 ? n : 0), o->len);
	}
}

bool guarded_is_unread(const struct guarded *g)
{
	return g->outputs[0].len || g->outputs[1].len;
}

/* Whether the file was written to since the last call. */
static bool has_changed(struct guarded_output *o)
{
	struct stat st;

	if (o->kind != OUTPUT_TIME && o->kind != OUTPUT_TTY)
		return false;
	if (fstat(o->fd, &st) != 0 || memcmp(&st.st_mtim, &o->last_change, sizeof(st.st_mtim)) == 0)
		return false;
	o->last_change = st.st_mtim;
	return true;
}

/* Reads from the pipes without blocking, and passes on as much as can be written. */
static void guarded_drain(struct guarded *g)
{
	for (size_t i = 0; i < 2; i++) {
		struct guarded_output *o = &g->outputs[i];

		if (o->kind != OUTPUT_RELAY)
			continue;
		if (o->ends[0] >= 0)
			fcntl(o->ends[0], F_SETFL, O_NONBLOCK);
		guarded_pass_output(o);
		struct pollfd more = { o->ends[0], POLLIN, 0 };
		while (o->len < sizeof(o->waiting) && o->ends[0] >= 0 && poll(&more, 1, 0) > 0) {
			if (!guarded_take_output(o))
				guarded_close_end(&o->ends[0]);
			guarded_pass_output(o);
		}
	}
}

/* The command has ended: its reader gets all of it, as long as it takes, as without guard. */
static void pass_rest(struct guarded *g)
{
	for (size_t i = 0; i < 2; i++) {
		struct pollfd ready = { g->outputs[i].fd, POLLOUT, 0 };

		do {
			guarded_drain(g);
		} while (g->outputs[i].len && (poll(&ready, 1, -1) > 0 || errno == EINTR));
	}
}

/* ---- the command ---- */

static void guarded_catch_signals(struct guarded *g)
{
	sigset_t caught;

	sigemptyset(&caught);
	sigaddset(&caught, SIGCHLD);
	sigaddset(&caught, SIGINT);
	sigaddset(&caught, SIGQUIT);
	sigaddset(&caught, SIGTERM);
	sigaddset(&caught, SIGHUP);
	sigaddset(&caught, SIGUSR1);
	sigaddset(&caught, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &caught, &g->mask);
	g->signals = signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* A copy of the words: posix_spawnp() takes them as writable. */
static char **copy_words(struct arena *a, const char *const *argv)
{
	size_t n = 0;

	while (argv[n])
		n++;
	char **copy = NEW_ARRAY(a, char *, n + 1);
	for (size_t i = 0; i < n; i++)
		copy[i] = arena_strdup(a, argv[i]);
	return copy;
}

static int guarded_spawn(struct guarded *g, const char *const *argv)
{
	SCRATCH(tmp);
	extern char **environ;
	char **words = copy_words(&tmp, argv);
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t defaults;

	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	sigaddset(&defaults, SIGINT);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setsigmask(&attributes, &g->mask);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_init(&files);
	for (size_t i = 0; i < 2; i++) {
		const struct guarded_output *o = &g->outputs[i];

		if (o->kind == OUTPUT_RELAY)
			posix_spawn_file_actions_adddup2(&files, o->ends[1], o->fd);
	}
	if (g->outputs[0].kind == OUTPUT_RELAY && g->outputs[1].kind == OUTPUT_NONE)
		posix_spawn_file_actions_adddup2(&files, g->outputs[0].ends[1], STDERR_FILENO);
	int failed = posix_spawnp(&g->pid, argv[0], &files, &attributes, words, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return failed;
}

struct error *guarded_start(struct guarded *g, const char *const *argv,
                            const struct guarded_limits *limits)
{
	*g = (struct guarded){ .limits = *limits, .signals = -1 };
	for (size_t i = 0; i < 2; i++)
		g->outputs[i] = (struct guarded_output){ .ends = { -1, -1 } };
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	guarded_catch_signals(g);
	TRY(open_outputs(g));
	int failed = guarded_spawn(g, argv);
	for (size_t i = 0; i < 2; i++)
		guarded_close_end(&g->outputs[i].ends[1]);
	if (failed) {
		g->pid = 0;
		return error_os(failed, "%s", argv[0]);
	}
	g->started_ns = g->last_output_ns = clock_now_ns();
	return NULL;
}

/* Takes the statuses of all children that have ended, also of those that were not started here. */
static void guarded_reap(struct guarded *g)
{
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != g->pid)
			continue;
		g->ended = true;
		g->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	}
	if (pid < 0 && errno == ECHILD && !g->ended) {
		g->ended = true;
		g->status = 128 + SIGKILL;
	}
}

static void take_signals(struct guarded *g)
{
	struct signalfd_siginfo info;

	while (read(g->signals, &info, sizeof(info)) == sizeof(info)) {
		/* A signal of the terminal goes to the command by itself. */
		if (info.ssi_signo != SIGCHLD && info.ssi_code != SI_KERNEL && g->pid && !g->ended)
			kill(g->pid, (int)info.ssi_signo);
	}
	guarded_reap(g);
}

/* Seconds until a limit; *which is the limit. */
static double time_left(const struct guarded *g, enum guarded_end *which)
{
	uint64_t now = clock_now_ns();
	double left = 1e9;

	*which = GUARDED_TIMEOUT;
	if (g->limits.timeout > 0)
		left = g->limits.timeout - (double)clock_between(g->started_ns, now) * 1e-9;
	if (g->limits.silence > 0) {
		bool tty = g->outputs[0].kind == OUTPUT_TTY || g->outputs[1].kind == OUTPUT_TTY;
		double silent = g->limits.silence + (tty ? TTY_PRECISION_S : 0) -
		                (double)clock_between(g->last_output_ns, now) * 1e-9;

		if (silent < left) {
			*which = GUARDED_SILENT;
			left = silent;
		}
	}
	return left;
}

/* Waits for output, a signal or the time of the next look. */
static struct error *wait_once(struct guarded *g, double left)
{
	struct pollfd ready[5] = { { g->signals, POLLIN, 0 } };
	int wait = left * 1e3 < LOOK_MS ? (int)(left * 1e3) + 1 : LOOK_MS;

	for (size_t i = 0; i < 2; i++) {
		const struct guarded_output *o = &g->outputs[i];

		ready[1 + i] =
			(struct pollfd){ o->len < sizeof(o->waiting) ? o->ends[0] : -1, POLLIN, 0 };
		ready[3 + i] = (struct pollfd){ o->len ? o->fd : -1, POLLOUT, 0 };
	}
	if (poll(ready, 5, wait) < 0 && errno != EINTR)
		return error_os(errno, "poll");
	for (size_t i = 0; i < 2; i++) {
		struct guarded_output *o = &g->outputs[i];
		bool heard = ready[1 + i].revents != 0;

		if (heard && !guarded_take_output(o))
			guarded_close_end(&o->ends[0]);
		guarded_pass_output(o);
		if (heard || has_changed(o))
			g->last_output_ns = clock_now_ns();
	}
	take_signals(g);
	return NULL;
}

struct error *guarded_wait(struct guarded *g, enum guarded_end *ret)
{
	enum guarded_end which;

	while (!g->ended) {
		double left = time_left(g, &which);

		if (left <= 0) {
			guarded_drain(g);
			*ret = which;
			return NULL;
		}
		TRY(wait_once(g, left));
	}
	pass_rest(g);
	*ret = GUARDED_ENDED;
	return NULL;
}

/* ---- the end ---- */

/*
 * Signals a process of the list and no other: its pid may have a new owner by now, as a grandchild
 * is reaped by its own parent. A pidfd stays with its process, and the start time says that it is
 * the one that was listed.
 */
static void signal_one(const struct process *p, int signal)
{
	int fd CLEANUP(file_close) = (int)syscall(SYS_pidfd_open, p->pid, 0);
	bool has_pidfds = fd >= 0 || errno != ENOSYS; /* since Linux 5.3 */

	if (!signal || (fd < 0 && has_pidfds) || !process_is_there(p))
		return;
	/* A stopped process takes no signal but SIGKILL until it continues. */
	const int signals[] = { signal, signal == SIGTERM ? SIGCONT : 0 };
	for (size_t i = 0; i < 2 && signals[i]; i++) {
		if (has_pidfds)
			syscall(SYS_pidfd_send_signal, fd, signals[i], NULL, 0);
		else
			kill(p->pid, signals[i]);
	}
}

static size_t guarded_signal_all(int signal)
{
	SCRATCH(tmp);
	struct process_list list;
	struct error *err CLEANUP(error_freep) = process_list_read(&tmp, &list);
	size_t n = 0;

	if (err)
		return 0;
	bool *below = NEW_ARRAY(&tmp, bool, list.n);
	process_list_below(&list, getpid(), below);
	for (size_t i = 0; i < list.n; i++) {
		if (!below[i] || list.data[i].zombie)
			continue;
		n++;
		signal_one(&list.data[i], signal);
	}
	return n;
}

void guarded_end_all(struct guarded *g, double grace)
{
	const struct timespec pause = { .tv_nsec = ROUND_MS * 1000000 };
	uint64_t until = clock_now_ns() + (uint64_t)(grace * 1e9);
	size_t left = guarded_signal_all(SIGTERM);

	while (left && clock_now_ns() < until) {
		nanosleep(&pause, NULL);
		guarded_drain(g);
		guarded_reap(g);
		left = guarded_signal_all(0);
	}
	/* While some are ended, others may start more. */
	for (int i = 0; left && i < MAX_ROUNDS; i++) {
		left = guarded_signal_all(SIGKILL);
		nanosleep(&pause, NULL);
		guarded_drain(g);
		guarded_reap(g);
	}
}

void guarded_close(struct guarded *g)
{
	for (size_t i = 0; i < 2; i++) {
		guarded_close_end(&g->outputs[i].ends[0]);
		guarded_close_end(&g->outputs[i].ends[1]);
	}
	guarded_close_end(&g->signals);
	pthread_sigmask(SIG_SETMASK, &g->mask, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}
