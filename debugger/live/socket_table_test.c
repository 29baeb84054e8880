/* Tests of the sockets of a network namespace: by sock_diag and from /proc. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "debugger/live/sock_diag.h"
#include "debugger/live/socket_table.h"

static uint64_t inode_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_ino;
}

static struct descriptor find(const struct socket_table *t, int fd)
{
	struct descriptor d;

	assert_true(socket_table_find(t, inode_of(fd), &d));
	return d;
}

/* Does sock_diag answer here? A sandbox may deny it. */
static bool has_sock_diag(void)
{
	int netlink = sock_diag_open(getpid());

	if (netlink >= 0)
		close(netlink);
	return netlink >= 0;
}

/* Writes until the queue is full, without blocking. */
static size_t fill(int fd)
{
	static char bytes[16384];
	size_t total = 0;

	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	for (ssize_t n; (n = write(fd, bytes, sizeof(bytes))) > 0;)
		total += (size_t)n;
	return total;
}

struct tcp_pair {
	int listener, client, server;
};

static struct tcp_pair connect_tcp(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
		                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct tcp_pair p = { .listener = socket(AF_INET, SOCK_STREAM, 0),
		              .client = socket(AF_INET, SOCK_STREAM, 0) };
	socklen_t len = sizeof(addr);

	assert_int_equal(bind(p.listener, (const struct sockaddr *)&addr, len), 0);
	assert_int_equal(listen(p.listener, 4), 0);
	assert_int_equal(getsockname(p.listener, (struct sockaddr *)&addr, &len), 0);
	assert_int_equal(connect(p.client, (const struct sockaddr *)&addr, len), 0);
	p.server = accept(p.listener, NULL, NULL);
	assert_true(p.server >= 0);
	return p;
}

static void close_tcp(const struct tcp_pair *p)
{
	close(p->listener);
	close(p->client);
	close(p->server);
}

/* A peer that does not read: its window closes, and bytes stay in the queue. */
static void test_slow_reader(void **state)
{
	struct socket_table t = { 0 };

	(void)state;
	if (!has_sock_diag())
		skip();
	struct tcp_pair p = connect_tcp();
	size_t written = fill(p.server);
	socket_table_read(&t, getpid());
	struct descriptor from = find(&t, p.server), to = find(&t, p.client);
	assert_string_equal(from.what, "tcp");
	assert_string_equal(from.state, "established");
	assert_string_equal(from.local, to.peer);
	assert_true(from.unsent > 0);
	/* Bytes that are received but not acknowledged are in both queues. */
	assert_true(from.unsent + to.unread >= written);
	assert_true(from.unacknowledged >= 0);
	assert_true((uint64_t)from.unacknowledged < from.unsent);
	assert_true(from.peer_window >= 0 && (uint64_t)from.peer_window < written);
	assert_true(from.retransmits >= 0);
	assert_int_equal(to.unsent, 0);
	struct descriptor listener = find(&t, p.listener);
	assert_string_equal(listener.state, "listen");
	assert_null(listener.peer);
	assert_int_equal(listener.unsent, 0);
	assert_int_equal(listener.retransmits, -1);
	socket_table_free(&t);
	close_tcp(&p);
}

static void test_unix_peer(void **state)
{
	struct socket_table t = { 0 };
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
	char text[128];

	(void)state;
	if (!has_sock_diag())
		skip();
	int chars = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "asyncdbg-table-%d",
	                     (int)getpid());
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)chars);
	assert_int_equal(bind(listener, (const struct sockaddr *)&name, len), 0);
	assert_int_equal(listen(listener, 4), 0);
	assert_int_equal(connect(client, (const struct sockaddr *)&name, len), 0);
	int server = accept(listener, NULL, NULL);
	assert_int_equal(write(client, "12345", 5), 5);
	socket_table_read(&t, getpid());
	snprintf(text, sizeof(text), "@%s", name.sun_path + 1);
	struct descriptor d = find(&t, client);
	assert_string_equal(d.what, "unix");
	assert_null(d.local);
	assert_string_equal(d.peer, text);
	assert_int_equal(d.unsent, 5);
	assert_int_equal(d.unread, 0);
	assert_int_equal(d.unacknowledged, -1);
	d = find(&t, server);
	assert_string_equal(d.local, text);
	assert_null(d.peer);
	assert_int_equal(d.unsent, 0);
	assert_int_equal(d.unread, 5);
	socket_table_free(&t);
	close(listener);
	close(client);
	close(server);
}

static void same_text(const char *a, const char *b)
{
	assert_true(!a == !b);
	if (a)
		assert_string_equal(a, b);
}

/* /proc has the same sockets, without what only sock_diag reports. */
static void test_proc_agrees(void **state)
{
	struct socket_table diag = { 0 }, proc = { 0 };

	(void)state;
	struct tcp_pair p = connect_tcp();
	assert_int_equal(write(p.client, "12345", 5), 5);
	socket_table_read(&diag, getpid());
	socket_table_read_proc(&proc, getpid());
	const int fds[] = { p.listener, p.client, p.server };
	for (size_t i = 0; i < 3; i++) {
		struct descriptor a = find(&diag, fds[i]), b = find(&proc, fds[i]);

		same_text(a.local, b.local);
		same_text(a.peer, b.peer);
		same_text(a.state, b.state);
		assert_int_equal(a.unread, b.unread);
		assert_int_equal(b.unacknowledged, -1);
		assert_int_equal(b.retransmits, -1);
		assert_int_equal(b.peer_window, -1);
	}
	assert_int_equal(find(&proc, p.server).unread, 5);
	socket_table_free(&diag);
	socket_table_free(&proc);
	close_tcp(&p);
}

/* A child in a network namespace of its own listens; returns its end of a pipe, or -1. */
static pid_t fork_listener(int *inode_pipe)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	if (pid == 0) {
		uint64_t inode = 0;
		int fd;

		if (unshare(CLONE_NEWNET) == 0 && (fd = socket(AF_INET, SOCK_STREAM, 0)) >= 0 &&
		    listen(fd, 1) == 0)
			inode = inode_of(fd);
		if (write(fds[1], &inode, sizeof(inode)) == sizeof(inode))
			pause();
		_exit(0);
	}
	close(fds[1]);
	*inode_pipe = fds[0];
	return pid;
}

static void test_other_namespace(void **state)
{
	struct socket_table t = { 0 };
	struct descriptor d;
	uint64_t inode = 0;
	int pipe_end;

	(void)state;
	pid_t pid = fork_listener(&pipe_end);
	assert_true(pid > 0);
	assert_int_equal(read(pipe_end, &inode, sizeof(inode)), sizeof(inode));
	bool found = false;
	if (inode) {
		socket_table_read(&t, getpid());
		assert_false(socket_table_find(&t, inode, &d));
		socket_table_read(&t, pid);
		found = socket_table_find(&t, inode, &d);
		if (found)
			assert_string_equal(d.state, "listen");
		socket_table_free(&t);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(pipe_end);
	if (!inode)
		skip();
	assert_true(found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slow_reader),
		cmocka_unit_test(test_unix_peer),
		cmocka_unit_test(test_proc_agrees),
		cmocka_unit_test(test_other_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
