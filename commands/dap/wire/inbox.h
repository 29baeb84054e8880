/*
 * Requests of the client in the order in which they came. A thread reads them, so that one can
 * interrupt the program while the main thread waits for it.
 */
#ifndef COMMANDS_DAP_WIRE_INBOX_H
#define COMMANDS_DAP_WIRE_INBOX_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "commands/dap/wire/node.h"

enum {
	INBOX_MAX = 4096,              /* requests that wait */
	INBOX_MAX_BYTES = 64 * 1048576 /* bytes of their texts; beyond that nothing is read */
};

/* A message as received, and the parts that are read before its turn. */
struct dap_message {
	struct dap_message *next;
	struct arena arena;
	const struct node *root; /* NULL: it is no JSON, see problem */
	const char *problem;
	size_t len;
};

/* Messages for which the reading thread calls interrupt_request(). */
enum inbox_alert {
	INBOX_QUIET,  /* none */
	INBOX_URGENT, /* those that are to interrupt the running request: pause, disconnect,
	                 terminate */
	INBOX_ANY,
};

/* All zeros at first. */
struct inbox {
	int fd;   /* borrowed */
	int wake; /* an eventfd that ends the thread */
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct dap_message *first, **end;
	size_t n, bytes;
	bool quit;   /* the thread is to end */
	bool closed; /* nothing more will come */
	bool broken; /* closed because the stream cannot be read, or ended within a message */
	enum inbox_alert alert;
	bool alerted;   /* interrupt_request() was called */
	int64_t busy;   /* seq of the request that is being answered; 0: none */
	bool cancelled; /* the request being answered was cancelled */
};

/* Starts the thread that reads. */
struct error *inbox_start(struct inbox *in, int fd) MUST_CHECK;
/*
 * The oldest message, which the caller frees with dap_message_free(). Waits for one. NULL: there
 * will be none, or interrupt_is_end().
 */
struct dap_message *inbox_take(struct inbox *in);
/* Like inbox_take(); NULL, too, when no message has come by that time of clock_now_ns(). */
struct dap_message *inbox_take_until(struct inbox *in, uint64_t until);
bool inbox_is_empty(struct inbox *in);
void dap_message_free(struct dap_message *l);
/*
 * Lets messages interrupt from now on. False: such a message is already there, and nothing changes.
 */
bool inbox_alert(struct inbox *in, enum inbox_alert alert);
/* Ends inbox_alert(), and clears an interrupt that it has caused. */
void inbox_calm(struct inbox *in);
/*
 * Marks the request seq as being answered: a request "cancel" for it interrupts. 0: none is.
 * Returns whether the last one was cancelled, and clears the interrupt.
 */
bool inbox_answering(struct inbox *in, int64_t seq);
/* Ends the thread. */
void inbox_free(struct inbox *in);

#endif
