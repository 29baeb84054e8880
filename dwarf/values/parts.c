#include "dwarf/values/parts.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "dwarf/names/qualified.h"
#include "dwarf/values/entries.h"
#include "dwarf/values/show_private.h"

enum { MAX_HOPS = 32 };

/* Kinds of the parts of a value. */
enum whole_kind { WHOLE_NONE, WHOLE_MEMBERS, WHOLE_ELEMENTS, WHOLE_ENTRIES };

/* The value whose parts are listed, behind pointers and wrappers. */
struct whole {
	enum whole_kind kind;
	struct value v; /* a struct, or a collection */
	uint64_t count; /* of elements or entries */
	bool is_map;
};

/* Collections whose entries are walked; expr: where. */
static const struct {
	const char *type, *within, *expr;
	bool is_map;
} collections[] = {
	{ "HashMap", "std::collections", "base.table", true },
	{ "HashSet", "std::collections", "base.map.table", false },
	{ "HashMap", "hashbrown", "table", true },
	{ "HashSet", "hashbrown", "map.table", false },
	{ "BTreeMap", "alloc::collections", NULL, true },
	{ "BTreeSet", "alloc::collections", "map", false },
	{ "LinkedList", "alloc::collections", NULL, false },
};

/* Cells and locks, which are looked through. */
static const struct {
	const char *type, *within, *expr;
} wrappers[] = {
	{ "Cell", "core::cell", "value" },        { "RefCell", "core::cell", "value" },
	{ "ManuallyDrop", "core::mem", "value" }, { "Mutex", "std::sync", "data" },
	{ "RwLock", "std::sync", "data" },        { "Mutex", "lock_api", "data" },
	{ "RwLock", "lock_api", "data" },
};

/* Types whose values are shown as one text. */
static const struct {
	const char *type, *within;
} texts[] = {
	{ "String", "alloc::string" },      { "PathBuf", "std::path" }, { "OsString", "std::ffi" },
	{ "CString", "alloc::ffi" },        { "CString", "std::ffi" },  { "Bytes", "bytes::bytes" },
	{ "BytesMut", "bytes::bytes_mut" },
};

static bool is_text(const struct type *t)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (show_is(t, texts[i].type, texts[i].within))
			return true;
	}
	return false;
}

/* Whether the standard library declares the type: its members are not listed as parts. */
static bool is_standard(const struct type *t)
{
	static const char *const heads[] = { "std::", "core::", "alloc::", "hashbrown::" };

	return str_begins_with_any(type_name(t), heads);
}

/* ---- what the parts are ---- */

static bool keep_entry(const struct entry *entry, void *arg)
{
	(void)entry;
	(void)arg;
	return false;
}

static struct error *find_collection(const struct parts_context *c, struct value v,
                                     struct whole *ret, bool *found)
{
	*found = false;
	for (size_t i = 0; i < sizeof(collections) / sizeof(*collections); i++) {
		struct value inner = v;

		if (!show_is(v.type, collections[i].type, collections[i].within))
			continue;
		if (collections[i].expr)
			TRY(show_place(c->target, c->cache, v, collections[i].expr, &inner));
		*ret = (struct whole){ .kind = WHOLE_ENTRIES,
			               .v = inner,
			               .is_map = collections[i].is_map };
		*found = true;
		return entries_walk(c->target, c->cache, inner, entries_kind(inner.type),
		                    keep_entry, NULL, &ret->count);
	}
	return NULL;
}

static struct error *look_through(const struct parts_context *c, struct value *v, bool *found)
{
	TRY(show_deref(c->target, c->cache, *v, v, found));
	for (size_t i = 0; !*found && i < sizeof(wrappers) / sizeof(*wrappers); i++) {
		if (!show_is(v->type, wrappers[i].type, wrappers[i].within))
			continue;
		TRY(show_place(c->target, c->cache, *v, wrappers[i].expr, v));
		*found = true;
	}
	return NULL;
}

static bool has_members(const struct type *t)
{
	size_t n;

	type_members(t, &n);
	return n != 0;
}

/* A value that nothing has to be looked through for. */
static struct error *find_members(const struct parts_context *c, struct value v, struct whole *ret)
{
	const struct variant *active;

	if (type_kind(v.type) == TYPE_ENUM && !type_is_coroutine(v.type)) {
		TRY(value_variant(c->target, v, &active));
		v = value_payload(v, active);
	} else if (type_kind(v.type) != TYPE_STRUCT || is_standard(v.type) || is_text(v.type)) {
		return NULL;
	}
	if (v.type && has_members(v.type))
		*ret = (struct whole){ .kind = WHOLE_MEMBERS, .v = v };
	return NULL;
}

static struct error *find_whole(const struct parts_context *c, struct value v, struct whole *ret)
{
	*ret = (struct whole){ 0 };
	for (int hop = 0; hop < MAX_HOPS && v.type && !is_text(v.type); hop++) {
		struct error *err = show_length(c->target, c->cache, v, &ret->count);
		bool found;

		if (!err) {
			ret->kind = WHOLE_ELEMENTS;
			ret->v = v;
			return NULL;
		}
		if (err->kind != ERR_LAYOUT)
			return err;
		error_free(err);
		TRY(find_collection(c, v, ret, &found));
		if (found)
			return NULL;
		TRY(look_through(c, &v, &found));
		if (!found)
			return v.type ? find_members(c, v, ret) : NULL;
	}
	return NULL;
}

struct error *parts_count(const struct parts_context *c, struct value v, struct parts_count *ret)
{
	struct whole whole;
	size_t n = 0;

	*ret = (struct parts_count){ 0 };
	TRY(find_whole(c, v, &whole));
	if (whole.kind == WHOLE_MEMBERS)
		type_members(whole.v.type, &n);
	ret->named = n;
	ret->indexed = whole.kind == WHOLE_MEMBERS ? 0 : whole.count;
	return NULL;
}

/* ---- the parts ---- */

struct parts_listing {
	const struct parts_context *c;
	struct arena *a;
	bool is_map;
	uint64_t at, first, end; /* index of the next entry, and what is listed */
	VEC(struct part) parts;
};

static struct part *parts_add(struct parts_listing *l, const char *name, struct value v)
{
	struct part *p = vec_push(&l->parts);

	p->name = name;
	p->v = v;
	return p;
}

/* Whether the text of a value says that what belongs to it is secret. */
static bool names_secret(const struct parts_listing *l, struct value key, const char **text)
{
	*text = show_value(l->c->target, l->c->di, l->c->cache, l->a, key, NULL);
	return l->c->secrets && secrets_has_text(l->c->secrets, *text, strlen(*text));
}

/*
 * Whether a member is secret: by its name, or as the value of an entry or pair with a secret key.
 * The key of an ExtraValue is not known.
 */
static bool is_secret(const struct parts_listing *l, struct value v, const struct member *m)
{
	const struct member *key = type_member(v.type, "key");
	const char *last = qualified_last(type_name(v.type)), *text;
	size_t n;

	if (!l->c->secrets || !m->name)
		return false;
	if (secrets_has(l->c->secrets, m->name, strlen(m->name)))
		return true;
	type_members(v.type, &n);
	if (!key && n == 2 && strcmp(m->name, "__1") == 0)
		key = type_member(v.type, "__0");
	else if (strcmp(m->name, "value") != 0)
		return false;
	if (!key || !key->type)
		return str_begins(last, "ExtraValue");
	return names_secret(l, (struct value){ key->type, v.addr + key->offset }, &text);
}

static void parts_list_members(struct parts_listing *l, struct value v)
{
	size_t n;
	const struct member *members = type_members(v.type, &n);

	for (size_t i = l->first; i < n && i < l->end; i++) {
		const struct member *m = &members[i];
		const char *name = m->name ? m->name : "?";

		if (strncmp(name, "__", 2) == 0 && isdigit((unsigned char)name[2]))
			name += 2;
		struct part *p = parts_add(l, str_clean(l->a, name, strlen(name)),
		                           (struct value){ m->type, v.addr + m->offset });
		p->redacted = is_secret(l, v, m);
	}
}

static struct error *list_elements(struct parts_listing *l, const struct whole *whole)
{
	struct value v;

	for (uint64_t i = l->first; i < whole->count && i < l->end; i++) {
		TRY(interrupt_check());
		TRY(show_index(l->c->target, l->c->cache, whole->v, i, &v));
		parts_add(l, arena_printf(l->a, "[%" PRIu64 "]", i), v);
	}
	return NULL;
}

static bool list_entry(const struct entry *entry, void *arg)
{
	struct parts_listing *l = arg;
	uint64_t i = l->at++;

	if (i < l->first)
		return i < PARTS_WALK;
	if (i >= l->end)
		return false;
	if (!l->is_map || !entry->key.type) {
		parts_add(l, arena_printf(l->a, "[%" PRIu64 "]", i),
		          l->is_map ? entry->value : entry->key);
		return true;
	}
	const char *name;
	bool secret = names_secret(l, entry->key, &name);
	parts_add(l, arena_printf(l->a, "[%s]", name), entry->value)->redacted = secret;
	return true;
}

struct error *parts_list(const struct parts_context *c, struct value v, uint64_t first,
                         uint64_t count, struct arena *a, struct part **ret, size_t *nret)
{
	struct parts_listing l = { .c = c, .a = a, .first = first };
	struct error *err = NULL;
	struct whole whole;
	uint64_t n;

	if (count > PARTS_MAX)
		count = PARTS_MAX;
	l.end = first > UINT64_MAX - count ? UINT64_MAX : first + count;
	TRY(find_whole(c, v, &whole));
	l.is_map = whole.is_map;
	if (whole.kind == WHOLE_MEMBERS)
		parts_list_members(&l, whole.v);
	else if (whole.kind == WHOLE_ELEMENTS)
		err = list_elements(&l, &whole);
	else if (whole.kind == WHOLE_ENTRIES)
		err = entries_walk(c->target, c->cache, whole.v, entries_kind(whole.v.type),
		                   list_entry, &l, &n);
	*nret = l.parts.n;
	*ret = vec_to_arena(&l.parts, a);
	return err;
}

const char *parts_text(const struct parts_context *c, const struct part *p, struct arena *a)
{
	struct redaction redaction = { .secrets = c->secrets };

	if (!p->v.type)
		return "<not in the debug info>";
	return p->redacted ? REDACTED : show_value(c->target, c->di, c->cache, a, p->v, &redaction);
}

bool parts_code(const struct parts_context *c, struct value v, uint64_t *ret)
{
	const struct type *target = type_kind(v.type) == TYPE_POINTER ? type_target(v.type) : NULL;

	if (!target || type_kind(target) != TYPE_FUNCTION)
		return false;
	struct error *err CLEANUP(error_freep) =
		target_read_uint(c->target, v.addr, sizeof(*ret), ret);
	return !err;
}
