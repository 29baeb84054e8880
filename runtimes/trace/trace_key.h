/*
 * The numbers by which a trace knows tasks. Those of a runtime that counts its tasks are its ids.
 * Others are made of the kind of the runtime and the address of the header, with a bit that no id
 * has: a later task may have the same one again when the first has ended.
 */
#ifndef RUNTIMES_TRACE_TRACE_KEY_H
#define RUNTIMES_TRACE_TRACE_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "debugger/base/arena.h"

struct task;

/* kind: the name of a registered runtime. 0: the address is 0. */
uint64_t trace_key_of_address(const char *kind, uint64_t address);
/* The address in a key that has one. */
uint64_t trace_key_address(uint64_t key);
/* Whether it is the number of a task, or 0; else it has an address. */
bool trace_key_is_number(uint64_t key);
/* The key of a task of a snapshot; 0: it has none. */
uint64_t trace_key(const struct task *task);
/* The id as snapshots have it: "17", "async_executor:0x7f00". Lives in a. */
const char *trace_key_text(struct arena *a, uint64_t key);
/* Reads such a text, or an address alone, which is of any kind; false: it is none. */
bool trace_key_read(const char *text, uint64_t *ret);
/* Whether a task has that key; wanted: by trace_key_read(). */
bool trace_key_is(uint64_t key, uint64_t wanted);

#endif
