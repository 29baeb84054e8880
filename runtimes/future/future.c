#include "runtimes/future/future.h"

#include <inttypes.h>
#include <string.h>

#include "dwarf/names/demangle.h"
#include "dwarf/values/wide_value.h"
#include "runtimes/common/behind_wide.h"
#include "runtimes/common/span.h"
#include "runtimes/common/type_class.h"
#include "runtimes/future/combinator.h"
#include "runtimes/future/composite_future.h"
#include "runtimes/future/held_futures.h"
#include "runtimes/future/leaf.h"
#include "runtimes/future/object_walk.h"
#include "runtimes/future/sibling_resources.h"
#include "runtimes/future/task_set.h"
#include "runtimes/model/wait_kind.h"

enum { MAX_HELD = 64 /* unpolled futures of one frame */ };

/* Ends the tree at f, for the reason in a marked text. */
static struct future *future_problem(struct decoder *d, struct future *f, const char *text)
{
	f->problem = marked_finish(d->c->a, text, &f->problem_parts);
	d->faults++;
	if (!d->strict)
		d->c->out->complete = false;
	return f;
}

static struct future *future_problem_error(struct decoder *d, struct future *f, struct error *err)
{
	future_problem(d, f, err->marked);
	error_free(err);
	return f;
}

static struct error *unknown_object(struct decoder *d, struct value v)
{
	struct wide_value w;

	TRY(wide_value_read(d->c->in->target, v, &w));
	return error_new(ERR_LAYOUT, "no debug info describes the vtable 0x%" PRIx64 " of this %s",
	                 w.meta, type_name(v.type));
}

/* Replaces *v, a trait object or a wide pointer to a struct, by the value that it points to. */
static struct error *resolve_wide(struct decoder *d, const struct type_class *type_class,
                                  struct value *v, struct future *f)
{
	enum { POLL_SLOT = 3 }; /* drop, size, align, then Future's only method */
	struct value behind;
	bool exact;

	TRY(behind_wide(d->c, *v, POLL_SLOT, &behind, &exact));
	if (!behind.type)
		return unknown_object(d, *v);
	if (behind.addr == 0)
		return error_new(ERR_CORRUPT, "%s is null", type_name(v->type));
	*v = behind;
	f->dyn |= type_class->forms.erased;
	f->uncertain |= !exact;
	return NULL;
}

static struct error *follow_pointer(struct decoder *d, const struct type_class *type_class,
                                    struct value *v)
{
	uint64_t addr;

	if (!type_class->next)
		return error_new(ERR_LAYOUT, "%s points at no known type", type_name(v->type));
	TRY(target_read_uint(d->c->in->target, v->addr, 8, &addr));
	if (addr == 0)
		return error_new(ERR_CORRUPT, "%s is null", type_name(v->type));
	*v = (struct value){ type_class->next, addr };
	return NULL;
}

struct error *future_strip(struct decoder *d, struct value *v, struct future *f)
{
	for (int hop = 0; hop < 32; hop++) {
		const struct type_class *type_class = type_class_of(v->type);

		switch (type_class->step) {
		case STEP_NONE:
			return NULL;
		case STEP_MEMBER:
			*v = (struct value){ type_class->next, v->addr + type_class->offset };
			break;
		case STEP_POINTER:
			TRY(follow_pointer(d, type_class, v));
			break;
		case STEP_DYN:
		case STEP_WIDE:
			TRY(resolve_wide(d, type_class, v, f));
			break;
		}
	}
	return error_new(ERR_CORRUPT, "too many nested pointers");
}

/* A future that has ended: only its type is left. */
static struct future *ended(struct decoder *d, const struct child *child)
{
	struct future *f;

	if (type_is_coroutine(child->v.type)) {
		const struct coroutine_plan *plan = coroutine_plan(d->c->in, child->v.type);

		f = NEW(d->c->a, struct future);
		f->kind = plan->kind;
		f->function = plan->function;
		f->type = plan->type;
		f->await_point = -1;
		f->state = FUTURE_RETURNED;
	} else {
		f = future_by_name(d->c, type_name(child->v.type));
	}
	return f;
}

/* A future that was polled at its address in the frame is pinned there. */
static bool future_may_be_moved(const struct child *child, const struct future *f)
{
	return child->doubt == UNCERTAINTY_MOVED ||
	       (child->doubt == UNCERTAINTY_UNPOLLED && f->state != FUTURE_SUSPENDED);
}

/* Adds a note to what f has already. */
static void future_add_note(const struct decoder *d, struct future *f, const char *note)
{
	f->note = f->note ? arena_printf(d->c->a, "%s, %s", f->note, note) : note;
}

static struct future *future_decode_child(struct decoder *d, const struct child *child)
{
	bool unpolled = d->unpolled, doubted = d->doubted;
	bool in_set = d->in_set;
	enum waker_registered set_armed = d->set_armed;
	uint64_t waker = d->waker;
	struct future *f;

	if (child->waker) {
		d->waker = child->waker;
		d->set_armed = child->set_armed;
		d->in_set = true;
	}
	d->unpolled |= child->branch != BRANCH_POLLED;
	d->c->decoding.some_held |= child->branch == BRANCH_HELD;
	d->doubted |= child->doubt == UNCERTAINTY_POLLED || child->doubt == UNCERTAINTY_MOVED;
	d->stream = child->stream;
	f = child->v.addr ? future_decode(d, child->v) : ended(d, child);
	d->waker = waker;
	d->in_set = in_set;
	d->set_armed = set_armed;
	d->unpolled = unpolled;
	d->doubted = doubted;
	f->edge = child->edge;
	f->variable = child->variable;
	f->branch = child->branch;
	f->joined = child->joined;
	f->doubted = future_may_be_moved(child, f) || child->doubt == UNCERTAINTY_POLLED;
	if (child->note && !f->note)
		f->note = child->note;
	if (future_may_be_moved(child, f))
		future_add_note(d, f, "may have been moved out");
	if (child->doubt == UNCERTAINTY_POLLED)
		future_add_note(d, f, "may be polled by code that asyncdbg cannot see");
	return f;
}

/* A copy of the list of f's children that has room for n more. */
static struct future **children_and(struct decoder *d, const struct future *f, size_t n)
{
	struct future **children = NEW_ARRAY(d->c->a, struct future *, f->nchildren + n);

	if (f->nchildren)
		memcpy(children, f->children, f->nchildren * sizeof(*children));
	return children;
}

/* Appends children to f. f changes only at the end, because decoding a child may walk f's tree. */
static void future_add_children(struct decoder *d, struct future *f, const struct child *list,
                                size_t n)
{
	struct future **children = n ? children_and(d, f, n) : f->children;

	for (size_t i = 0; i < n; i++)
		children[f->nchildren + i] = future_decode_child(d, &list[i]);
	f->children = children;
	f->nchildren += n;
}

static void note_left_out(struct decoder *d, struct future *f)
{
	future_problem(d, f,
	               "it may hold more futures: a variable holds more values than were searched");
}

/* Keeps the first futures of the list. more: others were not searched. */
static void keep_first(struct decoder *d, child_vec *list, bool more, struct future *f)
{
	if (list->n <= MAX_HELD) {
		if (more)
			note_left_out(d, f);
		return;
	}
	future_problem(d, f,
	               marked_printf(d->c->a, "it holds %zu%s futures, %d are shown", list->n,
	                             more ? " or more" : "", MAX_HELD));
	list->n = MAX_HELD;
}

static void future_add_held(struct decoder *d, struct value v, const struct coroutine_state *s,
                            struct future *f, size_t first)
{
	child_vec list = { 0 };
	bool more = s->state == FUTURE_UNRESUMED ? held_futures_find_captured(d, v, s, f, &list)
	                                         : held_futures_find(d, v, s, f, first, &list);

	keep_first(d, &list, more, f);
	future_add_children(d, f, list.data, list.n);
	vec_free(&list);
}

/* Reports a variable that is a runtime handle, or has one as a member, to the runtimes. */
static void handle_met(struct decoder *d, struct value v)
{
	for (const struct runtime *const *r = runtimes_in(d->c->in->di); *r; r++) {
		if ((*r)->tasks.handle_met)
			(*r)->tasks.handle_met(d->c, v);
	}
}

static struct future *decode_coroutine(struct decoder *d, struct value v, struct future *f)
{
	const struct coroutine_plan *plan = coroutine_plan(d->c->in, v.type);
	const struct coroutine_state *s = NULL;
	const struct variant *active;
	size_t index = SIZE_MAX;
	struct error *err;

	f->kind = plan->kind;
	f->function = plan->function;
	f->type = plan->type;
	err = value_variant(d->c->in->target, v, &active);
	if (err)
		return future_problem_error(d, f, err);
	/* States are in the order of the coroutine's variants, which lie side by side. */
	if (active >= plan->variants)
		index = (size_t)(active - plan->variants);
	if (index < plan->nstates)
		s = coroutine_state(d->c->in, v.type, plan, index);
	if (!s)
		return future_problem(d, f, "its state is unknown to the debug info");
	if (s->state == FUTURE_STATE_NONE)
		return future_problem(d, f, "the name of its state was not understood");
	f->state = s->state;
	f->await_point = s->await_point;
	if (d->c->decoding.frame_met)
		d->c->decoding.frame_met(d, v, active, f);
	if (s->state != FUTURE_SUSPENDED) {
		/* A suspended coroutine has polled its awaitee, so that must be suspended, too. */
		d->faults++;
		if (s->state == FUTURE_UNRESUMED && !d->strict)
			s = coroutine_captured(d->c->in, v.type, plan, index);
		if (s->nheld && !d->strict)
			future_add_held(d, v, s, f, 0);
		return f;
	}
	d->suspended++;
	f->file = s->file;
	f->file_short = s->file_short;
	f->library = s->library;
	f->line = s->line;
	if (!s->awaitee)
		return future_problem(d, f, "the debug info does not say what it awaits");
	struct child awaitee = { .edge = "await" };
	awaitee.v =
		(struct value){ s->awaitee->type, v.addr + active->offset + s->awaitee->offset };
	size_t first = d->c->decoding.regions.n;
	future_add_children(d, f, &awaitee, 1);
	for (size_t i = 0; i < s->nruntimes && !d->strict; i++)
		handle_met(d,
		           (struct value){ s->runtimes[i]->type,
		                           v.addr + s->variant->offset + s->runtimes[i]->offset });
	if (s->nheld && !d->strict)
		future_add_held(d, v, s, f, first);
	return f;
}

/* How many clones of a futures_util Shared wait for the future in it: each has a reference. */
static void note_shared(struct decoder *d, struct value v, struct future *f)
{
	static const char owners_path[] = "inner.Some.0.strong";
	const struct path *p = inspector_optional_path(d->c->in, v.type, owners_path);
	uint64_t owners;
	bool found;

	if (!p)
		return;
	struct error *err = path_uint(d->c->in->target, p, v, &owners, &found);
	f->shares = err || !found || owners > 1;
	if (!err && found && owners > 1)
		f->note = arena_printf(d->c->a, "shared by %" PRIu64 " futures", owners);
	error_free(err);
}

/* Adds the wrapper's own information: tracing span, number of sharers, task set that it drives. */
static void note_what_else(struct decoder *d, struct value v, struct future *f)
{
	const struct task_set_ops *driver = type_class_of(v.type)->driver;
	struct value set;
	bool found;

	if (type_class_of(v.type)->forms.instrumented)
		f->note = span_text(d->c, v);
	if (type_class_of(v.type)->forms.shared)
		note_shared(d, v, f);
	if (!driver)
		return;
	struct error *err = inspector_eval(d->c->in, v, driver->driver_set, &set, &found);
	if (!err && found && type_target(set.type)) {
		err = target_read_uint(d->c->in->target, set.addr, 8, &set.addr);
		set.type = type_target(set.type);
		if (!err)
			task_set_met(d, driver, set, f);
	}
	if (err)
		future_problem_error(d, f, err);
}

/* Adds the resources for which a poll_fn waits, beside the futures that it polls. */
static void add_captured(struct decoder *d, struct future *f, const frame_vec *list)
{
	if (list->n == 1 && f->nchildren == 0) {
		f->wait = list->data[0]->wait;
		f->problem = list->data[0]->problem;
		f->problem_parts = list->data[0]->problem_parts;
	} else if (list->n) {
		struct future **children = children_and(d, f, list->n);

		memcpy(children + f->nchildren, list->data, list->n * sizeof(*children));
		f->children = children;
		f->nchildren += (unsigned)list->n;
	}
}

/*
 * Adds the resources that a poll_fn waits for: channel ends, sockets and intervals that its closure
 * captured. First choice: those that contain this task's waker. Otherwise, if there is only one
 * resource and it may contain or have contained the waker, that one. Returns reach.hidden or
 * reach.limit.
 */
static const char *decode_captured(struct decoder *d, struct value poll_fn, struct future *f)
{
	struct finder finder = { .d = d };
	struct future *only = NULL;
	const char *limit = NULL;
	value_vec places = { 0 };
	frame_vec list = { 0 };
	size_t nidle = 0;

	error_free(select_join_captures(&finder, poll_fn, &places));
	for (size_t i = 0; i < places.n; i++) {
		if (!leaf_is_resource(places.data[i].type)) {
			const char *more =
				d->strict ? NULL : object_walk_registered(d, places.data[i], &list);
			limit = limit ? limit : more;
			continue;
		}
		struct future *resource = object_walk_resource(d->c, places.data[i]);
		enum resource_waker waker = leaf_decode_resource(d, places.data[i], resource);
		if (waker == WAKER_OURS) {
			*vec_push(&list) = resource;
		} else {
			only = d->idle && waker == WAKER_NONE ? NULL : resource;
			nidle++;
		}
	}
	if (list.n == 0 && nidle == 1 && only && f->nchildren == 0)
		*vec_push(&list) = only;
	add_captured(d, f, &list);
	vec_free(&places);
	vec_free(&list);
	return limit;
}

/* A leaf that says of itself that it was never polled. */
static bool is_unpolled(const struct wait *w)
{
	int64_t polled;

	return wait_number(w, "polled", &polled) && !polled;
}

/* Does nothing below f show that the task waits for it? */
static bool waits_for_nothing(const struct future *f)
{
	if (f->problem)
		return false;
	if (f->wait && f->wait->armed == WAKER_REGISTERED_NO && (f->stream || is_unpolled(f->wait)))
		return true;
	if (f->wait || f->nchildren == 0)
		return future_is_at_rest(f) ||
		       (f->wait && f->wait->anonymous && !f->wait->ndetails);
	for (size_t i = 0; i < f->nchildren; i++) {
		if (f->children[i]->branch == BRANCH_POLLED && !waits_for_nothing(f->children[i]))
			return false;
	}
	return true;
}

/*
 * Whoever holds several streams need not poll all of them: the second of a Chain, the stream of a
 * Then that is busy with an item, the trailers of a body while its data are read. If the task waits
 * for some of the children, those for which it waits in no way are removed.
 */
static void drop_unpolled_streams(struct future *f)
{
	bool streams = f->stream;
	unsigned n = 0;

	for (size_t i = 0; i < f->nchildren; i++) {
		streams |= f->children[i]->stream;
		n += f->children[i]->branch == BRANCH_POLLED && !waits_for_nothing(f->children[i]);
	}
	if (!streams || n == 0)
		return;
	n = 0;
	for (size_t i = 0; i < f->nchildren; i++) {
		if (f->children[i]->branch != BRANCH_POLLED || !waits_for_nothing(f->children[i]))
			f->children[n++] = f->children[i];
	}
	f->nchildren = n;
}

static struct future *decode_other(struct decoder *d, struct value v, struct future *f)
{
	child_vec children = { 0 };
	size_t region = d->c->decoding.regions.n;
	const char *hidden = NULL, *limit = NULL;
	struct error *err;

	f->kind = FUTURE_OTHER;
	f->type = type_class_of(v.type)->name;
	f->function = type_class_function(v.type);
	if (d->c->decoding.frame_met)
		d->c->decoding.frame_met(d, v, NULL, f);
	if (leaf_decode(d, v, f))
		return f;
	if (leaf_is_resource(v.type)) {
		leaf_decode_resource(d, v, f);
		return f;
	}
	lookup_context(v.type);
	d->left_out = false;
	err = combinator_children(d, v, &children);
	if (err)
		future_problem_error(d, f, err);
	else
		note_what_else(d, v, f);
	if (d->left_out)
		note_left_out(d, f);
	future_add_children(d, f, children.data, children.n);
	/* After the children: a poll function inlined into a child's is found by that child. */
	f->wraps = !err && combinator_wraps(d->c->in, v.type, children.data, children.n);
	vec_free(&children);
	if (type_class_of(v.type)->forms.poll_fn)
		limit = decode_captured(d, v, f);
	if (!err && f->nchildren == 0 && !f->wait && !d->strict)
		hidden = object_walk_explain(d, v, f);
	else if (type_class_of(v.type)->forms.composite && !d->strict)
		limit = composite_future_add(d, v, f);
	else if (f->nchildren && !d->strict && !combinator_is_exact(v.type))
		hidden = sibling_resources_add(d, v, f, region);
	if ((hidden || limit) && !f->problem)
		future_problem(d, f, hidden ? hidden : limit);
	if (d->idle && !d->strict)
		drop_unpolled_streams(f);
	return f;
}

static void note_region(struct decoder *d, struct value v)
{
	struct collector *c = d->c;

	if (d->depth == 0) {
		c->decoding.regions.n = c->decoding.reported_wakers.n = 0;
		if (c->opaque.waits.n == c->opaque.nwaits)
			c->opaque.registrations.n = c->opaque.nkept;
		c->opaque.nkept = c->opaque.registrations.n;
		c->opaque.nwaits = c->opaque.waits.n;
	}
	*vec_push(&c->decoding.regions) =
		(struct future_region){ v.type, v.addr, type_size(v.type), leaf_is_known(v.type) };
}

struct future *future_decode(struct decoder *d, struct value v)
{
	struct future *f = NEW(d->c->a, struct future);
	struct error *err;

	f->kind = FUTURE_OTHER;
	f->stream = d->stream;
	d->stream = false;
	f->await_point = -1;
	f->function = f->type = type_class_of(v.type)->name;
	if (d->depth >= FUTURE_MAX_DEPTH)
		return future_problem(d, f, "nested too deep, not followed further");
	if (++d->nodes > FUTURE_MAX_NODES)
		return future_problem(d, f, "too many futures in one task, not followed further");
	err = future_strip(d, &v, f);
	if (err)
		return future_problem_error(d, f, err);
	f->addr = v.addr;
	note_region(d, v);
	struct ancestor self = { d->above, v, f };
	d->above = &self;
	d->depth++;
	if (type_class_of(v.type)->forms.coroutine)
		decode_coroutine(d, v, f);
	else
		decode_other(d, v, f);
	if (type_class_of(v.type)->rows.properties && !d->strict)
		leaf_decode_properties(d, v, f);
	d->depth--;
	d->above = self.up;
	return f;
}

bool future_is_woken(enum task_state state)
{
	return state == TASK_SCHEDULED || state == TASK_RUNNING;
}

bool future_is_at_rest(const struct future *f)
{
	while (!f->wait && f->nchildren == 1 && f->children[0]->branch == BRANCH_POLLED)
		f = f->children[0];
	if (f->state == FUTURE_UNRESUMED || f->state == FUTURE_RETURNED)
		return true;
	for (size_t i = 0; f->wait && i < f->wait->ndetails; i++) {
		const struct wait_detail *detail = &f->wait->details[i];

		if (strcmp(detail->key, "registered") == 0)
			return detail->number == 0;
	}
	return false;
}

struct future *future_by_name(struct collector *c, const char *name)
{
	struct future *f = NEW(c->a, struct future);

	f->await_point = -1;
	f->type = inspector_clean_name(c->a, name);
	f->kind = coroutine_kind(name);
	f->function = inspector_clean_name(c->a, f->kind == FUTURE_OTHER
	                                                 ? name_without_generics(c->a, name)
	                                                 : name_function(c->a, name));
	return f;
}
