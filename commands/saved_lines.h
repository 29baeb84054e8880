/* What the writer and the reader of saved snapshots share: not for others. */
#ifndef COMMANDS_SAVED_LINES_H
#define COMMANDS_SAVED_LINES_H

#include "commands/saved.h"
#include "runtimes/inspect.h"
#include "runtimes/model.h"

#define SAVED_FORMAT "asyncdbg-snapshot"

enum { SAVED_VERSION = 1 };

/* The words of the header's "wants"; ends with a NULL. */
struct want_word {
	enum want want;
	const char *word;
};
extern const struct want_word want_words[];

#endif
