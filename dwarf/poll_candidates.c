#include "dwarf/poll_candidates.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum answer { NO = 1, YES, OPEN };

/*
 * Answers by 32-bit numbers other than the last. A new one takes the place of an old one: to read a
 * name again costs less than memory that nobody has touched yet.
 */
enum { REMEMBERED = 4096 };
struct memory {
	struct remembered {
		uint32_t number; /* and one */
		uint32_t answer;
	} data[REMEMBERED];
};

/* By offsets in .debug_str, where the linker made equal strings one; and by DIEs of one unit. */
struct poll_names {
	struct memory results, functions, types;
};

struct search {
	const struct dwarf_sections *s;
	const struct unit *u;
	struct poll_names *names;
	poll_candidate_vec *ret;
};

void poll_names_free(struct poll_names *names)
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

bool poll_candidates_is_result(const char *name)
{
	static const char *const heads[] = { "Poll<", "GeneratorState<", "CoroutineState<" };

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		if (strncmp(name, heads[i], strlen(heads[i])) == 0)
			return true;
	}
	return false;
}

bool poll_candidates_returns_nothing(const struct scope_note *note)
{
	return note->tag == DW_TAG_subprogram &&
	       !(note->flags & (SCOPE_TYPE | SCOPE_ORIGIN | SCOPE_DECLARATION));
}

/* poll(), or what lies in braces: {async_fn#0} is the poll function of a coroutine. */
static bool is_function(const char *name)
{
	return name[0] == '{' || poll_candidates_is_poll(name);
}

static enum answer ask_name(const struct search *search, struct memory *known,
                            const struct scope_note *note, bool (*is)(const char *name))
{
	if (!(note->flags & SCOPE_NAME_AT))
		return note->flags & SCOPE_NAMED ? OPEN : NO;
	struct remembered *r = place_of(known, note->name);
	if (r->number != note->name + 1) {
		const char *name = section_string(search->s->str, note->name);

		*r = (struct remembered){ note->name + 1, name && is(name) ? YES : NO };
	}
	return (enum answer)r->answer;
}

static enum answer ask_type(const struct search *search, uint32_t type)
{
	uint32_t index = scan_scope_at(search->u, search->u->start + type);

	/* Pointers and the like are no scopes. */
	return index == SCOPE_NONE ? NO
	                           : ask_name(search, &search->names->results,
	                                      &search->u->scopes[index], poll_candidates_is_result);
}

/* Does a function return what a poll function does? Open when it is another unit's type. */
static enum answer returns_poll(const struct search *search, uint32_t type)
{
	struct remembered *r = place_of(&search->names->types, type);

	if (!type)
		return OPEN;
	if (r->number != type)
		*r = (struct remembered){ type, ask_type(search, type) };
	return (enum answer)r->answer;
}

static void add(struct search *search, uint32_t scope, bool result_is_known)
{
	const struct scope_note *note = &search->u->scopes[scope];

	if (ask_name(search, &search->names->functions, note, is_function) != NO)
		*vec_push(search->ret) = (struct poll_candidate){ scope, result_is_known };
}

static bool is_named(const struct search *search, uint32_t scope, const char *name)
{
	const struct scope_note *note = &search->u->scopes[scope];
	const char *own =
		note->flags & SCOPE_NAME_AT ? section_string(search->s->str, note->name) : NULL;

	return own && strcmp(own, name) == 0;
}

/* core::ptr, the home of drop glue: most that returns nothing in optimised code, and no poll(). */
static bool is_home_of_glue(const struct search *search, uint32_t scope)
{
	const struct scope_note *scopes = search->u->scopes;
	uint32_t parent = scopes[scope].parent;

	return scopes[scope].tag == DW_TAG_namespace && parent != SCOPE_NONE &&
	       scopes[parent].parent == SCOPE_NONE && is_named(search, scope, "ptr") &&
	       is_named(search, parent, "core");
}

static void add_those_of_nothing(struct search *search)
{
	const struct scope_note *scopes = search->u->scopes, *glue = NULL;

	for (size_t i = 0; i < search->u->nscopes; i++) {
		uint32_t parent = scopes[i].parent;

		if (is_home_of_glue(search, (uint32_t)i))
			glue = &scopes[i];
		else if (poll_candidates_returns_nothing(&scopes[i]) &&
		         (parent == SCOPE_NONE || &scopes[parent] != glue))
			add(search, (uint32_t)i, true);
	}
}

void poll_candidates_find(const struct dwarf_sections *s, const struct unit *u,
                          struct poll_names **names, poll_candidate_vec *ret)
{
	if (!*names && !(*names = calloc(1, sizeof(**names))))
		out_of_memory();
	struct search search = { .s = s, .u = u, .names = *names, .ret = ret };

	memset(&search.names->types, 0, sizeof(search.names->types));

	for (size_t i = 0; i < u->nresults; i++) {
		enum answer answer = returns_poll(&search, u->results[i].type);

		if (answer != NO)
			add(&search, u->results[i].scope, answer == YES);
	}
	add_those_of_nothing(&search);
}
