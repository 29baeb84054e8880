/*
 * The native frame of question.native: its variables and registers. Frames are numbered as those of
 * thread_info.frames: an inlined function is a frame of its own.
 */
#ifndef RUNTIMES_QUERY_NATIVE_H
#define RUNTIMES_QUERY_NATIVE_H

#include "dwarf/frame/native_variables.h"
#include "runtimes/common/inspector.h"

/*
 * Finds the frame in question; false, with the reason, where it is not there. c->stacks must be
 * read.
 */
bool native_find(struct collector *c, struct native_scope *ret, const char **problem);
/* Fills snapshot.native if the request asks for a native frame. */
void native_answer(struct collector *c);

#endif
