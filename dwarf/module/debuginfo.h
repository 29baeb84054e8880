/*
 * The debug information of a target. Each module's DWARF is opened once, and only the parts that a
 * query needs are read. It owns units, types and names, which live until debuginfo_close().
 */
#ifndef DWARF_MODULE_DEBUGINFO_H
#define DWARF_MODULE_DEBUGINFO_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "debugger/target/module.h"
#include "debugger/target/target.h"
#include "dwarf/module/residency.h"
#include "dwarf/scan/scan.h"

struct Dwarf;
struct records;
struct type;

/* How much information a module's debug info has. */
enum dwarf_tier {
	DWARF_FULL,    /* types, variables, lines (debug = 2) */
	DWARF_LINES,   /* functions and lines only (debug = 1, line-tables-only) */
	DWARF_SYMBOLS, /* a symbol table only */
	DWARF_NONE,
};

/* A symbol of .symtab (or .dynsym where there is none). */
struct symbol {
	const char *name;
	uint64_t value, size;
};

/* .symtab, mapped from the file. */
struct symtab {
	const Elf64_Sym *data; /* NULL: the module is stripped */
	size_t n;
	struct section names;
};

/* STT_TLS symbols, for look-ups of thread-locals by name. */
struct tls_symbols {
	struct symbol *data;
	size_t n;
	bool loaded;
	bool has_symtab; /* false: stripped */
};

typedef VEC(uint64_t) address_vec;

/* Code of a unit: link-time [low, high). */
struct unit_range {
	uint64_t low, high;
	uint32_t unit; /* its index */
};

/* A list of DIEs at one address or of one name. */
struct static_place {
	uint64_t die;
	struct static_place *next;
};

enum { MAX_CONTEXTS = 8 };

/* See alternate.h. */
struct alternate {
	struct Dwarf *user, *dwarf; /* dwarf is the alternate file of user; NULL: none was opened */
	struct Elf *elf;
	bool is_open;  /* fd */
	int fd;        /* of elf */
	void *image;   /* memory that holds elf, when it is no file */
	bool has_dies; /* parts of the module's debug info lie there, and not only names */
};

/* How the program was built, as its units tell. */
struct module_build {
	const char *rustc;       /* see debuginfo_rustc_version() */
	const char *own_package; /* see debuginfo_own_package() */
	const char *own_dirs;    /* text for source_dirs_read() */
	/* Directories in which rustc was given a relative name, each with a line feed; NULL: the
	 * module has no debug info */
	const char *relative_dirs;
	bool unwinds; /* see debuginfo_panics_unwind() */
};

/* The ranges of .debug_aranges, ascending low. */
struct unit_ranges {
	struct unit_range *data;
	size_t n;
	bool read;
};

/* Types read so far, and the searches for types by name. */
struct module_types {
	struct map by_die;               /* DIE offset -> struct type */
	struct type_block *first, *last; /* see type_private.h */
	struct map sized;                /* sized types of structs with a tail: types/wide.c */
	size_t nsized;
	bool unrecorded;      /* see types_flush() */
	unsigned array_depth; /* nesting depth while an array is read */
	size_t nread;         /* types read so far */
	struct map by_name;   /* hash of a qualified name -> struct type, resolved declarations */
	struct type_names *names; /* see type_names.h; NULL until needed */
	size_t nsearched;         /* names that were searched for beyond one unit */
};

/* The searches for poll functions: which types are polled, and where. */
struct module_polls {
	struct map polled; /* hash of a type's name -> how it is polled: enum polled_as */
	/* Hash of a name without generics ("app::run::{async_fn#0}") -> struct static_place, of
	 * coroutines' poll functions. */
	struct map coroutines;
	uint64_t *origins;            /* cache of poll_fn_read_inlined() */
	struct map crates[2], visits; /* see poll_units.c */
	struct map
		pinned; /* hash of a T -> struct pin_refs_name of "Pin<&mut T>": see pin_refs.h */
	bool pinned_read;
	struct poll_index *index; /* see poll_index.h; NULL until needed */
	struct map unoptimised;   /* keys of crates: see poll_symbols_is_unoptimised() */
	size_t ntrivial;          /* entries of index->trivial processed for it */
	uint32_t *units;          /* unit of each entry of index; NULL until needed */
	struct map dies;          /* hash of a poll function's name without generics -> its DIE */
	bool dies_known;          /* dies is complete: see enumerate.h */
};

/* The symbol tables, read when needed. */
struct module_symbols {
	struct symtab table; /* see symtab_of() */
	bool read;
	struct symtab_totals *survey; /* NULL until needed */
	struct tls_symbols tls;
	struct map at; /* link-time address -> name of the function's symbol */
};

struct dwarf_module {
	struct debuginfo *di;
	struct module *module;
	struct records *records; /* see debuginfo_records() */
	bool described, loaded;  /* the tier is known; opening the DWARF was attempted */
	struct module_build build;
	struct Dwarf *dwarf; /* NULL unless loaded and tier is FULL or LINES */
	struct alternate alternate;
	enum dwarf_tier tier;
	const char *tier_reason; /* why it is not FULL, with advice; NULL when FULL */
	struct dwarf_sections sections;
	struct file_mapping file; /* the mapping that holds the sections */
	struct unit *units;       /* ascending start */
	size_t nunits;
	size_t nscanned;        /* units */
	struct unit *last_unit; /* last result of debuginfo_unit_of() */
	struct unit_ranges ranges;
	struct scanner *scanner; /* of the units that stay scanned; NULL until needed */
	struct module_types types;
	struct instance_set *instance_sets; /* see lookup_has_instance() */
	struct map functions;               /* DIE offset -> struct function */
	struct map statics; /* link-time address -> struct static_place, of units read so far */
	struct module_polls polls;
	const struct type *contexts[MAX_CONTEXTS]; /* see lookup_context(); a ring buffer */
	size_t ncontexts; /* all entries so far, overwritten ones included */
	struct module_symbols symbols;
};

/* Options that must live as long as the debuginfo that uses them. */
struct records_options {
	const char *cache; /* directory of the cache; NULL: no cache */
};

/*
 * Services of the layers above, passed to debuginfo_open() so that this layer does not depend on
 * them: see dwarf/store/open.h.
 */
struct debuginfo_hooks {
	/* Loads a module's records of earlier runs; never NULL. */
	struct records *(*open_records)(struct dwarf_module *dm);
	/*
	 * Saves dm->records for the next run if that is enabled, frees them and sets dm->records to
	 * NULL.
	 */
	void (*close_records)(struct dwarf_module *dm);
	/* Frees the caches of searches in dm; they can be rebuilt afterwards. */
	void (*forget_searches)(struct dwarf_module *dm);
	/* lookup_type() */
	const struct type *(*find_type)(struct dwarf_module *dm, const char *name, uint64_t near);
};

struct debuginfo {
	const struct debuginfo_hooks *hooks;
	struct target *target;
	const struct records_options *records; /* NULL: no file of records is used */
	struct dwarf_module **modules;         /* main module first; only those with a file */
	size_t nmodules;
	const void *above; /* owned by the layer above, NULL none: its tables to classify types */
	struct source_dirs *source_dirs; /* see debuginfo_source_dirs(); NULL until needed */
	size_t source_dirs_modules;      /* nmodules when they were read */
	struct arena arena;
};

/* Opens every module lazily: no debug info is read yet. di->records may be set after this call. */
struct error *debuginfo_open(struct target *t, const struct debuginfo_hooks *hooks,
                             struct debuginfo **ret) MUST_CHECK;
/*
 * Adds new modules, after target_update_modules(). Unloaded modules stay, but no search finds
 * anything in them.
 */
void debuginfo_update(struct debuginfo *di);
void debuginfo_close(struct debuginfo *di);

/* Returns file pages to the kernel, when few of them will be read again. */
void debuginfo_trim(struct debuginfo *di);
/*
 * The module with its tier set, NULL when no file was found for it. If records contain the tier,
 * its DWARF is not opened: see debuginfo_need().
 */
struct dwarf_module *debuginfo_module(struct debuginfo *di, const struct module *m);
/* The module's records, loaded on first use; never NULL. */
struct records *debuginfo_records(struct dwarf_module *dm);
/* A hash of all section headers of the module's file, to tell builds apart. */
uint64_t debuginfo_sections_hash(struct dwarf_module *dm);
/*
 * Opens the DWARF, reads unit headers and determines the tier; once. False when the module has no
 * DWARF.
 */
bool debuginfo_need(struct dwarf_module *dm);
/* Is this link-time address read-only after relocation, by the file's headers? */
bool debuginfo_is_constant(struct dwarf_module *dm, uint64_t addr);
/*
 * The number of size bytes (at most 8) that a program starts with at a link-time address, by the
 * file: 0 in .bss. False if no segment of the file covers it.
 */
bool debuginfo_initial_number(struct dwarf_module *dm, uint64_t addr, size_t size, uint64_t *ret);
/*
 * The link-time range [low, high) in which constants with addresses of code lie: the part that is
 * read-only after relocation; all read-only data if nothing is relocated; everything if the linker
 * made no part read-only after relocation. Empty if unknown.
 */
void debuginfo_constants(struct dwarf_module *dm, uint64_t *low, uint64_t *high);
/*
 * True for modules without Rust code: the kernel's vdso, and libraries of the C runtime by name.
 * Their debug info, often in compressed files of megabytes, need not be opened to find Rust
 * functions.
 */
bool debuginfo_is_system(const struct module *m);
/* The nth module of di, opened; NULL when it is such a library or has no debug info. n < nmodules.
 */
struct dwarf_module *debuginfo_program_module(struct debuginfo *di, size_t n);

/*
 * Blocks, one in another, that are followed in a function. In rustc's debug info each `let` opens a
 * block in that of the `let` before it, and functions of thousands of them compile.
 */
enum { DIE_MAX_NESTING = 1 << 13 };

/* The unit that holds the DIE at this offset, NULL when none. */
struct unit *debuginfo_unit_of(struct dwarf_module *dm, uint64_t die);
/* debuginfo_unit_of(), with the unit scanned. */
struct unit *debuginfo_scanned_unit_of(struct dwarf_module *dm, uint64_t die);
/* Scans the unit unless it is scanned already. */
void debuginfo_scan(struct dwarf_module *dm, struct unit *u);
/*
 * Calls visit with the unit scanned. If passing is given and the unit was not scanned before, its
 * notes and pages are freed afterwards: those of many units, most of which are needed only here,
 * would take more memory than everything else.
 */
typedef void unit_fn(struct dwarf_module *dm, struct unit *u, void *arg);
void debuginfo_pass(struct dwarf_module *dm, struct unit *u, struct scanner *passing,
                    unit_fn *visit, void *arg);
/* The DIE of the `{vtable}` variable at a link-time address, in units scanned so far; 0 none. */
uint64_t debuginfo_vtable(struct dwarf_module *dm, uint64_t link);
/* The unit that has code at a link-time address, NULL when none. */
struct unit *debuginfo_unit_at(struct dwarf_module *dm, uint64_t pc);

/* "1.53.1" from the registry path ".../tokio-1.53.1/src/..." of crate's units; NULL unknown. */
const char *lookup_crate_version(struct dwarf_module *dm, const char *crate);
/* "1.95.0" from DW_AT_producer; NULL when the module has no Rust unit. */
const char *debuginfo_rustc_version(struct dwarf_module *dm);
/*
 * The directory of the program's own package, if it was built from a directory in which it is not
 * developed: `cargo install` builds in Cargo's registry or a checkout, like dependencies. NULL if
 * some crates lie elsewhere, which are then the program's own, and if the crate of `main` is
 * unknown. All crates of a workspace in a checkout count as one package.
 */
const char *debuginfo_own_package(struct dwarf_module *dm);
/* debuginfo_own_package() of the executable; NULL without its file, too. */
const char *debuginfo_program_package(struct debuginfo *di);
/*
 * The directory in which the crate was compiled that has a file of a relative name, as rustc writes
 * it into the module for messages of panics and spawns: relative to that of its own crate. NULL: no
 * crate of the program has it, or (*several) those of several directories may have. Lives as long
 * as dm->di.
 */
const char *debuginfo_dir_of(struct dwarf_module *dm, const char *file, bool *several);
/*
 * Folders of the crates of the executable and of its libraries, empty where there is no debug info.
 * A library that is loaded later adds its own: a file may have a longer name from then on.
 */
const struct source_dirs *debuginfo_source_dirs(struct debuginfo *di);

/*
 * Whether a panic unwinds the stack (panic=unwind): the module contains std's crate panic_unwind,
 * of which rustc links either this one or panic_abort. False also when it is unknown.
 */
bool debuginfo_panics_unwind(struct dwarf_module *dm);

/*
 * lookup_crate_version(), debuginfo_rustc_version() and debuginfo_own_package() from DWARF
 * alone, without records.
 */
const char *debuginfo_read_crate_version(struct dwarf_module *dm, const char *crate);
const char *debuginfo_read_rustc_version(struct dwarf_module *dm);
const char *own_package_read(struct dwarf_module *dm);
/* The text of source_dirs_read(), of the crates that are in no package. */
const char *own_package_dirs_read(struct dwarf_module *dm);
/* Directories for debuginfo_dir_of(), and which of them has a file. */
const char *own_package_relative_dirs_read(struct dwarf_module *dm);
const char *own_package_dir_of(struct dwarf_module *dm, const char *dirs, const char *file,
                               bool *several);
/* Whether a unit of the module, which is open, is of one of the program's own crates. */
bool own_package_has(const struct dwarf_module *dm, const struct unit *u);

/* Reads the STT_TLS symbols of the module; once. */
const struct tls_symbols *debuginfo_tls_symbols(struct dwarf_module *dm);

#endif
