/* Breakpoints: requests that set them, events of them, and breakpointLocations. */
#include "commands/dap/breakpoints.h"

#include <inttypes.h>
#include <string.h>

#include "commands/base/interval.h"
#include "commands/dap/exceptions.h"
#include "commands/dap/source.h"
#include "debugger/base/str.h"
#include "dwarf/code/source_path.h"
#include "dwarf/lookup/code_places.h"

enum { MAX_BREAKPOINTS = 4096 };

/* A breakpoint as the client requests it. */
struct breakpoints_wanted {
	enum dap_breakpoint_kind kind;
	const char *source; /* of the client; NULL: it has none */
	const char *place;  /* as for the command break, but for the path of a line */
	unsigned line;
	enum event_break_kind event;
	uint64_t every_ns; /* of a deadlock */
	const char *condition, *hits, *log;
};

/* ---- state known to the client ---- */

static struct dap_reported state_of(const struct breakpoint *bp)
{
	const struct breakpoint_place *place = bp->nplaces ? &bp->places[0] : NULL;

	return (struct dap_reported){
		.number = bp->number,
		.addr = place ? place->addr : 0,
		.line = place ? place->line : 0,
		/* Deadlocks have no place: they are found by looks at the program. */
		.verified = place || (bp->event && !bp->note),
		.pending = bp->pending,
	};
}

static void keep_reported(struct dap *d, const struct dap_reported *now)
{
	size_t i = 0;

	while (i < d->reported.n && d->reported.data[i].number != now->number)
		i++;
	if (i == d->reported.n)
		vec_push(&d->reported);
	d->reported.data[i] = *now;
}

static void forget_reported(struct dap *d, unsigned number)
{
	size_t n = 0;

	for (size_t i = 0; i < d->reported.n; i++) {
		if (d->reported.data[i].number != number)
			d->reported.data[n++] = d->reported.data[i];
	}
	d->reported.n = n;
}

/* ---- the list ---- */

/* A text that is equal for equal requests. */
static const char *key_of(struct arena *a, const struct breakpoints_wanted *w)
{
	return arena_printf(a, "%s:%u\n%s\n%s\n%s", w->place, w->line,
	                    w->condition ? w->condition : "", w->hits ? w->hits : "",
	                    w->log ? w->log : "");
}

static bool breakpoints_is_of(const struct dap_breakpoint *b, enum dap_breakpoint_kind kind,
                              const char *source)
{
	return b->kind == kind && (!source || strcmp(b->source, source) == 0);
}

static struct breakpoint *find_same(struct dap *d, const struct breakpoints_wanted *w,
                                    const char *key)
{
	for (size_t i = 0; i < d->breakpoints.n; i++) {
		struct dap_breakpoint *b = &d->breakpoints.data[i];

		if (b->wanted || !breakpoints_is_of(b, w->kind, w->source) ||
		    strcmp(b->key, key) != 0)
			continue;
		struct breakpoint *bp = breakpoint_numbered(&d->s->debuggee.breakpoints, b->number);
		b->wanted = bp != NULL;
		if (bp)
			return bp;
	}
	return NULL;
}

static void breakpoints_begin_list(struct dap *d)
{
	for (size_t i = 0; i < d->breakpoints.n; i++)
		d->breakpoints.data[i].wanted = false;
}

/* Deletes the breakpoints of the kind and source that are no longer wanted. */
static struct error *breakpoints_end_list(struct dap *d, enum dap_breakpoint_kind kind,
                                          const char *source)
{
	struct session *s = d->s;
	size_t n = 0;

	for (size_t i = 0; i < d->breakpoints.n; i++) {
		struct dap_breakpoint *b = &d->breakpoints.data[i];
		bool goes = !b->wanted && breakpoints_is_of(b, kind, source);
		struct breakpoint *bp =
			goes ? breakpoint_numbered(&s->debuggee.breakpoints, b->number) : NULL;

		if (goes)
			forget_reported(d, b->number);
		if (bp)
			TRY(breakpoint_delete(bp));
		if (!goes)
			d->breakpoints.data[n++] = *b;
	}
	d->breakpoints.n = n;
	return NULL;
}

/* ---- one breakpoint ---- */

struct error *breakpoints_read_hits(const char *text, uint64_t *skip, uint64_t *every)
{
	bool more = text[0] == '>' && text[1] != '=', from = text[0] == '>' && text[1] == '=';
	bool each = text[0] == '%';
	const char *digits = text + more + each + 2 * from;
	uint64_t n = 0;

	digits += strspn(digits, " ");
	struct error *err = words_number(digits, "a number of hits", UINT32_MAX, &n);
	if (err || (!more && n == 0)) {
		error_free(err);
		return error_new(ERR_UNSUPPORTED,
		                 "hit conditions are a number from 1, or >=, > or %% and a number");
	}
	*skip = each ? 0 : n - !more;
	*every = each ? n : 0;
	return NULL;
}

static const char *without_first(const char *path)
{
	const char *slash = strchr(path + 1, '/');

	return slash ? slash + 1 : NULL;
}

static bool has_folders(const char *path)
{
	const char *slash = strchr(path, '/');

	return slash && strchr(slash + 1, '/');
}

/*
 * The path in the debug info of a file that the client has elsewhere: the one that has the longest
 * end in common, of three components at least, or it is the only one. NULL: none.
 */
static struct error *find_elsewhere(struct dap *d, const char *path, struct arena *a,
                                    const char **ret)
{
	struct debuginfo *di = asyncdbg_debuginfo(d->s->handle);
	struct source_path *found;
	size_t n = 0;

	*ret = NULL;
	for (const char *end = path; di && !n && (end = without_first(end));) {
		TRY(source_path_find(di, end, a, &found, &n));
		if (n == 1 || (n && has_folders(end)))
			*ret = *found->file == '/' || !found->comp_dir
			               ? found->file
			               : arena_printf(a, "%s/%s", found->comp_dir, found->file);
	}
	return NULL;
}

/* A program that was built elsewhere has other folders in its paths. */
static struct error *breakpoints_add_line(struct dap *d, const struct breakpoints_wanted *w,
                                          struct breakpoint_options *options, struct arena *a,
                                          struct breakpoint **ret)
{
	const char *path = paths_from_client(&d->paths, a, w->place), *there;

	options->text = arena_printf(a, "%s:%u", path, w->line);
	TRY(breakpoint_add(&d->s->debuggee, options, ret));
	if ((*ret)->nplaces)
		return NULL;
	TRY(find_elsewhere(d, path, a, &there));
	if (!there)
		return NULL;
	TRY(breakpoint_delete(*ret));
	options->text = arena_printf(a, "%s:%u", there, w->line);
	return breakpoint_add(&d->s->debuggee, options, ret);
}

static struct error *breakpoints_add(struct dap *d, const struct breakpoints_wanted *w,
                                     struct arena *a, struct breakpoint **ret)
{
	struct breakpoint_options options = { .text = w->event == EVENT_BREAK_NONE ? w->place : "",
		                              .event = w->event,
		                              .every_ns = w->every_ns,
		                              .condition = w->condition,
		                              .log = w->log && *w->log ? w->log : NULL };
	const char *key = key_of(a, w);

	*ret = find_same(d, w, key);
	if (*ret)
		return NULL;
	if (d->breakpoints.n >= MAX_BREAKPOINTS)
		return error_new(ERR_UNSUPPORTED, "too many breakpoints");
	if (d->post_mortem)
		return error_new(ERR_UNSUPPORTED, "post-mortem: the program cannot run");
	if (w->hits && *w->hits)
		TRY(breakpoints_read_hits(w->hits, &options.skip, &options.every));
	TRY(w->line ? breakpoints_add_line(d, w, &options, a, ret)
	            : breakpoint_add(&d->s->debuggee, &options, ret));
	*vec_push(&d->breakpoints) = (struct dap_breakpoint){
		.kind = w->kind,
		.number = (*ret)->number,
		.source = w->source ? arena_strdup(&d->arena, w->source) : NULL,
		.key = arena_strdup(&d->arena, key),
		.wanted = true,
	};
	return NULL;
}

/* ---- events and answers ---- */

/* The path that the client has asked with; else that of the code. */
static void put_source(struct dap *d, struct json_writer *w, const struct breakpoint *bp)
{
	struct dap_source at;
	SCRATCH(tmp);

	source_of_address(d, &tmp, bp->places[0].addr, &at);
	for (size_t i = 0; i < d->breakpoints.n; i++) {
		const struct dap_breakpoint *b = &d->breakpoints.data[i];

		if (b->number == bp->number && b->source)
			at.path = b->source;
	}
	if (at.path)
		source_put(d, w, "source", &at);
}

void breakpoints_put(struct dap *d, struct json_writer *w, const char *key,
                     const struct breakpoint *bp)
{
	const struct dap_reported now = state_of(bp);
	char address[32];

	keep_reported(d, &now);
	json_open_object(w, key);
	json_put_int(w, "id", bp->number);
	json_put_bool(w, "verified", now.verified);
	if (!now.verified)
		json_put_text(w, "reason", now.pending ? "pending" : "failed");
	if (bp->note)
		json_put_text(w, "message", bp->note);
	if (now.line)
		json_put_int(w, "line", source_line(d, now.line));
	if (bp->nplaces) {
		put_source(d, w, bp);
		snprintf(address, sizeof(address), "0x%" PRIx64, now.addr);
		json_put_text(w, "instructionReference", address);
	}
	json_close_object(w);
}

/* bp: NULL where it was deleted. */
static void send_change(struct dap *d, unsigned number, const struct breakpoint *bp)
{
	struct message *m = message_event("breakpoint");

	json_put_text(&m->w, "reason", bp ? "changed" : "removed");
	if (bp) {
		breakpoints_put(d, &m->w, "breakpoint", bp);
	} else {
		json_open_object(&m->w, "breakpoint");
		json_put_int(&m->w, "id", number);
		json_put_bool(&m->w, "verified", false);
		json_close_object(&m->w);
		forget_reported(d, number);
	}
	message_send(m, &d->sender);
}

void breakpoints_send_changes(struct dap *d)
{
	if (d->state == DAP_ENDED) /* the next program, if there is one, has other places */
		return;
	for (size_t i = d->reported.n; i-- > 0;) {
		const struct dap_reported old = d->reported.data[i];
		const struct breakpoint *bp =
			breakpoint_numbered(&d->s->debuggee.breakpoints, old.number);
		const struct dap_reported now = bp ? state_of(bp) : old;

		if (!bp || now.addr != old.addr || now.line != old.line ||
		    now.verified != old.verified || now.pending != old.pending)
			send_change(d, old.number, bp);
	}
}

/* ---- answers ---- */

/* Writes the answer for one that cannot be; frees err. */
static void put_refused(struct request *r, struct error *err)
{
	json_open_object(r->w, NULL);
	json_put_bool(r->w, "verified", false);
	json_put_text(r->w, "reason", "failed");
	json_put_text(r->w, "message", err->message);
	json_close_object(r->w);
	error_free(err);
}

/* Adds a breakpoint and writes its state, or the reason why it cannot be added. */
static struct error *breakpoints_put_wanted(struct dap *d, struct request *r,
                                            const struct breakpoints_wanted *w)
{
	struct breakpoint *bp;
	struct error *err = breakpoints_add(d, w, r->a, &bp);

	if (!err) {
		breakpoints_put(d, r->w, NULL, bp);
		return NULL;
	}
	if (err->kind != ERR_USAGE && err->kind != ERR_UNSUPPORTED && err->kind != ERR_STATE)
		return err;
	put_refused(r, err);
	return NULL;
}

/* ---- requests ---- */

static void breakpoints_read_conditions(const struct node *n, struct breakpoints_wanted *ret)
{
	ret->condition = node_text(node_get(n, "condition"));
	ret->hits = node_text(node_get(n, "hitCondition"));
	ret->log = node_text(node_get(n, "logMessage"));
}

static struct error *put_lines(struct dap *d, struct request *r, const char *path)
{
	const struct node *list = node_get(r->arguments, "breakpoints");

	for (const struct node *n = node_first(list); n; n = n->next) {
		struct breakpoints_wanted w = {
			.kind = DAP_LINE,
			.source = path,
			.place = path,
			.line = source_line_of_client(d, node_number(node_get(n, "line"), 0)),
		};

		if (!w.line)
			return error_new(ERR_USAGE, "a breakpoint has no line");
		breakpoints_read_conditions(n, &w);
		TRY(breakpoints_put_wanted(d, r, &w));
	}
	return NULL;
}

struct error *dap_set_breakpoints(struct dap *d, struct request *r)
{
	const char *path = node_text(node_get(node_get(r->arguments, "source"), "path"));

	if (!path || !*path)
		return error_new(ERR_USAGE, "\"setBreakpoints\" needs the path of a source");
	breakpoints_begin_list(d);
	json_open_array(r->w, "breakpoints");
	TRY(put_lines(d, r, path));
	json_close_array(r->w);
	return breakpoints_end_list(d, DAP_LINE, path);
}

struct error *dap_set_function_breakpoints(struct dap *d, struct request *r)
{
	const struct node *list = node_get(r->arguments, "breakpoints");

	breakpoints_begin_list(d);
	json_open_array(r->w, "breakpoints");
	for (const struct node *n = node_first(list); n; n = n->next) {
		struct breakpoints_wanted w = { .kind = DAP_FUNCTION,
			                        .place = node_text(node_get(n, "name")) };

		if (!w.place)
			return error_new(ERR_USAGE, "a function breakpoint has no name");
		breakpoints_read_conditions(n, &w);
		TRY(breakpoints_put_wanted(d, r, &w));
	}
	json_close_array(r->w);
	return breakpoints_end_list(d, DAP_FUNCTION, NULL);
}

struct error *dap_set_instruction_breakpoints(struct dap *d, struct request *r)
{
	const struct node *list = node_get(r->arguments, "breakpoints");

	breakpoints_begin_list(d);
	json_open_array(r->w, "breakpoints");
	for (const struct node *n = node_first(list); n; n = n->next) {
		const char *text = node_text(node_get(n, "instructionReference"));
		int64_t offset = node_number(node_get(n, "offset"), 0);
		struct breakpoints_wanted w = { .kind = DAP_INSTRUCTION };
		uint64_t addr;

		TRY(words_address(text ? text : "", &addr));
		w.place = arena_printf(r->a, "0x%" PRIx64, addr + (uint64_t)offset);
		breakpoints_read_conditions(n, &w);
		TRY(breakpoints_put_wanted(d, r, &w));
	}
	json_close_array(r->w);
	return breakpoints_end_list(d, DAP_INSTRUCTION, NULL);
}

/* ---- breakpointLocations ---- */

/* Writes the lines from one to another that have code; *any: whether there is code behind first. */
static struct error *put_code_lines(struct dap *d, struct request *r, const char *file,
                                    unsigned first, unsigned last, bool *any)
{
	struct debuginfo *di = asyncdbg_debuginfo(d->s->handle);
	struct code_places places;

	*any = false;
	for (unsigned i = 0; i < MAX_BREAKPOINTS && first <= last; i++) {
		TRY(lookup_line_places(di, file, first, r->a, &places));
		*any |= places.n != 0;
		if (!places.n || places.line < first || places.line > last)
			break;
		json_open_object(r->w, NULL);
		json_put_int(r->w, "line", source_line(d, places.line));
		json_close_object(r->w);
		first = places.line + 1;
	}
	return NULL;
}

struct error *dap_breakpoint_locations(struct dap *d, struct request *r)
{
	const char *path = node_text(node_get(node_get(r->arguments, "source"), "path"));
	const struct node *end = node_get(r->arguments, "endLine");
	unsigned first = source_line_of_client(d, dap_number(r, "line", -1));
	unsigned last = end ? source_line_of_client(d, node_number(end, -1)) : first;
	const char *there;
	bool any;

	if (!path || !*path || !first || !last)
		return error_new(ERR_USAGE,
		                 "\"breakpointLocations\" needs the path of a source and a line");
	if (!asyncdbg_debuginfo(d->s->handle))
		return error_new(ERR_STATE, "a saved snapshot has no code");
	json_open_array(r->w, "breakpoints");
	path = paths_from_client(&d->paths, r->a, path);
	TRY(put_code_lines(d, r, path, first, last, &any));
	if (!any) {
		TRY(find_elsewhere(d, path, r->a, &there));
		if (there)
			TRY(put_code_lines(d, r, there, first, last, &any));
	}
	json_close_array(r->w);
	return NULL;
}

/* ---- exceptions ---- */

/* The condition of a deadlock is a time. */
static struct error *read_every(struct breakpoints_wanted *w)
{
	const double nsec = 1e9;
	double seconds = 1;

	if (w->event != EVENT_BREAK_DEADLOCK)
		return NULL;
	if (w->condition && *w->condition)
		TRY(interval_read(w->condition, &seconds));
	w->condition = NULL;
	w->every_ns = (uint64_t)(seconds * nsec);
	return w->every_ns ? NULL
	                   : error_new(ERR_USAGE, "the time between two checks must be above 0");
}

static struct error *put_exception(struct dap *d, struct request *r, const char *id,
                                   const char *condition)
{
	struct breakpoints_wanted w = { .kind = DAP_EXCEPTION, .condition = condition };

	TRY(exceptions_find(id, &w.event));
	w.place = condition ? arena_printf(r->a, "%s %s", id, condition) : id;
	struct error *err = read_every(&w);
	if (!err)
		return breakpoints_put_wanted(d, r, &w);
	put_refused(r, err);
	return NULL;
}

struct error *dap_set_exception_breakpoints(struct dap *d, struct request *r)
{
	const struct node *list = node_get(r->arguments, "filters");
	const struct node *options = node_get(r->arguments, "filterOptions");

	breakpoints_begin_list(d);
	json_open_array(r->w, "breakpoints");
	for (const struct node *n = node_first(list); n; n = n->next)
		TRY(put_exception(d, r, node_text(n), NULL));
	for (const struct node *n = node_first(options); n; n = n->next)
		TRY(put_exception(d, r, node_text(node_get(n, "filterId")),
		                  node_text(node_get(n, "condition"))));
	json_close_array(r->w);
	return breakpoints_end_list(d, DAP_EXCEPTION, NULL);
}

enum dap_breakpoint_kind breakpoints_kind(const struct dap *d, const struct breakpoint *bp)
{
	for (size_t i = 0; i < d->breakpoints.n; i++) {
		if (d->breakpoints.data[i].number == bp->number)
			return d->breakpoints.data[i].kind;
	}
	return DAP_LINE;
}

void breakpoints_send_new(struct dap *d, unsigned last)
{
	const struct breakpoints *all = &d->s->debuggee.breakpoints;

	for (size_t i = 0; i < all->list.n; i++) {
		if (all->list.data[i]->number <= last)
			continue;
		struct message *m = message_event("breakpoint");

		json_put_text(&m->w, "reason", "new");
		breakpoints_put(d, &m->w, "breakpoint", all->list.data[i]);
		message_send(m, &d->sender);
	}
}
