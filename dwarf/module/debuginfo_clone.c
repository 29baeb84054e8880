#include "dwarf/module/debuginfo_clone.h"

#include <stdlib.h>

#include "dwarf/module/symtab.h"
#include "dwarf/records/records.h"
#include "dwarf/records/records_copy.h"
#include "dwarf/types/type.h"

enum { LARGE_INFO = 64 << 20, LARGE_FACTS = 4 << 20 };

/* What stands in their headers and in their own DIEs; nothing that a scan noted. */
static struct unit *twin_units(struct arena *a, const struct dwarf_module *dm)
{
	struct unit *units = arena_memdup(a, dm->units, dm->nunits * sizeof(*units));

	for (size_t i = 0; i < dm->nunits; i++) {
		struct unit *u = &units[i];

		u->scanned = u->passing = u->queued = u->searched = u->polled_noted =
			u->types_noted = u->vtables_noted = false;
		u->scopes = NULL;
		u->functions = NULL;
		u->starts = NULL;
		u->results = NULL;
		u->voids = u->variables = NULL;
		u->nscopes = u->nfunctions = u->nresults = u->nvoids = u->nvariables = 0;
		u->first = &units[u->first - dm->units];
		u->abbrevs = NULL;
		u->files = NULL;
	}
	return units;
}

static struct dwarf_module *twin_module(struct debuginfo *di, struct dwarf_module *dm)
{
	struct dwarf_module *twin = NEW(&di->arena, struct dwarf_module);

	if (dm->loaded && dm->nunits)
		debuginfo_unit_at(dm, 0); /* has the ranges of all of them read */
	*twin = (struct dwarf_module){
		.di = di,
		.module = dm->module,
		.is_twin = true,
		.described = dm->described,
		.loaded = dm->loaded,
		.rustc = dm->rustc,
		.dwarf = dm->dwarf,
		.tier = dm->tier,
		.tier_reason = dm->tier_reason,
		.sections = dm->sections,
		.file = dm->file,
		.units = twin_units(&di->arena, dm),
		.nunits = dm->nunits,
		.aranges_read = dm->aranges_read,
		.ranges = dm->ranges,
		.nranges = dm->nranges,
		.poll_index = dm->loaded ? symtab_index_of(dm) : NULL,
		.symtab = dm->symtab,
		.symtab_read = dm->symtab_read,
		.survey = dm->survey,
		.tls = dm->tls,
	};
	twin->file.sweeper = (struct beside){ 0 };
	if (dm->facts) {
		twin->facts = facts_twin(dm->facts);
		facts_add(twin->facts, dm->facts);
	}
	return twin;
}

bool debuginfo_is_large(const struct debuginfo *di)
{
	for (size_t i = 0; i < di->nmodules; i++) {
		const struct dwarf_module *dm = di->modules[i];

		if (dm->sections.info.size >= LARGE_INFO || facts_size(dm->facts) >= LARGE_FACTS)
			return true;
	}
	return false;
}

struct debuginfo *debuginfo_twin(struct debuginfo *di, struct target *t)
{
	struct debuginfo *twin = calloc(1, sizeof(*twin));

	if (!twin)
		out_of_memory();
	twin->target = t;
	twin->facts = di->facts;
	twin->nmodules = di->nmodules;
	twin->modules = NEW_ARRAY(&twin->arena, struct dwarf_module *, di->nmodules + 1);
	for (size_t i = 0; i < di->nmodules; i++)
		twin->modules[i] = twin_module(twin, di->modules[i]);
	return twin;
}

void debuginfo_absorb(struct debuginfo *di, struct debuginfo *twin)
{
	for (size_t i = 0; i < di->nmodules; i++) {
		struct dwarf_module *from = twin->modules[i];
		struct facts *to = debuginfo_facts(di->modules[i]), *told = from->facts;

		if (!told)
			continue;
		facts_add(to, told);
		/* Its types tell at once what they would have told their own. */
		from->facts = to;
		types_tell(from, false);
		from->facts = told;
	}
}
