/*
 * The way back along calls: which calls lead to a function, and how far apart the return addresses
 * of their frames lie. By machine code and the table for unwinding; x86-64.
 */
#ifndef DWARF_FRAME_CALL_PATH_H
#define DWARF_FRAME_CALL_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_map;
struct target;

/* How the return address of a function is found from that of a call that it makes. */
struct call_frame {
	uint32_t distance; /* it lies so many bytes above that one; 0: the call ends the way */
	bool by_pointer;   /* or above the address that the frame pointer has */
	/*
	 * The frame pointer of the function's caller is kept so many bytes below the return
	 * address; 0: in its register; CALL_KEPT_UNKNOWN.
	 */
	uint32_t kept;
};

enum { CALL_KEPT_UNKNOWN = UINT32_MAX };

/* after: where the call returns to, link-time. */
typedef void call_path_fn(uint64_t after, const struct call_frame *frame, void *arg);

struct call_path_search {
	const uint64_t *targets; /* entries of functions, link-time */
	size_t n;
	/* Functions count whose mangled names have one of these parts; ended by NULL. */
	const char *const *parts;
	/*
	 * Parts of the names of functions that call a target by any address in a register or
	 * memory; NULL: none.
	 */
	const char *const *indirect;
	const char *end; /* the calls in functions with this part end the way; NULL: none do */
	/*
	 * Whether a call in these functions, which returns to that link-time address, ends the way.
	 * Calls that do not are left out, as calls in functions that do not count. NULL: all do.
	 */
	bool (*ends)(uint64_t after, void *arg);
};

/*
 * Calls visit with each call that leads to one of the targets, by itself or by further calls and
 * jumps, all of them in functions that count. Places that only look like a call may be among them.
 * Frames that are found by another register than the stack and the frame pointer are left out. t
 * has the module of m.
 */
void call_path_frames(const struct target *t, const struct code_map *m,
                      const struct call_path_search *search, call_path_fn *visit, void *arg);

/* call_frame.kept at an instruction, whose run-time address pc is. */
uint32_t call_path_kept(const struct target *t, uint64_t pc);

enum { CALL_PATH_JUMPS = 3 };

/* How a call has led to a function: what it calls may jump there, at its own end. */
struct call_link {
	uint64_t jumps[CALL_PATH_JUMPS]; /* their addresses, link-time, the innermost first */
	size_t n;
};

/*
 * How the call that returns to that link-time address has led to the function that begins at
 * callee. A call through a register counts as one of callee if its function loads that address
 * anywhere. False: unknown, or there is more than one way.
 */
bool call_path_link(const struct code_map *m, uint64_t after, uint64_t callee,
                    struct call_link *ret);
/*
 * Whether the call that returns to that link-time address calls what a register or a place in
 * memory has the address of, whatever that is.
 */
bool call_path_is_indirect(const struct code_map *m, uint64_t after);

#endif
