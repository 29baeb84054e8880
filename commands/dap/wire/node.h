/*
 * A JSON document as a tree, for the small ones that a client sends. Every function takes NULL for
 * a value that is not there, and finds nothing in it.
 */
#ifndef COMMANDS_DAP_WIRE_NODE_H
#define COMMANDS_DAP_WIRE_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "debugger/base/json_reader.h"

enum { NODE_MAX_DEPTH = 64, NODE_MAX_NODES = 1 << 18 };

struct node {
	enum json_kind kind;
	const char *key; /* of a member of an object; not sanitized, as text */
	union {
		const char *text;
		int64_t number; /* without its fraction */
		bool yes;
		struct {
			struct node *first; /* of an object or array */
			size_t n;
		};
	};
	struct node *next; /* in the same container */
};

/*
 * Reads a document, in arena a. The text, of which text[len] must be 0, is changed, and must live
 * as long as the tree. ERR_CORRUPT: it is no JSON, nests too deep or has too many values.
 */
struct error *node_read(struct arena *a, char *text, size_t len, const struct node **ret)
	MUST_CHECK;
/* The member of an object; NULL where it is missing or null. */
const struct node *node_get(const struct node *object, const char *key);
/* NULL, or the default, where the value is of another kind. */
const char *node_text(const struct node *n);
int64_t node_number(const struct node *n, int64_t otherwise);
bool node_is_true(const struct node *n, bool otherwise);
/* The first element or member; NULL where there is none. The others follow by ->next. */
const struct node *node_first(const struct node *n);
size_t node_count(const struct node *n);

#endif
