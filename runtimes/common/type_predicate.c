/* Recursive predicates over types, with cached results (type_predicate.h). */
#include "runtimes/common/type_predicate.h"

#include "runtimes/common/type_class.h"

bool type_predicate_once(struct type_predicate *a, unsigned char *known, ask_fn *ask, void *asker,
                         const struct type *t, int depth)
{
	bool before = a->cycle;

	a->cycle |= *known == DECIDING;
	if (*known != UNDECIDED)
		return *known == YES;
	*known = DECIDING;
	a->cycle = false;
	bool is = ask(asker, t, depth + 1);
	*known = is ? YES : NO;
	if (!is && (a->cycle || a->cut))
		*vec_push(&a->denied) = known;
	a->cycle |= before;
	return is;
}

bool type_predicate_end(struct type_predicate *a, bool is)
{
	for (size_t i = 0; (is || a->cut) && i < a->denied.n; i++)
		*a->denied.data[i] = UNDECIDED;
	vec_free(&a->denied);
	return is;
}

static bool any_member(const struct type *t, ask_fn *ask, void *asker, int depth)
{
	size_t n;
	const struct member *members = type_members(t, &n);

	for (size_t i = 0; i < n; i++) {
		const struct type *part = members[i].type;

		if (part && type_size(part) && ask(asker, part, depth))
			return true;
	}
	return false;
}

bool type_predicate_any_part(const struct type *t, ask_fn *ask, void *asker, int depth)
{
	size_t n;
	const struct variant *variants;

	if (type_kind(t) == TYPE_STRUCT)
		return any_member(t, ask, asker, depth);
	variants = type_kind(t) == TYPE_ENUM ? type_variants(t, &n) : NULL;
	for (size_t i = 0; variants && i < n; i++) {
		if (variants[i].payload && any_member(variants[i].payload, ask, asker, depth))
			return true;
	}
	return false;
}
