#include "runtimes/thread/block_on.h"

#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/future/leaf.h"
#include "runtimes/thread/block_on_waker.h"
#include "runtimes/thread/root.h"

/* futures-executor 0.3, src/local_pool.rs */
static const struct mark_row futures_marks[] = {
	{ "futures_executor::local_pool::", "block_on", MARK_BLOCK_ON },
	{ 0 },
};
/* pollster 0.4, src/lib.rs */
static const struct mark_row pollster_marks[] = {
	{ "pollster::", "block_on", MARK_BLOCK_ON },
	{ 0 },
};
/* async-io 2.6, src/driver.rs */
static const struct mark_row async_io_marks[] = {
	{ "async_io::driver::", "block_on", MARK_BLOCK_ON },
	{ 0 },
};
/* futures-lite 2.6, src/future.rs */
static const struct mark_row futures_lite_marks[] = {
	{ "futures_lite::future::", "block_on", MARK_BLOCK_ON },
	{ 0 },
};

static bool no_copy(const struct inspector *in, size_t n, struct runtime_copy *ret)
{
	(void)in, (void)n, (void)ret;
	return false;
}

#define CRATE(n, prefix, rows)                                                                     \
	{                                                                                          \
		.name = n, .path = prefix, .threads.loop = prefix, .threads.marks = rows,          \
		.copy = no_copy                                                                    \
	}

const struct runtime block_on_crates[] = {
	CRATE("futures", "futures_executor::local_pool::", futures_marks),
	CRATE("pollster", "pollster::", pollster_marks),
	CRATE("async-io", "async_io::driver::", async_io_marks),
	CRATE("futures-lite", "futures_lite::future::", futures_lite_marks),
	{ 0 },
};

static bool block_on_is_ours(const struct mark *m)
{
	for (const struct runtime *of = block_on_crates; of->name; of++) {
		if (m->of == of)
			return true;
	}
	return false;
}

/* The innermost block_on of a stack, if it is none of a runtime; NULL otherwise. */
static const struct mark *block_on_find_own(struct collector *c, const struct thread_stack *s,
                                            struct marks *marks)
{
	const struct mark *m;

	stack_find_marks(c, s, marks);
	m = stack_innermost(marks, MARK_BLOCK_ON, NULL);
	return m && block_on_is_ours(m) ? m : NULL;
}

void block_on_find_wakers(struct collector *c)
{
	struct marks marks;

	for (size_t i = 0; i < c->out->nthreads; i++) {
		struct thread_stack *s = &c->stacks[i];
		const struct mark *m = block_on_find_own(c, s, &marks);

		s->waker = m ? block_on_waker_find(c, s, m) : 0;
		if (s->waker)
			map_put(&c->wakers, s->waker, &c->out->threads[i]);
	}
}

static void block_on_describe(struct collector *c, struct thread_info *info,
                              const struct thread_stack *s)
{
	struct marks marks;
	const struct mark *block_on = block_on_find_own(c, s, &marks);

	if (!block_on || info->root)
		return;
	bool polls = stack_is_polling(s, &marks, (size_t)(block_on - marks.data));
	/* The thread may have entered a runtime: futures that it polls use the drivers of that one.
	 */
	unsigned entered = info->runtime >= 0 ? (unsigned)info->runtime : NO_RUNTIME;

	if (info->role == THREAD_OTHER) {
		info->role = THREAD_BLOCK_ON;
		info->runtime = -1;
		info->state = polls ? "running" : "parked";
	}
	/* The future that is being polled is found by its frames: see threads_finish(). */
	if (!polls)
		info->root = root_find(c, s, &marks, block_on, s->waker, entered);
	info->waits_for_root = !polls;
}

void block_on_describe_threads(struct collector *c)
{
	for (size_t i = 0; i < c->out->nthreads; i++) {
		c->decoding.thread = c->out->threads[i].number;
		block_on_describe(c, &c->out->threads[i], &c->stacks[i]);
	}
	c->decoding.thread = 0;
}

/*
 * Whether every polled leaf has a wait that names what is waited for, or is of a type that has one,
 * in a future that the debug info does not place.
 */
static bool block_on_is_named(const struct collector *c, const struct future *f)
{
	static const char *const nameless[] = { "unknown", "waker", "nothing", "empty" };
	size_t polled = 0;

	for (size_t i = 0; i < f->nchildren; i++) {
		if (f->children[i]->branch != BRANCH_POLLED)
			continue;
		polled++;
		if (!block_on_is_named(c, f->children[i]))
			return false;
	}
	if (f->problem || f->uncertain)
		return false;
	if (polled)
		return true;
	for (size_t i = 0; f->wait && i < sizeof(nameless) / sizeof(*nameless); i++) {
		if (strcmp(f->wait->kind, nameless[i]) == 0)
			return false;
	}
	return f->wait || leaf_is_known_name(c->in->di, f->type);
}

bool block_on_is_executor(const struct collector *c, const char *path)
{
	for (const struct runtime *const *r = runtimes_in(c->in->di); *r; r++) {
		size_t len = strlen((*r)->executor);

		if (str_begins(path, (*r)->executor) && str_begins(path + len, "::"))
			return true;
	}
	return false;
}

/*
 * Does the chain of running futures end in a future that runs an executor of a known runtime? What
 * it polls is that executor's task.
 */
static bool runs_executor(const struct collector *c, const struct future *f)
{
	while (f->running && f->nchildren == 1)
		f = f->children[0];
	return f->running && f->type && block_on_is_executor(c, f->type);
}

bool block_on_runs_executor(const struct collector *c, const struct mark *m,
                            const struct thread_info *info)
{
	return block_on_is_ours(m) && info->root && runs_executor(c, info->root);
}

bool block_on_is_explained(const struct collector *c, const struct mark *m,
                           const struct thread_info *info)
{
	if (!block_on_is_ours(m))
		return true;
	return info->root &&
	       (block_on_is_named(c, info->root) || (info->task && runs_executor(c, info->root)));
}
