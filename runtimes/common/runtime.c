#include "runtimes/common/runtime.h"

#include "debugger/base/str.h"
#include "runtimes/common/type_class.h"

static void fill_filters(struct tables *to, const struct crate_types *crate)
{
	for (size_t i = 0; crate->leaves && crate->leaves[i]; i++) {
		for (const struct leaf_row *row = crate->leaves[i]; row->type; row++)
			row_filter_add(&to->leaves, row->type);
	}
	for (const struct leaf_row *row = crate->properties; row && row->type; row++)
		row_filter_add(&to->leaves, row->type);
	for (const struct ownership_row *row = crate->holdings; row && row->type; row++)
		row_filter_add(&to->holdings, row->type);
}

void runtimes_register(struct debuginfo *di, const struct registered *r)
{
	struct tables *tables = NEW(&di->arena, struct tables);

	tables->registered = r;
	for (size_t i = 0; r->crates[i]; i++)
		fill_filters(tables, r->crates[i]);
	di->above = tables;
}

const struct tables *runtime_tables_of(const struct type *t)
{
	return type_module(t)->di->above;
}

const struct runtime *const *runtimes_in(const struct debuginfo *di)
{
	static const struct runtime *const none[] = { NULL };
	const struct tables *tables = di->above;

	return tables ? tables->registered->runtimes : none;
}

const struct runtime *const *runtimes_of(const struct type *t)
{
	return runtimes_in(type_module(t)->di);
}

const struct crate_types *const *crates_in(const struct debuginfo *di)
{
	static const struct crate_types *const none[] = { NULL };
	const struct tables *tables = di->above;

	return tables ? tables->registered->crates : none;
}

const struct crate_types *const *crates_of(const struct type *t)
{
	return crates_in(type_module(t)->di);
}

bool runtime_begins_with_one(const char *name, const char *const *list)
{
	for (; list && *list; list++) {
		if (str_begins(name, *list))
			return true;
	}
	return false;
}
