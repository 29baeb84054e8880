/*
 * Qualified names of DIEs, built from the enclosing scopes. A DIE that completes a declaration has
 * the name and the scopes of the declaration.
 */
#ifndef DWARF_MODULE_DIE_NAME_H
#define DWARF_MODULE_DIE_NAME_H

#include "debugger/base/str.h"
#include "dwarf/module/debuginfo.h"

/* A scope with its unit, which is scanned. */
struct scope_place {
	struct unit *u;
	uint32_t index;
};

/*
 * The scope that has the name: the scope itself, or the declaration or abstract DIE that it
 * completes.
 */
struct scope_place die_named_place(struct dwarf_module *dm, struct scope_place at);
/* The qualified name of a scope, NULL when a part of it has none. */
const char *die_scope_name(struct dwarf_module *dm, struct unit *u, uint32_t index);

/* Qualified name of a named DIE ("app::run::{async_fn_env#0}"), NULL when it has none. */
const char *die_name(struct dwarf_module *dm, uint64_t die);
/* Appends die_name() to a string; false when there is none. */
bool die_append_name(struct dwarf_module *dm, uint64_t die, struct str *out);

#endif
