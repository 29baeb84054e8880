/*
 * Types that a unit polls: the T of every poll(Pin<&mut T>, ...) and poll_next(Pin<&mut T>, ...)
 * that it describes.
 */
#ifndef DWARF_LOOKUP_POLL_FN_INDEX_H
#define DWARF_LOOKUP_POLL_FN_INDEX_H

#include "dwarf/module/debuginfo.h"

/*
 * Records the poll functions of a unit in its module (polls.polled and polls.coroutines), once for
 * each unit. Scans the unit and the units that define the types of its functions.
 */
void poll_fn_read(struct dwarf_module *dm, struct unit *u);

/* Does the same for the one function whose code begins at a link-time address. */
void poll_fn_read_function(struct dwarf_module *dm, struct unit *u, uint64_t pc);

/*
 * Does the same for the functions that are inlined into that function. Their abstract functions may
 * be in any unit; those that are not poll functions are recognised without a scan of it.
 */
void poll_fn_read_inlined(struct dwarf_module *dm, struct unit *u, uint64_t pc);

/*
 * How a function of that own name polls: poll() or poll<T>() a future, poll_next() or
 * poll_next<T>() a stream; 0: it is neither.
 */
unsigned poll_fn_kind(const char *name);
/* The poll function of a coroutine: {async_fn#0}, {async_block#0}<T>, but no {closure#0}. */
bool poll_fn_is_coroutine(const char *name);
/*
 * Is it the name of a poll function's return type, or that of a resume function of older compilers?
 */
bool poll_fn_is_result(const char *name);

/*
 * Is a type of that name never a future, by Rust's orphan rule alone? Only core, alloc and std can
 * implement a trait of core for their own types, for a tuple, an array, a raw pointer or a closure.
 * The crate that declares the trait Stream could; it does so only for pointers and for
 * AssertUnwindSafe (futures-core 0.3, src/stream.rs).
 */
bool poll_fn_never_takes(const char *type_name);
/*
 * poll_fn_never_takes() by the target of a Box, a `&mut` or a Pin of one, which are futures when
 * their target is one. A trait object of a trait of core, alloc or std is not a future, unless the
 * trait is Future.
 */
bool poll_fn_never_takes_pointer_to(const char *type_name);

#endif
