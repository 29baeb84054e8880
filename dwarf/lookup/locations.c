/* Finds the chain of inlined functions at an address, with source lines. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <string.h>

#include "debugger/base/vec.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/module/debuginfo.h"
#include "dwarf/module/line.h"
#include "dwarf/module/ranges.h"
#include "dwarf/module/symtab.h"
#include "dwarf/names/demangle.h"
#include "dwarf/scan/die.h"

enum { MAX_BODY = 1 << 20 /* DIEs */ };

struct call_site {
	uint64_t die, function_die;
	unsigned file, line; /* place of the call in the caller */
};

struct locations_chain {
	VEC(struct call_site) sites; /* outermost first */
	bool cut;                    /* there are more */
};

static void read_site(struct dwarf_module *dm, struct unit *u, uint64_t die, struct call_site *ret)
{
	struct attribute_value v;
	struct attribute at;
	struct die d;

	*ret = (struct call_site){ .die = die };
	if (!die_read(&dm->sections, u, die, &d))
		return;
	while (die_next(&d, &at, &v)) {
		if (at.name == DW_AT_abstract_origin)
			ret->function_die = v.number;
		else if (at.name == DW_AT_call_file)
			ret->file = (unsigned)v.number;
		else if (at.name == DW_AT_call_line)
			ret->line = (unsigned)v.number;
	}
}

/*
 * Walks the DIEs itself. libdw's dwarf_getscopes() prunes DIEs without a pc, namespaces among them,
 * and so never finds a Rust function (elfutils 0.188 and 0.192). Below the function, only the
 * children of the last DIE that covers pc are considered.
 */
static void find_inlined(struct dwarf_module *dm, struct unit *u, uint64_t function, uint64_t pc,
                         struct locations_chain *chain)
{
	size_t depth = 0,
	       /*
	        * Below the function: the depth of d, and the depth of the children of the last DIE
	        * that covers pc.
	        */
		covered = 0;
	struct die d;

	if (!die_read(&dm->sections, u, function, &d) || !d.has_children)
		return;
	for (int i = 0; i < MAX_BODY; i++) {
		uint64_t at = die_end(&d);

		if (!at || !die_read(&dm->sections, u, at, &d))
			return;
		if (d.tag == 0) {
			if (depth == covered)
				return;
			depth--;
			continue;
		}
		if (depth == covered &&
		    (d.tag == DW_TAG_inlined_subroutine || d.tag == DW_TAG_lexical_block) &&
		    ranges_have(dm, u, at, pc)) {
			if (d.tag == DW_TAG_inlined_subroutine)
				read_site(dm, u, at, vec_push(&chain->sites));
			chain->cut = d.has_children && covered++ == DIE_MAX_NESTING;
			if (!d.has_children || chain->cut)
				return;
		}
		depth += d.has_children;
	}
	chain->cut = true;
}

static void locations_set_line(struct location *l, const struct function *f, uint64_t pc)
{
	Dwarf_Die die, cu;
	int line = 0;

	if (!dwarf_offdie(f->dm->dwarf, f->die, &die) || !dwarf_diecu(&die, &cu, NULL, NULL))
		return;
	Dwarf_Line *row = dwarf_getsrc_die(&cu, pc);
	if (!row)
		return;
	l->file = dwarf_linesrc(row, NULL, NULL);
	if (dwarf_lineno(row, &line) == 0 && line > 0)
		l->line = (unsigned)line;
}

static struct location *locations_symbol_only(struct debuginfo *di, uint64_t addr, struct arena *a,
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

/* locations_symbol_only() without libdwfl, for a file with its own symbol table. */
static struct location *function_symbol_only(struct debuginfo *di, uint64_t addr, struct arena *a,
                                             size_t *nret)
{
	struct module *m = module_at(di->target, addr);
	struct dwarf_module *dm = m ? debuginfo_module(di, m) : NULL;

	if (!dm || !symtab_of(dm).data)
		return locations_symbol_only(di, addr, a, nret);
	struct location *l = NEW(a, struct location);
	*nret = 1;
	l->linkage = symtab_function_at(dm, module_link_addr(m, addr).v);
	if (l->linkage) {
		l->name = demangle(a, l->linkage);
		l->mangled = true;
	}
	return l;
}

/*
 * Describes the function at a depth of a chain, of which 0 is the physical function. Its line is
 * that of the call of the next inner one.
 */
static void locations_describe(const struct function *f, struct unit *u,
                               const struct locations_chain *chain, size_t depth, bool lines,
                               struct location *l)
{
	const struct call_site *site = depth ? &chain->sites.data[depth - 1] : NULL;

	l->comp_dir = u->comp_dir;
	l->inlined = site != NULL;
	l->site = site ? site->die : 0;
	l->function = site ? lookup_function_die(f->dm, site->function_die) : f;
	if (l->function) {
		l->name = l->function->name;
		l->linkage = l->function->linkage;
	}
	if (lines && depth < chain->sites.n) {
		l->file = line_file(f->dm, u, chain->sites.data[depth].file);
		l->line = chain->sites.data[depth].line;
	}
}

/* The chain from debug info; NULL when none covers the address. */
static struct location *locations_find(struct debuginfo *di, uint64_t addr, struct arena *a,
                                       bool lines, size_t *nret)
{
	const struct function *f = lookup_function(di, addr);
	struct unit *u = f ? debuginfo_unit_of(f->dm, f->die) : NULL;
	struct locations_chain chain = { 0 };

	if (!u || !f->dm->dwarf)
		return NULL;
	uint64_t pc = module_link_addr(f->dm->module, addr).v;
	find_inlined(f->dm, u, f->die, pc, &chain);

	/* Innermost first. */
	size_t n = chain.sites.n + 1 + chain.cut;
	struct location *ret = NEW_ARRAY(a, struct location, n);
	if (chain.cut)
		ret[0] = (struct location){ .name = LOCATION_CUT,
			                    .comp_dir = u->comp_dir,
			                    .inlined = true };
	for (size_t i = chain.cut; i < n; i++)
		locations_describe(f, u, &chain, n - 1 - i, lines, &ret[i]);
	if (lines)
		locations_set_line(&ret[0], f, pc);
	vec_free(&chain.sites);
	*nret = n;
	return ret;
}

bool locations_are_cut(const struct location *l)
{
	return l->inlined && !l->function && l->name && strcmp(l->name, LOCATION_CUT) == 0;
}

struct location *lookup_dwarf_locations(struct debuginfo *di, uint64_t addr, struct arena *a,
                                        size_t *nret)
{
	struct location *l = locations_find(di, addr, a, true, nret);

	return l ? l : locations_symbol_only(di, addr, a, nret);
}

struct location *lookup_dwarf_functions_at(struct debuginfo *di, uint64_t addr, struct arena *a,
                                           size_t *nret)
{
	struct location *l = locations_find(di, addr, a, false, nret);

	return l ? l : locations_symbol_only(di, addr, a, nret);
}

struct location *lookup_dwarf_rust_functions_at(struct debuginfo *di, uint64_t addr,
                                                struct arena *a, size_t *nret)
{
	struct location *l = locations_find(di, addr, a, false, nret);

	return l ? l : function_symbol_only(di, addr, a, nret);
}
