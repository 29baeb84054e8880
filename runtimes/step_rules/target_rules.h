/*
 * Decisions about hits in code of the user's that a call or a spawned task may come to. Nothing
 * here reads the program.
 */
#ifndef RUNTIMES_STEP_RULES_TARGET_RULES_H
#define RUNTIMES_STEP_RULES_TARGET_RULES_H

#include <stdbool.h>
#include <stdint.h>

/* Places of a target. */
enum target_place {
	TARGET_CALLED,       /* poll function of a coroutine that the call may poll */
	TARGET_CLOSURE,      /* first line of a closure that the call may call */
	TARGET_SPAWNED,      /* poll function of a coroutine of the spawned types */
	TARGET_SPAWNED_BODY, /* first line of one that is inlined somewhere else */
	TARGET_TASK,         /* function that a poll of the spawned task may come to */
	TARGET_TASK_BODY,    /* first line of an inlined one, or of a closure */
};

/* A thread that has come to a target. */
struct target_hit {
	bool is_own;   /* it is the thread of the step */
	bool is_users; /* the line there is code of the user's */
	bool is_new;   /* it polls a coroutine that was not polled before */
	uint64_t cfa;  /* of its frame; 0: unknown */
	uint64_t from; /* that of the function of the step */
};

enum target_action {
	TARGET_PASS,  /* the program goes on */
	TARGET_ENTER, /* the step goes on in the function */
	TARGET_END,   /* the step ends there */
};

enum target_action target_rules_at(enum target_place place, const struct target_hit *hit);

#endif
