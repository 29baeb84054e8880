#include "debugger/live/served_reader.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	WAIT_MS = 500,
	ALARM_S = 2, /* after which the process ends itself, however long it would have to wait */
	LAST_FD = 4096,
};

struct served_reader_request {
	pid_t pid;
	size_t len;
	uint64_t addr;
};

struct answer_head {
	ssize_t n;
	int errnum;
};

struct served_reader_answer {
	struct answer_head head;
	unsigned char bytes[SERVED_READER_MAX];
};

/* ---- the process: system calls alone, as it comes from one with threads ---- */

/* Files of ours would stay open with it, such as a pipe whose reader waits for its end. */
static void close_others(int fd)
{
	bool done = syscall(SYS_close_range, fd + 1, ~0U, 0) == 0 &&
	            (fd == 0 || syscall(SYS_close_range, 0, fd - 1, 0) == 0);

	for (int i = 0; !done && i < LAST_FD; i++) {
		if (i != fd)
			close(i);
	}
}

static void read_memory_of(const struct served_reader_request *r, struct served_reader_answer *ret)
{
	struct iovec local = { ret->bytes, r->len };
	struct iovec remote = { (void *)(uintptr_t)r->addr, r->len };

	/* A signal that ends a process is the only thing that ends a wait for such a page. */
	alarm(ALARM_S);
	ret->head.n = process_vm_readv(r->pid, &local, 1, &remote, 1, 0);
	ret->head.errnum = errno;
	alarm(0);
}

static _Noreturn void answer_requests(int fd)
{
	const struct sigaction end = { .sa_handler = SIG_DFL };
	static struct served_reader_answer answer;
	struct served_reader_request r;
	sigset_t all;

	close_others(fd);
	sigaction(SIGALRM, &end, NULL);
	sigfillset(&all);
	sigdelset(&all, SIGALRM);
	sigprocmask(SIG_SETMASK, &all, NULL);
	while (recv(fd, &r, sizeof(r), 0) == (ssize_t)sizeof(r)) {
		read_memory_of(&r, &answer);
		size_t bytes = answer.head.n > 0 ? (size_t)answer.head.n : 0;

		if (send(fd, &answer, sizeof(answer.head) + bytes, MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

/* ---- in asyncdbg ---- */

/* The process is nobody's child: no wait for children sees it. */
void served_reader_start(struct served_reader *r)
{
	int fds[2];

	if (r->socket >= 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
		return;
	pid_t pid = fork();
	if (pid == 0) {
		if (fork() == 0)
			answer_requests(fds[1]);
		_exit(0);
	}
	close(fds[1]);
	if (pid > 0)
		waitpid(pid, NULL, __WALL);
	r->socket = fds[0];
}

/* A reader that has closed its end, or does not answer in time, is left behind. */
static ssize_t take_answer(int fd, void *buf, size_t len)
{
	struct pollfd ready = { fd, POLLIN, 0 };
	struct answer_head head;
	struct iovec parts[2] = { { &head, sizeof(head) }, { buf, len } };
	int n;

	while ((n = poll(&ready, 1, WAIT_MS)) < 0 && errno == EINTR)
		;
	if (n > 0 && readv(fd, parts, 2) >= (ssize_t)parts[0].iov_len) {
		errno = head.errnum;
		return head.n;
	}
	errno = EAGAIN;
	return -1;
}

ssize_t served_reader_read(struct served_reader *r, pid_t pid, uint64_t addr, void *buf, size_t len)
{
	const struct served_reader_request request = { .pid = pid, .len = len, .addr = addr };

	served_reader_start(r);
	if (send(r->socket, &request, sizeof(request), MSG_NOSIGNAL) < 0) {
		served_reader_close(r); /* it has ended */
		served_reader_start(r);
		if (send(r->socket, &request, sizeof(request), MSG_NOSIGNAL) < 0)
			return -1;
	}
	ssize_t n = take_answer(r->socket, buf, len);
	if (n < 0 && errno == EAGAIN) {
		served_reader_close(r);
		errno = EAGAIN;
	}
	return n;
}

void served_reader_close(struct served_reader *r)
{
	if (r->socket >= 0)
		close(r->socket);
	r->socket = -1;
}
