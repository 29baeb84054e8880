#include "dwarf/module/symtab.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <string.h>

#include "debugger/base/vec.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"

static struct section data_of(Elf_Scn *scn)
{
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;

	return data && data->d_buf ? (struct section){ data->d_buf, data->d_size }
	                           : (struct section){ NULL, 0 };
}

static struct symtab find_symtab(Elf *elf, struct file_mapping *mapping)
{
	Elf_Scn *scn = NULL;

	while (elf && gelf_getclass(elf) == ELFCLASS64 && (scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_SYMTAB ||
		    shdr.sh_entsize != sizeof(Elf64_Sym))
			continue;
		struct section symbols = data_of(scn);
		Elf_Scn *names = elf_getscn(elf, shdr.sh_link);
		struct symtab t = { .names = data_of(names) };
		GElf_Shdr names_shdr;

		t.data = (const void *)symbols.data;
		residency_add(mapping, symbols.data, shdr.sh_offset, symbols.size);
		t.n = symbols.size / sizeof(Elf64_Sym);
		if (names && gelf_getshdr(names, &names_shdr))
			residency_add(mapping, t.names.data, names_shdr.sh_offset, t.names.size);
		if (t.data)
			return t;
	}
	return (struct symtab){ 0 };
}

struct symtab symtab_of(struct dwarf_module *dm)
{
	GElf_Addr bias;
	if (dm->symbols.read)
		return dm->symbols.table;
	dm->symbols.read = true;
	struct symtab t = find_symtab(dwfl_module_getelf(dm->module->dwfl, &bias), &dm->file);

	if (!t.data && dm->dwarf)
		t = find_symtab(dwarf_getelf(dm->dwarf), &dm->file);
	dm->symbols.table = t;
	return t;
}

const char *symtab_name(const struct symtab *t, const Elf64_Sym *sym)
{
	return sym->st_name ? section_string(t->names, sym->st_name) : NULL;
}

static bool is_named(const struct symtab *t, const Elf64_Sym *sym, const char *name)
{
	const char *own = symtab_name(t, sym);
	SCRATCH(tmp);

	return own && strstr(own, qualified_last(name)) && strcmp(demangle(&tmp, own), name) == 0;
}

uint64_t symtab_variable(struct dwarf_module *dm, const char *name, uint64_t size)
{
	const struct symtab t = symtab_of(dm);
	uint64_t ret = 0;

	for (size_t i = 0; i < t.n; i++) {
		const Elf64_Sym *sym = &t.data[i];

		read_ahead(sym, SYMTAB_AHEAD);
		if (ELF64_ST_TYPE(sym->st_info) != STT_OBJECT || sym->st_shndx == SHN_UNDEF ||
		    sym->st_size != size || !is_named(&t, sym, name))
			continue;
		if (ret && sym->st_value != ret)
			return 0;
		ret = sym->st_value;
	}
	return ret;
}

/* Symbols per block: the address range of the functions of each block is computed in one pass. */
enum { SYMTAB_BLOCK = 512 };

struct symtab_extent {
	uint64_t low, high;
};

static bool symtab_is_function(const Elf64_Sym *sym)
{
	return ELF64_ST_TYPE(sym->st_info) == STT_FUNC && sym->st_shndx != SHN_UNDEF;
}

static void symtab_extend(struct symtab_extent *e, const Elf64_Sym *sym)
{
	uint64_t high = sym->st_value + sym->st_size;

	if (high < sym->st_value) /* it wraps: the file is corrupt */
		high = UINT64_MAX;
	e->low = e->high && e->low < sym->st_value ? e->low : sym->st_value;
	e->high = e->high > high ? e->high : high;
}

/* Computes the extent of one block; appends its thread-locals to s. */
static struct symtab_extent survey_block(struct symtab_totals *s, size_t first, size_t end)
{
	struct symtab_extent ret = { 0 };

	for (size_t i = first; i < end; i++) {
		const Elf64_Sym *sym = &s->t.data[i];

		read_ahead(sym, SYMTAB_AHEAD);
		if (symtab_is_function(sym))
			symtab_extend(&ret, sym);
		else if (ELF64_ST_TYPE(sym->st_info) == STT_TLS && sym->st_shndx != SHN_UNDEF)
			*vec_push(&s->thread_locals) = sym;
	}
	return ret;
}

static void survey(struct symtab_totals *s)
{
	for (size_t first = 0; first < s->t.n; first += SYMTAB_BLOCK) {
		size_t end = first + SYMTAB_BLOCK < s->t.n ? first + SYMTAB_BLOCK : s->t.n;

		s->extents[first / SYMTAB_BLOCK] = survey_block(s, first, end);
	}
}

/* Surveys the symbols, once. */
static const struct symtab_totals *symtab_survey_of(struct dwarf_module *dm)
{
	if (dm->symbols.survey)
		return dm->symbols.survey;
	struct symtab_totals *s = NEW(&dm->di->arena, struct symtab_totals);
	s->t = symtab_of(dm);
	s->extents = NEW_ARRAY(&dm->di->arena, struct symtab_extent, s->t.n / SYMTAB_BLOCK + 1);
	survey(s);
	dm->symbols.survey = s;
	return dm->symbols.survey;
}

/*
 * Among the functions of one block that cover pc, the one that begins last, if it begins after
 * best.
 */
static const Elf64_Sym *best_of_block(const struct symtab *t, size_t block, uint64_t pc,
                                      const Elf64_Sym *best)
{
	size_t first = block * SYMTAB_BLOCK;

	for (size_t i = first; i < t->n && i < first + SYMTAB_BLOCK; i++) {
		const Elf64_Sym *sym = &t->data[i];

		if (pc - sym->st_value < sym->st_size && symtab_is_function(sym) &&
		    (!best || sym->st_value > best->st_value))
			best = sym;
	}
	return best;
}

const char *symtab_function_at(struct dwarf_module *dm, uint64_t pc)
{
	const Elf64_Sym *best = NULL;

	if (map_has(&dm->symbols.at, pc))
		return map_get(&dm->symbols.at, pc);
	const struct symtab_totals *s = symtab_survey_of(dm);
	for (size_t block = 0; block * SYMTAB_BLOCK < s->t.n; block++) {
		if (pc >= s->extents[block].low && pc <= s->extents[block].high)
			best = best_of_block(&s->t, block, pc, best);
	}
	const char *name = best ? symtab_name(&s->t, best) : NULL;
	if (pc)
		map_put(&dm->symbols.at, pc, (void *)(uintptr_t)name);
	return name;
}

void symtab_each_function(struct dwarf_module *dm, symtab_function_fn *visit, void *arg)
{
	const struct symtab t = symtab_of(dm);

	for (size_t i = 0; i < t.n; i++) {
		const Elf64_Sym *sym = &t.data[i];

		read_ahead(sym, SYMTAB_AHEAD);
		const char *name = symtab_is_function(sym) ? symtab_name(&t, sym) : NULL;
		if (name)
			visit(name, sym->st_value, sym->st_size, arg);
	}
}

void symtab_each_function_at(struct dwarf_module *dm, uint64_t addr, symtab_function_fn *visit,
                             void *arg)
{
	const struct symtab_totals *s = symtab_survey_of(dm);

	for (size_t first = 0; first < s->t.n; first += SYMTAB_BLOCK) {
		const struct symtab_extent *e = &s->extents[first / SYMTAB_BLOCK];

		if (addr < e->low || addr > e->high)
			continue;
		for (size_t i = first; i < s->t.n && i < first + SYMTAB_BLOCK; i++) {
			const Elf64_Sym *sym = &s->t.data[i];
			const char *name = sym->st_value == addr && symtab_is_function(sym)
			                           ? symtab_name(&s->t, sym)
			                           : NULL;
			if (name)
				visit(name, sym->st_value, sym->st_size, arg);
		}
	}
}

uint64_t symtab_function(struct dwarf_module *dm, symtab_name_fn *is_wanted)
{
	const struct symtab t = symtab_of(dm);

	for (size_t i = t.n; i-- > 0;) {
		const Elf64_Sym *sym = &t.data[i];
		const char *name = symtab_is_function(sym) ? symtab_name(&t, sym) : NULL;

		if (name && is_wanted(name))
			return sym->st_value;
	}
	return 0;
}

const struct tls_symbols *debuginfo_tls_symbols(struct dwarf_module *dm)
{
	VEC(struct symbol) found = { 0 };

	if (dm->symbols.tls.loaded)
		return &dm->symbols.tls;
	dm->symbols.tls.loaded = true;
	const struct symtab_totals *s = symtab_survey_of(dm);
	dm->symbols.tls.has_symtab = s->t.data != NULL;
	for (size_t i = 0; i < s->thread_locals.n; i++) {
		const Elf64_Sym *sym = s->thread_locals.data[i];
		const char *name = symtab_name(&s->t, sym);

		if (name)
			*vec_push(&found) = (struct symbol){ name, sym->st_value, sym->st_size };
	}
	dm->symbols.tls.n = found.n;
	dm->symbols.tls.data = vec_to_arena(&found, &dm->di->arena);
	return &dm->symbols.tls;
}
