#include "dwarf/module/line.h"

#include <dwarf.h>
#include <limits.h>
#include <string.h>

#include "debugger/base/vec.h"
#include "dwarf/module/line_program.h"

enum { MAX_FILES = 1 << 16, MAX_FORMATS = 16 };

struct file_table {
	const char **paths; /* by index as DW_AT_decl_file counts */
	size_t n;
};

struct entry_format {
	uint64_t content, form;
};

struct path_entry {
	const char *name;
	uint64_t dir;
};

static const char *line_join(struct arena *a, const char *dir, const char *name)
{
	if (name[0] == '/' || !dir || !*dir)
		return name;
	return arena_printf(a, "%s/%s", dir, name);
}

static size_t read_formats(struct reader *r, struct entry_format *formats)
{
	size_t n = read_fixed(r, 1);

	for (size_t i = 0; i < n; i++) {
		struct entry_format f = { 0 };

		f.content = read_uleb(r);
		f.form = read_uleb(r);
		if (i < MAX_FORMATS)
			formats[i] = f;
	}
	return n < MAX_FORMATS ? n : MAX_FORMATS;
}

static const char *read_path_form(struct dwarf_module *dm, const struct unit *u, struct reader *r,
                                  uint64_t form, uint64_t *number)
{
	switch (form) {
	case DW_FORM_string:
		return read_cstr(r);
	case DW_FORM_line_strp:
		return section_string(dm->sections.line_str, read_fixed(r, u->offset_size));
	case DW_FORM_strp:
		return section_string(dm->sections.str, read_fixed(r, u->offset_size));
	case DW_FORM_udata:
		*number = read_uleb(r);
		return NULL;
	case DW_FORM_data1:
		*number = read_fixed(r, 1);
		return NULL;
	case DW_FORM_data2:
		*number = read_fixed(r, 2);
		return NULL;
	case DW_FORM_data16:
		read_skip(r, 16);
		return NULL;
	case DW_FORM_block:
		read_skip(r, read_uleb(r));
		return NULL;
	default:
		r->bad = true;
		return NULL;
	}
}

static size_t read_entries_v5(struct dwarf_module *dm, const struct unit *u, struct reader *r,
                              struct arena *a, struct path_entry **ret)
{
	struct entry_format formats[MAX_FORMATS];
	size_t nformats = read_formats(r, formats);
	uint64_t n = read_uleb(r);
	VEC(struct path_entry) entries = { 0 };

	for (uint64_t i = 0; i < n && !r->bad && i < MAX_FILES; i++) {
		struct path_entry e = { NULL, 0 };

		for (size_t j = 0; j < nformats; j++) {
			uint64_t number = 0;
			const char *s = read_path_form(dm, u, r, formats[j].form, &number);

			if (formats[j].content == DW_LNCT_path)
				e.name = s;
			else if (formats[j].content == DW_LNCT_directory_index)
				e.dir = number;
		}
		*vec_push(&entries) = e;
	}
	size_t count = entries.n;
	*ret = vec_to_arena(&entries, a);
	return count;
}

static size_t read_dirs_v4(struct reader *r, struct arena *a, struct path_entry **ret)
{
	VEC(struct path_entry) dirs = { 0 };

	vec_push(&dirs)->name = ""; /* 0: the compilation directory */
	while (!r->bad && r->p < r->end && *r->p && dirs.n < MAX_FILES)
		vec_push(&dirs)->name = read_cstr(r);
	read_skip(r, 1);
	size_t count = dirs.n;
	*ret = vec_to_arena(&dirs, a);
	return count;
}

static size_t read_files_v4(struct reader *r, struct arena *a, struct path_entry **ret)
{
	VEC(struct path_entry) files = { 0 };

	vec_push(&files); /* counted from 1 */
	while (!r->bad && r->p < r->end && *r->p && files.n < MAX_FILES) {
		struct path_entry *e = vec_push(&files);

		e->name = read_cstr(r);
		e->dir = read_uleb(r);
		read_uleb(r); /* time of modification */
		read_uleb(r); /* length */
	}
	size_t count = files.n;
	*ret = vec_to_arena(&files, a);
	return count;
}

/* The directories and files that the header of a unit's line program lists. */
struct listed_files {
	struct path_entry *dirs, *files;
	size_t ndirs, nfiles;
};

static void line_read_listed(struct dwarf_module *dm, const struct unit *u, struct arena *a,
                             struct listed_files *ret)
{
	struct section line = dm->sections.line;
	struct reader r = reader_at(line, u->stmt_list, line.size);
	struct line_header h;

	*ret = (struct listed_files){ 0 };
	if (r.bad || !line_program_header(line, &r, &h))
		return;
	if (h.version >= 5) {
		ret->ndirs = read_entries_v5(dm, u, &r, a, &ret->dirs);
		ret->nfiles = read_entries_v5(dm, u, &r, a, &ret->files);
	} else {
		ret->ndirs = read_dirs_v4(&r, a, &ret->dirs);
		ret->nfiles = read_files_v4(&r, a, &ret->files);
	}
}

/* The full path of a listed file; NULL: it has none. */
static const char *line_full_path(const struct unit *u, const struct listed_files *l,
                                  const struct path_entry *file, struct arena *a)
{
	const char *dir = file->dir < l->ndirs ? l->dirs[file->dir].name : NULL;

	if (!file->name)
		return NULL;
	dir = dir && *dir ? line_join(a, u->comp_dir, dir) : u->comp_dir;
	return line_join(a, dir, file->name);
}

static struct file_table *read_table(struct dwarf_module *dm, struct unit *u)
{
	struct arena *a = &dm->di->arena;
	struct file_table *table = NEW(a, struct file_table);
	struct listed_files listed;
	SCRATCH(tmp);

	line_read_listed(dm, u, &tmp, &listed);
	table->n = listed.nfiles;
	table->paths = NEW_ARRAY(a, const char *, listed.nfiles + 1);
	for (size_t i = 0; i < listed.nfiles; i++)
		table->paths[i] = line_full_path(u, &listed, &listed.files[i], a);
	return table;
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool line_has_file(struct dwarf_module *dm, const struct unit *u, const char *typed,
                   line_file_is_fn *is)
{
	const char *last = last_component(typed);
	struct listed_files listed;
	SCRATCH(tmp);

	line_read_listed(dm, u, &tmp, &listed);
	for (size_t i = 0; i < listed.nfiles; i++) {
		const struct path_entry *file = &listed.files[i];

		/* The last component differs in most files: their paths need not be made. */
		if (file->name && strcmp(last_component(file->name), last) == 0 &&
		    is(line_full_path(u, &listed, file, &tmp), typed))
			return true;
	}
	return false;
}

void line_each_file(struct dwarf_module *dm, const struct unit *u, const char *part,
                    line_file_fn *visit, void *arg)
{
	struct listed_files listed;
	SCRATCH(tmp);

	line_read_listed(dm, u, &tmp, &listed);
	for (size_t i = 0; i < listed.nfiles; i++) {
		const struct path_entry *file = &listed.files[i];
		const char *dir = file->dir < listed.ndirs ? listed.dirs[file->dir].name : NULL;

		if (!file->name || !(strstr(file->name, part) || (dir && strstr(dir, part))))
			continue;
		visit(line_full_path(u, &listed, file, &tmp), u, arg);
	}
}

size_t line_nfiles(struct dwarf_module *dm, struct unit *u)
{
	if (!u->files)
		u->files = read_table(dm, u);
	return u->files->n;
}

const char *line_file(struct dwarf_module *dm, struct unit *u, unsigned index)
{
	return index < line_nfiles(dm, u) ? u->files->paths[index] : NULL;
}

/* line_file_of() for a DIE of the alternate file, whose units are not the module's. */
static const char *alternate_file_of(struct dwarf_module *dm, Dwarf_Die *die, Dwarf_Die *cu)
{
	const char *file = dwarf_decl_file(die), *dir = NULL;
	Dwarf_Attribute attr;

	if (dwarf_attr(cu, DW_AT_comp_dir, &attr))
		dir = dwarf_formstring(&attr);
	return file ? line_join(&dm->di->arena, dir, file) : NULL;
}

const char *line_file_of(struct dwarf_module *dm, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word index;
	Dwarf_Die cu;

	/* The index is one of the unit that has the attribute. */
	if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attr) ||
	    dwarf_formudata(&attr, &index) != 0 || index > UINT_MAX ||
	    !dwarf_cu_die(attr.cu, &cu, NULL, NULL, NULL, NULL, NULL, NULL))
		return NULL;
	if (dwarf_cu_getdwarf(attr.cu) != dm->dwarf)
		return alternate_file_of(dm, die, &cu);
	struct unit *u = debuginfo_unit_of(dm, dwarf_dieoffset(&cu));
	return u ? line_file(dm, u, (unsigned)index) : NULL;
}
