/*
 * Survey of the async executors that a program or library contains, from its file alone: for a list
 * of many processes, where opening the debug info of each would take too long. The evidence is the
 * paths of source files that rustc stores for messages of panics (core::panic::Location), which a
 * stripped program has too, or else the names of symbols.
 */
#ifndef RUNTIMES_EXECUTOR_DETECT_EXECUTOR_DETECT_H
#define RUNTIMES_EXECUTOR_DETECT_EXECUTOR_DETECT_H

#include <stdbool.h>
#include <stddef.h>

#include "debugger/base/arena.h"

/* An executor whose code a file contains. */
struct detected_executor {
	const char *name;    /* for people: "tokio", "async-executor (smol)"; static */
	const char *crate;   /* "tokio"; static */
	const char *version; /* "1.54.1"; NULL: unknown */
	bool supported;      /* asyncdbg can list its tasks */
};

struct detected_executors {
	struct detected_executor *data; /* the executors; those that asyncdbg supports first */
	size_t n;
	bool rust;           /* the file has Rust code */
	bool has_debug_info; /* a section .debug_info, whatever it describes */
};

/*
 * Reads an open ELF file. *ret is in arena a; it is empty for a file that is no ELF file or is
 * corrupt. The file may change meanwhile. Reads at most EXECUTOR_DETECT_MAX_SECTION bytes of a
 * section.
 */
enum { EXECUTOR_DETECT_MAX_SECTION = 256 << 20 };
void executor_detect_file(struct arena *a, int fd, struct detected_executors *ret);

/* Fills *ret, without a version, for the executor of that crate; false: there is no such row. */
bool executor_detect_executor(const char *crate, struct detected_executor *ret);

#endif
