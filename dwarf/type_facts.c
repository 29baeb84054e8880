/*
 * Types as facts: FACT_TYPE is what type_at() reads, FACT_DETAILS and FACT_GENERICS what is read
 * when asked for, and FACT_HAS_POLL what answer.c knows of them.
 */
#include <string.h>

#include "dwarf/lookup.h"
#include "dwarf/type_inside.h"

/* SHORT: a SHELL whose name is only the last part of a path that nobody has asked for. */
enum { SHELL = 0, DECLARATION = 1, ALIAS = 2, SHORT = 3 };
enum { COROUTINE = TYPE_FUNCTION + 1 }; /* the kind of one, which is a TYPE_ENUM */

static const struct type *type_of(struct type *t, struct fact *fact)
{
	return type_at(t->dm, fact_number(fact));
}

/* What an alias stands for must itself be no alias: no chain of them is ever followed. */
static bool known_alias(struct type *t, struct fact *fact)
{
	uint64_t target = fact_number(fact);
	const char *name = fact_text(fact);
	struct fact there;

	if (target == 0 || target == t->place ||
	    (fact_find(debuginfo_facts(t->dm), FACT_TYPE, target, NULL, &there) &&
	     fact_number(&there) == ALIAS))
		return false;
	type_become(t, type_at(t->dm, target));
	t->name = name;
	t->name_known = true;
	t->told = true;
	return true;
}

bool type_known_shell(struct type *t)
{
	struct fact fact;
	uint64_t form;

	if (!fact_find(debuginfo_facts(t->dm), FACT_TYPE, t->die, NULL, &fact))
		return false;
	form = fact_number(&fact);
	if (form == ALIAS)
		return known_alias(t, &fact);
	t->declaration = form == DECLARATION;
	t->target_die = fact_number(&fact);
	t->name = fact_text(&fact);
	t->name_known = form != SHORT;
	t->is_scope = form == SHORT;
	uint64_t kind = fact_number(&fact);
	t->coroutine = kind == COROUTINE;
	kind = t->coroutine ? TYPE_ENUM : kind;
	t->kind = kind <= TYPE_FUNCTION ? (uint8_t)kind : TYPE_OPAQUE;
	t->size = fact_number(&fact);
	t->align = (uint32_t)fact_number(&fact);
	uint64_t count = fact_number(&fact);
	if (t->kind == TYPE_ARRAY)
		t->count = count;
	t->told = true;
	return true;
}

static uint64_t form_of(const struct type *t, bool whole)
{
	if (t->die != t->place)
		return ALIAS;
	if (t->declaration)
		return DECLARATION;
	return t->is_scope && !t->name_known && !whole ? SHORT : SHELL;
}

static void tell_shell(struct type *t, bool whole)
{
	uint64_t form = form_of(t, whole);
	const char *name = form == SHORT ? t->name : type_name(t);
	struct fact_draft d;

	t->told = true;
	fact_begin(&d, debuginfo_facts(t->dm), FACT_TYPE, t->place, NULL);
	fact_add_number(&d, form);
	fact_add_number(&d, form == ALIAS ? t->die : t->target_die);
	fact_add_text(&d, t->name ? name : NULL);
	fact_add_number(&d, t->coroutine ? COROUTINE : t->kind);
	fact_add_number(&d, t->size);
	fact_add_number(&d, t->align);
	fact_add_number(&d, t->kind == TYPE_ARRAY ? t->count : 0);
	fact_end(&d);
}

/* ---- details ---- */

enum { TRIM_EACH = 4096 }; /* types, whose names lie all over the file */

/* By its place: what nobody has looked at is not read for this. */
static void tell_type(struct fact_draft *d, const struct type *t)
{
	fact_add_number(d, !t ? 0 : t->shell_known ? t->die : t->place);
}

static void know_member(struct type *t, struct fact *fact, struct member *m)
{
	m->name = fact_text(fact);
	m->type = type_of(t, fact);
	m->offset = fact_number(fact);
}

static void tell_member(struct fact_draft *d, const struct member *m)
{
	fact_add_text(d, m->name);
	tell_type(d, m->type);
	fact_add_number(d, m->offset);
}

static void know_variant(struct type *t, struct fact *fact, struct variant *v)
{
	v->is_default = fact_number(fact) != 0;
	v->name = fact_text(fact);
	v->discr = fact_number(fact);
	v->payload = type_of(t, fact);
	v->offset = fact_number(fact);
	v->file = fact_text(fact);
	v->line = (unsigned)fact_number(fact);
}

static void tell_variant(struct fact_draft *d, const struct variant *v)
{
	fact_add_number(d, v->is_default);
	fact_add_text(d, v->name);
	fact_add_number(d, v->discr);
	tell_type(d, v->payload);
	fact_add_number(d, v->offset);
	fact_add_text(d, v->file);
	fact_add_number(d, v->line);
}

static size_t count_of(struct fact *fact)
{
	size_t n = fact_count(fact);

	return n < MAX_MEMBERS ? n : MAX_MEMBERS;
}

static void know_members(struct type *t, struct fact *fact, struct type_details *ret)
{
	struct member *members;

	ret->nmembers = (uint32_t)count_of(fact);
	members = NEW_ARRAY(&t->dm->di->arena, struct member, ret->nmembers);
	ret->members = members;
	for (size_t i = 0; i < ret->nmembers; i++)
		know_member(t, fact, &members[i]);
}

static void know_variants(struct type *t, struct fact *fact, struct type_choices *ret)
{
	struct variant *variants;

	ret->nvariants = (uint32_t)count_of(fact);
	variants = NEW_ARRAY(&t->dm->di->arena, struct variant, ret->nvariants);
	ret->variants = variants;
	for (size_t i = 0; i < ret->nvariants; i++)
		know_variant(t, fact, &variants[i]);
}

static void know_enumerators(struct type *t, struct fact *fact, struct type_choices *ret)
{
	struct enumerator *enumerators;

	ret->nenumerators = (uint32_t)count_of(fact);
	enumerators = NEW_ARRAY(&t->dm->di->arena, struct enumerator, ret->nenumerators);
	ret->enumerators = enumerators;
	for (size_t i = 0; i < ret->nenumerators; i++) {
		enumerators[i].name = fact_text(fact);
		enumerators[i].value = fact_number(fact);
	}
}

bool type_known_details(struct type *t, struct type_details *ret)
{
	struct fact fact;

	if (!fact_find(debuginfo_facts(t->dm), FACT_DETAILS, t->die, NULL, &fact))
		return false;
	struct arena *a = &t->dm->di->arena;
	struct type_choices choices = { 0 };
	bool has_discr = fact_number(&fact) != 0;
	choices.comp_dir = fact_text(&fact);
	struct member discr = { 0 };
	know_member(t, &fact, &discr);
	if (has_discr)
		choices.discr = arena_memdup(a, &discr, sizeof(discr));
	know_members(t, &fact, ret);
	know_variants(t, &fact, &choices);
	know_enumerators(t, &fact, &choices);
	if (has_discr || choices.nvariants || choices.nenumerators)
		ret->choices = arena_memdup(a, &choices, sizeof(choices));
	t->details_told = true;
	return true;
}

bool type_known_params(struct type *t, struct type_params *ret)
{
	struct fact fact;

	if (!fact_find(debuginfo_facts(t->dm), FACT_GENERICS, t->die, NULL, &fact))
		return false;
	ret->n = count_of(&fact);
	struct type_param *list = NEW_ARRAY(&t->dm->di->arena, struct type_param, ret->n);
	ret->list = list;
	for (size_t i = 0; i < ret->n; i++) {
		list[i].name = fact_text(&fact);
		list[i].type = type_of(t, &fact);
	}
	return true;
}

static void tell_params(struct type *t)
{
	const struct type_params *params = t->details->params;
	struct fact_draft d;

	t->details->params_told = true;
	fact_begin(&d, debuginfo_facts(t->dm), FACT_GENERICS, t->die, NULL);
	fact_add_number(&d, params->n);
	for (size_t i = 0; i < params->n; i++) {
		fact_add_text(&d, params->list[i].name);
		tell_type(&d, params->list[i].type);
	}
	fact_end(&d);
}

static void tell_details(struct type *t)
{
	static const struct member none = { 0 };
	const struct type_details *of = t->details;
	const struct type_choices *choices = of->choices;
	struct fact_draft d;

	t->details_told = true;
	fact_begin(&d, debuginfo_facts(t->dm), FACT_DETAILS, t->die, NULL);
	fact_add_number(&d, choices->discr != NULL);
	fact_add_text(&d, choices->comp_dir);
	tell_member(&d, choices->discr ? choices->discr : &none);
	fact_add_number(&d, of->nmembers);
	for (size_t i = 0; i < of->nmembers; i++)
		tell_member(&d, &of->members[i]);
	fact_add_number(&d, choices->nvariants);
	for (size_t i = 0; i < choices->nvariants; i++)
		tell_variant(&d, &choices->variants[i]);
	fact_add_number(&d, choices->nenumerators);
	for (size_t i = 0; i < choices->nenumerators; i++) {
		fact_add_text(&d, choices->enumerators[i].name);
		fact_add_number(&d, choices->enumerators[i].value);
	}
	fact_end(&d);
}

static void tell(struct type *t, bool whole)
{
	if (whole && t->asked)
		type_die(t);
	if (t->asked && t->shell_known && t->found && !t->told)
		tell_shell(t, whole);
	const struct type_details *d = t->kind == TYPE_ARRAY ? NULL : t->details;
	if (d && t->details_asked && !t->details_told)
		tell_details(t);
	if (d && d->params && d->params_asked && !d->params_told)
		tell_params(t);
	lookup_tell_has_poll(t);
}

void types_tell(struct dwarf_module *dm, bool whole)
{
	if (!dm->types_untold)
		return;
	dm->types_untold = false;
	/* To tell one of them may be to meet another, which then is the last. */
	size_t n = 0;
	for (struct type_block *b = dm->first_types; b; b = b->next) {
		for (size_t i = 0; i < b->n; i++) {
			if (++n % TRIM_EACH == 0)
				mapped_trim(dm);
			tell(&b->types[i], whole);
		}
	}
}
