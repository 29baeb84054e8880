/*
 * Finds the package of a program that was not built where it is developed: debuginfo_own_package().
 */
#include <string.h>

#include "dwarf/module/symtab.h"
#include "dwarf/names/source.h"

/* Is the unit of a crate that comes with the compiler? */
static bool is_std(const struct unit *u)
{
	return strncmp(u->name, "library/", 8) == 0 || strstr(u->name, "/library/") ||
	       strstr(u->name, "/rustc/") || strncmp(u->comp_dir, "/rustc/", 7) == 0;
}

/* Is the unit of another crate? rustc names such units "src/main.rs/@/app.1d2e3f-cgu.0". */
static bool is_crate(const struct unit *u)
{
	return u->name && u->comp_dir && strstr(u->name, "/@/") && !is_std(u);
}

/* Is some crate built from a directory in which it is developed? Then it is the program's own. */
static bool has_own_crate(const struct dwarf_module *dm)
{
	for (size_t i = 0; i < dm->nunits; i++) {
		const struct unit *u = &dm->units[i];
		SCRATCH(tmp);

		if (is_crate(u) && !source_package(&tmp, u->comp_dir))
			return true;
	}
	return false;
}

/*
 * A unit of the crate that contains `main`. std calls `main` through std::rt::lang_start(), a
 * generic function that rustc instantiates only in that crate (std/src/rt.rs). In optimised code
 * only the closure of lang_start() is left.
 */
static const struct unit *unit_of_main(struct dwarf_module *dm)
{
	struct symtab t = symtab_of(dm);

	for (size_t i = 0; t.data && i < t.n; i++) {
		const Elf64_Sym *sym = &t.data[i];
		const char *name =
			ELF64_ST_TYPE(sym->st_info) == STT_FUNC ? symtab_name(&t, sym) : NULL;
		const struct unit *u = name && strstr(name, "2rt10lang_start")
		                               ? debuginfo_unit_at(dm, sym->st_value)
		                               : NULL;

		if (u && is_crate(u))
			return u;
	}
	return NULL;
}

const char *own_package_read(struct dwarf_module *dm)
{
	const struct unit *u = dm->dwarf && !has_own_crate(dm) ? unit_of_main(dm) : NULL;

	return u ? source_package(&dm->di->arena, u->comp_dir) : NULL;
}

bool own_package_has(const struct dwarf_module *dm, const struct unit *u)
{
	SCRATCH(tmp);
	const char *package = is_crate(u) ? source_package(&tmp, u->comp_dir) : NULL;

	return is_crate(u) &&
	       (!package || (dm->own_package && strcmp(package, dm->own_package) == 0));
}
