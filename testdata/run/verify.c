/*
 * The full search that verify.h compares shortcuts with: the poll functions of all units of a
 * crate, for each crate of a module. It opens the debug info a second time, so that the search
 * under test finds nothing read that it did not read itself.
 */
#include "dwarf/lookup/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/lookup/polled.h"
#include "dwarf/types/type.h"

/* The types with a poll function, by hashes of their names. */
struct crate {
	uint64_t key; /* of its units; of a unit that names no crate: its offset */
	struct map polled;
};

/* A module's types, kept until the process ends. */
struct full {
	char *path;
	VEC(struct crate) crates;
	struct map all;
	struct full *next;
};

static uint64_t crate_key(const struct unit *u)
{
	return u->crate_key ? u->crate_key : u->start + 1;
}

static struct crate *crate_of(struct full *full, uint64_t key)
{
	for (size_t i = 0; i < full->crates.n; i++) {
		if (full->crates.data[i].key == key)
			return &full->crates.data[i];
	}
	struct crate *ret = vec_push(&full->crates);
	*ret = (struct crate){ .key = key };
	return ret;
}

static void read_unit(struct full *full, struct dwarf_module *dm, struct unit *u)
{
	struct crate *crate = crate_of(full, crate_key(u));

	dm->polled = crate->polled;
	polled_read(dm, u);
	crate->polled = dm->polled;
	dm->polled = (struct map){ 0 };
}

static void read_module(struct full *full, const struct dwarf_module *of)
{
	struct debuginfo *di;

	if (debuginfo_open(of->di->target, of->di->hooks, &di))
		abort();
	for (size_t i = 0; i < di->nmodules; i++) {
		struct dwarf_module *dm = di->modules[i];

		for (size_t j = 0; dm->module == of->module && debuginfo_need(dm) && j < dm->nunits;
		     j++)
			read_unit(full, dm, &dm->units[j]);
	}
	debuginfo_close(di);
	for (size_t i = 0; i < full->crates.n; i++) {
		const struct map *polled = &full->crates.data[i].polled;

		for (size_t j = 0; j < polled->capacity; j++) {
			if (polled->slots[j].key)
				map_put(&full->all, polled->slots[j].key, NULL);
		}
	}
}

static struct full *full_of(const struct dwarf_module *dm)
{
	static struct full *known;

	for (struct full *full = known; full; full = full->next) {
		if (strcmp(full->path, dm->module->path) == 0)
			return full;
	}
	struct full *full = alloc_zeroed(sizeof(*full));
	full->path = strdup(dm->module->path);
	full->next = known;
	known = full;
	read_module(full, dm);
	return full;
}

bool verify_has_poll(const struct type *t, bool answer, const char *shortcut)
{
	struct dwarf_module *dm = type_module(t);
	const struct unit *here = debuginfo_need(dm) ? debuginfo_unit_of(dm, type_die(t)) : NULL;
	uint64_t key = map_key_of_text(type_name(t));

	if (!here)
		return answer;
	struct full *full = full_of(dm);
	/* The search may read units of other crates on its way. */
	bool found = map_has(&full->all, key);
	if (found != answer) {
		fprintf(stderr, "verify: %s: by %s it is %s future, by the full search it is %s\n",
		        type_name(t), shortcut, answer ? "a" : "no", answer ? "none" : "one");
		abort();
	}
	return answer;
}
