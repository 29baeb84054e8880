/* Types as facts: FACT_TYPE is what type_at() reads, FACT_DETAILS what is read when asked for. */
#include <string.h>

#include "dwarf/type_inside.h"

enum { SHELL = 0, DECLARATION = 1, ALIAS = 2 };

static const struct type *type_of(struct type *t, struct fact *fact)
{
	return type_at(t->dm, fact_number(fact));
}

/* What an alias stands for must itself be no alias: no chain of them is ever followed. */
static bool known_alias(struct type *t, struct fact *fact)
{
	uint64_t target = fact_number(fact), die = t->die;
	const char *name = fact_text(fact);
	struct fact there;

	if (target == 0 || target == die ||
	    (fact_find(debuginfo_facts(t->dm), FACT_TYPE, target, NULL, &there) &&
	     fact_number(&there) == ALIAS))
		return false;
	*t = *type_at(t->dm, target);
	t->name = name;
	t->kept = true;
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
	uint64_t kind = fact_number(&fact);
	t->kind = kind <= TYPE_FUNCTION ? (enum type_kind)kind : TYPE_OPAQUE;
	t->size = fact_number(&fact);
	t->align = fact_number(&fact);
	t->count = fact_number(&fact);
	t->kept = true;
	return true;
}

void type_keep(struct type *t, uint64_t die)
{
	bool alias = t->die != die;
	struct fact_draft d;

	if (facts_are_paused(debuginfo_facts(t->dm)))
		return;
	t->kept = true;
	fact_begin(&d, debuginfo_facts(t->dm), FACT_TYPE, die, NULL);
	fact_add_number(&d, alias ? ALIAS : t->declaration ? DECLARATION : SHELL);
	fact_add_number(&d, alias ? t->die : t->target_die);
	fact_add_text(&d, t->name);
	fact_add_number(&d, t->kind);
	fact_add_number(&d, t->size);
	fact_add_number(&d, t->align);
	fact_add_number(&d, t->count);
	fact_end(&d);
}

/* ---- details ---- */

enum { COROUTINE = 1, HAS_DISCR = 2 };

static void know_member(struct type *t, struct fact *fact, struct member *m)
{
	m->name = fact_text(fact);
	m->type = type_of(t, fact);
	m->offset = fact_number(fact);
}

static void keep_member(struct fact_draft *d, const struct member *m)
{
	fact_add_text(d, m->name);
	fact_add_number(d, m->type ? type_die(m->type) : 0);
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

static void keep_variant(struct fact_draft *d, const struct variant *v)
{
	fact_add_number(d, v->is_default);
	fact_add_text(d, v->name);
	fact_add_number(d, v->discr);
	fact_add_number(d, v->payload ? type_die(v->payload) : 0);
	fact_add_number(d, v->offset);
	fact_add_text(d, v->file);
	fact_add_number(d, v->line);
}

static size_t count_of(struct fact *fact)
{
	size_t n = fact_count(fact);

	return n < MAX_MEMBERS ? n : MAX_MEMBERS;
}

static void know_members(struct type *t, struct fact *fact)
{
	struct member *members;

	t->nmembers = count_of(fact);
	members = NEW_ARRAY(&t->dm->di->arena, struct member, t->nmembers);
	t->members = members;
	for (size_t i = 0; i < t->nmembers; i++)
		know_member(t, fact, &members[i]);
}

static void know_variants(struct type *t, struct fact *fact)
{
	struct variant *variants;

	t->nvariants = count_of(fact);
	variants = NEW_ARRAY(&t->dm->di->arena, struct variant, t->nvariants);
	t->variants = variants;
	for (size_t i = 0; i < t->nvariants; i++)
		know_variant(t, fact, &variants[i]);
}

static void know_enumerators(struct type *t, struct fact *fact)
{
	struct enumerator *enumerators;

	t->nenumerators = count_of(fact);
	enumerators = NEW_ARRAY(&t->dm->di->arena, struct enumerator, t->nenumerators);
	t->enumerators = enumerators;
	for (size_t i = 0; i < t->nenumerators; i++) {
		enumerators[i].name = fact_text(fact);
		enumerators[i].value = fact_number(fact);
	}
}

static void know_params(struct type *t, struct fact *fact)
{
	struct type_param *params;

	t->nparams = count_of(fact);
	params = NEW_ARRAY(&t->dm->di->arena, struct type_param, t->nparams);
	t->params = params;
	for (size_t i = 0; i < t->nparams; i++) {
		params[i].name = fact_text(fact);
		params[i].type = type_of(t, fact);
	}
}

bool type_known_details(struct type *t)
{
	struct fact fact;

	if (!fact_find(debuginfo_facts(t->dm), FACT_DETAILS, t->die, NULL, &fact))
		return false;
	uint64_t flags = fact_number(&fact);
	t->is_coroutine = flags & COROUTINE;
	t->comp_dir = fact_text(&fact);
	struct member discr = { 0 };
	know_member(t, &fact, &discr);
	if (flags & HAS_DISCR)
		t->discr = arena_memdup(&t->dm->di->arena, &discr, sizeof(discr));
	know_members(t, &fact);
	know_variants(t, &fact);
	know_enumerators(t, &fact);
	know_params(t, &fact);
	t->details_kept = true;
	return true;
}

void type_keep_details(struct type *t)
{
	static const struct member none = { 0 };
	struct fact_draft d;

	if (facts_are_paused(debuginfo_facts(t->dm)))
		return;
	t->details_kept = true;
	fact_begin(&d, debuginfo_facts(t->dm), FACT_DETAILS, t->die, NULL);
	fact_add_number(&d, (t->is_coroutine ? COROUTINE : 0) | (t->discr ? HAS_DISCR : 0));
	fact_add_text(&d, t->comp_dir);
	keep_member(&d, t->discr ? t->discr : &none);
	fact_add_number(&d, t->nmembers);
	for (size_t i = 0; i < t->nmembers; i++)
		keep_member(&d, &t->members[i]);
	fact_add_number(&d, t->nvariants);
	for (size_t i = 0; i < t->nvariants; i++)
		keep_variant(&d, &t->variants[i]);
	fact_add_number(&d, t->nenumerators);
	for (size_t i = 0; i < t->nenumerators; i++) {
		fact_add_text(&d, t->enumerators[i].name);
		fact_add_number(&d, t->enumerators[i].value);
	}
	fact_add_number(&d, t->nparams);
	for (size_t i = 0; i < t->nparams; i++) {
		fact_add_text(&d, t->params[i].name);
		fact_add_number(&d, t->params[i].type ? type_die(t->params[i].type) : 0);
	}
	fact_end(&d);
}
