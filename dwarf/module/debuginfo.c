#include "dwarf/module/debuginfo.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>

#include "debugger/base/log.h"
#include "debugger/base/progress.h"
#include "debugger/base/vec.h"
#include "debugger/elf/claimed_size.h"
#include "dwarf/module/alternate.h"
#include "dwarf/module/symtab.h"
#include "dwarf/names/source.h"
#include "dwarf/records/records.h"

/*
 * Bytes of .debug_info above which the pages with unit headers are unlikely to be read again soon.
 */
enum { MUCH_INFO = 64 << 20 };

static bool has(const struct debuginfo *di, const struct module *m)
{
	for (size_t i = 0; i < di->nmodules; i++) {
		if (di->modules[i]->module == m)
			return true;
	}
	return false;
}

/* Adds the target's modules that are not there; there is room for them. */
static void add_modules(struct debuginfo *di, bool is_main)
{
	const struct target *t = di->target;

	for (size_t i = 0; i < t->modules.n; i++) {
		struct module *m = t->modules.data[i];

		if (!m->dwfl || m->is_main != is_main || has(di, m))
			continue;
		struct dwarf_module *dm = NEW(&di->arena, struct dwarf_module);
		dm->di = di;
		dm->module = m;
		dm->tier = DWARF_NONE;
		di->modules[di->nmodules++] = dm;
	}
}

void debuginfo_update(struct debuginfo *di)
{
	size_t room = di->nmodules + di->target->modules.n;
	struct dwarf_module **all = NEW_ARRAY(&di->arena, struct dwarf_module *, room + 1);

	if (di->nmodules)
		memcpy(all, di->modules, di->nmodules * sizeof(struct dwarf_module *));
	di->modules = all;
	add_modules(di, false);
}

struct error *debuginfo_open(struct target *t, const struct debuginfo_hooks *hooks,
                             struct debuginfo **ret)
{
	struct debuginfo *di = calloc(1, sizeof(*di));

	if (!di)
		out_of_memory();
	di->hooks = hooks;
	di->target = t;
	di->modules = NEW_ARRAY(&di->arena, struct dwarf_module *, t->modules.n + 1);
	add_modules(di, true);
	add_modules(di, false);
	*ret = di;
	return NULL;
}

/* Frees the caches of searches and the notes of scans; types are kept. */
static void debuginfo_forget_searches(struct dwarf_module *dm)
{
	struct map *const maps[] = {
		&dm->types.by_name,   &dm->functions,        &dm->statics,
		&dm->polls.polled,    &dm->polls.coroutines, &dm->polls.crates[0],
		&dm->polls.crates[1], &dm->polls.visits,     &dm->polls.pinned,
		&dm->symbols.at,      &dm->polls.dies,       &dm->polls.unoptimised,
	};

	poll_index_forget(dm);
	dm->di->hooks->forget_searches(dm);
	for (size_t i = 0; i < dm->nunits; i++)
		scan_forget(&dm->units[i]);
	scanner_free(dm->scanner);
	dm->scanner = NULL;
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		map_free(maps[i]);
	dm->polls.pinned_read = false;
}

/* Writing the cache needs memory: what it does not need is freed before. */
static void forget_module(struct dwarf_module *dm)
{
	debuginfo_forget_searches(dm);
	dm->di->hooks->close_records(dm);
	debuginfo_forget_searches(dm);
	map_free(&dm->types.by_die);
	map_free(&dm->types.sized);
	alternate_close(dm);
}

void debuginfo_close(struct debuginfo *di)
{
	if (!di)
		return;
	for (size_t i = 0; i < di->nmodules; i++)
		forget_module(di->modules[i]);
	arena_free(&di->arena);
	free(di);
}

void debuginfo_trim(struct debuginfo *di)
{
	for (size_t i = 0; i < di->nmodules; i++)
		residency_release_file_pages(di->modules[i]);
}

static struct section debuginfo_section_of(Elf_Scn *scn)
{
	Elf_Data *data = elf_getdata(scn, NULL);

	return data && data->d_buf ? (struct section){ data->d_buf, data->d_size }
	                           : (struct section){ NULL, 0 };
}

/* Debug sections of an ELF file that this build cannot read. */
struct obstacles {
	bool zstd, other_compression, types;
};

/* A .zdebug section that libdw has not uncompressed in place yet. */
static bool is_gnu_compressed(Elf_Scn *scn)
{
	struct section s = debuginfo_section_of(scn);

	return s.size >= 4 && memcmp(s.data, "ZLIB", 4) == 0;
}

static void read_sections(Elf *elf, struct dwarf_sections *s, struct file_mapping *mapping,
                          struct obstacles *obstacles)
{
	static const struct {
		const char *name;
		size_t offset;
	} table[] = {
		{ "info", offsetof(struct dwarf_sections, info) },
		{ "abbrev", offsetof(struct dwarf_sections, abbrev) },
		{ "str", offsetof(struct dwarf_sections, str) },
		{ "line", offsetof(struct dwarf_sections, line) },
		{ "line_str", offsetof(struct dwarf_sections, line_str) },
		{ "str_offsets", offsetof(struct dwarf_sections, str_offsets) },
		{ "addr", offsetof(struct dwarf_sections, addr) },
		{ "aranges", offsetof(struct dwarf_sections, aranges) },
		{ "ranges", offsetof(struct dwarf_sections, ranges) },
	};
	size_t shstrndx;
	Elf_Scn *scn = NULL;

	if (elf_getshdrstrndx(elf, &shstrndx) != 0)
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		GElf_Chdr chdr;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		const char *name = elf_strptr(elf, shstrndx, shdr.sh_name);
		bool gnu = name && strncmp(name, ".zdebug_", 8) == 0;
		if (!name || (!gnu && strncmp(name, ".debug_", 7) != 0))
			continue;
		const char *tail = name + (gnu ? 8 : 7);
		for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
			if (strcmp(tail, table[i].name) != 0)
				continue;
			/*
			 * libdw uncompresses the sections that it opens; others are uncompressed
			 * here.
			 */
			if ((shdr.sh_flags & SHF_COMPRESSED) && gelf_getchdr(scn, &chdr)) {
				if (chdr.ch_type == 2 /* ELFCOMPRESS_ZSTD, gABI 4.3 */)
					obstacles->zstd = true;
				else if (elf_compress(scn, 0, 0) < 0)
					obstacles->other_compression = true;
			} else if (gnu && is_gnu_compressed(scn) &&
			           elf_compress_gnu(scn, 0, 0) < 0) {
				obstacles->other_compression = true;
			}
			struct section found = debuginfo_section_of(scn);
			*(struct section *)((char *)s + table[i].offset) = found;
			if (table[i].offset == offsetof(struct dwarf_sections, str))
				residency_add_scattered(mapping, found.data, shdr.sh_offset,
				                        found.size);
			else
				residency_add(mapping, found.data, shdr.sh_offset, found.size);
		}
	}
}

static bool has_symtab(Elf *elf)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;

		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_SYMTAB)
			return true;
	}
	return false;
}

static void no_dwarf(struct dwarf_module *dm)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(dm->module->dwfl, &bias);
	struct obstacles obstacles = { 0 };

	if (elf)
		read_sections(elf, &dm->sections, &dm->file, &obstacles);
	dm->sections = (struct dwarf_sections){ 0 };
	dm->file = (struct file_mapping){ 0 };
	dm->tier = elf && has_symtab(elf) ? DWARF_SYMBOLS : DWARF_NONE;
	if (dm->module->debug_file_problem)
		dm->tier_reason = dm->module->debug_file_problem;
	else if (obstacles.zstd)
		dm->tier_reason = "its debug sections are compressed with zstd, which this libdw "
				  "cannot read: recompress with `objcopy "
				  "--compress-debug-sections=zlib`, or use elfutils 0.191 or newer";
	else if (dm->tier == DWARF_SYMBOLS)
		dm->tier_reason = "it was built without debug info: build with `debug = 2` (or "
				  "`debug = \"full\"`) in the Cargo profile";
	else
		dm->tier_reason =
			"it is stripped: keep a copy with debug info (Cargo `debug = 2`, "
			"`strip = \"none\"`), or a separate debug file by build-id, or give "
			"--layout "
			"FILE, which `asyncdbg layout EXE -o FILE` makes of the build before strip";
}

/* Whether a unit's language is Rust: its compiler may be named in an alternate file. */
static bool debuginfo_is_rust(const struct dwarf_module *dm)
{
	for (size_t i = 0; i < dm->nunits; i++) {
		Dwarf_Die die;

		if (dwarf_offdie(dm->dwarf, dm->units[i].first_die, &die) &&
		    dwarf_srclang(&die) == DW_LANG_Rust)
			return true;
	}
	return false;
}

/*
 * Determines the tier. debug = 1 emits functions but no types: then no unit of a Rust crate other
 * than std has a struct.
 */
static void decide_tier(struct dwarf_module *dm)
{
	size_t looked = 0;

	for (size_t i = 0; i < dm->nunits; i++) {
		if (dm->units[i].dwo_name) {
			dm->tier = DWARF_SYMBOLS;
			dm->tier_reason = "its debug info is split into .dwo or .dwp files, which "
					  "asyncdbg does not read: build with `split-debuginfo = "
					  "\"off\"` in the Cargo profile";
			return;
		}
	}
	dm->tier = DWARF_LINES;
	if (dm->alternate.has_dies && debuginfo_is_rust(dm)) {
		dm->tier_reason = "parts of its debug info were moved into a file that it shares "
				  "with others (dwz -m), which asyncdbg does not read: use the "
				  "file that the compiler wrote, or dwz without -m";
		return;
	}
	for (size_t i = 0; i < dm->nunits && looked < 16; i++) {
		struct unit *u = &dm->units[i];

		/* Units of std are no evidence: they have no types even in full builds. */
		if (!u->name || strncmp(u->name, "/rustc/", 7) == 0 || u->end - u->start < 200)
			continue;
		looked++;
		if (scan_has_tag(&dm->sections, u, DW_TAG_structure_type)) {
			dm->tier = DWARF_FULL;
			return;
		}
	}
	if (!debuginfo_read_rustc_version(dm)) {
		/* Not a Rust program: another build would not add anything. */
		dm->tier = DWARF_FULL;
		return;
	}
	dm->tier_reason = "it has line tables only (Cargo `debug = 1` or "
			  "\"line-tables-only\"): build with `debug = 2`";
}

static void pass_unit(const uint8_t *end, void *arg)
{
	residency_passed(arg, end);
}

static void debuginfo_read_units(struct dwarf_module *dm)
{
	struct residency_pass pass = { dm, dm->sections.info.data };
	const struct scan_watcher watcher = { pass_unit, &pass };

	dm->units = scan_units(&dm->sections, &dm->di->arena, &dm->nunits, &watcher);
	if (dm->sections.info.size >= MUCH_INFO)
		residency_drop(dm, dm->sections.info.data, dm->sections.info.size);
}

/* Whether libdw may open the file: it would expand compressed sections whatever their size. */
static bool may_be_opened(struct dwarf_module *dm)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(dm->module->dwfl, &bias);
	const char *problem = elf ? claimed_size_problem(elf, &dm->di->arena) : NULL;

	if (problem) {
		dm->tier = has_symtab(elf) ? DWARF_SYMBOLS : DWARF_NONE;
		dm->tier_reason = problem;
	}
	return !problem;
}

static void load(struct dwarf_module *dm)
{
	Dwarf_Addr bias;

	if (!may_be_opened(dm))
		return;
	dm->dwarf = dwfl_module_getdwarf(dm->module->dwfl, &bias);
	if (!dm->dwarf) {
		LOG("dwarf", "%s: %s", dm->module->path, dwfl_errmsg(-1));
		no_dwarf(dm);
		return;
	}
	struct obstacles obstacles = { 0 };
	read_sections(dwarf_getelf(dm->dwarf), &dm->sections, &dm->file, &obstacles);
	residency_confirm(&dm->file);
	if (obstacles.zstd || obstacles.other_compression) {
		dm->dwarf = NULL;
		no_dwarf(dm);
		return;
	}
	alternate_open(dm);
	debuginfo_read_units(dm);
	LOG("dwarf", "%s: %zu units, %zu bytes of .debug_info", dm->module->path, dm->nunits,
	    dm->sections.info.size);
	if (dm->nunits == 0) {
		dm->dwarf = NULL;
		dm->tier = DWARF_SYMBOLS;
		dm->tier_reason = "its .debug_info is corrupt: no unit could be read";
		return;
	}
	decide_tier(dm);
}

struct dwarf_module *debuginfo_program_module(struct debuginfo *di, size_t n)
{
	struct module *m = di->modules[n]->module;

	return m->is_unloaded || debuginfo_is_system(m) ? NULL : debuginfo_module(di, m);
}

bool debuginfo_need(struct dwarf_module *dm)
{
	if (!dm->loaded) {
		dm->loaded = true;
		/* A layout file is complete, and its DIE numbers differ from those of any DWARF. */
		if (!records_are_whole(debuginfo_records(dm)))
			load(dm);
	}
	return dm->dwarf != NULL;
}

struct records *debuginfo_records(struct dwarf_module *dm)
{
	if (!dm->records)
		dm->records = dm->di->hooks->open_records(dm);
	return dm->records;
}

static bool has_panic_unwind(const struct dwarf_module *dm)
{
	for (size_t i = 0; i < dm->nunits; i++) {
		if (dm->units[i].name && strstr(dm->units[i].name, "/panic_unwind/src/lib.rs/@/"))
			return true;
	}
	return false;
}

/* Determines the tier and the compiler version, from records if they contain them. */
static void debuginfo_describe(struct dwarf_module *dm)
{
	struct record_writer d;
	struct record record;

	if (dm->described)
		return;
	dm->described = true;
	if (record_find(debuginfo_records(dm), RECORD_MODULE, 1, NULL, &record)) {
		uint64_t tier = record_number(&record);

		dm->tier = tier < DWARF_NONE ? (enum dwarf_tier)tier : DWARF_NONE;
		dm->tier_reason = record_text(&record);
		dm->build.rustc = record_text(&record);
		dm->build.own_package = record_text(&record);
		dm->build.unwinds = record_number(&record) != 0;
		/* Older records have none. */
		if (!record_ended(&record))
			dm->build.own_dirs = record_text(&record);
		else if (debuginfo_need(dm) && dm->dwarf)
			dm->build.own_dirs = own_package_dirs_read(dm);
		if (!record_ended(&record))
			dm->build.relative_dirs = record_text(&record);
		else if (debuginfo_need(dm) && dm->dwarf)
			dm->build.relative_dirs = own_package_relative_dirs_read(dm);
		return;
	}
	debuginfo_need(dm);
	dm->build.rustc = debuginfo_read_rustc_version(dm);
	dm->build.own_package = own_package_read(dm);
	dm->build.unwinds = has_panic_unwind(dm);
	dm->build.own_dirs = own_package_dirs_read(dm);
	dm->build.relative_dirs = own_package_relative_dirs_read(dm);
	record_begin(&d, dm->records, RECORD_MODULE, 1, NULL);
	record_add_number(&d, dm->tier);
	record_add_text(&d, dm->tier_reason);
	record_add_text(&d, dm->build.rustc);
	record_add_text(&d, dm->build.own_package);
	record_add_number(&d, dm->build.unwinds);
	record_add_text(&d, dm->build.own_dirs);
	record_add_text(&d, dm->build.relative_dirs);
	record_end(&d);
}

bool debuginfo_panics_unwind(struct dwarf_module *dm)
{
	debuginfo_describe(dm);
	return dm->build.unwinds;
}

/* Adds the lines of a module's own_dirs; the first one, of main()'s crate, only where main is set.
 */
static void add_own_dirs(struct str *text, struct dwarf_module *dm, bool main)
{
	debuginfo_describe(dm);
	const char *dirs = dm->build.own_dirs ? dm->build.own_dirs : "\n",
		   *first_end = strchr(dirs, '\n');

	if (main || (first_end && first_end != dirs))
		str_append(text, dirs);
	else if (first_end)
		str_append(text, first_end + 1);
}

const struct source_dirs *debuginfo_source_dirs(struct debuginfo *di)
{
	const struct module *m = di->target->modules.main;
	struct dwarf_module *of_main = m ? debuginfo_module(di, m) : NULL;
	STR(text);

	if (di->source_dirs && di->source_dirs_modules == di->nmodules)
		return di->source_dirs;
	if (of_main)
		add_own_dirs(&text, of_main, true);
	else
		str_append(&text, "\n");
	for (size_t i = 0; i < di->nmodules; i++) {
		struct dwarf_module *dm = debuginfo_program_module(di, i);

		if (dm && dm != of_main)
			add_own_dirs(&text, dm, false);
	}
	di->source_dirs = NEW(&di->arena, struct source_dirs);
	*di->source_dirs = source_dirs_read(&di->arena, str_text(&text));
	di->source_dirs_modules = di->nmodules;
	return di->source_dirs;
}

const char *debuginfo_dir_of(struct dwarf_module *dm, const char *file, bool *several)
{
	debuginfo_describe(dm);
	*several = false;
	return dm->build.relative_dirs
	               ? own_package_dir_of(dm, dm->build.relative_dirs, file, several)
	               : NULL;
}

const char *debuginfo_own_package(struct dwarf_module *dm)
{
	debuginfo_describe(dm);
	return dm->build.own_package;
}

const char *debuginfo_program_package(struct debuginfo *di)
{
	const struct module *m = di->target->modules.main;
	struct dwarf_module *dm = m ? debuginfo_module(di, m) : NULL;

	return dm ? debuginfo_own_package(dm) : NULL;
}

const char *debuginfo_rustc_version(struct dwarf_module *dm)
{
	debuginfo_describe(dm);
	return dm->build.rustc;
}

uint64_t debuginfo_sections_hash(struct dwarf_module *dm)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(dm->module->dwfl, &bias);
	/* Changed when debug files began to be verified: records cached before may be wrong. */
	uint64_t hash = 2;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while (elf && (scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &shdr)) {
		/* sh_addr is left out: libdwfl adds the load bias to it. */
		uint64_t values[] = { shdr.sh_name, shdr.sh_type, shdr.sh_offset, shdr.sh_size };

		for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
			hash = (hash ^ values[i]) * UINT64_C(0x100000001b3) ^ hash >> 32;
	}
	return hash;
}

bool debuginfo_is_constant(struct dwarf_module *dm, uint64_t addr)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(dm->module->dwfl, &bias);
	bool constant = false;
	size_t n;

	if (!elf || elf_getphdrnum(elf, &n) != 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(elf, (int)i, &p) || addr < p.p_vaddr ||
		    addr - p.p_vaddr >= p.p_memsz)
			continue;
		constant |=
			p.p_type == PT_GNU_RELRO || (p.p_type == PT_LOAD && !(p.p_flags & PF_W));
	}
	return constant;
}

/* debuginfo_initial_number() in one segment. */
static bool initial_number(Elf *elf, const GElf_Phdr *p, uint64_t addr, size_t size, uint64_t *ret)
{
	uint64_t at = addr - p->p_vaddr;
	Elf_Data *data;

	*ret = 0;
	if (at >= p->p_filesz)
		return at <= p->p_memsz && size <= p->p_memsz - at;
	if (size > p->p_filesz - at || p->p_offset > INT64_MAX - at)
		return false;
	data = elf_getdata_rawchunk(elf, (int64_t)(p->p_offset + at), size, ELF_T_BYTE);
	if (!data || data->d_size != size)
		return false;
	memcpy(ret, data->d_buf, size);
	return true;
}

bool debuginfo_initial_number(struct dwarf_module *dm, uint64_t addr, size_t size, uint64_t *ret)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(dm->module->dwfl, &bias);
	size_t n;

	if (!elf || size > sizeof(*ret) || elf_getphdrnum(elf, &n) != 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD && addr >= p.p_vaddr &&
		    addr - p.p_vaddr < p.p_memsz)
			return initial_number(elf, &p, addr, size, ret);
	}
	return false;
}

void debuginfo_constants(struct dwarf_module *dm, uint64_t *low, uint64_t *high)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(dm->module->dwfl, &bias);
	GElf_Ehdr header;
	size_t n;

	*low = *high = 0;
	if (!elf || !gelf_getehdr(elf, &header) || elf_getphdrnum(elf, &n) != 0)
		return;
	bool relocated = header.e_type != ET_EXEC, has_relro = false;
	GElf_Phdr p;
	for (size_t i = 0; i < n; i++)
		has_relro |= gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_GNU_RELRO;
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &p) ||
		    p.p_type != (relocated && has_relro ? PT_GNU_RELRO : PT_LOAD) ||
		    (!relocated && (p.p_flags & PF_W)))
			continue;
		*low = *high == 0 || p.p_vaddr < *low ? p.p_vaddr : *low;
		*high = p.p_vaddr + p.p_memsz > *high ? p.p_vaddr + p.p_memsz : *high;
	}
}

struct dwarf_module *debuginfo_module(struct debuginfo *di, const struct module *m)
{
	for (size_t i = 0; i < di->nmodules; i++) {
		if (di->modules[i]->module == m) {
			debuginfo_describe(di->modules[i]);
			return di->modules[i];
		}
	}
	return NULL;
}

struct unit *debuginfo_unit_of(struct dwarf_module *dm, uint64_t die)
{
	struct unit *last = dm->last_unit;
	size_t lo = 0, hi = dm->nunits;

	/* Types are often in the unit of their members. */
	if (last && die >= last->start && die < last->end)
		return last;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (dm->units[mid].start <= die)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0 || die >= dm->units[lo - 1].end)
		return NULL;
	return dm->last_unit = &dm->units[lo - 1];
}

void debuginfo_scan(struct dwarf_module *dm, struct unit *u)
{
	if (u->scanned)
		return;
	LOG("dwarf", "scan %s", u->name ? u->name : "?");
	progress("reading debug info, unit", (uint64_t)(u - dm->units) + 1, 0);
	if (!dm->scanner)
		dm->scanner = scanner_new();
	scan_unit(&dm->sections, u, dm->scanner);
	dm->nscanned++;
	residency_read(dm, u->end - u->start);
}

void debuginfo_pass(struct dwarf_module *dm, struct unit *u, struct scanner *passing,
                    unit_fn *visit, void *arg)
{
	if (!passing || u->scanned) {
		debuginfo_scan(dm, u);
		visit(dm, u, arg);
		return;
	}
	scan_unit(&dm->sections, u, passing);
	visit(dm, u, arg);
	scan_forget_notes(u);
	scanner_reset(passing);
	residency_drop(dm, dm->sections.info.data + u->start, u->end - u->start);
	residency_read(dm, u->end - u->start);
}

/* Indexes the unit's statics by address; several at one address form a list. */
static void note_statics(struct dwarf_module *dm, struct unit *u)
{
	u->vtables_noted = true;
	for (size_t i = 0; i < u->found.nvariables; i++) {
		if (!(u->found.scopes[u->found.variables[i]].flags & SCOPE_ADDRESS))
			continue;
		struct scope s = scan_scope(&dm->sections, u, u->found.variables[i]);
		struct static_place *place = NEW(&dm->di->arena, struct static_place);

		if (!s.low)
			continue;
		*place = (struct static_place){ s.die, map_get(&dm->statics, s.low) };
		map_put(&dm->statics, s.low, place);
	}
}

uint64_t debuginfo_vtable(struct dwarf_module *dm, uint64_t link)
{
	static const char suffix[] = "::{vtable}";
	size_t suffix_len = sizeof(suffix) - 1;

	for (size_t i = 0; i < dm->nunits; i++) {
		if (dm->units[i].scanned && !dm->units[i].vtables_noted)
			note_statics(dm, &dm->units[i]);
	}
	const struct static_place *place = map_get(&dm->statics, link);
	for (; place; place = place->next) {
		struct unit *u = debuginfo_unit_of(dm, place->die);
		if (u)
			debuginfo_scan(dm, u);
		uint32_t index = u ? scan_scope_at(u, place->die) : SCOPE_NONE;
		const char *name =
			index != SCOPE_NONE ? scan_scope_name(&dm->sections, u, index) : NULL;
		size_t len = name ? strlen(name) : 0;

		if (len > suffix_len && strcmp(name + len - suffix_len, suffix) == 0)
			return place->die;
	}
	return 0;
}

struct unit *debuginfo_scanned_unit_of(struct dwarf_module *dm, uint64_t die)
{
	struct unit *u = debuginfo_unit_of(dm, die);

	if (u)
		debuginfo_scan(dm, u);
	return u;
}

/* Copies a version (digits, dots, pre-release) at p. */
static const char *version_at(struct debuginfo *di, const char *p)
{
	size_t n = strspn(p, "0123456789.");

	if (n == 0)
		return NULL;
	if (p[n] == '-' || p[n] == '+')
		n += strspn(p + n, "abcdefghijklmnopqrstuvwxyz0123456789.-+");
	return arena_strndup(&di->arena, p, n);
}

const char *debuginfo_read_crate_version(struct dwarf_module *dm, const char *crate)
{
	SCRATCH(tmp);
	const char *wanted = arena_printf(&tmp, "/%s-", crate);

	for (size_t i = 0; i < dm->nunits; i++) {
		const char *at = dm->units[i].name ? strstr(dm->units[i].name, wanted) : NULL;

		if (at && at[strlen(wanted)] >= '0' && at[strlen(wanted)] <= '9')
			return version_at(dm->di, at + strlen(wanted));
	}
	return NULL;
}

const char *debuginfo_read_rustc_version(struct dwarf_module *dm)
{
	static const char wanted[] = "rustc version ";
	const char *newest = NULL;

	for (size_t i = 0; i < dm->nunits; i++) {
		const struct unit *u = &dm->units[i];
		const char *at = u->producer ? strstr(u->producer, wanted) : NULL;

		if (!at)
			continue;
		newest = at + sizeof(wanted) - 1;
		/* std is prebuilt by the Rust project: prefer the producer of another unit. */
		if (!u->name || strncmp(u->name, "/rustc/", 7) != 0)
			break;
	}
	return newest ? version_at(dm->di, newest) : NULL;
}
