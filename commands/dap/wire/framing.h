/*
 * Takes messages out of a stream of bytes. As in the Language Server Protocol a message is
 * "Content-Length: N\r\n\r\n" and N bytes of JSON; the only other header field is Content-Type.
 */
#ifndef COMMANDS_DAP_WIRE_FRAMING_H
#define COMMANDS_DAP_WIRE_FRAMING_H

#include <stddef.h>

#include "debugger/base/arena.h"
#include "debugger/base/str.h"

enum {
	FRAMING_MAX_HEADER = 4096,         /* bytes before the content */
	FRAMING_MAX_CONTENT = 16 * 1048576 /* bytes of one message */
};

/* All zeros at first; free with framing_free(). */
struct framing {
	struct str bytes; /* received and not yet taken */
};

enum framing_result {
	FRAMING_MESSAGE, /* *text has a message */
	FRAMING_MORE,    /* the message is not complete yet */
	FRAMING_BAD,     /* no header of a message: the stream cannot be read any further */
};

void framing_add(struct framing *f, const void *bytes, size_t len);
/* The next message, in arena a; text[len] is 0. */
enum framing_result framing_take(struct framing *f, struct arena *a, char **text, size_t *len);
/* Whether the stream may end here: no message was begun. */
bool framing_is_empty(const struct framing *f);
void framing_free(struct framing *f);

#endif
