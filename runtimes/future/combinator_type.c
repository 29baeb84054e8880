/* Decides which types are futures and which contain some. struct type_class caches the results. */
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/lookup/verify.h"
#include "dwarf/names/qualified.h"
#include "runtimes/common/non_future_types.h"
#include "runtimes/common/type_class.h"
#include "runtimes/common/type_predicate.h"
#include "runtimes/future/combinator.h"
#include "runtimes/future/leaf.h"

enum { MAX_POINTERS = 6 /* in one chain */ };

typedef bool is_fn(struct inspector *in, const struct type *t, int depth);

static is_fn is_future, combinator_type_is_stream;

static bool combinator_type_is_box(const struct type *t)
{
	return strncmp(type_name(t), "alloc::boxed::Box<", 18) == 0;
}

static bool combinator_type_is_exclusive(const struct type *t)
{
	return strncmp(type_name(t), "&mut ", 5) == 0;
}

/* Pin<P>, Box<F> and &mut F are futures if their target is one; the same applies to streams. */
static bool points_at(struct inspector *in, const struct type *t, int depth, is_fn *is)
{
	if (type_kind(t) == TYPE_POINTER) {
		const struct type *target = type_target(t);

		return (combinator_type_is_box(t) || combinator_type_is_exclusive(t)) && target &&
		       is(in, target, depth + 1);
	}
	if (type_wide_kind(t) == WIDE_STRUCT) {
		const struct type *target = type_wide(t).pointee;

		return (combinator_type_is_box(t) || combinator_type_is_exclusive(t)) && target &&
		       is(in, target, depth + 1);
	}
	if (type_is(t, "core::pin::Pin")) {
		const struct member *m = type_single_member(t);

		return m && is(in, m->type, depth + 1);
	}
	return false;
}

/*
 * Pin<Box<F>>, Pin<&mut F>, Box<F>: core and alloc implement Future for them exactly if F does, so
 * no search is needed. A trait object as F is left to the search for poll functions.
 */
static bool is_as_its_target(const struct type *t)
{
	const struct member *m = type_is(t, "core::pin::Pin") ? type_single_member(t) : NULL;
	const struct type *p = m ? m->type : t, *target = p ? type_target(p) : NULL;

	if (p && type_wide_kind(p) == WIDE_STRUCT)
		return combinator_type_is_box(p) || combinator_type_is_exclusive(p);
	return p && type_kind(p) == TYPE_POINTER &&
	       (combinator_type_is_box(p) || combinator_type_is_exclusive(p)) && target &&
	       (type_kind(target) == TYPE_STRUCT || type_kind(target) == TYPE_ENUM) &&
	       !type_is_dyn(target);
}

/*
 * Whether t is a trait object of Future itself. Other trait objects only have "dyn Future" in their
 * parameters or results: hyper's Executor<Pin<Box<dyn Future>>>, FnOnce() -> Pin<Box<dyn Future>>,
 * tower's boxed services.
 */
static bool is_future_object(const struct type *t)
{
	/* Future is a supertrait of Sleep (hyper 1.12, src/rt/timer.rs). */
	static const char *const heads[] = { "core::future::future::Future<",
		                             "hyper::rt::timer::Sleep<" };
	const char *object = type_is_dyn(t) ? strstr(type_name(t), "dyn ") : NULL;

	return object && str_begins_with_any(object + strlen("dyn "), heads);
}

bool future_is_stream_object(const struct type *t)
{
	static const char *const heads[] = { "futures_core::stream::Stream<", "futures_sink::Sink<",
		                             /* poll_frame(), and poll_data() before 1.0 */
		                             "http_body::Body<" };
	const char *object = type_is_dyn(t) ? strstr(type_name(t), "dyn ") : NULL;

	return object && str_begins_with_any(object + strlen("dyn "), heads);
}

/* Futures whose poll functions the search may miss, because optimised code inlines them. */
static bool is_often_inlined(const struct type *t)
{
	static const char *const futures[] = {
		"core::future::from_generator::GenFuture",
		/* Each kind of connection has its own. */
		"hyper::proto::h1::dispatch::Dispatcher",
		/*
		 * Building blocks of Map, Then, AndThen and their like (0.3.34, future/mod.rs).
		 * Flatten and TryFlatten are not listed: streams are built from them, too.
		 */
		"futures_util::future::future::map::Map",
		"futures_util::future::try_future::into_future::IntoFuture",
		"futures_util::future::try_future::try_flatten_err::TryFlattenErr",
	};
	const char *name = type_name(t);

	for (size_t i = 0; i < sizeof(futures) / sizeof(*futures); i++) {
		if (qualified_is(name, futures[i]))
			return true;
	}
	return false;
}

/* Whether the type is a future according to the tables alone, without a search. */
static bool is_known_future(const struct type *t)
{
	struct type_class *type_class = type_class_of(t);

	if (type_class->answers.known_future == UNDECIDED) {
		const struct combinator_row *row = type_class->rows.combinator;
		bool is = type_class->forms.coroutine || type_class->rows.leaf ||
		          (row && !row->stream) || is_future_object(t) || is_often_inlined(t);

		type_class->answers.known_future = is ? YES : NO;
	}
	return type_class->answers.known_future == YES || type_class->answers.is_future == YES;
}

static bool is_listed_as_none(const struct type *t)
{
	return non_future_types_has(crates_of(t), type_name(t)) &&
	       !verify_polled_as(t, 0, POLLED_AS_FUTURE, "non_future_types_has()");
}

/* Sets of futures are no frames: what polls them polls the futures in them. */
static bool is_set(const struct type *t)
{
	return futures_unordered_is_type(t) ||
	       type_is(t, "futures_util::stream::futures_ordered::FuturesOrdered");
}

/* Is it worth a search for a function that polls the type? */
static bool may_be_polled(const struct type *t)
{
	return (type_kind(t) == TYPE_STRUCT || type_kind(t) == TYPE_ENUM) && !is_as_its_target(t) &&
	       !is_set(t);
}

static bool is_future(struct inspector *in, const struct type *t, int depth)
{
	if (depth > MAX_POINTERS)
		return false;
	struct type_class *type_class = type_class_of(t);
	if (type_class->answers.is_future != UNDECIDED)
		return type_class->answers.is_future == YES;
	/* Ends the recursion for a type that contains itself behind a pointer. */
	type_class->answers.is_future = NO;
	bool is = is_known_future(t) || points_at(in, t, depth, is_future);
	if (!is && may_be_polled(t) && !is_listed_as_none(t))
		is = lookup_polled_as(t) & POLLED_AS_FUTURE;
	type_class->answers.is_future = is ? YES : NO;
	return is;
}

bool future_is_type(struct inspector *in, const struct type *t)
{
	return is_future(in, t, 0);
}

/* Whether the type is a stream according to the tables alone, without a search. */
static bool is_listed_stream(const struct type *t)
{
	const struct combinator_row *row = type_class_of(t)->rows.combinator;

	return (row && row->stream) || (non_future_types_is_stream(type_name(t)) && !is_set(t));
}

/* A type that is polled in both ways counts as a future. */
static bool combinator_type_is_stream(struct inspector *in, const struct type *t, int depth)
{
	struct type_class *type_class = type_class_of(t);

	if (depth > MAX_POINTERS)
		return false;
	if (type_class->answers.is_stream != UNDECIDED)
		return type_class->answers.is_stream == YES;
	type_class->answers.is_stream = NO; /* as in is_future() */
	bool is = !is_future(in, t, depth) && (future_is_stream_object(t) || is_listed_stream(t) ||
	                                       points_at(in, t, depth, combinator_type_is_stream));
	if (!is && may_be_polled(t) && !type_is_coroutine(t) && !is_listed_as_none(t))
		is = lookup_polled_as(t) == POLLED_AS_STREAM;
	type_class->answers.is_stream = is ? YES : NO;
	return is;
}

bool future_is_stream(struct inspector *in, const struct type *t)
{
	return combinator_type_is_stream(in, t, 0);
}

/*
 * A query whether a type contains futures, or futures and streams. It runs in two passes: the first
 * uses only the tables, which is cheap and nearly always finds a future if there is one. Only if it
 * finds none does the second pass (search) look for poll functions.
 */
struct combinator_type_inside {
	struct type_predicate predicate;
	struct inspector *in;
	bool search, streams;
};

static ask_fn combinator_type_is_inside, ask_inside;

static bool is_known_inside(const struct combinator_type_inside *of, const struct type *t,
                            int depth)
{
	struct combinator_type_inside q = { .in = of->in, .streams = of->streams };

	return type_predicate_end(&q.predicate, combinator_type_is_inside(&q, t, depth));
}

static bool combinator_type_is_known(const struct combinator_type_inside *q, const struct type *t)
{
	return is_known_future(t) || future_is_stream_object(t) ||
	       (q->streams ? is_listed_stream(t) : leaf_owns_tasks(t));
}

static bool combinator_type_is_or_has(void *asker, const struct type *t, int depth)
{
	struct combinator_type_inside *q = asker;

	return combinator_type_is_known(q, t) ||
	       (q->search && (is_known_inside(q, t, depth) || future_is_type(q->in, t) ||
	                      (q->streams && future_is_stream(q->in, t)))) ||
	       combinator_type_is_inside(q, t, depth);
}

/* Whether a collection that is no slice has elements, keys or values that are or have futures. */
static bool has_in_entries(struct combinator_type_inside *q, const struct type *t, int depth)
{
	static const char *const params[] = { "T", "K", "V" };

	for (size_t i = 0; i < sizeof(params) / sizeof(*params); i++) {
		const struct type *part = type_param(t, params[i]);

		if (part && type_size(part) && combinator_type_is_or_has(q, part, depth))
			return true;
	}
	return false;
}

static bool ask_inside(void *asker, const struct type *t, int depth)
{
	struct combinator_type_inside *q = asker;
	const struct type *other;

	if (futures_unordered_is_type(t))
		return true;
	/* Nothing shows that the polled object polls the futures in a map. */
	if (type_class_of(t)->visit.entries && !q->streams)
		return has_in_entries(q, t, depth);
	if ((other = type_class_of(t)->visit.element) || (other = type_class_of(t)->behind))
		return type_size(other) && combinator_type_is_or_has(asker, other, depth);
	return !type_is_coroutine(t) &&
	       type_predicate_any_part(t, combinator_type_is_or_has, asker, depth);
}

static bool combinator_type_is_inside(void *asker, const struct type *t, int depth)
{
	struct combinator_type_inside *q = asker;
	unsigned char *known = &type_class_of(t)->answers.has_future[q->search + 2 * q->streams];

	if (depth > MAX_MEMBER_DEPTH) {
		q->predicate.cut = true;
		return *known == YES;
	}
	return type_predicate_once(&q->predicate, known, ask_inside, q, t, depth);
}

bool future_is_or_has(struct inspector *in, const struct type *t)
{
	struct combinator_type_inside q = { .in = in, .search = true };

	return type_predicate_end(&q.predicate, combinator_type_is_or_has(&q, t, 0));
}

bool future_is_or_has_polled(struct inspector *in, const struct type *t)
{
	struct combinator_type_inside q = { .in = in, .search = true, .streams = true };

	return type_predicate_end(&q.predicate, combinator_type_is_or_has(&q, t, 0));
}
