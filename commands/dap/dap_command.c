/* dap: a server for editors, on standard input and output, a socket or a port of this machine. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands/dap/dap.h"
#include "commands/dap/server.h"
#include "commands/dap/wire/listener.h"
#include "debugger/base/file.h"

static struct error *dap_check(const struct call *call)
{
	const char *listen_at = option_value(call, "listen");

	return listen_at ? listener_check(listen_at) : NULL;
}

/* Standard output is the client's: nothing else may write to it. */
static struct error *dap_take_output(int *ret)
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

static void say_where(FILE *messages, const char *text, const struct listener *l)
{
	if (l->port)
		fprintf(messages,
		        "asyncdbg: waiting for a client on port %u\n"
		        "asyncdbg: clients of other users need \"token\": \"%s\" in launch or "
		        "attach\n",
		        l->port, l->token);
	else
		fprintf(messages, "asyncdbg: waiting for a client on %s\n", text);
	fflush(messages);
}

/* Serves the first client that is ours or knows the token, and that speaks the protocol at all. */
static struct error *serve_client(struct dap *d, const struct dap *initial, const char *text,
                                  FILE *messages)
{
	struct listener l CLEANUP(listener_close) = { 0 };
	struct error *err;

	TRY(listener_open(text, &l));
	say_where(messages, text, &l);
	do {
		int fd CLEANUP(file_close) = -1;
		bool is_trusted;

		TRY(listener_accept(&l, &fd, &is_trusted));
		*d = *initial;
		d->listener = &l;
		d->is_stranger = !is_trusted;
		err = dap_serve(d, fd, fd);
	} while (!err && (d->is_stranger || d->state == DAP_NEW));
	return err;
}

static struct error *run_dap(struct session *s, const struct answer *answer,
                             const struct call *call, struct out *out)
{
	const char *listen_at = option_value(call, "listen");
	struct dap *d CLEANUP(free_dap) = alloc_zeroed(sizeof(*d)); /* s->answer is reset */
	struct dap *initial CLEANUP(free_dap) = alloc_zeroed(sizeof(*d));
	int fd CLEANUP(file_close) = -1;

	(void)answer;
	*initial = (struct dap){ .s = s, .call = call, .table = dap_table };
	if (listen_at)
		return serve_client(d, initial, listen_at, out->options.messages);
	TRY(dap_take_output(&fd));
	*d = *initial;
	return dap_serve(d, STDIN_FILENO, fd);
}

static const struct command_option options[] = {
	{ "listen", "PATH|ADDRESS", false, "Wait for a client on a Unix socket or a local port" },
	{ 0 },
};

const struct command dap_command = {
	.name = "dap",
	.options = options,
	.check = dap_check,
	.summary = "Serve an editor: the Debug Adapter Protocol on standard input and output",
	.help = "    For VS Code, Neovim, Emacs, Zed and others; docs/editors.md has their\n"
		"    settings. Serves one client. PATH, which contains a slash, is a socket\n"
		"    that only you can connect to. ADDRESS is 127.0.0.1:PORT or [::1]:PORT;\n"
		"    clients of other users need the token that is printed.",
	.offline = true,
	.run = run_dap,
};
