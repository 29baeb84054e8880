#include "runtimes/query/same_code.h"

#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/module/symtab.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"

enum { MAX_NAMED = 3, MAX_OTHERS = 1 << 10 };

/* The path of a symbol; that of a coroutine's or closure's body is its function's. */
static const char *same_code_symbol_path(struct arena *a, const char *symbol)
{
	const char *name = demangle(a, symbol);
	const char *last = qualified_last(name);

	if (last - name > 2 && last[0] == '{')
		name = arena_strndup(a, name, (size_t)(last - name) - 2);
	return str_clean(a, name, strlen(name));
}

struct others {
	struct arena *a;
	uint64_t pc;     /* link-time */
	const char *own; /* path of the function that the debug info describes */
	const char *paths[MAX_OTHERS];
	size_t n;
};

static void visit_address(const char *symbol, uint64_t pc, uint64_t size, void *arg)
{
	struct others *o = arg;

	(void)pc;
	(void)size;
	if (o->n == MAX_OTHERS)
		return;
	const char *path = same_code_symbol_path(o->a, symbol);

	for (size_t i = 0; i < o->n; i++) {
		if (strcmp(o->paths[i], path) == 0)
			return;
	}
	if (strcmp(path, o->own) != 0)
		o->paths[o->n++] = path;
}

static const char *join_paths(struct arena *a, const struct others *o)
{
	STR(text);

	for (size_t i = 0; i < o->n && i < MAX_NAMED; i++)
		str_printf(&text, "%s%s", i ? ", " : "", o->paths[i]);
	if (o->n > MAX_NAMED)
		str_printf(&text, " and %zu more", o->n - MAX_NAMED);
	return arena_strdup(a, str_text(&text));
}

const char *same_code_others(struct debuginfo *di, uint64_t addr, struct arena *a)
{
	const struct function *f = lookup_function(di, addr);
	SCRATCH(tmp);

	if (!f || !f->linkage)
		return NULL;
	struct others *o = NEW(&tmp, struct others);

	o->a = &tmp;
	o->pc = f->low - f->dm->module->bias;
	o->own = same_code_symbol_path(&tmp, f->linkage);
	symtab_each_function_at(f->dm, o->pc, visit_address, o);
	return o->n ? join_paths(a, o) : NULL;
}

struct same_code_wanted {
	struct debuginfo *di;
	uint64_t bias;
	struct arena *a;
	const char *path, *last; /* last: its last component */
	uint64_t *addrs;         /* run-time */
	size_t n, max;
};

static bool ends_in_path(const char *name, const char *path)
{
	size_t len = strlen(name), tail = strlen(path);

	return len >= tail && strcmp(name + len - tail, path) == 0 &&
	       (len == tail || name[len - tail - 1] == ':');
}

const char *same_code_path(struct debuginfo *di, uint64_t addr, struct arena *a)
{
	const struct function *f = lookup_function(di, addr);

	return f && f->linkage ? same_code_symbol_path(a, f->linkage) : NULL;
}

static void visit_name(const char *symbol, uint64_t pc, uint64_t size, void *arg)
{
	struct same_code_wanted *w = arg;
	uint64_t addr = pc + w->bias;

	(void)size;
	if (w->n == w->max || !strstr(symbol, w->last) ||
	    !ends_in_path(same_code_symbol_path(w->a, symbol), w->path))
		return;
	for (size_t i = 0; i < w->n; i++) {
		if (w->addrs[i] == addr)
			return;
	}
	const char *owner = same_code_path(w->di, addr, w->a);
	if (owner && !ends_in_path(owner, w->path))
		w->addrs[w->n++] = addr;
}

size_t same_code_owners(struct debuginfo *di, const char *path, uint64_t *ret, size_t max)
{
	const struct module *m = di->target->modules.main;
	struct dwarf_module *dm = m ? debuginfo_module(di, m) : NULL;
	SCRATCH(tmp);

	if (!dm || strpbrk(path, "<{ "))
		return 0;
	struct same_code_wanted w = {
		.di = di,
		.bias = m->bias,
		.a = &tmp,
		.path = path,
		.last = qualified_last(path),
		.addrs = ret,
		.max = max,
	};
	symtab_each_function(dm, visit_name, &w);
	return w.n;
}
