/* Looks up poll functions in the symbol table, as read by poll_index.c. */
#include <string.h>

#include "debugger/base/vec.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/module/poll_index.h"
#include "dwarf/module/symtab.h"
#include "dwarf/names/impl_header.h"
#include "dwarf/names/qualified.h"

/* The next entry of that kind and name, starting at a bucket's first entry or after an entry. */
static struct poll_symbol *find_entry(const struct poll_index *x, uint32_t at, enum entry_kind kind,
                                      uint64_t key)
{
	for (; at != NO_ENTRY; at = x->entries.data[at].next) {
		if (x->entries.data[at].key == key && x->entries.data[at].kind == kind)
			return &x->entries.data[at];
	}
	return NULL;
}

static struct poll_symbol *poll_symbols_first_entry(const struct poll_index *x,
                                                    enum entry_kind kind, const char *name)
{
	uint64_t key = map_key_of_text(name);

	return find_entry(x, x->buckets[key & x->mask], kind, key);
}

static struct poll_symbol *poll_symbols_next_entry(const struct poll_index *x,
                                                   const struct poll_symbol *s)
{
	return find_entry(x, s->next, (enum entry_kind)s->kind, s->key);
}

/* The unit with code at the function's address; NULL: none. */
static struct unit *unit_of(struct dwarf_module *dm, const struct poll_symbol *s)
{
	uint32_t *known = &dm->polls.units[s - dm->polls.index->entries.data];

	if (*known == NOT_LOOKED) {
		const struct unit *u = debuginfo_unit_at(dm, s->pc);

		*known = u ? (uint32_t)(u - dm->units) + 1 : NO_UNIT;
	}
	return *known == NO_UNIT ? NULL : &dm->units[*known - 1];
}

static void poll_symbols_visit_all(struct dwarf_module *dm, enum entry_kind kind, const char *name,
                                   symtab_poll_fn *visit, void *arg)
{
	const struct poll_index *x = dm->polls.index;

	for (struct poll_symbol *s = poll_symbols_first_entry(x, kind, name); s;
	     s = poll_symbols_next_entry(x, s)) {
		struct poll_place at = { unit_of(dm, s), s->pc, s->symbol };

		if (at.u)
			visit(&at, arg);
	}
}

const char *poll_symbols_place_name(struct dwarf_module *dm, const struct poll_place *at)
{
	struct symtab t = symtab_of(dm);

	return at->symbol < t.n ? symtab_name(&t, &t.data[at->symbol]) : NULL;
}

bool poll_symbols_is_unoptimised(struct dwarf_module *dm, const struct unit *u)
{
	const struct poll_index *x = u->crate_key ? poll_index_read(dm) : NULL;

	/* The functions of one crate are adjacent, so few are visited. */
	while (x && dm->polls.ntrivial < x->trivial.n &&
	       !map_has(&dm->polls.unoptimised, u->crate_key)) {
		uint64_t pc = x->trivial.data[x->trivial.n - ++dm->polls.ntrivial];
		const struct unit *other = debuginfo_unit_at(dm, pc);

		if (other && other->crate_key)
			map_put(&dm->polls.unoptimised, other->crate_key, NULL);
	}
	return x && map_has(&dm->polls.unoptimised, u->crate_key);
}

static void read_folded(struct poll_index *x)
{
	struct map symbols = { 0 }; /* address -> number of its first symbol, plus one */

	for (size_t i = 0; i < x->entries.n; i++) {
		const struct poll_symbol *s = &x->entries.data[i];
		uintptr_t number = (uintptr_t)s->symbol + 1,
			  first = (uintptr_t)map_get(&symbols, s->pc);

		if (!first)
			map_put(&symbols, s->pc, (void *)number);
		else if (first != number)
			*vec_push(&x->folded) = s->pc;
	}
	map_free(&symbols);
	x->folded_read = true;
}

bool poll_symbols_is_folded(struct dwarf_module *dm, const struct unit *u)
{
	struct poll_index *x = poll_index_read(dm);

	if (x && !x->folded_read)
		read_folded(x);
	for (size_t i = 0; x && i < x->folded.n; i++) {
		const struct unit *other = debuginfo_unit_at(dm, x->folded.data[i]);

		if (other && other->crate_key == u->crate_key)
			return true;
	}
	return false;
}

/* "Foo" of "app::Foo<T>"; the part of a pointer's or trait object's name that comes last. */
static const char *last_identifier(struct arena *a, const char *type_name)
{
	const char *last = qualified_last(type_name);
	size_t end = qualified_base_len(last), start;

	while (end && !is_identifier(last[end - 1]))
		end--;
	for (start = end; start && is_identifier(last[start - 1]);)
		start--;
	return end > start ? arena_strndup(a, last + start, end - start) : NULL;
}

/* "app..Foo" of "app::Foo<T>"; NULL when it is no plain path of identifiers. */
static const char *poll_symbols_path_of(struct arena *a, const char *type_name)
{
	const char *last = qualified_last(type_name);
	size_t len = (size_t)(last - type_name) + qualified_base_len(last);
	char *path = arena_strndup(a, type_name, len);

	for (size_t i = 0; i < len; i++) {
		if (path[i] == ':')
			path[i] = '.';
		else if (!is_identifier(path[i]))
			return NULL;
	}
	return path;
}

static bool has_identifier(const struct poll_index *x, const char *identifier, bool stream)
{
	struct poll_symbol *s = poll_symbols_first_entry(x, ENTRY_IDENTIFIER, identifier);

	while (s && s->stream != stream)
		s = poll_symbols_next_entry(x, s);
	return s != NULL;
}

enum poll_symbols_poll poll_symbols_poll(struct dwarf_module *dm, const char *type_name,
                                         unsigned how)
{
	bool stream = how == POLLED_AS_STREAM;

	SCRATCH(tmp);
	const char *path = poll_symbols_path_of(&tmp, type_name),
		   *identifier = last_identifier(&tmp, type_name);
	const struct poll_index *x = path && identifier ? poll_index_read(dm) : NULL;
	enum poll_symbols_poll ret = SYMTAB_POLL_NONE;

	if (!x || x->skipped || has_identifier(x, identifier, stream))
		return SYMTAB_POLL_UNKNOWN;
	bool generic = strchr(type_name, '<');
	for (struct poll_symbol *s = poll_symbols_first_entry(x, ENTRY_PATH, path); s;
	     s = poll_symbols_next_entry(x, s)) {
		if (s->stream != stream)
			continue;
		if (s->form == POLL_FORM_PLAIN && !generic)
			return SYMTAB_POLL_ALL;
		/* Thousands of instances may follow with the same result. */
		if (s->form == POLL_FORM_OPEN && generic)
			return SYMTAB_POLL_OPEN;
		ret = s->form == POLL_FORM_OPEN || ret == SYMTAB_POLL_OPEN ? SYMTAB_POLL_OPEN
		                                                           : SYMTAB_POLL_UNKNOWN;
	}
	return ret;
}

bool poll_symbols_each_poll(struct dwarf_module *dm, const char *type_name, symtab_poll_fn *visit,
                            void *arg)
{
	SCRATCH(tmp);
	const char *path = poll_symbols_path_of(&tmp, type_name),
		   *identifier = last_identifier(&tmp, type_name);

	if (!identifier || !poll_index_read(dm))
		return false;
	if (path)
		poll_symbols_visit_all(dm, ENTRY_PATH, path, visit, arg);
	poll_symbols_visit_all(dm, ENTRY_IDENTIFIER, identifier, visit, arg);
	return true;
}

bool poll_symbols_each_closure(struct dwarf_module *dm, const char *function, symtab_poll_fn *visit,
                               void *arg)
{
	if (!poll_index_read(dm))
		return false;
	poll_symbols_visit_all(dm, ENTRY_CLOSURE, function, visit, arg);
	return true;
}
