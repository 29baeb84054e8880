#include "dwarf/lookup/lookup.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

#include "debugger/base/log.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/lookup/type_names.h"
#include "dwarf/module/die_name.h"
#include "dwarf/module/ranges.h"
#include "dwarf/names/qualified.h"
#include "dwarf/types/die_attrs.h"
#include "dwarf/types/type.h"

/* ---- functions ---- */

const struct function *lookup_dwarf_function_die(struct dwarf_module *dm, uint64_t die)
{
	struct function *f;
	struct unit *u = debuginfo_scanned_unit_of(dm, die);
	uint32_t index = u ? scan_scope_at(u, die) : SCOPE_NONE;

	if (index == SCOPE_NONE)
		return NULL;
	struct scope_place at = die_named_place(dm, (struct scope_place){ u, index });
	struct scope s = scan_scope(&dm->sections, u, index);
	struct scope named = scan_scope(&dm->sections, at.u, at.index);

	f = NEW(&dm->di->arena, struct function);
	f->dm = dm;
	f->die = die;
	f->name = die_scope_name(dm, u, index);
	f->linkage = s.linkage ? s.linkage : named.linkage;
	if (s.has_address) {
		f->low = s.low + dm->module->bias;
		f->high = s.high + dm->module->bias;
	}
	if (!f->name)
		f->name = f->linkage ? f->linkage : "?";
	return f;
}

const struct function *lookup_dwarf_function(struct debuginfo *di, uint64_t addr)
{
	struct module *m = module_at(di->target, addr);
	struct dwarf_module *dm = m ? debuginfo_module(di, m) : NULL;

	if (!dm || !debuginfo_need(dm))
		return NULL;
	uint64_t pc = module_link_addr(m, addr).v;
	struct unit *u = debuginfo_unit_at(dm, pc);

	if (!u)
		return NULL;
	debuginfo_scan(dm, u);
	uint32_t found = scan_function_at(u, pc);
	if (found != SCOPE_NONE)
		return lookup_function_die(dm, u->start + u->found.scopes[found].die);
	for (size_t i = 0; i < u->found.nscopes; i++) {
		uint64_t at = u->start + u->found.scopes[i].die;

		if (u->found.scopes[i].tag == DW_TAG_subprogram &&
		    (u->found.scopes[i].flags & SCOPE_RANGES) && ranges_have(dm, u, at, pc))
			return lookup_function_die(dm, at);
	}
	return NULL;
}

/* ---- types by name ---- */

/* Do the scopes from the unit down to this one spell name? Compared from the end of name. */
static bool scope_is(struct dwarf_module *dm, struct unit *u, uint32_t index, const char *name)
{
	size_t end = strlen(name);

	while (index != SCOPE_NONE) {
		const char *own = scan_scope_name(&dm->sections, u, index);
		size_t len = own ? strlen(own) : 0;

		if (!len || len > end || memcmp(name + end - len, own, len) != 0)
			return false;
		end -= len;
		index = u->found.scopes[index].parent;
		if (index == SCOPE_NONE)
			return end == 0;
		if (end < 2 || memcmp(name + end - 2, "::", 2) != 0)
			return false;
		end -= 2;
	}
	return false;
}

/* The last component of name begins at tail. */
static bool is_type_of_name(struct dwarf_module *dm, struct unit *u, uint32_t index,
                            const char *name, size_t tail)
{
	const struct scope_note *note = &u->found.scopes[index];

	if (!type_names_tag(note->tag) || (note->flags & SCOPE_DECLARATION))
		return false;
	const char *own = scan_scope_name(&dm->sections, u, index);
	return own && strcmp(own, name + tail) == 0 && scope_is(dm, u, index, name);
}

static const struct type *type_in_unit(struct dwarf_module *dm, struct unit *u, const char *name,
                                       size_t tail)
{
	debuginfo_scan(dm, u);
	for (size_t i = 0; i < u->found.nscopes; i++) {
		if (is_type_of_name(dm, u, (uint32_t)i, name, tail))
			return type_at(dm, u->start + u->found.scopes[i].die);
	}
	return NULL;
}

/*
 * Searches the units of the crate that the name begins with, then the others. Unit here was
 * searched before.
 */
static const struct type *type_in_units(struct dwarf_module *dm, const struct unit *here,
                                        const char *name, size_t tail, size_t crate_len)
{
	const struct type *found = NULL;

	for (int own_crate = 1; own_crate >= 0 && !found; own_crate--) {
		for (size_t i = 0; i < dm->nunits && !found; i++) {
			struct unit *u = &dm->units[i];

			if (u != here && unit_is_of_crate(u, name, crate_len) == (bool)own_crate)
				found = type_in_unit(dm, u, name, tail);
		}
	}
	return found;
}

/* type_in_units() by the index. False when two names share a hash, so that a search is needed. */
static bool type_by_index(struct dwarf_module *dm, const char *name, size_t tail, size_t crate_len,
                          const struct type **ret)
{
	uint64_t die = type_names_find(dm, name, crate_len);
	struct unit *u = die ? debuginfo_scanned_unit_of(dm, die) : NULL;
	uint32_t index = u ? scan_scope_at(u, die) : SCOPE_NONE;

	*ret = NULL;
	if (die == 0)
		return true;
	if (index == SCOPE_NONE || !is_type_of_name(dm, u, index, name, tail))
		return false;
	*ret = type_at(dm, die);
	return true;
}

const struct type *lookup_dwarf_type(struct dwarf_module *dm, const char *name, uint64_t near)
{
	enum { FEW = 32 }; /* the first types are searched for: building the index costs more */
	size_t tail = (size_t)(qualified_last(name) - name);
	const char *colons = strstr(name, "::");
	size_t crate_len = colons ? (size_t)(colons - name) : 0;
	struct unit *here = near ? debuginfo_unit_of(dm, near) : NULL;
	const struct type *found = here ? type_in_unit(dm, here, name, tail) : NULL;

	if (found ||
	    (dm->types.nsearched++ >= FEW && type_by_index(dm, name, tail, crate_len, &found)))
		return found;
	return type_in_units(dm, here, name, tail, crate_len);
}

/* ---- thread-locals ---- */

/* LLVM may append ".llvm.123" to a symbol that it made local. */
static const struct symbol *tls_symbol(const struct tls_symbols *symbols, const char *linkage)
{
	size_t len = strlen(linkage);

	for (size_t i = 0; i < symbols->n; i++) {
		const char *name = symbols->data[i].name;

		if (strncmp(name, linkage, len) == 0 &&
		    (name[len] == '\0' || strncmp(name + len, ".llvm.", 6) == 0))
			return &symbols->data[i];
	}
	return NULL;
}

/* The only candidate for which pick is true; NULL when there is none or several. */
static const struct thread_local *only(const struct thread_local *candidates, size_t n,
                                       bool (*pick)(const struct thread_local *))
{
	const struct thread_local *chosen = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!pick(&candidates[i]))
			continue;
		if (chosen)
			return NULL;
		chosen = &candidates[i];
	}
	return chosen;
}

static bool lookup_has_offset(const struct thread_local *t)
{
	return t->offset != 0;
}

/*
 * Whether the thread-local is the one in std's Storage: of the two that DWARF describes if it has a
 * destructor, that one is live. The bare one is for types without a destructor.
 */
static bool is_storage(const struct thread_local *t)
{
	return t->type && strncmp(type_name(t->type), "std::", 5) == 0;
}

/*
 * Picks the live candidate without a symbol table. The linker leaves the offset 0 in a dropped
 * thread-local. So the live one is the only candidate, or the only one with another offset. If the
 * live one is at 0 too, both describe the same place. NULL when this does not decide.
 */
static const struct thread_local *choose_unsure(const struct thread_local *candidates, size_t n)
{
	const struct thread_local *chosen =
		n == 1 ? candidates : only(candidates, n, lookup_has_offset);
	bool all_at_0 = true;

	for (size_t i = 0; i < n; i++)
		all_at_0 &= !lookup_has_offset(&candidates[i]);
	return !chosen && all_at_0 ? only(candidates, n, is_storage) : chosen;
}

struct error *lookup_dwarf_thread_locals(struct dwarf_module *dm, const char *path, struct arena *a,
                                         struct thread_local **ret, size_t *nret,
                                         const char **doubt)
{
	const struct tls_symbols *symbols = debuginfo_tls_symbols(dm);
	size_t crate_len = (size_t)(strstr(path, "::") - path), path_len = strlen(path);
	VEC(struct thread_local) sure = { 0 };
	VEC(struct thread_local) unsure = { 0 };

	*doubt = NULL;
	for (size_t i = 0; dm->dwarf && i < dm->nunits; i++) {
		struct unit *u = &dm->units[i];

		if (!unit_is_of_crate(u, path, crate_len))
			continue;
		debuginfo_scan(dm, u);
		for (size_t j = 0; j < u->found.nvariables; j++) {
			uint32_t index = u->found.variables[j];
			const struct symbol *symbol;
			const char *name;

			if (!(u->found.scopes[index].flags & SCOPE_LINKAGE))
				continue;
			struct scope s = scan_scope(&dm->sections, u, index);
			symbol = s.linkage ? tls_symbol(symbols, s.linkage) : NULL;
			if (!s.linkage || (!symbol && (symbols->has_symtab || !s.is_tls)))
				continue;
			name = die_scope_name(dm, u, index);
			if (!name || strncmp(name, path, path_len) != 0)
				continue;
			struct die_attrs attrs;
			struct die die;
			struct thread_local *t = symbol ? vec_push(&sure) : vec_push(&unsure);
			t->dm = dm;
			t->linkage = s.linkage;
			t->offset = symbol ? symbol->value : s.low;
			if (die_attrs_open(dm, s.die, &die)) {
				die_attrs_read(&die, &attrs);
				t->type = type_at(dm, attrs.type);
			}
		}
	}
	if (sure.n == 0 && unsure.n) {
		const struct thread_local *chosen = choose_unsure(unsure.data, unsure.n);

		if (chosen)
			*vec_push(&sure) = *chosen;
		else
			*doubt = "the symbol table is stripped and DWARF describes several "
				 "candidates: keep the symbol table (Cargo `strip = \"none\"`) or "
				 "a debug file that has it";
	}
	vec_free(&unsure);
	*nret = sure.n;
	*ret = vec_to_arena(&sure, a);
	return NULL;
}

/* ---- trait objects ---- */

const struct type *lookup_dwarf_vtable_variable(struct dwarf_module *dm, uint64_t variable)
{
	struct die_attrs attrs;
	struct die d;

	if (!die_attrs_open(dm, variable, &d))
		return NULL;
	die_attrs_read(&d, &attrs);
	if (!die_attrs_open(dm, attrs.type, &d))
		return NULL;
	die_attrs_read(&d, &attrs);
	return type_at(dm, attrs.containing);
}

static const struct type *lookup_known_vtable(struct debuginfo *di, uint64_t addr)
{
	for (size_t i = 0; i < di->nmodules; i++) {
		struct dwarf_module *dm = di->modules[i];
		uint64_t link = module_link_addr(dm->module, addr).v;
		bool there = dm->dwarf && !dm->module->is_unloaded;
		uint64_t die = there && link ? debuginfo_vtable(dm, link) : 0;
		const struct type *t = die ? lookup_dwarf_vtable_variable(dm, die) : NULL;

		if (t)
			return t;
	}
	return NULL;
}

/* T of the &T, &mut T or Pin<&mut T> that is a method's first parameter. */
static const struct type *self_of_method(const struct function *f)
{
	const struct type *t = function_first_argument(f);
	const struct member *in_pin = t ? type_single_member(t) : NULL;

	t = in_pin ? in_pin->type : t;
	return t && type_kind(t) == TYPE_POINTER ? type_target(t) : NULL;
}

const struct type *lookup_dwarf_vtable(struct debuginfo *di, uint64_t addr, unsigned slot,
                                       bool *exact)
{
	uint64_t code = 0, size = 0;
	struct error *err = target_read_uint(di->target, addr + slot * 8u, 8, &code);

	*exact = true;
	if (!err)
		err = target_read_uint(di->target, addr + 8, 8, &size);
	if (err) {
		error_free(err);
		return lookup_known_vtable(di, addr);
	}
	const struct function *f =
		lookup_dwarf_function(di, code); /* scans the unit that probably has it */
	f = f ? f : lookup_function(di, code);
	const struct type *t = lookup_known_vtable(di, addr);
	if (t)
		return t;
	const struct type *by_function = f ? self_of_method(f) : NULL;
	/*
	 * The linker may have merged two poll functions with equal code; the symbol then names only
	 * one of their types. It never merges coroutines: each panics with its own source location.
	 */
	if (by_function && type_is_coroutine(by_function) && type_size(by_function) == size)
		return by_function;
	struct module *m = module_at(di->target, addr);
	struct dwarf_module *dm = m ? debuginfo_module(di, m) : NULL;
	if (dm && debuginfo_need(dm)) {
		LOG("dwarf", "vtable 0x%llx: looking through all units", (unsigned long long)addr);
		for (size_t i = 0; i < dm->nunits && !lookup_known_vtable(di, addr); i++)
			debuginfo_scan(dm, &dm->units[i]);
		t = lookup_known_vtable(di, addr);
		if (t)
			return t;
	}
	*exact = false;
	return by_function && type_size(by_function) == size ? by_function : NULL;
}
