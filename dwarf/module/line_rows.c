#include "dwarf/module/line_rows.h"

#include <limits.h>
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/progress.h"
#include "dwarf/module/line.h"
#include "dwarf/module/line_program.h"

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

/* The row before. */
struct last_row {
	uint32_t file;
	const char *path; /* of that file; NULL: it is not the file searched for */
	uint32_t line;    /* of the run; 0: none */
	uint64_t run;     /* its first address */
};

static const char *line_rows_find_path(struct dwarf_module *dm, struct unit *u, uint32_t file,
                                       const char *typed)
{
	const char *path = line_file(dm, u, file);

	return path && line_rows_file_is(path, typed) ? path : NULL;
}

/* Reads a row; false if it is none of the file. It may end or continue the run. */
static bool read_row(struct dwarf_module *dm, struct unit *u, const struct line_entry *entry,
                     const char *typed, struct last_row *last)
{
	if (entry->file != last->file) {
		last->file = entry->file;
		last->path = line_rows_find_path(dm, u, entry->file, typed);
	}
	if (entry->ends_sequence) {
		last->line = 0;
		return false;
	}
	if (!last->path || entry->line == 0 || entry->line > INT_MAX)
		return false;
	if (entry->line != last->line)
		last->run = entry->addr;
	last->line = entry->line;
	return true;
}

/*
 * Finds the end of row i: the address of the first one behind it that has another line, 0 or
 * another file; 0: none.
 */
static void find_end(const line_entry_vec *entries, size_t i, struct line_row *ret)
{
	const struct line_entry *row = &entries->data[i], *end = entries->data + entries->n;

	for (const struct line_entry *next = row + 1; next < end; next++) {
		if (next->line != row->line || next->file != row->file) {
			ret->end = next->addr;
			return;
		}
		ret->shape = map_key_of_pair(ret->shape,
		                             map_key_of_pair(next->addr - ret->addr, next->column));
	}
}

static void read_unit(struct dwarf_module *dm, struct unit *u, const char *typed,
                      line_entry_vec *entries, line_row_vec *ret)
{
	struct last_row last = { .file = UINT32_MAX };

	line_program_read(dm, u, entries);
	for (size_t i = 0; i < entries->n; i++) {
		const struct line_entry *entry = &entries->data[i];

		if (!read_row(dm, u, entry, typed, &last) || !entry->is_statement)
			continue;
		struct line_row *row = vec_push(ret);
		*row = (struct line_row){ .addr = entry->addr,
			                  .run = last.run,
			                  .line = entry->line,
			                  .column = entry->column,
			                  .file = last.path,
			                  .unit = u,
			                  .prologue_end = entry->ends_prologue };
		find_end(entries, i, row);
	}
}

static int line_rows_compare(const void *a, const void *b)
{
	const struct line_row *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->addr > y->addr) - (x->addr < y->addr);
}

struct error *line_rows_read(struct dwarf_module *dm, const char *typed, line_row_vec *ret)
{
	line_entry_vec entries = { 0 };
	struct error *err = NULL;

	if (!debuginfo_need(dm))
		return NULL;
	for (size_t i = 0; i < dm->nunits && !err; i++) {
		struct unit *u = &dm->units[i];

		progress("looking for lines, unit", i + 1, dm->nunits);
		if (u->stmt_list != UINT64_MAX && line_has_file(dm, u, typed, line_rows_file_is))
			read_unit(dm, u, typed, &entries, ret);
		err = interrupt_check();
	}
	vec_free(&entries);
	if (!err && ret->n)
		qsort(ret->data, ret->n, sizeof(*ret->data), line_rows_compare);
	return err;
}
