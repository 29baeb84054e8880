/* dataBreakpointInfo, setDataBreakpoints */
#include "commands/dap/data.h"

#include <inttypes.h>
#include <string.h>

#include "commands/control/watch_cmd.h"
#include "commands/dap/breakpoints.h"
#include "commands/dap/frames.h"
#include "commands/dap/places.h"

enum { DATA_MAX = 4096 /* places that a client asks about */ };

/* DataBreakpointAccessType */
static const char *const access_names[WATCH_NKINDS] = {
	[WATCH_WRITE] = "write", [WATCH_READ] = "read", [WATCH_ACCESS] = "readWrite"
};

const struct watchpoint *data_hit(const struct dap *d)
{
	const struct debuggee *of = &d->s->debuggee;

	return watch_is_stop(of) ? of->watch : NULL;
}

const char *data_describe(const struct watchpoint *w, struct arena *a)
{
	if (w->ended)
		return arena_printf(a, "%s: %s", w->text, w->note);
	if (w->hits.undecided)
		return arena_printf(a, "its condition cannot be read: %s", w->hits.problem);
	if (!w->hits.changed)
		return arena_printf(a, "%s was %s: it is %s", w->text,
		                    w->kind == WATCH_READ ? "read" : "read or written",
		                    w->value ? w->value : "?");
	return arena_printf(a, "%s is %s, was %s", w->text, w->value ? w->value : "?",
	                    w->old ? w->old : "?");
}

void data_forget(struct dap *d)
{
	d->data.n = 0;
	arena_free(&d->data_arena);
}

/* ---- dataBreakpointInfo ---- */

static struct error *check_size(const struct dap_place *p)
{
	uint64_t size = type_size(p->value.type);

	if (p->state && !(type_is_coroutine(p->value.type) && type_discr(p->value.type)))
		return error_new(ERR_STATE, "it is not a coroutine whose states are known");
	if (!p->state && (!size || size > WATCH_MAX_BYTES))
		return error_new(ERR_STATE,
		                 "it has %" PRIu64
		                 " bytes: 1 to %d can be watched; choose a member",
		                 size, WATCH_MAX_BYTES);
	return NULL;
}

static struct dap_data *find_data(struct dap *d, const char *id)
{
	for (size_t i = 0; id && i < d->data.n; i++) {
		if (strcmp(d->data.data[i].id, id) == 0)
			return &d->data.data[i];
	}
	return NULL;
}

static struct error *data_keep(struct dap *d, const struct request *r, const struct dap_place *p,
                               const struct watch_options *found, const char **ret)
{
	struct arena *a = &d->data_arena;
	uint64_t nstops = d->s->debuggee.control.nstops;
	const char *id = arena_printf(r->a, "0x%" PRIx64 " as %s%s", p->value.addr,
	                              type_name(p->value.type), p->state ? ", state" : "");

	*ret = id;
	struct dap_data *known = find_data(d, id);
	if (known) {
		known->frame = p->frame;
		known->nstops = nstops;
		return NULL;
	}
	if (d->data.n >= DATA_MAX)
		return error_new(ERR_STATE, "too many data breakpoints");
	*vec_push(&d->data) = (struct dap_data){
		.id = arena_strdup(a, id),
		.frame = p->frame,
		.nstops = nstops,
		.options = { .text = arena_strdup(a, p->text),
		             .task = found->task ? arena_strdup(a, found->task) : NULL,
		             .owner = found->owner,
		             .type = p->value.type,
		             .addr = p->value.addr,
		             .state = p->state },
	};
	return NULL;
}

static struct error *data_choose(struct dap *d, const struct request *r, const char **id,
                                 const char **text)
{
	struct watch_options found = { 0 };
	struct dap_place place;

	if (d->post_mortem)
		return error_new(ERR_STATE, "post-mortem: a core or a snapshot cannot run");
	if (dap_is_true(r, "asAddress", false))
		return error_new(ERR_STATE, "name the type, too: 0x7f00 as u64");
	TRY(places_find(d, r, dap_text(r, "name"), &place));
	TRY(check_size(&place));
	TRY(watch_cmd_check_lasts(d->s, place.text, place.value.addr, place.global, &found.task,
	                          place.global ? NULL : &found.owner));
	*text = place.text;
	return data_keep(d, r, &place, &found, id);
}

struct error *dap_data_breakpoint_info(struct dap *d, struct request *r)
{
	const char *id = NULL, *text = NULL;
	struct error *err = data_choose(d, r, &id, &text);

	if (err && (err->kind == ERR_INTERRUPTED || err->kind == ERR_USAGE))
		return err;
	if (err) {
		json_put_null(r->w, "dataId");
		json_put_text(r->w, "description", err->message);
		error_free(err);
		return NULL;
	}
	json_put_text(r->w, "dataId", id);
	json_put_text(r->w, "description", text);
	json_put_list(r->w, "accessTypes", access_names, WATCH_NKINDS);
	json_put_bool(r->w, "canPersist", false);
	return NULL;
}

/* ---- setDataBreakpoints ---- */

struct data_naming {
	struct dap *d;
	int64_t frame;
};

/* A watch_cmd_find. */
static struct error *find_in_frame(void *arg, const char *expression, struct typed_local *ret)
{
	const struct data_naming *n = arg;

	TRY(frames_evaluate(n->d, n->frame, expression, &n->d->s->answer, ret));
	if (!ret->type || !ret->in_memory || !ret->shown.addr)
		return error_new(ERR_STATE, "%s is in a register, and has no address", expression);
	return NULL;
}

static const char *data_text_of(const struct node *n, const char *key)
{
	const char *text = node_text(node_get(n, key));

	return text && *text ? text : NULL;
}

/* Reads the access, condition and hit condition of a data breakpoint. */
static struct error *read_wish(const struct node *n, struct watch_options *ret)
{
	const char *access = data_text_of(n, "accessType"), *hits = data_text_of(n, "hitCondition");

	ret->kind = WATCH_WRITE;
	while (access && ret->kind < WATCH_NKINDS && strcmp(access_names[ret->kind], access) != 0)
		ret->kind++;
	if (ret->kind == WATCH_NKINDS)
		return error_new(ERR_UNSUPPORTED,
		                 "\"%s\" is not a kind of access that can be watched", access);
	ret->rule = (struct watch_rule){ .condition = data_text_of(n, "condition") };
	return hits ? breakpoints_read_hits(hits, &ret->rule.skip, &ret->rule.every) : NULL;
}

static bool data_is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Whether the client still wants a watchpoint as it is. */
static bool is_wanted(const struct watchpoint *w, const struct watch_options *o)
{
	return w->kind == o->kind && data_is_same(w->rule.condition, o->rule.condition) &&
	       w->rule.skip == o->rule.skip && w->rule.every == o->rule.every;
}

/* A condition that arrives at a later stop can name only the watched place and statics. */
static struct error *add_new(struct dap *d, const struct dap_data *data, struct watch_options *o,
                             struct watchpoint **ret)
{
	uint64_t now = d->s->debuggee.control.nstops;
	struct data_naming n = { .d = d, .frame = data->nstops == now ? data->frame : 0 };
	const struct watch_name own = { o->state ? NULL : o->text, o->type, o->addr };

	TRY(watch_cmd_read_condition(d->s, o->rule.condition, &own, find_in_frame, &n, &o->rule));
	return watch_add(&d->s->debuggee, o, ret);
}

/* The watchpoint of a wish, a new one where there is none. */
static struct error *data_add(struct dap *d, const struct node *n, struct watchpoint **ret)
{
	struct dap_data *data = find_data(d, node_text(node_get(n, "dataId")));

	if (!data)
		return error_new(ERR_STATE,
		                 "the program that it was set in is gone, or it was never set");
	struct watch_options options = data->options;
	TRY(read_wish(n, &options));
	*ret = data->number ? watch_numbered(&d->s->debuggee, data->number) : NULL;
	if (*ret && is_wanted(*ret, &options))
		return NULL;
	if (*ret)
		TRY(watch_delete(*ret));
	data->number = 0;
	TRY(add_new(d, data, &options, ret));
	data->number = (*ret)->number;
	return NULL;
}

static void data_put_watch(struct json_writer *w, const char *key, const struct watchpoint *watch)
{
	json_open_object(w, key);
	json_put_int(w, "id", watch->number);
	json_put_bool(w, "verified", watch->enabled);
	if (watch->note)
		json_put_text(w, "message", watch->note);
	json_close_object(w);
}

static struct error *data_put_wanted(struct dap *d, struct request *r, const struct node *n)
{
	struct watchpoint *watch;
	struct error *err = data_add(d, n, &watch);

	if (!err) {
		data_put_watch(r->w, NULL, watch);
		return NULL;
	}
	if (err->kind == ERR_INTERRUPTED)
		return err;
	json_open_object(r->w, NULL);
	json_put_bool(r->w, "verified", false);
	json_put_text(r->w, "message", err->message);
	json_close_object(r->w);
	error_free(err);
	return NULL;
}

/* Deletes unwanted watchpoints before new ones are added: the CPU has four in all. */
static struct error *delete_others(struct dap *d, const struct node *list)
{
	for (size_t i = 0; i < d->data.n; i++) {
		struct dap_data *data = &d->data.data[i];
		struct watchpoint *watch =
			data->number ? watch_numbered(&d->s->debuggee, data->number) : NULL;
		bool wanted = false;

		for (const struct node *n = node_first(list); watch && n; n = n->next) {
			const char *id = node_text(node_get(n, "dataId"));

			wanted |= id && strcmp(id, data->id) == 0;
		}
		if (watch && !wanted)
			TRY(watch_delete(watch));
		if (!wanted)
			data->number = 0;
	}
	return NULL;
}

struct error *dap_set_data_breakpoints(struct dap *d, struct request *r)
{
	const struct node *list = node_get(r->arguments, "breakpoints");

	if (node_count(list) > DATA_MAX)
		return error_new(ERR_USAGE, "too many data breakpoints");
	TRY(delete_others(d, list));
	json_open_array(r->w, "breakpoints");
	for (const struct node *n = node_first(list); n; n = n->next)
		TRY(data_put_wanted(d, r, n));
	json_close_array(r->w);
	return NULL;
}

void data_send_new(struct dap *d, unsigned last)
{
	const struct watchpoints *all = &d->s->debuggee.watches;

	for (size_t i = 0; i < all->list.n; i++) {
		if (all->list.data[i]->number <= last)
			continue;
		struct message *m = message_event("breakpoint");

		json_put_text(&m->w, "reason", "new");
		data_put_watch(&m->w, "breakpoint", all->list.data[i]);
		message_send(m, &d->sender);
	}
}
