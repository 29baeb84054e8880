#include "runtimes/stepping/watch.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "debugger/arch/arch.h"
#include "debugger/base/str.h"
#include "debugger/live/tracer.h"
#include "debugger/target/target.h"
#include "dwarf/lookup/code_places.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/module/debuginfo.h"
#include "dwarf/names/demangle.h"
#include "dwarf/types/type.h"
#include "dwarf/values/show.h"
#include "dwarf/values/value.h"
#include "runtimes/common/inspector.h"
#include "runtimes/hits/operand.h"
#include "runtimes/query/frame_value.h"
#include "runtimes/stepping/debuggee.h"
#include "runtimes/stepping/step_cache.h"
#include "runtimes/stepping/step_plan.h"

enum { WORD = 8 /* bytes that one breakpoint of the CPU can watch */ };

static const char *const kind_names[WATCH_NKINDS] = { "write", "read", "read_write" };
static const char *const nouns[WATCH_NKINDS] = { "watchpoint", "read watchpoint",
	                                         "access watchpoint" };

const char *watch_kind_name(enum watch_kind kind)
{
	return kind_names[kind];
}

const char *watch_noun(const struct watchpoint *w)
{
	return nouns[w->kind];
}

/* ---- values ---- */

static const char *watch_show(const struct watchpoint *w, struct arena *a)
{
	struct inspector *in = asyncdbg_inspector(w->debuggee->handle);
	struct value v = { w->type, w->state ? w->whole : w->addr };
	const struct variant *variant;

	if (!w->state)
		return show_value(in->target, in->di, &in->show, a, v, NULL);
	struct error *err CLEANUP(error_freep) = value_variant(in->target, v, &variant);

	if (err)
		return "not a state of that type: the memory has another use now";
	const char *name = str_clean(a, variant->name, strlen(variant->name));
	if (!variant->file || !variant->line)
		return name;
	const char *file = source_path_of(in->di, a, variant->file, NULL).text;
	return arena_printf(a, "%s, at %s:%u", name, str_clean(a, file, strlen(file)),
	                    variant->line);
}

/* Takes the value that it has now; the one before is the old one. */
static struct error *watch_take_value(struct watchpoint *w, const unsigned char *bytes)
{
	struct arena old = w->old_arena;
	struct target *t = asyncdbg_inspector(w->debuggee->handle)->target;

	/* Reads see the memory as it is now. */
	TRY(target_stop(t));
	w->old_arena = w->value_arena;
	w->old = w->value;
	w->value_arena = old;
	arena_free(&w->value_arena);
	memcpy(w->bytes, bytes, w->size);
	w->value = watch_show(w, &w->value_arena);
	target_resume(t);
	return NULL;
}

/* ---- the processor's ---- */

/* The largest piece at `addr`, of at most `left` bytes. */
static unsigned watch_piece(uint64_t addr, uint64_t left)
{
	unsigned len = WORD;

	while (len > left || addr % len)
		len /= 2;
	return len;
}

static bool is_watched_by_another(const struct watchpoint *w, uint64_t addr, unsigned len)
{
	const struct debuggee *d = w->debuggee;

	for (size_t i = 0; i < d->watches.list.n; i++) {
		const struct watchpoint *other = d->watches.list.data[i];

		if (other == w || !other->enabled ||
		    (other->kind == WATCH_WRITE) != (w->kind == WATCH_WRITE))
			continue;
		for (uint64_t at = other->addr; at < other->addr + other->size;) {
			unsigned n = watch_piece(at, other->addr + other->size - at);

			if (at == addr && n == len)
				return true;
			at += n;
		}
	}
	return false;
}

static struct error *watch_take_away(struct watchpoint *w, uint64_t end)
{
	for (uint64_t at = w->addr; at < end;) {
		unsigned len = watch_piece(at, w->addr + w->size - at);

		if (!is_watched_by_another(w, at, len))
			TRY(control_watch(&w->debuggee->control, at, len, w->kind != WATCH_WRITE,
			                  false));
		at += len;
	}
	return NULL;
}

/* Number of the CPU's breakpoints for the bytes up to an address that no other watchpoint has. */
static unsigned count_pieces(const struct watchpoint *w, uint64_t end)
{
	unsigned n = 0;

	for (uint64_t at = w->addr; at < end;) {
		unsigned len = watch_piece(at, w->addr + w->size - at);

		n += !is_watched_by_another(w, at, len);
		at += len;
	}
	return n;
}

/* err: why there is none for the piece at that address. It says "all" of those just taken, too. */
static struct error *refuse(const struct watchpoint *w, uint64_t at, struct error *err)
{
	unsigned needed = count_pieces(w, w->addr + w->size), free = count_pieces(w, at);

	if (err->kind != ERR_STATE)
		return err;
	if (!free)
		return error_wrap(err, "%s takes %u hardware breakpoint%s, and none is free",
		                  w->text, needed, needed == 1 ? "" : "s");
	error_free(err);
	return error_new(ERR_STATE,
	                 "%s has %" PRIu64 " bytes, which take %u hardware breakpoints, and %u %s "
	                 "free: delete a watchpoint, or name a member of it",
	                 w->text, w->size, needed, free, free == 1 ? "is" : "are");
}

static struct error *watch_plant(struct watchpoint *w)
{
	for (uint64_t at = w->addr; at < w->addr + w->size;) {
		unsigned len = watch_piece(at, w->addr + w->size - at);
		struct error *err =
			control_watch(&w->debuggee->control, at, len, w->kind != WATCH_WRITE, true);

		if (err) {
			error_free(watch_take_away(w, at));
			return refuse(w, at, err);
		}
		at += len;
	}
	return NULL;
}

/*
 * ---- the end of a variable ----
 *
 * The bytes of a coroutine's variable belong to it as long as the coroutine lives and is in a state
 * that has it; what is written there afterwards, by another variable or by an allocator, is none of
 * its changes.
 */

static struct error *watch_scope_end(struct watchpoint *w)
{
	struct error *err = NULL;

	for (size_t i = 0; i < w->drops.n && !err; i++)
		err = internal_breakpoint_remove(&w->debuggee->control, w->drops.data[i]);
	vec_free(&w->drops);
	return err;
}

static struct error *end_watch(struct watchpoint *w, const char *why)
{
	bool enabled = w->enabled;

	w->enabled = false;
	w->ended = true;
	w->note = arena_printf(&w->arena, "it no longer watches anything: %s", why);
	TRY(watch_scope_end(w));
	return enabled ? watch_take_away(w, w->addr + w->size) : NULL;
}

/* ---- the owner ---- */

static const struct type *watch_find_type(struct debuginfo *di, const char *name)
{
	const struct type *t = NULL;

	for (size_t i = 0; !t && i < di->nmodules; i++) {
		struct dwarf_module *dm = debuginfo_program_module(di, i);

		t = dm ? lookup_type(dm, name, 0) : NULL;
	}
	return t;
}

static void watch_find_owner(struct debuginfo *di, const struct future *f, uint64_t addr,
                             struct watch_owner *ret)
{
	const struct type *t =
		f->addr && f->addr <= addr && f->type ? watch_find_type(di, f->type) : NULL;

	if (t && addr - f->addr < type_size(t) && type_is_coroutine(t) && type_discr(t))
		*ret = (struct watch_owner){ .type = t, .addr = f->addr };
	for (size_t i = 0; i < f->nchildren; i++)
		watch_find_owner(di, f->children[i], addr, ret);
}

/* The thread that polls the task; 0: none. */
static pid_t polling_thread(const struct snapshot *snap, const char *task)
{
	for (size_t i = 0; i < snap->nthreads; i++) {
		if (snap->threads[i].task && strcmp(snap->threads[i].task, task) == 0)
			return snap->threads[i].tid;
	}
	return 0;
}

static struct error *watch_read_stack(struct debuggee *d, pid_t tid, struct arena *a,
                                      struct stack *ret)
{
	struct inspector *in = asyncdbg_inspector(d->handle);
	struct step_plan p = { .d = d, .in = in, .arch = in->target->arch, .where.tid = tid };

	return step_frame_stack(&p, tid, STACK_MAX_FRAMES, a, ret);
}

/* Bytes of the expression's first name: "req" of "req.count". */
static size_t watch_base_len(const char *text)
{
	return strcspn(text, ".[ ");
}

/* The depth of the function in a frame that polls a coroutine; false: none does. */
static bool watch_find_depth(struct debuginfo *di, const struct frame *frame,
                             const struct type *coroutine, unsigned *ret)
{
	SCRATCH(tmp);
	size_t n;
	const struct location *l = lookup_functions_at(di, frame->lookup_pc, &tmp, &n);

	for (size_t i = 0; i < n; i++) {
		const struct type *t = l[i].function ? step_instance_type(l[i].function) : NULL;

		*ret = (unsigned)(n - 1 - i);
		if (t && strcmp(type_name(t), type_name(coroutine)) == 0)
			return true;
	}
	return false;
}

/* The block of a variable for which optimised code has no place: it is in the coroutine. */
static void watch_find_block(struct debuginfo *di, const struct stack *stack, const char *text,
                             struct watch_owner *ret)
{
	unsigned depth;
	size_t i = 0;

	while (i < stack->nframes && !watch_find_depth(di, &stack->frames[i], ret->type, &depth))
		i++;
	if (i < stack->nframes)
		frame_scope_find_named(di, stack->frames[i].lookup_pc, depth, text,
		                       watch_base_len(text), &ret->scope);
}

/* The frame of a thread that has the address, or in which it is a variable of a coroutine. */
static struct error *watch_find_frame(struct debuggee *d, pid_t tid, const char *text,
                                      uint64_t addr, struct watch_owner *ret)
{
	struct frame_scope scope;
	struct stack stack;
	SCRATCH(tmp);

	TRY(watch_read_stack(d, tid, &tmp, &stack));
	ret->tid = tid;
	if (frame_scope_find(debuggee_debuginfo(d), &stack, addr, text, watch_base_len(text),
	                     &scope))
		ret->scope = scope;
	else if (ret->type)
		watch_find_block(debuggee_debuginfo(d), &stack, text, ret);
	return NULL;
}

struct error *watch_owner_find(struct debuggee *d, const struct snapshot *snap,
                               const struct watch_place *place, struct watch_owner *ret)
{
	struct debuginfo *di = debuggee_debuginfo(d);
	struct step_instance polled;

	*ret = (struct watch_owner){ 0 };
	if (!di || !d->control.pid)
		return NULL;
	for (size_t i = 0; place->task && i < snap->ntasks; i++) {
		if (snap->tasks[i]->root && strcmp(snap->tasks[i]->id, place->task) == 0)
			watch_find_owner(di, snap->tasks[i]->root, place->addr, ret);
	}
	pid_t tid = place->task ? polling_thread(snap, place->task) : 0;
	tid = place->stack ? place->stack : tid;
	if (!tid)
		return NULL;
	/* The tree of a task that is being polled is that of its stack. */
	if (!ret->type) {
		TRY(step_task_find(d, tid, place->addr, &polled));
		*ret = (struct watch_owner){ .type = polled.type, .addr = polled.addr };
	}
	return watch_find_frame(d, tid, place->text, place->addr, ret);
}

/* ---- its state ---- */

/* NULL: it is in none, or that cannot be read. */
static const struct variant *watch_state_now(const struct watchpoint *w)
{
	struct target *t = asyncdbg_inspector(w->debuggee->handle)->target;
	const struct variant *v = NULL;
	struct target_scratch_cache before;

	target_begin_scratch_cache(t, &before);
	struct error *err = value_variant(t, (struct value){ w->owner.type, w->owner.addr }, &v);
	target_end_scratch_cache(t, &before);
	bool known = !err;
	error_free(err);
	return known ? v : NULL;
}

/* Whether a state keeps bytes of a variable where the watchpoint is. name NULL: of any. */
static bool keeps(const struct watchpoint *w, const struct variant *v, const char *name, size_t len)
{
	size_t n = 0;
	const struct member *m = v->payload ? type_members(v->payload, &n) : NULL;

	for (size_t i = 0; i < n; i++) {
		uint64_t at = w->owner.addr + v->offset + m[i].offset;

		if (w->addr >= at && w->addr - at < type_size(m[i].type) &&
		    (!name ||
		     (m[i].name && strlen(m[i].name) == len && strncmp(m[i].name, name, len) == 0)))
			return true;
	}
	return false;
}

/* Whether any state has a variable of the expression's name there: else it goes by another one. */
static bool watch_has_name(const struct watchpoint *w, size_t len)
{
	size_t n;
	const struct variant *v = type_variants(w->owner.type, &n);

	for (size_t i = 0; i < n; i++) {
		if (keeps(w, &v[i], w->text, len))
			return true;
	}
	return false;
}

static const char *why_over(const struct variant *now)
{
	if (!now)
		return "its future is gone";
	if (strcmp(now->name, "Returned") == 0)
		return "its function has returned";
	if (strcmp(now->name, "Panicked") == 0)
		return "its function has panicked";
	return NULL;
}

/*
 * The state is that in which the poll began. In the state in which the watchpoint was set the
 * variable may be one that no suspension keeps yet.
 */
static const char *watch_why_ended(const struct watchpoint *w)
{
	const struct variant *now = watch_state_now(w);
	const char *over = why_over(now);
	const size_t len = watch_base_len(w->text);

	if (over || now == w->since)
		return over;
	if (strcmp(now->name, "Unresumed") == 0)
		return "its future is gone: another one is in its memory";
	return keeps(w, now, watch_has_name(w, len) ? w->text : NULL, len) ? NULL
	                                                                   : "its scope has ended";
}

/* ---- whether it is there ---- */

static bool watch_is_in_tree(const struct future *f, uint64_t addr)
{
	if (f->addr == addr)
		return true;
	for (size_t i = 0; i < f->nchildren; i++) {
		if (watch_is_in_tree(f->children[i], addr))
			return true;
	}
	return false;
}

static bool is_in_snapshot(const struct snapshot *snap, uint64_t addr)
{
	for (size_t i = 0; i < snap->ntasks; i++) {
		if (snap->tasks[i]->root && watch_is_in_tree(snap->tasks[i]->root, addr))
			return true;
	}
	for (size_t i = 0; i < snap->nthreads; i++) {
		if (snap->threads[i].root && watch_is_in_tree(snap->threads[i].root, addr))
			return true;
	}
	return false;
}

/*
 * Code of another module may be the allocator's, which has got the memory back, or copy a value to
 * the variable for the program.
 */
static struct error *is_foreign(struct watchpoint *w, const struct internal_hit *hit, bool *ret)
{
	const struct module *own = type_module(w->owner.type)->module;
	struct debuggee *d = w->debuggee;
	struct regs regs;
	SCRATCH(tmp);

	*ret = false;
	TRY(control_registers(&d->control, hit->tid, &tmp, &regs));
	uint64_t pc = regs.r[asyncdbg_inspector(d->handle)->target->arch->pc];
	*ret = pc < own->start || pc >= own->end;
	return NULL;
}

/*
 * Looks for the frame in the stack of its thread, which has just written there; hit NULL: now. A
 * thread that has ended has no stack.
 */
static struct error *watch_look_at_frame(struct watchpoint *w, const struct internal_hit *hit,
                                         const char **ret)
{
	static const char *const why[] = {
		[FRAME_SCOPE_LIVES] = NULL,
		[FRAME_SCOPE_LEFT] = "its scope has ended",
		[FRAME_SCOPE_GONE] = "its function is not on the stack any more",
	};
	struct target *t = asyncdbg_inspector(w->debuggee->handle)->target;
	const pid_t tid = w->owner.scope.cfa || !hit ? w->owner.tid : hit->tid;
	struct target_scratch_cache before;
	struct stack stack = { 0 };
	SCRATCH(tmp);

	struct error *err = watch_read_stack(w->debuggee, tid, &tmp, &stack);
	if (err && err->kind == ERR_INTERRUPTED)
		return err;
	error_free(err);
	target_begin_scratch_cache(t, &before);
	*ret = why[frame_scope_look(debuggee_debuginfo(w->debuggee), &w->owner.scope, &stack,
	                            hit && tid == hit->tid)];
	target_end_scratch_cache(t, &before);
	return NULL;
}

/*
 * The variable was suspended when the watchpoint was set. The first write in a poll shows its
 * block, or is that of another variable, in the function that polls the coroutine.
 */
static struct error *watch_look_at_poll(struct watchpoint *w, const struct internal_hit *hit,
                                        const char **ret)
{
	struct debuginfo *di = debuggee_debuginfo(w->debuggee);
	const size_t len = watch_base_len(w->text);
	unsigned depth = 0;
	struct stack stack;
	size_t i = 0;
	SCRATCH(tmp);

	TRY(watch_read_stack(w->debuggee, hit->tid, &tmp, &stack));
	if (stack.nframes)
		stack.frames[0].lookup_pc--; /* the instruction that has written */
	while (i < stack.nframes && !watch_find_depth(di, &stack.frames[i], w->owner.type, &depth))
		i++;
	if (i < stack.nframes &&
	    !frame_scope_find_named(di, stack.frames[i].lookup_pc, depth, w->text, len,
	                            &w->owner.scope) &&
	    watch_has_name(w, len))
		*ret = "its scope has ended";
	return NULL;
}

static struct error *scope_check(struct watchpoint *w, const struct internal_hit *hit,
                                 const char **ret)
{
	struct snapshot *snap;
	bool foreign;

	*ret = w->owner.type && !w->state ? watch_why_ended(w) : NULL;
	if (!*ret && (w->owner.scope.cfa || w->owner.scope.variable))
		TRY(watch_look_at_frame(w, hit, ret));
	else if (!*ret && w->owner.type && !w->state)
		TRY(watch_look_at_poll(w, hit, ret));
	if (*ret || !w->owner.type)
		return NULL;
	TRY(is_foreign(w, hit, &foreign));
	if (!foreign)
		return NULL;
	TRY(asyncdbg_take(w->debuggee->handle, WANT_TASKS | WANT_RUNNING, &snap));
	if (!is_in_snapshot(snap, w->owner.addr))
		*ret = "its future is gone";
	snapshot_free(snap);
	return NULL;
}

/* ---- its drop and its return ---- */

static struct error *end_watch_here(struct watchpoint *w, const char *why, bool stops)
{
	struct debuggee *d = w->debuggee;

	TRY(end_watch(w, why));
	if (!stops)
		return NULL;
	w->halts = true;
	w->hits.changed = false;
	d->watch = d->watch ? d->watch : w;
	return NULL;
}

static struct error *watch_at_drop(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct watchpoint *w = arg;
	const struct variant *now = watch_state_now(w);
	const char *over = now ? why_over(now) : NULL;

	(void)hit;
	/* The last state of a future was a hit of its own. */
	*stop = w->enabled && !(w->state && over);
	return end_watch_here(w, over ? over : "its future was dropped", *stop);
}

static struct error *watch_at_return(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct watchpoint *w = arg;

	(void)hit;
	*stop = w->enabled;
	return end_watch_here(w, "its function has returned", *stop);
}

/* Behind the return from the frame the stack pointer is its end: no other call has that. */
static struct error *watch_plant_return(struct watchpoint *w)
{
	struct debuggee *d = w->debuggee;
	const struct tracer_filter filter = {
		.reg = asyncdbg_inspector(d->handle)->target->arch->sp,
		.size = 8,
		.value = w->owner.scope.cfa
	};
	struct internal_breakpoint *internal;

	TRY(internal_breakpoint_add(
		&d->control,
		&(struct internal_breakpoint_options){ .addr = w->owner.scope.returns,
	                                               .filter = &filter,
	                                               .decide = watch_at_return,
	                                               .kind = INTERNAL_WATCH_DROP,
	                                               .arg = w },
		&internal));
	*vec_push(&w->drops) = internal;
	return NULL;
}

/* The functions that drop a coroutine get its address as their first argument. */
static struct error *watch_plant_drops(struct watchpoint *w, const struct step_addresses *drops)
{
	struct debuggee *d = w->debuggee;
	const struct arch *arch = asyncdbg_inspector(d->handle)->target->arch;
	const struct tracer_filter filter = { .reg = arch->arguments[0],
		                              .size = 8,
		                              .value = w->owner.addr };

	for (size_t i = 0; i < drops->n; i++) {
		struct internal_breakpoint *internal;

		TRY(internal_breakpoint_add(
			&d->control,
			&(struct internal_breakpoint_options){ .addr = drops->data[i],
		                                               .filter = &filter,
		                                               .decide = watch_at_drop,
		                                               .kind = INTERNAL_WATCH_DROP,
		                                               .arg = w },
			&internal));
		*vec_push(&w->drops) = internal;
	}
	return NULL;
}

/* The poll function of the owner; NULL: it is inlined, or unknown. */
static const struct function *watch_find_poll(const struct watchpoint *w, struct debuginfo *di)
{
	struct code_places places = { 0 };
	const char *owner = type_name(w->owner.type);
	SCRATCH(tmp);

	error_free(lookup_function_places(di, name_function(&tmp, owner), &tmp, &places));
	for (size_t i = 0; i < places.n; i++) {
		const struct function *f = lookup_function(di, places.data[i].addr);
		const struct type *polled = f ? step_instance_type(f) : NULL;

		if (polled && strcmp(type_name(polled), owner) == 0)
			return f;
	}
	return NULL;
}

static struct error *scope_begin(struct watchpoint *w)
{
	struct debuggee *d = w->debuggee;

	/* With --production, the CPU's breakpoints are for the memory that is watched. */
	if (w->owner.scope.cfa && !w->drops.n && !d->control.hw_breakpoints_only)
		TRY(watch_plant_return(w));
	if (!w->owner.type)
		return NULL;
	w->since = w->since ? w->since : watch_state_now(w);
	const struct function *poll =
		d->control.hw_breakpoints_only
			? NULL
			: watch_find_poll(w, asyncdbg_inspector(d->handle)->di);
	if (!poll)
		return NULL;
	if (!d->step_cache)
		d->step_cache = step_cache_new();
	return watch_plant_drops(w, step_cache_drops(d->step_cache, poll, w->owner.type));
}

/* ---- hits ---- */

/* A hit whose condition is evaluated. */
struct watch_look {
	const struct watchpoint *w;
	pid_t tid;
	struct arena *a;
};

static struct error *watch_find_operand(void *arg, const struct predicate *operand,
                                        struct predicate_value *ret)
{
	const struct watch_look *l = arg;
	const struct watch_rule *rule = &l->w->rule;
	struct debuggee *d = l->w->debuggee;
	struct frame_value v;

	if (operand->op != PREDICATE_PATH)
		return debuggee_task_operand(d, l->tid, operand, ret);
	for (size_t i = 0; i < rule->nnames; i++) {
		if (strcmp(rule->names[i].path, operand->path) != 0)
			continue;
		TRY(frame_value_at(asyncdbg_inspector(d->handle), rule->names[i].type,
		                   rule->names[i].addr, l->a, &v));
		*ret = operand_of_value(&v);
		return NULL;
	}
	return error_new(ERR_STATE, "%s has no place", operand->path);
}

/* err: why the condition cannot be read; owned. Whether it halts all the same. */
static bool watch_cannot_read(struct watchpoint *w, struct error *err)
{
	bool first = !w->hits.unreadable++;

	if (first)
		w->hits.problem = arena_strdup(&w->rule_arena, err->message);
	error_free(err);
	return first;
}

/* Counts a hit, if its condition is true. *stop: it halts. */
static struct error *count_hit(struct watchpoint *w, pid_t tid, bool *stop)
{
	SCRATCH(tmp);
	struct watch_look l = { .w = w, .tid = tid, .a = &tmp };
	bool is_true = true;

	w->hits.undecided = *stop = false;
	if (w->parsed) {
		struct error *err = predicate_evaluate(w->parsed, watch_find_operand, &l, &is_true);

		if (err && err->kind == ERR_INTERRUPTED)
			return err;
		if (err) {
			*stop = w->hits.undecided = watch_cannot_read(w, err);
			return NULL;
		}
	}
	if (!is_true || ++w->hits.n <= w->rule.skip)
		return NULL;
	*stop = !w->rule.every || (w->hits.n - w->rule.skip) % w->rule.every == 0;
	return NULL;
}

/* Whether that is what it watches for. */
static bool is_hit(const struct watchpoint *w, bool changed, bool here)
{
	switch (w->kind) {
	case WATCH_READ:
		return here && !changed;
	case WATCH_ACCESS:
		return here || changed;
	default:
		return changed;
	}
}

/* Ends the watchpoint where the variable has ended before the hit. */
static struct error *check_scope(struct watchpoint *w, const struct internal_hit *hit)
{
	const char *why;

	TRY(scope_check(w, hit, &why));
	if (!why)
		return NULL;
	w->hits.changed = false;
	w->hits.nstops = w->debuggee->control.nstops;
	return end_watch(w, why);
}

static struct error *check(struct watchpoint *w, const struct internal_hit *hit, bool *stop)
{
	unsigned char now[WATCH_MAX_BYTES];
	bool here = hit->addr >= w->addr && hit->addr - w->addr < w->size;
	uint64_t nstops = w->debuggee->control.nstops;

	*stop = false;
	TRY(control_read(&w->debuggee->control, w->addr, now, w->size));
	bool changed = memcmp(now, w->bytes, w->size) != 0;
	if (changed || here)
		TRY(check_scope(w, hit));
	if (w->ended) {
		*stop = true;
		return NULL;
	}
	if (changed)
		TRY(watch_take_value(w, now));
	if (w->hits.nstops == nstops || is_hit(w, changed, here)) {
		w->hits.changed = w->hits.nstops == nstops ? w->hits.changed : changed;
		w->hits.nstops = nstops;
		return count_hit(w, hit->tid, stop);
	}
	w->hits.unchanged += w->kind == WATCH_WRITE && here;
	return NULL;
}

/*
 * A thread has written to memory at hit->addr, or accessed it. *stop: one of the watchpoints halts.
 * All that do are marked.
 */
static struct error *decide(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct debuggee *d = arg;

	for (size_t i = 0; i < d->watches.list.n; i++) {
		struct watchpoint *w = d->watches.list.data[i];
		bool halts = w->ended && w->hits.nstops == d->control.nstops;

		if (w->enabled)
			TRY(check(w, hit, &halts));
		w->halts = halts;
		if (halts && !*stop)
			d->watch = w;
		*stop |= halts;
	}
	return NULL;
}

/* ---- the list ---- */

static void watch_free_one(struct watchpoint *w)
{
	vec_free(&w->drops);
	arena_free(&w->arena);
	arena_free(&w->value_arena);
	arena_free(&w->old_arena);
	arena_free(&w->rule_arena);
	free(w);
}

static void watch_remove_from(struct debuggee *d, const struct watchpoint *w)
{
	size_t n = 0;

	for (size_t i = 0; i < d->watches.list.n; i++) {
		if (d->watches.list.data[i] != w)
			d->watches.list.data[n++] = d->watches.list.data[i];
	}
	d->watches.list.n = n;
	if (d->watch == w)
		d->watch = NULL;
}

static struct watchpoint *new_watchpoint(struct debuggee *d, const struct watch_options *o)
{
	struct watchpoint *w = calloc(1, sizeof(*w));

	if (!w)
		out_of_memory();
	*w = (struct watchpoint){ .debuggee = d,
		                  .addr = o->addr,
		                  .size = type_size(o->type),
		                  .type = o->type,
		                  .whole = o->addr,
		                  .owner = o->owner,
		                  .kind = o->kind,
		                  .state = o->state };
	w->text = arena_strdup(&w->arena, o->text);
	w->task = o->task ? arena_strdup(&w->arena, o->task) : NULL;
	return w;
}

struct error *watch_set_rule(struct watchpoint *w, const struct watch_rule *rule)
{
	struct arena a = { 0 };
	const struct predicate *parsed = NULL;
	struct error *err = rule->condition ? predicate_parse(&a, rule->condition, &parsed) : NULL;

	if (err) {
		arena_free(&a);
		return err;
	}
	struct watch_name *names = NEW_ARRAY(&a, struct watch_name, rule->nnames);
	for (size_t i = 0; i < rule->nnames; i++) {
		names[i] = rule->names[i];
		names[i].path = arena_strdup(&a, rule->names[i].path);
	}
	w->rule = *rule;
	w->rule.condition = rule->condition ? arena_strdup(&a, rule->condition) : NULL;
	w->rule.names = names;
	arena_free(&w->rule_arena);
	w->rule_arena = a;
	w->parsed = parsed;
	w->hits.problem = NULL;
	w->hits.unreadable = 0;
	return NULL;
}

/* The bytes of the state of a coroutine. */
static struct error *choose_state(struct watchpoint *w)
{
	const struct member *m =
		w->type && type_kind(w->type) == TYPE_ENUM && type_is_coroutine(w->type)
			? type_discr(w->type)
			: NULL;

	if (!m)
		return error_new(ERR_STATE, "%s is not a coroutine whose states are known",
		                 w->text);
	w->owner = (struct watch_owner){ .type = w->type, .addr = w->whole };
	w->addr = w->whole + m->offset;
	w->size = type_size(m->type);
	return NULL;
}

static struct error *watch_begin(struct watchpoint *w, const struct watch_rule *rule)
{
	unsigned char now[WATCH_MAX_BYTES];
	const char *over = NULL;

	TRY(watch_set_rule(w, rule));
	if (w->owner.scope.cfa)
		TRY(watch_look_at_frame(w, NULL, &over));
	if (over)
		return error_new(ERR_STATE, "%s cannot be watched any more: %s", w->text, over);
	if (w->state)
		TRY(choose_state(w));
	if (w->size == 0 || w->size > WATCH_MAX_BYTES)
		return error_new(ERR_USAGE,
		                 "%s has %" PRIu64
		                 " bytes: 1 to %d can be watched; name a member of it",
		                 w->text, w->size, WATCH_MAX_BYTES);
	TRY(control_read(&w->debuggee->control, w->addr, now, w->size));
	TRY(watch_take_value(w, now));
	TRY(watch_plant(w));
	struct error *err = scope_begin(w);
	if (!err)
		return NULL;
	error_free(watch_scope_end(w));
	error_free(watch_take_away(w, w->addr + w->size));
	return err;
}

struct error *watch_add(struct debuggee *d, const struct watch_options *options,
                        struct watchpoint **ret)
{
	struct watchpoint *w = new_watchpoint(d, options);
	struct error *err = watch_begin(w, &options->rule);

	if (err) {
		watch_free_one(w);
		return err;
	}
	d->control.watched = decide;
	d->control.watched_arg = d;
	w->enabled = true;
	w->number = ++d->breakpoints.last;
	*vec_push(&d->watches.list) = w;
	*ret = w;
	return NULL;
}

struct watchpoint *watch_numbered(struct debuggee *d, unsigned number)
{
	for (size_t i = 0; i < d->watches.list.n; i++) {
		if (d->watches.list.data[i]->number == number)
			return d->watches.list.data[i];
	}
	return NULL;
}

struct error *watch_enable(struct watchpoint *w, bool enabled)
{
	unsigned char now[WATCH_MAX_BYTES];

	if (w->enabled == enabled)
		return NULL;
	if (enabled && w->note)
		return error_new(ERR_STATE, "watchpoint %u: %s", w->number, w->note);
	if (!enabled) {
		w->enabled = false;
		return watch_take_away(w, w->addr + w->size);
	}
	TRY(control_read(&w->debuggee->control, w->addr, now, w->size));
	TRY(watch_take_value(w, now));
	TRY(watch_plant(w));
	w->enabled = true;
	return NULL;
}

bool watch_is_stop(const struct debuggee *d)
{
	return d->watch && (d->control.stop.reason == CONTROL_WATCH ||
	                    (d->watch->ended && d->watch->halts && !d->breakpoint));
}

struct error *watch_take_written(struct debuggee *d)
{
	unsigned char now[WATCH_MAX_BYTES];

	for (size_t i = 0; i < d->watches.list.n; i++) {
		struct watchpoint *w = d->watches.list.data[i];

		if (!w->enabled)
			continue;
		TRY(control_read(&d->control, w->addr, now, w->size));
		if (memcmp(now, w->bytes, w->size) != 0)
			TRY(watch_take_value(w, now));
	}
	return NULL;
}

struct error *watch_delete(struct watchpoint *w)
{
	bool enabled = w->enabled;

	w->enabled = false;
	struct error *err = watch_scope_end(w);
	if (!err && enabled)
		err = watch_take_away(w, w->addr + w->size);
	watch_remove_from(w->debuggee, w);
	watch_free_one(w);
	return err;
}

void watch_report_unwatched(void *debuggee, pid_t tid, int errnum)
{
	struct debuggee *d = debuggee;
	const struct debuggee_listener *l = &d->listener;
	STR(text);

	if (d->watches.reported || !l->warned)
		return;
	d->watches.reported = true;
	str_printf(&text,
	           "the new thread %d has no hardware breakpoints (%s): what it does at %s is not "
	           "seen, and so of others that start",
	           (int)tid, strerror(errnum),
	           d->control.hw_breakpoints_only ? "breakpoints and watchpoints" : "watchpoints");
	if (errnum == EMFILE)
		str_append(&text, "; each thread needs an open file for each of them: raise the "
		                  "limit (ulimit -n)");
	l->warned(l->arg, str_text(&text));
}

void watch_forget(struct debuggee *d)
{
	d->watches.reported = false;
	for (size_t i = 0; i < d->watches.list.n; i++) {
		struct watchpoint *w = d->watches.list.data[i];

		error_free(watch_scope_end(w));
		w->owner = (struct watch_owner){ 0 };
		w->enabled = false;
		w->type = NULL;
		w->rule.names = NULL;
		w->rule.nnames = 0;
		w->note = "its program is gone: set it again";
	}
	d->watch = NULL;
}

void watch_free_all(struct debuggee *d)
{
	for (size_t i = 0; i < d->watches.list.n; i++)
		watch_free_one(d->watches.list.data[i]);
	vec_free(&d->watches.list);
	d->watch = NULL;
}
