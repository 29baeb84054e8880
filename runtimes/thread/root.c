#include "runtimes/thread/root.h"
#include "debugger/base/str.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/log.h"
#include "debugger/base/vec.h"
#include "dwarf/frame/variables.h"
#include "runtimes/common/plausible.h"
#include "runtimes/common/type_class.h"
#include "runtimes/future/leaf.h"
#include "runtimes/future/task_set.h"

enum {
	MAX_SCAN = 1 << 20, /* bytes of stack that are searched */
	MAX_CALLERS = 16,   /* frames outward of block_on that may contain the pinned future */
	MAX_CANDIDATES = 32,
};

static const char unplaced[] = "its location on the stack is uncertain";
static const char unlisted[] = "its tasks are not listed: its location on the stack is uncertain";

/* Candidates for the future that the thread drives, at different addresses. */
struct root_candidates {
	struct collector *c;
	uint64_t waker; /* see struct decoder */
	unsigned runtime;
	size_t last;                 /* see last_frame() */
	const struct type *declared; /* F */
	const struct type *type;     /* F, or G when F is Pin<Box<G>> */
	bool boxed;                  /* the stack contains a pointer to it */
	struct future *data[MAX_CANDIDATES];
	uint64_t addrs[MAX_CANDIDATES];
	enum self_reference evidence[MAX_CANDIDATES];
	struct task_set sets[MAX_CANDIDATES];
	size_t n;
};

/* The pointer type: P of Pin<P>, or t itself if it is a pointer; else NULL. */
static const struct type *root_pinned_pointer(const struct type *t)
{
	if (type_is(t, "core::pin::Pin")) {
		const struct member *p = type_single_member(t);

		t = p ? p->type : t;
	}
	return type_kind(t) == TYPE_POINTER && type_target(t) ? t : NULL;
}

/* Reads F of block_on<F>. Some loops have Pin<&mut F> instead, and large futures are boxed. */
static void root_find_type(struct root_candidates *cs, const struct mark *m)
{
	const struct type *t = stack_mark_future_type(m),
			  *pointer = t ? root_pinned_pointer(t) : NULL;

	if (pointer && strncmp(type_name(pointer), "&mut ", 5) == 0) {
		t = type_target(pointer);
		pointer = root_pinned_pointer(t);
	}
	cs->declared = cs->type = t;
	if (pointer && strncmp(type_name(pointer), "alloc::boxed::Box<", 18) == 0) {
		cs->boxed = true;
		cs->type = type_target(pointer);
	}
}

/*
 * Whether f awaits a timer that was never polled. Such a candidate is wrong: a waiting thread has
 * polled its awaitee. A runtime whose budget is used up does not poll the timer, but then it wakes
 * the thread at once.
 */
static bool awaits_unpolled(const struct future *f)
{
	while (f->state == FUTURE_SUSPENDED && f->nchildren == 1)
		f = f->children[0];
	return f->wait && strcmp(f->wait->kind, "sleep") == 0 && future_is_at_rest(f);
}

/*
 * Adds the address as a candidate if decoding it finds no fault and finds something that random
 * bytes do not contain: a suspended coroutine that polled its awaitee, or a handle of an existing
 * task.
 */
static void root_judge(struct root_candidates *cs, uint64_t addr)
{
	struct decoder d = { .c = cs->c, .strict = true, .runtime = cs->runtime };
	struct value v = { cs->type, addr };

	if (cs->n == MAX_CANDIDATES || addr % type_align(cs->type) != 0)
		return;
	for (size_t i = 0; i < cs->n; i++) {
		if (cs->addrs[i] == addr)
			return;
	}
	if (!plausible_value(cs->c->in->target, v))
		return;
	struct future *f = future_decode(&d, v);
	if (d.faults)
		return;
	if (!d.suspended && !(f->wait && (f->wait->task || leaf_proves_itself(cs->type))))
		return;
	if (awaits_unpolled(f))
		return;
	LOG("root", "%s at 0x%" PRIx64, f->type, addr);
	cs->evidence[cs->n] = plausible_self_references(cs->c->in->target, v);
	cs->addrs[cs->n] = addr;
	cs->sets[cs->n] = d.set;
	cs->data[cs->n++] = f;
}

/* root_judge() for an address that may hold F, which may be a box. */
static void judge_place(struct root_candidates *cs, uint64_t addr)
{
	CLEANUP(error_freep) struct error *err = NULL;

	if (cs->boxed)
		err = target_read_uint(cs->c->in->target, addr, 8, &addr);
	if (!err)
		root_judge(cs, addr);
}

/* The address from references to F (&mut F, Pin<&mut F>) in the runtime's own frames. */
struct referenced {
	struct root_candidates *cs;
	uint64_t addr; /* of F, or of G if F is boxed; 0 none */
	bool several;
};

static void note_reference(const struct variable *v, void *arg)
{
	struct referenced *referenced = arg;
	struct target *t = referenced->cs->c->in->target;
	const struct type *pointer = root_pinned_pointer(v->type);
	CLEANUP(error_freep) struct error *err = NULL;
	uint64_t addr = v->value;

	/* F by value is skipped: block_on's parameter is a copy that was moved from. */
	if (!pointer || strncmp(type_name(pointer), "&mut ", 5) != 0 ||
	    strcmp(type_name(type_target(pointer)), type_name(referenced->cs->declared)) != 0)
		return;
	if (v->in_memory)
		err = target_read_uint(t, v->addr, 8, &addr);
	if (!err && referenced->cs->boxed)
		err = target_read_uint(t, addr, 8, &addr);
	if (err || addr == 0)
		return;
	referenced->several |= referenced->addr != 0 && referenced->addr != addr;
	referenced->addr = addr;
}

/* The frame whose sp ends the search: it contains no future of this block_on, or is the last. */
static size_t last_frame(const struct thread_stack *s, const struct marks *marks,
                         const struct mark *m)
{
	size_t last = m->frame + MAX_CALLERS, reach = stack_reach(marks, m);

	if (reach < last)
		last = reach + 1;
	return last < s->stack.nframes ? last : s->stack.nframes - 1;
}

/*
 * The innermost frame that may contain the pinned future. The loop of a block_on of no runtime may
 * be a closure of its own, in a frame inward of block_on.
 */
static size_t first_frame(const struct collector *c, const struct thread_stack *s,
                          const struct mark *m)
{
	struct marks marks;
	size_t first = 0;

	if (m->of->types && !m->of->threads.loops_inside)
		return m->frame;
	/* Frames of a task that the loop polls have no part in the pinned future. */
	stack_find_marks(c, s, &marks);
	for (size_t i = 0; i < marks.n && first == 0; i++) {
		if (marks.data[i].kind == MARK_TASK_POLL && marks.data[i].frame < m->frame)
			first = marks.data[i].frame;
	}
	while (first < m->frame && !stack_is_runtime_frame(s, m, first))
		first++;
	return first;
}

static void ask_frame(struct referenced *referenced, const struct thread_stack *s, size_t frame)
{
	uint64_t cfa = frame + 1 < s->stack.nframes ? s->stack.frames[frame + 1].sp : 0;

	variables_in_frame(referenced->cs->c->in->di, &s->stack.frames[frame], cfa, note_reference,
	                   referenced);
}

/*
 * Finds the address by the loop's own reference to its future. Variables of callers are not used,
 * because a caller may have other futures of the same type. In debug builds this succeeds.
 */
static bool ask_variables(struct root_candidates *cs, const struct thread_stack *s,
                          const struct mark *m, uint64_t *ret)
{
	struct referenced referenced = { .cs = cs };

	for (size_t i = m->frame; i <= cs->last && stack_is_runtime_frame(s, m, i); i++) {
		ask_frame(&referenced, s, i);
		if (referenced.addr)
			break;
	}
	for (size_t i = first_frame(cs->c, s, m); i < m->frame && !referenced.addr; i++) {
		if (stack_is_runtime_frame(s, m, i))
			ask_frame(&referenced, s, i);
	}
	*ret = referenced.addr;
	return referenced.addr && !referenced.several;
}

/*
 * Whether a search of the stack for this type is reliable. A waiting future can be distinguished
 * from random bytes and from a future of the same type that was never polled only if it always
 * contains a suspended coroutine or a task handle. One behind an Option or another enum does not
 * count, because the enum may be empty.
 */
static bool holds_evidence(const struct type *t, int depth, unsigned *left)
{
	size_t n;
	const struct member *members;

	if (type_is_coroutine(t) || leaf_proves_itself(t))
		return true;
	if (type_kind(t) != TYPE_STRUCT || depth > 4)
		return false;
	members = type_members(t, &n);
	for (size_t i = 0; i < n && *left; i++) {
		(*left)--;
		if (members[i].type && holds_evidence(members[i].type, depth + 1, left))
			return true;
	}
	return false;
}

static bool always_holds_evidence(const struct type *t)
{
	unsigned left = 1 << 14; /* limit: in corrupt debug info types can contain each other */

	return holds_evidence(t, 0, &left);
}

/* Whether a suspended coroutine of this type may start here. Checks only its state number. */
static bool may_be_suspended(const struct type *t, const unsigned char *bytes, size_t len)
{
	const struct member *state = type_discr(t);
	size_t size = state ? type_size(state->type) : 0, n;
	const struct variant *variants = type_variants(t, &n);
	uint64_t number = 0;

	if (size == 0 || size > 8 || size > len || state->offset > len - size)
		return false;
	memcpy(&number, bytes + state->offset, size);
	for (size_t i = 0; i < n; i++) {
		if (variants[i].discr == number)
			return variants[i].name && strncmp(variants[i].name, "Suspend", 7) == 0;
	}
	return false;
}

/* Tries every aligned address in the frames of block_on, of its loop and its callers. */
static void scan_stack(struct root_candidates *cs, const struct thread_stack *s,
                       const struct mark *m)
{
	const struct frame *frames = s->stack.frames;
	size_t first = first_frame(cs->c, s, m);
	uint64_t low = frames[first].has_sp ? frames[first].sp : frames[m->frame].sp, high = low;
	size_t len = 0, align = type_align(cs->type) < 8 && !cs->boxed ? type_align(cs->type) : 8;
	size_t size = cs->boxed ? 8 : type_size(cs->type);
	bool coroutine = type_is_coroutine(cs->type) && !cs->boxed;

	for (size_t i = m->frame; i <= cs->last && frames[i].has_sp; i++) {
		if (frames[i].sp > high)
			high = frames[i].sp;
	}
	if (high - low > MAX_SCAN)
		high = low + MAX_SCAN;
	unsigned char *bytes = arena_alloc(&cs->c->scratch, high - low + 1);
	error_free(target_read_some(cs->c->in->target, low, bytes, high - low, &len));
	for (size_t at = 0; at <= len && size <= len - at; at += align) {
		if (!coroutine || may_be_suspended(cs->type, bytes + at, len - at))
			judge_place(cs, low + at);
	}
	/* A box is one pointer: it may be in a callee-saved register. */
	for (size_t i = 0; cs->boxed && i < cs->c->in->target->arch->nregs; i++) {
		if (frames[m->frame].known_regs & UINT64_C(1) << i)
			root_judge(cs, frames[m->frame].regs[i]);
	}
}

/* Whether two trees are equal except for addresses. */
static bool same_answer(const struct future *a, const struct future *b)
{
	if (a->await_point != b->await_point || a->line != b->line ||
	    a->nchildren != b->nchildren || !str_same(a->type, b->type) ||
	    !str_same(a->file, b->file) || !a->wait != !b->wait ||
	    (a->wait && !str_same(a->wait->phrase, b->wait->phrase)))
		return false;
	for (size_t i = 0; i < a->nchildren; i++) {
		if (!same_answer(a->children[i], b->children[i]))
			return false;
	}
	return true;
}

static void forget_addresses(struct future *f)
{
	f->addr = 0;
	f->locals = NULL;
	f->nlocals = 0;
	for (size_t i = 0; i < f->nchildren; i++)
		forget_addresses(f->children[i]);
}

/* Copies candidate i to index n, which is not greater. */
static void move(struct root_candidates *cs, size_t n, size_t i)
{
	cs->evidence[n] = cs->evidence[i];
	cs->addrs[n] = cs->addrs[i];
	cs->sets[n] = cs->sets[i];
	cs->data[n] = cs->data[i];
}

/* Keeps only the candidates with the best evidence. */
static void keep_best(struct root_candidates *cs)
{
	enum self_reference best = SELF_REFERENCE_WRONG;
	size_t n = 0;

	for (size_t i = 0; i < cs->n; i++) {
		if (cs->evidence[i] > best)
			best = cs->evidence[i];
	}
	for (size_t i = 0; i < cs->n; i++) {
		if (cs->evidence[i] == best)
			move(cs, n++, i);
	}
	cs->n = n;
}

/*
 * Keeps only the candidates whose task set this block_on drives. The others are stale copies, or
 * belong to surrounding frames.
 */
static void keep_driven(struct root_candidates *cs)
{
	size_t n = 0;

	for (size_t i = 0; i < cs->n; i++) {
		const struct task_set *set = &cs->sets[i];

		if (set->v.type && set->of->wakes(cs->c, set->v, cs->waker))
			move(cs, n++, i);
	}
	cs->n = n;
}

/* Whether all candidates drive the same task set, which has one list of tasks wherever it is. */
static bool root_same_set(const struct root_candidates *cs)
{
	uint64_t first = 0, list = 0, task;

	for (size_t i = 0; i < cs->n; i++) {
		if (!cs->sets[i].v.type)
			return false;
		struct error *err = cs->sets[i].of->list(cs->c, cs->sets[i].v, &list, &task);
		bool ok = !err && (i == 0 || list == first);

		error_free(err);
		if (!ok)
			return false;
		first = list;
	}
	return cs->n > 0;
}

/*
 * The future that all candidates agree on; NULL if they differ. Several addresses may hold stale
 * copies of one future. If all decode to equal trees, the tree is certain and only the address is
 * not.
 */
static struct future *agree(struct root_candidates *cs)
{
	keep_best(cs);
	for (size_t i = 1; i < cs->n; i++) {
		if (!same_answer(cs->data[0], cs->data[i]))
			return NULL;
	}
	if (cs->n > 1) {
		if (!root_same_set(cs))
			keep_driven(cs);
		if (root_same_set(cs))
			task_set_add(cs->c, &cs->sets[0]);
		else if (cs->sets[0].v.type)
			cs->data[0]->problem = unlisted;
		forget_addresses(cs->data[0]);
		return cs->data[0];
	}
	/* The strict decode followed only awaitees; decode the whole future now. */
	struct decoder d = { .c = cs->c, .waker = cs->waker, .runtime = cs->runtime };
	return future_decode(&d, (struct value){ cs->type, cs->addrs[0] });
}

static const struct coroutine_state *root_only_await(struct inspector *in, const struct type *t,
                                                     bool *never, int depth);

/* Whether a parent can be suspended on the awaitee: not if that has no await that can be pending.
 */
static bool can_be_pending(struct inspector *in, const struct type *awaitee, int depth)
{
	bool never = false;

	if (type_is_coroutine(awaitee) && depth < FUTURE_MAX_DEPTH)
		root_only_await(in, awaitee, &never, depth + 1);
	return !never;
}

/*
 * The only state in which a coroutine can be suspended. NULL if there are several, or none; *never
 * is set if there is none.
 */
static const struct coroutine_state *root_only_await(struct inspector *in, const struct type *t,
                                                     bool *never, int depth)
{
	const struct coroutine_plan *plan = coroutine_plan(in, t);
	const struct coroutine_state *only = NULL;

	*never = false;
	for (size_t i = 0; i < plan->nstates; i++) {
		const struct coroutine_state *s = coroutine_outline(in, plan, i);

		if (s->state != FUTURE_SUSPENDED ||
		    (s->awaitee && !can_be_pending(in, s->awaitee->type, depth)))
			continue;
		if (only)
			return NULL;
		only = coroutine_state(in, t, plan, i);
	}
	*never = only == NULL;
	return only;
}

/* The innermost task set of a deduced tree. Only its type and its driver are known. */
struct deduced_set {
	const struct type *type; /* NULL none */
	struct future *future;
};

static const struct type *type_of_member(const struct type *t, const char *name)
{
	const struct member *m = name ? type_member(t, name) : NULL;

	return m ? m->type : NULL;
}

/* The task set type that t is or drives; NULL none. */
static const struct type *task_set_type(const struct type *t)
{
	const struct task_set_ops *driver = type_class_of(t)->driver;
	const struct type *set = driver ? type_of_member(t, driver->driver_set) : NULL;

	if (set)
		t = type_target(set);
	return t && type_class_of(t)->task_set ? t : NULL;
}

/* The future that a set's driver polls beside the set. The driver is pending, so this is, too. */
static const struct type *driven_by_set(const struct type *t)
{
	const struct task_set_ops *driver = type_class_of(t)->driver;

	return driver ? type_of_member(t, driver->driver_future) : NULL;
}

/* Searches the frames of block_on and its callers for the task set that wakes this block_on. */
static void find_deduced_set(const struct root_candidates *cs, const struct thread_stack *s,
                             const struct mark *m, const struct deduced_set *set)
{
	struct root_candidates sets = { .c = cs->c,
		                        .waker = cs->waker,
		                        .runtime = cs->runtime,
		                        .last = cs->last,
		                        .declared = set->type,
		                        .type = set->type };

	if (s->stack.frames[m->frame].has_sp)
		scan_stack(&sets, s, m);
	keep_driven(&sets);
	if (root_same_set(&sets)) {
		sets.sets[0].future = set->future;
		task_set_add(cs->c, &sets.sets[0]);
		return;
	}
	set->future->problem = unlisted;
	cs->c->out->complete = false;
}

/*
 * Builds the tree from types alone, without an address. The thread waits in block_on, so its future
 * was polled and is suspended. If a coroutine has only one await point, it must be there.
 */
static struct future *root_deduce(struct collector *c, const struct type *t, int depth,
                                  struct deduced_set *set)
{
	struct future *f = future_by_name(c, type_name(t));

	if (!type_is_coroutine(t)) {
		const struct type *inner = driven_by_set(t);

		if (task_set_type(t)) {
			set->type = task_set_type(t);
			set->future = f;
		} else if (depth == 0 && type_size(t)) {
			f->problem = unplaced;
		}
		if (inner && depth < FUTURE_MAX_DEPTH) {
			f->children = NEW_ARRAY(c->a, struct future *, 1);
			f->children[f->nchildren++] = root_deduce(c, inner, depth + 1, set);
		}
		return f;
	}
	const struct coroutine_plan *plan = coroutine_plan(c->in, t);
	bool never;
	const struct coroutine_state *s = root_only_await(c->in, t, &never, depth);

	f->function = plan->function;
	f->kind = plan->kind;
	if (!s) {
		f->problem = unplaced;
		return f;
	}
	f->state = FUTURE_SUSPENDED;
	f->await_point = s->await_point;
	f->file = s->file;
	f->file_short = s->file_short;
	f->library = s->library;
	f->line = s->line;
	if (s->awaitee && depth < FUTURE_MAX_DEPTH) {
		f->children = NEW_ARRAY(c->a, struct future *, 1);
		f->children[f->nchildren++] = root_deduce(c, s->awaitee->type, depth + 1, set);
	}
	return f;
}

/* The state of the future at the address that ask_variables() found. */
enum referenced_state {
	REFERENCED_NOTHING,   /* no such future is there: the variable is out of date */
	REFERENCED_WAITING,   /* it can be the future that the thread waits for */
	REFERENCED_OTHERWISE, /* its state is not one in which a thread waits for it */
};

/*
 * Checks the future at addr. The thread waits, so the future that it polled must be suspended. If
 * the last await of a coroutine never ends, the optimiser may not store its state in memory; then
 * the memory shows another state and cannot be used.
 */
static enum referenced_state look_at_referenced(const struct root_candidates *cs, uint64_t addr)
{
	struct decoder d = { .c = cs->c, .strict = true };
	const struct future *f = future_decode(&d, (struct value){ cs->type, addr });

	if (f->state == FUTURE_SUSPENDED)
		return REFERENCED_WAITING;
	if (f->state != FUTURE_STATE_NONE)
		return REFERENCED_OTHERWISE;
	return f->problem ? REFERENCED_NOTHING : REFERENCED_WAITING;
}

struct future *root_find(struct collector *c, const struct thread_stack *s,
                         const struct marks *marks, const struct mark *m, uint64_t waker,
                         unsigned runtime)
{
	struct root_candidates cs = {
		.c = c, .waker = waker, .runtime = runtime, .last = last_frame(s, marks, m)
	};
	struct future *f;

	root_find_type(&cs, m);
	if (!cs.type) {
		f = future_by_name(c, "?");
		f->problem = "the debug info does not say which future this thread blocks on";
		return f;
	}
	uint64_t addr;
	enum referenced_state referenced = ask_variables(&cs, s, m, &addr)
	                                           ? look_at_referenced(&cs, addr)
	                                           : REFERENCED_NOTHING;
	if (referenced == REFERENCED_WAITING) {
		struct decoder d = { .c = c, .waker = waker, .runtime = runtime };

		return future_decode(&d, (struct value){ cs.type, addr });
	}
	if (referenced == REFERENCED_NOTHING && type_size(cs.type) &&
	    s->stack.frames[m->frame].has_sp && always_holds_evidence(cs.type))
		scan_stack(&cs, s, m);
	f = cs.n ? agree(&cs) : NULL;
	if (!f) {
		struct deduced_set set = { 0 };

		f = root_deduce(c, cs.type, 0, &set);
		if (set.type)
			find_deduced_set(&cs, s, m, &set);
	}
	f->inferred = true;
	return f;
}
