/*
 * The crate async-io, of smol: timers, and waits for file descriptors (async-io 2.6, src/lib.rs,
 * src/reactor.rs). A timer is in the reactor while it has an id; its waker there is a clone of the
 * one beside the id. An Async has its descriptor in a Source, with the wakers for each direction.
 */
#include <string.h>

#include "dwarf/names/demangle.h"
#include "runtimes/future/deadline.h"
#include "runtimes/future/io_direction.h"
#include "runtimes/future/leaf_fd.h"
#include "runtimes/leaves/leaves.h"

#define TIMER "async_io::Timer"
#define READY "async_io::reactor::Ready"
#define ASYNC "async_io::Async"

enum { READ, WRITE, DIRECTIONS, BOTH = DIRECTIONS, UNKNOWN }; /* indexes of a Source's state */

/* Directions by bits: IO_READS, IO_WRITES. */
static const uint64_t found_directions[] = { UNKNOWN, READ, WRITE, BOTH };

enum { MAX_WRAPPERS = 8 /* of std, around the array of Directions */ };

enum { TIMER_WHEN, TIMER_ID, TIMER_WAKER };

static const struct binding_row layout[] = {
	/* later | 1.6 */
	[TIMER_WHEN] = { "async_io.timer", "type:" TIMER, "when.Some.0 | when", .optional = true },
	[TIMER_ID] = { "async_io.timer.id", "type:" TIMER, "id_and_waker.Some.0.0",
	               .optional = true },
	[TIMER_WAKER] = { "async_io.timer.waker", "type:" TIMER, "id_and_waker.Some.0.1",
	                  .optional = true },
	{ 0 },
};

static const struct binding_row *const bindings[] = { layout, NULL };

static struct error *async_io_decode_timer(struct leaf *l)
{
	struct value when, id;
	struct deadline due;
	bool set, registered;

	TRY(leaf_place(l, l->v, layout[TIMER_WHEN].path, &when, &set));
	TRY(leaf_place(l, l->v, layout[TIMER_ID].path, &id, &registered));
	wait_bool(l, "registered", registered);
	if (!set) {
		leaf_arm_none(l);
		wait_phrase(l, "timer that never fires");
		return NULL;
	}
	TRY(deadline_read(l, when, NULL, false, &due));
	if (registered)
		TRY(leaf_arm_at(l, l->v, layout[TIMER_WAKER].path));
	else
		leaf_arm_none(l);
	deadline_phrase(l, "timer", registered ? "" : ", never polled", &due);
	return NULL;
}

/* ---- file descriptors ---- */

/* "TcpStream": the type inside the Async. */
static const char *async_io_resource_name(const struct leaf *l)
{
	const struct type *t = type_param(l->v.type, "T");
	const char *name = t ? name_without_generics(l->d->c->a, type_name(t)) : "Async";
	const char *last = strrchr(name, ':');

	return inspector_clean_name(l->d->c->a, last ? last + 1 : name);
}

/* The Direction of a Source; *found false: it has none. */
static struct error *find_direction(const struct leaf *l, struct value source, uint64_t index,
                                    struct value *ret, bool *found)
{
	static const char state_path[] = "state.data";
	struct value state;

	TRY(leaf_place(l, source, state_path, &state, found));
	for (int i = 0; *found && state.type && i < MAX_WRAPPERS; i++) {
		const struct member *m = type_single_member(state.type);

		if (!m)
			break;
		state = (struct value){ m->type, state.addr + m->offset };
	}
	*found = *found && state.type && type_kind(state.type) == TYPE_ARRAY &&
	         type_count(state.type) == DIRECTIONS && index < DIRECTIONS;
	if (*found)
		*ret = (struct value){ type_target(state.type),
			               state.addr + index * type_size(type_target(state.type)) };
	return NULL;
}

/* Fills the wait of a resource whose Source and direction are known. */
static struct error *async_io_describe(struct leaf *l, struct value source, uint64_t direction)
{
	static const char fd_path[] = "registration.raw | raw";
	static const char *const words[] = { "readable", "writable", "readable or writable" };
	const char *name = async_io_resource_name(l),
		   *what = direction <= BOTH ? words[direction] : NULL;
	const char *where = "";
	uint64_t fd;
	bool found;

	wait_string(l, "resource", name);
	if (what)
		wait_string(l, "direction", what);
	TRY(leaf_optional_uint(l, source, fd_path, &fd, &found));
	if (found && fd <= INT32_MAX)
		where = leaf_fd_describe(l, (int)fd);
	wait_phrase(l, "%s%s%s%s", name, what ? " " : "", what ? what : "", where);
	return NULL;
}

/* The waker of a Ready that was polled is in a slab, at its index. */
static struct error *arm_ready(struct leaf *l, struct value source, uint64_t direction)
{
	static const char index_path[] = "index.Some.0", slab_path[] = "wakers.entries",
			  waker_path[] = "Occupied.0";
	struct value state, list, waker;
	struct slice entries;
	uint64_t index;
	bool found;

	TRY(leaf_optional_uint(l, l->v, index_path, &index, &found));
	if (!found) {
		leaf_arm_none(l);
		return NULL;
	}
	TRY(find_direction(l, source, direction, &state, &found));
	if (found)
		TRY(leaf_place(l, state, slab_path, &list, &found));
	if (!found)
		return NULL;
	TRY(value_slice(l->d->c->in->target, list, &entries));
	if (index >= entries.count)
		return error_new(ERR_CORRUPT, "its waker is not in the reactor");
	struct value entry = { entries.element, entries.addr + index * type_size(entries.element) };
	TRY(leaf_place(l, entry, waker_path, &waker, &found));
	return found ? leaf_arm(l, waker) : NULL;
}

static struct error *decode_ready(struct leaf *l)
{
	static const char source_path[] = "handle.source", direction_path[] = "dir";
	struct value arc, source;
	uint64_t direction;
	bool found;

	TRY(leaf_place(l, l->v, source_path, &arc, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "it has no source");
	TRY(value_shared(l->d->c->in->target, arc, &source));
	TRY(leaf_uint(l, l->v, direction_path, &direction));
	l->w->object = source.addr;
	TRY(arm_ready(l, source, direction));
	return async_io_describe(l, source, direction);
}

/* The slot for the waker of one direction of a Source. */
struct async_io_slot {
	enum waker_registered armed;
	bool vacant;
};

static struct error *async_io_read_slot(struct leaf *l, struct value source, uint64_t direction,
                                        struct async_io_slot *ret)
{
	static const char waker_path[] = "waker";
	struct value state;
	bool found;

	*ret = (struct async_io_slot){ .armed = WAKER_REGISTERED_UNKNOWN };
	TRY(find_direction(l, source, direction, &state, &found));
	if (!found)
		return NULL;
	TRY(leaf_arm_at(l, state, waker_path));
	*ret = (struct async_io_slot){ l->w->armed, l->vacant };
	return NULL;
}

/*
 * The direction in which this task waits, by the wakers. A slot is emptied when its direction gets
 * ready (async-io 2.6, src/reactor.rs, react()).
 */
static struct error *find_ours(struct leaf *l, struct value source, uint64_t *ret)
{
	struct async_io_slot slots[DIRECTIONS];
	unsigned woken;

	for (uint64_t i = 0; i < DIRECTIONS; i++)
		TRY(async_io_read_slot(l, source, i, &slots[i]));
	woken = io_direction_woken(
		l->d, (slots[READ].armed == WAKER_REGISTERED_YES ? IO_READS : 0) |
			      (slots[WRITE].armed == WAKER_REGISTERED_YES ? IO_WRITES : 0));
	*ret = found_directions[woken];
	if (*ret != UNKNOWN)
		l->w->armed = WAKER_REGISTERED_YES;
	else if (slots[READ].armed != slots[WRITE].armed)
		l->w->armed = WAKER_REGISTERED_UNKNOWN;
	l->vacant = slots[READ].vacant && slots[WRITE].vacant;
	return NULL;
}

/* An Async whose poll_readable() or poll_writable() a future calls: one waker for each. */
static struct error *decode_async(struct leaf *l)
{
	static const char source_path[] = "source";
	struct value arc, source;
	struct async_io_slot slot;
	uint64_t direction;
	bool found;

	TRY(leaf_place(l, l->v, source_path, &arc, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "it has no source");
	TRY(value_shared(l->d->c->in->target, arc, &source));
	l->w->object = source.addr;
	if (l->d->direction.sure) {
		direction = l->d->direction.sure == IO_READS ? READ : WRITE;
		TRY(async_io_read_slot(l, source, direction, &slot));
	} else {
		TRY(find_ours(l, source, &direction));
	}
	return async_io_describe(l, source, direction);
}

static const struct leaf_row leaves[] = {
	{ .type = READY, .kind = "io", .decode = decode_ready },
	{ .type = ASYNC, .kind = "io", .decode = decode_async, .resource = true, .directed = true },
	{ .type = TIMER, .kind = "sleep", .decode = async_io_decode_timer },
	{ 0 },
};

#define WRAPPER(name)                                                                              \
	{                                                                                          \
		.type = "async_io::reactor::" name, .children = { { "0", "await", NULL } }         \
	}

static const struct combinator_row combinators[] = {
	WRAPPER("Readable"),
	WRAPPER("Writable"),
	WRAPPER("ReadableOwned"),
	WRAPPER("WritableOwned"),
	{ 0 },
};

static const struct leaf_row *const families[] = { leaves, NULL };

const struct crate_types async_io_types = {
	.crate = "async-io",
	.path = "async_io::",
	.leaves = families,
	.leaf_bindings = bindings,
	.combinators = combinators,
};
