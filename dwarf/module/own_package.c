/*
 * Finds the package of a program that was not built where it is developed: debuginfo_own_package().
 */
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "dwarf/module/line.h"
#include "dwarf/module/symtab.h"
#include "dwarf/names/source.h"

enum { MAX_DIRS = 1 << 10 };

/* Is the unit of a crate that comes with the compiler? */
static bool is_std(const struct unit *u)
{
	return strncmp(u->name, "library/", 8) == 0 || strstr(u->name, "/library/") ||
	       strstr(u->name, "/rustc/") || strncmp(u->comp_dir, "/rustc/", 7) == 0;
}

/* Is the unit of another crate? rustc names such units "src/main.rs/@/app.1d2e3f-cgu.0". */
static bool own_package_is_crate(const struct unit *u)
{
	return u->name && u->comp_dir && strstr(u->name, "/@/") && !is_std(u);
}

/* Is some crate built from a directory in which it is developed? Then it is the program's own. */
static bool has_own_crate(const struct dwarf_module *dm)
{
	for (size_t i = 0; i < dm->nunits; i++) {
		const struct unit *u = &dm->units[i];
		SCRATCH(tmp);

		if (own_package_is_crate(u) && !source_package(&tmp, u->comp_dir))
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

		if (u && own_package_is_crate(u))
			return u;
	}
	return NULL;
}

static bool own_package_is_known(const char *const *dirs, size_t n, const char *dir)
{
	for (size_t i = n; i--;) {
		if (strcmp(dirs[i], dir) == 0)
			return true;
	}
	return false;
}

/*
 * Directory of main()'s crate. Where there are no symbols, or link-time optimisation has left none
 * of that crate, it is that of the only file main.rs that is the root of a crate. NULL: unknown.
 */
static const char *dir_of_main(struct dwarf_module *dm, const char *const *dirs, size_t n)
{
	const struct unit *of_main = unit_of_main(dm);
	const char *ret = NULL;

	if (of_main && own_package_is_known(dirs, n, of_main->comp_dir))
		return of_main->comp_dir;
	for (size_t i = 0; i < dm->nunits; i++) {
		const struct unit *u = &dm->units[i];

		if (!own_package_is_crate(u) || !strstr(u->name, "main.rs/@/") ||
		    !own_package_is_known(dirs, n, u->comp_dir))
			continue;
		if (ret && strcmp(ret, u->comp_dir) != 0)
			return NULL;
		ret = u->comp_dir;
	}
	return ret;
}

typedef VEC(const char *) dir_vec;

/*
 * Adds the directories in which the crates were compiled that are in no package; relative: by a
 * relative name.
 */
static void add_dirs(struct dwarf_module *dm, bool relative, dir_vec *dirs)
{
	SCRATCH(tmp);

	for (size_t i = 0; i < dm->nunits && dirs->n < MAX_DIRS; i++) {
		const struct unit *u = &dm->units[i];

		if (own_package_is_crate(u) && u->comp_dir[0] == '/' &&
		    !strchr(u->comp_dir, '\n') && !(relative && u->name[0] == '/') &&
		    !own_package_is_known(dirs->data, dirs->n, u->comp_dir) &&
		    !source_package(&tmp, u->comp_dir))
			*vec_push(dirs) = u->comp_dir;
	}
}

const char *own_package_relative_dirs_read(struct dwarf_module *dm)
{
	dir_vec dirs = { 0 };
	STR(text);

	add_dirs(dm, true, &dirs);
	for (size_t i = 0; i < dirs.n; i++)
		str_printf(&text, "%s\n", dirs.data[i]);
	vec_free(&dirs);
	return arena_strdup(&dm->di->arena, str_text(&text));
}

/* A file that is sought in the tables of some units. */
struct wanted_file {
	const char *path;
	bool found;
};

static void compare_file(const char *full, const struct unit *u, void *arg)
{
	struct wanted_file *wanted = arg;

	(void)u;
	wanted->found |= strcmp(full, wanted->path) == 0;
}

/* Whether code of a crate that was compiled in dir, by a relative name, is of that file. */
static bool has_file(struct dwarf_module *dm, const char *dir, const char *file)
{
	SCRATCH(tmp);
	struct wanted_file wanted = { .path = arena_printf(&tmp, "%s/%s", dir, file) };
	const char *slash = strrchr(file, '/');

	for (size_t i = 0; i < dm->nunits && !wanted.found; i++) {
		const struct unit *u = &dm->units[i];

		if (own_package_is_crate(u) && u->name[0] != '/' && strcmp(u->comp_dir, dir) == 0)
			line_each_file(dm, u, slash ? slash + 1 : file, compare_file, &wanted);
	}
	return wanted.found;
}

const char *own_package_dir_of(struct dwarf_module *dm, const char *dirs, const char *file,
                               bool *several)
{
	struct arena *a = &dm->di->arena;
	const char *end = strchr(dirs, '\n'), *ret = NULL;

	*several = false;
	if (!end)
		return NULL;
	if (!end[1])
		return arena_strndup(a, dirs, (size_t)(end - dirs));
	/* The line tables of the crates' units alone tell in which directory the file is. */
	*several = !debuginfo_need(dm) || !dm->dwarf;
	for (const char *p = dirs; !*several && (end = strchr(p, '\n')); p = end + 1) {
		const char *dir = arena_strndup(a, p, (size_t)(end - p));

		if (!has_file(dm, dir, file))
			continue;
		*several = ret != NULL;
		ret = dir;
	}
	return *several ? NULL : ret;
}

const char *own_package_dirs_read(struct dwarf_module *dm)
{
	dir_vec dirs = { 0 };
	const char *first = NULL;
	STR(text);

	add_dirs(dm, false, &dirs);
	if (dirs.n == 1)
		first = dirs.data[0];
	else if (dirs.n)
		first = dir_of_main(dm, dirs.data, dirs.n);
	str_printf(&text, "%s\n", first ? first : "");
	for (size_t i = 0; i < dirs.n; i++) {
		if (!first || strcmp(dirs.data[i], first) != 0)
			str_printf(&text, "%s\n", dirs.data[i]);
	}
	vec_free(&dirs);
	return arena_strdup(&dm->di->arena, str_text(&text));
}

const char *own_package_read(struct dwarf_module *dm)
{
	const struct unit *u = dm->dwarf && !has_own_crate(dm) ? unit_of_main(dm) : NULL;

	return u ? source_package(&dm->di->arena, u->comp_dir) : NULL;
}

bool own_package_has(const struct dwarf_module *dm, const struct unit *u)
{
	SCRATCH(tmp);
	const char *package = own_package_is_crate(u) ? source_package(&tmp, u->comp_dir) : NULL;

	return own_package_is_crate(u) &&
	       (!package || (dm->build.own_package && strcmp(package, dm->build.own_package) == 0));
}
