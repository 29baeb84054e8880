/*
 * The static probes (USDT) of a program itself, in its executable and the libraries that are
 * loaded, and the meaning of a hit.
 */
#ifndef RUNTIMES_TRACE_USDT_H
#define RUNTIMES_TRACE_USDT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "debugger/elf/usdt_notes.h"
#include "debugger/elf/usdt_operand.h"
#include "debugger/probe/probe_record.h"

struct module;
struct target;

/*
 * Reads the static probes, those of the executable first; all of the result is in arena a. A file
 * is NULL in those of the executable. A module whose file was not found has none.
 */
struct error *trace_usdt_notes(const struct target *t, struct arena *a, struct usdt_notes *ret)
	MUST_CHECK;

/* A static probe at one of its locations. */
struct trace_static {
	const struct usdt_probe *probe;
	const struct module *module; /* the module that has it */
	size_t n; /* its arguments, those behind the last that can be read left out */
	struct usdt_operand operands[USDT_MAX_OPERANDS];
	struct probe_place place;
};

struct trace_statics {
	const struct trace_static *probes; /* the probes of a module follow each other */
	size_t n;
};

/* Selection of static probes. */
struct trace_usdt_wanted {
	const char *const *patterns; /* PROVIDER:NAME with the wildcards of a shell; NULL ends */
	bool texts;                  /* arguments of 8 bytes may be addresses of texts */
	bool some; /* a pattern may match none: the program's libraries are not loaded yet */
};

/* Finds the selected probes; all of the result is in arena a. ERR_USAGE: a pattern matches none. */
struct error *trace_usdt_find(const struct target *t, const struct trace_usdt_wanted *wanted,
                              struct arena *a, struct trace_statics *ret) MUST_CHECK;
/*
 * Adds those of the libraries that process pid has loaded since, whose executable they were found
 * in. ERR_USAGE: a pattern matches none, neither here nor there.
 */
struct error *trace_usdt_find_loaded(pid_t pid, const struct trace_usdt_wanted *wanted,
                                     struct arena *a, struct trace_statics *ret) MUST_CHECK;

/*
 * Linux (6.18, measured) raises the semaphore in the first writable mapping of the file that has
 * its offset, and another segment may have that page too until it is made read-only.
 * ERR_UNSUPPORTED: process pid has more than one such mapping, so that it might write elsewhere.
 */
struct error *trace_usdt_check_semaphore(pid_t pid, const struct trace_static *probe) MUST_CHECK;

struct trace_argument {
	bool known;       /* the value could be read */
	bool is_signed;   /* how to take the value */
	uint64_t value;   /* extended to 64 bits */
	const char *text; /* at the address that the value is, sanitised; NULL: none */
};

/* A hit of a probe. */
struct trace_hit {
	const struct usdt_probe *probe;
	size_t n;
	struct trace_argument arguments[USDT_MAX_OPERANDS];
};

/* copy: the bytes behind the record. Texts of ret are in arena a. */
void trace_usdt_hit(const struct trace_static *probe, const struct probe_record *record,
                    const unsigned char *copy, struct arena *a, struct trace_hit *ret);

#endif
