#include "dwarf/code/source_path.h"

#include <string.h>

#include "debugger/base/vec.h"
#include "dwarf/module/line.h"
#include "dwarf/module/line_rows.h"

typedef VEC(struct source_path) path_vec;

static bool is_known(const path_vec *found, const char *file)
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

		if (file && line_rows_file_is(file, typed) && !is_known(found, file))
			*vec_push(found) = (struct source_path){ file, u->comp_dir, dm };
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
