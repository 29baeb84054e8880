/* Finds the poll function of a future's type. */
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/lookup/poll_fn_index.h"
#include "dwarf/lookup/poll_units.h"
#include "dwarf/lookup/verify.h"
#include "dwarf/module/symtab.h"
#include "dwarf/names/qualified.h"
#include "dwarf/types/type.h"

static bool coroutine_is_polled(const struct poll_question *q)
{
	return map_has(&q->dm->polls.coroutines, q->key);
}

/* "app::run::{async_fn_env#0}<T>" is polled by "app::run::{async_fn#0}", with or without <T>. */
static const char *function_of_env(struct arena *a, const char *name)
{
	const char *last = qualified_last(name), *cut = strstr(last, "_env#");

	return cut ? arena_printf(a, "%.*s%.*s", (int)(cut - name), name,
	                          (int)strcspn(cut + 4, "}") + 1, cut + 4)
	           : NULL;
}

/* "app::run::{async_fn#0}" of the type "app::run::{async_fn_env#0}<T>" or the function "...<T>". */
static uint64_t poll_key(const char *name)
{
	const char *last = qualified_last(name), *cut = strstr(last, "_env#");
	const char *end = strchr(last, '}');
	SCRATCH(tmp);

	if (!str_begins(last, "{async_") || !end)
		return 0;
	if (!cut || cut > end)
		return map_key_of_text(arena_strndup(&tmp, name, (size_t)(end + 1 - name)));
	return map_key_of_text(arena_printf(&tmp, "%.*s%.*s", (int)(cut - name), name,
	                                    (int)(end - cut) - 3, cut + 4));
}

void lookup_dwarf_note_poll(struct dwarf_module *dm, const char *name, uint64_t die)
{
	uint64_t key = poll_key(name);

	if (key && !map_has(&dm->polls.dies, key))
		map_put(&dm->polls.dies, key, (void *)(uintptr_t)die);
}

static uint64_t noted_poll(struct dwarf_module *dm, const char *coroutine)
{
	uint64_t key = poll_key(coroutine);

	return key ? (uintptr_t)map_get(&dm->polls.dies, key) : 0;
}

uint64_t lookup_dwarf_poll(const struct type *coroutine)
{
	struct dwarf_module *dm = type_module(coroutine);

	if (dm->polls.dies_known)
		return noted_poll(dm, type_name(coroutine));
	struct unit *here = debuginfo_scanned_unit_of(dm, type_die(coroutine));
	SCRATCH(tmp);
	const char *function = function_of_env(&tmp, type_name(coroutine));
	uint64_t first = 0;

	if (!here || !function)
		return 0;
	struct poll_question q = {
		.dm = dm,
		.here = here,
		.name = type_name(coroutine),
		.function = poll_units_function(coroutine, &tmp),
		.key = map_key_of_text(function),
		.answered = coroutine_is_polled,
	};
	poll_units_ask(&q);
	/*
	 * The type may be in many units of the crate, its function only in one; prefer this unit.
	 */
	for (const struct static_place *p = map_get(&dm->polls.coroutines, q.key); p; p = p->next) {
		if (p->die >= here->start && p->die < here->end)
			return p->die;
		first = p->die;
	}
	return first;
}

size_t lookup_dwarf_polls(const struct type *coroutine, uint64_t *ret, size_t max)
{
	struct dwarf_module *dm = type_module(coroutine);
	SCRATCH(tmp);
	const char *function = function_of_env(&tmp, type_name(coroutine));
	uint64_t first = lookup_dwarf_poll(coroutine);
	size_t n = 0;

	if (!first || !function || !max)
		return 0;
	ret[n++] = first;
	const struct static_place *p = map_get(&dm->polls.coroutines, map_key_of_text(function));
	for (; p && n < max; p = p->next) {
		if (p->die != first)
			ret[n++] = p->die;
	}
	return n;
}

const char *lookup_dwarf_poll_linkage(const struct type *coroutine)
{
	return function_read_linkage(type_module(coroutine), lookup_dwarf_poll(coroutine));
}

bool lookup_dwarf_awaitee_line(const struct type *coroutine, const char *awaitee_type, unsigned nth,
                               const char **file, unsigned *line)
{
	struct dwarf_module *dm = type_module(coroutine);
	const struct awaitee awaitee = { awaitee_type, nth };

	return function_read_awaitee_place(dm, lookup_dwarf_poll(coroutine), &awaitee, file, line);
}

void lookup_context(const struct type *future)
{
	struct dwarf_module *dm = type_module(future);
	size_t n = dm->ncontexts;

	if (n && dm->contexts[(n - 1) % MAX_CONTEXTS] == future)
		return;
	dm->contexts[n % MAX_CONTEXTS] = future;
	dm->ncontexts++;
}

static bool type_is_polled(const struct poll_question *q)
{
	return map_has(&q->dm->polls.polled, q->key);
}

static unsigned poll_kind_of(const struct poll_question *q)
{
	return (unsigned)(uintptr_t)map_get(&q->dm->polls.polled, q->key);
}

const char *lookup_dwarf_home(struct dwarf_module *dm, uint64_t die)
{
	const struct unit *u = debuginfo_unit_of(dm, die);
	const char *at = u && u->name ? strstr(u->name, "/@/") : NULL;

	return at ? arena_strndup(&dm->di->arena, u->name, (size_t)(at - u->name) + 3) : NULL;
}

static bool poll_is_polled_by_symbols(const struct type *t, enum polled_as how, int depth);

/* Does the type satisfy the usual bounds of such an impl: is it a future, a stream, or callable? */
static bool is_polled_or_callable(const struct type *t, enum polled_as how, int depth)
{
	enum { MAX_DEPTH = 16 };
	static const char *const heads[] = {
		"alloc::boxed::Box<dyn core::future::future::Future<",
		"alloc::boxed::Box<(dyn core::future::future::Future<", /* + Send */
		"futures_util::fns::", /* named closures of this crate */
	};

	if (depth > MAX_DEPTH)
		return false;
	return type_is_coroutine(t) ||
	       strncmp(qualified_last(type_name(t)), "{closure_env#", 13) == 0 ||
	       str_begins_with_any(type_name(t), heads) || poll_is_polled_by_symbols(t, how, depth);
}

/* The type parameters of a type; those of an enum are in its variants. */
static const struct type_param *params_of(const struct type *t, size_t *n)
{
	const struct type_param *params = type_params(t, n);
	size_t nvariants;
	const struct variant *variants = type_variants(t, &nvariants);

	return *n == 0 && nvariants && variants[0].payload ? type_params(variants[0].payload, n)
	                                                   : params;
}

/*
 * Is the type polled in that way, by the symbol table alone? An impl for all instances applies when
 * each argument is polled in the same way, or is a coroutine or a function: that satisfies its
 * bounds.
 */
static bool poll_is_polled_by_symbols(const struct type *t, enum polled_as how, int depth)
{
	const struct type_param *params;
	size_t n;

	switch (poll_symbols_poll(type_module(t), type_name(t), how)) {
	case SYMTAB_POLL_ALL:
		return true;
	case SYMTAB_POLL_OPEN:
		params = params_of(t, &n);
		for (size_t i = 0; i < n; i++) {
			if (!params[i].type ||
			    !is_polled_or_callable(params[i].type, how, depth + 1))
				return false;
		}
		return n > 0;
	default:
		return false;
	}
}

/* A type under evaluation, and the types that contain it. */
struct plain_question {
	const struct type *t;
	const struct plain_question *outer;
	int depth;
};

static bool poll_is_plain(const struct type *t, const struct plain_question *outer);

static bool members_are_plain(const struct type *t, const struct plain_question *q)
{
	size_t n;
	const struct member *members = type_members(t, &n);

	for (size_t i = 0; i < n; i++) {
		if (!poll_is_plain(members[i].type, q))
			return false;
	}
	return true;
}

static bool variants_are_plain(const struct type *t, const struct plain_question *q)
{
	size_t n;
	const struct variant *variants = type_variants(t, &n);

	for (size_t i = 0; i < n; i++) {
		if (variants[i].payload && !members_are_plain(variants[i].payload, q))
			return false;
	}
	return true;
}

static bool params_are_plain(const struct type *t, const struct plain_question *q)
{
	size_t n;
	const struct type_param *params = params_of(t, &n);

	for (size_t i = 0; i < n; i++) {
		if (!poll_is_plain(params[i].type, q))
			return false;
	}
	return true;
}

static bool is_scalar(const struct type *t)
{
	enum type_kind kind = t ? type_kind(t) : TYPE_OPAQUE;

	return (kind >= TYPE_BOOL && kind <= TYPE_FLOAT) || kind == TYPE_CENUM;
}

static bool ask_plain(const struct type *t, const struct plain_question *q)
{
	switch (type_kind(t)) {
	case TYPE_POINTER:
		return is_scalar(type_target(t)) ||
		       (strncmp(type_name(t), "alloc::boxed::Box<", 18) == 0 &&
		        poll_is_plain(type_target(t), q));
	case TYPE_ARRAY:
		return poll_is_plain(type_target(t), q);
	case TYPE_STRUCT:
		return poll_fn_never_takes(type_name(t)) && type_name(t)[0] != '('
		               ? params_are_plain(t, q)
		               : members_are_plain(t, q);
	case TYPE_ENUM:
		return !type_is_coroutine(t) && variants_are_plain(t, q);
	default:
		return false;
	}
}

/*
 * Does the type consist of numbers, texts and containers of them, without a waker or anything to
 * poll? A future of such a type, for example one that yields once, is described in the units that
 * poll it.
 */
static bool poll_is_plain(const struct type *t, const struct plain_question *outer)
{
	enum { MAX_DEPTH = 8 };
	struct plain_question q = { t, outer, outer ? outer->depth + 1 : 0 };

	if (!t || q.depth > MAX_DEPTH)
		return false;
	/* A recursive type is plain if the rest of it is. */
	for (; outer; outer = outer->outer) {
		if (outer->t == t)
			return true;
	}
	return type_size(t) == 0 || is_scalar(t) || ask_plain(t, &q);
}

/* How the type is polled, by the symbol table alone; 0: it does not decide. */
static unsigned polled_by_symbols(const struct type *t)
{
	if (poll_is_polled_by_symbols(t, POLLED_AS_FUTURE, 0))
		return POLLED_AS_FUTURE;
	return poll_is_polled_by_symbols(t, POLLED_AS_STREAM, 0) ? POLLED_AS_STREAM : 0;
}

/* Has the symbol table no function that may poll the type? */
static bool no_symbol_polls(const struct poll_question *q)
{
	return poll_symbols_poll(q->dm, q->name, POLLED_AS_FUTURE) == SYMTAB_POLL_NONE &&
	       poll_symbols_poll(q->dm, q->name, POLLED_AS_STREAM) == SYMTAB_POLL_NONE;
}

unsigned lookup_dwarf_polled_as(const struct type *t)
{
	enum { ANY = POLLED_AS_FUTURE | POLLED_AS_STREAM };
	struct poll_question q = {
		.dm = type_module(t),
		.here = debuginfo_unit_of(type_module(t), type_die(t)),
		.name = type_name(t),
		.key = map_key_of_text(type_name(t)),
		.answered = type_is_polled,
	};

	if (!q.here)
		return 0;
	if (poll_fn_never_takes(q.name) || poll_fn_never_takes_pointer_to(q.name))
		return verify_polled_as(t, 0, ANY, "polled_never()");
	if (type_is_polled(&q))
		return poll_kind_of(&q);
	if (poll_units_is_large(&q)) {
		unsigned by_symbols = polled_by_symbols(t);

		/*
		 * LLVM merges equal functions: poll_next of a type that only forwards the call has
		 * a symbol and no DIE, which the full search would find.
		 */
		if (by_symbols == POLLED_AS_STREAM)
			return by_symbols;
		if (by_symbols)
			return verify_polled_as(t, by_symbols, ANY, "a symbol");
		if (no_symbol_polls(&q) && poll_symbols_is_unoptimised(q.dm, q.here))
			return verify_polled_as(t, 0, ANY, "the lack of a symbol");
		q.plain = poll_is_plain(t, NULL);
	}
	poll_units_ask(&q);
	return verify_polled_as(t, poll_kind_of(&q), ANY, "the search of some units");
}
