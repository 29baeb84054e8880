/* Finds the poll function of an async fn by the bytes of its address in an unscanned unit. */
#include "dwarf/lookup/poll_named.h"

#include <dwarf.h>
#include <endian.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/lookup/poll_units.h"
#include "dwarf/module/residency.h"
#include "dwarf/module/symtab.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"
#include "dwarf/types/die_attrs.h"

enum { MAX_CODE = 3 /* bytes of a DIE's code */ };

struct wanted {
	struct dwarf_module *dm;
	const char *own;    /* "{async_fn#0}" */
	const char *symbol; /* name of the symbol */
	uint64_t pc;
};

/* Returns 0 when the DIE has no low pc. */
static uint64_t address_of(struct die d)
{
	struct attribute at;
	struct attribute_value v;

	while (die_next(&d, &at, &v)) {
		if (at.name == DW_AT_low_pc)
			return v.number;
	}
	return 0;
}

static bool is_own_name(const char *name, const char *own)
{
	size_t len = strlen(own);

	return strncmp(name, own, len) == 0 && (name[len] == '\0' || name[len] == '<');
}

/* LLVM may have appended a suffix to the symbol's name: ".llvm.1234567890". */
static bool is_of(const char *linkage, const char *symbol)
{
	size_t len = strlen(linkage);

	return strncmp(symbol, linkage, len) == 0 && (symbol[len] == '\0' || symbol[len] == '.');
}

static bool is_wanted(const struct wanted *wanted, uint64_t offset)
{
	struct die_attrs attrs;
	struct die d;

	if (!die_attrs_open(wanted->dm, offset, &d) || d.tag != DW_TAG_subprogram ||
	    address_of(d) != wanted->pc)
		return false;
	die_attrs_read(&d, &attrs);
	die_attrs_complete(wanted->dm, &attrs);
	const char *linkage = function_read_linkage(wanted->dm, offset);
	return attrs.name && linkage && is_of(linkage, wanted->symbol) &&
	       is_own_name(attrs.name, wanted->own);
}

/* The DIE whose address is at p, directly after its abbreviation code. */
static uint64_t function_around(const struct wanted *wanted, const struct unit *u, const uint8_t *p)
{
	uint64_t offset = (uint64_t)(p - wanted->dm->sections.info.data);

	for (size_t code = 1; code <= MAX_CODE && offset - code >= u->first_die; code++) {
		if (is_wanted(wanted, offset - code))
			return offset - code;
	}
	return 0;
}

/*
 * LLVM writes the address first in a function's DIE. Other data with the same bytes is very
 * unlikely to have the symbol's name too. The search looks for a non-zero byte of the address,
 * because zeros are frequent.
 */
uint64_t poll_named_find(struct dwarf_module *dm, const struct poll_place *place, const char *own)
{
	struct wanted wanted = { dm, own, poll_symbols_place_name(dm, place), place->pc };
	const struct unit *u = place->u;
	uint64_t pc = place->pc, bytes = htole64(pc), found = 0;

	if (!wanted.symbol || u->address_size != sizeof(pc) || u->end - u->first_die < sizeof(pc))
		return 0;
	const uint8_t *first = dm->sections.info.data + u->first_die, *at = first;
	const uint8_t *end = dm->sections.info.data + u->end - sizeof(pc);
	size_t which = pc >> 8 & 0xff ? 1 : pc >> 16 & 0xff ? 2 : 0;
	for (; !found && at < end; at++) {
		const uint8_t *p =
			memchr(at + which, (int)(pc >> 8 * which & 0xff), (size_t)(end - at));

		at = p ? p - which : end;
		if (p && memcmp(at, &bytes, sizeof(bytes)) == 0)
			found = function_around(&wanted, u, at);
	}
	residency_read(dm, (size_t)(at - first));
	return found;
}

struct search {
	struct dwarf_module *dm;
	const struct unit *here; /* unit of the type */
	const char *own;
	const char *head; /* the symbol's name up to its hash */
	size_t head_len;
	uint64_t found;
};

static void visit_function(const struct poll_place *at, void *arg)
{
	struct search *search = arg;

	if (search->found || at->u->scanned || at->u->searched ||
	    !poll_units_same_crate(search->here, at->u))
		return;
	const char *symbol = poll_symbols_place_name(search->dm, at);
	if (!symbol || strncmp(symbol, search->head, search->head_len) != 0)
		return;
	at->u->searched = true;
	search->found = poll_named_find(search->dm, at, search->own);
}

/* "_ZN3app3run28_$u7b$$u7b$closure$u7d$$u7d$17h" of "app::run"; NULL when path is not plain. */
static const char *legacy_head(struct arena *a, const char *path)
{
	static const char letters[] =
		"_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	STR(out);

	str_append(&out, "_ZN");
	for (const char *p = path; *p;) {
		size_t len = strspn(p, letters);

		if (len == 0 || (p[len] && strncmp(p + len, "::", 2) != 0))
			return NULL;
		str_printf(&out, "%zu%.*s", len, (int)len, p);
		p += len + (p[len] ? 2 : 0);
	}
	str_append(&out, "28_$u7b$$u7b$closure$u7d$$u7d$17h");
	return arena_strdup(a, str_text(&out));
}

uint64_t poll_named_die(const struct type *coroutine)
{
	SCRATCH(tmp);
	const char *name = type_name(coroutine), *last = qualified_last(name);
	const char *function = poll_units_function(coroutine, &tmp);
	struct search search = { .dm = type_module(coroutine) };

	search.here = debuginfo_unit_of(search.dm, type_die(coroutine));
	if (!function || !search.here || strncmp(last, "{async_fn_env#", 14) != 0)
		return 0;
	search.head = legacy_head(&tmp, name_function(&tmp, name));
	if (!search.head)
		return 0;
	search.head_len = strlen(search.head);
	search.own = arena_printf(&tmp, "{async_fn#%.*s}", (int)strcspn(last + 14, "}"), last + 14);
	poll_symbols_each_closure(search.dm, function, visit_function, &search);
	return search.found;
}
