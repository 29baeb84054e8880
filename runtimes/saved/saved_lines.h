/* What the writer and the reader of saved snapshots share: not for others. */
#ifndef RUNTIMES_SAVED_SAVED_LINES_H
#define RUNTIMES_SAVED_SAVED_LINES_H

#include "runtimes/inspect/inspect.h"
#include "runtimes/model/model.h"
#include "runtimes/saved/saved.h"

#define SAVED_FORMAT "asyncdbg-snapshot"

enum { SAVED_VERSION = 1 };

/* The words of the header's "wants"; ends with a NULL. */
struct want_word {
	enum want want;
	const char *word;
};
extern const struct want_word saved_want_words[];

#endif
