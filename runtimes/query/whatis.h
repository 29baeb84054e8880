/*
 * Finds what an address (question.whatis) belongs to: its memory mapping, a thread's stack and
 * frame, a runtime, a task, the futures that contain it, and the tasks that wait for an object
 * there.
 */
#ifndef RUNTIMES_QUERY_WHATIS_H
#define RUNTIMES_QUERY_WHATIS_H

#include "runtimes/common/inspector.h"

/*
 * Fills snapshot.places, outermost first, if the request has a whatis address. Call it when all
 * else is collected and frames are numbered, while the target is still stopped.
 */
void whatis_answer(struct collector *c);

#endif
