#include "dwarf/values/entries.h"

#include <inttypes.h>
#include <string.h>

#include "dwarf/lookup/lookup.h"
#include "dwarf/names/qualified.h"
#include "dwarf/values/hash_table.h"
#include "dwarf/values/show_private.h"

enum {
	MAX_BUCKETS = 1 << 20, /* most of them empty */
	BTREE_CAPACITY = 11,
	BTREE_MAX_HEIGHT = 32,
};

enum entries_kind entries_kind(const struct type *t)
{
	static const struct {
		const char *type;
		enum entries_kind kind;
	} table[] = {
		{ "alloc::collections::vec_deque::VecDeque", ENTRIES_DEQUE },
		{ "alloc::collections::linked_list::LinkedList", ENTRIES_LIST },
		{ "hashbrown::raw::RawTable", ENTRIES_TABLE },
		{ "alloc::collections::btree::map::BTreeMap", ENTRIES_BTREE },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (qualified_is(type_name(t), table[i].type))
			return table[i].kind;
	}
	return ENTRIES_NONE;
}

struct entries_walk {
	struct target *t;
	struct show_cache *cache;
	entry_fn *each;
	void *arg;
	uint64_t n, *count; /* elements visited, and all */
};

/* Whether the walk goes on. */
static bool entries_visit(struct entries_walk *w, struct value key, struct value value)
{
	struct entry entry = { key, value };

	w->n++;
	return w->each(&entry, w->arg) && w->n < *w->count;
}

static struct value entries_part(struct value v, const struct member *m)
{
	return (struct value){ m->type, v.addr + m->offset };
}

/* ---- VecDeque ---- */

struct entries_deque {
	const struct type *element;
	uint64_t ptr, cap, start, len;
};

static struct error *entries_read_deque(struct target *t, struct show_cache *cache, struct value v,
                                        struct entries_deque *ret)
{
	uint64_t bytes, size, tail;
	struct entries_deque d = { .element = type_param(v.type, "T") };

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

static struct value deque_element(const struct entries_deque *d, uint64_t index)
{
	uint64_t room = d->cap - d->start;
	uint64_t slot = index < room ? d->start + index : index - room;

	return (struct value){ d->element, d->ptr + slot * type_size(d->element) };
}

static struct error *walk_deque(struct entries_walk *w, struct value v)
{
	struct entries_deque d;

	TRY(entries_read_deque(w->t, w->cache, v, &d));
	*w->count = d.len;
	for (uint64_t i = 0; i < d.len; i++) {
		if (!entries_visit(w, deque_element(&d, i), (struct value){ 0 }))
			break;
	}
	return NULL;
}

struct error *entries_of_deque(struct target *t, struct show_cache *cache, struct value v,
                               uint64_t index, struct value *ret)
{
	struct entries_deque d;

	TRY(entries_read_deque(t, cache, v, &d));
	if (index >= d.len)
		return error_new(ERR_USAGE, "there are %" PRIu64 " elements", d.len);
	*ret = deque_element(&d, index);
	return NULL;
}

struct error *entries_in_deque(struct target *t, struct show_cache *cache, struct value v,
                               uint64_t *ret)
{
	struct entries_deque d;

	TRY(entries_read_deque(t, cache, v, &d));
	*ret = d.len;
	return NULL;
}

/* ---- LinkedList ---- */

/* The nodes are linked by Option<NonNull<Node<T>>>: 0 is None. */
static struct error *walk_list(struct entries_walk *w, struct value v)
{
	struct value link, element, node;

	TRY(show_uint(w->t, w->cache, v, "len", w->count));
	TRY(show_place(w->t, w->cache, v, "head", &link));
	for (uint64_t i = 0; i < *w->count; i++) {
		TRY(show_place(w->t, w->cache, link, "Some.pointer", &node));
		TRY(show_follow(w->t, node, &node));
		TRY(show_place(w->t, w->cache, node, "element", &element));
		if (!entries_visit(w, element, (struct value){ 0 }))
			break;
		TRY(show_place(w->t, w->cache, node, "next", &link));
	}
	return NULL;
}

/* ---- hash tables ---- */

/* A bucket of a SwissTable: the tuple (K, V), or (K, ()) of a set. */
static bool visit_bucket(struct entries_walk *w, struct value bucket)
{
	const struct member *key = type_member(bucket.type, "__0");
	const struct member *value = type_member(bucket.type, "__1");
	size_t n;

	type_members(bucket.type, &n);
	if (n != 2 || !key || !value)
		return entries_visit(w, bucket, (struct value){ 0 });
	return entries_visit(w, entries_part(bucket, key), entries_part(bucket, value));
}

static struct error *walk_table(struct entries_walk *w, struct value v)
{
	const struct type *element = type_param(v.type, "T");
	uint64_t mask, ctrl;
	struct hash_table table;
	struct value bucket;
	bool found;

	if (!element)
		return error_new(ERR_LAYOUT, "element type unknown");
	TRY(show_uint(w->t, w->cache, v, "bucket_mask", &mask));
	TRY(show_uint(w->t, w->cache, v, "ctrl", &ctrl));
	TRY(show_uint(w->t, w->cache, v, "items", w->count));
	TRY(hash_table_open(&table, element, mask, ctrl, *w->count));
	if (table.buckets > MAX_BUCKETS)
		table.buckets = MAX_BUCKETS;
	TRY(hash_table_next(w->t, &table, &bucket, &found));
	while (found && visit_bucket(w, bucket))
		TRY(hash_table_next(w->t, &table, &bucket, &found));
	return NULL;
}

/* ---- B-trees ---- */

struct btree {
	struct entries_walk *w;
	const struct type *leaf, *internal; /* LeafNode<K, V>; internal may be NULL */
};

/* Slot i of keys or vals: a MaybeUninit<K>, whose value is at its start. */
static struct value entries_slot_of(const struct btree *b, uint64_t node, const char *member,
                                    uint64_t i)
{
	const struct member *m = type_member(b->leaf, member);
	const struct type *each =
		m && type_kind(m->type) == TYPE_ARRAY ? type_target(m->type) : NULL;
	const struct type *t = each ? type_param(each, "T") : NULL;

	return t ? (struct value){ t, node + m->offset + i * type_size(each) }
	         : (struct value){ 0 };
}

/* Visits the entries in order; *more is false when the walk has ended. */
static struct error *walk_node(struct btree *b, uint64_t node, uint64_t height, bool *more)
{
	struct target *t = b->w->t;
	const struct member *len = type_member(b->leaf, "len");
	const struct member *edges = height ? type_member(b->internal, "edges") : NULL;
	uint64_t n, child;

	TRY(target_read_uint(t, node + len->offset, 2, &n));
	if (n > BTREE_CAPACITY || node == 0)
		return error_new(ERR_CORRUPT, "node");
	for (uint64_t i = 0; i <= n && *more; i++) {
		if (edges) {
			TRY(target_read_uint(t, node + edges->offset + i * 8, 8, &child));
			TRY(walk_node(b, child, height - 1, more));
		}
		if (*more && i < n)
			*more = entries_visit(b->w, entries_slot_of(b, node, "keys", i),
			                      entries_slot_of(b, node, "vals", i));
	}
	return NULL;
}

static struct error *find_inner_node(struct btree *b)
{
	const char *generics = strchr(qualified_last(type_name(b->leaf)), '<');
	SCRATCH(tmp);
	const char *name = arena_printf(&tmp, "alloc::collections::btree::node::InternalNode%s",
	                                generics ? generics : "");

	b->internal = lookup_type(type_module(b->leaf), name, type_die(b->leaf));
	return b->internal && type_member(b->internal, "edges")
	               ? NULL
	               : error_new(ERR_LAYOUT, "no inner node");
}

static struct error *walk_btree(struct entries_walk *w, struct value v)
{
	struct btree b = { .w = w };
	struct value node, leaf;
	uint64_t height;
	bool more = true;

	TRY(show_uint(w->t, w->cache, v, "length", w->count));
	if (*w->count == 0)
		return NULL;
	TRY(show_place(w->t, w->cache, v, "root.node", &node));
	TRY(show_uint(w->t, w->cache, v, "root.height", &height));
	TRY(show_follow(w->t, node, &leaf));
	b.leaf = leaf.type;
	if (height > BTREE_MAX_HEIGHT)
		return error_new(ERR_CORRUPT, "height");
	if (!type_member(b.leaf, "len") || type_size(type_member(b.leaf, "len")->type) != 2)
		return error_new(ERR_LAYOUT, "no node");
	if (height)
		TRY(find_inner_node(&b));
	return walk_node(&b, leaf.addr, height, &more);
}

struct error *entries_walk(struct target *t, struct show_cache *cache, struct value v,
                           enum entries_kind kind, entry_fn *each, void *arg, uint64_t *count)
{
	struct entries_walk w = {
		.t = t, .cache = cache, .each = each, .arg = arg, .count = count
	};

	*count = 0;
	switch (kind) {
	case ENTRIES_DEQUE:
		return walk_deque(&w, v);
	case ENTRIES_LIST:
		return walk_list(&w, v);
	case ENTRIES_TABLE:
		return walk_table(&w, v);
	case ENTRIES_BTREE:
		return walk_btree(&w, v);
	default:
		return error_new(ERR_LAYOUT, "%s has no entries", type_name(v.type));
	}
}
