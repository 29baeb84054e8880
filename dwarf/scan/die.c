#include "dwarf/scan/die.h"

#include <dwarf.h>
#include <string.h>

#include "dwarf/scan/abbrev.h"

/* Reads the abbreviation code at r. Returns its entry, NULL if no DIE can start there. */
static const struct abbrev_entry *die_read_code(const struct abbrev_index *abbrevs,
                                                struct reader *r)
{
	uint64_t code = *r->p < 0x80 ? *r->p++ : read_uleb(r);

	if (r->bad || code >= abbrevs->n)
		return NULL;
	/* The entry of code 0 is empty. */
	const struct abbrev_entry *entry = &abbrevs->by_code[code];
	return code && entry->tag == 0 ? NULL : entry;
}

bool die_read(const struct dwarf_sections *s, struct unit *u, uint64_t offset, struct die *ret)
{
	if (offset < u->first_die || offset >= u->end || u->end > s->info.size)
		return false;
	if (!u->first->abbrevs)
		u->first->abbrevs = abbrev_index_new(s, u);
	const struct abbrev_index *abbrevs = u->first->abbrevs;
	struct reader r = { s->info.data + offset, s->info.data + u->end, false };
	const struct abbrev_entry *entry = die_read_code(abbrevs, &r);
	if (!entry)
		return false;
	*ret = (struct die){
		.s = s,
		.u = u,
		.offset = offset,
		.tag = entry->tag,
		.has_children = entry->has_children,
		.entry = entry,
		.next = abbrevs->attributes + entry->first,
		.end = abbrevs->attributes + entry->first + entry->n,
		.values = r,
	};
	return true;
}

/* Fast path for the most frequent forms; false when form_read() must be called. */
static bool read_common(const struct die *d, struct reader *r, unsigned form,
                        struct attribute_value *ret)
{
	size_t left = (size_t)(r->end - r->p);
	uint32_t word;

	if (left < sizeof(word))
		return false;
	*ret = (struct attribute_value){ .number = *r->p };
	switch (form) {
	case DW_FORM_udata:
		if (*r->p >= 0x80)
			return false;
		/* fall through */
	case DW_FORM_data1:
		r->p++;
		return true;
	case DW_FORM_ref4:
	case DW_FORM_strp:
		if (form == DW_FORM_strp && d->u->offset_size != sizeof(word))
			return false;
		memcpy(&word, r->p, sizeof(word));
		r->p += sizeof(word);
		ret->number = form == DW_FORM_ref4 ? d->u->start + word : word;
		if (form == DW_FORM_strp)
			ret->string = section_string(d->s->str, word);
		return true;
	default:
		return false;
	}
}

bool die_next(struct die *d, struct attribute *at, struct attribute_value *ret)
{
	struct reader *r = &d->values;

	if (d->next == d->end || r->bad)
		return false;
	*at = *d->next++;
	if (read_common(d, r, at->form, ret))
		return true;
	form_read(d->s, d->u, r, at, ret);
	return !r->bad;
}

/* Skips a value. */
static void skip(struct die *d, struct reader *r, const struct attribute *at)
{
	struct attribute_value ignored;

	if (at->size >= 0)
		read_skip(r, (uint64_t)at->size);
	else if (at->form == DW_FORM_udata || at->form == DW_FORM_sdata)
		read_uleb(r);
	else
		form_read(d->s, d->u, r, at, &ignored);
}

/* The end of the values at r, if the DIE has its fixed shape and enough bytes follow; else NULL. */
static const uint8_t *die_step(const struct abbrev_entry *entry, const struct reader *r)
{
	size_t block;

	return entry->step.size != NOWHERE && r->end - r->p > MAX_SHAPE
	               ? step_over(&entry->step, r->p, &block)
	               : NULL;
}

static bool is_untouched(const struct die *d)
{
	return d->end - d->next == d->entry->n;
}

uint64_t die_end(struct die *d)
{
	struct reader *r = &d->values;
	const uint8_t *behind = is_untouched(d) && !r->bad ? die_step(d->entry, r) : NULL;

	if (behind) {
		d->next = d->end;
		r->p = behind;
	}
	while (d->next < d->end && !r->bad)
		skip(d, r, d->next++);
	return r->bad || r->p >= r->end ? 0 : (uint64_t)(r->p - d->s->info.data);
}

bool die_child(struct die *d, struct die *ret)
{
	uint64_t at = d->has_children ? die_end(d) : 0;

	return at && die_read(d->s, d->u, at, ret) && ret->tag != 0;
}

struct die_walk die_walk(struct die *d)
{
	return (struct die_walk){ d->s, d->u, die_end(d), d->has_children };
}

/* Skips the DIE at r. Returns its entry, NULL if no DIE can start there. */
static const struct abbrev_entry *pass(const struct die_walk *w, struct reader *r)
{
	const uint8_t *start = r->p, *behind;
	struct die d;

	if (r->p >= r->end)
		return NULL;
	const struct abbrev_entry *entry = die_read_code(w->u->first->abbrevs, r);
	if (!entry || entry->tag == 0)
		return entry;
	behind = die_step(entry, r);
	if (!behind) {
		if (!die_read(w->s, w->u, (uint64_t)(start - w->s->info.data), &d))
			return NULL;
		die_end(&d);
		if (d.values.bad)
			return NULL;
		behind = d.values.p;
	}
	r->p = behind;
	return entry;
}

bool die_walk_next(struct die_walk *w, unsigned tag, struct die *ret)
{
	const uint8_t *base = w->s->info.data;
	struct reader r = { base + w->at, base + w->u->end, false };

	while (w->at && w->depth) {
		const struct abbrev_entry *entry = pass(w, &r);
		uint64_t die = w->at;

		w->at = entry ? (uint64_t)(r.p - base) : 0;
		if (!entry)
			return false;
		if (entry->tag == 0)
			w->depth--;
		else
			w->depth += entry->has_children;
		if (entry->tag == tag && tag)
			return die_read(w->s, w->u, die, ret);
	}
	return false;
}

bool die_sibling(struct die *d, struct die *ret)
{
	struct die_walk below = die_walk(d);

	die_walk_next(&below, 0, ret);
	return below.at && die_read(below.s, below.u, below.at, ret) && ret->tag != 0;
}
