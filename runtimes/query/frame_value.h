/*
 * The value of an expression of `print` in the innermost frame of a thread that stands still,
 * without a snapshot. Of a function that is inlined there, its own variables are seen.
 */
#ifndef RUNTIMES_QUERY_FRAME_VALUE_H
#define RUNTIMES_QUERY_FRAME_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "debugger/arch/arch.h"
#include "debugger/base/arena.h"
#include "debugger/base/error.h"

struct inspector;
struct thread;
struct type;

enum frame_value_kind {
	FRAME_VALUE_BOOL,
	FRAME_VALUE_INTEGER,
	FRAME_VALUE_REAL,
	FRAME_VALUE_TEXT, /* of a string or a character; of anything else as `print` shows it */
};

struct frame_value {
	enum frame_value_kind kind;
	bool negative;   /* of an integer: it is - number */
	uint64_t number; /* its magnitude; of a bool 0 or 1 */
	double real;
	const char *text; /* sanitised; of the arena */
	/* Why it may not be the value of its variable, as local_uncertainty() has it; NULL: it is.
	 */
	const char *doubt;
};

/*
 * Reads the present memory of the program, which must not run meanwhile. References, smart
 * pointers, cells and structs of one member are looked through; a raw pointer is its address. regs:
 * of the thread. Registers of callers are not known, so a variable of which the place depends on
 * them is not found. ERR_USAGE, ERR_STATE and ERR_FAULT say why there is no value.
 */
struct error *frame_value(struct inspector *in, const struct regs *regs, const char *expression,
                          struct arena *a, struct frame_value *ret) MUST_CHECK;
/* Reads a value in memory. */
struct error *frame_value_at(struct inspector *in, const struct type *type, uint64_t addr,
                             struct arena *a, struct frame_value *ret) MUST_CHECK;
/* Only ret->text and the doubt, as `print` shows it: with the quotes of strings, and nothing looked
 * through. */
struct error *frame_value_text(struct inspector *in, const struct regs *regs,
                               const char *expression, struct arena *a, struct frame_value *ret)
	MUST_CHECK;

#endif
