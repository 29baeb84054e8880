/* Recognises the guards of a program's own pools by their types. */
#include "runtimes/ownership/ownership_pooled.h"

#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/qualified.h"
#include "dwarf/records/records.h"
#include "runtimes/common/type_class.h"
#include "runtimes/ownership/ownership.h"

enum { MAX_CONTENTS = 4, MAX_SEMAPHORES = 4, MAX_DEPTH = 8, MAX_REFERENCES = 2, MAX_VISITED = 128 };

/* A member of the type of a possible guard. */
struct content {
	const struct type *type;
	const struct member *member;
	bool optional;
	bool stored; /* a collection behind a reference has such values */
};

struct ownership_pooled_pool_search {
	struct content contents[MAX_CONTENTS];
	const char *semaphores[MAX_SEMAPHORES];
	size_t ncontents, nsemaphores;
	unsigned visited;
	struct str *path; /* to the value that is being visited */
};

static bool is_of_std(const char *name)
{
	static const char *const crates[] = { "core::", "alloc::", "std::", "hashbrown::" };

	return str_begins_with_any(name, crates);
}

/* A struct or enum of the program or of a crate; not a tuple, a closure or a pointer. */
static bool ownership_pooled_is_named(const struct type *t)
{
	enum type_kind kind = type_kind(t);
	const char *name = type_name(t);

	return (kind == TYPE_STRUCT || kind == TYPE_ENUM) && !is_of_std(name) && name[0] != '(' &&
	       name[0] != '&' && name[0] != '*' && qualified_last(name)[0] != '{';
}

static bool is_option(const struct type *t)
{
	return str_begins(type_name(t), "core::option::Option<");
}

/* The T of an Option<T>, or the type itself. NULL unknown. */
static const struct type *pooled_optional_type(const struct type *t)
{
	const struct variant *some = t && is_option(t) ? type_variant(t, "Some") : NULL;
	const struct member *inner =
		some && some->payload ? type_member(some->payload, "__0") : NULL;

	return t && is_option(t) ? (inner ? inner->type : NULL) : t;
}

static void find_contents(struct ownership_pooled_pool_search *s, const struct type *t)
{
	size_t n;
	const struct member *members = type_members(t, &n);

	for (size_t i = 0; i < n && s->ncontents < MAX_CONTENTS; i++) {
		const struct type *inner = pooled_optional_type(members[i].type);

		if (inner && members[i].name && type_size(inner) &&
		    ownership_pooled_is_named(inner))
			s->contents[s->ncontents++] =
				(struct content){ inner, &members[i], inner != members[i].type,
				                  false };
	}
}

static bool ownership_pooled_same_type(const struct type *a, const struct type *b)
{
	return a == b || (a && b && strcmp(type_name(a), type_name(b)) == 0);
}

/* Is that the type of an element, or does an element have one? */
static bool is_stored_in(const struct type *element, const struct type *content)
{
	size_t n = 0;
	const struct member *members;

	if (ownership_pooled_same_type(element, content))
		return true;
	members = type_kind(element) == TYPE_STRUCT ? type_members(element, &n) : NULL;
	for (size_t i = 0; i < n; i++) {
		if (ownership_pooled_same_type(pooled_optional_type(members[i].type), content))
			return true;
	}
	return false;
}

/* The element type of a collection that owns its elements; NULL: the type is none. */
static const struct type *ownership_pooled_element_of(const struct type *t)
{
	static const char *const collections[] = {
		"alloc::vec::Vec<",
		"alloc::collections::",
		"crossbeam_queue::array_queue::ArrayQueue<",
		"crossbeam_queue::seg_queue::SegQueue<",
	};

	if (str_begins(type_name(t), "std::collections::hash::map::HashMap<"))
		return type_param(t, "V");
	return str_begins_with_any(type_name(t), collections) ? type_param(t, "T") : NULL;
}

static void note_collection(struct ownership_pooled_pool_search *s, const struct type *t)
{
	const struct type *element = ownership_pooled_element_of(t);

	for (size_t i = 0; element && i < s->ncontents; i++)
		s->contents[i].stored |= is_stored_in(element, s->contents[i].type);
}

static bool is_semaphore(const struct type *t)
{
	for (const struct crate_types *const *crate = crates_of(t); *crate; crate++) {
		for (const struct named_row *row = (*crate)->named; row && row->kind; row++) {
			if (strcmp(row->kind, "semaphore") == 0 && type_is(t, row->type))
				return true;
		}
	}
	return false;
}

/* Type of the target of a reference that does not own it; NULL: the type is no such reference. */
static const struct type *referred(const struct type *t)
{
	if (type_class_of(t)->special == SPECIAL_SHARED ||
	    str_begins(type_name(t), "alloc::sync::Weak<"))
		return type_param(t, "T");
	return type_kind(t) == TYPE_POINTER && type_name(t)[0] == '&' ? type_target(t) : NULL;
}

/* Visits what a value of the type contains and refers to. references: how many were followed. */
static void ownership_pooled_search(struct ownership_pooled_pool_search *s, const struct type *t,
                                    int references, int depth)
{
	const struct type *behind = referred(t);
	size_t len = s->path->len, n = 0;

	if (depth > MAX_DEPTH || ++s->visited > MAX_VISITED)
		return;
	if (references && is_semaphore(t)) {
		if (s->nsemaphores < MAX_SEMAPHORES)
			s->semaphores[s->nsemaphores++] =
				arena_strdup(&type_module(t)->di->arena, str_text(s->path));
		return;
	}
	if (references)
		note_collection(s, t);
	if (behind && references < MAX_REFERENCES)
		ownership_pooled_search(s, behind, references + 1, depth + 1);
	if (behind || type_kind(t) != TYPE_STRUCT)
		return;
	const struct member *members = type_members(t, &n);
	for (size_t i = 0; i < n; i++) {
		if (!members[i].type || !members[i].name || !type_size(members[i].type))
			continue;
		if (!is_of_std(type_name(t)))
			str_printf(s->path, "%s%s", len ? "." : "", members[i].name);
		ownership_pooled_search(s, members[i].type, references, depth + 1);
		str_truncate(s->path, len);
	}
}

static bool drops_itself(const struct type *t)
{
	const struct type *home;

	if (lookup_has_instance(type_module(t), type_die(t), OWN_DROP, type_name(t)))
		return true;
	home = lookup_type(type_module(t), type_name(t), 0);
	return home && home != t &&
	       lookup_has_instance(type_module(home), type_die(home), OWN_DROP, type_name(t));
}

/* The first content that is stored; NULL: none is. */
static const struct content *stored(const struct ownership_pooled_pool_search *s)
{
	for (size_t i = 0; i < s->ncontents; i++) {
		if (s->contents[i].stored)
			return &s->contents[i];
	}
	return NULL;
}

static const struct pooled *recognise(const struct type *t)
{
	STR(path);
	struct ownership_pooled_pool_search s = { .path = &path };
	const struct content *content;
	struct pooled *found;

	if (type_kind(t) == TYPE_STRUCT && ownership_pooled_is_named(t))
		find_contents(&s, t);
	if (s.ncontents)
		ownership_pooled_search(&s, t, 0, 0);
	content = stored(&s);
	if (!content || !s.nsemaphores || !drops_itself(t))
		return NULL;
	struct arena *a = &type_module(t)->di->arena;
	found = NEW(a, struct pooled);
	*found = (struct pooled){
		.content = arena_printf(a, "%s%s", content->member->name,
		                        content->optional ? ".Some.0" : ""),
		.semaphores = arena_memdup(a, s.semaphores, s.nsemaphores * sizeof(*s.semaphores)),
		.n = s.nsemaphores,
	};
	return found;
}

const struct pooled *ownership_pooled(const struct type *t)
{
	struct type_class *type_class = type_class_of(t);

	if (!type_class->pooled_known) {
		type_class->pooled_known = true;
		type_class->rows.pooled = recognise(t);
	}
	return type_class->rows.pooled;
}

static struct error *ownership_pooled_read_one(struct collector *c, struct value v,
                                               const char *path, struct found *ret, bool *found)
{
	struct value semaphore;

	TRY(inspector_eval(c->in, v, path, &semaphore, found));
	if (!*found)
		return NULL;
	ret->h.role = HOLDING_SLOT;
	ret->h.kind = "semaphore";
	ret->h.object = semaphore.addr;
	ret->h.uncertain = true;
	return NULL;
}

struct error *ownership_read_pooled(struct collector *c, struct value v, size_t index,
                                    struct found *ret, bool *found)
{
	const struct pooled *pooled = ownership_pooled(v.type);
	struct value content;

	TRY(inspector_eval(c->in, v, pooled->content, &content, found));
	return *found ? ownership_pooled_read_one(c, v, pooled->semaphores[index], ret, found)
	              : NULL;
}
