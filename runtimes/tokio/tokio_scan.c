/*
 * Scans the program's memory for headers of tasks. A header points at the vtable of its task's
 * kind, a constant of the executable (runtime/task/raw.rs): seven functions and some offsets, a
 * pattern that nothing else matches. A word that points at such a vtable, next to the id of a list,
 * may be a header or the remains of one. It is accepted only if its scheduler has the list of that
 * id (tokio_root_add()).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "debugger/base/log.h"
#include "runtimes/tokio/tokio_root.h"

enum {
	PIECE = 256 << 10, /* fits the cache of one processor core */
	MAX_RANGES = 8,
	MAX_VTABLE = 256,
	MAX_FUNCTIONS = 16,
	MAX_CANDIDATES = 1 << 16,
	MAX_STATICS = 256,
	MAX_STATIC_BYTES = 16 << 20,
	MAX_CELL_OFFSET = 1 << 30,
	WORD = 8,
	SLOWEST = 10, /* limit of wall-clock time, as a multiple of that of processor time */
};

/* The layout of a vtable, from its type in debug info or a layout file. */
struct vtable_form {
	size_t size, nfunctions;
	uint64_t functions[MAX_FUNCTIONS]; /* offsets, as are these: */
	uint64_t poll, trailer, scheduler, id;
};

/* A range of constants that contains the vtables of a copy of tokio. */
struct range {
	struct tokio *k;
	const struct module *module;
	uint64_t low, size;
	uint64_t vtable, owner; /* offsets in the header */
	struct vtable_form form;
};

/*
 * A task's poll function, the address of its scheduler's Arc in its cell, and the list that it
 * claims to be in.
 */
struct candidate {
	struct tokio *k;
	uint64_t poll, arc, owner;
};

struct piece {
	uint64_t start, end;
};

struct scan {
	struct inspector *in;
	struct target *t;
	struct range ranges[MAX_RANGES];
	size_t nranges;
	uint64_t max_bytes, max_ns, bytes;
	uint64_t worked_ns, began_ns; /* start times, CPU and wall clock */
	bool out_of_bytes, out_of_time, too_many;
	struct map vtables; /* address -> offset of the scheduler as a pointer, NULL: no vtable */
	struct map seen;    /* hashes of a scheduler's Arc and a list */
	VEC(struct candidate) candidates;
	VEC(struct piece) statics; /* pieces of modules that were scanned */
	struct error *err;
	uint64_t at; /* address of words[0] */
	size_t nwords;
	uint64_t words[PIECE / WORD];
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* ---- where vtables are ---- */

static bool member_offset(struct inspector *in, const struct type *t, const char *name,
                          uint64_t *ret)
{
	const struct path *p = inspector_optional_path(in, t, name);

	return p && path_offset(p, ret);
}

static bool read_form(struct inspector *in, const struct type *vtable, struct vtable_form *f)
{
	size_t n;
	const struct member *members = type_members(vtable, &n);

	f->size = type_size(vtable);
	for (size_t i = 0; i < n && f->nfunctions < MAX_FUNCTIONS; i++) {
		if (members[i].type && type_kind(members[i].type) == TYPE_POINTER)
			f->functions[f->nfunctions++] = members[i].offset;
	}
	return f->size <= MAX_VTABLE && f->nfunctions > 1 &&
	       member_offset(in, vtable, "poll", &f->poll) &&
	       member_offset(in, vtable, "trailer_offset", &f->trailer) &&
	       member_offset(in, vtable, "scheduler_offset", &f->scheduler) &&
	       member_offset(in, vtable, "id_offset", &f->id);
}

/* False where the layout of a header is unknown. */
static bool add_range(struct scan *s, struct tokio *k, struct dwarf_module *dm)
{
	const struct bindings_slot *owner = &k->layout.slots[TOKIO_OWNER_ID];
	const struct type *header = k->layout.slots[TOKIO_STATE].root;
	const struct path *p = header ? inspector_optional_path(s->in, header, "vtable") : NULL;
	const struct type *vtable = p ? type_target(path_type(p)) : NULL;
	struct range r = { .k = k, .module = dm->module, .owner = owner->offset };
	uint64_t low, high;

	if (!vtable || !owner->fixed || !path_offset(p, &r.vtable) ||
	    !read_form(s->in, vtable, &r.form))
		return false;
	debuginfo_constants(dm, &low, &high);
	r.low = low + dm->module->bias;
	r.size = high - low;
	if (r.size && s->nranges < MAX_RANGES)
		s->ranges[s->nranges++] = r;
	return true;
}

/*
 * When tokio is a library of its own, the tasks are instantiated in the executable, so that is
 * added too.
 */
static bool find_ranges(struct scan *s)
{
	bool all = true;

	for (struct tokio *k = tokio_of(s->in)->copies; k; k = k->next) {
		all &= add_range(s, k, k->dm);
		for (size_t i = 0; i < s->in->di->nmodules; i++) {
			struct dwarf_module *dm = s->in->di->modules[i];

			if (dm->module == s->t->main_module && dm != k->dm)
				all &= add_range(s, k, dm);
		}
	}
	return all;
}

/* ---- scanning ---- */

static bool word_at(struct scan *s, uint64_t addr, uint64_t *ret)
{
	size_t got = 0;

	if (addr % WORD == 0 && addr - s->at < s->nwords * WORD) {
		*ret = s->words[(addr - s->at) / WORD];
		return true;
	}
	struct error *err = target_read_through(s->t, addr, ret, WORD, &got);
	error_free(err);
	return !err && got == WORD;
}

static uint64_t number(const unsigned char *bytes, uint64_t offset)
{
	uint64_t n;

	memcpy(&n, bytes + offset, sizeof(n));
	return n;
}

/* The scheduler's offset in the cells of that vtable, 0 where it is none. */
static uint64_t read_vtable(const struct scan *s, const struct range *r, uint64_t addr)
{
	const struct vtable_form *f = &r->form;
	unsigned char bytes[MAX_VTABLE];
	size_t got = 0;
	struct error *err = target_read_through(s->t, addr, bytes, f->size, &got);

	error_free(err);
	if (err || got < f->size)
		return 0;
	for (size_t i = 0; i < f->nfunctions; i++) {
		if (!module_at(s->t, number(bytes, f->functions[i])))
			return 0;
	}
	uint64_t scheduler = number(bytes, f->scheduler), id = number(bytes, f->id);
	uint64_t trailer = number(bytes, f->trailer);
	/* repr(C) Cell: header, then the core with scheduler and id, then the trailer. */
	bool is_one = scheduler > r->vtable && scheduler <= id && id < trailer &&
	              trailer <= MAX_CELL_OFFSET && scheduler % WORD == 0;
	return is_one ? scheduler : 0;
}

static uint64_t find_vtable(struct scan *s, const struct range *r, uint64_t addr)
{
	uint64_t key = addr | (uint64_t)(r - s->ranges);

	if (!map_has(&s->vtables, key))
		map_put(&s->vtables, key, (void *)(uintptr_t)read_vtable(s, r, addr));
	return (uintptr_t)map_get(&s->vtables, key);
}

/* Checks a word at addr that may be the vtable pointer of a header. */
static void look_at(struct scan *s, const struct range *r, uint64_t addr, uint64_t vtable)
{
	uint64_t header = addr - r->vtable, owner, arc, poll;
	uint64_t scheduler = vtable % WORD == 0 ? find_vtable(s, r, vtable) : 0;

	if (!scheduler || !word_at(s, header + r->owner, &owner) || !owner ||
	    !word_at(s, header + scheduler, &arc) || !arc || arc % WORD ||
	    !word_at(s, vtable + r->form.poll, &poll) ||
	    !map_put(&s->seen, map_key_of_pair(arc, owner), NULL))
		return;
	if (s->candidates.n == MAX_CANDIDATES)
		s->too_many = true;
	else
		*vec_push(&s->candidates) =
			(struct candidate){ r->k, poll, header + scheduler, owner };
}

static void look_through(struct scan *s)
{
	for (size_t i = 0; i < s->nranges; i++) {
		const struct range *r = &s->ranges[i];
		uint64_t low = r->low, size = r->size;

		for (size_t j = 0; j < s->nwords; j++) {
			if (s->words[j] - low < size)
				look_at(s, r, s->at + j * WORD, s->words[j]);
		}
	}
}

/* Processor time, so that a busy machine does not change the result. */
static uint64_t worked_ns(const struct scan *s)
{
	return now_ns(CLOCK_THREAD_CPUTIME_ID) - s->worked_ns;
}

static bool may_go_on(struct scan *s)
{
	s->out_of_bytes |= s->bytes >= s->max_bytes;
	s->out_of_time |= worked_ns(s) >= s->max_ns ||
	                  now_ns(CLOCK_MONOTONIC) - s->began_ns >= s->max_ns * SLOWEST;
	if (!s->err)
		s->err = interrupt_check();
	return !s->err && !s->out_of_bytes && !s->out_of_time && !s->too_many;
}

static bool visit(uint64_t start, uint64_t end, void *arg)
{
	struct scan *s = arg;
	uint64_t at = start;

	if (start < end && module_at(s->t, start) && s->statics.n < MAX_STATICS)
		*vec_push(&s->statics) = (struct piece){ start, end };
	while (at < end && may_go_on(s)) {
		size_t want = end - at < PIECE ? (size_t)(end - at) : PIECE, got = 0;

		s->err = target_read_through(s->t, at, s->words, want, &got);
		s->at = at;
		s->nwords = s->err ? 0 : got / WORD;
		look_through(s);
		s->bytes += want;
		at += want;
	}
	return start == end ? may_go_on(s) : at >= end && !s->err;
}

/* ---- limits ---- */

static void set_limits(struct scan *s)
{
	const char *limits = getenv("ASYNCDBG_SCAN");
	unsigned mib = SCAN_MIB, ms = SCAN_MS;

	if (limits && sscanf(limits, "%u,%u", &mib, &ms) < 1)
		mib = SCAN_MIB;
	s->max_bytes = (uint64_t)mib << 20;
	s->max_ns = (uint64_t)ms * 1000000;
	s->worked_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
	s->began_ns = now_ns(CLOCK_MONOTONIC);
}

static const char *what_was_left(struct scan *s)
{
	struct arena *a = &s->in->arena;

	if (!s->max_bytes)
		return "memory was not looked through for tasks of runtimes that no thread is "
		       "inside, "
		       "as $ASYNCDBG_SCAN says: such tasks may be missing";
	if (s->too_many)
		return "memory has too much in it that looks like tasks: those of runtimes that no "
		       "thread is inside may be missing";
	if (!s->out_of_bytes && !s->out_of_time)
		return NULL;
	return arena_printf(a,
	                    "of the memory, only %" PRIu64
	                    " MiB were looked through for tasks of runtimes that no thread is "
	                    "inside, for %s is the limit: such tasks may be missing; "
	                    "ASYNCDBG_SCAN=MIB,MS sets another one",
	                    s->bytes >> 20,
	                    s->out_of_bytes
	                            ? arena_printf(a, "%" PRIu64 " MiB", s->max_bytes >> 20)
	                            : arena_printf(a, "%" PRIu64 " ms", s->max_ns / 1000000));
}

/* Validates the candidates. The reads are aside: their pages need not be copied in each stop. */
static void add_roots(struct scan *s)
{
	struct tokio_roots *roots = tokio_of(s->in)->roots;
	struct target_aside before;

	target_begin_aside(s->t, &before);
	for (size_t i = 0; i < s->candidates.n; i++) {
		const struct candidate *found = &s->candidates.data[i];
		struct tokio_root *root =
			tokio_root_add(s->in, found->k, found->poll, found->arc, found->owner);

		if (root && !root->found_by)
			root->found_by = "a scan of memory";
	}
	target_end_aside(s->t, &before);
	LOG("scan", "%" PRIu64 " KiB in %" PRIu64 " us: %zu vtables, %zu candidates, %zu roots",
	    s->bytes >> 10, worked_ns(s) / 1000, s->vtables.n, s->candidates.n, roots->list.n);
}

/* Records which roots the words of a static refer to. */
static void look_for_arcs(struct scan *s, const struct map *arcs, uint64_t at, size_t len)
{
	size_t got = 0;

	error_free(target_read_through(s->t, at, s->words, len, &got));
	for (size_t i = 0; i < got / WORD; i++) {
		struct tokio_root *root = s->words[i] ? map_get(arcs, s->words[i]) : NULL;

		if (root)
			root->static_addr = at + i * WORD;
	}
}

/* Statics are small: they are read a second time, now that the addresses of the roots are known. */
static void look_through_statics(struct scan *s)
{
	struct tokio_roots *roots = tokio_of(s->in)->roots;
	struct map arcs = { 0 };
	size_t bytes = 0;

	for (size_t i = 0; i < roots->list.n; i++) {
		if (roots->list.data[i].flavor)
			map_put(&arcs, roots->list.data[i].strong, &roots->list.data[i]);
	}
	for (size_t i = 0; arcs.n && i < s->statics.n; i++) {
		const struct piece *p = &s->statics.data[i];

		for (uint64_t at = p->start; at < p->end && bytes < MAX_STATIC_BYTES; at += PIECE) {
			size_t len = p->end - at < PIECE ? (size_t)(p->end - at) : PIECE;

			look_for_arcs(s, &arcs, at, len);
			bytes += len;
		}
	}
	map_free(&arcs);
}

static void scan_free(struct scan *s)
{
	map_free(&s->vtables);
	map_free(&s->seen);
	vec_free(&s->candidates);
	vec_free(&s->statics);
	free(s);
}

struct error *tokio_scan(struct inspector *in)
{
	struct error *err = NULL;

	if (!tokio_of(in)->copies)
		return NULL;
	tokio_roots_open(in);
	struct scan *s = calloc(1, sizeof(*s));
	if (!s)
		out_of_memory();
	s->in = in;
	s->t = in->target;
	set_limits(s);
	/*
	 * Without the layout of headers, lists of tasks cannot be read either: other notes report
	 * that.
	 */
	if (find_ranges(s) && s->max_bytes)
		err = target_each_writable(s->t, visit, s);
	if (!err)
		err = s->err;
	else
		error_free(s->err);
	if (!err) {
		add_roots(s);
		look_through_statics(s);
		tokio_of(in)->roots->cut = what_was_left(s);
	}
	scan_free(s);
	return err;
}
