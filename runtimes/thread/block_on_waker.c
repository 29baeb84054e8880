#include "runtimes/thread/block_on_waker.h"

#include <string.h>

#include "runtimes/common/waker.h"
#include "runtimes/thread/stack_search.h"

/* Place at which a crate keeps the waker of a thread, or what its wakers wake. */
struct waker_row {
	const char *crate;        /* its name in block_on_crates */
	const char *thread_local; /* NULL: none */
	/*
	 * Path from the thread-local to the waker; NULL: it shares a value of the type, and member
	 * is one of that. Without a thread-local, member is the path to what the thread sleeps on.
	 */
	const char *waker;
	const char *type, *member; /* the type to which the data of wakers points */
};

static const struct waker_row rows[] = {
	/* futures-executor 0.3, src/local_pool.rs */
	{ "futures", "futures_executor::local_pool::CURRENT_THREAD_NOTIFY", NULL,
	  "futures_executor::local_pool::ThreadNotify", "unparked" },
	/* pollster 0.4, src/lib.rs */
	{ "pollster", NULL, NULL, "pollster::Signal", "cond.inner.futex" },
	/* async-io 2.6, src/driver.rs */
	{ "async-io", "async_io::driver::block_on::CACHE", "1", NULL, NULL },
	/* futures-lite 2.6, src/future.rs */
	{ "futures-lite", "futures_lite::future::block_on::CACHE", "1", NULL, NULL },
	{ 0 },
};

static const struct waker_row *block_on_waker_row_of(const struct runtime *crate)
{
	for (const struct waker_row *row = rows; row->crate; row++) {
		if (strcmp(row->crate, crate->name) == 0)
			return row;
	}
	return NULL;
}

static const struct type *block_on_waker_type_of(const struct waker_row *row,
                                                 const struct function *block_on)
{
	return row->type ? lookup_type(block_on->dm, row->type, block_on->die) : NULL;
}

/* ---- by a thread-local ---- */

static struct error *block_on_waker_read(struct collector *c, const struct waker_row *row,
                                         const struct mark *m, struct value v, uint64_t *ret)
{
	const struct type *t = block_on_waker_type_of(row, m->function);
	const struct member *member = t ? type_member(t, row->member) : NULL;
	struct value place;
	struct waker w;
	bool found;

	if (!row->waker && !member)
		return NULL;
	TRY(inspector_eval(c->in, v, row->waker ? row->waker : row->member, &place, &found));
	if (!found)
		return NULL;
	if (!row->waker) {
		*ret = place.addr - member->offset;
		return NULL;
	}
	TRY(waker_read(c, place, &w));
	*ret = w.vtable ? w.data : 0;
	return NULL;
}

static uint64_t find_by_thread_local(struct collector *c, const struct thread_stack *s,
                                     const struct waker_row *row, const struct mark *m)
{
	struct dwarf_module *dm = m->function->dm;
	struct thread_local *found;
	const char *doubt;
	uint64_t ret = 0;
	bool there = false;
	size_t n;
	struct error *err =
		lookup_thread_locals(dm, row->thread_local, &c->scratch, &found, &n, &doubt);

	if (!err && n == 1 && found[0].type) {
		struct value v = { found[0].type, 0 };

		err = target_tls_address(c->in->target, s->thread, dm->module, found[0].offset,
		                         &v.addr, &there);
		if (!err && there)
			err = block_on_waker_read(c, row, m, v, &ret);
	}
	bool known = !err;
	error_free(err);
	return known ? ret : 0;
}

/* ---- by what the thread sleeps on ---- */

struct word {
	uint64_t wanted;
	bool found;
};

static void block_on_waker_note_word(uint64_t word, uint64_t addr, void *arg)
{
	struct word *w = arg;

	(void)addr;
	w->found |= word == w->wanted;
}

/* The value that contains the word, if the frames of the block_on refer to it. */
static uint64_t find_by_futex(struct collector *c, const struct thread_stack *s,
                              const struct waker_row *row, const struct mark *m)
{
	const struct syscall *call =
		s->thread->has_regs && s->thread->regs.in_syscall
			? arch_syscall(c->in->target->arch, s->thread->regs.syscall)
			: NULL;
	const struct type *t =
		call && call->takes_futex ? block_on_waker_type_of(row, m->function) : NULL;
	const struct path *p = t ? inspector_optional_path(c->in, t, row->member) : NULL;
	struct word w = { 0 };
	uint64_t offset;

	if (!p || !path_offset(p, &offset))
		return 0;
	w.wanted = s->thread->regs.syscall_args[0] - offset;
	for (size_t i = 0; i <= m->frame && !w.found; i++)
		stack_search_words(c, s, i, block_on_waker_note_word, &w);
	return w.found ? w.wanted : 0;
}

/* ---- by variables ---- */

/* The only waker to which a Context of the block_on itself refers. */
static uint64_t find_by_context(struct collector *c, const struct thread_stack *s,
                                const struct mark *m)
{
	struct stack_wakers w = { .c = c };

	stack_search_wakers(s, m->frame, &w);
	for (size_t i = 1; i < w.n; i++) {
		if (w.data[i] != w.data[0])
			return 0;
	}
	return w.n ? w.data[0] : 0;
}

uint64_t block_on_waker_find(struct collector *c, const struct thread_stack *s,
                             const struct mark *m)
{
	const struct waker_row *row = block_on_waker_row_of(m->of);
	uint64_t found = 0;

	if (!row || !m->function)
		return 0;
	if (row->thread_local)
		found = find_by_thread_local(c, s, row, m);
	else
		found = find_by_futex(c, s, row, m);
	return found ? found : find_by_context(c, s, m);
}

/* ---- layout files ---- */

void block_on_waker_learn(const struct function *block_on, const struct runtime *crate,
                          block_on_type_fn *visit, void *arg)
{
	SCRATCH(tmp);
	const struct waker_row *row = block_on_waker_row_of(crate);
	struct thread_local *found;
	const char *doubt;
	size_t n = 0;

	if (!row)
		return;
	visit(block_on_waker_type_of(row, block_on), arg);
	if (!row->thread_local)
		return;
	struct error *err =
		lookup_thread_locals(block_on->dm, row->thread_local, &tmp, &found, &n, &doubt);
	for (size_t i = 0; !err && i < n; i++)
		visit(found[i].type, arg);
	error_free(err);
}
