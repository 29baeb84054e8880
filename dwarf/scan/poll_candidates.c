#include "dwarf/scan/poll_candidates.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum answer { NO = 1, YES, OPEN };

/* The kinds of namespaces, by what they may contain. */
enum home {
	HOME_ROOT = 1,
	HOME_CORE,
	HOME_CORE_TASK,
	HOME_CORE_OPS,
	HOME_ALLOC,
	HOME_STD,
	HOME_TOKIO,
	HOME_TOKIO_RUNTIME,
	HOME_TOKIO_TASK,
	HOME_RESULTS,       /* only types that poll functions return */
	HOME_WITHOUT_POLLS, /* no poll functions, but many others */
	HOME_ANY,
	HOME_UNKNOWN, /* its name is not in the scan's notes */
};

/*
 * Transitions from a namespace to one within it; name NULL: to any other. A namespace without a row
 * leads to HOME_ANY.
 */
static const struct step {
	enum home from;
	const char *name;
	enum home to;
} steps[] = {
	{ HOME_ROOT, "core", HOME_CORE },
	{ HOME_ROOT, "alloc", HOME_ALLOC },
	{ HOME_ROOT, "std", HOME_STD },
	{ HOME_ROOT, "tokio", HOME_TOKIO },
	/* Modules with futures, or wrappers of futures: see polled_never(). */
	{ HOME_CORE, "future", HOME_ANY },
	{ HOME_CORE, "pin", HOME_ANY },
	{ HOME_CORE, "panic", HOME_ANY },
	{ HOME_CORE, "task", HOME_CORE_TASK },
	{ HOME_CORE, "ops", HOME_CORE_OPS },
	{ HOME_CORE, "sync", HOME_ANY },
	{ HOME_CORE, "async_iter", HOME_ANY },
	{ HOME_CORE, NULL, HOME_WITHOUT_POLLS },
	{ HOME_CORE_TASK, "poll", HOME_RESULTS },
	{ HOME_CORE_OPS, "generator", HOME_RESULTS },
	{ HOME_CORE_OPS, "coroutine", HOME_RESULTS },
	{ HOME_CORE_OPS, NULL, HOME_WITHOUT_POLLS },
	{ HOME_ALLOC, "boxed", HOME_ANY },
	{ HOME_ALLOC, NULL, HOME_WITHOUT_POLLS },
	{ HOME_STD, "future", HOME_ANY },
	{ HOME_STD, "panic", HOME_ANY },
	{ HOME_STD, "async_iter", HOME_ANY },
	{ HOME_STD, NULL, HOME_WITHOUT_POLLS },
	/* poll<T, S>() of a task's header is no poll function of T. */
	{ HOME_TOKIO, "runtime", HOME_TOKIO_RUNTIME },
	{ HOME_TOKIO_RUNTIME, "task", HOME_TOKIO_TASK },
	{ HOME_TOKIO_TASK, "raw", HOME_WITHOUT_POLLS },
	{ HOME_WITHOUT_POLLS, NULL, HOME_WITHOUT_POLLS },
	{ HOME_UNKNOWN, NULL, HOME_UNKNOWN },
};

enum { MAX_DEPTH = 64 };

/*
 * A direct-mapped cache: answers by 32-bit numbers other than UINT32_MAX. A new entry replaces an
 * older one: to read a name again costs less than to touch new memory.
 */
enum { REMEMBERED = 4096, NUNITS = 1 << 24 };
struct memory {
	struct remembered {
		uint32_t number; /* plus one */
		uint32_t answer : 8;
		uint32_t unit : 24; /* that it is valid for, by poll_names.unit; 0: for all */
	} data[REMEMBERED];
};

struct poll_names {
	struct memory functions;    /* by offsets in .debug_str: the linker merged equal strings */
	struct memory types, homes; /* by DIEs and by scopes of one unit */
	uint32_t unit;              /* number of the current unit, counted from 1 */
};

struct search {
	const struct dwarf_sections *s;
	const struct unit *u;
	struct poll_names *names;
	poll_candidate_vec *ret;
};

void poll_candidates_free(struct poll_names *names)
{
	free(names);
}

static struct remembered *place_of(struct memory *m, uint32_t number)
{
	return &m->data[(number * UINT32_C(0x9e3779b1)) >> 20];
}

bool poll_candidates_is_poll(const char *name)
{
	return strncmp(name, "poll", 4) == 0 && (name[4] == '\0' || name[4] == '<');
}

bool poll_candidates_is_coroutine(const char *name)
{
	return name[0] == '{' && strncmp(name, "{closure#", 9) != 0;
}

bool poll_candidates_is_result(const char *name)
{
	static const char *const heads[] = { "Poll<", "GeneratorState<", "CoroutineState<" };

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		if (strncmp(name, heads[i], strlen(heads[i])) == 0)
			return true;
	}
	return false;
}

static enum home step_into(enum home from, const char *name)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (steps[i].from == from && (!steps[i].name || strcmp(steps[i].name, name) == 0))
			return steps[i].to;
	}
	return HOME_ANY;
}

static enum home home_within(const struct search *search, enum home from, uint32_t scope)
{
	const struct scope_note *note = &search->u->scopes[scope];
	const char *name =
		note->flags & SCOPE_NAME_AT ? section_string(search->s->str, note->name) : NULL;

	/* A type or a function may contain anything. */
	if (from == HOME_ANY || note->tag != DW_TAG_namespace)
		return from == HOME_WITHOUT_POLLS ? HOME_WITHOUT_POLLS : HOME_ANY;
	return name ? step_into(from, name) : HOME_UNKNOWN;
}

/* What an enclosing scope may contain. */
static enum home home_of(const struct search *search, uint32_t scope)
{
	uint32_t way[MAX_DEPTH];
	size_t n = 0;
	enum home home = HOME_ROOT;

	for (; scope != SCOPE_NONE; scope = search->u->scopes[scope].parent) {
		struct remembered *r = place_of(&search->names->homes, scope);

		if (r->number == scope + 1 && r->unit == search->names->unit) {
			home = (enum home)r->answer;
			break;
		}
		if (n == MAX_DEPTH)
			return HOME_UNKNOWN;
		way[n++] = scope;
	}
	while (n-- > 0) {
		home = home_within(search, home, way[n]);
		*place_of(&search->names->homes, way[n]) =
			(struct remembered){ way[n] + 1, home, search->names->unit };
	}
	return home;
}

static enum answer ask_type(const struct search *search, uint32_t type)
{
	uint32_t index = scan_scope_at(search->u, search->u->start + type);

	/* Pointer types, among others, are no scopes. */
	if (index == SCOPE_NONE)
		return NO;
	switch (home_of(search, search->u->scopes[index].parent)) {
	case HOME_RESULTS:
		return YES;
	case HOME_UNKNOWN:
		return OPEN;
	default:
		return NO;
	}
}

/*
 * Does a function have the return type of a poll function? OPEN when the type is in another unit.
 */
static enum answer returns_poll(const struct search *search, uint32_t type)
{
	struct remembered *r = place_of(&search->names->types, type);

	if (!type)
		return OPEN;
	if (r->number != type || r->unit != search->names->unit)
		*r = (struct remembered){ type, ask_type(search, type), search->names->unit };
	return (enum answer)r->answer;
}

static bool is_function(const struct search *search, const struct scope_note *note)
{
	if (!(note->flags & SCOPE_NAME_AT))
		return note->flags & SCOPE_NAMED;
	struct remembered *r = place_of(&search->names->functions, note->name);
	if (r->number != note->name + 1) {
		const char *name = section_string(search->s->str, note->name);
		bool is = name &&
		          (poll_candidates_is_coroutine(name) || poll_candidates_is_poll(name));

		*r = (struct remembered){ note->name + 1, is ? YES : NO, 0 };
	}
	return r->answer == YES;
}

/* Adds a candidate without testing its name, and prefetches the name. */
static void add(struct search *search, uint32_t scope, bool result_is_known)
{
	const struct scope_note *note = &search->u->scopes[scope];

	if (home_of(search, note->parent) == HOME_WITHOUT_POLLS)
		return;
	if (note->flags & SCOPE_NAME_AT)
		read_ahead(search->s->str.data, note->name);
	*vec_push(search->ret) = (struct poll_candidate){ scope, result_is_known };
}

/* Keeps only those after the first n that have the name of a poll function. */
static void keep_functions(struct search *search, size_t n)
{
	for (size_t i = n; i < search->ret->n; i++) {
		struct poll_candidate c = search->ret->data[i];

		if (is_function(search, &search->u->scopes[c.scope]))
			search->ret->data[n++] = c;
	}
	search->ret->n = n;
}

/* Invalidates the cached answers of the unit before. */
static void next_unit(struct poll_names *names)
{
	if (++names->unit < NUNITS)
		return;
	memset(&names->types, 0, sizeof(names->types));
	memset(&names->homes, 0, sizeof(names->homes));
	names->unit = 1;
}

void poll_candidates_find(const struct dwarf_sections *s, const struct unit *u,
                          struct poll_names **names, poll_candidate_vec *ret)
{
	if (!*names)
		*names = alloc_zeroed(sizeof(**names));
	struct search search = { .s = s, .u = u, .names = *names, .ret = ret };
	size_t before = ret->n;

	next_unit(search.names);
	for (size_t i = 0; i < u->nresults; i++) {
		enum answer answer = returns_poll(&search, u->results[i].type);

		if (answer != NO)
			add(&search, u->results[i].scope, answer == YES);
	}
	/* Poll<!> and other types without a size count as no return value. */
	for (size_t i = 0; i < u->nvoids; i++)
		add(&search, u->voids[i], true);
	keep_functions(&search, before);
}
