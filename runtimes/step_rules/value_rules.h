/*
 * Decisions about the value that a function has just returned: where it is, and whether that is
 * known. Nothing here reads the program.
 */
#ifndef RUNTIMES_STEP_RULES_VALUE_RULES_H
#define RUNTIMES_STEP_RULES_VALUE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf/frame/result_place.h"
#include "runtimes/step_rules/step_kind.h"

/* ---- before it returns ---- */

/*
 * Whether the code of the function, of so many bytes, is read to see if the first argument is still
 * in its register: a `finish` may need it.
 */
bool value_rules_reads_code(enum step_kind kind, uint64_t size);

/* ---- it has returned ---- */

/* The function of a step, which has returned. */
struct value_function {
	enum step_kind kind;
	bool is_known;   /* it has debug info */
	bool is_inlined; /* the line is of code that is inlined into it */
	bool has_result; /* it returns something */
};

enum value_action {
	VALUE_ABSENT,  /* nothing is shown */
	VALUE_INLINED, /* the value of inlined code is not known */
	VALUE_READ,
};

enum value_action value_rules_action(const struct value_function *f);

/* ---- where the value is ---- */

/* A value at a place: not each enum has a variant for any bytes. */
struct value_variant {
	bool is_enum;     /* with variants */
	const char *name; /* of the variant there; NULL: there is none */
	bool is_poll;     /* it is a Poll<T>, and only what it is ready with counts */
};

/* Whether the place can have the value. */
bool value_rules_is_possible(const struct value_variant *v);

/* Registers and code of a function that has returned a value. */
struct value_result {
	enum result_kind kind;
	/*
	 * Unoptimised code. Elsewhere a function whose callers do not use the result, or know it,
	 * may leave anything in the registers.
	 */
	bool keeps_registers;
	uint64_t first_register; /* of results */
	uint64_t first_argument; /* when it was called; 0: unknown */
	/* RESULT_EITHER: whether each place can have the value. */
	bool possible_in_memory; /* at the address in the first register */
	bool possible_in_registers;
};

enum value_where {
	VALUE_NOWHERE,
	VALUE_IN_REGISTERS,
	VALUE_IN_MEMORY, /* at addr */
};

struct value_place {
	enum value_where where;
	uint64_t addr;
	const char *problem; /* why it is not known whether it is there; NULL: it is */
};

/* Whether an address can be that of a value in the frame of the caller; cfa: of the function. */
bool value_rules_is_in_caller(uint64_t addr, uint64_t cfa);
struct value_place value_rules_place(const struct value_result *r);

/* The payload of a Poll<T> that is ready. */
struct value_ready {
	size_t nmembers;     /* of the variant Ready */
	uint64_t size;       /* of the only one, in bytes */
	bool is_coroutine;   /* the future is one, whose state has shown that it is ready */
	const char *problem; /* with the Poll<T>; NULL: none */
};

/* Problem with the payload; NULL: none. */
const char *value_rules_ready_problem(const struct value_ready *r);

#endif
