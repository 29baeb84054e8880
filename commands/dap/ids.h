/*
 * Numbers for the protocol, which has 31 bits for each. Threads of the program are numbered from 1,
 * tasks from 1,000,001, groups of tasks from 2,000,001, each in the order in which it was first
 * listed. A number is never used again. Frames, values and places have
 * numbers until the program runs on.
 */
#ifndef COMMANDS_DAP_IDS_H
#define COMMANDS_DAP_IDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "dwarf/values/parts.h"

struct snapshot;
struct task;
struct thread_info;

enum { IDS_FIRST_TASK = 1000000, IDS_FIRST_GROUP = 2000000, IDS_MAX = 1 << 20 };

enum id_kind { ID_NONE, ID_THREAD, ID_TASK, ID_GROUP };

/* A thread of the protocol: a thread, a task or a group of tasks. */
struct id_thread {
	enum id_kind kind;
	int number;
	pid_t tid;        /* ID_THREAD */
	const char *task; /* ID_TASK, ID_GROUP: of its example; an id of the runtime */
	uint64_t addr;    /* of that task's header */
	unsigned runtime; /* index of that task's runtime */
};

enum frame_kind { FRAME_NATIVE, FRAME_AWAIT, FRAME_LABEL };

/* A frame of a stack. */
struct id_frame {
	int thread; /* a number of the protocol */
	enum frame_kind kind;
	unsigned number; /* stack_frame.number or future.number */
};

enum scope_kind { SCOPE_LOCALS, SCOPE_AWAITED, SCOPE_TASK, SCOPE_REGISTERS };

/* A container of variables: a scope of a frame, or a value with parts. */
struct id_variables {
	bool is_scope;
	enum scope_kind scope;
	int frame;
	struct value value;
	const char *name; /* expression that leads to the value; NULL: none */
};

/* A line of a source. */
struct id_location {
	const char *path; /* of the client */
	unsigned line;
	bool library;
};

/* All zeros at first; free with ids_free(). */
struct ids {
	VEC(struct id_thread) threads, tasks, groups;
	struct map by_key; /* threads, tasks and groups by their keys */
	VEC(struct id_frame) frames;
	VEC(struct id_variables) variables;
	VEC(struct id_location) locations;
	struct map by_place; /* of frames and variables: index + 1 */
	struct arena arena, stop_arena;
};

/* The number of a thread, task or group; 0: there are too many. */
int ids_of_thread(struct ids *ids, pid_t tid);
int ids_of_task(struct ids *ids, const struct task *task);
/* key: of the property that the tasks of a group share; task: an example. */
int ids_of_group(struct ids *ids, uint64_t key, const struct task *task);
/* NULL: no such number was given. */
const struct id_thread *ids_thread(const struct ids *ids, int64_t number);
/* The thread that it means now, in a snapshot; NULL: none, or it has ended. */
const struct thread_info *ids_find_thread(const struct id_thread *id, const struct snapshot *s);
/* The task of a task or group, or the task that a thread runs. NULL: none. */
const struct task *ids_find_task(const struct id_thread *id, const struct snapshot *s);

int ids_of_frame(struct ids *ids, const struct id_frame *frame);
const struct id_frame *ids_frame(const struct ids *ids, int64_t number);
int ids_of_variables(struct ids *ids, const struct id_variables *v);
const struct id_variables *ids_variables(const struct ids *ids, int64_t number);
/* The path is copied. 0: there are too many. */
int ids_of_location(struct ids *ids, const struct id_location *l);
const struct id_location *ids_location(const struct ids *ids, int64_t number);
/* Forgets frames, values and places. */
void ids_forget(struct ids *ids);
void ids_free(struct ids *ids);

#endif
