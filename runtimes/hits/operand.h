/* Operands of conditions: paths and tasks of a program. */
#ifndef RUNTIMES_HITS_OPERAND_H
#define RUNTIMES_HITS_OPERAND_H

#include "runtimes/hits/predicate.h"

struct frame_value;

struct predicate_value operand_of_value(const struct frame_value *v);
/* NULL: PREDICATE_NOTHING. */
struct predicate_value operand_of_text(const char *text);
/* The id of a task is a number if its runtime has numbers. NULL: no task. */
struct predicate_value operand_of_id(const char *id);

#endif
