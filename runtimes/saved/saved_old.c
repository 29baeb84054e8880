/*
 * What version 1 of the format has otherwise: target.tokio, the version of tokio, in place of
 * target.crates, and a runtime's flavor, left out where it is multi_thread, without workers_poll.
 */
#include <string.h>

#include "runtimes/saved/saved_member.h"

bool saved_old_target(struct loader *l, const char *key, struct target_info *to)
{
	struct runtime_crate *crate;

	if (l->version > 1 || strcmp(key, "tokio") != 0)
		return false;
	crate = NEW(l->a, struct runtime_crate);
	crate->kind = "tokio";
	saved_text(l, &crate->version);
	to->crates = crate;
	to->ncrates = 1;
	return true;
}

void saved_old_runtime(const struct loader *l, struct runtime_info *to)
{
	if (l->version > 1)
		return;
	to->workers_poll = to->flavor == NULL;
	if (!to->flavor)
		to->flavor = "multi_thread";
}
