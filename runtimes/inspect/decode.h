/* Decodes the tasks of all runtimes, in an order that reads debug info with little memory. */
#ifndef RUNTIMES_INSPECT_DECODE_H
#define RUNTIMES_INSPECT_DECODE_H

#include "runtimes/common/inspector.h"

/*
 * Fills type and tree of every task that the runtimes have listed, or, without WANT_TASKS, of those
 * that are running.
 */
void decode_tasks(struct collector *c);

#endif
