#include "dwarf/die.h"

#include <dwarf.h>

#include "dwarf/abbrev.h"

bool die_read(const struct dwarf_sections *s, struct unit *u, uint64_t offset, struct die *ret)
{
	if (offset < u->first_die || offset >= u->end || u->end > s->info.size)
		return false;
	if (!u->first->abbrevs)
		u->first->abbrevs = abbrev_index_new(s, u);
	const struct abbrev_index *abbrevs = u->first->abbrevs;
	struct reader r = { s->info.data + offset, s->info.data + u->end, false };
	uint64_t code = *r.p < 0x80 ? *r.p++ : read_uleb(&r);
	if (r.bad || code >= abbrevs->n)
		return false;
	/* The entry of code 0 is empty. */
	const struct abbrev_entry *entry = &abbrevs->by_code[code];
	if (code && entry->tag == 0)
		return false;
	*ret = (struct die){
		.s = s,
		.u = u,
		.offset = offset,
		.tag = entry->tag,
		.has_children = entry->has_children,
		.next = abbrevs->attributes + entry->first,
		.end = abbrevs->attributes + entry->first + entry->n,
		.values = r,
	};
	return true;
}

bool die_next(struct die *d, struct attribute *at, struct attribute_value *ret)
{
	struct reader *r = &d->values;

	if (d->next == d->end || r->bad)
		return false;
	*at = *d->next++;
	/* What most attributes are. */
	if (at->form == DW_FORM_data1 && r->p < r->end) {
		*ret = (struct attribute_value){ .number = *r->p++ };
		return true;
	}
	if (at->form == DW_FORM_ref4 && r->end - r->p >= 4) {
		*ret = (struct attribute_value){ .number = d->u->start + read_fixed(r, 4) };
		return true;
	}
	form_read(d->s, d->u, r, at, ret);
	return !r->bad;
}

/* Moves r behind a value. */
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

uint64_t die_end(struct die *d)
{
	struct reader *r = &d->values;

	while (d->next < d->end && !r->bad)
		skip(d, r, d->next++);
	return r->bad || r->p >= r->end ? 0 : (uint64_t)(r->p - d->s->info.data);
}

bool die_child(struct die *d, struct die *ret)
{
	uint64_t at = d->has_children ? die_end(d) : 0;

	return at && die_read(d->s, d->u, at, ret) && ret->tag != 0;
}

bool die_sibling(struct die *d, struct die *ret)
{
	uint64_t at = die_end(d);

	for (uint64_t depth = d->has_children; at && depth;) {
		struct die below;

		if (!die_read(d->s, d->u, at, &below))
			return false;
		at = die_end(&below);
		if (below.tag == 0)
			depth--;
		else
			depth += below.has_children;
	}
	return at && die_read(d->s, d->u, at, ret) && ret->tag != 0;
}
