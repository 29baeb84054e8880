/* Finds objects by what the frames of a thread refer to. */
#ifndef RUNTIMES_THREAD_STACK_SEARCH_H
#define RUNTIMES_THREAD_STACK_SEARCH_H

#include "runtimes/thread/stack.h"

enum { STACK_SEARCH_MAX = 16 };

/* The target of a pointer, which may be in a Pin or an atomic; NULL: t is none. */
const struct type *stack_search_pointee(const struct type *t);

/* Places of values of a type. */
struct stack_places {
	const struct type *type;
	bool values; /* variables of the type count; otherwise pointers to it */
	uint64_t addrs[STACK_SEARCH_MAX]; /* each once */
	size_t n;
};
/* Adds those that the variables of a frame tell. */
void stack_search_places(struct collector *c, const struct thread_stack *s, size_t frame,
                         struct stack_places *p);

/* The data of the waker in each Context that variables refer to. */
struct stack_wakers {
	struct collector *c;
	uint64_t data[STACK_SEARCH_MAX];
	size_t n;
};
void stack_search_wakers(const struct thread_stack *s, size_t frame, struct stack_wakers *w);

/* Called for each word of a frame, and with addr 0 for each register that it keeps. */
typedef void stack_word_fn(uint64_t word, uint64_t addr, void *arg);
void stack_search_words(struct collector *c, const struct thread_stack *s, size_t frame,
                        stack_word_fn *visit, void *arg);

#endif
