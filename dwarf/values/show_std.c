/*
 * Prints the types of std and bytes whose text is not that of their members. Each row has
 * paths to its members, with alternatives, newest version first. The path engine looks through
 * single-member wrappers by itself: "buf.ptr" fits RawVec before and after it got an `inner`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dwarf/lookup/lookup.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"
#include "dwarf/values/path.h"
#include "dwarf/values/show_private.h"
#include "dwarf/values/wide_value.h"

/* ---- types that print as the one value they contain or point at ---- */

enum show_std_reach {
	REACH_MEMBER,  /* the place at the path */
	REACH_POINTEE, /* the target of the pointer there, through wrappers (NonNull) */
};

struct through_row {
	const char *type;   /* last component without generics; a final * matches any suffix */
	const char *within; /* prefix of the name */
	enum show_std_reach reach;
	const char *expr;
};

static const struct through_row through_table[] = {
	{ "Rc", "alloc::rc", REACH_POINTEE, "ptr" },
	{ "Arc", "alloc::sync", REACH_POINTEE, "ptr" },
	{ "RcInner", "alloc::rc", REACH_MEMBER, "value" },
	{ "RcBox", "alloc::rc", REACH_MEMBER, "value" }, /* before 1.84 */
	{ "ArcInner", "alloc::sync", REACH_MEMBER, "data" },
	/* 1.95, 1.63 | 1.85 */
	{ "Pin", "core::pin", REACH_MEMBER, "pointer | __pointer" },
	{ "UnsafeCell", "core::cell", REACH_MEMBER, "value" },
	{ "Ref", "core::cell", REACH_POINTEE, "value" },
	{ "RefMut", "core::cell", REACH_POINTEE, "value" },
	{ "MutexGuard", "std::sync", REACH_MEMBER, "lock.data" },
	{ "RwLockReadGuard", "std::sync", REACH_POINTEE, "data" },
	{ "RwLockWriteGuard", "std::sync", REACH_MEMBER, "lock.data" },
	{ "MutexGuard", "lock_api", REACH_MEMBER, "mutex.data" },
	{ "RwLockReadGuard", "lock_api", REACH_MEMBER, "rwlock.data" },
	{ "RwLockWriteGuard", "lock_api", REACH_MEMBER, "rwlock.data" },
	{ "Wrapping", "core::num", REACH_MEMBER, "0" },
	{ "Saturating", "core::num", REACH_MEMBER, "0" },
	{ "BinaryHeap", "alloc::collections", REACH_MEMBER, "data" },
	{ "StringError", "alloc::boxed", REACH_MEMBER, "0" },
	{ "StringError", "std::error", REACH_MEMBER, "0" }, /* before 1.65 */
	{ "StringError", "<alloc::boxed", REACH_MEMBER, "0" },
	{ "StringError", "<std::error", REACH_MEMBER, "0" },
	{ "GenFuture", "core::future", REACH_MEMBER, "0" }, /* before 1.67 */
};

bool show_is(const struct type *t, const char *type, const char *within)
{
	const char *name = type_name(t);

	if (strncmp(name, within, strlen(within)) != 0)
		return false;
	const char *last = qualified_last(name);
	size_t len = qualified_base_len(last), wanted = strlen(type);
	bool open = type[wanted - 1] == '*';
	wanted -= open;
	return (open ? len >= wanted : len == wanted) && memcmp(last, type, wanted) == 0;
}

void show_register(struct show_cache *cache, const struct show_row *rows)
{
	*vec_push(&cache->rows) = rows;
}

static const struct show_row *find_registered(const struct show_cache *cache, const struct type *t)
{
	for (size_t i = 0; i < cache->rows.n; i++) {
		for (const struct show_row *row = cache->rows.data[i]; row->type; row++) {
			if (show_is(t, row->type, row->within))
				return row;
		}
	}
	return NULL;
}

/* Ref<[T]> and Ref<str> have a raw pointer, which prints as an address where it is a value. */
static struct error *follow_slice(struct target *t, struct value v, struct value *ret)
{
	struct wide_value w;

	*ret = v;
	if (type_name(v.type)[0] != '*')
		return NULL;
	TRY(wide_value_read(t, v, &w));
	if (w.data == 0 || w.meta > INT64_MAX)
		return error_new(ERR_CORRUPT, "slice");
	const struct type *array =
		w.wide.pointee ? type_of_slice(w.wide.pointee, w.wide.kind, w.meta) : NULL;
	if (!array)
		return error_new(ERR_LAYOUT, "elements");
	*ret = (struct value){ array, w.data };
	return NULL;
}

static struct error *follow_wide(struct target *t, struct value v, struct value *ret)
{
	bool found;

	if (type_is_slice(v.type))
		return follow_slice(t, v, ret);
	TRY(wide_value_behind(t, v, ret, &found));
	if (!found)
		*ret = v;
	return NULL;
}

struct error *show_follow(struct target *t, struct value v, struct value *ret)
{
	for (int hop = 0; hop < SHOW_DEPTH; hop++) {
		const struct member *m;
		uint64_t addr;

		if (type_kind(v.type) == TYPE_POINTER && type_target(v.type)) {
			TRY(target_read_uint(t, v.addr, 8, &addr));
			if (addr == 0)
				return error_new(ERR_CORRUPT, "null");
			*ret = (struct value){ type_target(v.type), addr };
			return NULL;
		}
		if (type_wide_kind(v.type) != WIDE_NONE)
			return follow_wide(t, v, ret);
		m = type_single_member(v.type);
		if (!m)
			break;
		v = (struct value){ m->type, v.addr + m->offset };
	}
	return error_new(ERR_LAYOUT, "%s holds no pointer", type_name(v.type));
}

static const struct std_row *find_std(const struct type *t);

/* How values of a type are printed; found once for each type. At most one member is not NULL. */
struct plan {
	const struct through_row *through; /* it is looked through */
	const struct show_row *row;        /* of the layer above */
	const struct std_row *std;
};

static const struct through_row *find_through(struct show_cache *cache, const struct type *t,
                                              const struct show_row *row)
{
	struct through_row *ret;

	for (size_t i = 0; i < sizeof(through_table) / sizeof(through_table[0]); i++) {
		if (show_is(t, through_table[i].type, through_table[i].within))
			return &through_table[i];
	}
	if (!row || (row->how != SHOW_MEMBER && row->how != SHOW_POINTEE))
		return NULL;
	ret = NEW(&cache->arena, struct through_row);
	ret->reach = row->how == SHOW_MEMBER ? REACH_MEMBER : REACH_POINTEE;
	ret->expr = row->expr[0];
	return ret;
}

static const struct plan *plan_of(struct show_cache *cache, const struct type *t)
{
	struct plan *plan = map_get(&cache->plans, (uintptr_t)t);

	if (plan)
		return plan;
	plan = NEW(&cache->arena, struct plan);
	map_put(&cache->plans, (uintptr_t)t, plan);
	const struct show_row *row = find_registered(cache, t);
	plan->through = find_through(cache, t, row);
	if (!plan->through) {
		plan->row = row;
		plan->std = row ? NULL : find_std(t);
	}
	return plan;
}

static struct error *show_std_follow(struct target *t, struct show_cache *cache, struct value v,
                                     const struct through_row *row, struct value *ret)
{
	struct value place;

	TRY(show_place(t, cache, v, row->expr, &place));
	if (row->reach == REACH_POINTEE)
		TRY(show_follow(t, place, &place));
	*ret = place;
	return NULL;
}

/* ---- rows with a text of their own ---- */

struct error *show_row_place(struct show *s, struct value v, const char *expr, struct value *ret)
{
	return show_place(s->target, s->cache, v, expr, ret);
}

struct error *show_row_number(struct show *s, struct value v, const char *expr, uint64_t *ret)
{
	return show_uint(s->target, s->cache, v, expr, ret);
}

bool show_row_leads(struct show *s, struct value v, const char *expr)
{
	struct value place;
	struct error *err = show_row_place(s, v, expr, &place);

	error_free(err);
	return !err;
}

uint64_t show_row_number_or_0(struct show *s, struct value v, const char *expr)
{
	uint64_t n = 0;
	struct error *err = show_row_number(s, v, expr, &n);

	error_free(err);
	return err ? 0 : n;
}

static const char *own_name(const struct std_row *row)
{
	return row->type;
}

/* Name { value: X }; expr: the value */
static struct error *show_cell(struct show *s, struct value v, const struct std_row *row)
{
	struct value inner;

	TRY(show_row_place(s, v, row->expr[0], &inner));
	show_printf(s, "%s { value: ", own_name(row));
	show_inner(s, inner);
	show_put(s, " }");
	return NULL;
}

static struct error *show_ref_cell(struct show *s, struct value v, const struct std_row *row)
{
	struct value inner;
	uint64_t borrow;

	(void)row;
	TRY(show_row_place(s, v, "value", &inner));
	TRY(show_row_number(s, v, "borrow", &borrow));
	show_put(s, "RefCell { value: ");
	show_inner(s, inner);
	show_put(s, (int64_t)borrow < 0 ? ", mutably borrowed }" : " }");
	return NULL;
}

/* Prints the one scalar inside the type. */
static struct error *innermost(struct value v, struct value *ret)
{
	for (int hop = 0; hop < SHOW_DEPTH; hop++) {
		const struct member *m = type_single_member(v.type);

		if (!m) {
			*ret = v;
			return NULL;
		}
		v = (struct value){ m->type, v.addr + m->offset };
	}
	return error_new(ERR_LAYOUT, "no scalar");
}

static struct error *show_scalar_of(struct show *s, struct value v, const struct std_row *row)
{
	struct value scalar;

	(void)row;
	TRY(innermost(v, &scalar));
	show_inner(s, scalar);
	return NULL;
}

static struct error *show_atomic(struct show *s, struct value v, const struct std_row *row)
{
	const char *last = qualified_last(type_name(v.type));
	uint64_t n;

	if (strncmp(last, "AtomicBool", 10) != 0 && strncmp(last, "Atomic<bool>", 12) != 0)
		return show_scalar_of(s, v, row);
	TRY(value_uint(s->target, v, &n));
	show_put(s, n ? "true" : "false");
	return NULL;
}

static struct error *show_address(struct show *s, struct value v, const struct std_row *row)
{
	uint64_t addr;

	(void)row;
	if (type_size(v.type) != 8) {
		show_type(s, v.type);
		return NULL;
	}
	TRY(value_uint(s->target, v, &addr));
	show_printf(s, "0x%" PRIx64, addr);
	return NULL;
}

static struct error *show_type_only(struct show *s, struct value v, const struct std_row *row)
{
	SCRATCH(tmp);

	(void)row;
	show_put(s, name_short(&tmp, type_name(v.type)));
	return NULL;
}

/* An enum that prints as the content of its variant: IpAddr, Cow. */
static struct error *show_payload(struct show *s, struct value v, const struct std_row *row)
{
	const struct variant *active;

	(void)row;
	TRY(value_variant(s->target, v, &active));
	const struct member *m = type_member(active->payload, "__0");
	if (!m)
		return error_new(ERR_LAYOUT, "payload");
	show_behind(s, (struct value){ m->type, v.addr + active->offset + m->offset });
	return NULL;
}

static struct error *show_std_show_bytes(struct show *s, struct value v, const struct std_row *row)
{
	uint64_t ptr, len;

	(void)row;
	TRY(show_row_number(s, v, "ptr", &ptr));
	TRY(show_row_number(s, v, "len", &len));
	if (len > INT64_MAX)
		return error_new(ERR_CORRUPT, "length");
	return show_quoted(s, ptr, len, QUOTE_BYTES);
}

static struct error *show_c_string(struct show *s, struct value v, const struct std_row *row)
{
	struct value inner;
	struct fat fat;

	(void)row;
	TRY(show_row_place(s, v, "inner", &inner));
	if (!type_is_slice(inner.type))
		return error_new(ERR_LAYOUT, "no slice");
	TRY(show_read_fat(s->target, inner, &fat));
	return show_quoted(s, fat.addr, fat.count - (fat.count != 0), QUOTE_C);
}

/* Path, OsStr and CStr, whose bytes are their unsized tail; with_nul: the last one is a NUL. */
static struct error *show_tail_text(struct show *s, struct value v, enum quoting how, bool with_nul)
{
	for (int hop = 0; hop < SHOW_DEPTH && type_kind(v.type) == TYPE_STRUCT; hop++) {
		const struct member *m = type_single_member(v.type);

		if (!m)
			break;
		v = (struct value){ m->type, v.addr + m->offset };
	}
	if (type_kind(v.type) != TYPE_ARRAY)
		return error_new(ERR_LAYOUT, "no bytes");
	uint64_t count = type_count(v.type);
	return show_quoted(s, v.addr, count - (with_nul && count), how);
}

static struct error *show_os_text(struct show *s, struct value v, const struct std_row *row)
{
	(void)row;
	return show_tail_text(s, v, QUOTE_STR, false);
}

static struct error *show_c_text(struct show *s, struct value v, const struct std_row *row)
{
	(void)row;
	return show_tail_text(s, v, QUOTE_C, true);
}

/* expr: start, separator, end */
static struct error *show_range(struct show *s, struct value v, const struct std_row *row)
{
	struct value start = { 0 }, end = { 0 };

	if (row->expr[0])
		TRY(show_row_place(s, v, row->expr[0], &start));
	if (row->expr[2])
		TRY(show_row_place(s, v, row->expr[2], &end));
	if (start.type)
		show_inner(s, start);
	show_put(s, row->expr[1]);
	if (end.type)
		show_inner(s, end);
	return NULL;
}

/*
 * An exhausted 1..=3 has start == end, as 3..=3 that has yielded nothing (core/src/ops/range.rs):
 * its Debug says so behind it.
 */
static struct error *show_range_inclusive(struct show *s, struct value v, const struct std_row *row)
{
	uint64_t exhausted;

	TRY(show_row_number(s, v, "exhausted", &exhausted));
	TRY(show_range(s, v, row));
	show_put(s, exhausted ? "@exhausted" : "");
	return NULL;
}

static const struct std_row std_table[] = {
	{ "String", "alloc::string", show_string, { NULL } },
	{ "PathBuf", "std::path", show_string, { NULL } },
	{ "OsString", "std::ffi", show_string, { NULL } },
	{ "Path", "std::path", show_os_text, { NULL } },
	{ "OsStr", "std::ffi", show_os_text, { NULL } },
	{ "CStr", "core::ffi", show_c_text, { NULL } },
	{ "CStr", "std::ffi", show_c_text, { NULL } }, /* before 1.64 */
	{ "CString", "alloc::ffi", show_c_string, { NULL } },
	{ "CString", "std::ffi", show_c_string, { NULL } },
	{ "Vec", "alloc::vec", show_vec, { NULL } },
	{ "VecDeque", "alloc::collections", show_deque, { NULL } },
	/* std's type around hashbrown's | hashbrown's own */
	{ "HashMap", "std::collections", show_hash_map, { "base.table" } },
	{ "HashSet", "std::collections", show_hash_set, { "base.map.table" } },
	{ "HashMap", "hashbrown", show_hash_map, { "table" } },
	{ "HashSet", "hashbrown", show_hash_set, { "map.table" } },
	{ "BTreeMap", "alloc::collections", show_btree_map, { NULL } },
	{ "BTreeSet", "alloc::collections", show_btree_set, { "map" } },
	{ "Cell", "core::cell", show_cell, { "value" } },
	{ "ManuallyDrop", "core::mem", show_cell, { "value" } },
	{ "RefCell", "core::cell", show_ref_cell, { NULL } },
	{ "Mutex", "std::sync", show_std_lock, { "inner.futex" } },
	{ "RwLock", "std::sync", show_std_lock, { "inner.state" } },
	{ "Once", "std::sync", show_once, { NULL } },
	{ "OnceLock", "std::sync", show_once_lock, { "once", "value" } },
	{ "LazyLock", "std::sync", show_once_lock, { "once", "data" } },
	{ "OnceCell", "core::cell", show_once_cell, { "inner" } },
	{ "LazyCell", "core::cell", show_lazy_cell, { "state" } },
	{ "Sender", "std::sync::mpsc", show_mpsc, { "senders", "receivers" } },
	{ "SyncSender", "std::sync::mpsc", show_mpsc, { "senders", "receivers" } },
	{ "Receiver", "std::sync::mpsc", show_mpsc, { "senders", "receivers" } },
	{ "JoinHandle", "std::thread", show_thread_handle, { NULL } },
	{ "Weak", "alloc::rc", show_weak, { "strong" } },
	{ "Weak", "alloc::sync", show_weak, { "strong" } },
	{ "MaybeUninit", "core::mem", show_type_only, { NULL } },
	{ "LinkedList", "alloc::collections", show_linked_list, { NULL } },
	{ "NonZero*", "core::num", show_scalar_of, { NULL } },
	{ "*", "core::num::niche_types", show_scalar_of, { NULL } },
	{ "Atomic*", "core::sync::atomic", show_atomic, { NULL } },
	{ "NonNull", "core::ptr", show_address, { NULL } },
	{ "Unique", "core::ptr", show_address, { NULL } },
	{ "PhantomData", "core::marker", show_type_only, { NULL } },
	{ "Duration", "core::time", show_duration, { NULL } },
	{ "Instant", "std::time", show_instant, { NULL } },
	{ "SystemTime", "std::time", show_system_time, { NULL } },
	{ "Ipv4Addr", "core::net", show_v4, { NULL } },
	{ "Ipv6Addr", "core::net", show_v6, { NULL } },
	{ "IpAddr", "core::net", show_payload, { NULL } },
	{ "SocketAddr", "core::net", show_payload, { NULL } },
	{ "SocketAddrV4", "core::net", show_socket_v4, { "port", "sin_port", "ip | sin_addr" } },
	{ "SocketAddrV6", "core::net", show_socket_v6, { "port", "sin6_port", "ip | sin6_addr" } },
	/* before 1.69 */
	{ "Ipv4Addr", "std::net", show_v4, { NULL } },
	{ "Ipv6Addr", "std::net", show_v6, { NULL } },
	{ "IpAddr", "std::net", show_payload, { NULL } },
	{ "SocketAddr", "std::net", show_payload, { NULL } },
	{ "SocketAddrV4", "std::net", show_socket_v4, { "port", "sin_port", "ip | sin_addr" } },
	{ "SocketAddrV6", "std::net", show_socket_v6, { "port", "sin6_port", "ip | sin6_addr" } },
	{ "Cow", "alloc::borrow", show_payload, { NULL } },
	{ "Bytes", "bytes::bytes", show_std_show_bytes, { NULL } },
	{ "BytesMut", "bytes::bytes_mut", show_std_show_bytes, { NULL } },
	{ "Range", "core::ops::range", show_range, { "start", "..", "end" } },
	{ "RangeInclusive", "core::ops::range", show_range_inclusive, { "start", "..=", "end" } },
	{ "RangeFrom", "core::ops::range", show_range, { "start", "..", NULL } },
	{ "RangeTo", "core::ops::range", show_range, { NULL, "..", "end" } },
};

static struct error *show_socket(struct show *s, struct value v, const struct show_row *row)
{
	uint64_t fd;

	TRY(show_row_number(s, v, row->expr[0], &fd));
	show_printf(s, "%s { fd: %" PRId32 " }", row->type, (int32_t)fd);
	return NULL;
}

static const struct std_row *find_std(const struct type *t)
{
	for (size_t i = 0; i < sizeof(std_table) / sizeof(std_table[0]); i++) {
		if (show_is(t, std_table[i].type, std_table[i].within))
			return &std_table[i];
	}
	return NULL;
}

static struct error *show_registered(struct show *s, struct value v, const struct show_row *row)
{
	return row->how == SHOW_SOCKET ? show_socket(s, v, row) : row->show(s, v, row);
}

struct error *show_std(struct show *s, struct value v, bool *done)
{
	enum type_kind kind = type_kind(v.type);
	const struct plan *plan;
	struct value inner;

	*done = false;
	if (kind != TYPE_STRUCT && kind != TYPE_ENUM && kind != TYPE_UNION)
		return NULL;
	plan = plan_of(s->cache, v.type);
	*done = plan->through || plan->row || plan->std;
	if (plan->through) {
		TRY(show_std_follow(s->target, s->cache, v, plan->through, &inner));
		show_behind(s, inner);
		return NULL;
	}
	if (plan->row)
		return show_registered(s, v, plan->row);
	return plan->std ? plan->std->show(s, v, plan->std) : NULL;
}

struct error *show_deref(struct target *t, struct show_cache *cache, struct value v,
                         struct value *ret, bool *found)
{
	const struct plan *plan;
	uint64_t addr;

	*found = false;
	if (type_kind(v.type) == TYPE_POINTER) {
		TRY(target_read_uint(t, v.addr, 8, &addr));
		*found = addr != 0 && type_target(v.type);
		*ret = (struct value){ type_target(v.type), addr };
		return NULL;
	}
	if (type_wide_kind(v.type) != WIDE_NONE && !type_is_slice(v.type))
		return wide_value_behind(t, v, ret, found);
	if (type_kind(v.type) != TYPE_STRUCT)
		return NULL;
	plan = plan_of(cache, v.type);
	if (!plan->through)
		return NULL;
	TRY(show_std_follow(t, cache, v, plan->through, ret));
	*found = true;
	return NULL;
}
