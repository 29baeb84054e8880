/*
 * Return sites of a call: points behind the calls of a function, instead of uretprobes. Those
 * rewrite return addresses, so that a panic cannot unwind through the call.
 */
#ifndef RUNTIMES_TRACE_RETURNS_H
#define RUNTIMES_TRACE_RETURNS_H

#include "dwarf/module/code_map.h"

struct inspector;
struct probe_id;
struct runtime;

struct return_site {
	const char *function; /* in which the point is; without generics; NULL: unknown */
	uint64_t after;       /* the address to which the call returns; link-time */
	uint64_t address;     /* of the point; link-time */
	int32_t stack_delta;  /* the stack pointer there minus that at the entry of the callee */
	bool slow;
	bool has_result; /* %rax there has the result of the call */
};
typedef void return_site_fn(const struct return_site *site, void *arg);

struct returns {
	struct inspector *in;
	const struct code_map *code;
	struct arena *a;
	return_site_fn *found;
	void *arg;
	const struct runtime
		*runtime; /* the runtime whose polls are called; of returns_of_polls() */
	bool over_calls;  /* as in code_return_site() */
	/* The functions have no names: calls of polls are known by their instructions. */
	bool nameless;
};

/* Finds the direct calls of the function at a link-time address. */
void returns_of_function(const struct returns *r, uint64_t function);
/*
 * Finds the calls of the poll functions of tasks through their tables: in these functions
 * (link-time), and wherever they are inlined.
 */
void returns_of_polls(const struct returns *r, const uint64_t *callers, size_t n,
                      const struct probe_id *id);
/* The sites for one address to which a call returns; false: the code there cannot be used. */
bool returns_of_address(const struct returns *r, uint64_t after);

#endif
