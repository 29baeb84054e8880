#include "runtimes/inspect/layout_import.h"

#include "debugger/target/debug_file.h"
#include "dwarf/store/layout_file.h"
#include "dwarf/store/open.h"

static struct error *open_debug_info(struct inspector *in)
{
	TRY(dwarf_open(in->target, &in->di));
	in->di->records = &in->records;
	return NULL;
}

/* Must be called before the first query of the debug info. */
static struct error *use(struct inspector *in, const char *path, bool force)
{
	struct target *t = in->target;
	const char *differs;

	for (size_t i = 0; i < in->di->nmodules; i++) {
		struct dwarf_module *dm = in->di->modules[i];

		if (dm->module != t->modules.main)
			continue;
		TRY(layout_file_use(path, dm, force, &differs));
		in->layout = inspector_clean_name(&in->arena, path);
		in->layout_differs = differs != NULL;
		if (differs)
			target_note(t,
			            "%s is used although it is of another build: %s; types and "
			            "addresses may be wrong",
			            in->layout, differs);
		target_note(t, "a layout file describes native frames of the runtime and of async "
		               "functions only, and none of their variables");
		return NULL;
	}
	return error_new(ERR_USAGE,
	                 "the executable was not found: %s cannot be used; name it with "
	                 "--exe",
	                 path);
}

/* The layout file beside the debug files; NULL: there is none, or none is needed. */
static const char *layout_import_find(struct inspector *in)
{
	struct target *t = in->target;

	if (!t->modules.main)
		return NULL;
	const char *path = debug_file_sibling(&in->arena, t, t->modules.main, "layout");
	struct dwarf_module *dm = path ? debuginfo_module(in->di, t->modules.main) : NULL;

	return dm && dm->tier != DWARF_FULL ? path : NULL;
}

struct error *layout_import_open(struct inspector *in, const struct inspector_options *options)
{
	TRY(open_debug_info(in));
	if (options && options->layout)
		return use(in, options->layout, options->force);
	const char *path = layout_import_find(in);
	if (!path)
		return NULL;
	/* The debug info was queried. */
	debuginfo_close(in->di);
	in->di = NULL;
	TRY(open_debug_info(in));
	struct error *err CLEANUP(error_freep) = use(in, path, false);
	if (err)
		target_note(in->target, "the layout file beside the debug files is not used: %s",
		            inspector_clean_name(&in->arena, err->message));
	return NULL;
}
