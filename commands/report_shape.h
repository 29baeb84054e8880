/*
 * For report_data.c: how a future looks in a report, with all that is below it. The parts are
 * declared in report_data.h where others need them.
 */
#ifndef COMMANDS_REPORT_SHAPE_H
#define COMMANDS_REPORT_SHAPE_H

#include "commands/report_data.h"

/* "words": what the numbers of enums are called. */
void report_put_words(struct json_writer *w);
/* "shapes": all rows, one after the other; children stand before their parents. */
void report_put_shapes(struct report *r);

#endif
