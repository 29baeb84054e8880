/*
 * Within saved snapshots: the members of the structs in its lines, which saved_fields.h lists. What
 * is wrong with one goes to the loader's reader, behind which nothing more is read of the line.
 */
#ifndef RUNTIMES_SAVED_SAVED_MEMBER_H
#define RUNTIMES_SAVED_SAVED_MEMBER_H

#include "runtimes/saved/saved_record.h"

/* Digits of the largest id. */
enum { MAX_DECIMAL = 20, MAX_HEX = 16 };

/* Nothing more is read of the line: the member at hand is the one that is named. */
void saved_wrong(struct loader *l, const char *what);
/* A few bytes of a file may stand for a large struct: size more bytes are made of it. */
void saved_charge(struct loader *l, size_t size);
#define PUSH_CHARGED(l, vec) (saved_charge((l), sizeof(*(vec)->data)), vec_push(vec))

/* From low to high, else 0. */
int64_t saved_number(struct loader *l, int64_t low, int64_t high);
/* "" where there is none: of elements nobody asks whether they are there. */
void saved_text(struct loader *l, const char **to);

/* The members of one struct each; whether they fit together is for the caller to see. */
void saved_snapshot(struct loader *l, struct snapshot *to);
void saved_target(struct loader *l, struct target_info *to);
void saved_reading(struct loader *l, struct reading *to);
void saved_runtime(struct loader *l, struct runtime_info *to);
void saved_thread(struct loader *l, struct thread_info *to);
void saved_layout(struct loader *l, struct layout_info *to);
void saved_socket(struct loader *l, struct socket_info *to);
void saved_task(struct loader *l, struct task *to);

/* In whose frame a holding is: numbers in the file. */
struct saved_owner {
	bool has_task, has_future;
	unsigned task, future;
};
void saved_holding(struct loader *l, struct holding *to, struct saved_owner *owner);

#endif
