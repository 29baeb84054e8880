#include "runtimes/common/none_argument.h"

#include "debugger/target/target.h"
#include "dwarf/lookup/argument_place.h"
#include "dwarf/store/enumerate.h"
#include "dwarf/types/type.h"

/* Finds the argument by the debug info. */
static bool none_argument_read(const struct function *f, const char *name,
                               struct none_argument *ret)
{
	const struct type *t = f ? function_variable(f, name) : NULL;
	const struct member *discr = t ? type_discr(t) : NULL;
	const struct variant *v = discr ? type_variant(t, "None") : NULL;

	if (!v || v->is_default || type_size(discr->type) > sizeof(ret->none) ||
	    !argument_place_part(f, name, discr->offset, &ret->reg))
		return false;
	ret->none = (uint32_t)v->discr;
	return true;
}

bool none_argument_of(struct debuginfo *di, struct dwarf_module *dm, uint64_t link,
                      const char *name, struct none_argument *ret)
{
	uint64_t packed;

	if (!enumerated_argument(dm, link, &packed))
		return none_argument_read(lookup_function(di, link + dm->module->bias), name, ret);
	*ret = (struct none_argument){ (unsigned)(packed >> 32), (uint32_t)packed };
	return true;
}

void none_argument_note(const struct function *f, const char *name)
{
	struct none_argument found;

	if (none_argument_read(f, name, &found))
		enumerated_note_argument(f->dm, f->low - f->dm->module->bias,
		                         (uint64_t)found.reg << 32 | found.none);
}
