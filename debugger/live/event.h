/*
 * Events of a program that a tracer (tracer.h) has launched or attached to. Some events of a
 * controlled program (TRACER_CONTROL) halt all threads: see .halted.
 */
#ifndef DEBUGGER_LIVE_EVENT_H
#define DEBUGGER_LIVE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum event_kind {
	EVENT_STOPPED,     /* job control has stopped the whole program, until SIGCONT */
	EVENT_SIGNAL,      /* the thread receives the signal when it continues */
	EVENT_NEW_THREAD,  /* child is its tid */
	EVENT_THREAD_EXIT, /* a thread other than the main one has ended */
	EVENT_EXEC,        /* a new program with one thread, whose tid is the pid */
	EVENT_FORK,        /* child is a new process, which is not traced */
	EVENT_VFORK,       /* as EVENT_FORK; the thread waits until the child execs or exits */
	EVENT_CLONE,       /* as EVENT_FORK, by a clone() that did not make a thread */
	EVENT_BREAKPOINT,  /* the thread is about to execute the instruction at addr */
	EVENT_WATCH,       /* the thread has written, or accessed, the bytes at addr */
	EVENT_UNWATCHED,   /* a new thread has no hardware breakpoints: status is the errno */
	EVENT_EXIT,        /* the program ended with status; the last event */
	EVENT_KILLED,      /* a signal ended the program; the last event */
};

struct event {
	enum event_kind kind;
	pid_t tid;     /* the thread that caused it */
	pid_t child;   /* EVENT_NEW_THREAD, EVENT_FORK, EVENT_VFORK, EVENT_CLONE */
	uint64_t addr; /* EVENT_BREAKPOINT, EVENT_WATCH */
	bool halted;   /* all threads stand still since, until TRACER_CONTINUE */
	int signal;    /* EVENT_STOPPED, EVENT_SIGNAL, EVENT_KILLED */
	int status;    /* EVENT_THREAD_EXIT, EVENT_EXIT: -1 unknown; EVENT_UNWATCHED */
	size_t lost;   /* events dropped before this one, as too many were not read */
};

#endif
