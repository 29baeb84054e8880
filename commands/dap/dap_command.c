/* dap: a server for editors, on standard input and output or on a port of this machine. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "commands/dap/dap.h"
#include "commands/dap/server.h"
#include "debugger/base/file.h"

/* Parses "127.0.0.1:4711" or "[::1]:4711"; another machine may not connect. */
static struct error *read_address(const char *text, struct sockaddr_storage *ret, socklen_t *len)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;
	const char *colon = strrchr(text, ':');
	uint64_t port = 0;

	*ret = (struct sockaddr_storage){ 0 };
	if (colon)
		TRY(words_number(colon + 1, "a port", 65535, &port));
	size_t host = colon ? (size_t)(colon - text) : 0;
	if ((host == 9 && strncmp(text, "127.0.0.1", host) == 0) ||
	    (host == 9 && strncmp(text, "localhost", host) == 0)) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)port);
		v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		*len = sizeof(*v4);
	} else if (host == 5 && strncmp(text, "[::1]", host) == 0) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)port);
		v6->sin6_addr = in6addr_loopback;
		*len = sizeof(*v6);
	} else {
		return error_new(ERR_USAGE, "--listen takes an address of this machine and a port: "
		                            "127.0.0.1:4711 or [::1]:4711");
	}
	return NULL;
}

static struct error *check(const struct call *call)
{
	const char *listen_at = option_value(call, "listen");
	struct sockaddr_storage address;
	socklen_t len;

	return listen_at ? read_address(listen_at, &address, &len) : NULL;
}

static unsigned port_of(int fd)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);

	if (getsockname(fd, (struct sockaddr *)&at, &len) != 0)
		return 0;
	return ntohs(at.ss_family == AF_INET ? ((struct sockaddr_in *)&at)->sin_port
	                                     : ((struct sockaddr_in6 *)&at)->sin6_port);
}

/* Waits for one client. */
static struct error *accept_one(const char *text, FILE *messages, int *ret)
{
	int fd CLEANUP(file_close) = -1, yes = 1;
	struct sockaddr_storage address;
	socklen_t len;

	TRY(read_address(text, &address, &len));
	fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_os(errno, "%s", text);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, (struct sockaddr *)&address, len) != 0 || listen(fd, 1) != 0)
		return error_os(errno, "%s", text);
	fprintf(messages, "asyncdbg: waiting for a client on port %u\n", port_of(fd));
	fflush(messages);
	while ((*ret = accept4(fd, NULL, NULL, SOCK_CLOEXEC)) < 0) {
		if (errno != EINTR)
			return error_os(errno, "%s", text);
		TRY(interrupt_check());
	}
	return NULL;
}

/* Standard output is the client's: nothing else may write to it. */
static struct error *take_output(int *ret)
{
	*ret = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (*ret < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return error_os(errno, "standard output");
	return NULL;
}

static void free_dap(struct dap **d)
{
	free(*d);
}

static struct error *run_dap(struct session *s, const struct answer *answer,
                             const struct call *call, struct out *out)
{
	const char *listen_at = option_value(call, "listen");
	struct dap *d CLEANUP(free_dap) = alloc_zeroed(sizeof(*d)); /* s->answer is reset */
	int fd CLEANUP(file_close) = -1;

	(void)answer;
	*d = (struct dap){ .s = s, .call = call, .table = dap_table };
	if (listen_at)
		TRY(accept_one(listen_at, out->options.messages, &fd));
	else
		TRY(take_output(&fd));
	return dap_serve(d, listen_at ? fd : STDIN_FILENO, fd);
}

static const struct command_option options[] = {
	{ "listen", "ADDRESS", false, "Wait for a client on this port of this machine" },
	{ 0 },
};

const struct command dap_command = {
	.name = "dap",
	.options = options,
	.check = check,
	.summary = "Serve an editor: the Debug Adapter Protocol on standard input and output",
	.help = "    For VS Code, Neovim, Emacs, Zed and others; docs/editors.md has settings for\n"
		"    them. ADDRESS is 127.0.0.1:PORT or [::1]:PORT: one client is served, and\n"
		"    every user of this machine can be it.",
	.offline = true,
	.run = run_dap,
};
