/*
 * Types as records. RECORD_TYPE holds what type_at() reads, RECORD_DETAILS and RECORD_GENERICS what
 * is read on demand, and RECORD_HAS_POLL the results of lookup_cached.c.
 *
 * A file of records may hold anything. A record is accepted as a whole or not at all: it is
 * rejected if it is too short, too long, or describes an impossible type.
 */
#include <string.h>

#include "dwarf/types/type_private.h"

/* SHORT: a SHELL whose name is the last part of a path that was never queried. */
enum { SHELL = 0, DECLARATION = 1, ALIAS = 2, SHORT = 3 };
enum { COROUTINE = TYPE_FUNCTION + 1 }; /* kind in records of a TYPE_ENUM that is a coroutine */

static const struct type *type_records_type_of(struct type *t, struct record *record)
{
	return type_at(t->dm, record_number(record));
}

/* Reads an alias. Its target must not be an alias: chains are never followed. */
static bool known_alias(struct type *t, struct record *record)
{
	uint64_t target = record_number(record);
	const char *name = record_text(record);
	struct record there;

	if (target == 0 || target == t->place ||
	    (record_find(debuginfo_records(t->dm), RECORD_TYPE, target, NULL, &there) &&
	     record_number(&there) == ALIAS))
		return false;
	type_become(t, type_at(t->dm, target));
	t->name = name;
	t->name_known = true;
	t->recorded = true;
	return true;
}

/* The size of an array matches its elements, and a pointer has 8 bytes. */
static bool is_sound(const struct type *t)
{
	switch (t->kind) {
	case TYPE_ARRAY:
		return t->target_die != t->die && t->size == type_array_size(t);
	case TYPE_POINTER:
		return t->size == sizeof(uint64_t);
	default:
		return true;
	}
}

bool type_known_shell(struct type *t)
{
	struct type known = *t;
	struct record record;
	uint64_t form;

	if (!record_find(debuginfo_records(t->dm), RECORD_TYPE, t->die, NULL, &record))
		return false;
	form = record_number(&record);
	if (form == ALIAS)
		return known_alias(t, &record);
	known.declaration = form == DECLARATION;
	known.target_die = record_number(&record);
	known.name = record_text(&record);
	known.name_known = form != SHORT;
	known.is_scope = form == SHORT;
	uint64_t kind = record_number(&record);
	known.coroutine = kind == COROUTINE;
	kind = known.coroutine ? TYPE_ENUM : kind;
	known.kind = (uint8_t)kind;
	known.size = record_number(&record);
	uint64_t align = record_number(&record), count = record_number(&record);
	known.align = (uint32_t)align;
	if (kind == TYPE_ARRAY)
		known.count = count;
	known.recorded = true;
	if (form > SHORT || kind > TYPE_FUNCTION || align > UINT32_MAX || !record_ended(&record) ||
	    !is_sound(&known))
		return false;
	*t = known;
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

static void record_shell(struct type *t, bool whole)
{
	uint64_t form = form_of(t, whole);
	const char *name = form == SHORT ? t->name : type_name(t);
	struct record_writer d;

	t->recorded = true;
	record_begin(&d, debuginfo_records(t->dm), RECORD_TYPE, t->place, NULL);
	record_add_number(&d, form);
	record_add_number(&d, form == ALIAS ? t->die : t->target_die);
	record_add_text(&d, t->name ? name : NULL);
	record_add_number(&d, t->coroutine ? COROUTINE : t->kind);
	record_add_number(&d, t->size);
	record_add_number(&d, t->align);
	record_add_number(&d, t->kind == TYPE_ARRAY ? t->count : 0);
	record_end(&d);
}

/* ---- details ---- */

enum { TRIM_EACH = 4096 }; /* types: their names are scattered over the file */

/*
 * Writes a reference to t. A type that was never read is written by its place, so that it need not
 * be read now.
 */
static void record_type(struct record_writer *d, const struct type *t)
{
	record_add_number(d, !t ? 0 : t->shell_known ? t->die : t->place);
}

/* Reads a member. Rejects one that starts beyond its type. */
static bool know_member(struct type *t, struct record *record, struct member *m)
{
	m->name = record_text(record);
	m->type = type_records_type_of(t, record);
	uint64_t place = record_number(record);
	m->offset = place >> 1;
	m->restricted = place & 1;
	return m->type && m->type != t && m->offset <= t->size;
}

static void record_member(struct record_writer *d, const struct member *m)
{
	record_add_text(d, m->name);
	record_type(d, m->type);
	record_add_number(d, m->offset << 1 | m->restricted);
}

static bool know_variant(struct type *t, struct record *record, struct variant *v)
{
	v->is_default = record_number(record) != 0;
	v->name = record_text(record);
	v->discr = record_number(record);
	v->payload = type_records_type_of(t, record);
	v->offset = record_number(record);
	v->file = record_text(record);
	uint64_t line = record_number(record);
	v->line = (unsigned)line;
	return v->payload != t && v->offset <= t->size && line <= UINT32_MAX;
}

static void record_variant(struct record_writer *d, const struct variant *v)
{
	record_add_number(d, v->is_default);
	record_add_text(d, v->name);
	record_add_number(d, v->discr);
	record_type(d, v->payload);
	record_add_number(d, v->offset);
	record_add_text(d, v->file);
	record_add_number(d, v->line);
}

/*
 * Reads the count of entries that follow, of at least size bytes each; false when they cannot fit.
 */
static bool type_records_count_of(struct record *record, size_t size, uint32_t *ret)
{
	uint64_t n = record_number(record), left = (uint64_t)(record->r.end - record->r.p);

	*ret = (uint32_t)n;
	return !record->r.bad && n <= MAX_MEMBERS && n <= left / size;
}

static bool know_members(struct type *t, struct record *record, struct type_details *ret)
{
	struct member *members;
	bool sound = type_records_count_of(record, 3, &ret->nmembers);

	if (!sound)
		return false;
	members = NEW_ARRAY(&t->dm->di->arena, struct member, ret->nmembers);
	ret->members = members;
	for (size_t i = 0; sound && i < ret->nmembers; i++)
		sound = know_member(t, record, &members[i]);
	return sound;
}

static bool know_variants(struct type *t, struct record *record, struct type_choices *ret)
{
	struct variant *variants;
	bool sound = type_records_count_of(record, 7, &ret->nvariants);

	if (!sound)
		return false;
	variants = NEW_ARRAY(&t->dm->di->arena, struct variant, ret->nvariants);
	ret->variants = variants;
	for (size_t i = 0; sound && i < ret->nvariants; i++)
		sound = know_variant(t, record, &variants[i]);
	return sound;
}

static bool know_enumerators(struct type *t, struct record *record, struct type_choices *ret)
{
	struct enumerator *enumerators;

	if (!type_records_count_of(record, 2, &ret->nenumerators))
		return false;
	enumerators = NEW_ARRAY(&t->dm->di->arena, struct enumerator, ret->nenumerators);
	ret->enumerators = enumerators;
	for (size_t i = 0; i < ret->nenumerators; i++) {
		enumerators[i].name = record_text(record);
		enumerators[i].value = record_number(record);
	}
	return true;
}

/* Reads the part of a record that only an enum uses. */
static bool know_discr(struct type *t, struct record *record, struct type_choices *ret)
{
	bool has_discr = record_number(record) != 0, sound;
	struct member discr;

	ret->comp_dir = record_text(record);
	sound = know_member(t, record, &discr);
	if (has_discr)
		ret->discr = arena_memdup(&t->dm->di->arena, &discr, sizeof(discr));
	return sound || !has_discr;
}

bool type_known_details(struct type *t, struct type_details *ret)
{
	struct type_details known = *ret;
	struct type_choices choices = { 0 };
	struct record record;

	if (!record_find(debuginfo_records(t->dm), RECORD_DETAILS, t->die, NULL, &record))
		return false;
	if (!know_discr(t, &record, &choices) || !know_members(t, &record, &known) ||
	    !know_variants(t, &record, &choices) || !know_enumerators(t, &record, &choices) ||
	    !record_ended(&record))
		return false;
	if (choices.discr || choices.nvariants || choices.nenumerators)
		known.choices = arena_memdup(&t->dm->di->arena, &choices, sizeof(choices));
	*ret = known;
	t->details_recorded = true;
	return true;
}

bool type_known_params(struct type *t, struct type_params *ret)
{
	struct record record;

	uint32_t n;

	if (!record_find(debuginfo_records(t->dm), RECORD_GENERICS, t->die, NULL, &record) ||
	    !type_records_count_of(&record, 2, &n))
		return false;
	struct type_param *list = NEW_ARRAY(&t->dm->di->arena, struct type_param, n);
	for (size_t i = 0; i < n; i++) {
		list[i].name = record_text(&record);
		list[i].type = type_records_type_of(t, &record);
	}
	if (!record_ended(&record))
		return false;
	ret->n = n;
	ret->list = list;
	return true;
}

static void record_params(struct type *t)
{
	const struct type_params *params = t->details->params;
	struct record_writer d;

	t->details->params_recorded = true;
	record_begin(&d, debuginfo_records(t->dm), RECORD_GENERICS, t->die, NULL);
	record_add_number(&d, params->n);
	for (size_t i = 0; i < params->n; i++) {
		record_add_text(&d, params->list[i].name);
		record_type(&d, params->list[i].type);
	}
	record_end(&d);
}

static void record_details(struct type *t)
{
	static const struct member none = { 0 };
	const struct type_details *of = t->details;
	const struct type_choices *choices = of->choices;
	struct record_writer d;

	t->details_recorded = true;
	record_begin(&d, debuginfo_records(t->dm), RECORD_DETAILS, t->die, NULL);
	record_add_number(&d, choices->discr != NULL);
	record_add_text(&d, choices->comp_dir);
	record_member(&d, choices->discr ? choices->discr : &none);
	record_add_number(&d, of->nmembers);
	for (size_t i = 0; i < of->nmembers; i++)
		record_member(&d, &of->members[i]);
	record_add_number(&d, choices->nvariants);
	for (size_t i = 0; i < choices->nvariants; i++)
		record_variant(&d, &choices->variants[i]);
	record_add_number(&d, choices->nenumerators);
	for (size_t i = 0; i < choices->nenumerators; i++) {
		record_add_text(&d, choices->enumerators[i].name);
		record_add_number(&d, choices->enumerators[i].value);
	}
	record_end(&d);
}

uint64_t type_poll_key(const struct type *t)
{
	return records_are_whole(debuginfo_records(type_module(t))) ? 0 : type_die(t);
}

/* Writes the result of lookup_polled_as(). */
static void record_polled_as(const struct type *t)
{
	struct type_memo *memo = type_memo(t);
	struct record_writer d;

	if (!memo->poll_known || !memo->poll_queried || memo->poll_recorded)
		return;
	memo->poll_recorded = true;
	record_begin(&d, debuginfo_records(t->dm), RECORD_HAS_POLL, type_poll_key(t), type_name(t));
	record_add_number(&d, memo->polled_as | POLLED_STREAMS_TOO);
	record_end(&d);
}

static void record_type_of(struct type *t, bool whole)
{
	if (whole && t->queried)
		type_die(t);
	if (t->queried && t->shell_known && t->found && !t->recorded)
		record_shell(t, whole);
	const struct type_details *d = t->kind == TYPE_ARRAY ? NULL : t->details;
	if (d && t->details_queried && !t->details_recorded)
		record_details(t);
	if (d && d->params && d->params_queried && !d->params_recorded)
		record_params(t);
	record_polled_as(t);
}

void types_flush(struct dwarf_module *dm, bool whole)
{
	if (!dm->types.unrecorded)
		return;
	dm->types.unrecorded = false;
	/* Writing one type may read another, which is then appended to the list. */
	size_t n = 0;
	for (struct type_block *b = dm->types.first; b; b = b->next) {
		for (size_t i = 0; i < b->n; i++) {
			if (++n % TRIM_EACH == 0)
				residency_trim(dm);
			record_type_of(&b->types[i], whole);
		}
	}
}
