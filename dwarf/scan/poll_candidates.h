/*
 * Selects the functions of a unit that may be poll functions, by their return types and names. It
 * reads only the notes of the scan and .debug_str, so that any thread may run it.
 */
#ifndef DWARF_SCAN_POLL_CANDIDATES_H
#define DWARF_SCAN_POLL_CANDIDATES_H

#include "debugger/base/vec.h"
#include "dwarf/scan/scan.h"

/*
 * A function with the name and the return type of a poll function. result_is_known is false when
 * the scan's notes do not determine the return type.
 */
struct poll_candidate {
	uint32_t scope;
	bool result_is_known;
};
typedef VEC(struct poll_candidate) poll_candidate_vec;

/* A thread's cache of names of one file; NULL before the first use. */
struct poll_names;
void poll_candidates_free(struct poll_names *names);

/*
 * Appends those of a scanned unit: first those that return something, then those that return
 * nothing.
 */
void poll_candidates_find(const struct dwarf_sections *s, const struct unit *u,
                          struct poll_names **names, poll_candidate_vec *ret);

/*
 * Is it the name of a poll function's return type, or that of a resume function of older compilers?
 */
bool poll_candidates_is_result(const char *name);
/* poll(), or poll<T>(). */
bool poll_candidates_is_poll(const char *name);
/* The poll function of a coroutine: {async_fn#0}, {async_block#0}<T>, but no {closure#0}. */
bool poll_candidates_is_coroutine(const char *name);

#endif
