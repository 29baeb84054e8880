/* The types that hold what others wait for, and how they are read. */
#include "runtimes/ownership/ownership.h"

#include <string.h>

#include "dwarf/names/qualified.h"
#include "dwarf/values/wide_value.h"
#include "runtimes/common/type_class.h"
#include "runtimes/future/leaf.h"
#include "runtimes/future/pool.h"

#define LOCK HOLDING_LOCK

/*
 * Bits of a lock's word that mean "taken": all of std's; of parking_lot's not the two that mark
 * waiting threads.
 */
enum { ANY_BIT = 0xffffffff, PARKING_MUTEX = 1, PARKING_RWLOCK = 0xfffffffc };

/* The path in a primitive that lies inside a lock, for guards that refer to it alone. */
#define BARE_WORD "state"
#define STD_LOCK(t, k, path, p, s)                                                                 \
	{                                                                                          \
		.type = t, .role = LOCK, .kind = k, .member = path, .part = p, .busy = ANY_BIT,    \
		.single = s                                                                        \
	}
#define LOCK_API(t, path, mask, s)                                                                 \
	{                                                                                          \
		.type = "lock_api::" t, .role = LOCK, .kind = "parking_lot", .member = path,       \
		.part = "raw.state", .busy = mask, .single = s                                     \
	}

static const struct ownership_row rows[] = {
	STD_LOCK("std::sync::poison::mutex::MutexGuard", "std_mutex", "lock", "inner.futex", true),
	STD_LOCK("std::sync::mutex::MutexGuard", "std_mutex", "lock", "inner.futex", true),
	STD_LOCK("std::sync::poison::rwlock::RwLockReadGuard", "std_rwlock", "inner_lock",
	         BARE_WORD, false),
	/* newer std | 1.63 */
	STD_LOCK("std::sync::rwlock::RwLockReadGuard", "std_rwlock", "inner_lock | lock",
	         BARE_WORD " | inner.state", false),
	STD_LOCK("std::sync::poison::rwlock::RwLockWriteGuard", "std_rwlock", "lock", "inner.state",
	         false),
	STD_LOCK("std::sync::rwlock::RwLockWriteGuard", "std_rwlock", "lock", "inner.state", false),
	LOCK_API("mutex::MutexGuard", "mutex", PARKING_MUTEX, true),
	LOCK_API("mutex::ArcMutexGuard", "mutex", PARKING_MUTEX, true),
	LOCK_API("rwlock::RwLockReadGuard", "rwlock", PARKING_RWLOCK, false),
	LOCK_API("rwlock::RwLockWriteGuard", "rwlock", PARKING_RWLOCK, false),
	LOCK_API("rwlock::ArcRwLockReadGuard", "rwlock", PARKING_RWLOCK, false),
	LOCK_API("rwlock::ArcRwLockWriteGuard", "rwlock", PARKING_RWLOCK, false),
	DESCRIPTOR_OF("std::net::tcp::TcpStream"),
	DESCRIPTOR_OF("std::net::tcp::TcpListener"),
	DESCRIPTOR_OF("std::net::udp::UdpSocket"),
	DESCRIPTOR_OF("std::os::unix::net::stream::UnixStream"),
	DESCRIPTOR_OF("std::os::unix::net::listener::UnixListener"),
	DESCRIPTOR_OF("std::os::unix::net::datagram::UnixDatagram"),
	DESCRIPTOR_OF("std::fs::File"),
	/* An OwnedFd is in all of these, and in whatever else owns a descriptor. */
	DESCRIPTOR_OF("std::os::fd::owned::OwnedFd"),
	{ 0 },
};

static const struct ownership_row *ownership_rows_find_in(const struct ownership_row *row,
                                                          const char *name)
{
	for (; row && row->type; row++) {
		if (qualified_is(name, row->type))
			return row;
	}
	return NULL;
}

/* Is it an end of the channel through which a pool sends a connection? That is the pool's own. */
static bool is_end_of_pool(const struct ownership_row *row, const struct type *t)
{
	const struct type *sent =
		row && (row->role == HOLDING_SENDER || row->role == HOLDING_RECEIVER)
			? type_param(t, "T")
			: NULL;

	return sent && pool_is_sent(sent);
}

const struct ownership_row *ownership_find_row(const struct type *t)
{
	const struct tables *tables = runtime_tables_of(t);
	const char *name = type_name(t);
	const struct ownership_row *row = ownership_rows_find_in(rows, name);

	if (row || !tables || !row_filter_may_have(&tables->holdings, name))
		return row;
	for (const struct crate_types *const *crate = crates_of(t); *crate && !row; crate++)
		row = ownership_rows_find_in((*crate)->holdings, name);
	return is_end_of_pool(row, t) ? NULL : row;
}

/* ---- reading values ---- */

enum { MAX_HOPS = 8 };

/* A decoder and leaf, as the functions shared with leaves need them. */
struct row_reader {
	struct decoder d;
	struct leaf l;
};

static struct leaf *ownership_rows_reader_init(struct row_reader *r, struct collector *c)
{
	*r = (struct row_reader){ .d = { .c = c } };
	r->l.d = &r->d;
	return &r->l;
}

/* Follows a reference, an Arc, or an Option of one, to a target of any type. */
static struct error *ownership_rows_follow(struct collector *c, struct value v, struct value *ret,
                                           bool *found)
{
	*found = false;
	for (int hop = 0; hop < MAX_HOPS; hop++) {
		if (type_class_of(v.type)->special == SPECIAL_SHARED) {
			*found = true;
			return value_shared(c->in->target, v, ret);
		}
		if (type_kind(v.type) == TYPE_POINTER && type_target(v.type)) {
			TRY(target_read_uint(c->in->target, v.addr, 8, &ret->addr));
			ret->type = type_target(v.type);
			*found = ret->addr != 0;
			return NULL;
		}
		if (type_wide_kind(v.type) != WIDE_NONE && !type_is_slice(v.type))
			return wide_value_behind(c->in->target, v, ret, found);
		const struct member *m = type_single_member(v.type);
		if (!m)
			return NULL;
		v = (struct value){ m->type, v.addr + m->offset };
	}
	return NULL;
}

/* The permits of a pool are its connections: those that exist or are being opened. */
static struct error *ownership_rows_read_pool(const struct leaf *l, const struct pool_row *row,
                                              struct value object, struct found *ret)
{
	struct pool pool;

	TRY(pool_read(l, row, object, &pool));
	ret->total = pool.size + pool.opening;
	ret->available = pool.idle;
	ret->has_total = ret->has_available = true;
	ret->free = pool_in_use(&pool) == 0;
	return NULL;
}

/*
 * Reads how many permits there are and how many are available; or whether the lock's word is free.
 */
static struct error *read_primitive(struct leaf *l, const struct ownership_row *row,
                                    struct value object, struct value primitive, struct found *ret)
{
	uint64_t number;

	if (row->role != LOCK)
		return NULL;
	if (row->busy) {
		TRY(value_uint(l->d->c->in->target, primitive, &number));
		ret->free = (number & row->busy) == 0;
		ret->available = ret->free;
		ret->has_available = true;
		ret->has_total = row->single;
		ret->total = 1;
		return NULL;
	}
	if (row->pool)
		return ownership_rows_read_pool(l, row->pool, object, ret);
	TRY(row->left(l, primitive, &ret->h.primitive, &ret->available));
	ret->has_available = true;
	ret->has_total = row->single;
	ret->total = 1;
	if (row->total && object.type)
		TRY(leaf_optional_uint(l, object, row->total, &ret->total, &ret->has_total));
	ret->free = ret->has_total && ret->available >= ret->total;
	return NULL;
}

const struct type *ownership_whole_type(const struct type *guard)
{
	SCRATCH(tmp);
	const struct ownership_row *row = type_class_of(guard)->rows.holding;
	const struct type *param = row && row->whole ? type_param(guard, "T") : NULL;

	if (!param)
		return NULL;
	return lookup_type(type_module(guard),
	                   arena_printf(&tmp, "%s<%s>", row->whole, type_name(param)),
	                   type_die(guard));
}

/*
 * Finds the lock around its semaphore by the guard's type: RwLockReadGuard<T> belongs to RwLock<T>.
 * That fails for a mapped guard, whose data is not the lock's.
 */
static void find_whole(struct leaf *l, struct value guard, uint64_t primitive, struct value *ret)
{
	static const char data_path[] = "data", content_path[] = "c";
	const struct type *t = ownership_whole_type(guard.type);
	const struct member *semaphore = t ? type_member(t, "s") : NULL;
	struct value content;
	uint64_t data;
	bool found;

	if (!semaphore)
		return;
	struct value whole = { t, primitive - semaphore->offset };
	struct error *err = leaf_place(l, whole, content_path, &content, &found);
	if (!err && found)
		err = leaf_uint(l, guard, data_path, &data);
	if (!err && found && data == content.addr)
		*ret = whole;
	error_free(err);
}

/* Finds the object's primitive. For a bare primitive the object may stay unknown. */
static struct error *find_primitive(struct leaf *l, struct value v, const struct ownership_row *row,
                                    struct value *object, struct value *primitive)
{
	static const char bare_word[] = BARE_WORD;
	bool found;

	*primitive = *object;
	if (row->pool)
		return pool_primitive(l, row->pool, *object, &primitive->addr, &found);
	if (row->part[0]) {
		if (leaf_has_path(l, object->type, row->part))
			TRY(leaf_place(l, *object, row->part, primitive, &found));
		else
			primitive->addr = 0; /* a lock of another implementation */
	}
	/* The guard refers to the primitive alone: the object around it is unknown. */
	if (row->single && row->part[0] == 0)
		object->type = NULL;
	if (row->busy && !row->single && leaf_has_path(l, object->type, bare_word))
		object->type = NULL;
	if (row->whole) {
		object->type = NULL;
		find_whole(l, v, primitive->addr, object);
	}
	return NULL;
}

/* Finds the object and its primitive. */
static struct error *find_object(struct leaf *l, struct value v, const struct ownership_row *row,
                                 struct value *object, struct value *primitive, bool *found)
{
	struct value reference = v;

	*found = true;
	if (row->content)
		TRY(leaf_place(l, v, row->content, &reference, found));
	if (!*found)
		return NULL;
	reference = v;
	if (row->member[0])
		TRY(leaf_place(l, v, row->member, &reference, found));
	if (!*found && row->or_member)
		TRY(leaf_place(l, v, row->or_member, &reference, found));
	if (!*found)
		return NULL;
	if (row->of || row->pool)
		TRY(leaf_strip_to(l, reference, row->pool ? row->pool->type : row->of, object,
		                  found));
	else
		TRY(ownership_rows_follow(l->d->c, reference, object, found));
	if (!*found)
		return error_new(ERR_CORRUPT, "%s refers to nothing", type_name(v.type));
	return find_primitive(l, v, row, object, primitive);
}

/* Fills ret from the row and the primitive. */
static struct error *ownership_rows_fill(struct leaf *l, const struct ownership_row *row,
                                         struct value object, struct value primitive,
                                         struct found *ret)
{
	ret->row = row;
	ret->h.role = row->role;
	ret->h.kind = row->kind;
	ret->h.object = object.type ? object.addr : 0;
	ret->h.primitive = primitive.addr;
	return primitive.addr ? read_primitive(l, row, object, primitive, ret) : NULL;
}

/* Follows the word at offset of a value, if it is the value's reference to the object. */
static struct error *follow_word(struct leaf *l, const struct type *t, uint64_t offset,
                                 uint64_t word, struct value *ret, bool *found)
{
	enum { ANYWHERE = 0x1000 }; /* any address: nothing is read there */
	const struct ownership_row *row = type_class_of(t)->rows.holding;
	struct value v;

	TRY(leaf_place(l, (struct value){ t, ANYWHERE }, row->member, &v, found));
	for (int hop = 0; *found && hop < MAX_HOPS; hop++) {
		if (type_kind(v.type) == TYPE_POINTER && type_target(v.type)) {
			*found = word && v.addr - ANYWHERE == offset;
			*ret = (struct value){ type_target(v.type), word };
			return NULL;
		}
		const struct member *m = type_single_member(v.type);
		if (!m)
			break;
		v = (struct value){ m->type, v.addr + m->offset };
	}
	*found = false;
	return NULL;
}

struct error *ownership_read_word(struct collector *c, const struct type *t, uint64_t offset,
                                  uint64_t word, struct found *ret, bool *found)
{
	const struct ownership_row *row = type_class_of(t)->rows.holding;
	struct row_reader r;
	struct leaf *l = ownership_rows_reader_init(&r, c);
	struct value object = { 0 }, primitive = { 0 };

	*found = row && row->busy;
	if (*found)
		TRY(follow_word(l, t, offset, word, &object, found));
	if (!*found)
		return NULL;
	TRY(find_primitive(l, (struct value){ t, 0 }, row, &object, &primitive));
	*found = primitive.addr != 0;
	ret->h.permits = 1;
	return *found ? ownership_rows_fill(l, row, object, primitive, ret) : NULL;
}

struct error *ownership_read(struct collector *c, struct value v, const struct ownership_row *row,
                             struct found *ret, bool *found)
{
	struct row_reader r;
	struct leaf *l = ownership_rows_reader_init(&r, c);
	struct value object = { 0 }, primitive = { 0 };

	TRY(find_object(l, v, row, &object, &primitive, found));
	if (!*found)
		return NULL;
	TRY(ownership_rows_fill(l, row, object, primitive, ret));
	if (row->role != LOCK)
		return NULL;
	ret->h.permits = 1;
	if (row->permits) {
		bool has;

		ret->h.permits = 0;
		if (leaf_has_path(l, v.type, row->permits))
			TRY(leaf_optional_uint(l, v, row->permits, &ret->h.permits, &has));
		/* False for permits that were merged into others, or forgotten. */
		*found = ret->h.permits != 0 || !leaf_has_path(l, v.type, row->permits);
	}
	return NULL;
}

struct error *ownership_read_acquire(struct collector *c, struct value v, struct found *ret,
                                     bool *found)
{
	const struct crate_types *const *crate = crates_of(v.type);
	struct row_reader reader;
	struct leaf *l = ownership_rows_reader_init(&reader, c);

	*found = false;
	while (*crate && !(*crate)->acquired)
		crate++;
	return *crate ? (*crate)->acquired(l, v, ret, found) : NULL;
}
