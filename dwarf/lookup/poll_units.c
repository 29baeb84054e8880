/* Searches the units that may hold the poll function of a future, from near to far. */
#include "dwarf/lookup/poll_units.h"

#include <string.h>

#include "debugger/base/log.h"
#include "debugger/base/vec.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/lookup/pin_refs.h"
#include "dwarf/lookup/poll_fn_index.h"
#include "dwarf/module/symtab.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"
#include "dwarf/types/type.h"

/*
 * A crate with at most this many bytes of debug info is searched whole. One test is built
 * with 0, which makes every crate a large one.
 */
#ifndef SMALL_CRATE
#define SMALL_CRATE (4 << 20)
#endif

enum { LARGE_OBJECT = 32 << 20 };

/* The progress of the search in a crate. */
struct poll_crate {
	size_t nscanned;  /* the module's nscanned at the last search */
	size_t ncontexts; /* the module's ncontexts at the last search */
	bool small;
};

typedef VEC(struct unit *) unit_vec;

bool poll_units_same_crate(const struct unit *a, const struct unit *b)
{
	return a->crate_key && a->crate_key == b->crate_key;
}

/* A library's async fn may also be polled in the library's own units. */
static bool poll_units_is_eligible(const struct poll_question *q, const struct unit *u)
{
	const char *crate;
	size_t len;

	return poll_units_same_crate(q->here, u) ||
	       (q->function && unit_crate(u, &crate, &len) && strncmp(q->name, crate, len) == 0 &&
	        strncmp(q->name + len, "::", 2) == 0);
}

static void poll_units_add(const struct poll_question *q, unit_vec *units, size_t index)
{
	struct unit *u = &q->dm->units[index];

	if (!u->polled_noted && poll_units_is_eligible(q, u))
		*vec_push(units) = u;
}

/* Reads all units of the list and empties it; true: the query is answered. */
static bool poll_units_read(const struct poll_question *q, unit_vec *units)
{
	for (size_t i = 0; i < units->n; i++)
		poll_fn_read(q->dm, units->data[i]);
	units->n = 0;
	return q->answered(q);
}

/* Kinds of visits; a visit is keyed by an address, an offset or a name's key. */
enum poll_units_visit {
	VISIT_OBJECT,
	VISIT_SYMBOLS_OF_TYPE,
	VISIT_SYMBOLS_OF_FUNCTION,
	VISIT_FUNCTION,
	VISIT_INLINED,
	VISIT_INLINED_OF_TYPE,
	VISIT_INLINED_OF_FUNCTION,
};

static uint64_t visit_key(const struct poll_question *q, enum poll_units_visit what,
                          uint64_t number)
{
	uint64_t context = q->here->crate_key ^ ((uint64_t)what << 2 | (q->function ? 2 : 0));

	return map_key_of_pair(context, number);
}

/* True at the first call with these arguments. */
static bool poll_units_is_first_visit(const struct poll_question *q, enum poll_units_visit what,
                                      uint64_t number)
{
	return map_put(&q->dm->polls.visits, visit_key(q, what, number), NULL);
}

/*
 * The units of u's object file, which share their abbreviations; only u if the whole program is one
 * object.
 */
static void object_of(const struct dwarf_module *dm, const struct unit *u, size_t *first,
                      size_t *end)
{
	size_t self = (size_t)(u - dm->units);

	*first = self;
	*end = self + 1;
	while (*first > 0 && dm->units[*first - 1].abbrev_offset == u->abbrev_offset)
		--*first;
	while (*end < dm->nunits && dm->units[*end].abbrev_offset == u->abbrev_offset)
		++*end;
	if (dm->units[*end - 1].end - dm->units[*first].start > LARGE_OBJECT) {
		*first = self;
		*end = self + 1;
	}
}

/*
 * Adds the units of u's object file. With ThinLTO an object has units of all crates and modules
 * whose functions it inlines: a function inlined into one unit is described in a neighbouring unit.
 */
static void add_object(const struct poll_question *q, unit_vec *units, const struct unit *u)
{
	size_t first, end;

	if (!poll_units_is_first_visit(q, VISIT_OBJECT, u->start))
		return;
	object_of(q->dm, u, &first, &end);
	for (; first < end; first++)
		poll_units_add(q, units, first);
}

/* Visits the symbols of the poll functions of a type, or of a coroutine in that function. */
static void poll_units_each_symbol(const struct poll_question *q, const char *name,
                                   const char *function, symtab_poll_fn *visit, void *arg)
{
	if (function)
		poll_symbols_each_closure(q->dm, function, visit, arg);
	else
		poll_symbols_each_poll(q->dm, name, visit, arg);
}

struct symbol_visit {
	const struct poll_question *q;
	unit_vec *units;
};

static void poll_units_visit_symbol(const struct poll_place *at, void *arg)
{
	const struct symbol_visit *visit = arg;

	if (poll_units_is_eligible(visit->q, at->u))
		add_object(visit->q, visit->units, at->u);
}

/* Adds the units with poll functions of a type, or of a coroutine in that function. */
static void add_symbols(const struct poll_question *q, unit_vec *units, const char *name,
                        const char *function)
{
	struct symbol_visit visit = { q, units };

	if (poll_units_is_first_visit(q,
	                              function ? VISIT_SYMBOLS_OF_FUNCTION : VISIT_SYMBOLS_OF_TYPE,
	                              map_key_of_text(function ? function : name)))
		poll_units_each_symbol(q, name, function, poll_units_visit_symbol, &visit);
}

static void visit_inlined(const struct poll_place *at, void *arg)
{
	const struct poll_question *const *q = arg;

	if (poll_units_is_eligible(*q, at->u) &&
	    poll_units_is_first_visit(*q, VISIT_INLINED, at->pc))
		poll_fn_read_inlined((*q)->dm, at->u, at->pc);
}

/*
 * Reads the functions inlined into the poll functions of a type, or of a coroutine in that
 * function.
 */
static void poll_units_read_inlined(const struct poll_question *q, const char *name,
                                    const char *function)
{
	if (poll_units_is_first_visit(q,
	                              function ? VISIT_INLINED_OF_FUNCTION : VISIT_INLINED_OF_TYPE,
	                              map_key_of_text(function ? function : name)))
		poll_units_each_symbol(q, name, function, visit_inlined, &q);
}

/*
 * Looks in the contexts: in optimised code a future's poll function is inlined into its parent's.
 */
static bool ask_contexts(const struct poll_question *q, struct poll_crate *crate)
{
	const struct dwarf_module *dm = q->dm;

	if (crate->ncontexts == dm->ncontexts)
		return false;
	crate->ncontexts = dm->ncontexts;
	for (size_t i = 1; i <= MAX_CONTEXTS && i <= dm->ncontexts; i++) {
		const struct type *t = dm->contexts[(dm->ncontexts - i) % MAX_CONTEXTS];
		SCRATCH(tmp);
		const char *function = type_is_coroutine(t) ? poll_units_function(t, &tmp) : NULL;

		if (function || !type_is_coroutine(t))
			poll_units_read_inlined(q, type_name(t), function);
	}
	return q->answered(q);
}

/*
 * Does the crate have few bytes of debug info? Scanned units count, too: the answer must not depend
 * on what was looked at before.
 */
static bool is_small(const struct poll_question *q)
{
	const struct dwarf_module *dm = q->dm;
	uint64_t bytes = 0;

	for (size_t i = 0; i < dm->nunits; i++) {
		if (poll_units_same_crate(q->here, &dm->units[i]))
			bytes += dm->units[i].end - dm->units[i].start;
	}
	return bytes <= SMALL_CRATE;
}

static struct poll_crate *poll_units_crate_of(const struct poll_question *q)
{
	struct dwarf_module *dm = q->dm;
	struct map *crates = &dm->polls.crates[q->function != NULL];
	struct poll_crate *crate = map_get(crates, q->here->crate_key);

	if (!crate) {
		crate = NEW(&dm->di->arena, struct poll_crate);
		crate->nscanned = SIZE_MAX;
		crate->small = is_small(q);
		map_put(crates, q->here->crate_key, crate);
	}
	return crate;
}

bool poll_units_is_large(const struct poll_question *q)
{
	return q->here->crate_key && !poll_units_crate_of(q)->small;
}

/* Updates the state of the crate; true when units were scanned since the last call. */
static bool update_crate(const struct poll_question *q, struct poll_crate **ret)
{
	struct poll_crate *crate = poll_units_crate_of(q);
	bool was_scanned = crate->nscanned != q->dm->nscanned;

	crate->nscanned = q->dm->nscanned;
	*ret = crate;
	return was_scanned;
}

/* Adds all units of the crate, or only the scanned ones. */
static void poll_units_add_crate(const struct poll_question *q, unit_vec *units, bool only_scanned)
{
	for (size_t i = 0; i < q->dm->nunits; i++) {
		if (!only_scanned || q->dm->units[i].scanned)
			poll_units_add(q, units, i);
	}
}

/* Functions that the symbol table has and that were not read yet. */
struct poll_units_candidates {
	const struct poll_question *q;
	VEC(struct poll_place) found;
};

static void visit_candidate(const struct poll_place *at, void *arg)
{
	struct poll_units_candidates *c = arg;

	/* Any crate may have the only instance of a library's generic future. */
	if (!at->u->polled_noted && (!c->q->function || poll_units_is_eligible(c->q, at->u)) &&
	    !map_has(&c->q->dm->polls.visits, visit_key(c->q, VISIT_FUNCTION, at->pc)))
		*vec_push(&c->found) = *at;
}

static void poll_units_read_function(const struct poll_question *q, const struct poll_place *at)
{
	if (poll_units_is_first_visit(q, VISIT_FUNCTION, at->pc))
		poll_fn_read_function(q->dm, at->u, at->pc);
}

/* Reads the functions in scanned units, which costs nothing, and removes them from the list. */
static void read_scanned(struct poll_units_candidates *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->found.n; i++) {
		const struct poll_place *at = &c->found.data[i];

		if (at->u->scanned)
			poll_units_read_function(c->q, at);
		else
			c->found.data[n++] = *at;
	}
	c->found.n = n;
}

/* The number of nested closures and coroutines, including this one. */
static unsigned depth_of_type(const char *name)
{
	const char *last = qualified_last(name);
	unsigned depth = 1;

	for (const char *p = name; p < last; p++)
		depth += *p == '{' && strncmp(p, "{impl#", 6) != 0;
	return depth;
}

static unsigned depth_of_symbol(const char *name)
{
	static const char closure[] = "$u7b$$u7b$closure$u7d$$u7d$";
	unsigned depth = 0;

	while ((name = strstr(name, closure))) {
		name += sizeof(closure) - 1;
		depth++;
	}
	return depth;
}

/* Does a legacy symbol's name match a coroutine's path, "app::{impl#0}::run"? */
static bool names_agree(const struct poll_question *q, const char *path, const char *symbol)
{
	size_t len = strcspn(path, "{");
	SCRATCH(tmp);

	if (!symbol || depth_of_symbol(symbol) != depth_of_type(q->name))
		return false;
	return strstr(path, "{impl#") ? name_impl_from_linkage(&tmp, path, symbol) != NULL
	                              : strncmp(demangle(&tmp, symbol), path, len) == 0;
}

static uint64_t poll_units_size_of(const struct unit *u)
{
	return u->end - u->start;
}

/*
 * The likely candidate in the smallest unit; all likely ones are instances of one function. NULL:
 * none.
 */
static const struct poll_place *most_likely(const struct poll_units_candidates *c)
{
	SCRATCH(tmp);
	const char *path = name_function(&tmp, c->q->name);
	const struct poll_place *best = NULL;

	for (size_t i = 0; i < c->found.n; i++) {
		const struct poll_place *at = &c->found.data[i];

		if (best && (poll_units_size_of(at->u) > poll_units_size_of(best->u) ||
		             (poll_units_size_of(at->u) == poll_units_size_of(best->u) &&
		              at->pc >= best->pc)))
			continue;
		if (names_agree(c->q, path, poll_symbols_place_name(c->q->dm, at)))
			best = at;
	}
	return best;
}

static void read_all(const struct poll_units_candidates *c)
{
	for (size_t i = 0; i < c->found.n; i++)
		poll_units_read_function(c->q, &c->found.data[i]);
}

/* Reads only the functions at the symbols' addresses. */
static bool ask_functions(const struct poll_question *q)
{
	struct poll_units_candidates c = { .q = q };

	poll_units_each_symbol(q, q->name, q->function, visit_candidate, &c);
	read_scanned(&c);
	if (!q->answered(q) && q->function && c.found.n > 1) {
		const struct poll_place *at = most_likely(&c);

		if (at)
			poll_units_read_function(q, at);
	}
	if (!q->answered(q))
		read_all(&c);
	vec_free(&c.found);
	return q->answered(q);
}

static void visit_pinned(struct unit *u, void *arg)
{
	const struct symbol_visit *visit = arg;
	const struct dwarf_module *dm = visit->q->dm;
	size_t first, end;

	for (object_of(dm, u, &first, &end); first < end; first++) {
		if (!dm->units[first].polled_noted)
			*vec_push(visit->units) = &dm->units[first];
	}
}

void poll_units_ask(const struct poll_question *q)
{
	unit_vec units = { 0 };
	struct poll_crate *crate;
	size_t before = q->dm->nscanned;

	if (q->answered(q))
		return;
	poll_fn_read(q->dm, q->here);
	if (q->answered(q) || !q->here->crate_key)
		return;
	if (update_crate(q, &crate))
		poll_units_add_crate(q, &units, true);
	bool done = poll_units_read(q, &units);
	if (!done && crate->small) {
		poll_units_add_crate(q, &units, false);
		done = poll_units_read(q, &units);
	}
	/*
	 * A poll function that is not inlined has a symbol. A coroutine surely has a poll function.
	 */
	bool inlined = !crate->small &&
	               (q->function || (!q->plain && !poll_symbols_is_unoptimised(q->dm, q->here)));
	if (!done && inlined) {
		add_object(q, &units, q->here);
		done = poll_units_read(q, &units);
	}
	/* Read the functions at symbols before all units of the object file. */
	if (!done && (!crate->small || !q->function))
		done = ask_functions(q);
	if (!done && !crate->small) {
		add_symbols(q, &units, q->name, q->function);
		done = poll_units_read(q, &units);
	}
	if (!done && inlined)
		done = ask_contexts(q, crate);
	/* A coroutine surely has a poll function: read the whole crate. */
	if (!done && q->function) {
		poll_units_add_crate(q, &units, false);
		poll_units_read(q, &units);
	}
	/*
	 * A poll function that is inlined everywhere has no symbol, and may be in any unit. Only
	 * this search makes the lack of an answer one that does not depend on earlier questions.
	 */
	if (!done && !q->function) {
		struct symbol_visit visit = { q, &units };

		pin_refs_each_unit(q->dm, q->name, visit_pinned, &visit);
		poll_units_read(q, &units);
	}
	if (q->dm->nscanned != before)
		LOG("dwarf", "poll function of %s: %s, %zu units scanned", q->name,
		    q->answered(q) ? "found" : "not found", q->dm->nscanned - before);
	vec_free(&units);
}

const char *poll_units_function(const struct type *coroutine, struct arena *a)
{
	struct dwarf_module *dm = type_module(coroutine);
	struct unit *u = debuginfo_scanned_unit_of(dm, type_die(coroutine));
	uint32_t index = u ? scan_scope_at(u, type_die(coroutine)) : SCOPE_NONE;

	while (index != SCOPE_NONE && (index = u->found.scopes[index].parent) != SCOPE_NONE) {
		const char *name = scan_scope_name(&dm->sections, u, index);

		if (name && name[0] != '{')
			return arena_strndup(a, name, qualified_base_len(name));
	}
	return NULL;
}
