/*
 * What an address belongs to (question.whatis): the memory it lies in, a thread's stack and
 * frame, a runtime, a task, the futures around it, what tasks wait for there.
 */
#ifndef RUNTIMES_QUERY_WHATIS_H
#define RUNTIMES_QUERY_WHATIS_H

#include "runtimes/common/inspector.h"

/*
 * Fills snapshot.places, from the outside in, when that was asked. All else is collected and
 * frames are numbered; memory is still that of the stop.
 */
void whatis_answer(struct collector *c);

#endif
