/*
 * Decides by names which values are secret. A name is split into words: at characters that are
 * neither letters nor digits, between letters and digits, and where a lower-case letter precedes a
 * capital. `api_key`, `apiKey`, `APIKey2` and `x-api-key` contain the word "key"; `monkey` and
 * `keyboard` do not. A name is secret when one of its words is on the list, with or without an "s"
 * appended, in any case.
 */
#ifndef DWARF_NAMES_SECRETS_H
#define DWARF_NAMES_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

#include "debugger/base/vec.h"

enum { SECRET_WORD_MAX = 32 /* letters and digits of a word on the list */ };

struct secrets {
	VEC(const char *) words; /* in lower case; the texts are borrowed */
};

/* Adds the default words: token, secret, password, key, authorization. */
void secrets_add_known(struct secrets *s);
/* Adds or removes one word; text is borrowed. False when it is no word. */
bool secrets_add(struct secrets *s, const char *text);
bool secrets_remove(struct secrets *s, const char *text);
void secrets_free(struct secrets *s);

bool secrets_has(const struct secrets *s, const char *name, size_t len);
/*
 * Does the printed key of a map name a secret? `"authorization"` does, and so does an identifier
 * that stands alone in it, as in HeaderName { inner: Standard(Authorization) }. Names of structs
 * and members do not count, nor does a string that contains blanks.
 */
bool secrets_has_text(const struct secrets *s, const char *text, size_t len);

#endif
