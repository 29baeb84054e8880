/* The requests "source" and "locations", and places in sources. */
#include "commands/dap/source.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "commands/dap/stack.h"
#include "debugger/base/file.h"
#include "debugger/base/str.h"
#include "dwarf/code/source_file.h"
#include "dwarf/code/source_path.h"
#include "runtimes/query/code_at.h"

enum { SOURCE_MAX = 8 * 1048576 /* bytes of a file that is sent */ };

/* ---- paths ---- */

/* The path of the file on this machine; else its path at build time. */
static const char *source_find_file(struct dap *d, struct arena *a, const char *file,
                                    const char *dir)
{
	const char *mapped = paths_to_client(&d->paths, a, file, dir);
	const struct source_text *text;

	if (mapped)
		return mapped;
	struct error *err CLEANUP(error_freep) =
		source_files_open(&d->s->sources, file, dir, &text);
	if (!err)
		return arena_strdup(a, text->path);
	return *file == '/' || !dir ? file : arena_printf(a, "%s/%s", dir, file);
}

void source_of_file(struct dap *d, struct arena *a, const char *file, const char *dir,
                    unsigned line, struct dap_source *ret)
{
	struct debuginfo *di = asyncdbg_debuginfo(d->s->handle);

	if (!file)
		return;
	if (di)
		ret->library = source_path_of(di, a, file, dir).library;
	if (di && *file != '/' && !dir)
		file = source_path_below_package(di, a, file);
	ret->path = source_find_file(d, a, file, dir);
	ret->line = line;
}

/* The frame's own line, with the folder of its unit. */
static void of_native(struct dap *d, struct arena *a, const struct stack_frame *f,
                      struct dap_source *ret)
{
	struct debuginfo *di = asyncdbg_debuginfo(d->s->handle);

	if (!f->file)
		return;
	const char *dir = di && *f->file != '/' ? code_at_directory(di, f->pc, f->file) : NULL;
	source_of_file(d, a, f->file, dir, f->line, ret);
}

void source_of_row(struct dap *d, struct arena *a, const struct stack_row *row,
                   struct dap_source *ret)
{
	*ret = (struct dap_source){ 0 };
	if (row->native) {
		of_native(d, a, row->native, ret);
	} else if (row->future) {
		source_of_file(d, a, row->future->file, NULL, row->future->line, ret);
		ret->library = row->future->library;
	}
	if (row->native && !row->native->file)
		ret->library = true;
}

void source_of_address(struct dap *d, struct arena *a, uint64_t addr, struct dap_source *ret)
{
	struct debuginfo *di = asyncdbg_debuginfo(d->s->handle);
	struct code_at at;

	*ret = (struct dap_source){ 0 };
	if (!di)
		return;
	code_at_line(di, addr, &at);
	source_of_file(d, a, at.file, at.comp_dir, at.line, ret);
}

void source_put(struct dap *d, struct json_writer *w, const char *key, const struct dap_source *at)
{
	(void)d;
	json_open_object(w, key);
	json_put_text(w, "name", str_base_name(at->path));
	json_put_text(w, "path", at->path);
	if (at->library)
		json_put_text(w, "presentationHint", "deemphasize");
	json_close_object(w);
}

int64_t source_line(const struct dap *d, unsigned line)
{
	return line && d->client.lines_from_0 ? (int64_t)line - 1 : line;
}

unsigned source_line_of_client(const struct dap *d, int64_t line)
{
	line += d->client.lines_from_0;
	return line > 0 && line <= INT_MAX ? (unsigned)line : 0;
}

/* ---- locations ---- */

struct error *dap_locations(struct dap *d, struct request *r)
{
	int64_t number = dap_number(r, "locationReference", 0);
	const struct id_location *l = ids_location(&d->ids, number);

	if (!l)
		return error_new(ERR_STATE, "place %" PRId64 " no longer exists", number);
	source_put(d, r->w, "source", &(struct dap_source){ l->path, l->line, l->library });
	json_put_int(r->w, "line", source_line(d, l->line));
	return NULL;
}

/* ---- source ---- */

struct error *dap_source(struct dap *d, struct request *r)
{
	const struct node *source = node_get(r->arguments, "source");
	const char *path = node_text(node_get(source, "path"));
	size_t len = 0;

	(void)d;
	if (!path)
		return error_new(ERR_USAGE, "\"source\" needs the path of a file");
	int fd CLEANUP(file_close) = -1;
	uint8_t *text CLEANUP(file_bytes_free) = NULL;
	TRY(file_open(path, &fd));
	TRY(file_read(fd, path, SOURCE_MAX, &text, &len));
	json_put_lines(r->w, "content", (const char *)text, len);
	json_put_text(r->w, "mimeType", "text/x-rust");
	return NULL;
}
