/*
 * The socket where `dap --listen` waits for its client: a Unix socket that only its owner can
 * connect to, or a port of this machine, to which every local user can.
 */
#ifndef COMMANDS_DAP_WIRE_LISTENER_H
#define COMMANDS_DAP_WIRE_LISTENER_H

#include <stdbool.h>
#include <stddef.h>

#include "debugger/base/error.h"

enum {
	LISTENER_TOKEN = 32,  /* hexadecimal digits */
	LISTENER_WAITING = 16 /* connections that have sent nothing yet */
};

/* A connection that is accepted and has sent nothing yet. */
struct waiting_client {
	int fd; /* owned */
	bool is_trusted;
};

/* All zeros at first; free with listener_close(). */
struct listener {
	int fd;
	int folder;    /* of a Unix socket */
	char *name;    /* of the socket in it; NULL: a port, or it is no longer there */
	unsigned port; /* of this machine; 0: a Unix socket */
	bool is_open;
	char token[LISTENER_TOKEN + 1]; /* for a port: makes a client trusted that is not */
	struct waiting_client waiting[LISTENER_WAITING]; /* in the order in which they came */
	size_t nwaiting;
};

/* Whether text is an address of this machine, "127.0.0.1:4711" or "[::1]:4711", or a path. */
struct error *listener_check(const char *text) MUST_CHECK;

/*
 * Listens. text is a path if it contains a slash; a socket of ours that is left there by a process
 * that died is replaced, and nothing else. ERR_USAGE or ERR_OS.
 */
struct error *listener_open(const char *text, struct listener *ret) MUST_CHECK;

/*
 * Waits for a client that has sent something, or has gone away; others may be connected meanwhile,
 * of which the oldest is closed when there are too many. Trusted clients come first. *ret: its
 * socket, which the caller closes. *is_trusted: the socket belongs to our user. For a port, the
 * kernel's table of sockets decides that; anybody else must know the token. ERR_OS or
 * ERR_INTERRUPTED.
 */
struct error *listener_accept(struct listener *l, int *ret, bool *is_trusted) MUST_CHECK;

/* Closes the listener, and removes a Unix socket. For CLEANUP(). */
void listener_close(struct listener *l);

/* Whether a client knows the token, compared in a time that does not depend on it. */
bool listener_knows_token(const struct listener *l, const char *token);

#endif
