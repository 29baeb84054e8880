#include "dwarf/types/type.h"

#include "dwarf/module/die_name.h"
#include <string.h>

#include "dwarf/names/qualified.h"
#include "dwarf/types/type_private.h"
#include "dwarf/types/wide.h"

static struct type *new_type(struct dwarf_module *dm)
{
	struct type_block *last = dm->types.last;

	if (!last || last->n == TYPES_IN_BLOCK) {
		last = NEW(&dm->di->arena, struct type_block);
		*(dm->types.last ? &dm->types.last->next : &dm->types.first) = last;
		dm->types.last = last;
	}
	return &last->types[last->n++];
}

const struct type *type_at(struct dwarf_module *dm, uint64_t die)
{
	if (die == 0)
		return NULL;
	struct type *t = map_get(&dm->types.by_die, die);
	if (!t) {
		t = new_type(dm);
		t->dm = dm;
		t->place = t->die = die;
		if (die < dm->sections.info.size)
			read_ahead(dm->sections.info.data, die);
		map_put(&dm->types.by_die, die, t);
	}
	if (!t->queried)
		t->queried = !records_are_paused(debuginfo_records(dm));
	return t;
}

struct type *type_unlock(const struct type *t)
{
	union {
		const struct type *c;
		struct type *m;
	} u = { t };

	return u.m;
}

static void fill_shell(struct type *t)
{
	if (t->shell_read)
		return;
	t->shell_read = true;
	if (type_known_shell(t))
		return;
	t->dm->types.unrecorded = true;
	if (++t->dm->types.nread % 16 == 0)
		residency_touched(t->dm);
	if (debuginfo_need(t->dm))
		type_read_shell(t);
}

static const struct type *type_shell(const struct type *t)
{
	if (!t->shell_known) {
		fill_shell(type_unlock(t));
		type_unlock(t)->shell_known = true;
	}
	return t;
}

void type_become(struct type *t, const struct type *real)
{
	struct type own = *t;

	*t = *type_shell(real);
	t->place = own.place;
	t->shell_read = t->shell_known = true;
	t->queried = own.queried;
	t->details_queried = own.details_queried;
	t->recorded = t->details_recorded = false;
}

static const char *array_name(const struct type *t)
{
	const struct type *element = type_target(t);
	bool deep = t->dm->types.array_depth >= MAX_NESTED;
	const char *name;

	t->dm->types.array_depth++;
	name = arena_printf(&t->dm->di->arena, "[%s; %llu]",
	                    element && !deep ? type_name(element) : "?",
	                    (unsigned long long)t->count);
	t->dm->types.array_depth--;
	return name;
}

static const char *type_whole_name(const struct type *t)
{
	if (type_shell(t)->name_known)
		return t->name;
	struct type *mutable = type_unlock(t);
	mutable->name_known = true;
	if (t->kind == TYPE_ARRAY) {
		mutable->name = array_name(t);
	} else if (t->is_scope && debuginfo_need(t->dm)) {
		const char *qualified = die_name(t->dm, t->die);

		if (qualified)
			mutable->name = qualified;
	}
	return t->name;
}

const char *type_short_name(const struct type *t)
{
	fill_shell(type_unlock(t));
	return t->is_scope ? t->name : type_whole_name(t);
}

static void complete_declaration(struct type *t)
{
	const char *name = type_whole_name(t);

	t->declaration = false;
	const struct type *full = name ? t->dm->di->hooks->find_type(t->dm, name, t->die) : NULL;
	t->recorded = t->details_recorded = false;
	t->dm->types.unrecorded = true;
	if (!full || full == t || type_shell(full)->declaration) {
		t->kind = TYPE_OPAQUE;
		return;
	}
	type_become(t, full);
	t->name = name;
	t->name_known = true;
}

/* Out of line: nearly every type is complete already when one of its members is read. */
static __attribute__((noinline)) const struct type *type_complete_now(const struct type *t)
{
	if (type_shell(t)->declaration)
		complete_declaration(type_unlock(t));
	return t;
}

static const struct type *type_complete(const struct type *t)
{
	return t->shell_known && !t->declaration ? t : type_complete_now(t);
}

static const struct type_choices no_choices;
static const struct type_params no_params;
static struct type_details no_details = { .choices = &no_choices, .params = &no_params };

/* Members, variants and enumerators: children of the DIE. */
static struct type_details *type_details(const struct type *t)
{
	if (type_complete(t)->kind == TYPE_ARRAY)
		return &no_details;
	if (!t->details_queried)
		type_unlock(t)->details_queried = !records_are_paused(debuginfo_records(t->dm));
	if (t->details)
		return t->details;
	struct type_details *d = NEW(&t->dm->di->arena, struct type_details);
	struct type *mutable = type_unlock(t);
	mutable->details = d;
	d->choices = &no_choices;
	if (type_known_details(mutable, d))
		return d;
	t->dm->types.unrecorded = true;
	if (debuginfo_need(t->dm))
		type_read_details(mutable, d);
	return d;
}

static void read_params(struct type *t, struct type_details *d)
{
	struct type_params *ret = NEW(&t->dm->di->arena, struct type_params);

	d->params = ret;
	d->params_recorded = type_known_params(t, ret);
	if (!d->params_recorded && debuginfo_need(t->dm))
		type_read_params(t, ret);
}

/* Template parameters: children of the DIE too. */
static const struct type_params *type_own_params(const struct type *t)
{
	struct type_details *d = type_details(t);

	if (d == &no_details)
		return d->params;
	if (!d->params)
		read_params(type_unlock(t), d);
	if (!d->params_queried && !records_are_paused(debuginfo_records(t->dm))) {
		d->params_queried = true;
		t->dm->types.unrecorded |= !d->params_recorded;
	}
	return d->params;
}

enum type_kind type_kind(const struct type *t)
{
	return type_complete(t)->kind;
}

const char *type_name(const struct type *t)
{
	const char *name = t->name_known ? t->name : type_whole_name(t);

	return name ? name : "?";
}

uint64_t type_size(const struct type *t)
{
	return type_complete(t)->size;
}

uint64_t type_align(const struct type *t)
{
	return type_complete(t)->align ? t->align : 1;
}

const struct type *type_target(const struct type *t)
{
	return type_at(t->dm, type_shell(t)->target_die);
}

uint64_t type_count(const struct type *t)
{
	return type_shell(t)->kind == TYPE_ARRAY ? t->count : 0;
}

const struct member *type_members(const struct type *t, size_t *n)
{
	const struct type_details *d = type_details(t);

	*n = d->nmembers;
	return d->members;
}

const struct member *type_member(const struct type *t, const char *name)
{
	const struct type_details *d = type_details(t);

	for (size_t i = 0; i < d->nmembers; i++) {
		if (d->members[i].name && strcmp(d->members[i].name, name) == 0 &&
		    d->members[i].type)
			return &d->members[i];
	}
	return NULL;
}

const struct member *type_discr(const struct type *t)
{
	return type_details(t)->choices->discr;
}

const struct variant *type_variants(const struct type *t, size_t *n)
{
	const struct type_choices *d = type_details(t)->choices;

	*n = d->nvariants;
	return d->variants;
}

const struct variant *type_variant(const struct type *t, const char *name)
{
	const struct type_choices *d = type_details(t)->choices;

	for (size_t i = 0; i < d->nvariants; i++) {
		if (d->variants[i].name && strcmp(d->variants[i].name, name) == 0 &&
		    d->variants[i].payload)
			return &d->variants[i];
	}
	return NULL;
}

const struct enumerator *type_enumerators(const struct type *t, size_t *n)
{
	const struct type_choices *d = type_details(t)->choices;

	*n = d->nenumerators;
	return d->enumerators;
}

const struct type_param *type_params(const struct type *t, size_t *n)
{
	*n = type_own_params(t)->n;
	return type_own_params(t)->list;
}

const struct type *type_param(const struct type *t, const char *name)
{
	const struct type_params *all = type_own_params(t);

	for (size_t i = 0; i < all->n; i++) {
		if (all->list[i].name && strcmp(all->list[i].name, name) == 0)
			return all->list[i].type;
	}
	return NULL;
}

bool type_is_coroutine(const struct type *t)
{
	return type_complete(t)->coroutine;
}

bool type_is_slice(const struct type *t)
{
	enum wide_kind kind = type_wide_kind(t);

	return kind == WIDE_SLICE || kind == WIDE_STR;
}

bool type_is_dyn(const struct type *t)
{
	return type_wide_kind(t) == WIDE_DYN;
}

struct type_memo *type_memo(const struct type *t)
{
	return &type_unlock(t)->memo;
}

bool type_is(const struct type *t, const char *path)
{
	return qualified_is(type_name(t), path);
}

const char *type_comp_dir(const struct type *t)
{
	return type_details(t)->choices->comp_dir;
}

struct dwarf_module *type_module(const struct type *t)
{
	return t->dm;
}

uint64_t type_die(const struct type *t)
{
	return type_shell(t)->die;
}

/* 1-based index of the only member with a size, 0 when there is none or several. */
static uint32_t find_single(const struct type_details *d)
{
	uint32_t single = 0;

	for (uint32_t i = 0; i < d->nmembers; i++) {
		const struct member *m = &d->members[i];

		if (!m->type || type_size(m->type) == 0)
			continue;
		if (single)
			return 0;
		single = i + 1;
	}
	return single;
}

const struct member *type_single_member(const struct type *t)
{
	if (type_kind(t) != TYPE_STRUCT && type_kind(t) != TYPE_UNION)
		return NULL;
	struct type_details *d = type_details(t);
	if (!d->single_known) {
		d->single = find_single(d);
		d->single_known = true;
	}
	return d->single ? &d->members[d->single - 1] : NULL;
}
