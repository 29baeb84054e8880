/* Borrows that the awaitee of a suspended coroutine has from it. */
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/common/behind_wide.h"
#include "runtimes/common/type_class.h"
#include "runtimes/future/move_state.h"

enum {
	MAX_DEPTH = 24,
	MAX_VISITED = 1 << 10, /* values visited for one coroutine */
};

struct move_state_borrow_walk {
	struct collector *c;
	struct move_state_borrows *b;
	size_t visited;
};

static void move_state_borrow_visit(struct move_state_borrow_walk *w, struct value v, int depth);

static bool move_state_borrow_is_inside(const struct move_state_borrows *b, struct value v)
{
	uint64_t size = type_size(b->coroutine.type);

	return v.addr >= b->coroutine.addr && v.addr - b->coroutine.addr < size &&
	       type_size(v.type) <= size - (v.addr - b->coroutine.addr);
}

/* The target of a reference or of a Box; addr 0: it cannot be read. */
static struct value move_state_borrow_target_of(struct move_state_borrow_walk *w, struct value v)
{
	struct value ret = { type_target(v.type), 0 };

	if (ret.type)
		error_free(target_read_uint(w->c->in->target, v.addr, 8, &ret.addr));
	return ret;
}

static void visit_pointer(struct move_state_borrow_walk *w, struct value v, int depth)
{
	bool reference = type_name(v.type)[0] == '&';

	if (!reference && !str_begins(type_name(v.type), "alloc::boxed::Box<"))
		return;
	struct value to = move_state_borrow_target_of(w, v);
	if (!to.addr || !to.type || (reference && !move_state_borrow_is_inside(w->b, to)))
		return;
	if (reference && type_size(to.type) && w->b->n < MOVE_STATE_MAX_BORROWS)
		w->b->list[w->b->n++] = to;
	move_state_borrow_visit(w, to, depth);
}

static void move_state_borrow_members(struct move_state_borrow_walk *w, struct value v,
                                      const struct type *t, int depth)
{
	size_t n;
	const struct member *members = type_members(t, &n);

	for (size_t i = 0; i < n; i++) {
		if (members[i].type && type_size(members[i].type))
			move_state_borrow_visit(
				w, (struct value){ members[i].type, v.addr + members[i].offset },
				depth);
	}
}

/*
 * The captures of a coroutine, and what it awaits. A capture may have been moved on; its lifetime
 * is still one of the coroutine's type. What a captured Box led to may be gone: only references
 * count. The variables of its state are left out: they may be uninitialised.
 */
static void move_state_borrow_visit_coroutine(struct move_state_borrow_walk *w, struct value v,
                                              const struct variant *active, int depth)
{
	const struct variant *unresumed = type_variant(v.type, "Unresumed");
	const struct member *awaitee =
		active->payload ? type_member(active->payload, "__awaitee") : NULL;
	size_t n = 0;
	const struct member *captures =
		unresumed && unresumed->payload ? type_members(unresumed->payload, &n) : NULL;

	for (size_t i = 0; i < n && (active == unresumed || awaitee); i++) {
		struct value at = { captures[i].type,
			            v.addr + unresumed->offset + captures[i].offset };

		if (at.type && (active == unresumed || type_name(at.type)[0] == '&'))
			move_state_borrow_visit(w, at, depth);
	}
	if (awaitee && awaitee->type)
		move_state_borrow_visit(
			w,
			(struct value){ awaitee->type, v.addr + active->offset + awaitee->offset },
			depth);
}

static void visit_enum(struct move_state_borrow_walk *w, struct value v, int depth)
{
	const struct variant *active = NULL;
	struct error *err = value_variant(w->c->in->target, v, &active);

	if (!err && type_is_coroutine(v.type))
		move_state_borrow_visit_coroutine(w, v, active, depth);
	else if (!err && active->payload)
		move_state_borrow_members(w, value_payload(v, active), active->payload, depth);
	error_free(err);
}

/*
 * A wide pointer that owns a future. What a `&dyn` leads to is not part of the coroutine's type.
 */
static void visit_wide(struct move_state_borrow_walk *w, struct value v, int depth)
{
	struct value behind;
	bool exact;
	struct error *err = behind_wide(w->c, v, 0, &behind, &exact);
	bool known = !err && behind.type && exact && behind.addr;

	error_free(err);
	if (known)
		move_state_borrow_visit(w, behind, depth);
}

static void visit_struct(struct move_state_borrow_walk *w, struct value v, int depth)
{
	const char *name = type_name(v.type);

	if (str_begins(name, "alloc::boxed::Box<") && type_wide_kind(v.type) != WIDE_NONE &&
	    !type_is_slice(v.type))
		visit_wide(w, v, depth);
	else if (name[0] != '&' && name[0] != '*' && !str_begins(name, "alloc::") &&
	         !str_begins(name, "core::ptr::") &&
	         !type_is(v.type, "core::mem::manually_drop::ManuallyDrop"))
		move_state_borrow_members(w, v, v.type, depth);
}

static void move_state_borrow_visit(struct move_state_borrow_walk *w, struct value v, int depth)
{
	if (++depth > MAX_DEPTH || ++w->visited > MAX_VISITED)
		return;
	switch (type_kind(v.type)) {
	case TYPE_POINTER:
		visit_pointer(w, v, depth);
		break;
	case TYPE_STRUCT:
		visit_struct(w, v, depth);
		break;
	case TYPE_ENUM:
		visit_enum(w, v, depth);
		break;
	default: /* a union may contain anything */
		break;
	}
}

void move_state_find_borrows(struct collector *c, struct value v, const struct variant *active,
                             struct move_state_borrows *ret)
{
	const struct member *awaitee =
		active->payload ? type_member(active->payload, "__awaitee") : NULL;
	struct move_state_borrow_walk w = { c, ret, 0 };

	ret->coroutine = v;
	ret->n = 0;
	if (awaitee && awaitee->type)
		move_state_borrow_visit(
			&w,
			(struct value){ awaitee->type, v.addr + active->offset + awaitee->offset },
			0);
}

bool move_state_is_borrowed(const struct move_state_borrows *b, struct value local)
{
	for (size_t i = 0; i < b->n; i++) {
		if (b->list[i].addr == local.addr &&
		    strcmp(type_name(b->list[i].type), type_name(local.type)) == 0)
			return true;
	}
	return false;
}

bool move_state_is_part_borrowed(const struct move_state_borrows *b, uint64_t addr, uint64_t size)
{
	for (size_t i = 0; i < b->n; i++) {
		uint64_t whole = type_size(b->list[i].type);

		if (addr >= b->list[i].addr && addr - b->list[i].addr < whole &&
		    size <= whole - (addr - b->list[i].addr))
			return true;
	}
	return false;
}
