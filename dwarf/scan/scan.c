#include "dwarf/scan/scan.h"

#include <dwarf.h>
#include <stdlib.h>

#include "dwarf/scan/die.h"
#include "dwarf/scan/scan_loop.h"

enum {
	LARGE_UNIT = 512 * 1024, /* bytes: the notes of a larger unit use huge pages */
	MAX_ROOM = 512 * 1024,   /* bytes of notes, the initial capacity */
};

struct scanner {
	struct abbrev_cache abbrevs;
	struct arena notes;
	struct notes found; /* of the current unit: the memory is reused for each */
};

struct scanner *scanner_new(void)
{
	struct scanner *s = calloc(1, sizeof(*s));

	if (!s)
		out_of_memory();
	return s;
}

void scanner_reset(struct scanner *s)
{
	arena_reset(&s->notes);
}

void scanner_free(struct scanner *s)
{
	if (!s)
		return;
	abbrev_cache_free(&s->abbrevs);
	arena_free(&s->notes);
	vec_free(&s->found.functions);
	vec_free(&s->found.variables);
	free(s);
}

static void open_scopes(struct scope_notes *notes, struct arena *a, uint64_t unit)
{
	size_t size = unit / 2 < MAX_ROOM ? (size_t)unit / 2 : MAX_ROOM, room;

	*notes = (struct scope_notes){ .arena = a };
	notes->data = arena_open(a, size + sizeof(*notes->data), &room);
	notes->capacity = room / sizeof(*notes->data);
}

/* NULL if there is none. */
static struct scope_note *close_scopes(const struct scope_notes *notes)
{
	arena_close(notes->arena, notes->n * sizeof(*notes->data));
	return notes->n ? notes->data : NULL;
}

/* Copies a vector's elements to the memory of notes; NULL if there is none. */
#define KEEP(scanner, v)                                                                           \
	((v)->n ? arena_memdup(&(scanner)->notes, (v)->data, (v)->n * sizeof(*(v)->data)) : NULL)

void scan_unit(const struct dwarf_sections *s, struct unit *u, struct scanner *scanner)
{
	struct notes *found = &scanner->found;

	if (u->scanned)
		return;
	u->scanned = true;
	scanner->notes.huge |= u->end - u->start >= LARGE_UNIT;
	open_scopes(&found->scopes, &scanner->notes, u->end - u->start);
	found->functions.n = found->variables.n = 0;
	scan_loop_record(s, u, abbrev_table_of(&scanner->abbrevs, s, u), found);
	u->found.nscopes = found->scopes.n;
	u->found.scopes = close_scopes(&found->scopes);
	u->found.nfunctions = found->functions.n;
	u->found.functions = KEEP(scanner, &found->functions);
	u->found.nvariables = found->variables.n;
	u->found.variables = KEEP(scanner, &found->variables);
}

bool scan_has_tag(const struct dwarf_sections *s, struct unit *u, unsigned tag)
{
	SCRATCH(tmp);

	struct abbrev_table abbrevs = abbrev_read_table(s, u, &tmp);
	return scan_loop_has_tag(s, u, &abbrevs, tag);
}

void scan_forget_notes(struct unit *u)
{
	u->found.variables = NULL;
	u->found.nvariables = 0;
	free(u->found.starts);
	u->found.scopes = NULL;
	u->found.functions = NULL;
	u->found.starts = NULL;
	u->found.nscopes = u->found.nfunctions = 0;
	u->scanned = false;
}

void scan_forget(struct unit *u)
{
	scan_forget_notes(u);
	abbrev_index_free(u->abbrevs);
	u->abbrevs = NULL;
}

/* ---- a scope's DIE ---- */

static void set_scope_attribute(struct die *d, const struct attribute *at,
                                const struct attribute_value *v, struct scope *ret, bool *is_size)
{
	switch (at->name) {
	case DW_AT_name:
		ret->name = v->string;
		break;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		ret->linkage = v->string;
		break;
	case DW_AT_low_pc:
		ret->low = v->number;
		break;
	case DW_AT_high_pc:
		ret->high = v->number;
		*is_size = !form_is_address(at->form);
		break;
	case DW_AT_specification:
	case DW_AT_abstract_origin:
		ret->origin = v->number;
		break;
	case DW_AT_location:
		if (d->tag == DW_TAG_variable)
			scan_record_location(d->s, d->u, v->block, &ret->low);
		break;
	default:
		break;
	}
}

struct scope scan_scope(const struct dwarf_sections *s, struct unit *u, uint32_t index)
{
	const struct scope_note *note = &u->found.scopes[index];
	struct scope ret = {
		.die = u->start + note->die,
		.parent = note->parent,
		.tag = note->tag,
		.declaration = note->flags & SCOPE_DECLARATION,
		.has_address = note->flags & SCOPE_ADDRESS,
		.is_tls = note->flags & SCOPE_TLS,
		.has_ranges = note->flags & SCOPE_RANGES,
	};
	struct attribute at;
	struct attribute_value v;
	bool high_is_size = false;
	struct die d;

	if (!die_read(s, u, ret.die, &d))
		return ret;
	while (die_next(&d, &at, &v))
		set_scope_attribute(&d, &at, &v, &ret, &high_is_size);
	if (high_is_size)
		ret.high += ret.low;
	return ret;
}

const char *scan_scope_name(const struct dwarf_sections *s, struct unit *u, uint32_t index)
{
	const struct scope_note *note = &u->found.scopes[index];

	if (note->flags & SCOPE_NAME_AT)
		return section_string(s->str, note->name);
	return note->flags & SCOPE_NAMED ? scan_scope(s, u, index).name : NULL;
}

uint32_t scan_scope_at(const struct unit *u, uint64_t die)
{
	size_t lo = 0, hi = u->found.nscopes;
	uint64_t offset = die - u->start;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (u->found.scopes[mid].die <= offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && u->found.scopes[lo - 1].die == offset ? (uint32_t)(lo - 1) : SCOPE_NONE;
}
