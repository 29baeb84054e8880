/* Clients that `dap --listen` accepts. */
#include "commands/dap/wire/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "debugger/base/arena.h"
#include "debugger/base/file.h"

enum { NOBODY = 12345 };

static int connect_to(unsigned port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0 ? fd : -1;
}

/* A client that has sent something. */
static int speak_to(unsigned port)
{
	int fd = connect_to(port);

	return fd >= 0 && write(fd, "C", 1) == 1 ? fd : -1;
}

/* A client of another user, which goes away at once, or stays until it is ended. */
static pid_t start_client(unsigned port, bool stays)
{
	pid_t child = fork();

	if (child != 0)
		return child;
	if (setuid(NOBODY) != 0)
		_exit(1);
	int fd = stays ? speak_to(port) : connect_to(port);
	if (stays)
		pause();
	close(fd);
	_exit(fd < 0);
}

static bool accept_trusted(struct listener *l, int *fd)
{
	bool is_trusted;

	assert_null(listener_accept(l, fd, &is_trusted));
	return is_trusted;
}

static void test_a_port_trusts_its_own_user(void **state)
{
	struct listener l CLEANUP(listener_close) = { 0 };
	int fd CLEANUP(file_close) = -1, yes = 0;
	socklen_t len = sizeof(yes);

	(void)state;
	assert_null(listener_open("127.0.0.1:0", &l));
	assert_int_not_equal(l.port, 0);
	int client CLEANUP(file_close) = speak_to(l.port);
	assert_true(client >= 0);
	assert_true(accept_trusted(&l, &fd));
	assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, &len), 0);
	assert_true(yes);
	assert_int_equal(strlen(l.token), LISTENER_TOKEN);
	assert_true(listener_knows_token(&l, l.token));
	assert_false(listener_knows_token(&l, NULL));
	assert_false(listener_knows_token(&l, ""));
	assert_false(listener_knows_token(&l, "00000000000000000000000000000000"));
}

/* Once it is closed, the kernel shows the socket of another user as one of root. */
static void test_a_port_does_not_trust_others(void **state)
{
	struct listener l CLEANUP(listener_close) = { 0 };
	int status;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_null(listener_open("127.0.0.1:0", &l));
	for (unsigned stays = 0; stays < 2; stays++) {
		int fd CLEANUP(file_close) = -1;
		pid_t child = start_client(l.port, stays);

		if (!stays)
			assert_int_equal(waitpid(child, &status, 0), child);
		assert_false(accept_trusted(&l, &fd));
		if (stays) {
			kill(child, SIGKILL);
			waitpid(child, &status, 0);
		}
	}
}

/* More connections that say nothing than may wait keep out no client that speaks. */
static void test_idle_connections_keep_nobody_out(void **state)
{
	struct listener l CLEANUP(listener_close) = { 0 };
	int idle[LISTENER_WAITING + 4], fd CLEANUP(file_close) = -1;
	char byte = 0;

	(void)state;
	assert_null(listener_open("127.0.0.1:0", &l));
	for (size_t i = 0; i < LISTENER_WAITING; i++)
		assert_true((idle[i] = connect_to(l.port)) >= 0);
	int client CLEANUP(file_close) = speak_to(l.port);
	assert_true(accept_trusted(&l, &fd));
	assert_int_equal(read(fd, &byte, 1), 1);
	assert_int_equal(byte, 'C');
	/* A client of another user that speaks waits for one of ours. */
	if (geteuid() == 0) {
		pid_t child = start_client(l.port, true);
		int ours CLEANUP(file_close) = -1, theirs CLEANUP(file_close) = -1, status;

		assert_false(accept_trusted(&l, &theirs));
		file_close(&theirs);
		theirs = -1;
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		child = start_client(l.port, true);
		int next CLEANUP(file_close) = speak_to(l.port);
		assert_true(accept_trusted(&l, &ours));
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
	}
	for (size_t i = 0; i < LISTENER_WAITING; i++)
		close(idle[i]);
}

static int connect_to_path(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(at.sun_path, path);
	return connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0 ? fd : -1;
}

static void test_a_socket_is_its_owners(void **state)
{
	char directory[] = "/tmp/listener_test.XXXXXX", path[64];
	struct listener l CLEANUP(listener_close) = { 0 };
	int fd CLEANUP(file_close) = -1, status;
	struct listener second = { 0 };
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(directory));
	assert_int_equal(chmod(directory, 0755), 0);
	snprintf(path, sizeof(path), "%s/socket", directory);
	assert_null(listener_open(path, &l));
	assert_int_equal(l.port, 0);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0600);
	/* The socket is in use. */
	struct error *err CLEANUP(error_freep) = listener_open(path, &second);
	assert_non_null(err);
	assert_int_equal(err->errnum, EADDRINUSE);
	int client CLEANUP(file_close) = connect_to_path(path);
	assert_true(client >= 0);
	assert_int_equal(write(client, "C", 1), 1);
	assert_true(accept_trusted(&l, &fd));
	if (geteuid() == 0) {
		pid_t child = fork();

		if (child == 0)
			_exit(setuid(NOBODY) == 0 && connect_to_path(path) < 0 && errno == EACCES
			              ? 0
			              : 1);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	/* A socket that a process left behind is replaced; another file is not. */
	close(l.fd);
	l.fd = -1;
	free(l.name);
	l.name = NULL;
	assert_null(listener_open(path, &second));
	listener_close(&second);
	assert_int_equal(lstat(path, &st), -1);
	assert_int_equal(symlink("elsewhere", path), 0);
	struct error *link CLEANUP(error_freep) = listener_open(path, &second);
	assert_non_null(link);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(directory), 0);
}

static void test_words(void **state)
{
	static const char *const bad[] = { "0.0.0.0:0", "192.0.2.1:0", "x", "127.0.0.1:99999",
		                           ":1",        "127.0.0.1",   "" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct error *err CLEANUP(error_freep) = listener_check(bad[i]);

		assert_non_null(err);
		assert_int_equal(err->kind, ERR_USAGE);
	}
	assert_null(listener_check("127.0.0.1:0"));
	assert_null(listener_check("[::1]:4711"));
	assert_null(listener_check("./socket"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_port_trusts_its_own_user),
		cmocka_unit_test(test_a_port_does_not_trust_others),
		cmocka_unit_test(test_idle_connections_keep_nobody_out),
		cmocka_unit_test(test_a_socket_is_its_owners),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
