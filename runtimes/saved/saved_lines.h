/* Internal to runtimes/saved: declarations shared by the writer and the reader. */
#ifndef RUNTIMES_SAVED_SAVED_LINES_H
#define RUNTIMES_SAVED_SAVED_LINES_H

#include "runtimes/inspect/inspect.h"
#include "runtimes/model/model.h"
#include "runtimes/saved/saved.h"

#define SAVED_FORMAT "asyncdbg-snapshot"
/* How every saved snapshot begins, before it is compressed. */
#define SAVED_BEGIN "{\"format\":\"" SAVED_FORMAT "\""

enum { SAVED_VERSION = 2 };

/* The words for "wants" in the header; terminated by a NULL word. */
struct want_word {
	enum want want;
	const char *word;
};
extern const struct want_word saved_want_words[];

#endif
