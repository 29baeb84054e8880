#include "dwarf/store/open.h"

#include "dwarf/lookup/lookup.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/lookup/type_names.h"
#include "dwarf/store/cache.h"

static void open_forget_searches(struct dwarf_module *dm)
{
	type_names_forget(dm);
	lookup_cached_instances_forget(dm);
}

struct error *dwarf_open(struct target *t, struct debuginfo **ret)
{
	static const struct debuginfo_hooks hooks = {
		.open_records = cache_open,
		.close_records = cache_close,
		.forget_searches = open_forget_searches,
		.find_type = lookup_type,
	};

	return debuginfo_open(t, &hooks, ret);
}
