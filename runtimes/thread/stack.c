#include "runtimes/thread/stack.h"

#include <string.h>

#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "dwarf/frame/native_variables.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"
#include "runtimes/query/locals.h"
#include "runtimes/query/merged_code.h"
#include "runtimes/query/same_code.h"
#include "runtimes/thread/block_on.h"

/* Whether a function matches the row by the prefix of its path and by its own name. */
static bool is_mark(const char *name, const struct mark_row *row, const char **own)
{
	size_t len;

	/* The prefix is checked first: few functions match it. */
	if (!str_begins(name, row->within))
		return false;
	if (!*own)
		*own = qualified_last(name);
	len = qualified_base_len(*own);
	return strlen(row->name) == len && memcmp(*own, row->name, len) == 0;
}

static bool stack_find_in(const struct runtime *of, const char *name, const char **own,
                          struct mark *ret)
{
	for (const struct mark_row *row = of->threads.marks; row && row->name; row++) {
		if (!is_mark(name, row, own))
			continue;
		ret->kind = row->kind;
		ret->of = of;
		return true;
	}
	return false;
}

/*
 * May a thread with these marks, outward of a block_on of no runtime, wait there? A thread that
 * polls a task or a future of its own is blocked instead.
 */
static bool stack_may_block_on(const struct marks *outer)
{
	bool job = false;

	for (size_t i = 0; i < outer->n; i++) {
		enum mark_kind kind = outer->data[i].kind;

		job |= kind == MARK_BLOCKING_RUN;
		if (kind == MARK_WORKER_RUN || kind == MARK_BLOCK_ON ||
		    (kind == MARK_TASK_POLL && !job))
			return false;
	}
	return true;
}

static bool find_mark(const struct runtime *const *r, const char *name, const struct marks *outer,
                      struct mark *ret)
{
	const char *own = NULL;

	for (; *r; r++) {
		if (stack_find_in(*r, name, &own, ret))
			return true;
	}
	for (const struct runtime *of = block_on_crates; of->name; of++) {
		if (stack_find_in(of, name, &own, ret))
			return stack_may_block_on(outer);
	}
	return false;
}

void stack_read(struct collector *c, const struct thread *th, struct thread_stack *ret)
{
	struct error *err;

	*ret = (struct thread_stack){ .thread = th };
	if (!th->has_regs)
		return;
	err = unwind_thread(c->in->unwinder, &c->scratch, th, &ret->stack);
	if (err) {
		/* Drop frames found before the error (^C): they have no functions. */
		ret->stack = (struct stack){ .problem = arena_strdup(c->a, err->message) };
		error_free(err);
		return;
	}
	/* print and whatis number frames as `bt` does, including those of C libraries. */
	bool all = c->question &&
	           (c->question->print || c->question->native || c->question->has_whatis);
	size_t n = ret->stack.nframes;
	ret->functions = NEW_ARRAY(&c->scratch, struct location *, n);
	ret->nfunctions = NEW_ARRAY(&c->scratch, size_t, n);
	for (size_t i = 0; i < n; i++) {
		uint64_t pc = ret->stack.frames[i].lookup_pc;

		ret->functions[i] =
			all ? lookup_functions_at(c->in->di, pc, &c->scratch, &ret->nfunctions[i])
			    : lookup_rust_functions_at(c->in->di, pc, &c->scratch,
		                                       &ret->nfunctions[i]);
	}
}

void stack_find_marks(const struct collector *c, const struct thread_stack *s, struct marks *ret)
{
	const struct runtime *const *runtimes = runtimes_in(c->in->di);

	ret->n = 0;
	for (size_t i = s->stack.nframes; i-- > 0;) {
		for (size_t j = s->nfunctions[i]; j-- > 0 && ret->n < MAX_MARKS;) {
			const struct location *l = &s->functions[i][j];
			struct mark m = {
				.frame = i, .level = j, .function = l->function, .name = l->name
			};

			if (l->name && find_mark(runtimes, l->name, ret, &m))
				ret->data[ret->n++] = m;
		}
	}
}

const struct mark *stack_innermost(const struct marks *marks, enum mark_kind kind,
                                   const struct runtime *of)
{
	for (size_t i = marks->n; i-- > 0;) {
		const struct mark *m = &marks->data[i];

		if (m->kind == kind && (!of || m->of == of))
			return m;
	}
	return NULL;
}

size_t stack_reach(const struct marks *marks, const struct mark *m)
{
	for (size_t i = (size_t)(m - marks->data); i-- > 0;) {
		/* The loops of one block_on call each other, or a block_on polls what it borrows.
		 */
		if (marks->data[i].kind != MARK_BLOCK_ON)
			return marks->data[i].frame;
	}
	return SIZE_MAX;
}

const struct type *stack_mark_future_type(const struct mark *m)
{
	const struct type *t;

	if (!m->function)
		return NULL;
	/* Parameter of a poll function: async-task's RawTask<F, T, S, M>; tokio's poll<T, S>. */
	t = function_param(m->function, "F");
	if (!t && m->kind != MARK_BLOCK_ON)
		t = function_param(m->function, "T");
	/* block_on(future: impl Future) has no name for the type. */
	return t || m->kind != MARK_BLOCK_ON ? t : function_first_argument(m->function);
}

const char *stack_mark_future_name(struct arena *a, const struct mark *m)
{
	const struct type *t = stack_mark_future_type(m);

	if (t)
		return type_name(t);
	/* The first type of a block_on of no runtime may be that of the result. */
	return m->of->types ? qualified_first_generic(a, m->name) : NULL;
}

/* polled: the coroutine that it polls, where that is another one than its function's name says. */
static struct future *running_future(struct collector *c, const struct location *l,
                                     const struct merged_code_polled *polled)
{
	const struct type *other = polled->type;
	struct future *f = NEW(c->a, struct future);

	if (other && strcmp(name_function(&c->scratch, type_name(other)),
	                    name_function(&c->scratch, l->name)) == 0)
		other = NULL;
	f->kind = coroutine_kind(l->name);
	f->function =
		other ? inspector_clean_name(c->a, name_function(&c->scratch, type_name(other)))
		      : coroutine_poll_path(c->a, l);
	f->type = inspector_clean_name(c->a, other ? type_name(other) : l->name);
	f->aliases = polled->aliases;
	f->uncertain = polled->aliases != NULL;
	f->await_point = -1;
	f->running = true;
	f->line = l->line;
	if (l->file) {
		f->file = inspector_clean_name(c->a, l->file);
		struct source source = source_path_of(c->in->di, c->a, l->file, l->comp_dir);
		f->file_short = source.text;
		f->library = source.library;
	}
	return f;
}

/* Whether (frame, level) is the mark or outward of it. */
static bool stack_outside(const struct mark *m, size_t frame, size_t level)
{
	return frame > m->frame || (frame == m->frame && level >= m->level);
}

bool stack_is_polling(const struct thread_stack *s, const struct marks *marks, size_t mark)
{
	const struct mark *from = &marks->data[mark];
	const struct mark *to = mark + 1 < marks->n ? &marks->data[mark + 1] : NULL;

	for (size_t i = 0; i <= from->frame; i++) {
		for (size_t j = 0; j < s->nfunctions[i]; j++) {
			if (!stack_outside(from, i, j) && (!to || stack_outside(to, i, j)) &&
			    coroutine_is_poll(&s->functions[i][j]))
				return true;
		}
	}
	return false;
}

static bool is_in_loop(const struct mark *m, const char *name)
{
	return m->of->threads.loop && str_begins(name, m->of->threads.loop);
}

bool stack_is_runtime_frame(const struct thread_stack *s, const struct mark *m, size_t frame)
{
	for (size_t j = 0; j < s->nfunctions[frame]; j++) {
		const char *name = s->functions[frame][j].name;

		if (name && is_in_loop(m, name))
			return true;
	}
	return false;
}

bool stack_is_parked(const struct thread_stack *s, const struct mark *m)
{
	for (size_t i = 0; i <= m->frame; i++) {
		for (size_t j = 0; j < s->nfunctions[i]; j++) {
			const char *name = s->functions[i][j].name;

			if (!stack_outside(m, i, j) && name && is_in_loop(m, name) &&
			    runtime_begins_with_one(qualified_last(name), m->of->threads.parks))
				return true;
		}
	}
	return false;
}

void stack_note_outer_roots(struct collector *c, const struct thread_info *info,
                            const struct thread_stack *s, const struct marks *marks,
                            const struct mark *block_on)
{
	for (size_t i = 0; marks->data + i < block_on; i++) {
		if (marks->data[i].kind == MARK_BLOCK_ON && stack_is_polling(s, marks, i))
			snapshot_incomplete(c->out,
			                    "thread %u: an outer block_on, in whose future the one "
			                    "shown was called, is not shown: see bt",
			                    info->number);
	}
}

bool stack_is_shared(const struct location *calls, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += coroutine_is_poll(&calls[i]);
	return count > 1;
}

/* The calls at a frame's pc, innermost first; reports where inner ones are not known. */
static struct location *calls_at(struct collector *c, const struct frame *frame, size_t *n)
{
	struct location *l = lookup_locations(c->in->di, frame->lookup_pc, &c->scratch, n);

	if (locations_are_cut(&l[0]))
		snapshot_incomplete(c->out,
		                    "inlined calls nest deeper than %d scopes: the inner ones are "
		                    "not shown, nor are async functions among them",
		                    DIE_MAX_NESTING);
	return l;
}

uint64_t stack_frame_end(const struct thread_stack *s, size_t frame)
{
	return frame + 1 < s->stack.nframes ? s->stack.frames[frame + 1].sp : 0;
}

static struct native_scope *scope_of(struct collector *c, const struct thread_stack *s,
                                     size_t frame, size_t level)
{
	struct native_scope *ret = NEW(&c->scratch, struct native_scope);

	ret->frame = &s->stack.frames[frame];
	ret->caller = frame + 1 < s->stack.nframes ? ret->frame + 1 : NULL;
	ret->level = level;
	return ret;
}

/* The next inner coroutine of a chain; poller is that around it, and becomes this one. */
static struct future *next_running(struct collector *c, const struct location *l,
                                   struct merged_code_poller *poller)
{
	struct merged_code_polled polled;

	merged_code_polled(c->in, l, poller, &polled);
	struct future *f = running_future(c, l, &polled);

	*poller = (struct merged_code_poller){ .type = polled.aliases ? NULL : polled.type,
		                               .file = f->file_short,
		                               .line = f->line };
	return f;
}

struct future *stack_running_chain(struct collector *c, const struct thread_stack *s,
                                   const struct marks *marks, size_t mark, bool doubtful)
{
	const struct mark *from = &marks->data[mark];
	const struct mark *to = mark + 1 < marks->n ? &marks->data[mark + 1] : NULL;
	struct future *outermost = NULL, *last = NULL;
	struct merged_code_poller poller = { .type = stack_mark_future_type(from),
		                             .is_runtime = true };

	for (size_t i = from->frame + 1; i-- > 0;) {
		bool any = false;

		for (size_t j = 0; j < s->nfunctions[i]; j++)
			any |= coroutine_is_poll(&s->functions[i][j]);
		if (!any)
			continue;
		size_t n;
		struct location *l = calls_at(c, &s->stack.frames[i], &n);

		for (size_t j = n; j-- > 0;) {
			if (stack_outside(from, i, j) || (to && !stack_outside(to, i, j)) ||
			    !coroutine_is_poll(&l[j]))
				continue;
			struct future *f = next_running(c, &l[j], &poller);

			poller.type = doubtful ? NULL : poller.type;
			const struct frame_place place = { .frame = &s->stack.frames[i],
				                           .function = scope_of(c, s, i, j),
				                           .cfa = stack_frame_end(s, i),
				                           .depth = (unsigned)(n - 1 - j),
				                           .shared = j < n - 1 ||
				                                     stack_is_shared(l, n) };
			locals_of_running(c, &place, f);
			if (last) {
				last->children = NEW_ARRAY(c->a, struct future *, 1);
				last->children[0] = f;
				last->nchildren = 1;
			} else {
				outermost = f;
			}
			last = f;
		}
	}
	return outermost;
}

/*
 * Names the other functions with the code of a frame's function; NULL: none. They are looked up
 * once for each function, as many threads have frames in some.
 */
static const char *others_with_code(struct collector *c, const struct frame *frame,
                                    const struct location *l)
{
	static const char none[] = "";
	const char *known;

	/* A coroutine is named by what is polled. */
	if (l->inlined || !l->function || coroutine_is_poll(l))
		return NULL;
	known = map_get(&c->same_code, l->function->low);
	if (!known) {
		known = same_code_others(c->in->di, frame->lookup_pc, c->a);
		map_put(&c->same_code, l->function->low, (void *)(uintptr_t)(known ? known : none));
	}
	return known && *known ? known : NULL;
}

static void describe_frame(struct collector *c, const struct frame *frame, const struct location *l,
                           struct stack_frame *ret)
{
	const struct module *m = module_at(c->in->target, frame->pc);

	ret->pc = frame->pc;
	ret->line = l->line;
	ret->inlined = l->inlined;
	ret->module = m ? inspector_clean_name(c->a, str_base_name(m->path)) : NULL;
	ret->function_full = inspector_clean_name(c->a, l->name);
	ret->function = coroutine_function_name(c->a, l);
	ret->aliases = others_with_code(c, frame, l);
	if (l->file) {
		ret->file = inspector_clean_name(c->a, l->file);
		ret->file_short = source_path_of(c->in->di, c->a, l->file, l->comp_dir).text;
	}
}

/* A function in a frame of the stack. */
struct described {
	const struct location *location;
	size_t frame, level;
};

/* Names of coroutines whose function is another one's, too: which of them runs there. */
struct renaming {
	const struct marks *marks;
	const struct mark *joined; /* mark of the task; NULL: none */
	const char *task_aliases;  /* the other types that the task may be; NULL: none */
	struct merged_code_poller poller;
	const char *doubt; /* of the next coroutine: task_aliases, or NULL */
};

static void rename_below_mark(struct renaming *r, size_t frame, size_t level)
{
	for (size_t i = 0; i < r->marks->n; i++) {
		const struct mark *m = &r->marks->data[i];

		if (m->frame != frame || m->level != level ||
		    (m->kind != MARK_TASK_POLL && m->kind != MARK_BLOCK_ON))
			continue;
		r->poller = (struct merged_code_poller){ .type = stack_mark_future_type(m),
			                                 .is_runtime = true };
		r->doubt = m == r->joined ? r->task_aliases : NULL;
	}
}

/* Frames are renamed from the outside in: what a frame polls depends on its poller. */
static void rename_frame(struct collector *c, struct renaming *r, const struct location *l,
                         struct stack_frame *f)
{
	struct merged_code_polled polled;

	if (!coroutine_is_poll(l))
		return;
	merged_code_polled(c->in, l, &r->poller, &polled);
	const char *aliases = r->doubt ? r->doubt : polled.aliases;
	struct future *named = running_future(c, l, &polled);

	f->function = aliases ? arena_printf(c->a, "%s or %s", named->function, aliases)
	                      : named->function;
	r->poller = (struct merged_code_poller){ .type = aliases ? NULL : polled.type,
		                                 .file = f->file_short,
		                                 .line = f->line };
	r->doubt = NULL;
}

struct stack_frame *stack_describe(struct collector *c, const struct thread_stack *s,
                                   const struct marks *marks, const struct task *task, size_t *nret)
{
	struct renaming renaming = { .marks = marks };
	const struct mark *joined = NULL;
	VEC(struct stack_frame) frames = { 0 };
	VEC(struct described) described = { 0 };

	/* The async backtrace is attached to the frame of the innermost poll of the task. */
	if (task)
		joined =
			stack_innermost(marks, MARK_TASK_POLL, collector_runtime(c, task->runtime));
	for (size_t i = 0; i < s->stack.nframes; i++) {
		size_t n;
		struct location *l = calls_at(c, &s->stack.frames[i], &n);

		for (size_t j = 0; j < n; j++) {
			struct stack_frame *f = vec_push(&frames);

			*vec_push(&described) = (struct described){ &l[j], i, j };
			f->number = (unsigned)(frames.n - 1);
			describe_frame(c, &s->stack.frames[i], &l[j], f);
			if (joined && joined->frame == i && joined->level == j)
				f->polls_task = task->id;
		}
	}
	renaming.joined = joined;
	renaming.task_aliases = task && task->root ? task->root->aliases : NULL;
	for (size_t i = frames.n; i-- > 0;) {
		rename_below_mark(&renaming, described.data[i].frame, described.data[i].level);
		rename_frame(c, &renaming, described.data[i].location, &frames.data[i]);
	}
	vec_free(&described);
	*nret = frames.n;
	return vec_to_arena(&frames, c->a);
}
