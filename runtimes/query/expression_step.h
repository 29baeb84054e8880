/*
 * Internal to runtimes/query: the syntax of `print`, and its steps from a value to a part of it. A
 * reference, a smart pointer, a lock, a cell and Option's Some on the way are looked through.
 */
#ifndef RUNTIMES_QUERY_EXPRESSION_STEP_H
#define RUNTIMES_QUERY_EXPRESSION_STEP_H

#include "dwarf/values/value.h"
#include "runtimes/common/inspector.h"

enum { EXPRESSION_HOPS = 32, EXPRESSION_NAMES = 24 };

/* An evaluation in progress: "*req.headers[0].1" */
struct evaluation {
	struct collector *c;
	struct local *out;
	const char *rest; /* the part of the expression that is not parsed yet */
	unsigned stars;
	struct value v;
	bool in_memory;
	uint64_t word;
	const char *cast; /* the type in "0x7f00 as TYPE"; NULL: a name begins the expression */
	uint64_t address; /* of a cast */
	bool ranged;      /* it ends with a range: v has the elements from first, before end */
	uint64_t first, end;
};

struct frame_place;

/*
 * Evaluates an expression in a frame, or of a static: e->v or e->word; a range is ERR_USAGE. All
 * but e->c is zero before.
 */
struct error *expression_evaluate(struct evaluation *e, const struct frame_place *place,
                                  const char *text) MUST_CHECK;

/*
 * Reads the start of an expression: its stars, and its name, which may be a path ("app::LIMIT") or
 * the type of a cast ("0x7f00 as app::Request", in parentheses where more follows).
 */
struct error *expression_read_start(struct evaluation *e, const char **name) MUST_CHECK;
/* Follows the rest of the expression from e->v, the value that its start names. */
struct error *expression_follow(struct evaluation *e) MUST_CHECK;
/* Moves from a value in a register to memory: possible only if it is a pointer. */
struct error *expression_leave_register(struct evaluation *e) MUST_CHECK;
/* Steps into Option's Some, a lock, a cell or a struct of one member; *found false: v is none. */
struct error *expression_look_through(struct evaluation *e, struct value *v, bool *found)
	MUST_CHECK;

#endif
