/* Memory that a client names: a variable of a scope, a part of a value, an expression. */
#ifndef COMMANDS_DAP_PLACES_H
#define COMMANDS_DAP_PLACES_H

#include "commands/dap/context.h"

struct dap_place {
	struct value value; /* its type is never NULL */
	const char *text;   /* for people, and for `print` where there is such an expression */
	bool state;         /* the state of a coroutine, which the value is */
	bool global;
	int64_t frame; /* in which it was named; 0: none, or unknown */
};

/*
 * The place that the arguments variablesReference and name denote, or else the expression in the
 * frame frameId. ERR_STATE: it has no address, with the reason. Strings are in the request's arena.
 */
struct error *places_find(struct dap *d, const struct request *r, const char *expression,
                          struct dap_place *ret) MUST_CHECK;

#endif
