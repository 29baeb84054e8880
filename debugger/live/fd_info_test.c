/* Tests of file descriptors of live processes: sockets, epoll, and descriptors that change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "debugger/live/fd_info.h"
#include "debugger/target/target.h"
#include "debugger/test/child.h"

static void expect_ok(struct error *err)
{
	if (err)
		fail_msg("%s", err->message);
}

static struct target *open_child(const struct child *c)
{
	const struct target_options options = { 0 };
	struct target *t = NULL;

	expect_ok(target_live_open(c->pid, &options, &t));
	return t;
}

/* A bound TCP socket that listens; children inherit it. */
static int listen_on(const char *host, int family)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	bool is_v4 = family == AF_INET;
	int fd = socket(family, SOCK_STREAM, 0);

	assert_int_equal(inet_pton(family, host, is_v4 ? (void *)&v4.sin_addr : &v6.sin6_addr), 1);
	if (bind(fd, is_v4 ? (const struct sockaddr *)&v4 : (const struct sockaddr *)&v6,
	         is_v4 ? sizeof(v4) : sizeof(v6)) != 0 ||
	    listen(fd, 4) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

typedef int name_fn(int fd, struct sockaddr *addr, socklen_t *len);

/* The socket's own or its peer's address, as "127.0.0.1:80". */
static char *address_of(struct arena *a, int fd, name_fn *name)
{
	struct sockaddr_storage storage = { 0 };
	struct sockaddr *addr = (struct sockaddr *)&storage;
	socklen_t len = sizeof(storage);
	char text[INET6_ADDRSTRLEN];

	assert_int_equal(name(fd, addr, &len), 0);
	if (addr->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const void *)&storage;
		inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text));
		return arena_printf(a, "%s:%u", text, ntohs(v4->sin_port));
	}
	const struct sockaddr_in6 *v6 = (const void *)&storage;
	inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof(text));
	return arena_printf(a, "[%s]:%u", text, ntohs(v6->sin6_port));
}

static int connect_to(int listener)
{
	struct sockaddr_in addr;
	socklen_t len = sizeof(addr);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(getsockname(listener, (struct sockaddr *)&addr, &len), 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&addr, len), 0);
	return fd;
}

static void test_addresses(void **state)
{
	SCRATCH(a);
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	struct descriptor d;
	int fds[2];

	(void)state;
	int listener = listen_on("127.0.0.1", AF_INET), client = connect_to(listener);
	int local = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "asyncdbg-%d", (int)getpid());
	assert_int_equal(bind(local, (const struct sockaddr *)&name,
	                      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
	                                  strlen(name.sun_path + 1))),
	                 0);
	assert_int_equal(pipe(fds), 0);
	CHILD(c, NULL, child_pause);
	struct target *t CLEANUP(target_closep) = open_child(&c);

	expect_ok(target_stop(t));
	assert_true(fd_info_read(t, &a, listener, &d));
	assert_string_equal(d.what, "tcp");
	assert_string_equal(d.local, address_of(&a, listener, getsockname));
	assert_null(d.peer);
	assert_true(fd_info_read(t, &a, client, &d));
	assert_string_equal(d.local, address_of(&a, client, getsockname));
	assert_string_equal(d.peer, address_of(&a, client, getpeername));
	assert_true(fd_info_read(t, &a, local, &d));
	assert_string_equal(d.what, "unix");
	assert_string_equal(d.local, arena_printf(&a, "@asyncdbg-%d", (int)getpid()));
	assert_null(d.peer);
	assert_true(fd_info_read(t, &a, fds[0], &d));
	assert_memory_equal(d.what, "pipe:[", 6);
	assert_null(d.local);
	assert_false(fd_info_read(t, &a, 1000000, &d));
	assert_false(fd_info_read(t, &a, -1, &d));
	target_resume(t);
	close(listener);
	close(client);
	close(local);
	close(fds[0]);
	close(fds[1]);
}

static void test_ipv6(void **state)
{
	SCRATCH(a);
	struct descriptor d;

	(void)state;
	int listener = listen_on("::1", AF_INET6);
	if (listener < 0)
		skip();
	CHILD(c, NULL, child_pause);
	struct target *t CLEANUP(target_closep) = open_child(&c);

	expect_ok(target_stop(t));
	assert_true(fd_info_read(t, &a, listener, &d));
	assert_string_equal(d.local, address_of(&a, listener, getsockname));
	target_resume(t);
	close(listener);
}

/*
 * The child replaces changing_fd with other_fd when helper is 1, and then sets it to 2.
 */
static int changing_fd, other_fd;

static void child_changes_fd(void)
{
	while (atomic_load(&child_shared_->helper) != 1)
		sched_yield();
	dup2(other_fd, changing_fd);
	atomic_store(&child_shared_->helper, 2);
	child_pause();
}

static void listen_on_two(void)
{
	changing_fd = listen_on("127.0.0.1", AF_INET);
	other_fd = listen_on("127.0.0.1", AF_INET);
}

static void close_two(void)
{
	close(changing_fd);
	close(other_fd);
}

static void let_change(const struct child *c)
{
	atomic_store(&c->shared->helper, 1);
	while (atomic_load(&c->shared->helper) != 2)
		sched_yield();
}

static void stop_shortly(struct target *t)
{
	expect_ok(target_stop(t));
	target_resume(t);
}

/* After a stop a descriptor is known only if it was also seen before the stop. */
static void test_descriptor_that_changes(void **state)
{
	SCRATCH(a);
	struct descriptor d;

	(void)state;
	listen_on_two();
	CHILD(c, NULL, child_changes_fd);
	struct target *t CLEANUP(target_closep) = open_child(&c);

	stop_shortly(t);
	assert_false(fd_info_read(t, &a, changing_fd, &d));
	stop_shortly(t);
	assert_true(fd_info_read(t, &a, changing_fd, &d));
	assert_string_equal(d.local, address_of(&a, changing_fd, getsockname));
	let_change(&c);
	assert_false(fd_info_read(t, &a, changing_fd, &d));
	stop_shortly(t);
	assert_true(fd_info_read(t, &a, changing_fd, &d));
	assert_string_equal(d.local, address_of(&a, other_fd, getsockname));
	close_two();
}

/* One fd_info_look() before the stop is enough for all descriptors. */
static void test_looked_at_before_the_stop(void **state)
{
	SCRATCH(a);
	struct descriptor d;

	(void)state;
	listen_on_two();
	CHILD(c, NULL, child_changes_fd);
	struct target *t CLEANUP(target_closep) = open_child(&c);

	fd_info_look(t, false);
	stop_shortly(t);
	assert_true(fd_info_read(t, &a, changing_fd, &d));
	assert_string_equal(d.local, address_of(&a, changing_fd, getsockname));
	fd_info_look(t, false);
	let_change(&c);
	stop_shortly(t);
	assert_false(fd_info_read(t, &a, changing_fd, &d));
	assert_true(fd_info_read(t, &a, other_fd, &d));
	close_two();
}

static void watch(int epoll, int fd, uint64_t data)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = data };

	assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), 0);
}

static void test_epoll(void **state)
{
	int fds[2], one = epoll_create1(0), two = epoll_create1(0), fd;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	watch(one, fds[0], 0x7f0123456780);
	watch(one, fds[1], 0x1111);
	watch(two, fds[0], 0x1111);
	CHILD(c, NULL, child_pause);
	struct target *t CLEANUP(target_closep) = open_child(&c);

	stop_shortly(t);
	assert_false(fd_info_by_epoll_data(t, 0x7f0123456780, &fd));
	expect_ok(target_stop(t));
	assert_true(fd_info_by_epoll_data(t, 0x7f0123456780, &fd));
	assert_int_equal(fd, fds[0]);
	/* Two instances have different descriptors for it. */
	assert_false(fd_info_by_epoll_data(t, 0x1111, &fd));
	assert_false(fd_info_by_epoll_data(t, 0x2222, &fd));
	target_resume(t);
	close(one);
	close(two);
	close(fds[0]);
	close(fds[1]);
}

/* Runtimes of a single thread, one for each of many processors, have an instance each. */
static void test_many_epolls(void **state)
{
	enum { MANY = 200 };
	int fds[2], epolls[MANY], fd;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	for (int i = 0; i < MANY; i++) {
		epolls[i] = epoll_create1(0);
		watch(epolls[i], fds[0], 0x7f0000000000 + 16 * (uint64_t)i);
	}
	CHILD(c, NULL, child_pause);
	struct target *t CLEANUP(target_closep) = open_child(&c);

	expect_ok(target_stop(t));
	for (int i = 0; i < MANY; i++) {
		assert_true(fd_info_by_epoll_data(t, 0x7f0000000000 + 16 * (uint64_t)i, &fd));
		assert_int_equal(fd, fds[0]);
	}
	target_resume(t);
	for (int i = 0; i < MANY; i++)
		close(epolls[i]);
	close(fds[0]);
	close(fds[1]);
}

static const struct open_socket *socket_of(const struct open_socket *list, size_t n, int fd)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i].fd == fd)
			return &list[i];
	}
	return NULL;
}

static void test_all_sockets(void **state)
{
	SCRATCH(a);
	struct open_socket *list;
	bool more;
	int fds[2];

	(void)state;
	int listener = listen_on("127.0.0.1", AF_INET), client = connect_to(listener);
	int server = accept(listener, NULL, NULL);
	assert_int_equal(write(client, "12345", 5), 5);
	assert_int_equal(pipe(fds), 0);
	CHILD(c, NULL, child_pause);
	struct target *t CLEANUP(target_closep) = open_child(&c);

	fd_info_look(t, true);
	stop_shortly(t);
	size_t n = fd_info_sockets(t, &a, &list, &more);
	assert_false(more);
	assert_null(socket_of(list, n, fds[0]));
	const struct open_socket *s = socket_of(list, n, listener);
	assert_non_null(s);
	assert_string_equal(s->is.state, "listen");
	s = socket_of(list, n, server);
	assert_non_null(s);
	assert_string_equal(s->is.what, "tcp");
	assert_string_equal(s->is.state, "established");
	assert_string_equal(s->is.peer, address_of(&a, client, getsockname));
	assert_int_equal(s->is.unread, 5);
	assert_int_equal(s->is.unsent, 0);
	for (size_t i = 1; i < n; i++)
		assert_true(list[i - 1].fd < list[i].fd);
	close(listener);
	close(client);
	close(server);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_ipv6),
		cmocka_unit_test(test_descriptor_that_changes),
		cmocka_unit_test(test_looked_at_before_the_stop),
		cmocka_unit_test(test_epoll),
		cmocka_unit_test(test_many_epolls),
		cmocka_unit_test(test_all_sockets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
