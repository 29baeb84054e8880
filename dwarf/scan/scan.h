/*
 * Our own abbreviation-driven scanner of one unit of .debug_info. It records the place of every DIE
 * that has a name or an address (namespaces, types, functions, statics), with its parent, which
 * libdw does not keep. It skips the rest, more than ten times as fast as libdw. A large program has
 * millions of such DIEs: a note has 16 bytes, and the other attributes are read from the DIE on
 * demand.
 */
#ifndef DWARF_SCAN_SCAN_H
#define DWARF_SCAN_SCAN_H

#include <dwarf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "dwarf/scan/reader.h"

/*
 * The working state of scans: the unit's abbreviations, which adjacent units may share, and the
 * memory for notes.
 */
struct scanner;

struct scanner *scanner_new(void);
void scanner_free(struct scanner *s);
/*
 * Discards all notes. Call scan_forget() for all units that it scanned before. The memory is reused
 * for new notes.
 */
void scanner_reset(struct scanner *s);

/* The sections of one file that the scanner reads, uncompressed. */
struct dwarf_sections {
	struct section info, abbrev, str, line, line_str, str_offsets, addr, aranges, ranges;
};

enum { SCOPE_NONE = UINT32_MAX };

/* Properties of a DIE that a scan records. */
enum scope_flag {
	SCOPE_DECLARATION = 1 << 0,
	SCOPE_ADDRESS = 1 << 1, /* function: has a low_pc; variable: its location is an address */
	SCOPE_TLS = 1 << 2,     /* variable: its location is an offset in the module's TLS block */
	SCOPE_RANGES = 1 << 3,  /* function in several pieces: use libdw */
	SCOPE_LINKAGE = 1 << 4,
	SCOPE_ORIGIN = 1 << 5,
	SCOPE_NAMED = 1 << 6,
	SCOPE_NAME_AT = 1 << 7, /* name is an offset in .debug_str */
	SCOPE_TYPE = 1 << 8,    /* has a DW_AT_type: a function with a return value */
	SCOPE_DROPPED = 1 << 9, /* function: the linker dropped its code */
};

struct scope_note {
	uint32_t die;    /* offset from the unit's start */
	uint32_t parent; /* index of the enclosing scope, SCOPE_NONE below the unit */
	uint32_t name;
	uint16_t tag, flags;
};

/*
 * Does a function return nothing, or a type without a size? False for declarations and for
 * functions that complete another DIE: they do not state the return type.
 */
static inline bool scan_returns_nothing(const struct scope_note *note)
{
	return note->tag == DW_TAG_subprogram &&
	       !(note->flags & (SCOPE_TYPE | SCOPE_ORIGIN | SCOPE_DECLARATION));
}

/* The attributes of a scope's DIE, read by scan_scope(). */
struct scope {
	uint64_t die;        /* offset in .debug_info */
	uint64_t low, high;  /* function: link-time range (high 0: declaration or DW_AT_ranges);
	                        variable: address or TLS offset in low */
	uint64_t origin;     /* DW_AT_specification or DW_AT_abstract_origin, 0 none */
	const char *name;    /* borrowed from the section, NULL none */
	const char *linkage; /* DW_AT_linkage_name, NULL none */
	uint32_t parent;
	uint16_t tag;
	bool declaration;
	bool has_address; /* low is an address (DW_OP_addr) or a function's low_pc */
	bool is_tls;      /* low is an offset in the module's TLS block */
	bool has_ranges;  /* function in several pieces: use libdw */
};

struct unit_function {
	uint64_t low;
	uint32_t size;
	uint32_t scope;
};

/* Notes that a scan of the unit has made. Owned by the scanner, valid until scan_forget(). */
struct unit_scan {
	struct scope_note *scopes; /* ascending die */
	size_t nscopes;
	struct unit_function *functions; /* in the order of DIEs */
	size_t nfunctions;
	struct unit_starts *starts; /* hash of function starts; NULL until needed */
	uint32_t *variables;        /* scopes that are variables */
	size_t nvariables;
};

struct unit {
	uint64_t start, end; /* offsets in .debug_info, header included */
	uint64_t first_die;
	uint64_t abbrev_offset;
	uint64_t str_offsets_base, addr_base; /* DWARF 5, from the unit's DIE */
	uint64_t stmt_list;                   /* offset in .debug_line, UINT64_MAX none */
	const char *name;                     /* DW_AT_name, NULL none */
	const char *comp_dir;
	const char *producer;
	const char *dwo_name; /* split DWARF: the file with the content */
	uint64_t low_pc;
	uint16_t version;
	uint8_t address_size, offset_size, type;
	/* Parts of the unit's name "ROOT/src/lib.rs/@/CRATE.HASH-cgu.N": */
	const char *crate; /* crate_len bytes; NULL when the name has another form */
	uint32_t crate_len;
	uint64_t crate_key; /* hash of the text before "/@/", 0 none: equal within one crate */
	bool has_code;      /* its DIE has a high_pc or ranges */
	bool scanned;
	bool in_aranges;        /* .debug_aranges has a set for it */
	bool polled_noted;      /* poll_fn_read() searched it */
	bool types_noted;       /* type_names_find() searched it */
	bool vtables_noted;     /* its statics are in dwarf_module.statics */
	struct unit_scan found; /* if scanned */
	struct unit *first;     /* of adjacent units with equal abbreviations; it alone has: */
	struct abbrev_index *abbrevs; /* NULL until a DIE is read by its offset */
	struct file_table *files;     /* NULL until needed */
};

/* A callback that receives the end of each unit. */
struct scan_watcher {
	void (*passed)(const uint8_t *end, void *arg);
	void *arg;
};
/*
 * Reads the headers and the root DIEs of all units of .debug_info. Stops silently at a corrupt
 * header. watcher may be NULL.
 */
struct unit *scan_units(const struct dwarf_sections *s, struct arena *a, size_t *nret,
                        const struct scan_watcher *watcher);
/*
 * Fills in scopes and functions; once. The part of a corrupt unit before the fault is kept. Touches
 * nothing but the unit and the scanner, which must live as long as the notes.
 */
void scan_unit(const struct dwarf_sections *s, struct unit *u, struct scanner *scanner);
/* Whether the unit has a DIE of that tag; stops at the first. */
bool scan_has_tag(const struct dwarf_sections *s, struct unit *u, unsigned tag);
/* Discards what scan_unit() filled in. The unit may be scanned again. */
void scan_forget(struct unit *u);
/* scan_forget() but for the abbreviations: a caller may be reading a DIE of the unit. */
void scan_forget_notes(struct unit *u);

/* Reads a scope's DIE. */
struct scope scan_scope(const struct dwarf_sections *s, struct unit *u, uint32_t index);
/* The name of a scope alone, NULL none. */
const char *scan_scope_name(const struct dwarf_sections *s, struct unit *u, uint32_t index);
/*
 * The function whose [low, high) contains pc, the one with the nearest start; SCOPE_NONE if none.
 */
uint32_t scan_function_at(struct unit *u, uint64_t pc);
/*
 * Iterates over the functions that start at low: the one that follows after, or the first if after
 * is NULL. NULL at the end.
 */
const struct unit_function *scan_function_from(struct unit *u, uint64_t low,
                                               const struct unit_function *after);
/* The scope whose DIE is at this offset; SCOPE_NONE when the DIE is no scope. */
uint32_t scan_scope_at(const struct unit *u, uint64_t die);

/*
 * Crate of a unit, from "ROOT/src/lib.rs/@/CRATE.HASH-cgu.N"; false when the name has another form.
 */
bool unit_crate(const struct unit *u, const char **name, size_t *len);
/* Is the unit of the crate of that name, which has len bytes? */
bool unit_is_of_crate(const struct unit *u, const char *crate, size_t len);

#endif
