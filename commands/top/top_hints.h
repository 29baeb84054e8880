/* Hints in a frame of `top`: tasks that look wrong. */
#ifndef COMMANDS_TOP_TOP_HINTS_H
#define COMMANDS_TOP_TOP_HINTS_H

#include "commands/top/top_rows.h"
#include "debugger/base/map.h"

struct trace_plan;

enum top_hint_kind {
	TOP_SELF_WAKING,  /* more than half of its wake-ups are its own */
	TOP_NEVER_YIELDS, /* it is in a poll that has run for more than a second */
	TOP_LOST_WAKER,   /* it sleeps, and nothing can wake it: known by a snapshot */
	TOP_LARGE_FUTURE, /* 16 KiB or larger */
	TOP_NHINTS,
};
/* "self-waking" */
const char *top_hints_name(enum top_hint_kind kind);

/* Tasks of one type. */
struct top_hint {
	enum top_hint_kind kind;
	uint64_t task;    /* id of one of them */
	const char *type; /* NULL: unknown */
	uint64_t tasks;
	/*
	 * The largest one of them: per cent of the wake-ups; ns of the poll so far; of a lost waker
	 * 0; bytes of the future.
	 */
	uint64_t value;
	bool boxed; /* of a large future: it lies in a box, as tokio puts it there when it is
	               spawned */
};

struct top_hints {
	struct top_hint *list; /* in the order of their kinds */
	size_t n;
};

/* Tasks and types that snapshots have shown to be wrong. All zeros: none. */
struct top_proofs {
	struct map lost;  /* ids of tasks that nothing can wake */
	struct map large; /* hash of a type -> struct top_large */
	struct arena arena;
};
/* s is a snapshot with WANT_TASKS. */
void top_hints_look(struct top_proofs *p, const struct snapshot *s);
/* Adds the large types among those in the plan of a trace. */
void top_hints_plan(struct top_proofs *p, const struct trace_plan *plan);
void top_hints_free(struct top_proofs *p);

/* The hints of a frame, in a. */
void top_hints_find(const struct top_frame *frame, const struct top_proofs *proofs, struct arena *a,
                    struct top_hints *ret);
/* "3 tasks wake themselves: up to 98 % of their wake-ups", in a; without the type. */
const char *top_hints_text(struct arena *a, const struct top_hint *hint);

#endif
