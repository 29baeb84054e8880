#include "runtimes/actix/actix.h"

#include <inttypes.h>
#include <string.h>

#include "debugger/base/log.h"
#include "debugger/base/str.h"
#include "dwarf/values/entries.h"
#include "runtimes/common/thread_local.h"

enum {
	ACTIX_SYSTEM_ID,
	ACTIX_SYSTEM_SENDER,
	ACTIX_SENDER,
	ACTIX_ARBITERS,
	ACTIX_NROWS,
};

#define SYSTEM     "actix_rt::system::System"
#define HANDLE     "actix_rt::arbiter::ArbiterHandle"
#define CONTROLLER "actix_rt::system::SystemController"

/* The sender is an Arc of the channel. */
static const struct binding_row rows[ACTIX_NROWS] = {
	[ACTIX_SYSTEM_ID] = { "system.id", "type:" SYSTEM, "id", .optional = true },
	[ACTIX_SYSTEM_SENDER] = { "system.sender", "type:" SYSTEM, "arbiter_handle.tx.chan.inner",
	                          .optional = true },
	[ACTIX_SENDER] = { "arbiter.sender", "type:" HANDLE, "tx.chan.inner", .optional = true },
	[ACTIX_ARBITERS] = { "system.arbiters", "type:" CONTROLLER, "arbiters.base.table",
	                     .optional = true },
};

/* The key of the System's own Arbiter in the map. */
#define OWN_ARBITER UINT64_MAX

static const char name[] = "actix-rt";

/* A copy of the crate in the program. */
struct actix_copy {
	struct actix_copy *next;
	struct dwarf_module *dm;
	const char *module; /* base name of the ELF file */
	const char *version;
	struct thread_local system; /* system::CURRENT */
	struct thread_local handle; /* arbiter::HANDLE */
	struct bindings layout;
};

struct actix_inspector {
	struct actix_copy *copies;
};

/* The System and Arbiter that a thread's thread-locals name. */
struct actix_claim {
	const struct actix_copy *copy; /* NULL: it is no thread of a System */
	uint64_t system;               /* its number */
	uint64_t own, sender;          /* channels of the System's Arbiter and of the thread's */
	struct runtime_info *runtime;  /* on which the thread is in block_on; NULL: none */
};

/* ---- copies ---- */

static struct actix_inspector *actix_inspector_of(const struct inspector *in)
{
	return inspector_state(in, name);
}

static bool actix_find_tls(struct inspector *in, struct dwarf_module *dm, const char *path,
                           const char *of, struct thread_local *ret)
{
	struct thread_local *found;
	const char *doubt;
	size_t n = 0;
	struct error *err = lookup_thread_locals(dm, path, &in->arena, &found, &n, &doubt);

	if (err)
		LOG("actix", "%s: %s", dm->module->path, err->message);
	error_free(err);
	/* std adds other thread-locals beside it. */
	for (size_t i = 0; !err && i < n; i++) {
		if (!found[i].type || !strstr(type_name(found[i].type), of))
			continue;
		*ret = found[i];
		return true;
	}
	return false;
}

static void actix_detect(struct inspector *in, struct dwarf_module *dm)
{
	struct actix_copy **end = &actix_inspector_of(in)->copies;
	struct actix_copy copy = { .dm = dm };

	if (!dm->module->tls_memsz || debuginfo_is_system(dm->module) ||
	    !(copy.version = lookup_crate_version(dm, name)) ||
	    !actix_find_tls(in, dm, "actix_rt::system::CURRENT", SYSTEM, &copy.system) ||
	    !actix_find_tls(in, dm, "actix_rt::arbiter::HANDLE", HANDLE, &copy.handle))
		return;
	copy.module = str_base_name(dm->module->path);
	bindings_resolve(&in->arena, dm, NULL, rows, ACTIX_NROWS, &copy.layout);
	while (*end)
		end = &(*end)->next;
	*end = arena_memdup(&in->arena, &copy, sizeof(copy));
}

static bool get_copy(const struct inspector *in, size_t n, struct runtime_copy *ret)
{
	const struct actix_copy *copy = actix_inspector_of(in)->copies;

	while (copy && n--)
		copy = copy->next;
	if (!copy)
		return false;
	*ret = (struct runtime_copy){ .dm = copy->dm,
		                      .module = copy->module,
		                      .version = copy->version,
		                      .layout = &copy->layout,
		                      .types = { copy->system.type, copy->handle.type } };
	return true;
}

/* ---- threads ---- */

static bool actix_is_destroyed(struct collector *c, struct value v)
{
	static const char state_path[] = "state";
	const struct path *path = inspector_optional_path(c->in, v.type, state_path);
	struct value state;
	bool found = false;
	struct error *err = path ? path_eval(c->in->target, path, v, &state, &found) : NULL;
	bool known = !err && found;

	error_free(err);
	return known && thread_local_is_destroyed(c->in->target, state);
}

/* Reads the value inside a thread-local's Option; false: None, or it cannot be read. */
static bool read_tls(struct collector *c, const struct thread *th, const struct thread_local *tls,
                     struct value *ret)
{
	static const char some_path[] = "Some.0";
	struct value v = { tls->type, 0 };
	bool found = false;
	struct error *err = target_tls_address(c->in->target, th, tls->dm->module, tls->offset,
	                                       &v.addr, &found);

	found &= !err && !actix_is_destroyed(c, v);
	if (found)
		err = inspector_eval(c->in, v, some_path, ret, &found);
	error_free(err);
	return !err && found;
}

static bool actix_word(struct collector *c, const struct actix_copy *copy, size_t row,
                       struct value from, uint64_t *ret)
{
	bool found = false;
	struct error *err = bindings_word(c->in->target, &copy->layout, row, from, ret, &found);

	error_free(err);
	return !err && found && *ret;
}

/*
 * The runtime that the thread drives. One with threads of its own is nobody's alone: others than
 * the Arbiter may use it, too.
 */
static struct runtime_info *driven_by(const struct collector *c, const struct thread_info *info)
{
	struct runtime_info *runtime;

	if (info->role != THREAD_BLOCK_ON || info->runtime < 0 ||
	    (size_t)info->runtime >= c->runtimes.n)
		return NULL;
	runtime = c->runtimes.data[info->runtime].info;
	return runtime->workers_poll || runtime->name ? NULL : runtime;
}

static void read_claim(struct collector *c, size_t thread, struct actix_claim *ret)
{
	const struct thread *th = &c->in->target->threads[thread];
	struct actix_copy *copy = actix_inspector_of(c->in)->copies;
	struct value system, handle;
	uint64_t id = 0;
	bool found = false;

	while (copy && !read_tls(c, th, &copy->system, &system))
		copy = copy->next;
	if (!copy || !read_tls(c, th, &copy->handle, &handle) ||
	    !actix_word(c, copy, ACTIX_SYSTEM_SENDER, system, &ret->own) ||
	    !actix_word(c, copy, ACTIX_SENDER, handle, &ret->sender))
		return;
	struct error *err =
		bindings_uint(c->in->target, &copy->layout, ACTIX_SYSTEM_ID, system, &id, &found);
	if (!err && found) {
		ret->copy = copy;
		ret->system = id;
		ret->runtime = driven_by(c, &c->out->threads[thread]);
	}
	error_free(err);
}

/* ---- numbers of Arbiters: the map of each System's controller ---- */

struct arbiter {
	uint64_t key, sender;
};

/* The entries of one map of arbiters. */
struct arbiters {
	struct collector *c;
	const struct actix_copy *copy;
	VEC(struct arbiter) list;
};

static bool add_arbiter(const struct entry *entry, void *arg)
{
	struct arbiters *to = arg;
	struct arbiter arbiter;
	struct error *err = NULL;

	if (!entry->key.type || !entry->value.type)
		return false;
	err = value_uint(to->c->in->target, entry->key, &arbiter.key);
	if (!err && actix_word(to->c, to->copy, ACTIX_SENDER, entry->value, &arbiter.sender))
		*vec_push(&to->list) = arbiter;
	error_free(err);
	return true;
}

/* Finds the number of the arbiter with this channel among those of its System. */
static bool find_number(const struct arbiters *in, const struct actix_claim *of, uint64_t *ret)
{
	bool same_system = false, found = false;

	for (size_t i = 0; i < in->list.n; i++) {
		const struct arbiter *a = &in->list.data[i];

		same_system |= a->key == OWN_ARBITER && a->sender == of->own;
		if (a->key == OWN_ARBITER || a->sender != of->sender)
			continue;
		*ret = a->key;
		found = true;
	}
	return same_system && found;
}

static bool is_controller(const struct future *root)
{
	return root && root->addr && root->type && strcmp(root->type, CONTROLLER) == 0;
}

/* The number of the Arbiter of a thread; false: it is not known now. */
static bool actix_number_of(struct collector *c, const struct actix_claim *of, uint64_t *ret)
{
	const struct type *controller = of->copy->layout.slots[ACTIX_ARBITERS].root;
	struct arbiters arbiters = { .c = c, .copy = of->copy };
	bool found = false;

	for (size_t i = 0; controller && i < c->listed.n && !found; i++) {
		const struct task *task = c->listed.data[i];
		struct value table;
		uint64_t count;
		bool there;

		if (!is_controller(task->root) || task->root->running)
			continue;
		arbiters.list.n = 0;
		struct error *err = bindings_eval(c->in->target, &of->copy->layout, ACTIX_ARBITERS,
		                                  (struct value){ controller, task->root->addr },
		                                  &table, &there);
		if (!err && there)
			err = entries_walk(c->in->target, &c->in->show, table, ENTRIES_TABLE,
			                   add_arbiter, &arbiters, &count);
		error_free(err);
		found = find_number(&arbiters, of, ret);
	}
	vec_free(&arbiters.list);
	return found;
}

/* ---- names ---- */

static bool actix_is_alone(const struct actix_claim *claims, size_t n, const struct actix_claim *of)
{
	size_t same = 0;

	for (size_t i = 0; i < n; i++)
		same += claims[i].runtime == of->runtime;
	return same == 1;
}

static const char *actix_name_of(struct collector *c, const struct actix_claim *of)
{
	uint64_t number;

	if (of->sender == of->own)
		return arena_printf(c->a, "actix-rt|system:%" PRIu64, of->system);
	if (!actix_number_of(c, of, &number))
		return NULL;
	return arena_printf(c->a, "actix-rt|system:%" PRIu64 "|arbiter:%" PRIu64, of->system,
	                    number);
}

/* The controllers are tasks: each command must decode them, so that all say the same. */
static void actix_list(struct collector *c)
{
	if (actix_inspector_of(c->in)->copies)
		c->want |= WANT_TASKS;
}

static void actix_follow(struct collector *c)
{
	size_t n = c->out->nthreads;
	struct actix_claim *claims = NEW_ARRAY(&c->scratch, struct actix_claim, n);

	for (size_t i = 0; i < n; i++)
		read_claim(c, i, &claims[i]);
	for (size_t i = 0; i < n; i++) {
		if (claims[i].runtime && actix_is_alone(claims, n, &claims[i]))
			claims[i].runtime->name = actix_name_of(c, &claims[i]);
	}
}

/* actix-rt has no tasks of its own. */
static void actix_decode(struct collector *c, struct task *task)
{
	(void)c;
	(void)task;
}

static const struct crate_types types = { .path = "actix_rt::" };

const struct runtime actix_table = {
	.name = name,
	.path = "actix_rt::",
	.executor = "actix_rt",
	.types = &types,
	.inspector_size = sizeof(struct actix_inspector),
	.detect = actix_detect,
	.copy = get_copy,
	.list = actix_list,
	.decode = actix_decode,
	.follow = actix_follow,
};
