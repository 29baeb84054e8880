/*
 * The static probes (USDT) that the executable of a program has itself, and what a hit of one
 * means.
 */
#ifndef RUNTIMES_TRACE_USDT_H
#define RUNTIMES_TRACE_USDT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "debugger/elf/usdt_notes.h"
#include "debugger/elf/usdt_operand.h"
#include "debugger/probe/probe_record.h"

struct module;
struct target;

/* Reads them; all of the result is in arena a. None, if the file of the executable was not found.
 */
struct error *trace_usdt_notes(const struct target *t, struct arena *a, struct usdt_notes *ret)
	MUST_CHECK;

/* A static probe at one of its locations. */
struct trace_static {
	const struct usdt_probe *probe;
	size_t n; /* its arguments, those behind the last that can be read left out */
	struct usdt_operand operands[USDT_MAX_OPERANDS];
	struct probe_place place;
};

struct trace_statics {
	const struct module *module;
	const struct trace_static *probes;
	size_t n;
};

/*
 * The probes that match one of the patterns, which is PROVIDER:NAME with the wildcards of a shell.
 * texts: arguments of 8 bytes may be addresses of texts. All of the result is in arena a.
 * ERR_USAGE: a pattern matches none.
 */
struct error *trace_usdt_find(const struct target *t, const char *const *patterns, bool texts,
                              struct arena *a, struct trace_statics *ret) MUST_CHECK;

struct trace_argument {
	bool known;       /* it could be read */
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

/* copy: what follows the record. Texts of ret are in arena a. */
void trace_usdt_hit(const struct trace_static *probe, const struct probe_record *record,
                    const unsigned char *copy, struct arena *a, struct trace_hit *ret);

#endif
