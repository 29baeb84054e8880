/* The wakers of threads in block_on: which data they have. */
#include <string.h>

#include "runtimes/thread/stack.h"
#include "runtimes/tokio/tokio.h"

static bool is_current_thread(const struct mark *block_on)
{
	return strstr(block_on->name, "::current_thread::") != NULL;
}

/* runtime/park.rs: the waker of a parked thread is the Arc in its thread-local ParkThread. */
static uint64_t parker_data(struct collector *c, const struct tokio *k, const struct thread *th)
{
	struct value parker = { k->parker.type, 0 }, inner, data = { 0 };
	bool found = false;
	struct error *err = NULL;

	if (!parker.type)
		return 0;
	err = target_tls_address(c->in->target, th, k->dm->module, k->parker.offset, &parker.addr,
	                         &found);
	if (!err && found)
		err = inspector_eval(c->in, parker, "inner", &inner, &found);
	if (!err && found)
		err = value_shared(c->in->target, inner, &data);
	error_free(err);
	return err ? 0 : data.addr;
}

/* scheduler/current_thread: the waker of its block_on is the Arc<Handle>. */
static uint64_t handle_data(const struct tokio_thread *tt)
{
	return tt->handle.addr;
}

uint64_t tokio_block_on_waker(struct collector *c, const struct tokio_thread *tt,
                              const struct thread *th, const struct mark *block_on)
{
	return is_current_thread(block_on) ? handle_data(tt) : parker_data(c, tt->tokio, th);
}

void tokio_note_wakers(struct collector *c, const struct tokio_thread *threads)
{
	for (size_t i = 0; i < c->out->nthreads; i++) {
		struct marks marks;

		if (!threads[i].tokio)
			continue;
		stack_find_marks(&c->stacks[i], &marks);
		for (size_t j = 0; j < marks.n; j++) {
			if (marks.data[j].kind != MARK_BLOCK_ON)
				continue;
			uint64_t data = tokio_block_on_waker(c, &threads[i], c->stacks[i].thread,
			                                     &marks.data[j]);
			if (data)
				map_put(&c->wakers, data, &c->out->threads[i]);
		}
	}
}
