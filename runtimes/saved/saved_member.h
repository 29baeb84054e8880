/*
 * Internal to runtimes/saved: reads the members of structs, as listed in saved_fields.h. An error
 * is recorded in the loader's reader, which then reads nothing more of the line.
 */
#ifndef RUNTIMES_SAVED_SAVED_MEMBER_H
#define RUNTIMES_SAVED_SAVED_MEMBER_H

#include "runtimes/saved/saved_record.h"

/* The maximum number of digits in an id. */
enum { MAX_DECIMAL = 20 };

/* Records an error at the current member. Nothing more of the line is read. */
void saved_wrong(struct loader *l, const char *what);
/*
 * Charges size bytes to the memory budget, because a few bytes of a file may expand to a large
 * struct.
 */
void saved_charge(struct loader *l, size_t size);
#define PUSH_CHARGED(l, vec) (saved_charge((l), sizeof(*(vec)->data)), vec_push(vec))

/* Reads a number from low to high; otherwise records an error and returns 0. */
int64_t saved_number(struct loader *l, int64_t low, int64_t high);
/* Reads a text; "" when there is none, because no code checks array elements for NULL. */
void saved_text(struct loader *l, const char **to);

/* Readers of the members of one struct. The caller checks their consistency. */
void saved_snapshot(struct loader *l, struct snapshot *to);
void saved_target(struct loader *l, struct target_info *to);
void saved_reading(struct loader *l, struct reading *to);
void saved_runtime(struct loader *l, struct runtime_info *to);
void saved_thread(struct loader *l, struct thread_info *to);
void saved_job(struct loader *l, struct job *to);
void saved_layout(struct loader *l, struct layout_info *to);
void saved_socket(struct loader *l, struct socket_info *to);
void saved_task(struct loader *l, struct task *to);

/* The owner of a holding, as numbers in the file. */
struct saved_owner {
	bool has_task, has_future;
	unsigned task, future;
};
void saved_holding(struct loader *l, struct holding *to, struct saved_owner *owner);

#endif
