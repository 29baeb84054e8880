/* The chain of inlined functions at an address, with source lines. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "debugger/base/vec.h"
#include "dwarf/demangle.h"
#include "dwarf/line.h"
#include "dwarf/search.h"
#include "dwarf/symtab.h"

enum { MAX_INLINE_DEPTH = 128 };

struct call_site {
	uint64_t function_die;
	unsigned file, line; /* where the caller calls it */
};

struct chain {
	struct call_site sites[MAX_INLINE_DEPTH]; /* outermost first */
	size_t n;
};

static uint64_t attr_number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	return dwarf_attr(die, name, &attr) && dwarf_formudata(&attr, &value) == 0 ? value : 0;
}

static uint64_t abstract_origin(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die origin;

	return dwarf_attr(die, DW_AT_abstract_origin, &attr) && dwarf_formref_die(&attr, &origin)
	               ? dwarf_dieoffset(&origin)
	               : 0;
}

/*
 * Own descent: libdw's dwarf_getscopes() prunes DIEs without a pc, namespaces among them, and so
 * never finds a Rust function (elfutils 0.188 and 0.192).
 */
static void find_inlined(Dwarf_Die *die, uint64_t pc, struct chain *chain, int depth)
{
	Dwarf_Die child;

	if (depth > MAX_INLINE_DEPTH || dwarf_child(die, &child) != 0)
		return;
	do {
		int tag = dwarf_tag(&child);

		if ((tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) ||
		    dwarf_haspc(&child, pc) != 1)
			continue;
		if (tag == DW_TAG_inlined_subroutine && chain->n < MAX_INLINE_DEPTH) {
			struct call_site *site = &chain->sites[chain->n++];

			site->function_die = abstract_origin(&child);
			site->file = (unsigned)attr_number(&child, DW_AT_call_file);
			site->line = (unsigned)attr_number(&child, DW_AT_call_line);
		}
		find_inlined(&child, pc, chain, depth + 1);
		return;
	} while (dwarf_siblingof(&child, &child) == 0);
}

static void set_line(struct location *l, Dwarf_Die *die, uint64_t pc)
{
	Dwarf_Die cu;
	int line = 0;

	if (!dwarf_diecu(die, &cu, NULL, NULL))
		return;
	Dwarf_Line *row = dwarf_getsrc_die(&cu, pc);
	if (!row)
		return;
	l->file = dwarf_linesrc(row, NULL, NULL);
	if (dwarf_lineno(row, &line) == 0 && line > 0)
		l->line = (unsigned)line;
}

static struct location *symbol_only(struct debuginfo *di, uint64_t addr, struct arena *a,
                                    size_t *nret)
{
	struct location *l = NEW(a, struct location);
	struct module *m = module_at(di->target, addr);
	GElf_Off offset;
	GElf_Sym sym;

	*nret = 1;
	if (m && m->dwfl)
		l->linkage = dwfl_module_addrinfo(m->dwfl, addr, &offset, &sym, NULL, NULL, NULL);
	if (l->linkage) {
		l->name = demangle(a, l->linkage);
		l->mangled = true;
	}
	return l;
}

/* The same in a file with a symbol table of its own, without asking libdwfl. */
static struct location *function_symbol_only(struct debuginfo *di, uint64_t addr, struct arena *a,
                                             size_t *nret)
{
	struct module *m = module_at(di->target, addr);
	struct dwarf_module *dm = m ? debuginfo_module(di, m) : NULL;

	if (!dm || !symtab_of(dm).data)
		return symbol_only(di, addr, a, nret);
	struct location *l = NEW(a, struct location);
	*nret = 1;
	l->linkage = symtab_function_at(dm, module_link_addr(m, addr).v);
	if (l->linkage) {
		l->name = demangle(a, l->linkage);
		l->mangled = true;
	}
	return l;
}

/* What debug info says of an address; NULL when none covers it. */
static struct location *find(struct debuginfo *di, uint64_t addr, struct arena *a, bool lines,
                             size_t *nret)
{
	const struct function *f = lookup_function(di, addr);
	struct chain chain = { .n = 0 };
	Dwarf_Die die;

	if (!f || !dwarf_offdie(f->dm->dwarf, f->die, &die))
		return NULL;
	uint64_t pc = module_link_addr(f->dm->module, addr).v;
	struct unit *u = debuginfo_unit_of(f->dm, f->die);
	find_inlined(&die, pc, &chain, 0);

	struct location *ret = NEW_ARRAY(a, struct location, chain.n + 1);
	*nret = chain.n + 1;
	for (size_t i = 0; i <= chain.n; i++) {
		struct location *l = &ret[i]; /* innermost first */
		size_t depth = chain.n - i;   /* 0: the physical function */

		l->comp_dir = u ? u->comp_dir : NULL;
		l->inlined = depth > 0;
		l->function =
			depth ? lookup_function_die(f->dm, chain.sites[depth - 1].function_die) : f;
		if (l->function) {
			l->name = l->function->name;
			l->linkage = l->function->linkage;
		}
		if (lines && i > 0 && u) {
			l->file = line_file(f->dm, u, chain.sites[depth].file);
			l->line = chain.sites[depth].line;
		}
	}
	if (lines)
		set_line(&ret[0], &die, pc);
	return ret;
}

struct location *search_locations(struct debuginfo *di, uint64_t addr, struct arena *a,
                                  size_t *nret)
{
	struct location *l = find(di, addr, a, true, nret);

	return l ? l : symbol_only(di, addr, a, nret);
}

struct location *search_functions_at(struct debuginfo *di, uint64_t addr, struct arena *a,
                                     size_t *nret)
{
	struct location *l = find(di, addr, a, false, nret);

	return l ? l : symbol_only(di, addr, a, nret);
}

struct location *search_rust_functions_at(struct debuginfo *di, uint64_t addr, struct arena *a,
                                          size_t *nret)
{
	struct location *l = find(di, addr, a, false, nret);

	return l ? l : function_symbol_only(di, addr, a, nret);
}
