#include "commands/base/listing.h"

#include <string.h>
#include <sys/stat.h>

#include "commands/base/session.h"
#include "debugger/base/str.h"
#include "debugger/target/module.h"
#include "debugger/target/target.h"
#include "dwarf/code/source_file.h"
#include "dwarf/code/source_path.h"

unsigned listing_first(unsigned line)
{
	return line > LISTING_LINES / 2 ? line - LISTING_LINES / 2 : 1;
}

/* Copies a place into arena a. */
static struct source_line copy_place(struct arena *a, const struct source_line *p)
{
	return (struct source_line){
		.file = p->file ? arena_strdup(a, p->file) : NULL,
		.comp_dir = p->comp_dir ? arena_strdup(a, p->comp_dir) : NULL,
		.display = p->display ? arena_strdup(a, p->display) : NULL,
		.line = p->line,
	};
}

/* Replaces the last listing; the new places may be in its arena. */
static void listing_keep(struct session *s, const struct source_line *place, unsigned end,
                         const struct source_line *focus)
{
	struct listed *l = &s->listed, old = *l;

	*l = (struct listed){ .end = end };
	l->place = copy_place(&l->arena, place);
	l->focus = copy_place(&l->arena, focus);
	arena_free(&old.arena);
}

void listing_set_focus(struct session *s, const struct source_line *place)
{
	listing_keep(s, &(struct source_line){ 0 }, 0, place);
}

void listing_forget(struct session *s)
{
	/* The arena may be that of a copy of the session. */
	s->listed.place = s->listed.focus = (struct source_line){ 0 };
	s->listed.end = 0;
}

void listing_close(struct session *s)
{
	arena_free(&s->listed.arena);
	s->listed = (struct listed){ 0 };
	source_files_close(&s->sources);
}

/* Time at which a module was linked, by its file; 0: unknown. */
static int64_t listing_linked(const struct module *m)
{
	struct stat st;

	return m && m->file && stat(m->file, &st) == 0 ? st.st_mtim.tv_sec : 0;
}

/*
 * The module that has code of a file: a plugin is often built after the program that loads it.
 * NULL: not known.
 */
static const struct module *module_with(const struct session *s, const char *file)
{
	struct debuginfo *di = asyncdbg_debuginfo(s->handle);
	struct source_path *found;
	size_t n = 0;
	SCRATCH(tmp);
	struct error *err = di ? source_path_find(di, file, &tmp, &found, &n) : NULL;

	error_free(err);
	return !err && n ? found[0].module : NULL;
}

static void warn_of_newer(struct session *s, const struct source_line *place,
                          const struct source_text *t, FILE *messages)
{
	const struct target *target = asyncdbg_target(s->handle);
	const struct module *m = target ? target->modules.main : NULL;
	SCRATCH(tmp);

	/* The module is looked for where the answer may depend on it. */
	if (!listing_linked(m) || t->modified <= listing_linked(m))
		return;
	const struct module *of = module_with(s, place->file);
	m = of ? of : m;
	if (t->modified <= listing_linked(m) || !source_files_is_news(&s->sources, t))
		return;
	fprintf(messages, "asyncdbg: %s is newer than %s: its lines may have moved\n",
	        str_clean(&tmp, t->path, strlen(t->path)), m->is_main ? "the program" : m->path);
}

static struct error *open_text(struct session *s, const struct source_line *place,
                               const struct source_text **ret)
{
	if (!place->file)
		return error_new(ERR_STATE, "the source file of this code is not known");
	return source_files_open(&s->sources, place->file, place->comp_dir, ret);
}

static bool listing_is_same_file(const struct source_line *a, const struct source_line *b)
{
	return a->file && b->file && strcmp(a->file, b->file) == 0;
}

struct error *listing_read(struct session *s, const struct source_line *place, unsigned first,
                           unsigned n, FILE *messages, struct arena *a, struct listing *ret)
{
	const char *name = place->display ? place->display : place->file;
	const struct source_text *t;

	TRY(open_text(s, place, &t));
	if (first > t->nlines)
		return error_new(ERR_STATE, "%s has no line %u; it has %zu", name,
		                 place->line > t->nlines ? place->line : first, t->nlines);
	warn_of_newer(s, place, t, messages);
	*ret = (struct listing){ .file = str_clean(a, name, strlen(name)),
		                 .path = str_clean(a, t->path, strlen(t->path)),
		                 .moved = t->moved,
		                 .first = first,
		                 .lines = NEW_ARRAY(a, const char *, LISTING_LINES) };
	while (ret->nlines < LISTING_LINES && ret->nlines < n && first + ret->nlines <= t->nlines) {
		ret->lines[ret->nlines] = source_text_line(t, first + (unsigned)ret->nlines, a);
		ret->nlines++;
	}
	if (listing_is_same_file(place, &s->listed.focus))
		ret->current = s->listed.focus.line;
	struct source_line shown = *place;
	shown.line = first;
	listing_keep(s, &shown, first + (unsigned)ret->nlines, &s->listed.focus);
	return NULL;
}

const char *listing_line(struct session *s, const struct source_line *place, FILE *messages,
                         struct arena *a)
{
	const struct source_text *t;

	if (!place->file || !place->line)
		return NULL;
	struct error *err CLEANUP(error_freep) = open_text(s, place, &t);
	if (err)
		return NULL;
	warn_of_newer(s, place, t, messages);
	return source_text_line(t, place->line, a);
}
