/*
 * Decisions about the future that a step follows: where its object is, and what the state of the
 * object says. Nothing here reads the program.
 */
#ifndef RUNTIMES_STEP_RULES_INSTANCE_RULES_H
#define RUNTIMES_STEP_RULES_INSTANCE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf/frame/result_place.h"
#include "dwarf/frame/variables.h"
#include "dwarf/types/type.h"

/* ---- the state of a coroutine ---- */

enum instance_state {
	INSTANCE_UNKNOWN,   /* its memory cannot be read, or has no such value */
	INSTANCE_UNRESUMED, /* it was not polled yet, or is in its first poll */
	INSTANCE_SUSPENDED, /* at an await, or it is polled again */
	INSTANCE_RETURNED,
	INSTANCE_PANICKED,
	INSTANCE_OTHER, /* a variant of an enum that is no coroutine */
};

/*
 * State of the variant of that name, which rustc gives it (rustc_middle/src/ty/sty.rs,
 * variant_name()): "Unresumed", "Suspend0"; NULL: unknown.
 */
enum instance_state instance_rules_state(const char *variant);
/* Whether a poll may begin with the state, or be in progress: memory of another kind has none. */
bool instance_rules_is_polled(enum instance_state state);
/* The variant of a discriminant, masked to its size: that, or the default one; NULL: there is none.
 */
const struct variant *instance_rules_variant(const struct variant *v, size_t n, uint64_t discr);

/* ---- its object ---- */

/*
 * Whether the nth argument, 0 or 1, of a function that returns a result at such a place may be the
 * future that it polls: the address of a result that is returned in memory is the first argument
 * (System V psABI, 3.2.3). If the type of the result does not tell, either may be: the other
 * argument has memory that is in no state of the coroutine, as a rule.
 */
bool instance_rules_is_argument(enum result_kind result, unsigned n);
/* Whether a variable of a frame's function is the member: a coroutine's object has some of them. */
bool instance_rules_is_member(const struct variable *v, const struct member *m);

/* Addresses of the object by its variables. All zeros: there is none yet. */
struct instance_owner {
	uint64_t addr;
	bool known, doubtful;
};

void instance_rules_add_owner(struct instance_owner *o, uint64_t addr);
/* The address on which all agree; 0: there is none. */
uint64_t instance_rules_owner(const struct instance_owner *o);

/* ---- the result of a poll ---- */

/* Poll<T> as it is returned. */
struct instance_result {
	uint64_t size;         /* in bytes */
	uint64_t discr_size;   /* of its discriminant; 0: there is none */
	uint64_t discr_offset; /* of that */
};

enum instance_result_place {
	INSTANCE_RESULT_UNKNOWN,
	INSTANCE_RESULT_REGISTER, /* the discriminant is the first register of results */
	INSTANCE_RESULT_MEMORY,   /* that register has the address of the Poll<T> */
};

enum instance_result_place instance_rules_result(const struct instance_result *r);
/* The low bytes of a value, at most 8. */
uint64_t instance_rules_low_bytes(uint64_t value, uint64_t size);

/* A poll that has just returned. */
struct instance_poll {
	bool is_future;            /* the function polls one */
	bool by_state;             /* a coroutine whose object is known: */
	enum instance_state state; /* its state */
	bool is_inlined;           /* its poll function is inlined into the function */
	const char *result;        /* otherwise: the variant of Poll<T>; NULL: unknown */
};

/* Whether the future is suspended, and so polled again. */
bool instance_rules_is_pending(const struct instance_poll *p);

/* ---- an instance within another one ---- */

/* A value within an object, in a search for a coroutine. */
struct instance_value {
	enum type_kind kind;
	bool is_type;      /* an enum of the type that is searched for */
	bool is_suspended; /* it is one, and suspended */
	int depth;         /* of the value in the object */
	size_t nvalues;    /* number of values before */
};

enum instance_look {
	INSTANCE_LOOK_NOWHERE,
	INSTANCE_LOOK_MEMBERS, /* at its members */
	INSTANCE_LOOK_VARIANT, /* at those of its active variant */
	INSTANCE_LOOK_FOUND,   /* it is one */
};

enum instance_look instance_rules_look(const struct instance_value *v);
/* Whether a search that is over has found one, and can have missed none. */
bool instance_rules_is_only(size_t nfound, size_t nvalues);

#endif
