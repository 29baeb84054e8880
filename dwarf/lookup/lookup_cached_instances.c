/* Queries for the instances of a generic function or type, with the cache of lookup_cached.c. */
#include <stdlib.h>
#include <string.h>

#include "debugger/base/vec.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/names/qualified.h"
#include "dwarf/records/records.h"

static const char *lookup_cached_instances_home_of(struct dwarf_module *dm, uint64_t die)
{
	struct record_writer d;
	struct record record;

	if (record_find(debuginfo_records(dm), RECORD_HOME, die, NULL, &record))
		return record_text(&record);
	const char *home = debuginfo_need(dm) ? lookup_dwarf_home(dm, die) : NULL;
	record_begin(&d, debuginfo_records(dm), RECORD_HOME, die, NULL);
	record_add_text(&d, home);
	record_end(&d);
	return home;
}

/*
 * A crate's home (lookup_dwarf_home()) as a part of a key. Types of a layout file have no home: see
 * records_copy.h.
 */
uint64_t lookup_crate(struct dwarf_module *dm, uint64_t die)
{
	const char *home = lookup_cached_instances_home_of(dm, die);

	return home ? map_key_of_text(home) : 0;
}

struct instance {
	const char *name;
	bool has_code;
};

struct instances {
	VEC(struct instance) found;
	struct arena arena; /* copies of their names, which are valid only during the visit */
};

static void note_instance(const char *name, bool has_code, void *arg)
{
	struct instances *i = arg;

	*vec_push(&i->found) = (struct instance){ arena_strdup(&i->arena, name), has_code };
}

static void record_instances(struct dwarf_module *dm, uint64_t home, const char *path,
                             const struct instances *i)
{
	struct record_writer d;

	record_begin(&d, debuginfo_records(dm), RECORD_INSTANCES, home, path);
	record_add_number(&d, i->found.n);
	for (size_t at = 0; at < i->found.n; at++) {
		record_add_text(&d, i->found.data[at].name);
		record_add_number(&d, i->found.data[at].has_code);
	}
	record_end(&d);
}

/* Searches, records, and then visits. */
static void search_instances(struct dwarf_module *dm, uint64_t near, const char *path,
                             uint64_t home, instance_fn *visit, void *arg)
{
	struct instances i = { .found = { 0 } };
	const struct instance_query query = { path, note_instance, &i };

	if (debuginfo_need(dm))
		lookup_dwarf_each_instance(dm, near, &query, 1);
	record_instances(dm, home, path, &i);
	for (size_t at = 0; at < i.found.n; at++)
		visit(i.found.data[at].name, i.found.data[at].has_code, arg);
	vec_free(&i.found);
	arena_free(&i.arena);
}

void lookup_find_instances(struct dwarf_module *dm, uint64_t near, const char *const *paths,
                           size_t n)
{
	SCRATCH(tmp);
	struct instances *found = NEW_ARRAY(&tmp, struct instances, n);
	struct instance_query *queries = NEW_ARRAY(&tmp, struct instance_query, n);
	uint64_t home = lookup_crate(dm, near);
	struct record record;
	size_t nqueries = 0;

	for (size_t i = 0; i < n; i++) {
		if (record_find(debuginfo_records(dm), RECORD_INSTANCES, home, paths[i], &record))
			continue;
		queries[nqueries] =
			(struct instance_query){ paths[i], note_instance, &found[nqueries] };
		nqueries++;
	}
	if (nqueries && debuginfo_need(dm))
		lookup_dwarf_each_instance(dm, near, queries, nqueries);
	for (size_t i = 0; i < nqueries; i++) {
		record_instances(dm, home, queries[i].path, &found[i]);
		vec_free(&found[i].found);
		arena_free(&found[i].arena);
	}
}

void lookup_each_instance(struct dwarf_module *dm, uint64_t near, const char *path,
                          instance_fn *visit, void *arg)
{
	uint64_t home = lookup_crate(dm, near);
	struct record record;

	if (!record_find(debuginfo_records(dm), RECORD_INSTANCES, home, path, &record)) {
		search_instances(dm, near, path, home, visit, arg);
		return;
	}
	for (size_t i = record_count(&record); i; i--) {
		const char *name = record_text(&record);
		bool has_code = record_number(&record) != 0;

		if (name)
			visit(name, has_code, arg);
	}
}

/* ---- by their first argument ---- */

/* The instances of one path, in the crate of one home. */
struct instance_set {
	struct instance_set *next;
	const char *path;
	uint64_t home;
	struct map arguments; /* hashes of the first argument of each instance */
};

static void note_argument(const char *name, bool has_code, void *arg)
{
	struct instance_set *set = arg;
	SCRATCH(tmp);
	const char *first = qualified_first_generic(&tmp, name);

	(void)has_code;
	if (first)
		map_put(&set->arguments, map_key_of_text(first), NULL);
}

/* Writes no record if no cache file is used: the names of all drop glue take megabytes. */
static void learn_instances(struct dwarf_module *dm, uint64_t near, struct instance_set *set)
{
	const struct records_options *options = dm->di->records;
	struct record record;

	if ((options && options->cache) ||
	    record_find(debuginfo_records(dm), RECORD_INSTANCES, set->home, set->path, &record))
		lookup_each_instance(dm, near, set->path, note_argument, set);
	else if (debuginfo_need(dm))
		lookup_dwarf_each_instance(
			dm, near, &(struct instance_query){ set->path, note_argument, set }, 1);
}

static const struct instance_set *instances_of(struct dwarf_module *dm, uint64_t near,
                                               const char *path)
{
	uint64_t home = lookup_crate(dm, near);
	struct instance_set *set;

	for (set = dm->instance_sets; set; set = set->next) {
		if (set->home == home && strcmp(set->path, path) == 0)
			return set;
	}
	set = NEW(&dm->di->arena, struct instance_set);
	*set = (struct instance_set){
		.next = dm->instance_sets,
		.path = arena_strdup(&dm->di->arena, path),
		.home = home,
	};
	dm->instance_sets = set;
	learn_instances(dm, near, set);
	return set;
}

bool lookup_has_instance(struct dwarf_module *dm, uint64_t near, const char *path,
                         const char *argument)
{
	return map_has(&instances_of(dm, near, path)->arguments, map_key_of_text(argument));
}

void lookup_cached_instances_forget(struct dwarf_module *dm)
{
	for (struct instance_set *set = dm->instance_sets; set; set = set->next)
		map_free(&set->arguments);
	dm->instance_sets = NULL;
}
