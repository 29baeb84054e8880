/*
 * Messages to the client. One is built in memory and sent as a whole, so that an answer that fails
 * half-way leaves no trace. Any thread may send.
 */
#ifndef COMMANDS_DAP_WIRE_MESSAGE_H
#define COMMANDS_DAP_WIRE_MESSAGE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "debugger/base/json_writer.h"

/* Destination of messages. */
struct sender {
	int fd; /* borrowed */
	pthread_mutex_t lock;
	int64_t seq; /* of the last message */
	bool gone;   /* the client does not read any more: nothing is sent */
};

struct message {
	struct json_writer w; /* in the body, which is an object */
	FILE *f;
	char *text;
	size_t len;
};

void sender_init(struct sender *s, int fd);
bool sender_is_gone(struct sender *s);

/* An event, or the answer to a request that succeeds. The body is open. */
struct message *message_event(const char *event);
struct message *message_response(int64_t request_seq, const char *command);
/* Closes the body, sends the message and frees it. */
void message_send(struct message *m, struct sender *s);
/* Frees a message that is not sent. */
void message_drop(struct message *m);
/* Sends the answer to a request that fails: a text for a person. */
void message_send_failure(struct sender *s, int64_t request_seq, const char *command,
                          const char *why);
/* Sends text for the console: category "console", "important", "stdout" or "stderr". */
void message_send_output(struct sender *s, const char *category, const char *text, size_t len);

#endif
