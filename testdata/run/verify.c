/*
 * The full search that verify.h compares shortcuts with: the poll functions of all units of a
 * module. It opens the debug info a second time, so that the search under test finds nothing read
 * that it did not read itself.
 */
#include "dwarf/lookup/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/lookup/poll_fn_index.h"
#include "dwarf/types/type.h"

/* How the types of a module are polled, by hashes of their names; kept until the end. */
struct full {
	char *path;
	struct map polled;
	struct full *next;
};

static struct map read_module(const struct dwarf_module *of)
{
	struct debuginfo *di;
	struct map ret = { 0 };

	if (debuginfo_open(of->di->target, of->di->hooks, &di))
		abort();
	for (size_t i = 0; i < di->nmodules; i++) {
		struct dwarf_module *dm = di->modules[i];

		if (dm->module != of->module || !debuginfo_need(dm))
			continue;
		for (size_t j = 0; j < dm->nunits; j++)
			poll_fn_read(dm, &dm->units[j]);
		ret = dm->polls.polled;
		dm->polls.polled = (struct map){ 0 };
	}
	debuginfo_close(di);
	return ret;
}

static const struct map *all_polled(const struct dwarf_module *dm)
{
	static struct full *known;

	for (struct full *full = known; full; full = full->next) {
		if (strcmp(full->path, dm->module->path) == 0)
			return &full->polled;
	}
	struct full *full = alloc_zeroed(sizeof(*full));

	*full = (struct full){ strdup(dm->module->path), read_module(dm), known };
	known = full;
	return &full->polled;
}

unsigned verify_polled_as(const struct type *t, unsigned answer, unsigned mask,
                          const char *shortcut)
{
	struct dwarf_module *dm = type_module(t);

	if (!debuginfo_need(dm))
		return answer;
	uintptr_t full = (uintptr_t)map_get(all_polled(dm), map_key_of_text(type_name(t))) & mask;

	if ((answer & ~full) || !answer != !full) {
		fprintf(stderr, "verify: %s: by %s it is polled as %u, by the full search as %u\n",
		        type_name(t), shortcut, answer, (unsigned)full);
		abort();
	}
	return answer;
}
