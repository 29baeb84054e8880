#include "dwarf/die.h"

#include "dwarf/abbrev.h"

bool die_read(const struct dwarf_sections *s, struct unit *u, uint64_t offset, struct die *ret)
{
	if (offset < u->first_die || offset >= u->end)
		return false;
	if (!u->abbrev_at)
		u->abbrev_at = abbrev_index(s, u, &u->nabbrevs);
	struct die d = { .s = s, .u = u, .offset = offset };
	d.values = reader_at(s->info, offset, u->end);
	uint64_t code = read_uleb(&d.values);
	if (d.values.bad || code >= u->nabbrevs || (code && !u->abbrev_at[code]))
		return false;
	if (code) {
		d.abbrev =
			reader_at(s->abbrev, u->abbrev_offset + u->abbrev_at[code], s->abbrev.size);
		d.tag = (uint16_t)read_uleb(&d.abbrev);
		d.has_children = read_fixed(&d.abbrev, 1) != 0;
	} else {
		d.abbrev.bad = true; /* no attributes */
	}
	*ret = d;
	return true;
}

bool die_next(struct die *d, struct attribute *at, struct attribute_value *ret)
{
	if (d->abbrev.bad)
		return false;
	*at = form_read_attribute(&d->abbrev);
	if (at->name == 0 && at->form == 0) {
		d->abbrev.bad = true;
		return false;
	}
	form_read(d->s, d->u, &d->values, at, ret);
	return !d->values.bad;
}

uint64_t die_end(struct die *d)
{
	struct attribute at;
	struct attribute_value ignored;

	while (die_next(d, &at, &ignored))
		;
	return d->values.bad || d->values.p >= d->values.end
	               ? 0
	               : (uint64_t)(d->values.p - d->s->info.data);
}
