#include "dwarf/module/line_rows.h"

#include <elfutils/libdw.h>
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/progress.h"
#include "dwarf/module/line.h"

bool line_rows_file_is(const char *full, const char *typed)
{
	size_t len = strlen(full), n = strlen(typed);

	if (n > 2 && typed[0] == '.' && typed[1] == '/') {
		typed += 2;
		n -= 2;
	}
	return n && n <= len && strcmp(full + len - n, typed) == 0 &&
	       (n == len || full[len - n - 1] == '/');
}

static bool has_file(struct dwarf_module *dm, struct unit *u, const char *typed)
{
	size_t n = line_nfiles(dm, u);

	for (size_t i = 0; i < n; i++) {
		const char *file = line_file(dm, u, (unsigned)i);

		if (file && line_rows_file_is(file, typed))
			return true;
	}
	return false;
}

/* The row before. */
struct last_row {
	const char *name; /* of its file: libdw's pointer, which is the same for most rows */
	const char *path; /* of that file; NULL: it is not the file searched for */
	int line;         /* of the run; 0: none */
	uint64_t run;     /* its first address */
};

/* libdw's names may be relative to the unit's directory. */
static const char *find_path(struct dwarf_module *dm, const struct unit *u, const char *name,
                             const char *typed)
{
	const char *path = name;

	if (name && name[0] != '/' && u->comp_dir && *u->comp_dir)
		path = arena_printf(&dm->di->arena, "%s/%s", u->comp_dir, name);
	return path && line_rows_file_is(path, typed) ? path : NULL;
}

/* Reads a row; false if it is none of the file. It may end or continue the run. */
static bool read_row(struct dwarf_module *dm, struct unit *u, Dwarf_Line *line, const char *typed,
                     struct last_row *last, Dwarf_Addr *addr)
{
	const char *name = dwarf_linesrc(line, NULL, NULL);
	bool is_end = true;
	int number = 0;

	if (name != last->name) {
		last->name = name;
		last->path = find_path(dm, u, name, typed);
	}
	if (dwarf_lineendsequence(line, &is_end) != 0 || is_end) {
		last->line = 0;
		return false;
	}
	if (!last->path || dwarf_lineno(line, &number) != 0 || number <= 0 ||
	    dwarf_lineaddr(line, addr) != 0)
		return false;
	if (number != last->line)
		last->run = *addr;
	last->line = number;
	return true;
}

/*
 * Finds the end of row i: the address of the first one behind it that has another line, 0 or
 * another file; 0: none.
 */
static void find_end(Dwarf_Lines *lines, size_t n, size_t i, struct line_row *ret)
{
	Dwarf_Line *row = dwarf_onesrcline(lines, i);
	const char *name = dwarf_linesrc(row, NULL, NULL);
	int line = 0, number, column;
	Dwarf_Addr addr;

	dwarf_lineno(row, &line);
	for (i++; i < n; i++) {
		row = dwarf_onesrcline(lines, i);
		if (dwarf_lineno(row, &number) != 0 || dwarf_lineaddr(row, &addr) != 0 ||
		    dwarf_linecol(row, &column) != 0)
			return;
		if (number != line || dwarf_linesrc(row, NULL, NULL) != name) {
			ret->end = addr;
			return;
		}
		ret->shape = map_key_of_pair(ret->shape,
		                             map_key_of_pair(addr - ret->addr, (uint64_t)column));
	}
}

static void read_unit(struct dwarf_module *dm, struct unit *u, const char *typed, line_row_vec *ret)
{
	struct last_row last = { 0 };
	Dwarf_Lines *lines;
	Dwarf_Die cu;
	size_t n;

	if (!dwarf_offdie(dm->dwarf, u->first_die, &cu) || dwarf_getsrclines(&cu, &lines, &n) != 0)
		return;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		bool is_statement = false, ends_prologue = false;
		int column = 0;
		Dwarf_Addr addr;

		if (!read_row(dm, u, line, typed, &last, &addr) ||
		    dwarf_linebeginstatement(line, &is_statement) != 0 || !is_statement)
			continue;
		dwarf_lineprologueend(line, &ends_prologue);
		dwarf_linecol(line, &column);
		struct line_row *row = vec_push(ret);
		*row = (struct line_row){ .addr = addr,
			                  .run = last.run,
			                  .line = (unsigned)last.line,
			                  .column = column > 0 ? (unsigned)column : 0,
			                  .file = last.path,
			                  .unit = u,
			                  .prologue_end = ends_prologue };
		find_end(lines, n, i, row);
	}
}

static int compare(const void *a, const void *b)
{
	const struct line_row *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->addr > y->addr) - (x->addr < y->addr);
}

struct error *line_rows_read(struct dwarf_module *dm, const char *typed, line_row_vec *ret)
{
	if (!debuginfo_need(dm) || !dm->dwarf)
		return NULL;
	for (size_t i = 0; i < dm->nunits; i++) {
		struct unit *u = &dm->units[i];

		progress("looking for lines, unit", i + 1, dm->nunits);
		if (u->stmt_list != UINT64_MAX && has_file(dm, u, typed))
			read_unit(dm, u, typed, ret);
		TRY(interrupt_check());
	}
	if (ret->n)
		qsort(ret->data, ret->n, sizeof(*ret->data), compare);
	return NULL;
}
