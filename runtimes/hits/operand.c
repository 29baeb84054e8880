#include "runtimes/hits/operand.h"

#include <stdlib.h>
#include <string.h>

#include "runtimes/query/frame_value.h"

struct predicate_value operand_of_value(const struct frame_value *v)
{
	switch (v->kind) {
	case FRAME_VALUE_BOOL:
		return (struct predicate_value){ .kind = PREDICATE_BOOL, .truth = v->number != 0 };
	case FRAME_VALUE_INTEGER:
		return (struct predicate_value){ .kind = PREDICATE_NUMBER,
			                         .negative = v->negative,
			                         .number = v->number };
	case FRAME_VALUE_REAL:
		return (struct predicate_value){ .kind = PREDICATE_REAL, .real = v->real };
	default:
		return (struct predicate_value){ .kind = PREDICATE_TEXT, .text = v->text };
	}
}

struct predicate_value operand_of_text(const char *text)
{
	return (struct predicate_value){ .kind = text ? PREDICATE_TEXT : PREDICATE_NOTHING,
		                         .text = text };
}

struct predicate_value operand_of_id(const char *id)
{
	struct predicate_value v = operand_of_text(id);
	size_t digits = id ? strspn(id, "0123456789") : 0;

	if (digits && digits < 20 && !id[digits])
		v = (struct predicate_value){ .kind = PREDICATE_NUMBER,
			                      .number = strtoull(id, NULL, 10) };
	return v;
}
