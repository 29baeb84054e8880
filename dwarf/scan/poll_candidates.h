/*
 * Which functions of a unit may be poll functions, by what they return and by their names. It asks
 * nothing but what the scan noted and .debug_str, so that any thread may.
 */
#ifndef DWARF_SCAN_POLL_CANDIDATES_H
#define DWARF_SCAN_POLL_CANDIDATES_H

#include "debugger/base/vec.h"
#include "dwarf/scan/scan.h"

/*
 * A function that returns what a poll function does and has the name of one; what the scan's notes
 * do not tell of it is left open.
 */
struct poll_candidate {
	uint32_t scope;
	bool result_is_known;
};
typedef VEC(struct poll_candidate) poll_candidate_vec;

/* What a thread remembers of the names of one file; NULL until it looked. */
struct poll_names;
void poll_candidates_free(struct poll_names *names);

/* Those of a scanned unit: first those that return something, then those that return nothing. */
void poll_candidates_find(const struct dwarf_sections *s, const struct unit *u,
                          struct poll_names **names, poll_candidate_vec *ret);

/* Is it the name of what a poll function returns, or a resume function of older compilers? */
bool poll_candidates_is_result(const char *name);
/* poll(), or poll<T>(). */
bool poll_candidates_is_poll(const char *name);
/* The poll function of a coroutine: {async_fn#0}, {async_block#0}<T>, but no {closure#0}. */
bool poll_candidates_is_coroutine(const char *name);

#endif
