#include "dwarf/code/source_path.h"

#include <string.h>
#include <unistd.h>

#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "dwarf/module/debuginfo.h"
#include "dwarf/module/line.h"
#include "dwarf/module/line_rows.h"

struct source source_path_of(struct debuginfo *di, struct arena *a, const char *file,
                             const char *comp_dir)
{
	return source_of(a, file, comp_dir, debuginfo_program_package(di),
	                 debuginfo_source_dirs(di));
}

const char *source_path_below_package(struct debuginfo *di, struct arena *a, const char *file)
{
	const char *package = debuginfo_program_package(di);
	char *folder = package ? arena_strdup(a, package) : NULL;

	for (char *slash; folder && *folder == '/' && folder[1]; *slash = '\0') {
		const char *path = arena_printf(a, "%s/%s", folder, file);

		if (access(path, R_OK) == 0)
			return path;
		slash = strrchr(folder, '/');
	}
	return file;
}

/* ---- as typed ---- */

typedef VEC(struct source_path) path_vec;

static bool source_path_is_known(const path_vec *found, const char *file)
{
	for (size_t i = 0; i < found->n; i++) {
		if (strcmp(found->data[i].file, file) == 0)
			return true;
	}
	return false;
}

static void search_unit(struct dwarf_module *dm, struct unit *u, const char *typed, path_vec *found)
{
	size_t n = line_nfiles(dm, u);

	for (size_t i = 0; i < n && found->n < SOURCE_MAX_PATHS; i++) {
		const char *file = line_file(dm, u, (unsigned)i);

		if (file && line_rows_file_is(file, typed) && !source_path_is_known(found, file))
			*vec_push(found) = (struct source_path){ file, u->comp_dir, dm->module };
	}
}

struct error *source_path_find(struct debuginfo *di, const char *typed, struct arena *a,
                               struct source_path **ret, size_t *nret)
{
	path_vec found = { 0 };
	struct error *err = NULL;

	for (size_t i = 0; i < di->nmodules && !err; i++) {
		struct dwarf_module *dm = debuginfo_program_module(di, i);

		if (!dm || !debuginfo_need(dm))
			continue;
		for (size_t j = 0; j < dm->nunits && !err; j++) {
			search_unit(dm, &dm->units[j], typed, &found);
			err = interrupt_check();
		}
	}
	*nret = found.n;
	*ret = vec_to_arena(&found, a);
	return err;
}

/* ---- all of them ---- */

struct source_path_paths_visit {
	const char *typed;
	const char *own_package;
	const struct source_dirs *dirs;
	struct map known;
	source_path_fn *visit;
	void *arg;
};

static bool has_component(const char *path, const char *typed)
{
	const char *p = path;

	while (p && !str_begins(p, typed)) {
		p = strchr(p, '/');
		p = p ? p + 1 : NULL;
	}
	return p != NULL;
}

static void visit_file(const char *path, const struct unit *u, void *arg)
{
	struct source_path_paths_visit *v = arg;
	SCRATCH(tmp);

	/* Units of a crate have the same files. */
	if (!has_component(path, v->typed) || !map_put(&v->known, map_key_of_text(path), NULL))
		return;
	const struct source source = source_of(&tmp, path, u->comp_dir, v->own_package, v->dirs);
	v->visit(path, !source.library, v->arg);
}

struct error *source_path_each(struct debuginfo *di, const char *typed, source_path_fn *visit,
                               void *arg)
{
	struct source_path_paths_visit v = { .typed = typed, .visit = visit, .arg = arg };
	const char *slash = strrchr(typed, '/'), *part = slash ? slash + 1 : typed;
	struct error *err = NULL;

	for (size_t i = 0; i < di->nmodules && !err; i++) {
		struct dwarf_module *dm = debuginfo_program_module(di, i);

		if (!dm || !dm->loaded)
			continue;
		v.own_package = debuginfo_own_package(dm);
		v.dirs = debuginfo_source_dirs(di);
		for (size_t j = 0; j < dm->nunits && !err; j++) {
			line_each_file(dm, &dm->units[j], part, visit_file, &v);
			err = interrupt_check();
		}
	}
	map_free(&v.known);
	return err;
}
