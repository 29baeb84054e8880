#include "runtimes/future/leaf.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/qualified.h"
#include "dwarf/values/unwrap_newtype.h"
#include "dwarf/values/wide_value.h"
#include "runtimes/common/type_class.h"
#include "runtimes/common/waker.h"
#include "runtimes/future/future_class.h"

enum { MAX_DETAILS = 24, MAX_HOPS = 32 };

static const struct leaf_row *leaf_find_in(const struct leaf_row *rows, const char *name,
                                           bool resource)
{
	for (const struct leaf_row *row = rows; row->type; row++) {
		if (row->resource == resource && qualified_is(name, row->type))
			return row;
	}
	return NULL;
}

static const struct leaf_row *find_by_name(const struct debuginfo *di, const char *name,
                                           bool resource)
{
	const struct tables *tables = di->above;
	const struct leaf_row *row = leaf_find_in(leaf_core_rows, name, resource);

	if (row || !tables || !row_filter_may_have(&tables->leaves, name))
		return row;
	for (const struct crate_types *const *crate = crates_in(di); *crate && !row; crate++) {
		for (size_t i = 0; (*crate)->leaves && (*crate)->leaves[i] && !row; i++)
			row = leaf_find_in((*crate)->leaves[i], name, resource);
	}
	return row;
}

const struct leaf_row *leaf_find_row(const struct type *t, bool resource)
{
	return find_by_name(type_module(t)->di, type_name(t), resource);
}

const struct leaf_row *leaf_find_properties(const struct type *t)
{
	const struct tables *tables = runtime_tables_of(t);
	const char *name = type_name(t);
	const struct leaf_row *row = NULL;

	if (!tables || !row_filter_may_have(&tables->leaves, name))
		return NULL;
	for (const struct crate_types *const *crate = crates_of(t); *crate && !row; crate++)
		row = (*crate)->properties ? leaf_find_in((*crate)->properties, name, false) : NULL;
	return row;
}

bool leaf_proves_itself(const struct type *t)
{
	const struct leaf_row *row = type_class_of(t)->rows.leaf;

	return row && row->proves;
}

bool leaf_is_known(const struct type *t)
{
	return type_class_of(t)->rows.leaf != NULL;
}

bool leaf_is_known_name(const struct debuginfo *di, const char *name)
{
	return find_by_name(di, name, false) != NULL;
}

bool leaf_is_resource(const struct type *t)
{
	return type_class_of(t)->rows.resource != NULL;
}

bool leaf_owns_tasks(const struct type *t)
{
	const struct leaf_row *row = type_class_of(t)->rows.resource;

	return row && row->owns_tasks;
}

/* A future in a set is armed only if the set is. A task without wakers has none in a leaf. */
static void resolve_waker_registered(const struct decoder *d, struct wait *w, bool failed)
{
	if (failed)
		w->armed = WAKER_REGISTERED_UNKNOWN;
	else if (w->armed == WAKER_REGISTERED_YES && d->in_set)
		w->armed = d->set_armed;
	if (d->forgotten && w->armed != WAKER_REGISTERED_YES)
		w->armed = WAKER_REGISTERED_NO;
}

static enum resource_waker leaf_decode_row(struct decoder *d, const struct leaf_row *row,
                                           struct value v, struct future *f)
{
	struct wait *w = NEW(d->c->a, struct wait);
	struct leaf l = { .d = d, .v = v, .f = f, .w = w };
	struct wait_detail details[MAX_DETAILS + 1];

	arena_reset(&d->c->decoding.words);
	w->kind = row->kind;
	w->object = v.addr;
	w->details = details;
	struct error *err = row->decode(&l);
	/* Copies only the details in use: there may be a hundred thousand tasks. */
	w->details = arena_memdup(d->c->a, details, w->ndetails * sizeof(*details));
	if (err) {
		f->problem = marked_finish(d->c->a, err->marked, &f->problem_parts);
		d->faults++;
		if (!d->strict)
			d->c->out->complete = false;
		w->phrase = arena_printf(d->c->a, "%s, not readable", w->kind);
	}
	bool ours = l.in_use || w->armed == WAKER_REGISTERED_YES;
	resolve_waker_registered(d, w, err != NULL);
	error_free(err);
	f->wait = w;
	if (ours)
		return WAKER_OURS;
	return l.vacant ? WAKER_NONE : WAKER_UNKNOWN;
}

void leaf_decode_properties(struct decoder *d, struct value v, struct future *f)
{
	const struct leaf_row *row = type_class_of(v.type)->rows.properties;
	struct wait *w = NEW(d->c->a, struct wait);
	struct leaf l = { .d = d, .v = v, .f = f, .w = w };
	struct wait_detail details[MAX_DETAILS + 1];

	arena_reset(&d->c->decoding.words);
	w->kind = row->kind;
	w->details = details;
	struct error *err = row->decode(&l);
	w->details = arena_memdup(d->c->a, details, w->ndetails * sizeof(*details));
	/* Properties are an addition: without them, the tree is the same. */
	if (!err && w->phrase)
		f->properties = w;
	error_free(err);
}

bool leaf_decode(struct decoder *d, struct value v, struct future *f)
{
	const struct leaf_row *row = type_class_of(v.type)->rows.leaf;

	if (row)
		leaf_decode_row(d, row, v, f);
	return row != NULL;
}

enum resource_waker leaf_decode_resource(struct decoder *d, struct value v, struct future *f)
{
	const struct leaf_row *row = type_class_of(v.type)->rows.resource;

	return row ? leaf_decode_row(d, row, v, f) : WAKER_UNKNOWN;
}

/* ---- for decode functions ---- */

struct error *leaf_place(const struct leaf *l, struct value from, const char *expr,
                         struct value *ret, bool *found)
{
	return inspector_eval(l->d->c->in, from, expr, ret, found);
}

struct error *leaf_optional_uint(const struct leaf *l, struct value from, const char *expr,
                                 uint64_t *ret, bool *found)
{
	const struct path *p = inspector_optional_path(l->d->c->in, from.type, expr);

	*found = false;
	return p ? path_uint(l->d->c->in->target, p, from, ret, found) : NULL;
}

struct error *leaf_uint(const struct leaf *l, struct value from, const char *expr, uint64_t *ret)
{
	const struct path *p;
	bool found;

	TRY(inspector_path(l->d->c->in, from.type, expr, &p));
	TRY(path_uint(l->d->c->in->target, p, from, ret, &found));
	return found ? NULL
	             : error_new(ERR_CORRUPT, "%s: '%s' is not set", type_name(from.type), expr);
}

struct error *leaf_arm(struct leaf *l, struct value place)
{
	enum waker_registered armed;

	TRY(waker_stored(l->d->c, place, l->d->waker, &armed, &l->vacant));
	l->w->armed = armed;
	return NULL;
}

struct error *leaf_arm_at(struct leaf *l, struct value from, const char *expr)
{
	const struct path *p = inspector_optional_path(l->d->c->in, from.type, expr);
	struct value place;
	bool found;

	if (!p)
		return NULL;
	TRY(path_eval(l->d->c->in->target, p, from, &place, &found));
	if (found)
		return leaf_arm(l, place);
	leaf_arm_none(l);
	return NULL;
}

void leaf_arm_none(struct leaf *l)
{
	l->w->armed = WAKER_REGISTERED_NO;
	l->vacant = true;
}

bool leaf_has_path(const struct leaf *l, const struct type *t, const char *expr)
{
	return inspector_optional_path(l->d->c->in, t, expr) != NULL;
}

/* unwrap_newtype(), once for each type: it compares parts of long names. */
static struct unwrapped_newtype leaf_unwrap(const struct type *t)
{
	struct type_class *class = type_class_of(t);

	if (!class->newtype_known) {
		class->newtype = unwrap_newtype(t);
		class->newtype_known = true;
	}
	return class->newtype;
}

struct error *leaf_strip_to(const struct leaf *l, struct value v, const char *type,
                            struct value *ret, bool *found)
{
	struct target *t = l->d->c->in->target;

	*found = false;
	for (int hop = 0; hop < MAX_HOPS && v.type; hop++) {
		if (type_is(v.type, type)) {
			*ret = v;
			*found = true;
			return NULL;
		}
		if (type_kind(v.type) == TYPE_POINTER) {
			TRY(target_read_uint(t, v.addr, 8, &v.addr));
			if (v.addr == 0)
				return NULL;
			v.type = type_target(v.type);
			continue;
		}
		if (type_wide_kind(v.type) == WIDE_STRUCT) {
			bool leads;

			TRY(wide_value_behind(t, v, &v, &leads));
			if (!leads)
				return NULL;
			continue;
		}
		struct unwrapped_newtype p = leaf_unwrap(v.type);
		if (p.member) {
			v = (struct value){ p.member->type, v.addr + p.member->offset };
		} else if (p.variant) {
			const struct variant *active;

			TRY(value_variant(t, v, &active));
			if (active != p.variant)
				return NULL;
			v = value_payload(v, active);
		} else {
			return NULL;
		}
	}
	return NULL;
}

static struct wait_detail *leaf_add_detail(const struct leaf *l, const char *key,
                                           enum detail_kind kind)
{
	struct wait *w = l->w;

	if (!w->details)
		w->details = NEW_ARRAY(l->d->c->a, struct wait_detail, MAX_DETAILS + 1);
	/* The last element is a dummy that takes all details beyond the limit. */
	struct wait_detail *detail = &w->details[w->ndetails];
	if (w->ndetails < MAX_DETAILS)
		w->ndetails++;
	*detail = (struct wait_detail){ .key = key, .kind = kind };
	return detail;
}

void wait_int(const struct leaf *l, const char *key, int64_t number)
{
	leaf_add_detail(l, key, DETAIL_INT)->number = number;
}

void wait_bool(const struct leaf *l, const char *key, bool yes)
{
	leaf_add_detail(l, key, DETAIL_BOOL)->number = yes;
}

void wait_string(const struct leaf *l, const char *key, const char *s)
{
	leaf_add_detail(l, key, DETAIL_STRING)->string = s;
}

void wait_list(const struct leaf *l, const char *key, const char *const *list, size_t n)
{
	struct wait_detail *detail = leaf_add_detail(l, key, DETAIL_LIST);

	detail->list = list;
	detail->nlist = (unsigned)n;
}

static void leaf_set_phrase(const struct leaf *l, const char *marked)
{
	if (l->marked)
		*l->marked = arena_strdup(&l->d->c->decoding.words, marked);
	l->w->phrase = marked_finish(l->d->c->a, marked, &l->w->phrase_parts);
}

void wait_phrase(const struct leaf *l, const char *format, ...)
{
	va_list args;

	/* Nobody sees it, and whoever has the arguments has read what they need. */
	if (l->d->c->warm_up) {
		l->w->phrase = "";
		return;
	}
	va_start(args, format);
	leaf_set_phrase(l, marked_vprintf(&l->d->c->decoding.words, format, args));
	va_end(args);
}

const char *leaf_text(const struct leaf *l, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	const char *text = marked_vprintf(&l->d->c->decoding.words, format, args);
	va_end(args);
	return text;
}

void wait_words(const struct leaf *l, ...)
{
	STR(text);
	va_list args;

	va_start(args, l);
	for (const char *word; (word = va_arg(args, const char *));)
		str_append(&text, word);
	va_end(args);
	leaf_set_phrase(l, str_text(&text));
}
