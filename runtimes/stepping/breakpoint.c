#include "runtimes/stepping/breakpoint.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/live/tracer.h"
#include "debugger/target/target.h"
#include "dwarf/lookup/code_places.h"
#include "dwarf/module/function_paths.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"
#include "dwarf/names/source.h"
#include "runtimes/future/future.h"
#include "runtimes/hits/predicate_filter.h"
#include "runtimes/query/first_poll.h"
#include "runtimes/query/function_named.h"
#include "runtimes/query/merged_code.h"
#include "runtimes/query/same_code.h"
#include "runtimes/stepping/debuggee.h"

/* A function of many instances has symbols in vain: the first ones tell. */
enum { MAX_SAME_CODE = 8, MAX_OWNERS = 4096 };

/* ---- what was typed ---- */

enum spec_kind { SPEC_FUNCTION, SPEC_LINE, SPEC_ADDRESS };

struct spec {
	enum spec_kind kind;
	const char *name; /* of the file or the function; in the arena */
	unsigned line;
	uint64_t addr;
};

static bool breakpoint_read_number(const char *text, int base, uint64_t max, uint64_t *ret)
{
	char *end;

	if (!*text || strchr("+- \t", *text))
		return false;
	*ret = strtoull(text, &end, base);
	return *end == '\0' && *ret <= max;
}

static bool ends_in_line(const char *text, size_t len)
{
	size_t digits = 0;

	while (digits < len && isdigit((unsigned char)text[len - 1 - digits]))
		digits++;
	return digits && digits + 1 < len && text[len - 1 - digits] == ':';
}

/* The error for text that looks like a line, and is none. */
static struct error *refuse_line(const char *text, const char *colon)
{
	if (colon && ends_in_line(text, (size_t)(colon - text)))
		return error_new(
			ERR_USAGE,
			"\"%s\" has a column, but a breakpoint is on a whole line: use %.*s", text,
			(int)(colon - text), text);
	if (*text && !text[strspn(text, "0123456789")])
		return error_new(ERR_USAGE, "\"%s\" is not a place: a line needs its file, FILE:%s",
		                 text, text);
	return NULL;
}

static struct error *breakpoint_read_spec(struct arena *a, const char *text, struct spec *ret)
{
	const char *colon = strrchr(text, ':');
	bool has_generics = strchr(text, '<') != NULL;
	uint64_t number;

	*ret = (struct spec){ .kind = SPEC_FUNCTION, .name = text };
	if (text[0] == '*' || (text[0] == '0' && text[1] == 'x')) {
		ret->kind = SPEC_ADDRESS;
		if (breakpoint_read_number(text + (text[0] == '*'), 0, UINT64_MAX, &ret->addr))
			return NULL;
		return error_new(ERR_USAGE, "\"%s\" is not an address", text);
	}
	TRY(refuse_line(text, colon));
	if (colon && colon > text && colon[-1] != ':' &&
	    breakpoint_read_number(colon + 1, 10, UINT32_MAX, &number) && number) {
		ret->kind = SPEC_LINE;
		ret->line = (unsigned)number;
		ret->name = arena_strndup(a, text, (size_t)(colon - text));
		return NULL;
	}
	if (!*text || (!has_generics && strpbrk(text, " \t")) || text[0] == ':' ||
	    (colon && colon > text && colon[-1] != ':'))
		return error_new(ERR_USAGE,
		                 "\"%s\" is not a place: use FILE:LINE, a function or 0xADDRESS",
		                 text);
	return NULL;
}

struct error *breakpoint_check(const char *text)
{
	SCRATCH(tmp);
	struct spec spec;

	return breakpoint_read_spec(&tmp, text, &spec);
}

/* ---- places ---- */

static void keep_places(struct debuginfo *di, struct breakpoint *bp,
                        const struct code_places *found, bool of_line)
{
	struct arena *a = &bp->find_arena;

	bp->places = NEW_ARRAY(a, struct breakpoint_place, found->n);
	bp->nplaces = found->n;
	for (size_t i = 0; i < found->n; i++) {
		const struct code_place *p = &found->data[i];
		const struct location at = { .name = p->function, .linkage = p->linkage };
		const char *name = coroutine_whole_name(a, &at);

		bp->places[i] = (struct breakpoint_place){
			.addr = p->addr,
			.function = name ? str_clean(a, name, strlen(name)) : NULL,
			.line = p->line,
			.inlined = p->inlined,
			.of_line = of_line,
			.breakpoint = bp,
		};
		if (p->file) {
			const char *file =
				source_of(a, p->file, p->comp_dir, NULL, debuginfo_source_dirs(di))
					.text;

			bp->places[i].file = str_clean(a, file, strlen(file));
		}
	}
}

static void breakpoint_set_note(struct breakpoint *bp, const struct spec *spec,
                                const struct code_places *found)
{
	struct arena *a = &bp->find_arena;

	bp->pending = !found->n && bp->debuggee->libraries.function;
	const char *later =
		bp->pending ? "; it is resolved when a library that has it is loaded" : "";

	if (!found->n && spec->kind == SPEC_LINE)
		bp->note = arena_printf(a, "no file of that name has code at line %u or later%s",
		                        spec->line, later);
	else if (!found->n)
		bp->note = arena_printf(
			a,
			"no function of that name has code: it does not exist, is unused, was "
			"merged with an identical function, or is generic without an instance%s%s",
			later, bp->near ? bp->near : "");
	else if (spec->kind == SPEC_LINE && found->line != spec->line)
		bp->note = arena_printf(a, "line %u has no code; line %u is the next that has",
		                        spec->line, found->line);
	else if (found->every_poll)
		bp->note = "the async function is on one line: every poll of it passes here";
}

/* The coroutines whose code the optimiser may have merged with that at the address; NULL: none. */
static const char *merged_others(const struct breakpoint *bp, struct debuginfo *di, uint64_t addr)
{
	static const struct merged_code_poller unknown;
	struct merged_code_polled polled;
	SCRATCH(tmp);
	size_t n;
	const struct location *l = lookup_functions_at(di, addr, &tmp, &n);

	if (!bp->debuggee->handle || !coroutine_is_poll(l) || l->inlined)
		return NULL;
	merged_code_polled(asyncdbg_inspector(bp->debuggee->handle), l, &unknown, &polled);
	return polled.aliases;
}

/* Says which other functions the places of a function belong to. */
static void note_same_code(struct breakpoint *bp, struct debuginfo *di)
{
	struct arena *a = &bp->find_arena;
	const char *others = NULL, *merged = NULL;

	for (size_t i = 0; i < bp->nplaces && i < MAX_SAME_CODE && !others; i++)
		others = same_code_others(di, bp->places[i].addr, a);
	for (size_t i = 0; i < bp->nplaces && i < MAX_SAME_CODE && !others && !merged; i++)
		merged = merged_others(bp, di, bp->places[i].addr);
	if (others)
		bp->note = arena_printf(a,
		                        "the linker has merged its code with that of %s: it stops "
		                        "there too, and shows this name",
		                        others);
	else if (merged)
		bp->note = arena_printf(
			a,
			"its code seems to be that of %s, too: it stops there and shows this name",
			merged);
}

/* ---- functions whose code is another one's ---- */

static bool is_body(const struct code_place *p)
{
	return p->function && coroutine_kind(p->function) != FUTURE_OTHER;
}

/* The path with the crate of an executable, which cargo names after that; "-" is "_" there. */
static const char *path_in_crate(const struct module *m, const char *name, struct arena *a)
{
	char *path = arena_strdup(a, arena_printf(a, "%s::%s", str_base_name(m->path), name));

	for (char *c = path; *c && *c != ':'; c++)
		*c = *c == '-' ? '_' : *c;
	return path;
}

/*
 * The whole path of an async function whose end was typed: from the places of its name, or in the
 * crate of the executable. NULL: none is known.
 */
static const char *async_path(struct dwarf_module *dm, const char *name,
                              const struct code_places *found, struct arena *a)
{
	for (size_t i = 0; i < found->n; i++) {
		const char *path = found->data[i].function;

		if (path && merged_code_is_async(dm, path))
			return path;
	}
	if (merged_code_is_async(dm, name))
		return name;
	const char *path = path_in_crate(dm->module, name, a);

	return merged_code_is_async(dm, path) ? path : NULL;
}

/* Puts the places of both in the order of their addresses. */
static void join_places(struct arena *a, struct code_places *to, const struct code_places *more)
{
	struct code_place *all = NEW_ARRAY(a, struct code_place, to->n + more->n);
	size_t n = 0, i = 0, j = 0;

	while (i < to->n || j < more->n) {
		bool first = j == more->n || (i < to->n && to->data[i].addr < more->data[j].addr);

		all[n++] = first ? to->data[i++] : more->data[j++];
	}
	to->line = to->n ? to->line : more->line;
	to->data = all;
	to->n = n;
}

/* Leaves the places that lie in a function. */
static void keep_inside(const struct function *f, struct code_places *places)
{
	size_t n = 0;

	for (size_t i = 0; i < places->n; i++) {
		if (places->data[i].addr >= f->low && places->data[i].addr < f->high)
			places->data[n++] = places->data[i];
	}
	places->n = n;
}

/*
 * Adds the places of the function at an address; its symbol's path may be none of debug info. A
 * coroutine has all places of that name: others of them may be those of a function that the
 * compiler has merged before the linker.
 */
static struct error *breakpoint_add_owner(struct debuginfo *di, uint64_t addr, bool is_async,
                                          struct arena *a, struct code_places *found)
{
	const struct function *f = lookup_function(di, addr);
	const char *path = same_code_path(di, addr, a);
	struct code_places places = { 0 };

	if (!f || !path)
		return NULL;
	TRY(lookup_function_places(di, path, a, &places));
	if (!is_async)
		keep_inside(f, &places);
	if (!places.n && f->name) {
		TRY(lookup_function_places(di, qualified_plain(a, f->name), a, &places));
		keep_inside(f, &places);
	}
	for (size_t i = 0; i < found->n && places.n; i++) {
		if (found->data[i].addr == places.data[0].addr)
			return NULL;
	}
	join_places(a, found, &places);
	return NULL;
}

/*
 * Adds the places of functions whose code the linker has left for the named one, too, or for some
 * of its instances. *n: how many it has added.
 */
static struct error *find_linked(struct breakpoint *bp, struct debuginfo *di, const char *name,
                                 bool is_async, struct arena *a, struct code_places *found,
                                 size_t *n)
{
	uint64_t *owners = NEW_ARRAY(a, uint64_t, MAX_OWNERS);
	size_t nowners = same_code_owners(di, name, owners, MAX_OWNERS), before = found->n;

	for (size_t i = 0; i < nowners; i++)
		TRY(breakpoint_add_owner(di, owners[i], is_async, a, found));
	*n = found->n - before;
	if (!*n)
		return NULL;
	const char *path = same_code_path(di, owners[0], a);
	const char *more = nowners > 1 ? arena_printf(a, " and %zu more", nowners - 1) : "";
	bp->note = arena_printf(&bp->find_arena,
	                        "the linker has merged %s with that of %s%s: it stops there, for "
	                        "both",
	                        before ? "code of some instances of it" : "its code", path, more);
	return NULL;
}

/*
 * Adds the places of the function with which a function that has no code of its own was merged, and
 * says so. The places of a function that only makes the future are no places of its body.
 */
static struct error *breakpoint_find_owner(struct breakpoint *bp, struct debuginfo *di,
                                           const char *name, struct arena *a,
                                           struct code_places *found)
{
	const struct module *m = di->target->modules.main;
	struct dwarf_module *dm = m ? debuginfo_module(di, m) : NULL;
	const struct code_places makers = *found;
	struct code_places of_owner = { 0 };
	size_t nlinked;

	for (size_t i = 0; i < found->n; i++) {
		if (is_body(&found->data[i]))
			return NULL;
	}
	if (!dm || strpbrk(name, "<{ "))
		return NULL;
	const char *path = async_path(dm, name, found, a);
	if (path)
		found->n = 0;
	TRY(find_linked(bp, di, name, path != NULL, a, found, &nlinked));
	if (nlinked)
		return NULL;
	const char *owner = path ? merged_code_owner(dm, path, a) : NULL;
	if (owner)
		TRY(lookup_function_places(di, owner, a, &of_owner));
	if (!of_owner.n) {
		*found = makers;
		return NULL;
	}
	join_places(a, found, &of_owner);
	bp->note = arena_printf(&bp->find_arena,
	                        "it has no code of its own, and seems to share that of %s: it "
	                        "stops there, for both",
	                        owner);
	return NULL;
}

/* Names the functions that were probably meant, if the breakpoint is to be on one that is none. */
static struct error *find_near(struct breakpoint *bp, struct debuginfo *di)
{
	const char *paths[FUNCTION_PATHS_NEAR];
	struct spec spec;
	size_t n = 0;
	STR(list);
	SCRATCH(tmp);

	if (bp->event || bp->nplaces)
		return NULL;
	TRY(breakpoint_read_spec(&tmp, bp->text, &spec));
	if (spec.kind != SPEC_FUNCTION)
		return NULL;
	TRY(function_paths_near(di, spec.name, &tmp, paths, &n));
	for (size_t i = 0; i < n; i++) {
		/* A path that equals the name has no code. */
		if (strcmp(paths[i], spec.name) != 0)
			str_printf(&list, "%s%s", list.len ? " or " : "; did you mean ", paths[i]);
	}
	if (!list.len)
		return NULL;
	bp->near = arena_printf(&bp->arena, "%s?", str_text(&list));
	bp->note = arena_printf(&bp->find_arena, "%s%s", bp->note, bp->near);
	return NULL;
}

static void clear_places(struct breakpoint *bp)
{
	arena_free(&bp->find_arena);
	bp->places = NULL;
	bp->nplaces = 0;
	bp->note = NULL;
	bp->pending = false;
}

static struct error *breakpoint_find(struct breakpoint *bp, struct debuginfo *di)
{
	SCRATCH(tmp);
	struct code_places found = { 0 };
	struct code_place at = { 0 };
	struct spec spec;

	clear_places(bp);
	if (bp->event)
		return event_break_find(bp);
	TRY(breakpoint_read_spec(&tmp, bp->text, &spec));
	if (spec.kind == SPEC_LINE) {
		TRY(lookup_line_places(di, spec.name, spec.line, &tmp, &found));
	} else if (spec.kind == SPEC_FUNCTION) {
		TRY(function_named_places(di, spec.name, &tmp, &found));
		TRY(breakpoint_find_owner(bp, di, spec.name, &tmp, &found));
	} else {
		struct region region;
		size_t n;

		if (!target_region(di->target, &tmp, spec.addr, &region) || !region.executable) {
			bp->note = "there is no code";
			return NULL;
		}
		const struct location *l = lookup_locations(di, spec.addr, &tmp, &n);

		at = (struct code_place){ .addr = spec.addr,
			                  .function = l->name,
			                  .linkage = l->linkage,
			                  .file = l->file,
			                  .comp_dir = l->comp_dir,
			                  .line = l->line,
			                  .inlined = l->inlined };
		found = (struct code_places){ .data = &at, .n = 1, .line = l->line };
	}
	keep_places(di, bp, &found, spec.kind != SPEC_ADDRESS);
	if (!bp->note)
		breakpoint_set_note(bp, &spec, &found);
	if (spec.kind == SPEC_FUNCTION && bp->nplaces && !bp->note)
		note_same_code(bp, di);
	return NULL;
}

/* breakpoint_find() and find_near() for a new breakpoint, or in a new program. */
static struct error *find_first(struct breakpoint *bp, struct debuginfo *di)
{
	bp->near = NULL;
	TRY(breakpoint_find(bp, di));
	return find_near(bp, di);
}

/* ---- internal breakpoints ---- */

static bool filter_number(void *debuggee, uint64_t number, struct tracer_filter *ret)
{
	return debuggee_number_filter(debuggee, number, ret);
}

static bool filter_condition(const struct breakpoint *bp, uint64_t pc, struct tracer_filter *ret)
{
	struct debuggee *d = bp->debuggee;
	const struct predicate_place at = { .in = d->handle ? asyncdbg_inspector(d->handle) : NULL,
		                            .pc = pc,
		                            .number_filter = filter_number,
		                            .arg = d };

	return at.in && bp->parsed && predicate_filter(&at, bp->parsed, ret);
}

static bool filter_first_poll(const struct breakpoint *bp, uint64_t pc, struct tracer_filter *ret)
{
	struct debuggee *d = bp->debuggee;
	struct debuginfo *di = debuggee_debuginfo(d);
	const struct function *f = di && d->handle ? lookup_function(di, pc) : NULL;
	struct function_lines lines;
	struct first_poll poll;
	SCRATCH(tmp);

	if (!f)
		return false;
	function_lines_read(f, &tmp, &lines);
	first_poll_read(asyncdbg_inspector(d->handle), f, &lines, &poll);
	return first_poll_filter(&poll, pc, ret);
}

/* Conditions that the tracer tests by itself, in filters[MAX_HIT_FILTERS]; NULL: none. */
static const struct tracer_filter *find_filters(const struct breakpoint_place *p,
                                                struct tracer_filter *filters)
{
	const struct breakpoint *bp = p->breakpoint;
	size_t n = 0;

	if (bp->event)
		return p->filter;
	n += filter_condition(bp, p->addr, &filters[n]);
	n += bp->task && debuggee_task_filter(bp->debuggee, bp->task, &filters[n]);
	n += p->of_line && filter_first_poll(bp, p->addr, &filters[n]);
	for (size_t i = 0; i < n; i++)
		filters[i].and_next = i + 1 < n;
	return n ? filters : NULL;
}

static struct error *breakpoint_plant(struct breakpoint_place *p)
{
	struct tracer_filter filters[MAX_HIT_FILTERS];
	const struct internal_breakpoint_options options = { .addr = p->addr,
		                                             .filter = find_filters(p, filters),
		                                             .decide = breakpoint_decide,
		                                             .kind = INTERNAL_NUMBERED,
		                                             .arg = p };

	return internal_breakpoint_add(&p->breakpoint->debuggee->control, &options, &p->internal);
}

/* Plants the places of an enabled breakpoint, and takes away those of another one. */
static struct error *breakpoint_update(struct breakpoint *bp)
{
	struct control *c = &bp->debuggee->control;

	for (size_t i = 0; i < bp->nplaces; i++) {
		struct breakpoint_place *p = &bp->places[i];
		struct error *err = NULL;

		if (bp->enabled && !p->internal && c->pid) {
			err = breakpoint_plant(p);
		} else if (!bp->enabled && p->internal) {
			err = internal_breakpoint_remove(c, p->internal);
			p->internal = NULL;
		}
		if (err)
			return error_wrap(err, "breakpoint %u at 0x%" PRIx64, bp->number, p->addr);
	}
	return NULL;
}

/* Removes the internal breakpoints of a breakpoint: its places are to be found again, or it is
 * freed. */
static struct error *breakpoint_unplant(struct breakpoint *bp)
{
	bool enabled = bp->enabled;

	bp->enabled = false;
	struct error *err = breakpoint_update(bp);
	bp->enabled = enabled;
	return err;
}

/* ---- the list ---- */

static void breakpoint_free_one(struct breakpoint *bp)
{
	event_break_free(bp->event);
	arena_free(&bp->arena);
	arena_free(&bp->condition_arena);
	arena_free(&bp->find_arena);
	free(bp);
}

static void breakpoint_remove_from(struct breakpoints *b, const struct breakpoint *bp)
{
	size_t n = 0;

	for (size_t i = 0; i < b->list.n; i++) {
		if (b->list.data[i] != bp)
			b->list.data[n++] = b->list.data[i];
	}
	b->list.n = n;
}

struct error *breakpoint_set_condition(struct breakpoint *bp, const char *text)
{
	struct arena a = { 0 };
	const struct predicate *parsed = NULL;

	if (text && *text) {
		struct error *err = predicate_parse(&a, text, &parsed);

		if (err) {
			arena_free(&a);
			return err;
		}
	}
	arena_free(&bp->condition_arena);
	bp->condition_arena = a;
	bp->condition = parsed ? arena_strdup(&bp->condition_arena, text) : NULL;
	bp->parsed = parsed;
	bp->problem = NULL;
	bp->unreadable = 0;
	bp->doubted = false;
	bp->rate = (struct hit_rate){ 0 };
	/* The tracer tests something else now. */
	TRY(breakpoint_unplant(bp));
	return breakpoint_update(bp);
}

static struct error *set_message(struct breakpoint *bp, const char *text)
{
	if (!text)
		return NULL;
	struct log_message *m = NEW(&bp->arena, struct log_message);
	bp->log = arena_strdup(&bp->arena, text);
	bp->message = m;
	return log_message_parse(&bp->arena, text, m);
}

static struct breakpoint *new_breakpoint(struct debuggee *d, const struct breakpoint_options *o)
{
	struct breakpoint *bp = calloc(1, sizeof(*bp));

	if (!bp)
		out_of_memory();
	bp->debuggee = d;
	bp->number = d->breakpoints.last + 1;
	bp->task = o->task ? arena_strdup(&bp->arena, o->task) : NULL;
	bp->skip = o->skip;
	bp->every = o->every;
	bp->temporary = o->temporary;
	bp->enabled = true;
	if (o->event == EVENT_BREAK_NONE) {
		bp->text = arena_strdup(&bp->arena, o->text);
		return bp;
	}
	bp->event = event_break_new(o->event, o->text, o->every_ns);
	bp->text =
		arena_printf(&bp->arena, "%s%s%s%s", event_break_is_catch(o->event) ? "catch " : "",
	                     event_break_name(o->event), *o->text ? " " : "", o->text);
	return bp;
}

struct error *breakpoint_add(struct debuggee *d, const struct breakpoint_options *options,
                             struct breakpoint **ret)
{
	struct breakpoints *b = &d->breakpoints;
	struct debuginfo *di = debuggee_debuginfo(d);

	TRY(options->event == EVENT_BREAK_NONE ? breakpoint_check(options->text)
	                                       : event_break_check(options->event, options->text));
	struct breakpoint *bp = new_breakpoint(d, options);
	*vec_push(&b->list) = bp;
	struct error *err = set_message(bp, options->log);
	if (!err)
		err = breakpoint_set_condition(bp, options->condition);
	if (!err && di)
		err = find_first(bp, di);
	if (!err && di && bp->event && bp->note && !bp->nplaces && !bp->pending)
		err = error_new(ERR_STATE, "%s", bp->note);
	if (!err)
		err = breakpoint_update(bp);
	if (!err)
		err = libraries_watch(d);
	if (err) {
		error_free(breakpoint_delete(bp));
		return err;
	}
	b->last++;
	*ret = bp;
	return NULL;
}

void breakpoint_count_anew(struct debuggee *d)
{
	struct breakpoints *b = &d->breakpoints;

	for (size_t i = 0; i < b->list.n; i++) {
		b->list.data[i]->hits = b->list.data[i]->unreadable = 0;
		b->list.data[i]->problem = NULL;
		b->list.data[i]->doubted = false;
	}
}

struct error *breakpoint_find_all(struct debuggee *d)
{
	struct breakpoints *b = &d->breakpoints;

	for (size_t i = 0; i < b->list.n; i++) {
		TRY(breakpoint_unplant(b->list.data[i]));
		TRY(find_first(b->list.data[i], debuggee_debuginfo(d)));
	}
	for (size_t i = 0; i < b->list.n; i++)
		TRY(breakpoint_update(b->list.data[i]));
	return libraries_watch(d);
}

struct error *breakpoint_forget_places(struct breakpoint *bp)
{
	struct error *err = breakpoint_unplant(bp);
	bool pending = bp->pending;

	clear_places(bp);
	bp->pending = pending;
	return err;
}

struct error *breakpoint_find_again(struct breakpoint *bp)
{
	TRY(breakpoint_unplant(bp));
	TRY(breakpoint_find(bp, debuggee_debuginfo(bp->debuggee)));
	return breakpoint_update(bp);
}

const char *breakpoint_noun(const struct breakpoint *bp)
{
	return bp->message ? "logpoint" : "breakpoint";
}

struct breakpoint *breakpoint_numbered(struct breakpoints *b, unsigned number)
{
	for (size_t i = 0; i < b->list.n; i++) {
		if (b->list.data[i]->number == number)
			return b->list.data[i];
	}
	return NULL;
}

struct error *breakpoint_enable(struct breakpoint *bp, bool enabled)
{
	bp->enabled = enabled;
	return breakpoint_update(bp);
}

struct error *breakpoint_delete(struct breakpoint *bp)
{
	struct debuggee *d = bp->debuggee;
	struct error *err = breakpoint_unplant(bp);

	if (d->breakpoint == bp)
		d->breakpoint = NULL;
	breakpoint_remove_from(&d->breakpoints, bp);
	breakpoint_free_one(bp);
	return err;
}

void breakpoint_free_all(struct debuggee *d)
{
	struct breakpoints *b = &d->breakpoints;

	for (size_t i = 0; i < b->list.n; i++)
		breakpoint_free_one(b->list.data[i]);
	vec_free(&b->list);
}
