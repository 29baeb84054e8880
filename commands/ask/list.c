/* list: source text around the place in focus, or another one. */
#include <limits.h>
#include <string.h>

#include "commands/ask/ask.h"
#include "commands/base/focus.h"
#include "commands/parts/parts.h"
#include "debugger/base/str.h"
#include "dwarf/code/source_path.h"
#include "runtimes/query/function_named.h"

enum { LIST_WANTS = WANT_TASKS | WANT_RUNNING | WANT_STACKS, NAMED = 4 };

/* Reads "41"; false: it is no number of a line. */
static bool list_read_line(const char *text, unsigned *ret)
{
	struct error *err CLEANUP(error_freep) = NULL;
	uint64_t number = 0;

	err = words_number(text, "a line", UINT_MAX, &number);
	*ret = (unsigned)number;
	return !err && number;
}

/* Splits "src/main.rs:41"; *file NULL: it is the name of a function. */
static struct error *list_read_place(const char *text, struct arena *a, const char **file,
                                     unsigned *line)
{
	const char *colon = strrchr(text, ':');

	*file = NULL;
	if (!colon || colon == text || colon[-1] == ':')
		return *text && text[0] != ':' && !strpbrk(text, " \t")
		               ? NULL
		               : error_new(ERR_USAGE,
		                           "\"%s\" is not a place: use FILE:LINE, a function, or a "
		                           "line number",
		                           text);
	if (!list_read_line(colon + 1, line))
		return error_new(ERR_USAGE, "\"%s\" is not a line such as src/main.rs:41",
		                 colon + 1);
	*file = arena_strndup(a, text, (size_t)(colon - text));
	return NULL;
}

static struct error *check_list(const struct call *call)
{
	const char *word = call->args.n ? call->args.word[0] : "-", *file;
	unsigned line;
	SCRATCH(tmp);

	if (strcmp(word, "-") == 0 || list_read_line(word, &line))
		return NULL;
	return list_read_place(word, &tmp, &file, &line);
}

static struct error *list_debuginfo_of(const struct session *s, struct debuginfo **ret)
{
	*ret = asyncdbg_debuginfo(s->handle);
	if (*ret)
		return NULL;
	return error_new(asyncdbg_kind(s->handle) == ASYNCDBG_SAVED ? ERR_STATE : ERR_USAGE,
	                 "no debug info to search: name a process, a core or an executable");
}

/* Adds the directory of the unit to a place of a snapshot, which has only the file. */
static struct error *add_directory(const struct session *s, struct arena *a,
                                   struct source_line *place)
{
	struct debuginfo *di = asyncdbg_debuginfo(s->handle);
	struct source_path *found;
	size_t n;

	if (!di)
		return NULL;
	TRY(source_path_find(di, place->file, a, &found, &n));
	if (n) {
		place->file = found[0].file;
		place->comp_dir = found[0].comp_dir;
	}
	return NULL;
}

/* ---- places ---- */

/* Finds the line of the frame in focus, and keeps it in the session: *ret borrows from there. */
static struct error *find_focus(struct session *s, struct arena *a, struct source_line *ret)
{
	const struct snapshot *snap;

	*ret = s->listed.focus;
	if (ret->file)
		return NULL;
	TRY(session_snapshot(s, LIST_WANTS, NULL, &snap));
	TRY(focus_line(s, snap, ret));
	TRY(add_directory(s, a, ret));
	listing_set_focus(s, ret);
	*ret = s->listed.focus;
	return NULL;
}

static const char *list_display_of(const struct session *s, struct arena *a, const char *file,
                                   const char *comp_dir)
{
	return source_path_of(asyncdbg_debuginfo(s->handle), a, file, comp_dir).text;
}

/* Names the first few of several files or places. */
static struct error *list_several(const char *typed, struct str *names, size_t left)
{
	if (left)
		str_printf(names, " and %zu more", left);
	return error_new(ERR_USAGE, "\"%s\" is ambiguous: %s", typed, str_text(names));
}

static struct error *list_find_file(struct session *s, const char *typed, struct arena *a,
                                    struct source_line *ret)
{
	struct debuginfo *di = NULL;
	struct source_path *found;
	size_t n, exact = 0;
	STR(names);

	TRY(list_debuginfo_of(s, &di));
	TRY(source_path_find(di, typed, a, &found, &n));
	if (!n)
		return error_new(ERR_STATE, "no code of this program comes from a file %s", typed);
	for (size_t i = 0; i < n; i++) {
		const char *name = list_display_of(s, a, found[i].file, found[i].comp_dir);

		if (i < NAMED)
			str_printf(&names, "%s%s", i ? ", " : "", name);
		if (strcmp(name, typed) == 0 && !exact++)
			found[0] = found[i];
	}
	if (n > 1 && exact != 1)
		return list_several(typed, &names, n > NAMED ? n - NAMED : 0);
	*ret = (struct source_line){ .file = found[0].file,
		                     .comp_dir = found[0].comp_dir,
		                     .display = list_display_of(s, a, found[0].file,
		                                                found[0].comp_dir) };
	return NULL;
}

/* The line where the functions of a name begin: all instances of a function share it. */
static struct error *list_find_function(struct session *s, const char *typed, struct arena *a,
                                        struct source_line *ret)
{
	struct code_places places;
	struct debuginfo *di = NULL;
	size_t others = 0;
	STR(names);

	TRY(list_debuginfo_of(s, &di));
	TRY(function_named_places(di, typed, a, &places));
	if (!places.n)
		return error_new(ERR_STATE, "no function named %s has code", typed);
	const struct code_place *first = &places.data[0];
	*ret = (struct source_line){ .file = first->file,
		                     .comp_dir = first->comp_dir,
		                     .display = list_display_of(s, a, first->file, first->comp_dir),
		                     .line = first->line };
	str_printf(&names, "%s:%u", ret->display, ret->line);
	for (size_t i = 1; i < places.n; i++) {
		const struct code_place *p = &places.data[i];

		if (p->line == ret->line && strcmp(p->file, ret->file) == 0)
			continue;
		if (++others < NAMED)
			str_printf(&names, ", %s:%u", list_display_of(s, a, p->file, p->comp_dir),
			           p->line);
	}
	if (others)
		return list_several(typed, &names, others < NAMED ? 0 : others + 1 - NAMED);
	return NULL;
}

/* ---- the command ---- */

/* Lines to show. */
struct choice {
	struct source_line place;
	unsigned first, n;
};

/* Chooses the lines of a call without a name. */
static struct error *choose_next(struct session *s, const char *word, struct arena *a,
                                 struct choice *ret)
{
	bool any = s->listed.place.file != NULL, back = word && strcmp(word, "-") == 0;
	struct source_line *place = &ret->place;
	unsigned line;

	*place = s->listed.place;
	if (!any)
		TRY(find_focus(s, a, place));
	if (word && !back) {
		list_read_line(word, &line);
		place->line = line;
		ret->first = listing_first(line);
		return NULL;
	}
	ret->first = any && !back ? s->listed.end : any ? place->line : listing_first(place->line);
	if (!back)
		return NULL;
	if (ret->first <= 1)
		return error_new(ERR_STATE, "the first lines of %s were shown",
		                 place->display ? place->display : place->file);
	ret->n = ret->first > LISTING_LINES ? LISTING_LINES : ret->first - 1;
	ret->first -= ret->n;
	return NULL;
}

static struct error *list_choose(struct session *s, const struct call *call, struct arena *a,
                                 struct choice *ret)
{
	const char *word = call->args.n ? call->args.word[0] : NULL, *file;
	unsigned line = 0;

	ret->n = LISTING_LINES;
	if (!word || strcmp(word, "-") == 0 || list_read_line(word, &line))
		return choose_next(s, word, a, ret);
	TRY(list_read_place(word, a, &file, &line));
	TRY(file ? list_find_file(s, file, a, &ret->place)
	         : list_find_function(s, word, a, &ret->place));
	if (file)
		ret->place.line = line;
	ret->first = listing_first(ret->place.line);
	return NULL;
}

static struct error *run_list(struct session *s, const struct answer *answer,
                              const struct call *call, struct out *out)
{
	struct listing *listing = NEW(&s->answer, struct listing);
	struct choice c = { 0 };
	SCRATCH(tmp);

	TRY(list_choose(s, call, &tmp, &c));
	TRY(listing_read(s, &c.place, c.first, c.n, out->options.messages, &s->answer, listing));
	out_begin(out, answer);
	part_listing(out, listing);
	return NULL;
}

const struct command list_command = {
	.name = "list",
	.args = "[FILE:LINE | FUNCTION | LINE | -]",
	.max_args = 1,
	.check = check_list,
	.summary = "List source lines around the selected frame, or another place",
	.help = "    Repeated: the next lines; with -, the ones before. Source files are looked\n"
		"    for where the debug info says, in Cargo's directories and in rust-src, and\n"
		"    by --source-map FROM=TO and set source-map.",
	.offline = true,
	.of_program = true,
	.goes_on = true,
	.run = run_list,
};
