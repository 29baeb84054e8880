/* Reads the headers of units and their root DIEs. */
#include <dwarf.h>
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "dwarf/scan/form.h"

enum { MAX_ABBREVS = 1 << 16, MAX_ATTRIBUTES = 256 };

static void set_root_attribute(struct unit *u, const struct attribute *at,
                               const struct attribute_value *v)
{
	switch (at->name) {
	case DW_AT_name:
		u->name = v->string;
		break;
	case DW_AT_comp_dir:
		u->comp_dir = v->string;
		break;
	case DW_AT_producer:
		u->producer = v->string;
		break;
	case DW_AT_stmt_list:
		u->stmt_list = v->number;
		break;
	case DW_AT_low_pc:
		u->low_pc = v->number;
		break;
	case DW_AT_high_pc:
	case DW_AT_ranges:
		u->has_code = true;
		break;
	case DW_AT_str_offsets_base:
		u->str_offsets_base = v->number;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		u->addr_base = v->number;
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		u->dwo_name = v->string;
		break;
	default:
		break;
	}
}

/* A cache of the abbreviations of the root DIEs that were read last. */
struct root_abbrevs {
	struct root_abbrev {
		uint64_t table, code;
		struct reader attributes;
	} data[8];
	size_t next;
};

/* Finds the attributes of an abbreviation in a table. */
static bool find_abbrev(const struct dwarf_sections *s, uint64_t table, uint64_t code,
                        struct reader *ret)
{
	struct reader r = reader_at(s->abbrev, table, s->abbrev.size);

	for (int i = 0; i < MAX_ABBREVS && !r.bad; i++) {
		uint64_t at = read_uleb(&r);

		if (at == 0)
			return false;
		read_uleb(&r);
		read_skip(&r, 1);
		*ret = r;
		for (size_t j = 0; at != code && j < MAX_ATTRIBUTES && !r.bad; j++) {
			struct attribute pair = form_read_attribute(&r);

			if (pair.name == 0 && pair.form == 0)
				break;
		}
		if (at == code)
			return !r.bad;
	}
	return false;
}

/*
 * Finds the abbreviation of a root DIE. Units of one object file share a table with thousands of
 * entries, and the code may be anywhere in it: the last ones are cached.
 */
static bool unit_root_abbrev(const struct dwarf_sections *s, const struct unit *u, uint64_t code,
                             struct root_abbrevs *known, struct reader *ret)
{
	size_t n = sizeof(known->data) / sizeof(known->data[0]);

	for (size_t i = 0; i < n; i++) {
		const struct root_abbrev *at = &known->data[i];

		if (at->attributes.p && at->table == u->abbrev_offset && at->code == code) {
			*ret = at->attributes;
			return true;
		}
	}
	if (!find_abbrev(s, u->abbrev_offset, code, ret))
		return false;
	known->data[known->next++ % n] = (struct root_abbrev){ u->abbrev_offset, code, *ret };
	return true;
}

static void set_crate(struct unit *u)
{
	const char *at = u->name ? strstr(u->name, "/@/") : NULL;
	const char *dot = at ? strchr(at, '.') : NULL;

	if (at)
		u->crate_key = map_key_of(u->name, (size_t)(at - u->name));
	if (dot && dot - at < UINT16_MAX) {
		u->crate = at + 3;
		u->crate_len = (uint32_t)(dot - u->crate);
	}
}

/* Fills in the fields that come from the unit's root DIE. */
static void read_root(const struct dwarf_sections *s, struct unit *u, struct root_abbrevs *known)
{
	u->stmt_list = UINT64_MAX;
	/* Default bases, right after the section headers, for units that state none. */
	u->str_offsets_base = u->version >= 5 ? 8 : 0;
	u->addr_base = u->version >= 5 ? 8 : 0;

	struct reader first = reader_at(s->info, u->first_die, u->end), abbrev;
	uint64_t code = read_uleb(&first);

	if (first.bad || !unit_root_abbrev(s, u, code, known, &abbrev))
		return;
	/* Two passes: strings may precede the base that they count from. */
	for (int pass = 0; pass < 2; pass++) {
		struct reader list = abbrev, r = first;

		while (!r.bad && !list.bad) {
			struct attribute at = form_read_attribute(&list);
			struct attribute_value v;

			if (at.name == 0 && at.form == 0)
				break;
			form_read(s, u, &r, &at, &v);
			set_root_attribute(u, &at, &v);
		}
	}
	set_crate(u);
}

static bool read_unit_header(const struct dwarf_sections *s, uint64_t at, struct unit *ret)
{
	struct reader r = reader_at(s->info, at, s->info.size);
	uint64_t length = read_fixed(&r, 4);

	ret->start = at;
	ret->offset_size = 4;
	if (length == 0xffffffff) {
		ret->offset_size = 8;
		length = read_fixed(&r, 8);
	}
	uint64_t body = (uint64_t)(r.p - s->info.data);
	if (r.bad || length > s->info.size - body)
		return false;
	ret->end = body + length;
	ret->version = (uint16_t)read_fixed(&r, 2);
	ret->type = DW_UT_compile;
	if (ret->version >= 5) {
		ret->type = (uint8_t)read_fixed(&r, 1);
		ret->address_size = (uint8_t)read_fixed(&r, 1);
		ret->abbrev_offset = read_fixed(&r, ret->offset_size);
		if (ret->type == DW_UT_skeleton || ret->type == DW_UT_split_compile)
			read_skip(&r, 8);
		else if (ret->type == DW_UT_type || ret->type == DW_UT_split_type)
			read_skip(&r, 8u + ret->offset_size);
	} else {
		ret->abbrev_offset = read_fixed(&r, ret->offset_size);
		ret->address_size = (uint8_t)read_fixed(&r, 1);
	}
	ret->first_die = (uint64_t)(r.p - s->info.data);
	return !r.bad && ret->version >= 2 && ret->version <= 5 &&
	       (ret->address_size == 4 || ret->address_size == 8) && ret->first_die <= ret->end;
}

/* Units of one object file share a table. */
static bool same_abbrevs(const struct unit *a, const struct unit *b)
{
	return a->abbrev_offset == b->abbrev_offset && a->version == b->version &&
	       a->address_size == b->address_size && a->offset_size == b->offset_size;
}

struct unit *scan_units(const struct dwarf_sections *s, struct arena *a, size_t *nret,
                        const struct scan_watcher *watcher)
{
	VEC(struct unit) units = { 0 };
	struct root_abbrevs known = { 0 };
	struct unit u = { 0 };

	for (uint64_t at = 0; at < s->info.size && read_unit_header(s, at, &u); at = u.end) {
		read_ahead(s->info.data, u.end);
		read_root(s, &u, &known);
		*vec_push(&units) = u;
		if (watcher)
			watcher->passed(s->info.data + u.end, watcher->arg);
		u = (struct unit){ .end = u.end };
	}
	*nret = units.n;
	struct unit *ret = vec_to_arena(&units, a);
	for (size_t i = 0; i < *nret; i++)
		ret[i].first = i && same_abbrevs(&ret[i], &ret[i - 1]) ? ret[i - 1].first : &ret[i];
	return ret;
}

bool unit_crate(const struct unit *u, const char **name, size_t *len)
{
	*name = u->crate;
	*len = u->crate_len;
	return u->crate != NULL;
}

bool unit_is_of_crate(const struct unit *u, const char *crate, size_t len)
{
	return u->crate && u->crate_len == len && memcmp(u->crate, crate, len) == 0;
}
