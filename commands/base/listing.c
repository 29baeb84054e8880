#include "commands/base/listing.h"

#include <string.h>
#include <sys/stat.h>

#include "commands/base/session.h"
#include "debugger/base/str.h"
#include "debugger/target/module.h"
#include "debugger/target/target.h"
#include "dwarf/code/source_file.h"

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

/* Replaces what is kept; the places may be in its arena. */
static void keep(struct session *s, const struct source_line *place, unsigned end,
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
	keep(s, &(struct source_line){ 0 }, 0, place);
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

/* When the program was linked, by its file; 0: unknown. */
static int64_t built(const struct session *s)
{
	const struct target *t = asyncdbg_target(s->handle);
	struct stat st;

	if (!t || !t->main_module || !t->main_module->file || stat(t->main_module->file, &st) != 0)
		return 0;
	return st.st_mtim.tv_sec;
}

static void warn_of_newer(struct session *s, const struct source_text *t, FILE *messages)
{
	int64_t when = built(s);
	SCRATCH(tmp);

	if (when && t->modified > when && source_files_is_news(&s->sources, t))
		fprintf(messages,
		        "asyncdbg: %s is newer than the program: its lines may have moved\n",
		        str_clean(&tmp, t->path, strlen(t->path)));
}

static struct error *open_text(struct session *s, const struct source_line *place,
                               const struct source_text **ret)
{
	if (!place->file)
		return error_new(ERR_STATE, "the source file of this code is not known");
	return source_files_open(&s->sources, place->file, place->comp_dir, ret);
}

static bool is_same_file(const struct source_line *a, const struct source_line *b)
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
	warn_of_newer(s, t, messages);
	*ret = (struct listing){ .file = str_clean(a, name, strlen(name)),
		                 .path = str_clean(a, t->path, strlen(t->path)),
		                 .moved = t->moved,
		                 .first = first,
		                 .lines = NEW_ARRAY(a, const char *, LISTING_LINES) };
	while (ret->nlines < LISTING_LINES && ret->nlines < n && first + ret->nlines <= t->nlines) {
		ret->lines[ret->nlines] = source_text_line(t, first + (unsigned)ret->nlines, a);
		ret->nlines++;
	}
	if (is_same_file(place, &s->listed.focus))
		ret->current = s->listed.focus.line;
	struct source_line shown = *place;
	shown.line = first;
	keep(s, &shown, first + (unsigned)ret->nlines, &s->listed.focus);
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
	warn_of_newer(s, t, messages);
	return source_text_line(t, place->line, a);
}
