/*
 * The crate async-std (1.12 and 1.13, src/task/, src/future/, src/io/, src/sync/condvar.rs). Its
 * executor is that of async-global-executor, its locks are async-lock's, its timers and sockets
 * async-io's; its own types are around these.
 */
#include <inttypes.h>

#include "runtimes/future/leaf.h"
#include "runtimes/leaves/leaves.h"

#define STD     "async_std::"
#define CONDVAR STD "sync::condvar::"

/* ---- Condvar: a slab of wakers, of which a notified one is taken out of its entry ---- */

static struct error *async_std_find_entry(struct leaf *l, struct value condvar, uint64_t key,
                                          struct value *ret, bool *found)
{
	static const char entries_path[] = "wakers.inner.entries.entries";
	struct slice entries;
	struct value list;

	TRY(leaf_place(l, condvar, entries_path, &list, found));
	if (!*found)
		return NULL;
	TRY(value_slice(l->d->c->in->target, list, &entries));
	if (key >= entries.count)
		return error_new(ERR_CORRUPT, "it is not among the waiters");
	*ret = (struct value){ entries.element, entries.addr + key * type_size(entries.element) };
	return NULL;
}

static struct error *decode_condvar(struct leaf *l)
{
	static const char condvar_path[] = "cond", key_path[] = "key.Some.0",
			  waker_path[] = "Occupied.0";
	struct value reference, condvar, entry;
	bool found, listening;
	uint64_t key;

	TRY(leaf_place(l, l->v, condvar_path, &reference, &found));
	if (found)
		TRY(leaf_strip_to(l, reference, CONDVAR "Condvar", &condvar, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the future refers to no condvar");
	l->w->object = l->w->primitive = condvar.addr;
	TRY(leaf_optional_uint(l, l->v, key_path, &key, &listening));
	if (!listening) {
		leaf_arm_none(l);
		wait_bool(l, "notified", false);
		wait_phrase(l, "async-std condvar, never polled");
		return NULL;
	}
	TRY(async_std_find_entry(l, condvar, key, &entry, &found));
	if (!found)
		return NULL;
	TRY(leaf_arm_at(l, entry, waker_path));
	wait_bool(l, "notified", l->vacant);
	wait_phrase(l, "async-std condvar, %s", l->vacant ? "notified" : "not notified");
	return NULL;
}

static const struct leaf_row leaves[] = {
	{ .type = CONDVAR "AwaitNotify", .kind = "notify", .decode = decode_condvar },
	{ .type = STD "future::pending::Pending",
	  .kind = "pending",
	  .decode = leaf_decode_pending },
	{ 0 },
};

static const struct leaf_row *const families[] = { leaves, NULL };

/* ---- tasks: each has a number, and a name if a Builder gave it one ---- */

enum { MAX_NAME = 256 };

static const char *async_std_task_name(const struct leaf *l)
{
	static const char name_path[] = "tag.task.name.Some.0";
	const char *text = NULL;
	struct value place;
	bool found = false;
	struct error *err = leaf_place(l, l->v, name_path, &place, &found);

	if (!err && found)
		err = leaf_strip_to(l, place, "alloc::string::String", &place, &found);
	if (!err && found)
		err = value_string(l->d->c->in->target, l->d->c->a, place, MAX_NAME, &text);
	error_free(err);
	return text;
}

static struct error *async_std_decode_task(struct leaf *l)
{
	static const char number_path[] = "tag.task.id.0";
	const char *name = async_std_task_name(l);
	uint64_t number;

	TRY(leaf_uint(l, l->v, number_path, &number));
	/* Numbers of tasks begin at 1, and a program whose numbers reach INT64_MAX aborts. */
	if (number == 0 || number > INT64_MAX)
		return error_new(ERR_CORRUPT, "a task has the number %" PRIu64, number);
	wait_int(l, "task_number", (int64_t)number);
	if (name)
		wait_string(l, "task_name", name);
	wait_phrase(l, "async-std task %" PRIu64 "%s%s", number, name ? " " : "", name ? name : "");
	return NULL;
}

static const struct leaf_row properties[] = {
	{ .type = STD "task::builder::SupportTaskLocals",
	  .kind = "async_std_task",
	  .decode = async_std_decode_task },
	{ 0 },
};

/* ---- futures around others ---- */

#define TWO(name, arm)                                                                             \
	{                                                                                          \
		.type = STD "future::future::" name, .children = {                                 \
			{ "left.Future.0", arm " arm 0", NULL },                                   \
			{ "right.Future.0", arm " arm 1", NULL }                                   \
		}                                                                                  \
	}
#define TIMED(name, timer)                                                                         \
	{                                                                                          \
		.type = STD name, .children = {                                                    \
			{ "future", "await", NULL },                                               \
			{ timer, "deadline", NULL }                                                \
		}                                                                                  \
	}

static const struct combinator_row combinators[] = {
	{ .type = STD "task::builder::SupportTaskLocals",
	  .children = { { "future", "await", NULL } } },
	{ .type = STD "task::join_handle::JoinHandle",
	  .children = { { "handle.Some.0", "await", NULL } } },
	TWO("race::Race", "select"),
	TWO("try_race::TryRace", "select"),
	TWO("join::Join", "join"),
	TWO("try_join::TryJoin", "join"),
	TIMED("future::timeout::TimeoutFuture", "delay"),
	TIMED("io::timeout::Timeout", "timeout"),
	{ 0 },
};

static const struct io_row directions[] = {
	{ STD "io::read::", NULL, IO_SAYS_READS },
	{ STD "io::buf_read::", NULL, IO_SAYS_READS },
	{ STD "io::write::", NULL, IO_SAYS_WRITES },
	{ STD "io::buf_reader::BufReader", NULL, IO_PASSES_ON },
	{ STD "io::buf_writer::BufWriter", NULL, IO_PASSES_ON },
	{ STD "net::tcp::stream::TcpStream", NULL, IO_PASSES_ON },
	{ STD "os::unix::net::stream::UnixStream", NULL, IO_PASSES_ON },
	{ 0 },
};

const struct crate_types async_std_types = {
	.crate = "async-std",
	.path = STD,
	.leaves = families,
	.properties = properties,
	.combinators = combinators,
	.directions = directions,
};
