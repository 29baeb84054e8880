/* Resolves paths against types into plans, and evaluates them (path.h). */
#include "dwarf/values/path.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "dwarf/values/unwrap_newtype.h"
#include "dwarf/values/wide_value.h"

enum { MAX_HOPS = 64, MAX_LISTED_MEMBERS = 12 };

/*
 * OP_WIDE follows a wide pointer to a struct with an unsized tail. Where its tail starts is known
 * when the pointer is read: the rest of the path is resolved then, against the sized type of what
 * it leads to. The ops behind it only say that the types have such a path.
 */
enum path_op_kind { OP_OFFSET, OP_DEREF, OP_VARIANT, OP_WIDE };

/* The rest of a path behind OP_WIDE, for one of the types that the pointer led to. */
struct rest {
	const struct type *from;
	const struct path *path;
	struct rest *next;
};

struct path_op {
	enum path_op_kind kind;
	uint64_t offset;               /* OP_OFFSET */
	const struct type *type;       /* OP_VARIANT: the enum; OP_WIDE: the pointer */
	const struct variant *variant; /* OP_VARIANT: the one that must be active */
	size_t rest_at;                /* OP_WIDE: where the rest begins in the text that matched */
	struct rest **rests;           /* OP_WIDE: those that were resolved */
};

typedef VEC(struct path_op) op_vec;

struct path {
	const char *matched;
	const struct path_op *ops;
	size_t nops;
	const struct type *type;
};

static void path_add_offset(op_vec *ops, uint64_t offset)
{
	if (ops->n && ops->data[ops->n - 1].kind == OP_OFFSET)
		ops->data[ops->n - 1].offset += offset;
	else
		*vec_push(ops) = (struct path_op){ .kind = OP_OFFSET, .offset = offset };
}

static const struct type *take_member(op_vec *ops, const struct member *m)
{
	path_add_offset(ops, m->offset);
	return m->type;
}

static const struct type *take_variant(op_vec *ops, const struct type *t, const struct variant *v)
{
	*vec_push(ops) = (struct path_op){ .kind = OP_VARIANT, .type = t, .variant = v };
	path_add_offset(ops, v->offset);
	return v->payload;
}

static const struct type *take_wide(op_vec *ops, const struct type *t, size_t step_at)
{
	*vec_push(ops) =
		(struct path_op){ .kind = OP_WIDE,
		                  .offset = type_wide(t).data,
		                  .type = t,
		                  .rest_at = step_at,
		                  .rests = NEW(&type_module(t)->di->arena, struct rest *) };
	return type_wide(t).pointee;
}

/*
 * Resolves one step, which begins at step_at in its alternative. Returns the type behind it; NULL
 * when neither t nor a type that it wraps has it.
 */
static const struct type *resolve_step(op_vec *ops, const struct type *t, const char *step,
                                       size_t step_at)
{
	for (int hop = 0; t && hop < MAX_HOPS; hop++) {
		if (type_kind(t) == TYPE_POINTER) {
			*vec_push(ops) = (struct path_op){ .kind = OP_DEREF };
			t = type_target(t);
			continue;
		}
		const struct member *m = type_member(t, step);
		if (m)
			return take_member(ops, m);
		const struct variant *v = type_kind(t) == TYPE_ENUM ? type_variant(t, step) : NULL;
		if (v)
			return take_variant(ops, t, v);
		if (type_wide_kind(t) == WIDE_STRUCT) {
			t = take_wide(ops, t, step_at);
			continue;
		}
		struct unwrapped_newtype p = unwrap_newtype(t);
		if (p.member)
			t = take_member(ops, p.member);
		else if (p.variant)
			t = take_variant(ops, t, p.variant);
		else
			return NULL;
	}
	return NULL;
}

static void path_list_members(struct str *out, const struct type *t)
{
	size_t n;
	const struct member *members = type_members(t, &n);
	bool any = false;

	for (size_t i = 0; i < n && i < MAX_LISTED_MEMBERS; i++) {
		str_printf(out, "%s%s", any ? ", " : " (has ",
		           members[i].name ? members[i].name : "?");
		any = true;
	}
	const struct variant *variants = type_variants(t, &n);
	for (size_t i = 0; i < n && i < MAX_LISTED_MEMBERS; i++) {
		str_printf(out, "%s%s", any ? ", " : " (has ",
		           variants[i].name ? variants[i].name : "?");
		any = true;
	}
	if (any)
		str_append(out, ")");
}

/* Explains in the error message where resolving stopped: the type that should have had the step. */
static void path_explain(struct str *out, const struct type *t, const char *step)
{
	for (int hop = 0; t && hop < MAX_HOPS && type_kind(t) == TYPE_POINTER; hop++)
		t = type_target(t);
	for (int hop = 0; t && hop < MAX_HOPS; hop++) {
		const struct member *single = type_single_member(t);

		if (!single)
			break;
		t = single->type;
	}
	if (!t) {
		str_printf(out, "no member '%s'", step);
		return;
	}
	str_printf(out, "no member '%s' in %s", step, type_name(t));
	if (type_kind(t) == TYPE_OPAQUE)
		str_append(out, " (declared only)");
	path_list_members(out, t);
}

static const struct type *resolve_alternative(op_vec *ops, const struct type *from,
                                              const char *alternative, struct str *why)
{
	SCRATCH(tmp);
	char *copy = arena_strdup(&tmp, alternative), *save = NULL;
	const struct type *t = from;

	for (char *step = strtok_r(copy, ".", &save); step; step = strtok_r(NULL, ".", &save)) {
		const char *name =
			isdigit((unsigned char)step[0]) ? arena_printf(&tmp, "__%s", step) : step;
		const struct type *next = resolve_step(ops, t, name, (size_t)(step - copy));

		if (!next) {
			path_explain(why, t, name);
			return NULL;
		}
		t = next;
	}
	return t;
}

struct error *path_resolve(struct arena *a, const struct type *from, const char *expr,
                           const struct path **ret)
{
	SCRATCH(tmp);
	STR(tried);
	const char *rest = expr;

	for (;;) {
		const char *bar = strchr(rest, '|');
		size_t len = bar ? (size_t)(bar - rest) : strlen(rest);
		while (len && isspace((unsigned char)*rest)) {
			rest++;
			len--;
		}
		while (len && isspace((unsigned char)rest[len - 1]))
			len--;
		const char *alternative = arena_strndup(&tmp, rest, len);
		op_vec ops = { 0 };
		STR(why);
		const struct type *end = resolve_alternative(&ops, from, alternative, &why);

		if (end) {
			struct path *p = NEW(a, struct path);

			p->matched = arena_strdup(a, alternative);
			p->type = end;
			p->nops = ops.n;
			p->ops = vec_to_arena(&ops, a);
			*ret = p;
			return NULL;
		}
		vec_free(&ops);
		str_printf(&tried, "%stried '%s': %s", tried.len ? "; " : "", alternative,
		           str_text(&why));
		if (!bar)
			break;
		rest = bar + 1;
	}
	return error_new(ERR_LAYOUT, "%s", str_text(&tried));
}

static struct error *eval_rest(struct target *t, const struct path *p, const struct path_op *op,
                               uint64_t addr, struct value *ret, bool *found)
{
	struct arena *a = &type_module(op->type)->di->arena;
	struct value behind;
	struct rest *rest;

	TRY(wide_value_behind(t, (struct value){ op->type, addr }, &behind, found));
	if (!*found)
		return NULL;
	for (rest = *op->rests; rest && rest->from != behind.type;)
		rest = rest->next;
	if (!rest) {
		const struct path *path;

		TRY(path_resolve(a, behind.type, p->matched + op->rest_at, &path));
		rest = NEW(a, struct rest);
		*rest = (struct rest){ behind.type, path, *op->rests };
		*op->rests = rest;
	}
	return path_eval(t, rest->path, behind, ret, found);
}

struct error *path_eval(struct target *t, const struct path *p, struct value from,
                        struct value *ret, bool *found)
{
	uint64_t addr = from.addr;

	*found = false;
	for (size_t i = 0; i < p->nops; i++) {
		const struct path_op *op = &p->ops[i];
		const struct variant *active;

		switch (op->kind) {
		case OP_OFFSET:
			addr += op->offset;
			break;
		case OP_DEREF:
			TRY(target_read_uint(t, addr, 8, &addr));
			if (addr == 0)
				return NULL;
			break;
		case OP_VARIANT:
			TRY(value_variant(t, (struct value){ op->type, addr }, &active));
			if (active != op->variant)
				return NULL;
			break;
		case OP_WIDE:
			return eval_rest(t, p, op, addr, ret, found);
		}
	}
	*ret = (struct value){ p->type, addr };
	*found = true;
	return NULL;
}

struct error *path_uint(struct target *t, const struct path *p, struct value from, uint64_t *ret,
                        bool *found)
{
	struct value place;

	TRY(path_eval(t, p, from, &place, found));
	return *found ? value_uint(t, place, ret) : NULL;
}

const char *path_matched(const struct path *p)
{
	return p->matched;
}

const char *path_plan(struct arena *a, const struct path *p)
{
	STR(text);

	for (size_t i = 0; i < p->nops; i++) {
		const char *space = text.len ? " " : "";

		switch (p->ops[i].kind) {
		case OP_OFFSET:
			str_printf(&text, "%s+%" PRIu64, space, p->ops[i].offset);
			break;
		case OP_DEREF:
		case OP_WIDE:
			str_printf(&text, "%s*", space);
			break;
		case OP_VARIANT:
			str_printf(&text, "%s?%s", space, p->ops[i].variant->name);
			break;
		}
	}
	return arena_strdup(a, str_text(&text));
}

const struct type *path_type(const struct path *p)
{
	return p->type;
}

static bool sum_offsets(const struct path *p, bool variants, uint64_t *ret)
{
	uint64_t offset = 0;

	for (size_t i = 0; i < p->nops; i++) {
		if (p->ops[i].kind == OP_OFFSET)
			offset += p->ops[i].offset;
		else if (p->ops[i].kind != OP_VARIANT || !variants)
			return false;
	}
	*ret = offset;
	return true;
}

bool path_offset(const struct path *p, uint64_t *ret)
{
	return sum_offsets(p, false, ret);
}

bool path_offset_in_variants(const struct path *p, uint64_t *ret)
{
	return sum_offsets(p, true, ret);
}

bool path_offsets(const struct path *p, size_t n, uint64_t *ret)
{
	size_t at = 0;

	memset(ret, 0, n * sizeof(*ret));
	for (size_t i = 0; i < p->nops && at < n; i++) {
		if (p->ops[i].kind == OP_WIDE)
			return false;
		if (p->ops[i].kind == OP_DEREF)
			at++;
		else if (p->ops[i].kind == OP_OFFSET)
			ret[at] += p->ops[i].offset;
	}
	return at + 1 == n;
}

bool path_first_pointer(const struct path *p, uint64_t *ret)
{
	uint64_t offset = 0;

	for (size_t i = 0; i < p->nops && p->ops[i].kind != OP_VARIANT; i++) {
		if (p->ops[i].kind == OP_DEREF) {
			*ret = offset;
			return true;
		}
		offset += p->ops[i].offset;
		if (p->ops[i].kind == OP_WIDE) {
			*ret = offset;
			return true;
		}
	}
	return false;
}
