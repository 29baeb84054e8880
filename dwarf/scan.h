/*
 * Our own abbreviation-driven scanner of one unit of .debug_info. It records what has a name or
 * an address (namespaces, types, functions, statics) with its parent, which libdw does not
 * keep, and skips the rest at about ten times libdw's speed. Details of a DIE are then read
 * through libdw by its offset.
 */
#ifndef DWARF_SCAN_H
#define DWARF_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "dwarf/reader.h"

/* The sections of one file that the scanner reads, uncompressed. */
struct dwarf_sections {
	struct section info, abbrev, str, line, line_str, str_offsets, addr, aranges;
};

enum { SCOPE_NONE = UINT32_MAX };

struct scope {
	uint64_t die;        /* offset in .debug_info */
	uint64_t low, high;  /* function: link-time range (high 0: declaration or DW_AT_ranges);
	                        variable: address or TLS offset in low */
	uint64_t origin;     /* DW_AT_specification or DW_AT_abstract_origin, 0 none */
	const char *name;    /* borrowed from the section, NULL none */
	const char *linkage; /* DW_AT_linkage_name, NULL none */
	uint32_t parent;     /* index of the enclosing scope, SCOPE_NONE below the unit */
	uint16_t tag;
	bool declaration;
	bool has_address; /* low is an address (DW_OP_addr) or a function's low_pc */
	bool is_tls;      /* low is an offset in the module's TLS block */
	bool has_ranges;  /* function in several pieces: ask libdw */
};

struct unit_function {
	uint64_t low, high;
	uint32_t scope;
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
	bool header_read; /* name, comp_dir, producer ... are set */
	bool scanned;
	bool polled_read;     /* lookup_has_poll() looked through it */
	bool in_aranges;      /* .debug_aranges has a set for it */
	struct scope *scopes; /* ascending die */
	size_t nscopes;
	struct unit_function *functions; /* ascending low; NULL until asked for */
	size_t nfunctions;
	struct file_table *files; /* NULL until asked for */
};

/* All unit headers of .debug_info, without their DIEs. Stops quietly at a corrupt header. */
struct unit *scan_unit_headers(const struct dwarf_sections *s, struct arena *a, size_t *nret);
/* Fills the fields that come from the unit's own DIE; once. */
void scan_unit_root(const struct dwarf_sections *s, struct unit *u);
/* Fills scopes; once. A corrupt unit keeps what came before the fault. */
void scan_unit(const struct dwarf_sections *s, struct unit *u, struct arena *a);
/* Fills functions from scopes; once. */
void scan_unit_functions(struct unit *u, struct arena *a);

/* The scope whose DIE is at this offset; SCOPE_NONE when it is none. */
uint32_t scan_scope_at(const struct unit *u, uint64_t die);

#endif
