#include "runtimes/future/combinator.h"

#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/common/behind_wide.h"
#include "runtimes/common/non_future_types.h"
#include "runtimes/common/type_class.h"
#include "runtimes/future/leaf.h"
#include "runtimes/model/names.h"

enum { MAX_WRAPPED_DEPTH = 3 };

/* Types whose member futures are alternatives. */
static const char *const selects[] = {
	"futures_util::future::select::Select",
	"futures_util::future::try_select::TrySelect",
	"futures_util::future::select_all::SelectAll",
	"futures_util::future::select_ok::SelectOk",
};

/*
 * Crates whose futures poll the futures that they contain. Futures of other crates may contain a
 * future that they poll later, or never.
 */
static const char *const pollers[] = {
	"futures_util::", "futures_concurrency::",
	"tower::",        "tower_http::",
	"tower_layer::",  "hyper::",
	"hyper_util::",   "axum::",
	"axum_core::",    "tonic::",
	"reqwest::",      "async_stream::",
	"warp::",         "opentelemetry::",
	"core::",         "alloc::",
	"std::",
};

/* The edge from who polls a stream to the stream. */
static const char next_edge[] = "next";

static bool is_select(const struct type *t)
{
	for (size_t i = 0; i < sizeof(selects) / sizeof(selects[0]); i++) {
		if (type_is(t, selects[i]))
			return true;
	}
	return false;
}

static bool polls_what_it_holds(const struct type *t)
{
	if (str_begins_with_any(type_name(t), pollers))
		return true;
	for (const struct crate_types *const *crate = crates_of(t); *crate; crate++) {
		if (runtime_begins_with_one(type_name(t), (*crate)->pollers))
			return true;
	}
	return false;
}

/* A stream that stores the task's waker for the wakers that it gives to the streams in it. */
static bool keeps_its_waker(const struct type *t)
{
	return type_is(t, "futures_util::stream::stream::flatten_unordered::"
	                  "FlattenUnorderedWithFlowController");
}

bool combinator_is_exact(const struct type *t)
{
	const struct type_class *type_class = type_class_of(t);

	/* The combinators of the futures crate contain only futures, and closures they call. */
	return type_class->forms.poll_fn || type_class->forms.maybe_done ||
	       type_class->rows.combinator || str_begins(type_name(t), "futures_util::future::") ||
	       keeps_its_waker(t);
}

void combinator_found(struct finder *f, struct value v, const char *edge)
{
	*vec_push(f->out) = (struct child){
		.v = v,
		.edge = edge,
		.member = f->member,
		.branch = f->branch,
		.waker = f->waker,
		.set_armed = f->set_armed,
	};
}

static void stream_found(struct finder *f, struct value v)
{
	combinator_found(f, v, strcmp(f->edge, "await") == 0 ? next_edge : f->edge);
	f->out->data[f->out->n - 1].stream = true;
}

bool combinator_is_maybe_done(const struct type *t)
{
	/* Several crates define such types of their own. */
	return type_kind(t) == TYPE_ENUM &&
	       (non_future_types_path_ends_with(type_name(t), "maybe_done::MaybeDone") ||
	        non_future_types_path_ends_with(type_name(t), "try_maybe_done::TryMaybeDone"));
}

/*
 * Whether an arm belongs to join! rather than try_join!. All arms of a try_join! return a Result.
 * The futures crate has different types for the two macros. tokio has one MaybeDone for both.
 */
static bool is_joined(const struct type *t)
{
	const struct variant *done = type_variant(t, "Done");
	size_t n = 0;
	const struct member *m = done && done->payload ? type_members(done->payload, &n) : NULL;

	if (type_is(t, "futures_util::future::maybe_done::MaybeDone"))
		return true;
	return non_future_types_path_ends_with(type_name(t), "future::maybe_done::MaybeDone") &&
	       n == 1 && m->type && !type_is(m->type, "core::result::Result");
}

static struct error *find_maybe_done(struct finder *f, struct value v, const char *edge)
{
	const struct variant *active, *future = type_variant(v.type, "Future");
	const struct member *m = future ? type_single_member(future->payload) : NULL;

	if (!m)
		return error_new(ERR_LAYOUT, "%s has no variant Future", type_name(v.type));
	TRY(value_variant(f->d->c->in->target, v, &active));
	if (active == future) {
		combinator_found(f, (struct value){ m->type, v.addr + future->offset + m->offset },
		                 edge);
		f->out->data[f->out->n - 1].joined = is_joined(v.type);
		return NULL;
	}
	enum branch before = f->branch;
	f->branch = active->name && strcmp(active->name, "Done") == 0 ? BRANCH_DONE : BRANCH_GONE;
	combinator_found(f, (struct value){ m->type, 0 }, edge);
	f->out->data[f->out->n - 1].joined = is_joined(v.type);
	f->branch = before;
	return NULL;
}

/* A collection in whose elements or entries futures are found. */
struct combinator_step {
	struct visit visit;
	struct finder f;
	const struct type *collection;
	int depth;
	struct error *err;
};

static bool combinator_find_in_part(const struct visited *at, void *arg)
{
	struct combinator_step *s = arg;

	/* An element may be a future without a size; the value of a set's entry is (). */
	if (at->rule == VISIT_ELEMENTS || type_size(at->v.type))
		s->err = combinator_find_futures(&s->f, at->v, s->depth + 1);
	return !s->err;
}

static bool combinator_has_few_elements(const struct slice *slice, void *arg)
{
	struct combinator_step *s = arg;

	if (slice->count > s->visit.end)
		s->f.d->left_out = true;
	else if (slice->count > FUTURE_MAX_NODES)
		s->err = error_new(ERR_CORRUPT, "%" PRIu64 " elements in %s", slice->count,
		                   type_name(s->collection));
	return !s->err;
}

static struct error *find_in_collection(struct finder *f, struct value v, int depth)
{
	const struct visit_type *type = &type_class_of(v.type)->visit;
	struct combinator_step s = { .f = *f, .collection = v.type, .depth = depth };

	s.visit = behind_wide_visit(f->d->c, combinator_find_in_part, &s);
	s.visit.elements = combinator_has_few_elements;
	if (f->branch == BRANCH_HELD)
		s.visit.end = COMBINATOR_MAX_HELD;
	if (type->rule == VISIT_ELEMENTS && f->branch == BRANCH_POLLED)
		s.f.edge = "set";
	TRY(visit_step(&s.visit, v, type));
	if (type->rule == VISIT_ENTRIES)
		f->d->left_out |= s.visit.n < s.visit.count;
	return s.err;
}

static bool combinator_is_own(const struct finder *f, uint64_t addr)
{
	return !f->owner.type ||
	       (addr >= f->owner.addr && addr - f->owner.addr < type_size(f->owner.type));
}

static struct error *combinator_find_behind(struct finder *f, struct value v, int depth)
{
	const struct type_class *type_class = type_class_of(v.type);
	uint64_t addr;

	TRY(target_read_uint(f->d->c->in->target, v.addr + type_class->pin_offset, 8, &addr));
	if (!type_class->forms.box && !combinator_is_own(f, addr))
		return NULL;
	if (addr == 0)
		return NULL;
	return combinator_find_futures(f, (struct value){ type_class->behind, addr }, depth + 1);
}

/* A stream behind its vtable. One without debug info is left out, as opaque types are. */
static struct error *find_in_object(struct finder *f, struct value v, int depth)
{
	enum { POLL_NEXT_SLOT = 3 }; /* drop, size, align, then the first method */
	struct value object;
	bool exact;

	TRY(behind_wide(f->d->c, v, POLL_NEXT_SLOT, &object, &exact));
	if (!object.type || !exact || object.addr == 0)
		return NULL;
	return combinator_find_futures(f, object, depth + 1);
}

/* The edge of the next arm of a struct or tuple: "join arm 1". */
static const char *arm_edge(struct finder *f, const char *word, unsigned *arm)
{
	if (f->branch != BRANCH_POLLED)
		return f->edge;
	return arena_printf(f->d->c->a, "%s arm %u", word, (*arm)++);
}

/* Finds futures in a member that its combinator polls later. Its stream is not shown by itself. */
static struct error *find_later(const struct finder *f, struct value member)
{
	struct finder held = *f;

	held.later = NULL;
	held.branch = BRANCH_HELD;
	held.edge = branch_name(BRANCH_HELD);
	size_t before = f->out->n;
	struct error *err = combinator_find_futures(&held, member, 1);
	for (size_t i = before; i < f->out->n; i++)
		f->out->data[i].variable = f->later;
	return err;
}

/* Pending<T> in a Map or an Either: it has no bytes, and is what they wait for. */
static bool is_empty_leaf(const struct finder *f, const struct type *t)
{
	return f->branch == BRANCH_POLLED && type_class_of(t)->rows.leaf;
}

static struct error *combinator_find_in_members(struct finder *f, struct value v, int depth)
{
	const struct member *members;
	unsigned arm = 0;
	size_t n;

	members = type_members(v.type, &n);
	for (size_t i = 0; i < n; i++) {
		struct value member = { members[i].type, v.addr + members[i].offset };
		struct finder each = *f;

		if (!member.type || (type_size(member.type) == 0 && !is_empty_leaf(f, member.type)))
			continue;
		if (depth == 0)
			each.member = members[i].name;
		if (depth == 0 && f->later && strcmp(members[i].name, f->later) == 0) {
			TRY(find_later(&each, member));
			continue;
		}
		each.later = NULL;
		if (type_class_of(member.type)->forms.maybe_done)
			each.edge = arm_edge(f, "join", &arm);
		else if (f->word && future_is_type(f->d->c->in, member.type))
			each.edge = arm_edge(f, f->word, &arm);
		TRY(combinator_find_futures(&each, member, depth + 1));
	}
	return NULL;
}

static struct error *combinator_find_inside(struct finder *f, struct value v, int depth)
{
	if (type_kind(v.type) == TYPE_ENUM) {
		const struct variant *active;

		TRY(value_variant(f->d->c->in->target, v, &active));
		v = value_payload(v, active);
		if (!v.type)
			return NULL;
	}
	return combinator_find_in_members(f, v, depth);
}

/*
 * Replaces the futures found inside a resource by the resource itself, which describes more: an
 * interval contains its timer, a file its job.
 */
static void report_resource(struct finder *f, struct value v, size_t before)
{
	if (f->out->n > before && f->branch == BRANCH_POLLED && leaf_is_resource(v.type)) {
		f->out->n = before;
		combinator_found(f, v, f->edge);
	}
}

static struct error *find_members(struct finder *f, struct value v, int depth)
{
	size_t before = f->out->n;

	TRY(combinator_find_inside(f, v, depth));
	report_resource(f, v, before);
	return NULL;
}

static enum find_rule combinator_find_rule(struct inspector *in, const struct type *t, bool polled)
{
	const struct type_class *type_class = type_class_of(t);

	if (type_class->forms.maybe_done)
		return FIND_MAYBE_DONE;
	if (future_is_type(in, t))
		return FIND_FUTURE;
	if (polled && future_is_stream(in, t))
		return FIND_STREAM;
	if (polled ? !future_is_or_has_polled(in, t) : !future_is_or_has(in, t))
		return FIND_NOTHING;
	if (futures_unordered_is_type(t))
		return FIND_SET;
	if (type_class->visit.element)
		return FIND_ELEMENTS;
	if (type_class->visit.entries && !polled)
		return FIND_ENTRIES;
	if (future_is_stream_object(t))
		return FIND_OBJECT;
	return type_class->behind ? FIND_BEHIND : FIND_MEMBERS;
}

static enum find_rule known_rule(const struct finder *f, const struct type *t)
{
	struct type_class *type_class = type_class_of(t);
	struct inspector *in = f->d->c->in;

	if (f->branch == BRANCH_HELD) {
		if (type_class->find == FIND_UNKNOWN)
			type_class->find = combinator_find_rule(in, t, false);
		return type_class->find;
	}
	if (type_class->find_polled == FIND_UNKNOWN)
		type_class->find_polled = combinator_find_rule(in, t, true);
	return type_class->find_polled;
}

struct error *combinator_find_futures(struct finder *f, struct value v, int depth)
{
	const struct type_class *type_class = type_class_of(v.type);

	if (depth > MAX_MEMBER_DEPTH || f->out->n > FUTURE_MAX_NODES)
		return error_new(ERR_UNSUPPORTED, "it holds too many futures to follow");
	if (f->branch == BRANCH_HELD && leaf_owns_tasks(v.type)) {
		combinator_found(f, v, f->edge);
		return NULL;
	}
	enum find_rule rule = known_rule(f, v.type);
	if (type_class->forms.borrowed) {
		uint64_t addr;

		TRY(target_read_uint(f->d->c->in->target, v.addr, 8, &addr));
		if (!combinator_is_own(f, addr))
			return NULL;
	}
	switch (rule) {
	case FIND_MAYBE_DONE:
		return find_maybe_done(f, v, f->edge);
	case FIND_FUTURE:
		combinator_found(f, v, f->edge);
		return NULL;
	case FIND_STREAM:
		stream_found(f, v);
		return NULL;
	case FIND_SET:
		return futures_unordered_find(f, v);
	case FIND_ELEMENTS:
	case FIND_ENTRIES:
		return find_in_collection(f, v, depth);
	case FIND_OBJECT:
		return find_in_object(f, v, depth);
	case FIND_BEHIND:
		return combinator_find_behind(f, v, depth);
	case FIND_MEMBERS:
		return find_members(f, v, depth);
	default:
		return NULL;
	}
}

/* Names each of several streams by its member, which tells them apart. */
static void name_streams(child_vec *out)
{
	size_t n = 0;

	for (size_t i = 0; i < out->n; i++)
		n += out->data[i].edge == next_edge;
	for (size_t i = 0; n > 1 && i < out->n; i++) {
		struct child *c = &out->data[i];

		if (c->edge == next_edge && c->member && strcmp(c->member, "__0") != 0)
			c->edge = c->member;
	}
}

struct error *combinator_children(struct decoder *d, struct value v, child_vec *out)
{
	struct finder f = { .d = d, .out = out };

	f.edge = polls_what_it_holds(v.type) ? "await" : "holds";
	if (type_class_of(v.type)->forms.maybe_done)
		return find_maybe_done(&f, v, f.edge);
	if (type_class_of(v.type)->rows.combinator)
		return combinator_row_children(&f, v, type_class_of(v.type)->rows.combinator);
	if (type_class_of(v.type)->forms.poll_fn)
		return select_join_find(&f, v);
	if (futures_unordered_is_type(v.type))
		return futures_unordered_find(&f, v);
	f.word = is_select(v.type) ? "select" : NULL;
	if (type_class_of(v.type)->rows.sequence)
		f.later = combinator_later(&f, v, type_class_of(v.type)->rows.sequence);
	TRY(combinator_find_inside(&f, v, 0));
	name_streams(out);
	return NULL;
}

/* Type parameters of t. DWARF lists those of an enum with its variants. */
static const struct type_param *params_of(const struct type *t, size_t *n)
{
	const struct type_param *params = type_params(t, n);
	const struct variant *variants;
	size_t nvariants = 0;

	if (*n || type_kind(t) != TYPE_ENUM)
		return params;
	variants = type_variants(t, &nvariants);
	for (size_t i = 0; i < nvariants && *n == 0; i++) {
		if (variants[i].payload)
			params = type_params(variants[i].payload, n);
	}
	return params;
}

/*
 * Whether t is a type parameter of the wrapper, or is made of one: MapErr<F, _> contains a
 * Map<IntoFuture<F>, _>.
 */
static bool is_made_of(struct inspector *in, const struct type *t, const struct type *wrapper,
                       int depth, unsigned *left)
{
	size_t n;
	const struct type_param *params = params_of(wrapper, &n);

	for (size_t i = 0; i < n; i++) {
		if (params[i].type == t)
			return future_is_type(in, t);
	}
	params = params_of(t, &n);
	for (size_t i = 0; i < n && depth < MAX_WRAPPED_DEPTH && *left; i++) {
		(*left)--;
		if (params[i].type && is_made_of(in, params[i].type, wrapper, depth + 1, left))
			return true;
	}
	return false;
}

bool combinator_wraps(struct inspector *in, const struct type *t, const struct child *list,
                      size_t n)
{
	const struct child *only = NULL;
	unsigned left = 1 << 10; /* limit: in corrupt debug info types can contain each other */

	for (size_t i = 0; i < n; i++) {
		if (!list[i].edge || strcmp(list[i].edge, "await") != 0)
			continue;
		if (only)
			return false;
		only = &list[i];
	}
	if (!only || only->branch != BRANCH_POLLED || !only->v.addr)
		return false;
	return type_class_of(t)->rows.combinator ||
	       (polls_what_it_holds(t) && is_made_of(in, only->v.type, t, 0, &left));
}

struct error *combinator_held(struct decoder *d, struct value coroutine, struct value local,
                              child_vec *out)
{
	struct finder f = { .d = d, .out = out, .edge = "held", .branch = BRANCH_HELD };

	f.owner = coroutine;
	return combinator_find_futures(&f, local, 0);
}
