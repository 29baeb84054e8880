/*
 * Our own abbreviation-driven scanner of one unit of .debug_info. It notes where everything lies
 * that has a name or an address (namespaces, types, functions, statics), with its parent, which
 * libdw does not keep, and steps over the rest at more than ten times libdw's speed. A large
 * program has millions of such places: a note is 16 bytes, and what else the DIE says is read
 * again from it when somebody asks.
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
 * What scans work with and note in: the unit's abbreviations, which its neighbours may share, and
 * memory. Several threads scan at once, each with a scanner of its own.
 */
struct scanner;

struct scanner *scanner_new(void);
void scanner_free(struct scanner *s);
/*
 * Forgets all notes: all units that it scanned are to be forgotten before. keep: their memory
 * serves the next ones, else it is given back.
 */
void scanner_reset(struct scanner *s, bool keep);

/* The sections of one file that the scanner reads, uncompressed. */
struct dwarf_sections {
	struct section info, abbrev, str, line, line_str, str_offsets, addr, aranges, ranges;
};

enum { SCOPE_NONE = UINT32_MAX };

/* What a scan notes of a DIE. */
enum scope_flag {
	SCOPE_DECLARATION = 1 << 0,
	SCOPE_ADDRESS = 1 << 1, /* function: has a low_pc; variable: its location is an address */
	SCOPE_TLS = 1 << 2,     /* variable: its location is an offset in the module's TLS block */
	SCOPE_RANGES = 1 << 3,  /* function in several pieces: ask libdw */
	SCOPE_LINKAGE = 1 << 4,
	SCOPE_ORIGIN = 1 << 5,
	SCOPE_NAMED = 1 << 6,
	SCOPE_NAME_AT = 1 << 7, /* name is an offset in .debug_str */
	SCOPE_TYPE = 1 << 8,    /* it has a DW_AT_type: a function returns something */
};

struct scope_note {
	uint32_t die;    /* counted from the unit's start */
	uint32_t parent; /* index of the enclosing scope, SCOPE_NONE below the unit */
	uint32_t name;
	uint16_t tag, flags;
};

/*
 * Does a function return nothing, or something without a size? Those that only declare a function,
 * or complete another, do not say what it returns.
 */
static inline bool scan_returns_nothing(const struct scope_note *note)
{
	return note->tag == DW_TAG_subprogram &&
	       !(note->flags & (SCOPE_TYPE | SCOPE_ORIGIN | SCOPE_DECLARATION));
}

/* All that a scope's DIE says, read by scan_scope(). */
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
	bool has_ranges;  /* function in several pieces: ask libdw */
};

struct unit_function {
	uint64_t low;
	uint32_t size;
	uint32_t scope;
};

/* A function that returns something. */
struct unit_result {
	uint32_t scope;
	uint32_t type; /* its DIE, counted from the unit's start; 0: another unit's */
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
	const char *dwo_name; /* split DWARF: where its content is */
	uint64_t low_pc;
	uint16_t version;
	uint8_t address_size, offset_size, type;
	/* From its name "ROOT/src/lib.rs/@/CRATE.HASH-cgu.N": */
	const char *crate; /* crate_len bytes; NULL when it does not say */
	uint32_t crate_len;
	uint64_t crate_key; /* a hash of what stands before "/@/", 0 none: equal in one crate */
	bool has_code;      /* its DIE says where: by a high_pc, or ranges */
	bool scanned;
	bool queued;        /* debuginfo_scan_all() has it on its list */
	bool searched;      /* poll_named_die() looked through it */
	bool in_aranges;    /* .debug_aranges has a set for it */
	bool polled_noted;  /* polled_read() looked through it */
	bool types_noted;   /* type_names_find() looked through it */
	bool vtables_noted; /* its statics are in struct dwarf_module's vtables */
	/* The scanner's, until scan_forget(): */
	struct scope_note *scopes; /* ascending die */
	size_t nscopes;
	struct unit_function *functions; /* in the order of their DIEs */
	size_t nfunctions;
	struct unit_starts *starts; /* NULL until asked where a function starts */
	struct unit_result *results;
	size_t nresults;
	uint32_t *voids; /* scopes: functions of which scan_returns_nothing() is true */
	size_t nvoids;
	uint32_t *variables; /* scopes that are variables */
	size_t nvariables;
	struct unit *first; /* of the neighbours with the same abbreviations, which alone has: */
	struct abbrev_index *abbrevs; /* NULL until a DIE was read by its offset */
	struct file_table *files;     /* NULL until asked for */
};

/* Told of each unit where it ends. */
struct scan_watcher {
	void (*passed)(const uint8_t *end, void *arg);
	void *arg;
};
/*
 * All units of .debug_info: what their headers say, and their own DIEs. Stops quietly at a corrupt
 * header. watcher may be NULL.
 */
struct unit *scan_units(const struct dwarf_sections *s, struct arena *a, size_t *nret,
                        const struct scan_watcher *watcher);
/*
 * Fills scopes and functions; once. A corrupt unit keeps what came before the fault. Touches
 * nothing but the unit and the scanner, which must live as long as what it noted.
 */
void scan_unit(const struct dwarf_sections *s, struct unit *u, struct scanner *scanner);
/* Whether the unit has a DIE of that tag; stops at the first. */
bool scan_has_tag(const struct dwarf_sections *s, struct unit *u, unsigned tag);
/* Forgets what scan_unit() filled in, which may then be done again. */
void scan_forget(struct unit *u);
/* The same, but for its abbreviations: somebody may be reading a DIE of it. */
void scan_forget_notes(struct unit *u);

/* Reads a scope's DIE. */
struct scope scan_scope(const struct dwarf_sections *s, struct unit *u, uint32_t index);
/* Its name alone, NULL none. */
const char *scan_scope_name(const struct dwarf_sections *s, struct unit *u, uint32_t index);
/* The function whose [low, high) has pc, by the start that is nearest; SCOPE_NONE. */
uint32_t scan_function_at(struct unit *u, uint64_t pc);
/* The function that starts there and comes next after that one, NULL for the first; NULL none. */
const struct unit_function *scan_function_from(struct unit *u, uint64_t low,
                                               const struct unit_function *after);
/* The scope whose DIE is at this offset; SCOPE_NONE when it is none. */
uint32_t scan_scope_at(const struct unit *u, uint64_t die);

/* Crate of a unit, from "ROOT/src/lib.rs/@/CRATE.HASH-cgu.N"; false when it does not say. */
bool unit_crate(const struct unit *u, const char **name, size_t *len);
/* Does it come from the crate of that name, of len bytes? */
bool unit_is_of_crate(const struct unit *u, const char *crate, size_t len);

#endif
