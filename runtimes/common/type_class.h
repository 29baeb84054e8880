/*
 * The class of a type, computed once for each type: the table rows that match it, how to look
 * through it, and which parts of it may contain futures. A walk over a hundred thousand values of
 * the type then compares no names. Each folder fills its fields in the classifier that it registers
 * (runtime.h).
 */
#ifndef RUNTIMES_COMMON_TYPE_CLASS_H
#define RUNTIMES_COMMON_TYPE_CLASS_H

#include "dwarf/types/type.h"
#include "dwarf/values/unwrap_newtype.h"
#include "dwarf/values/visit.h"
#include "runtimes/model/model.h"

struct combinator_row;
struct coroutine_plan;
struct ownership_row;
struct leaf_row;
struct pool_row;
struct pooled;
struct sequence_row;
struct task_set_ops;

/* Step from a place to the future that a poll of it polls. */
enum future_step {
	STEP_NONE,    /* the place is the future itself */
	STEP_MEMBER,  /* the future is at offset */
	STEP_POINTER, /* the place is a pointer to the future */
	STEP_DYN,     /* a trait object: pointer at offset, vtable at vtable */
	STEP_WIDE,    /* a wide pointer to a struct with an unsized tail: see behind_wide.h */
};

/* Treatment of a value by combinator.c: see combinator_find_futures(). */
enum find_rule {
	FIND_UNKNOWN, /* not computed yet */
	FIND_NOTHING,
	FIND_FUTURE,
	FIND_STREAM, /* only in what is polled */
	FIND_MAYBE_DONE,
	FIND_SET,
	FIND_ELEMENTS,
	FIND_ENTRIES, /* only in what is held */
	FIND_OBJECT,  /* only in what is held: a trait object of a stream */
	FIND_BEHIND,
	FIND_MEMBERS,
};

enum type_answer { UNDECIDED, NO, YES, DECIDING };

/* Rows of tables that match a type. NULL: none. */
struct type_rows {
	const struct leaf_row *leaf;
	const struct leaf_row *resource;
	const struct leaf_row *properties;
	const struct ownership_row *holding;
	const struct pooled *pooled; /* valid if pooled_known */
	const struct combinator_row *combinator;
	const struct sequence_row *sequence;
	const struct pool_row *pool; /* of a future that waits for a connection of one */
};

/* Answers that are computed when they are needed. */
struct type_answers {
	enum type_answer is_future : 8, known_future : 8, is_stream : 8, terminal : 8;
	unsigned char holds;    /* enum type_answer: of ownership_type.c */
	unsigned char has_fd;   /* enum type_answer: of ownership_type.c, about file descriptors */
	unsigned char by_hand;  /* enum type_answer: of object_walk.c */
	unsigned char may_poll; /* enum type_answer: of may_poll.c */
	unsigned char owns_future; /* enum type_answer: of polling_code.c */
	unsigned char
		has_future[4]; /* enum type_answer: [0] from known data, [1] after a search of the
	                          debug info; [2] and [3] the same of futures and streams */
};

/* Forms of a type, by its name and members. */
struct type_forms {
	bool coroutine : 1, maybe_done : 1, poll_fn : 1, composite : 1;
	bool borrowed : 1; /* a reference, or a Pin of one */
	bool box : 1;      /* a Box, or a Pin of one */
	bool slice : 1;    /* a wide pointer to a slice or str */
	bool erased : 1;   /* a wide pointer with a vtable */
	bool boundary : 1; /* object_walk.c does not follow values of this type */
	bool waker : 1;
	bool instrumented : 1, shared : 1;
	bool handle : 1; /* a runtime's handle */
};

struct type_class {
	const char *name;     /* sanitised */
	const char *function; /* result of type_class_function(); NULL: not computed yet */
	struct type_rows rows;
	const struct task_set_ops *task_set; /* of a set of tasks; NULL: the type is none */
	const struct task_set_ops *driver;   /* of the set that a future of this type drives */
	const struct coroutine_plan *plan;   /* of a coroutine; NULL: not computed yet */
	const struct type *behind;           /* target of a Box, a `&mut` or a Pin of one */
	const struct type *next;             /* of STEP_MEMBER and STEP_POINTER; NULL: unknown */
	uint64_t offset, vtable;             /* see enum future_step */
	struct visit_type visit;             /* what a value leads to */
	uint64_t pin_offset;                 /* offset of the pointer in a Pin; 0 in other types */
	const struct member *const *members; /* visited by object_walk.c, if members_known */
	uint64_t name_key;                /* map_key_of_text() of the name; 0: not computed yet */
	struct unwrapped_newtype newtype; /* of leaf.c, if newtype_known */
	uint32_t nmembers;
	enum future_step step : 8;
	enum find_rule find : 8;        /* of what is held and not polled */
	enum find_rule find_polled : 8; /* of what is polled */
	struct type_answers answers;
	unsigned char special; /* enum ownership_special */
	bool members_known : 1;
	bool newtype_known : 1;
	bool pooled_known : 1;
	struct type_forms forms;
};

/* The class of a type. Never NULL; lives as long as the type. */
struct type_class *type_class_of(const struct type *t);
/* The type's name without generics, sanitised; lives as long as the type. */
const char *type_class_function(const struct type *t);

#endif
