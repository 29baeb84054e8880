/*
 * An ELF core file, parsed into tables. The file is untrusted: every offset and count is checked
 * against its size. Bytes beyond the end of the file are counted in missing.
 */
#ifndef DEBUGGER_CORE_CORE_FILE_H
#define DEBUGGER_CORE_CORE_FILE_H

#include <stdint.h>
#include <sys/types.h>

#include "debugger/arch/arch.h"
#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "debugger/target/module.h"
#include "debugger/target/target.h"

struct core_segment {
	uint64_t start, end; /* address range of the mapping */
	const unsigned char *data;
	size_t len; /* bytes from start on that the file contains */
	bool readable, writable, executable;
};

struct core_file {
	const unsigned char *data; /* the whole file, mapped */
	size_t size;
	const struct arch *arch;
	struct core_segment *segments; /* ascending start */
	size_t nsegments;
	struct thread *threads; /* in the order of the notes: the crashed thread first */
	size_t nthreads;
	const unsigned char *auxv;
	size_t auxv_len;
	struct mapping *mappings; /* of NT_FILE, ascending */
	size_t nmappings;
	pid_t pid;           /* NT_PRPSINFO, or the first thread's */
	const char *command; /* sanitised, NULL without NT_PRPSINFO */
	struct target_signal signal;
	uint64_t missing; /* bytes of segments beyond the end of the file */
	bool notes_cut;
};

/*
 * Maps and parses path; tables and texts are in arena a. ERR_UNSUPPORTED or ERR_CORRUPT, with
 * advice, when it is not a core of a supported machine with at least one thread.
 */
struct error *core_file_open(struct arena *a, const char *path, struct core_file *ret) MUST_CHECK;
void core_file_close(struct core_file *core);

/* The segment that covers addr, NULL if none. */
const struct core_segment *core_file_segment(const struct core_file *core, uint64_t addr);

#endif
