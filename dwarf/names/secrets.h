/*
 * Which names say that a value is secret. A name is taken apart into words, at what is no letter
 * and no digit, between letters and digits, and where small letters are followed by a capital:
 * `api_key`, `apiKey`, `APIKey2` and `x-api-key` have the word "key", `monkey` and `keyboard` have
 * not. A name is secret when one of its words is on the list, or that with an "s" behind it, no
 * matter in which case.
 */
#ifndef DWARF_NAMES_SECRETS_H
#define DWARF_NAMES_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

#include "debugger/base/vec.h"

enum { SECRET_WORD_MAX = 32 /* letters and digits of a word on the list */ };

struct secrets {
	VEC(const char *) words; /* in small letters; what they point at is the owner's */
};

/* token, secret, password, key, authorization. */
void secrets_add_known(struct secrets *s);
/* Adds one word, or takes it away; text is borrowed. False when it is no word. */
bool secrets_add(struct secrets *s, const char *text);
bool secrets_remove(struct secrets *s, const char *text);
void secrets_free(struct secrets *s);

bool secrets_has(const struct secrets *s, const char *name, size_t len);
/*
 * Does the text of a map's key name a secret? `"authorization"` does, and so does what is an
 * identifier of its own in it, as in HeaderName { inner: Standard(Authorization) }; names of
 * structs and members do not, nor does a string with blanks in it.
 */
bool secrets_has_text(const struct secrets *s, const char *text, size_t len);

#endif
