/* Prints String, Vec, VecDeque, LinkedList, HashMap, BTreeMap and their sets. */
#include <inttypes.h>
#include <string.h>

#include "dwarf/values/entries.h"
#include "dwarf/values/show_private.h"

struct buffer {
	uint64_t ptr, cap, len;
};

/* A Vec or a wrapper of one; size: size of its elements. */
static struct error *show_collections_read_buffer(struct target *t, struct show_cache *cache,
                                                  struct value v, uint64_t size, struct buffer *ret)
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
	TRY(show_collections_read_buffer(s->target, s->cache, v, 1, &b));
	return show_quoted(s, b.ptr, b.len, QUOTE_STR);
}

struct error *show_vec(struct show *s, struct value v, const struct std_row *row)
{
	const struct type *element = type_param(v.type, "T");
	struct buffer b;

	(void)row;
	if (!element)
		return error_new(ERR_LAYOUT, "element type unknown");
	TRY(show_collections_read_buffer(s->target, s->cache, v, type_size(element), &b));
	show_put(s, "[");
	show_elements(s, element, b.ptr, b.len);
	show_put(s, "]");
	return NULL;
}

/* ---- VecDeque, LinkedList, hash tables, B-trees ---- */

struct show_collections_listing {
	struct show *s;
	const char *open;
	bool is_map, full; /* full: no more elements are printed */
	uint64_t n;
};

/* The text of the key is in s->out, in [from, end). */
static void show_part(struct show *s, size_t from, size_t end, struct value v)
{
	if (v.type)
		show_keyed(s, from, end, v);
	else
		show_put(s, "<not understood>");
}

static bool show_entry(const struct entry *entry, void *arg)
{
	struct show_collections_listing *l = arg;
	struct show *s = l->s;

	if (l->n == 0)
		show_put(s, l->open);
	l->full = !show_next(s, l->n++);
	if (l->full)
		return false;
	size_t from = s->out.len;
	show_part(s, from, from, entry->key);
	if (!l->is_map)
		return true;
	size_t end = s->out.len;
	show_put(s, ": ");
	show_part(s, from, end, entry->value);
	return true;
}

static struct error *show_entries(struct show *s, struct value v, enum entries_kind kind,
                                  bool is_map)
{
	bool braces = kind == ENTRIES_TABLE || kind == ENTRIES_BTREE;
	struct show_collections_listing l = { .s = s,
		                              .open = braces ? "{" : "[",
		                              .is_map = is_map };
	uint64_t count;

	TRY(entries_walk(s->target, s->cache, v, kind, show_entry, &l, &count));
	if (l.n == 0)
		show_put(s, l.open);
	if (l.n < count && !l.full)
		show_put(s, l.n ? ", ..." : "...");
	show_put(s, braces ? "}" : "]");
	return NULL;
}

struct error *show_deque(struct show *s, struct value v, const struct std_row *row)
{
	(void)row;
	return show_entries(s, v, ENTRIES_DEQUE, false);
}

struct error *show_linked_list(struct show *s, struct value v, const struct std_row *row)
{
	(void)row;
	return show_entries(s, v, ENTRIES_LIST, false);
}

/* expr: the RawTable */
struct error *show_hash_map(struct show *s, struct value v, const struct std_row *row)
{
	struct value table;

	TRY(show_row_place(s, v, row->expr[0], &table));
	return show_entries(s, table, ENTRIES_TABLE, true);
}

struct error *show_hash_set(struct show *s, struct value v, const struct std_row *row)
{
	struct value table;

	TRY(show_row_place(s, v, row->expr[0], &table));
	return show_entries(s, table, ENTRIES_TABLE, false);
}

struct error *show_btree_map(struct show *s, struct value v, const struct std_row *row)
{
	(void)row;
	return show_entries(s, v, ENTRIES_BTREE, true);
}

struct error *show_btree_set(struct show *s, struct value v, const struct std_row *row)
{
	struct value map;

	TRY(show_row_place(s, v, row->expr[0], &map));
	return show_entries(s, map, ENTRIES_BTREE, false);
}

/* ---- elements by number ---- */

/* The elements of an array, slice or Vec. */
struct show_collections_elements {
	const struct type *element;
	uint64_t addr, count;
};

static struct error *find_elements(struct target *t, struct show_cache *cache, struct value v,
                                   struct show_collections_elements *ret)
{
	const struct type *element = type_param(v.type, "T");
	struct buffer b;
	struct fat fat;

	*ret = (struct show_collections_elements){ 0 };
	if (type_kind(v.type) == TYPE_ARRAY && type_target(v.type)) {
		*ret = (struct show_collections_elements){ type_target(v.type), v.addr,
			                                   type_count(v.type) };
	} else if (type_is_slice(v.type)) {
		TRY(show_read_fat(t, v, &fat));
		if (!fat.is_text)
			*ret = (struct show_collections_elements){ fat.element, fat.addr,
				                                   fat.count };
	} else if (show_is(v.type, "Vec", "alloc::vec") && element) {
		TRY(show_collections_read_buffer(t, cache, v, type_size(element), &b));
		*ret = (struct show_collections_elements){ element, b.ptr, b.len };
	}
	return ret->element ? NULL : error_new(ERR_LAYOUT, "%s has no elements", type_name(v.type));
}

struct error *show_length(struct target *t, struct show_cache *cache, struct value v, uint64_t *ret)
{
	struct show_collections_elements e;

	if (entries_kind(v.type) == ENTRIES_DEQUE)
		return entries_in_deque(t, cache, v, ret);
	TRY(find_elements(t, cache, v, &e));
	*ret = e.count;
	return NULL;
}

struct error *show_index(struct target *t, struct show_cache *cache, struct value v, uint64_t index,
                         struct value *ret)
{
	struct show_collections_elements e;

	if (entries_kind(v.type) == ENTRIES_DEQUE)
		return entries_of_deque(t, cache, v, index, ret);
	TRY(find_elements(t, cache, v, &e));
	if (index >= e.count)
		return error_new(ERR_USAGE, "there are %" PRIu64 " elements", e.count);
	*ret = (struct value){ e.element, e.addr + index * type_size(e.element) };
	return NULL;
}
