/*
 * Scans the program's memory for headers of tasks. A header points at the vtable of its task's
 * kind, a constant of the executable (runtime/task/raw.rs): seven functions and some offsets, a
 * pattern that nothing else matches. A word that points at such a vtable, next to the id of a list,
 * may be a header or the remains of one. It is accepted only if its scheduler has the list of that
 * id (tokio_root_add()).
 */
#include <inttypes.h>
#include <string.h>

#include "debugger/base/log.h"
#include "runtimes/common/heap_scan.h"
#include "runtimes/tokio/tokio_root.h"

enum {
	MAX_VTABLE = 256,
	MAX_FUNCTIONS = 16,
	MAX_CANDIDATES = 1 << 16,
	MAX_STATIC_BYTES = 16 << 20,
	MAX_CELL_OFFSET = 1 << 30,
	WORD = 8,
};

/* The layout of a vtable, from its type in debug info or a layout file. */
struct vtable_form {
	size_t size, nfunctions;
	uint64_t functions[MAX_FUNCTIONS]; /* offsets, as are these: */
	uint64_t poll, trailer, scheduler, id;
};

/* Search for headers by a range of constants that contains the vtables of a copy of tokio. */
struct tokio_scan_range {
	struct tokio *k;
	uint64_t vtable, owner; /* offsets in the header */
	struct vtable_form form;
};

/*
 * A task's poll function, the address of its scheduler's Arc in its cell, and the list that it
 * claims to be in.
 */
struct tokio_scan_candidate {
	struct tokio *k;
	uint64_t poll, arc, owner;
};

struct tokio_scan_state {
	struct inspector *in;
	struct target *t;
	VEC(struct word_range) words;        /* of is the range below of the same index */
	VEC(struct tokio_scan_range) ranges; /* all of them, before words refer to them */
	/* An address and its range -> offset of the scheduler as a pointer; NULL: no vtable. */
	struct map vtables;
	struct map seen; /* hashes of a scheduler's Arc and a list */
	VEC(struct tokio_scan_candidate) candidates;
};

/* ---- where vtables are ---- */

static bool tokio_scan_member_offset(struct inspector *in, const struct type *t, const char *name,
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
	       tokio_scan_member_offset(in, vtable, "poll", &f->poll) &&
	       tokio_scan_member_offset(in, vtable, "trailer_offset", &f->trailer) &&
	       tokio_scan_member_offset(in, vtable, "scheduler_offset", &f->scheduler) &&
	       tokio_scan_member_offset(in, vtable, "id_offset", &f->id);
}

/* False where the layout of a header is unknown. */
static bool tokio_scan_add_range(struct tokio_scan_state *s, struct tokio *k,
                                 struct dwarf_module *dm)
{
	const struct bindings_slot *owner = &k->layout.slots[TOKIO_OWNER_ID];
	const struct type *header = k->layout.slots[TOKIO_STATE].root;
	const struct path *p = header ? inspector_optional_path(s->in, header, "vtable") : NULL;
	const struct type *vtable = p ? type_target(path_type(p)) : NULL;
	struct tokio_scan_range r = { .k = k, .owner = owner->offset };
	uint64_t low, high;

	if (!vtable || !owner->fixed || !path_offset(p, &r.vtable) ||
	    !read_form(s->in, vtable, &r.form))
		return false;
	debuginfo_constants(dm, &low, &high);
	if (low < high) {
		*vec_push(&s->ranges) = r;
		*vec_push(&s->words) =
			(struct word_range){ low + dm->module->bias, high - low, NULL };
	}
	return true;
}

/*
 * When tokio is a library of its own, the tasks are instantiated in the executable, so that is
 * added too.
 */
static bool find_ranges(struct tokio_scan_state *s)
{
	bool all = true;

	for (struct tokio *k = tokio_of(s->in)->copies; k; k = k->next) {
		all &= tokio_scan_add_range(s, k, k->dm);
		for (size_t i = 0; i < s->in->di->nmodules; i++) {
			struct dwarf_module *dm = s->in->di->modules[i];

			if (dm->module == s->t->modules.main && dm != k->dm)
				all &= tokio_scan_add_range(s, k, dm);
		}
	}
	for (size_t i = 0; i < s->words.n; i++)
		s->words.data[i].of = &s->ranges.data[i];
	return all;
}

/* ---- scanning ---- */

static uint64_t tokio_scan_number(const unsigned char *bytes, uint64_t offset)
{
	uint64_t n;

	memcpy(&n, bytes + offset, sizeof(n));
	return n;
}

/* The scheduler's offset in the cells of that vtable, 0 where it is none. */
static uint64_t tokio_scan_read_vtable(const struct tokio_scan_state *s,
                                       const struct tokio_scan_range *r, uint64_t addr)
{
	const struct vtable_form *f = &r->form;
	unsigned char bytes[MAX_VTABLE];
	size_t got = 0;
	struct error *err = target_read_through(s->t, addr, bytes, f->size, &got);

	error_free(err);
	if (err || got < f->size)
		return 0;
	for (size_t i = 0; i < f->nfunctions; i++) {
		if (!module_at(s->t, tokio_scan_number(bytes, f->functions[i])))
			return 0;
	}
	uint64_t scheduler = tokio_scan_number(bytes, f->scheduler),
		 id = tokio_scan_number(bytes, f->id);
	uint64_t trailer = tokio_scan_number(bytes, f->trailer);
	/* repr(C) Cell: header, then the core with scheduler and id, then the trailer. */
	bool is_one = scheduler > r->vtable && scheduler <= id && id < trailer &&
	              trailer <= MAX_CELL_OFFSET && scheduler % WORD == 0;
	return is_one ? scheduler : 0;
}

static uint64_t tokio_scan_find_vtable(struct tokio_scan_state *s, const struct tokio_scan_range *r,
                                       uint64_t addr)
{
	uint64_t key = map_key_of_pair(addr, (uint64_t)(r - s->ranges.data));

	if (!map_has(&s->vtables, key))
		map_put(&s->vtables, key, (void *)(uintptr_t)tokio_scan_read_vtable(s, r, addr));
	return (uintptr_t)map_get(&s->vtables, key);
}

/* Checks a word at addr that may be the vtable pointer of a header. */
static bool tokio_scan_look_at(struct heap_scan *words, const struct word_range *range,
                               uint64_t addr, uint64_t vtable)
{
	struct tokio_scan_state *s = heap_scan_arg(words);
	const struct tokio_scan_range *r = range->of;
	uint64_t header = addr - r->vtable, owner, arc, poll;
	uint64_t scheduler = vtable % WORD == 0 ? tokio_scan_find_vtable(s, r, vtable) : 0;

	if (!scheduler || !heap_scan_read(words, header + r->owner, &owner) || !owner ||
	    !heap_scan_read(words, header + scheduler, &arc) || !arc || arc % WORD ||
	    !heap_scan_read(words, vtable + r->form.poll, &poll) ||
	    !map_put(&s->seen, map_key_of_pair(arc, owner), NULL))
		return true;
	if (s->candidates.n == MAX_CANDIDATES)
		return false;
	*vec_push(&s->candidates) =
		(struct tokio_scan_candidate){ r->k, poll, header + scheduler, owner };
	return true;
}

/* Validates the candidates. The reads are aside: their pages need not be copied in each stop. */
static void add_roots(struct tokio_scan_state *s, const struct heap_scan *words)
{
	struct tokio_roots *roots = tokio_of(s->in)->roots;
	struct target_scratch_cache before;

	target_begin_scratch_cache(s->t, &before);
	for (size_t i = 0; i < s->candidates.n; i++) {
		const struct tokio_scan_candidate *found = &s->candidates.data[i];
		struct tokio_root *root =
			tokio_root_add(s->in, found->k, found->poll, found->arc, found->owner);

		if (root && !root->found_by)
			root->found_by = "a scan of memory";
	}
	target_end_scratch_cache(s->t, &before);
	LOG("scan", "%" PRIu64 " KiB in %" PRIu64 " us: %zu vtables, %zu candidates, %zu roots",
	    heap_scan_bytes(words) >> 10, heap_scan_worked_ns(words) / 1000, s->vtables.n,
	    s->candidates.n, roots->list.n);
}

/* Records which roots the words of a static refer to. */
static void look_for_arcs(struct tokio_scan_state *s, const struct map *arcs, uint64_t at,
                          uint64_t *words, size_t len)
{
	size_t got = 0;

	error_free(target_read_through(s->t, at, words, len, &got));
	for (size_t i = 0; i < got / WORD; i++) {
		struct tokio_root *root = words[i] ? map_get(arcs, words[i]) : NULL;

		if (root)
			root->static_addr = at + i * WORD;
	}
}

/* Statics are small: they are read a second time, now that the addresses of the roots are known. */
static void look_through_statics(struct tokio_scan_state *s, struct heap_scan *words)
{
	struct tokio_roots *roots = tokio_of(s->in)->roots;
	struct map arcs = { 0 };
	size_t bytes = 0, npieces, size;
	const struct word_piece *pieces = heap_scan_statics(words, &npieces);
	uint64_t *buffer = heap_scan_buffer(words, &size);

	for (size_t i = 0; i < roots->list.n; i++) {
		if (roots->list.data[i].flavor)
			map_put(&arcs, roots->list.data[i].strong, &roots->list.data[i]);
	}
	for (size_t i = 0; arcs.n && i < npieces; i++) {
		const struct word_piece *p = &pieces[i];

		for (uint64_t at = p->start; at < p->end && bytes < MAX_STATIC_BYTES; at += size) {
			size_t len = p->end - at < size ? (size_t)(p->end - at) : size;

			look_for_arcs(s, &arcs, at, buffer, len);
			bytes += len;
		}
	}
	map_free(&arcs);
}

static void after(struct heap_scan *words)
{
	add_roots(heap_scan_arg(words), words);
	look_through_statics(heap_scan_arg(words), words);
}

struct error *tokio_scan(struct inspector *in)
{
	struct tokio_scan_state s = { .in = in, .t = in->target };

	if (!tokio_of(in)->copies)
		return NULL;
	tokio_roots_open(in);
	/*
	 * Without the layout of headers, lists of tasks cannot be read either: other notes report
	 * that.
	 */
	if (!find_ranges(&s))
		s.words.n = 0;
	struct error *err = heap_scan_run(in, s.words.data, s.words.n,
	                                  "tasks of runtimes that no thread is inside",
	                                  tokio_scan_look_at, after, &s, &tokio_of(in)->roots->cut);
	vec_free(&s.words);
	vec_free(&s.ranges);
	map_free(&s.vtables);
	map_free(&s.seen);
	vec_free(&s.candidates);
	return err;
}
