/*
 * An ELF file that is mapped in the target. There are two kinds of addresses, which must not be
 * mixed: run-time addresses (uint64_t addr) and link-time addresses (struct link_addr).
 */
#ifndef DEBUGGER_TARGET_MODULE_H
#define DEBUGGER_TARGET_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/error.h"
#include "debugger/elf/elf_image.h"

struct target;
struct Dwfl;
struct Dwfl_Module;

/* An address as the linker wrote it, before relocation. */
struct link_addr {
	uint64_t v;
};

struct module {
	const char *path;    /* as the target names it, sanitised, without " (deleted)" */
	const char *file;    /* the file we opened for it, sanitised; NULL: not found */
	uint64_t start, end; /* run-time range of its PT_LOADs */
	uint64_t bias;       /* run-time = link-time + bias */
	bool is_main;        /* the executable */
	bool is_vdso;
	bool is_unloaded; /* it was: it is behind the first t->modules.n */
	unsigned char build_id[BUILD_ID_MAX];
	size_t build_id_len; /* 0: has none */
	/* PT_TLS, zeros when absent. */
	uint64_t tls_memsz, tls_align, tls_vaddr;
	int fd;                   /* of file, to read bytes that a core lacks; -1 not found */
	struct Dwfl_Module *dwfl; /* NULL when the file was not found */
	char *debug_note; /* why a debug file was rejected, see debug_file.h; NULL: none was */
	const char *debug_file_problem; /* why the one that was found is not opened; NULL: none */
	bool no_debug_file;             /* the search for a debug file is complete and found none */
};

/* The module that covers a run-time address, NULL if none. */
struct module *module_at(const struct target *t, uint64_t addr);

static inline struct link_addr module_link_addr(const struct module *m, uint64_t addr)
{
	return (struct link_addr){ addr - m->bias };
}

static inline uint64_t module_runtime_addr(const struct module *m, struct link_addr addr)
{
	return addr.v + m->bias;
}

/* A file mapping of the target, from /proc/PID/maps or NT_FILE. */
struct mapping {
	uint64_t start, end;
	uint64_t file_offset;
	const char *path; /* as the target names it, byte for byte */
	bool readable, writable, executable;
};

/*
 * Names the files to try for the module that starts at mapping. attempt counts up from 0 until the
 * build-id of a file matches; open is NULL when there are no more files. The strings live as long
 * as the target. A live target looks below /proc/PID/root and at /proc/PID/exe; a core tries --exe,
 * the path, and the file name in other directories.
 */
struct module_file {
	const char *open;    /* path to open */
	const char *display; /* path to show; debug files are searched next to it */
};
typedef struct module_file module_file_fn(struct target *t, const struct mapping *mapping,
                                          bool is_main, unsigned attempt);

/*
 * Groups mappings into modules, opens their files, compares their build-ids with those in the
 * target's memory, and reports the modules to a new t->dwfl. A module whose file is missing or
 * differs gets a target_note() and file == NULL. An executable that differs is an ERR_USAGE
 * instead, which shows both ids and names --force.
 */
struct error *modules_report(struct target *t, const struct mapping *mappings, size_t nmappings,
                             module_file_fn *find_file, bool force) MUST_CHECK;
/*
 * Brings t->modules up to date with the mappings of a program that has been running on. A module
 * is the same again when its file is loaded at the same place as before; another one at that place
 * is left out, and noted.
 */
struct error *modules_update(struct target *t, const struct mapping *mappings, size_t nmappings,
                             module_file_fn *find_file, bool *changed) MUST_CHECK;
void modules_close(struct target *t);

/*
 * Checks the file that the user named as the executable: ERR_OS if it cannot be read, ERR_USAGE if
 * it is no ELF file, ERR_UNSUPPORTED if it is for another machine than t. modules_report() then
 * checks whether it is the right program.
 */
struct error *module_check_exe(const struct target *t, const char *exe) MUST_CHECK;

#endif
