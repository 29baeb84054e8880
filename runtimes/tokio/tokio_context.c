/* Reads tokio's thread-local contexts, and finds the runtimes that they lead to. */
#include <inttypes.h>
#include <string.h>

#include "runtimes/common/instant.h"
#include "runtimes/common/thread_local.h"
#include "runtimes/tokio/tokio_root.h"

enum { MAX_WORKERS = 65536 };

static void tokio_context_note_error(struct collector *c, const struct thread *th,
                                     struct error *err)
{
	snapshot_incomplete(c->out, "thread %d: tokio's context: %s", th->tid, err->message);
	error_free(err);
}

/* Is the context destroyed at thread exit, or lazy and never initialised? */
static bool tokio_context_is_destroyed(struct collector *c, const struct tokio *k,
                                       struct value context)
{
	struct value state;
	bool found;
	struct error *err =
		bindings_eval(c->in->target, &k->layout, TOKIO_TLS_STATE, context, &state, &found);
	bool known = !err && found;

	error_free(err);
	return known && thread_local_is_destroyed(c->in->target, state);
}

static struct error *tokio_context_read_worker(struct collector *c, const struct thread *th,
                                               struct tokio_thread *tt)
{
	struct target *t = c->in->target;
	struct tokio *k = tt->tokio;
	uint64_t addr;
	bool found;

	TRY(bindings_eval(t, &k->layout, TOKIO_CONTEXT_WORKER, tt->context, &tt->worker, &found));
	if (!found && k->worker_tls.type && k->layout.slots[TOKIO_WORKER_INDEX].root) {
		uint64_t tls;

		/* Up to 1.28: a Cell<*const ()> that points at the Context on the stack. */
		TRY(target_tls_address(t, th, k->dm->module, k->worker_tls.offset, &tls, &found));
		if (found) {
			struct value cell = { k->worker_tls.type, tls };

			/*
			 * Read the word at the start of the Cell: the layouts of both forms have it
			 * first.
			 */
			TRY(value_uint(t, cell, &addr));
			found = addr != 0;
			tt->worker =
				(struct value){ k->layout.slots[TOKIO_WORKER_INDEX].root, addr };
		}
	}
	if (!found) {
		tt->worker.type = NULL;
		return NULL;
	}
	TRY(bindings_uint(t, &k->layout, TOKIO_WORKER_INDEX, tt->worker, &tt->worker_index,
	                  &found));
	if (!found)
		tt->worker.type = NULL;
	return NULL;
}

static struct error *read_context(struct collector *c, struct tokio *k, const struct thread *th,
                                  struct tokio_thread *tt)
{
	struct target *t = c->in->target;
	struct value context = { k->context.type, 0 };
	bool found;

	TRY(target_tls_address(t, th, k->dm->module, k->context.offset, &context.addr, &found));
	if (!found || tokio_context_is_destroyed(c, k, context))
		return NULL;
	for (size_t i = 0; i < 2; i++) {
		const struct tokio_flavor *f = &tokio_flavors[i];
		struct value shared;

		TRY(bindings_eval(t, &k->layout, f->arc, context, &tt->arc, &found));
		if (found)
			TRY(bindings_eval(t, &k->layout, f->handle, tt->arc, &tt->handle, &found));
		if (!found)
			continue;
		TRY(bindings_eval(t, &k->layout, f->shared, tt->handle, &shared, &found));
		if (!found)
			continue;
		if (shared.addr == 0)
			return error_new(ERR_CORRUPT, "its handle leads nowhere");
		tt->tokio = k;
		tt->context = context;
		tt->flavor = f;
		tt->shared = shared.addr;
		TRY(bindings_uint(t, &k->layout, TOKIO_TASK_ID, context, &tt->task_id, &found));
		if (!found)
			tt->task_id = 0;
		return tokio_context_read_worker(c, th, tt);
	}
	return NULL;
}

void tokio_read_threads(struct collector *c, struct tokio_thread *threads)
{
	struct target *t = c->in->target;

	for (size_t i = 0; i < t->nthreads; i++) {
		const struct thread *th = &t->threads[i];

		if (!th->regs.thread_pointer)
			continue;
		for (struct tokio *k = tokio_of(c->in)->copies; k && !threads[i].tokio;
		     k = k->next) {
			struct error *err = read_context(c, k, th, &threads[i]);

			if (err)
				tokio_context_note_error(c, th, err);
		}
	}
}

bool tokio_current_task(struct inspector *in, struct current_task *ret)
{
	const struct tokio *k = tokio_of(in)->copies;
	const struct module *m = k ? k->dm->module : NULL;
	const struct path *id = k ? k->layout.slots[TOKIO_TASK_ID].path : NULL, *whole;
	uint64_t align = m && m->tls_align ? m->tls_align : 1, offset;

	if (!k || k->next || !m->is_main || !id || (align & (align - 1)) ||
	    !path_offset_in_variants(id, &offset) || type_size(path_type(id)) != 8)
		return false;
	offset += k->context.offset;
	if (offset > m->tls_memsz || m->tls_memsz - offset < 8)
		return false;
	offset += arch_tls_block(in->target->arch, 0, m->tls_memsz, m->tls_vaddr, align);
	whole = inspector_optional_path(in, k->context.type, "current_task_id");
	/* 1.41: NonZeroU64, so that 0 is None | 1.38 and before: the number may stay beside it */
	*ret = (struct current_task){ .offset = (int64_t)offset,
		                      .zero = whole && type_size(path_type(whole)) == 8 };
	return true;
}

static int by_creation(const void *a, const void *b)
{
	const struct tokio_runtime *x = a, *y = b;

	if (x->owned_id != y->owned_id)
		return x->owned_id < y->owned_id ? -1 : 1;
	return x->shared < y->shared ? -1 : x->shared > y->shared;
}

/* Reads a number of the runtime; false when this version has none or it cannot be read. */
static bool tokio_context_number(struct collector *c, const struct tokio_runtime *r, size_t row,
                                 uint64_t *ret)
{
	struct value owned;
	bool found = false;
	struct value from = r->handle;
	struct error *err = NULL;

	if (row == (size_t)r->flavor->owned_id || row == (size_t)r->flavor->count) {
		err = bindings_eval(c->in->target, &r->tokio->layout, r->flavor->owned, from,
		                    &owned, &found);
		if (err || !found)
			goto out;
		from = owned;
	}
	err = bindings_word(c->in->target, &r->tokio->layout, row, from, ret, &found);
out:
	error_free(err);
	return !err && found;
}

static const char *flavor_name(struct collector *c, const struct tokio_runtime *r)
{
	struct value thread;
	bool local = false;

	if (r->flavor->scheduler == TOKIO_MULTI_THREAD)
		return "multi_thread";
	struct error *err = bindings_eval(c->in->target, &r->tokio->layout, TOKIO_CT_LOCAL,
	                                  r->handle, &thread, &local);
	local &= !err;
	error_free(err);
	return local ? "local_runtime" : "current_thread";
}

static void tokio_context_describe(struct collector *c, struct tokio_runtime *r,
                                   struct runtime_info *info)
{
	const struct tokio_flavor *f = r->flavor;
	struct target *t = c->in->target;
	struct slice remotes;
	struct value name;
	bool found;

	info->workers_poll = f->scheduler == TOKIO_MULTI_THREAD;
	info->flavor = flavor_name(c, r);
	info->addr = r->shared;
	info->serial = r->owned_id;
	info->version = r->tokio->version;
	info->found_by = r->root ? r->root->found_by : NULL;
	info->workers = 1;
	struct error *err = NULL;
	if (info->workers_poll) {
		err = bindings_slice(t, &r->tokio->layout, TOKIO_MT_REMOTES, r->handle, &remotes,
		                     &found);
		if (!err && found && remotes.count <= MAX_WORKERS)
			info->workers = (unsigned)remotes.count;
		error_free(err);
	}
	info->has_expected = tokio_context_number(c, r, f->count, &info->expected_tasks);
	info->has_inject = tokio_context_number(c, r, f->inject, &info->inject_len);
	info->has_blocking =
		tokio_context_number(c, r, f->blocking_threads, &info->blocking_threads) &&
		tokio_context_number(c, r, f->blocking_idle, &info->blocking_idle) &&
		tokio_context_number(c, r, f->blocking_queue, &info->blocking_queued);
	info->has_limit = tokio_context_number(c, r, f->blocking_limit, &info->blocking_limit);
	/* The pool's count includes the threads that it lends to workers (blocking/pool.rs). */
	if (info->workers_poll && info->has_blocking)
		info->blocking_threads -= info->blocking_threads < info->workers
		                                  ? info->blocking_threads
		                                  : info->workers;
	/* The pool's limit includes them, too (runtime/builder.rs). */
	if (info->workers_poll && info->has_limit)
		info->blocking_limit -=
			info->blocking_limit < info->workers ? info->blocking_limit : info->workers;
	err = bindings_eval(t, &r->tokio->layout, f->name, r->handle, &name, &found);
	if (!err && found) {
		const struct member *m = type_single_member(name.type);

		if (m)
			name = (struct value){ m->type, name.addr + m->offset };
		err = value_string(t, c->a, name, 256, &info->name);
	}
	error_free(err);
}

typedef VEC(struct tokio_runtime) runtime_vec;

/* Adds the known runtimes that no thread has entered and that still exist. */
static void add_hidden(struct collector *c, struct map *seen, runtime_vec *found)
{
	/* Few threads: memory was not scanned for this walk, and what they run is elsewhere. */
	size_t nroots = tokio_of(c->in)->roots && !c->few ? tokio_of(c->in)->roots->list.n : 0;

	for (size_t i = 0; i < nroots; i++) {
		const struct tokio_root *root = &tokio_of(c->in)->roots->list.data[i];
		const struct tokio_flavor *f = root->flavor;
		struct tokio *k = f ? tokio_root_tokio(c, root) : NULL;
		struct value handle = { k ? bindings_type(&k->layout, f->handle) : NULL,
			                root->addr };
		struct value shared;
		bool there = false;

		if (!handle.type)
			continue;
		error_free(bindings_eval(c->in->target, &k->layout, f->shared, handle, &shared,
		                         &there));
		if (!there || map_has(seen, shared.addr) || !tokio_root_lives(c, root))
			continue;
		map_put(seen, shared.addr, NULL);
		*vec_push(found) = (struct tokio_runtime){ .tokio = k,
			                                   .flavor = f,
			                                   .handle = handle,
			                                   .shared = shared.addr,
			                                   .owned_id = root->owned_id,
			                                   .root = root };
	}
}

void tokio_find_runtimes(struct collector *c, struct tokio_thread *threads,
                         struct tokio_runtime **ret, size_t *nret)
{
	runtime_vec found = { 0 };
	struct target *t = c->in->target;
	struct map seen = { 0 };

	for (size_t i = 0; i < t->nthreads; i++) {
		struct tokio_thread *tt = &threads[i];

		if (!tt->tokio || !map_put(&seen, tt->shared, NULL))
			continue;
		struct tokio_runtime *r = vec_push(&found);
		r->tokio = tt->tokio;
		r->flavor = tt->flavor;
		r->arc = tt->arc;
		r->handle = tt->handle;
		r->shared = tt->shared;
		if (!tokio_context_number(c, r, r->flavor->owned_id, &r->owned_id))
			r->owned_id = 0;
	}
	add_hidden(c, &seen, &found);
	map_free(&seen);
	if (found.n)
		qsort(found.data, found.n, sizeof(*found.data), by_creation);

	for (size_t i = 0; i < found.n; i++) {
		found.data[i].info = collector_add_runtime(c, &tokio_table);
		tokio_context_describe(c, &found.data[i], found.data[i].info);
	}
	*nret = found.n;
	*ret = vec_to_arena(&found, &c->scratch);
}

struct error *tokio_timer_now(struct inspector *in, const struct tokio_runtime *r, uint64_t *ns)
{
	struct target *t = in->target;
	const struct bindings *l = &r->tokio->layout;
	struct value start;
	uint64_t start_ns = 0, elapsed_ms = 0;
	bool found;

	TRY(bindings_eval(t, l, r->flavor->time_start, r->handle, &start, &found));
	if (!found)
		return error_new(ERR_LAYOUT, "the runtime has no timers");
	TRY(instant_read(in, start, &start_ns));
	TRY(bindings_uint(t, l, r->flavor->time_elapsed, r->handle, &elapsed_ms, &found));
	/* A time of all ones is "never" in the wheel; a process does not live a century. */
	if (!found || elapsed_ms > UINT64_C(3155760000000))
		elapsed_ms = 0;
	*ns = start_ns + elapsed_ms * 1000000;
	return NULL;
}

bool tokio_clock_is_paused(struct target *t, const struct tokio_runtime *r)
{
	struct value unfrozen;
	const char *variant = NULL;
	bool found;
	struct error *err = bindings_eval(t, &r->tokio->layout, r->flavor->clock_unfrozen,
	                                  r->handle, &unfrozen, &found);

	if (!err && found)
		err = value_enum_name(t, unfrozen, &variant);
	error_free(err);
	return variant && strcmp(variant, "None") == 0;
}
