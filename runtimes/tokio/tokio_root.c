/* Roots: validates, adds and names the runtimes and LocalSets that no thread has entered. */
#include "runtimes/tokio/tokio_root.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/module/symbols.h"

enum {
	MAX_ROOTS = 1 << 14, /* each is compared with all */
	MAX_LEADS = 1 << 17,
	MAX_COUNT = 1 << 30, /* of a live Arc */
	/* Ids of lists are counted from 1 (runtime/task/list.rs, NEXT_OWNED_TASKS_ID). */
	MAX_LISTS = 1 << 30,
};

/* Paths in the thread-local LocalData, and in what the Arc there shares (tokio/task/local.rs). */
static const char shared_path[] = "ctx.shared";
static const char data_path[] = "data";
static const char strong_path[] = "strong";
static const char owned_path[] = "local_state.owned";
static const char id_path[] = "id";
static const char handle_type[] = "tokio::runtime::handle::Handle";
static const char runtime_type[] = "tokio::runtime::runtime::Runtime";
static const char closed_path[] = "inner.closed";

void tokio_note_roots(struct collector *c)
{
	const struct tokio_roots *roots = tokio_of(c->in)->roots;

	if (roots && roots->cut)
		snapshot_note_unscanned(c->out, roots->cut);
	if (roots && roots->full)
		snapshot_incomplete(c->out,
		                    "more than %d runtimes and LocalSets that no thread is inside: "
		                    "tasks of others are missing",
		                    MAX_ROOTS);
}

void tokio_roots_close(struct inspector *in)
{
	if (!tokio_of(in)->roots)
		return;
	vec_free(&tokio_of(in)->roots->list);
	free(tokio_of(in)->roots);
	tokio_of(in)->roots = NULL;
}

void tokio_roots_open(struct inspector *in)
{
	tokio_roots_close(in);
	tokio_of(in)->roots = calloc(1, sizeof(*tokio_of(in)->roots));
	if (!tokio_of(in)->roots)
		out_of_memory();
	/* Runtimes point at the entries: the list must never be reallocated. */
	vec_reserve(&tokio_of(in)->roots->list, MAX_ROOTS);
}

/* ---- from an Arc to what it shares ---- */

/* The locations of an Arc's data and strong count. */
struct shared {
	struct value data, strong;
};

static bool read_flavor(struct target *t, const struct tokio *k, const struct tokio_flavor *f,
                        uint64_t arc, struct shared *ret)
{
	struct value v = { bindings_type(&k->layout, f->arc), arc };
	bool found = false;
	struct error *err = NULL;

	if (!v.type)
		return false;
	err = bindings_eval(t, &k->layout, f->handle, v, &ret->data, &found);
	if (!err && found)
		err = bindings_eval(t, &k->layout, f->strong, v, &ret->strong, &found);
	error_free(err);
	return !err && found;
}

/* Arc<Shared>, NULL where its type is unknown. */
static const struct type *set_type(struct inspector *in, const struct tokio *k)
{
	const struct path *p = k->local_set.type
	                               ? inspector_optional_path(in, k->local_set.type, shared_path)
	                               : NULL;

	return p ? path_type(p) : NULL;
}

static bool read_set(struct inspector *in, const struct tokio *k, uint64_t arc, struct shared *ret)
{
	struct value v = { set_type(in, k), arc };
	bool found = false;
	struct error *err = NULL;

	if (!v.type)
		return false;
	err = inspector_eval(in, v, data_path, &ret->data, &found);
	if (!err && found)
		err = inspector_eval(in, v, strong_path, &ret->strong, &found);
	error_free(err);
	return !err && found;
}

/* ---- validation ---- */

struct owned {
	uint64_t id;
	bool closed;
};

/* Reads the task list of a Handle. */
static struct error *tokio_root_read_owned(struct target *t, const struct tokio *k,
                                           const struct tokio_flavor *f, struct value handle,
                                           struct owned *ret, bool *found)
{
	struct value owned;
	uint64_t closed = 0;
	bool says;

	TRY(bindings_eval(t, &k->layout, f->owned, handle, &owned, found));
	if (*found)
		TRY(bindings_word(t, &k->layout, f->owned_id, owned, &ret->id, found));
	if (*found)
		TRY(bindings_uint(t, &k->layout, f->closed, owned, &closed, &says));
	ret->closed = closed & 1;
	return NULL;
}

/* Reads the task list of a LocalSet's Shared. */
static struct error *read_set_owned(struct inspector *in, struct value shared, struct owned *ret,
                                    bool *found)
{
	struct value owned, place;
	const struct path *p;
	uint64_t closed = 0;
	bool says;

	TRY(inspector_eval(in, shared, owned_path, &owned, found));
	if (*found)
		TRY(inspector_eval(in, owned, id_path, &place, found));
	if (!*found)
		return NULL;
	TRY(target_read_uint(in->target, place.addr, 8, &ret->id));
	p = inspector_optional_path(in, owned.type, closed_path);
	if (p)
		TRY(path_uint(in->target, p, owned, &closed, &says));
	ret->closed = closed & 1;
	return NULL;
}

static bool tokio_root_is_shared(struct target *t, uint64_t strong)
{
	uint64_t count = 0;
	struct error *err = target_read_uint(t, strong, 8, &count);

	error_free(err);
	return !err && count > 0 && count < MAX_COUNT;
}

/* Does the scheduler s own the list that a task with this owner is in? */
static bool tokio_root_owns(struct inspector *in, const struct tokio *k,
                            const struct tokio_flavor *f, const struct shared *s, uint64_t owner)
{
	struct owned owned = { 0 };
	bool found = false;
	struct error *err = f ? tokio_root_read_owned(in->target, k, f, s->data, &owned, &found)
	                      : read_set_owned(in, s->data, &owned, &found);

	error_free(err);
	return !err && found && owned.id == owner &&
	       tokio_root_is_shared(in->target, s->strong.addr);
}

/* The type of the scheduler, an Arc, of tasks with that poll function; NULL unknown. */
static const struct type *scheduler_type(struct inspector *in, struct tokio *k, uint64_t poll)
{
	const struct task_plan *plan = tokio_task_plan(in, k, poll);

	return plan && plan->cell ? type_param(plan->cell, "S") : NULL;
}

static bool tokio_root_same_type(const struct type *a, const struct type *b)
{
	return a && b && (a == b || strcmp(type_name(a), type_name(b)) == 0);
}

static struct tokio_root *known_root(struct tokio_roots *roots, uint64_t addr)
{
	for (size_t i = 0; i < roots->list.n; i++) {
		if (roots->list.data[i].addr == addr)
			return &roots->list.data[i];
	}
	return NULL;
}

static bool has_room(struct tokio_roots *roots)
{
	roots->full |= roots->list.n == MAX_ROOTS;
	return roots->list.n < MAX_ROOTS;
}

/*
 * Ids of lists are small numbers, which are frequent in memory: when read as a scheduler of another
 * kind, the bytes may show the right id by chance. So the type of the scheduler decides.
 */
struct tokio_root *tokio_root_add(struct inspector *in, struct tokio *k, uint64_t poll,
                                  uint64_t arc, uint64_t owner)
{
	static const struct tokio_flavor *const flavors[] = { &tokio_flavors[0], &tokio_flavors[1],
		                                              NULL };
	struct tokio_roots *roots = tokio_of(in)->roots;
	const struct type *scheduler = NULL;
	struct tokio_root *root;

	for (size_t i = 0; owner && i < sizeof(flavors) / sizeof(flavors[0]); i++) {
		const struct tokio_flavor *f = flavors[i];
		struct shared s;

		if (!(f ? read_flavor(in->target, k, f, arc, &s) : read_set(in, k, arc, &s)) ||
		    !tokio_root_owns(in, k, f, &s, owner))
			continue;
		scheduler = scheduler ? scheduler : scheduler_type(in, k, poll);
		if (!tokio_root_same_type(scheduler,
		                          f ? bindings_type(&k->layout, f->arc) : set_type(in, k)))
			continue;
		root = known_root(roots, s.data.addr);
		if (!root && has_room(roots)) {
			root = vec_push(&roots->list);
			*root = (struct tokio_root){ .tokio = k,
				                     .flavor = f,
				                     .addr = s.data.addr,
				                     .strong = s.strong.addr,
				                     .owned_id = owner };
		}
		return root;
	}
	return NULL;
}

struct tokio *tokio_root_tokio(const struct collector *c, const struct tokio_root *root)
{
	for (struct tokio *k = tokio_of(c->in)->copies; k; k = k->next) {
		if (k->dm->module == root->tokio->dm->module &&
		    k->context.offset == root->tokio->context.offset)
			return k;
	}
	return NULL;
}

struct value tokio_root_set(struct collector *c, const struct tokio_root *root)
{
	const struct tokio *k = tokio_root_tokio(c, root);
	const struct type *arc = k ? set_type(c->in, k) : NULL;
	const struct path *p = arc ? inspector_optional_path(c->in, arc, data_path) : NULL;

	return (struct value){ p ? path_type(p) : NULL, root->addr };
}

bool tokio_root_lives(struct collector *c, const struct tokio_root *root)
{
	const struct tokio *k = tokio_root_tokio(c, root);
	const struct tokio_flavor *f = root->flavor;
	struct owned owned = { 0 };
	bool found = false;
	struct value v;
	struct error *err;

	if (!k || !tokio_root_is_shared(c->in->target, root->strong))
		return false;
	v = f ? (struct value){ bindings_type(&k->layout, f->handle), root->addr }
	      : tokio_root_set(c, root);
	if (!v.type)
		return false;
	err = f ? tokio_root_read_owned(c->in->target, k, f, v, &owned, &found)
	        : read_set_owned(c->in, v, &owned, &found);
	error_free(err);
	return !err && found && owned.id == root->owned_id && !owned.closed;
}

/* ---- leads ---- */

/*
 * The task's runtime, if no thread has entered it; NULL: it has none such, or the task is in a
 * LocalSet.
 */
static const struct tokio_runtime *tokio_root_hidden_runtime(const struct collector *c,
                                                             const struct task *task)
{
	const struct tokio_runtime *r =
		task && !task->local_set ? tokio_runtime_at(c, task->runtime) : NULL;

	return r && r->root ? r : NULL;
}

static void note_too_many_leads(struct collector *c)
{
	snapshot_incomplete(c->out,
	                    "more than %d handles and wakers of tasks lead to no runtime that "
	                    "a thread is inside: not all of them were followed",
	                    MAX_LEADS);
}

void tokio_lead(struct collector *c, uint64_t header, enum lead_kind kind)
{
	const struct task *task = map_get(&c->tasks, header);

	if (!header || (task && !tokio_root_hidden_runtime(c, task)))
		return;
	if (tokio_walk(c)->leads.n < MAX_LEADS)
		*vec_push(&tokio_walk(c)->leads) =
			(struct task_lead){ .header = header,
			                    .kind = kind,
			                    .task = c->decoding.task,
			                    .thread = c->decoding.thread };
	else if (!task)
		note_too_many_leads(c);
}

void tokio_waker_met(struct collector *c, uint64_t data)
{
	tokio_lead(c, data, LEAD_WAKER);
}

/* Has a thread entered the runtime of that Handle? */
static bool is_entered(const struct collector *c, uint64_t handle)
{
	for (size_t i = 0; i < tokio_walk(c)->nruntimes; i++) {
		if (tokio_walk(c)->runtimes[i].handle.addr == handle)
			return !tokio_walk(c)->runtimes[i].root;
	}
	return false;
}

/* Records a lead by a Handle, if it is of that flavor. */
static bool handle_lead(struct collector *c, struct value v, const struct tokio_flavor *f)
{
	static const char *const arcs[] = {
		[TOKIO_MULTI_THREAD] = "inner.MultiThread.0",
		[TOKIO_CURRENT_THREAD] = "inner.CurrentThread.0",
	};
	struct value arc, handle, strong;
	bool found = false;
	struct error *err = NULL;

	if (!inspector_optional_path(c->in, v.type, arcs[f->scheduler]))
		return false;
	err = inspector_eval(c->in, v, arcs[f->scheduler], &arc, &found);
	if (!err && found)
		err = inspector_eval(c->in, arc, data_path, &handle, &found);
	if (!err && found)
		err = inspector_eval(c->in, arc, strong_path, &strong, &found);
	error_free(err);
	if (err || !found)
		return false;
	if (is_entered(c, handle.addr))
		return true;
	if (tokio_walk(c)->leads.n < MAX_LEADS)
		*vec_push(&tokio_walk(c)->leads) =
			(struct task_lead){ .handle = handle.addr,
			                    .strong = strong.addr,
			                    .flavor = f,
			                    .module = type_module(v.type)->module,
			                    .kind = LEAD_HANDLE,
			                    .task = c->decoding.task,
			                    .thread = c->decoding.thread };
	else
		note_too_many_leads(c);
	return true;
}

void tokio_handle_lead(struct collector *c, struct value v)
{
	const struct member *members;
	size_t n;

	for (size_t i = 0; i < 2; i++) {
		if (handle_lead(c, v, &tokio_flavors[i]))
			return;
	}
	if (type_kind(v.type) != TYPE_STRUCT)
		return;
	/* A Runtime has its Handle as a member; a struct of the program may have either. */
	members = type_members(v.type, &n);
	for (size_t i = 0; i < n; i++) {
		const struct type *t = members[i].type;

		if (t && type_is(t, handle_type))
			tokio_handle_lead(c, (struct value){ t, v.addr + members[i].offset });
		else if (t && type_is(t, runtime_type) && !type_is(v.type, runtime_type))
			tokio_handle_lead(c, (struct value){ t, v.addr + members[i].offset });
	}
}

static const char *who(struct arena *a, const struct task_lead *lead)
{
	return lead->task     ? arena_printf(a, "task %s", lead->task->id)
	       : lead->thread ? arena_printf(a, "thread %u", lead->thread)
	                      : "a future";
}

static const char *tokio_root_lead_text(struct arena *a, const struct task_lead *lead)
{
	static const char *const forms[] = {
		[LEAD_JOIN_HANDLE] = "the join handle in %s",
		[LEAD_JOIN_SET] = "the join set in %s",
		[LEAD_HANDLE] = "the handle in %s",
		[LEAD_WAKER] = "a waker beside that of %s",
	};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	return arena_printf(a, forms[lead->kind], who(a, lead));
#pragma GCC diagnostic pop
}

/*
 * Orders leads independently of the order of decoding: by kind, then by the task or thread that
 * refers.
 */
static int by_rank(const void *a, const void *b)
{
	const struct task_lead *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (!x->task != !y->task)
		return x->task ? 1 : -1;
	if (x->task && x->task != y->task)
		return collector_compare_tasks(x->task, y->task);
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->handle != y->handle)
		return x->handle < y->handle ? -1 : 1;
	return x->header < y->header ? -1 : x->header > y->header;
}

/* The runtime that the lead refers to and that no thread has entered; NULL: none that is known. */
static const struct tokio_runtime *lead_to(const struct collector *c, const struct task_lead *lead)
{
	for (size_t i = 0; lead->handle && i < tokio_walk(c)->nruntimes; i++) {
		const struct tokio_runtime *r = &tokio_walk(c)->runtimes[i];

		if (r->root && r->root->addr == lead->handle)
			return r;
	}
	return lead->handle ? NULL : tokio_root_hidden_runtime(c, map_get(&c->tasks, lead->header));
}

/*
 * Names each unnamed runtime by a lead from outside the runtimes that are still unnamed. Returns
 * whether any was named.
 */
static bool name_round(struct collector *c, bool *named)
{
	bool any = false;

	for (size_t i = 0; i < tokio_walk(c)->leads.n; i++) {
		const struct task_lead *lead = &tokio_walk(c)->leads.data[i];
		const struct tokio_runtime *r = lead_to(c, lead);
		const struct tokio_runtime *from = tokio_root_hidden_runtime(c, lead->task);

		if (!r || named[r->info->index] || (from && !named[from->info->index]))
			continue;
		r->info->found_by = tokio_root_lead_text(c->a, lead);
		named[r->info->index] = any = true;
	}
	return any;
}

/* Adds the name of a static that refers to the runtime, if the scan found one. */
static void name_static(struct collector *c, const struct tokio_runtime *r)
{
	struct symbol_place place = { 0 };

	if (r->root && r->root->static_addr &&
	    symbol_at(c->in->di, r->root->static_addr, c->a, &place) && place.name)
		r->info->found_by =
			arena_printf(c->a, "%s; the static %s refers to it", r->root->found_by,
		                     inspector_clean_name(c->a, place.name));
}

static void name_runtimes(struct collector *c)
{
	bool *named = NEW_ARRAY(&c->scratch, bool, c->runtimes.n + 1);

	while (name_round(c, named))
		;
	for (size_t i = 0; i < tokio_walk(c)->nruntimes; i++) {
		if (!named[tokio_walk(c)->runtimes[i].info->index])
			name_static(c, &tokio_walk(c)->runtimes[i]);
	}
}

/* Notes a task that is in no known list: its siblings may be missing too. */
static void tokio_root_note_lost(struct collector *c, const struct task_lead *lead,
                                 const struct tokio_header *h)
{
	snapshot_incomplete(c->out,
	                    "%s leads to task %" PRIu64
	                    ", whose runtime was not found: tasks may be missing",
	                    tokio_root_lead_text(&c->scratch, lead), h->id);
}

/* Adds the runtime of a Handle as a root. A dropped Handle fails the checks. */
static void follow_handle(struct collector *c, const struct task_lead *lead)
{
	struct tokio_roots *roots = tokio_of(c->in)->roots;
	struct tokio_root root = { .flavor = lead->flavor,
		                   .addr = lead->handle,
		                   .strong = lead->strong };
	struct value handle = { NULL, lead->handle };
	struct owned owned = { 0 };
	bool found = false;

	for (struct tokio *k = tokio_of(c->in)->copies; k && !root.tokio; k = k->next)
		root.tokio = k->dm->module == lead->module ? k : NULL;
	if (!root.tokio || known_root(roots, root.addr))
		return;
	handle.type = bindings_type(&root.tokio->layout, lead->flavor->handle);
	if (!handle.type)
		return;
	struct error *err = tokio_root_read_owned(c->in->target, root.tokio, lead->flavor, handle,
	                                          &owned, &found);
	error_free(err);
	root.owned_id = owned.id;
	if (err || !found || !owned.id || owned.id > MAX_LISTS || !tokio_root_lives(c, &root) ||
	    !has_room(roots))
		return;
	root.found_by = tokio_root_lead_text(&c->in->arena, lead);
	*vec_push(&roots->list) = root;
	c->leads_left = true;
}

static void tokio_root_follow(struct collector *c, const struct task_lead *lead)
{
	struct tokio_header h;
	struct tokio *k = tokio_of(c->in)->copies;
	struct error *err = NULL;
	uint64_t owner = 0;
	bool found = false;

	for (; k; k = k->next) {
		error_free(err);
		err = tokio_read_header(c->in->target, k, lead->header, &h);
		if (!err)
			break;
	}
	if (!err && k)
		err = bindings_word(c->in->target, &k->layout, TOKIO_OWNER_ID,
		                    tokio_header_value(k, lead->header), &owner, &found);
	bool read = !err && k && found;
	error_free(err);
	/* A job of a blocking pool has no owner: it is in no list. */
	if (!read || !owner || !h.scheduler)
		return;
	size_t before = tokio_of(c->in)->roots->list.n;
	struct tokio_root *root = tokio_root_add(c->in, k, h.poll, h.scheduler, owner);
	if (tokio_of(c->in)->roots->list.n != before) {
		root->found_by = tokio_root_lead_text(&c->in->arena, lead);
		c->leads_left = true;
	} else if (!root && !(h.state & TOKIO_COMPLETE)) {
		tokio_root_note_lost(c, lead, &h);
	}
}

/* Names each set by the first lead to it from outside. */
static void name_sets(struct collector *c)
{
	for (size_t i = 0; i < tokio_walk(c)->found_sets.n; i++) {
		struct found_set *set = &tokio_walk(c)->found_sets.data[i];
		bool named = false;

		for (size_t j = 0; j < tokio_walk(c)->leads.n && !named; j++) {
			const struct task_lead *lead = &tokio_walk(c)->leads.data[j];
			const struct task *task = map_get(&c->tasks, lead->header);

			named = task && task->local_set == set->list &&
			        !(lead->task && lead->task->local_set == set->list);
			if (named)
				set->found_by = tokio_root_lead_text(c->a, lead);
		}
	}
}

static void note_set(struct collector *c, const struct found_set *set)
{
	enum { MAX_NAMED = 8 };
	STR(ids);
	size_t n = 0;

	for (size_t i = 0; i < c->out->ntasks; i++) {
		const struct task *task = c->out->tasks[i];

		if (task->local_set != set->list)
			continue;
		if (n++ < MAX_NAMED)
			str_printf(&ids, "%s%s", n > 1 ? ", " : "", task->id);
	}
	snapshot_note(c->out, "the LocalSet of task%s %s%s was found by %s", n == 1 ? "" : "s",
	              str_text(&ids), n > MAX_NAMED ? ", ..." : "", set->found_by);
}

void tokio_follow_leads(struct collector *c)
{
	struct map seen = { 0 };

	if (tokio_walk(c)->leads.n)
		qsort(tokio_walk(c)->leads.data, tokio_walk(c)->leads.n,
		      sizeof(*tokio_walk(c)->leads.data), by_rank);
	name_runtimes(c);
	name_sets(c);
	for (size_t i = 0; i < tokio_walk(c)->found_sets.n; i++)
		note_set(c, &tokio_walk(c)->found_sets.data[i]);
	for (size_t i = 0; tokio_of(c->in)->roots && i < tokio_walk(c)->leads.n; i++) {
		uint64_t header = tokio_walk(c)->leads.data[i].header;

		if (!header && map_put(&seen, tokio_walk(c)->leads.data[i].handle, NULL))
			follow_handle(c, &tokio_walk(c)->leads.data[i]);
		if (!header)
			continue;
		if (!map_has(&c->tasks, header) && map_put(&seen, header, NULL))
			tokio_root_follow(c, &tokio_walk(c)->leads.data[i]);
	}
	map_free(&seen);
}
