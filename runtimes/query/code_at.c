#include "runtimes/query/code_at.h"

#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/names/qualified.h"
#include "runtimes/future/future.h"
#include "runtimes/query/same_code.h"

/* Takes the name of a coroutine whose code others share from the snapshot. */
static void code_at_name_merged(const struct future *f, struct arena *a, struct code_at *ret)
{
	static const char env[] = "_env#";
	const char *cut = f->type ? strstr(qualified_last(f->type), env) : NULL;

	/* The type of a future that is not named by its function's debug info. */
	if (cut)
		ret->function = arena_printf(a, "%.*s%s", (int)(cut - f->type), f->type,
		                             cut + strlen("_env"));
	ret->aliases = f->aliases;
}

void code_at_find(struct debuginfo *di, uint64_t addr, const struct future *running,
                  struct arena *a, struct code_at *ret)
{
	size_t n;
	const struct location *l = lookup_locations(di, addr, a, &n);
	const char *name = coroutine_whole_name(a, l);
	bool is_poll = coroutine_is_poll(l);

	*ret = (struct code_at){ .function = name ? str_clean(a, name, strlen(name)) : NULL,
		                 .file = l->file,
		                 .comp_dir = l->comp_dir,
		                 .line = l->line };
	if (running && is_poll && running->line == l->line)
		code_at_name_merged(running, a, ret);
	if (name && !ret->aliases && !l->inlined && !is_poll)
		ret->aliases = same_code_others(di, addr, a);
}

void code_at_line(struct debuginfo *di, uint64_t addr, struct code_at *ret)
{
	size_t n;
	SCRATCH(tmp);
	const struct location *l = lookup_locations(di, addr, &tmp, &n);

	*ret = (struct code_at){ .file = l->file, .comp_dir = l->comp_dir, .line = l->line };
}

const char *code_at_directory(struct debuginfo *di, uint64_t pc, const char *file)
{
	const char *dir = NULL;
	SCRATCH(tmp);

	for (uint64_t back = 0; !dir && back < 2; back++) {
		size_t n;
		const struct location *l = lookup_locations(di, pc - back, &tmp, &n);

		for (size_t i = 0; i < n && !dir; i++) {
			if (l[i].file && strcmp(l[i].file, file) == 0)
				dir = l[i].comp_dir;
		}
	}
	return dir;
}
