/* Prints String, Vec, VecDeque, LinkedList, HashMap, BTreeMap and their sets. */
#include <inttypes.h>
#include <string.h>

#include "dwarf/lookup/lookup.h"
#include "dwarf/names/qualified.h"
#include "dwarf/values/hash_table.h"
#include "dwarf/values/show_private.h"

struct buffer {
	uint64_t ptr, cap, len;
};

/* A Vec or a wrapper of one; size: size of its elements. */
static struct error *read_buffer(struct target *t, struct show_cache *cache, struct value v,
                                 uint64_t size, struct buffer *ret)
{
	uint64_t bytes;

	TRY(show_uint(t, cache, v, "buf.ptr", &ret->ptr));
	TRY(show_uint(t, cache, v, "buf.cap", &ret->cap));
	TRY(show_uint(t, cache, v, "len", &ret->len));
	if (size && (ret->len > ret->cap || __builtin_mul_overflow(ret->cap, size, &bytes) ||
	             bytes > INT64_MAX))
		return error_new(ERR_CORRUPT, "length");
	return NULL;
}

/* String, PathBuf, OsString: a Vec<u8> inside single-member structs. */
struct error *show_string(struct show *s, struct value v, const struct std_row *row)
{
	struct buffer b;

	(void)row;
	TRY(read_buffer(s->target, s->cache, v, 1, &b));
	return show_quoted(s, b.ptr, b.len, QUOTE_STR);
}

struct error *show_vec(struct show *s, struct value v, const struct std_row *row)
{
	const struct type *element = type_param(v.type, "T");
	struct buffer b;

	(void)row;
	if (!element)
		return error_new(ERR_LAYOUT, "element type unknown");
	TRY(read_buffer(s->target, s->cache, v, type_size(element), &b));
	show_put(s, "[");
	show_elements(s, element, b.ptr, b.len);
	show_put(s, "]");
	return NULL;
}

struct deque {
	const struct type *element;
	uint64_t ptr, cap, start, len;
};

static struct error *read_deque(struct target *t, struct show_cache *cache, struct value v,
                                struct deque *ret)
{
	uint64_t bytes, size, tail;
	struct deque d = { .element = type_param(v.type, "T") };

	if (!d.element)
		return error_new(ERR_LAYOUT, "element type unknown");
	size = type_size(d.element);
	TRY(show_uint(t, cache, v, "buf.ptr", &d.ptr));
	TRY(show_uint(t, cache, v, "buf.cap", &d.cap));
	TRY(show_uint(t, cache, v, "head", &d.start));
	struct error *err = show_uint(t, cache, v, "tail", &tail);
	if (err) {
		error_free(err);
		TRY(show_uint(t, cache, v, "len", &d.len));
	} else { /* before 1.67: from tail to head, in a capacity that is a power of two */
		d.len = d.cap ? (d.start - tail) & (d.cap - 1) : 0;
		d.start = tail;
	}
	if (size == 0)
		d.cap = UINT64_MAX;
	if (d.len > d.cap || (d.len && d.start >= d.cap) ||
	    (size && (__builtin_mul_overflow(d.cap, size, &bytes) || bytes > INT64_MAX)))
		return error_new(ERR_CORRUPT, "length");
	*ret = d;
	return NULL;
}

static struct value deque_element(const struct deque *d, uint64_t index)
{
	uint64_t room = d->cap - d->start;
	uint64_t slot = index < room ? d->start + index : index - room;

	return (struct value){ d->element, d->ptr + slot * type_size(d->element) };
}

struct error *show_deque(struct show *s, struct value v, const struct std_row *row)
{
	struct deque d;

	(void)row;
	TRY(read_deque(s->target, s->cache, v, &d));
	show_put(s, "[");
	for (uint64_t i = 0; i < d.len && show_next(s, i); i++)
		show_inner(s, deque_element(&d, i));
	show_put(s, "]");
	return NULL;
}

/* The nodes are linked by Option<NonNull<Node<T>>>: 0 is None. */
struct error *show_linked_list(struct show *s, struct value v, const struct std_row *row)
{
	struct value link, element, node;
	uint64_t len;

	(void)row;
	TRY(show_row_number(s, v, "len", &len));
	TRY(show_row_place(s, v, "head", &link));
	show_put(s, "[");
	for (uint64_t i = 0; i < len && show_next(s, i); i++) {
		TRY(show_row_place(s, link, "Some.pointer", &node));
		TRY(show_follow(s->target, node, &node));
		TRY(show_row_place(s, node, "element", &element));
		show_inner(s, element);
		TRY(show_row_place(s, node, "next", &link));
	}
	show_put(s, "]");
	return NULL;
}

/* A bucket of a SwissTable: the tuple (K, V), or (K, ()) of a set. */
static void show_entry(struct show *s, struct value entry, bool is_set)
{
	const struct member *key = type_member(entry.type, "__0");
	const struct member *value = type_member(entry.type, "__1");

	if (!key) {
		show_inner(s, entry);
		return;
	}
	size_t from = s->out.len;
	show_inner(s, (struct value){ key->type, entry.addr + key->offset });
	if (is_set || !value)
		return;
	size_t end = s->out.len;
	show_put(s, ": ");
	show_keyed(s, from, end, (struct value){ value->type, entry.addr + value->offset });
}

static struct error *show_table(struct show *s, struct value v, bool is_set)
{
	const struct type *element = type_param(v.type, "T");
	uint64_t mask, ctrl, items, chunks = SHOW_VALUES - s->values;
	struct hash_table table;
	struct value entry;
	bool found;

	if (!element)
		return error_new(ERR_LAYOUT, "element type unknown");
	TRY(show_row_number(s, v, "bucket_mask", &mask));
	TRY(show_row_number(s, v, "ctrl", &ctrl));
	TRY(show_row_number(s, v, "items", &items));
	TRY(hash_table_open(&table, element, mask, ctrl, items));
	if (table.buckets > chunks * HASH_TABLE_CHUNK)
		table.buckets = chunks * HASH_TABLE_CHUNK;
	show_put(s, "{");
	TRY(hash_table_next(s->target, &table, &entry, &found));
	while (found && show_next(s, table.seen - 1)) {
		show_entry(s, entry, is_set);
		TRY(hash_table_next(s->target, &table, &entry, &found));
	}
	s->values += (table.next + HASH_TABLE_CHUNK - 1) / HASH_TABLE_CHUNK;
	show_put(s, !found && table.seen < items ? ", ...}" : "}");
	return NULL;
}

/* expr: the RawTable */
struct error *show_hash_map(struct show *s, struct value v, const struct std_row *row)
{
	struct value table;

	TRY(show_row_place(s, v, row->expr[0], &table));
	return show_table(s, table, false);
}

struct error *show_hash_set(struct show *s, struct value v, const struct std_row *row)
{
	struct value table;

	TRY(show_row_place(s, v, row->expr[0], &table));
	return show_table(s, table, true);
}

enum { BTREE_CAPACITY = 11, BTREE_MAX_HEIGHT = 32 };

struct btree {
	struct show *s;
	const struct type *leaf, *internal; /* LeafNode<K, V>; internal may be NULL */
	bool is_set;
	uint64_t shown, length;
};

static const struct type *element_of(const struct type *leaf, const char *member)
{
	const struct member *m = type_member(leaf, member);

	return m && type_kind(m->type) == TYPE_ARRAY ? type_target(m->type) : NULL;
}

/*
 * Prints slot i of keys or vals: a MaybeUninit<K>, whose value is at its start. The text of its key
 * is in s->out, in [from, end).
 */
static void show_slot(struct btree *b, uint64_t node, const char *member, uint64_t i, size_t from,
                      size_t end)
{
	const struct member *m = type_member(b->leaf, member);
	const struct type *slot = element_of(b->leaf, member);
	const struct type *t = slot ? type_param(slot, "T") : NULL;

	if (t)
		show_keyed(b->s, from, end,
		           (struct value){ t, node + m->offset + i * type_size(slot) });
	else
		show_put(b->s, "<not understood>");
}

static bool show_pair(struct btree *b, uint64_t node, uint64_t i)
{
	if (b->shown >= b->length || !show_next(b->s, b->shown))
		return false;
	b->shown++;
	struct show *s = b->s;
	size_t from = s->out.len;
	show_slot(b, node, "keys", i, from, from);
	if (!b->is_set) {
		size_t end = s->out.len;

		show_put(s, ": ");
		show_slot(b, node, "vals", i, from, end);
	}
	return true;
}

/* Prints the entries in order; *more is false when the limit is reached. */
static struct error *walk_btree(struct btree *b, uint64_t node, uint64_t height, bool *more)
{
	struct target *t = b->s->target;
	const struct member *len = type_member(b->leaf, "len");
	const struct member *edges = height ? type_member(b->internal, "edges") : NULL;
	uint64_t n, child;

	TRY(target_read_uint(t, node + len->offset, 2, &n));
	if (n > BTREE_CAPACITY || node == 0)
		return error_new(ERR_CORRUPT, "node");
	for (uint64_t i = 0; i <= n && *more; i++) {
		if (edges) {
			TRY(target_read_uint(t, node + edges->offset + i * 8, 8, &child));
			TRY(walk_btree(b, child, height - 1, more));
		}
		if (*more && i < n)
			*more = show_pair(b, node, i);
	}
	return NULL;
}

static struct error *show_btree(struct show *s, struct value v, bool is_set)
{
	struct btree b = { .s = s, .is_set = is_set };
	struct value node, leaf;
	uint64_t height;
	bool more = true;

	TRY(show_row_number(s, v, "length", &b.length));
	if (b.length == 0) {
		show_put(s, "{}");
		return NULL;
	}
	TRY(show_row_place(s, v, "root.node", &node));
	TRY(show_row_number(s, v, "root.height", &height));
	TRY(show_follow(s->target, node, &leaf));
	b.leaf = leaf.type;
	if (height > BTREE_MAX_HEIGHT)
		return error_new(ERR_CORRUPT, "height");
	if (!type_member(b.leaf, "len") || type_size(type_member(b.leaf, "len")->type) != 2)
		return error_new(ERR_LAYOUT, "no node");
	if (height) {
		const char *generics = strchr(qualified_last(type_name(b.leaf)), '<');
		SCRATCH(tmp);
		const char *name =
			arena_printf(&tmp, "alloc::collections::btree::node::InternalNode%s",
		                     generics ? generics : "");

		b.internal = lookup_type(type_module(b.leaf), name, type_die(b.leaf));
		if (!b.internal || !type_member(b.internal, "edges"))
			return error_new(ERR_LAYOUT, "no inner node");
	}
	show_put(s, "{");
	TRY(walk_btree(&b, leaf.addr, height, &more));
	show_put(s, "}");
	return NULL;
}

struct error *show_btree_map(struct show *s, struct value v, const struct std_row *row)
{
	(void)row;
	return show_btree(s, v, false);
}

struct error *show_btree_set(struct show *s, struct value v, const struct std_row *row)
{
	struct value map;

	TRY(show_row_place(s, v, row->expr[0], &map));
	return show_btree(s, map, true);
}

/* The elements of an array, slice, Vec or VecDeque. */
struct elements {
	const struct type *element;
	uint64_t addr, count;
	struct deque deque; /* element NULL: they follow each other from addr on */
};

static struct error *find_elements(struct target *t, struct show_cache *cache, struct value v,
                                   struct elements *ret)
{
	const struct type *element = type_param(v.type, "T");
	struct buffer b;
	struct fat fat;

	*ret = (struct elements){ 0 };
	if (type_kind(v.type) == TYPE_ARRAY && type_target(v.type)) {
		*ret = (struct elements){ type_target(v.type), v.addr, type_count(v.type), { 0 } };
	} else if (type_is_slice(v.type)) {
		TRY(show_read_fat(t, v, &fat));
		if (!fat.is_text)
			*ret = (struct elements){ fat.element, fat.addr, fat.count, { 0 } };
	} else if (show_is(v.type, "Vec", "alloc::vec") && element) {
		TRY(read_buffer(t, cache, v, type_size(element), &b));
		*ret = (struct elements){ element, b.ptr, b.len, { 0 } };
	} else if (show_is(v.type, "VecDeque", "alloc::collections")) {
		TRY(read_deque(t, cache, v, &ret->deque));
		ret->element = ret->deque.element;
		ret->count = ret->deque.len;
	}
	return ret->element ? NULL : error_new(ERR_LAYOUT, "%s has no elements", type_name(v.type));
}

struct error *show_length(struct target *t, struct show_cache *cache, struct value v, uint64_t *ret)
{
	struct elements e;

	TRY(find_elements(t, cache, v, &e));
	*ret = e.count;
	return NULL;
}

struct error *show_index(struct target *t, struct show_cache *cache, struct value v, uint64_t index,
                         struct value *ret)
{
	struct elements e;

	TRY(find_elements(t, cache, v, &e));
	if (index >= e.count)
		return error_new(ERR_USAGE, "there are %" PRIu64 " elements", e.count);
	*ret = e.deque.element ? deque_element(&e.deque, index)
	                       : (struct value){ e.element, e.addr + index * type_size(e.element) };
	return NULL;
}
