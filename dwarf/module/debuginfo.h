/*
 * The debug information of a target: each module's DWARF, opened once and read as little as the
 * question needs. Owns units, types and names; they live until debuginfo_close().
 */
#ifndef DWARF_MODULE_DEBUGINFO_H
#define DWARF_MODULE_DEBUGINFO_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/map.h"
#include "debugger/base/parallel.h"
#include "debugger/base/vec.h"
#include "debugger/target/module.h"
#include "debugger/target/target.h"
#include "dwarf/module/residency.h"
#include "dwarf/scan/scan.h"

struct Dwarf;
struct records;
struct poll_names;
struct type;

/* How much a module's debug info can tell. */
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

/* .symtab as it lies in the file. */
struct symtab {
	const Elf64_Sym *data; /* NULL: the module is stripped */
	size_t n;
	struct section names;
};

/* Symbols whose names matter for look-ups: thread-locals by name. */
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

/* A DIE, and the next one at the same address or of the same name. */
struct static_place {
	uint64_t die;
	struct static_place *next;
};

enum { MAX_CONTEXTS = 8 };

/* See alternate.h. */
struct alternate {
	struct Dwarf *user, *dwarf; /* user's is dwarf; NULL: none was opened */
	struct Elf *elf;
	bool is_open; /* fd */
	int fd;       /* of elf */
	void *image;  /* that elf is in where it is no file's */
};

struct dwarf_module {
	struct debuginfo *di;
	struct module *module;
	struct records *records; /* see debuginfo_records() */
	bool described, loaded;  /* the tier is known; its DWARF was opened or has none */
	const char *rustc;       /* see debuginfo_rustc_version() */
	const char *own_package; /* see debuginfo_own_package() */
	struct Dwarf *dwarf;     /* NULL unless loaded and tier is FULL or LINES */
	struct alternate alternate;
	enum dwarf_tier tier;
	const char *tier_reason; /* why not FULL, and what to do; NULL when full */
	struct dwarf_sections sections;
	struct file_mapping file; /* that the sections are in */
	struct unit *units;       /* ascending start */
	size_t nunits;
	struct unit *last_unit; /* that debuginfo_unit_of() found */
	bool aranges_read;
	struct unit_range *ranges; /* ascending low, from .debug_aranges */
	size_t nranges;
	struct scanner *scanners[PARALLEL_MAX];      /* NULL until needed */
	struct map types;                            /* DIE offset -> struct type */
	struct type_block *first_types, *last_types; /* see type_private.h */
	bool types_untold;                           /* see types_flush() */
	unsigned array_depth;                        /* of arrays in arrays, while one is read */
	struct map by_name; /* hash of a qualified name -> struct type, resolved declarations */
	struct type_names *type_names;      /* see type_names.h; NULL until asked for */
	size_t nnames;                      /* that were searched for beyond the unit at hand */
	struct instance_set *instance_sets; /* see lookup_has_instance() */
	struct map functions;               /* DIE offset -> struct function */
	struct map statics; /* link-time address -> struct static_place, of units looked at */
	struct map polled;  /* hash of the name of a type that has a poll function */
	/* Hash of a name without generics ("app::run::{async_fn#0}") -> struct static_place, of
	 * coroutines' poll functions. */
	struct map coroutine_polls;
	struct poll_names *poll_names;          /* see poll_candidates.h */
	uint64_t *polled_origins;               /* the last DIEs of polled_read_inlined() */
	struct map poll_crates[2], poll_visits; /* see poll_units.c */
	size_t nscanned;                        /* units */
	size_t ntypes;                          /* read so far */
	struct poll_index *poll_index;          /* see poll_index.h; NULL until asked for */
	struct map unoptimised; /* keys of crates: see poll_symbols_is_unoptimised() */
	size_t ntrivial;        /* of what tells them, looked at */
	uint32_t *poll_units;   /* by entries of poll_index; NULL: nobody asked for it */
	const struct type *contexts[MAX_CONTEXTS]; /* see lookup_context(); a ring */
	size_t ncontexts;                          /* all that came so far */
	struct map symbols_at; /* link-time address -> name of the function's symbol */
	struct map poll_dies;  /* hash of a poll function's name without generics -> its DIE */
	bool poll_dies_known;  /* all of them: see enumerate.h */
	struct symtab symtab;  /* see symtab_of() */
	bool symtab_read;
	struct symtab_survey *survey; /* of its symbols; NULL until needed */
	struct tls_symbols tls;
};

/* Lives as long as the debuginfo that uses it. */
struct records_options {
	const char *cache; /* directory of the cache; NULL: none is used */
};

/*
 * What the folders above this one do for it. They are given to debuginfo_open(), so that nothing
 * here calls upwards: dwarf/store/open.h.
 */
struct debuginfo_hooks {
	/* What is known of a module from runs before; never NULL. */
	struct records *(*open_facts)(struct dwarf_module *dm);
	/* Keeps dm->records for the next run, if that is wanted, frees them and sets it to NULL. */
	void (*close_facts)(struct dwarf_module *dm);
	/* Frees what searches keep in dm; they may be made again afterwards. */
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
	const void
		*above; /* of the layer above, NULL none: the tables that it classifies types by */
	struct arena arena;
};

/* Opens every module lazily: nothing is read from debug info yet. di->records may be set then. */
struct error *debuginfo_open(struct target *t, const struct debuginfo_hooks *hooks,
                             struct debuginfo **ret) MUST_CHECK;
void debuginfo_close(struct debuginfo *di);

/*
 * Gives back what scans noted of a module's units when it takes more than limit bytes, and pages of
 * files: it is read again when it is needed. Nobody may be going through a unit's scopes. The
 * memory of notes serves the next ones, but where limit is 0 it is given back too.
 */
void debuginfo_trim(struct debuginfo *di, size_t limit);
/* The same when nearly all that is needed was read: the memory of notes is given back. */
void debuginfo_trim_final(struct debuginfo *di, size_t limit);
/*
 * The module with its tier set, NULL when no file was found for it. Its DWARF is not opened where
 * records tell its tier: see debuginfo_need().
 */
struct dwarf_module *debuginfo_module(struct debuginfo *di, const struct module *m);
/* What is known of the module without its DWARF; never NULL. */
struct records *debuginfo_records(struct dwarf_module *dm);
/* A hash of all section headers of the module's file: two builds differ in it. */
uint64_t debuginfo_sections_hash(struct dwarf_module *dm);
/* Opens dwarf, reads unit headers, decides the tier; once. False when the module has none. */
bool debuginfo_need(struct dwarf_module *dm);
/* Does the file keep what is at this link-time address from being written, once it is relocated? */
bool debuginfo_is_constant(struct dwarf_module *dm, uint64_t addr);
/*
 * Where in the file, as link-time [low, high), constants lie that hold addresses of code: what is
 * kept from being written once it is relocated, all that is read-only where nothing is relocated,
 * or everything where the linker keeps nothing from being written. Empty where that cannot be told.
 */
void debuginfo_constants(struct dwarf_module *dm, uint64_t *low, uint64_t *high);
/*
 * No Rust can be in it: the kernel's vdso, or a library of the C runtime by its name. Their debug
 * info, often in compressed files of megabytes, need not be opened to recognise Rust functions.
 */
bool debuginfo_is_system(const struct module *m);

/* The unit that holds the DIE at this offset, NULL when none. */
struct unit *debuginfo_unit_of(struct dwarf_module *dm, uint64_t die);
/* The same, scanned. */
struct unit *debuginfo_scanned_unit_of(struct dwarf_module *dm, uint64_t die);
/* Scans it if that was not done yet. */
void debuginfo_scan(struct dwarf_module *dm, struct unit *u);
/* The same into that scanner, without what the thread of dm keeps: any thread may. */
void debuginfo_scan_with(const struct dwarf_module *dm, struct unit *u, struct scanner *scanner);
/* Scans those that are not scanned yet, by several threads when that is worth it. */
void debuginfo_scan_all(struct dwarf_module *dm, struct unit **units, size_t n);
/* Scans the units that have code at these run-time addresses, of modules that are loaded. */
void debuginfo_prefetch(struct debuginfo *di, const uint64_t *addrs, size_t n);
/* The DIE of the `{vtable}` variable at a link-time address, in units scanned so far; 0 none. */
uint64_t debuginfo_vtable(struct dwarf_module *dm, uint64_t link);
/* The unit that has code at a link-time address, NULL when none. */
struct unit *debuginfo_unit_at(struct dwarf_module *dm, uint64_t pc);
/* The same at a run-time one; NULL also of another module, or one that is not loaded. */
struct unit *debuginfo_unit_of_code(struct dwarf_module *dm, uint64_t addr);
/* Is the code at two run-time addresses of one crate? Also where nothing says that it is not. */
bool debuginfo_same_crate(struct debuginfo *di, uint64_t a, uint64_t b);

/* "1.53.1" from the registry path ".../tokio-1.53.1/src/..." of crate's units; NULL unknown. */
const char *lookup_crate_version(struct dwarf_module *dm, const char *crate);
/* "1.95.0" from DW_AT_producer; NULL when the module has no Rust unit. */
const char *debuginfo_rustc_version(struct dwarf_module *dm);
/*
 * The directory of the package that the program itself is, where it was built from one that is not
 * developed in place: `cargo install` builds in Cargo's registry or a checkout, as dependencies
 * are. NULL where some of its crates lie elsewhere, which are the program's own then, and where
 * nothing says which crate `main` is of. Of a workspace in a checkout all crates are of one
 * package.
 */
const char *debuginfo_own_package(struct dwarf_module *dm);

/* The same three as DWARF alone says, without what is known from runs before. */
const char *debuginfo_read_crate_version(struct dwarf_module *dm, const char *crate);
const char *debuginfo_read_rustc_version(struct dwarf_module *dm);
const char *own_package_read(struct dwarf_module *dm);

/* Reads the STT_TLS symbols of the module; once. */
const struct tls_symbols *debuginfo_tls_symbols(struct dwarf_module *dm);

#endif
