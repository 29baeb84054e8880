#include "runtimes/common/thread_local.h"

#include <string.h>

enum { MAX_HOPS = 32 };

bool thread_local_is_destroyed(struct target *t, struct value state)
{
	const char *name = NULL;

	for (int hop = 0; hop < MAX_HOPS && type_kind(state.type) == TYPE_STRUCT; hop++) {
		const struct member *m = type_single_member(state.type);

		if (!m)
			return false;
		state = (struct value){ m->type, state.addr + m->offset };
	}
	if (type_kind(state.type) != TYPE_ENUM && type_kind(state.type) != TYPE_CENUM)
		return false;
	error_free(value_enum_name(t, state, &name));
	return name && (strcmp(name, "Destroyed") == 0 || strcmp(name, "Uninitialized") == 0);
}
