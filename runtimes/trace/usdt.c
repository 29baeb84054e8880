#include "runtimes/trace/usdt.h"

#include "debugger/target/module.h"
#include "debugger/target/target.h"

struct error *trace_usdt_notes(const struct target *t, struct arena *a, struct usdt_notes *ret)
{
	*ret = (struct usdt_notes){ 0 };
	for (size_t i = 0; i < t->nmodules; i++) {
		if (t->modules[i].is_main && t->modules[i].fd >= 0)
			return usdt_notes_read(a, t->modules[i].fd, ret);
	}
	return NULL;
}
