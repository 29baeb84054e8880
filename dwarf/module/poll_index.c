/*
 * Poll functions by the symbol table. In a large program the units of one crate hold tens of
 * megabytes; where a type's poll function lies among them, its symbol tells. All names are looked
 * at once, by several threads: only those that end as a poll function's are read.
 */
#include <ctype.h>
#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>

#include "debugger/base/log.h"
#include "debugger/base/parallel.h"
#include "debugger/base/vec.h"
#include "dwarf/module/poll_index.h"
#include "dwarf/module/symtab.h"
#include "dwarf/names/impl_header.h"

enum {
	AT_ONCE = 1 << 16,      /* symbols: the pages of their names do not stay */
	MANY_NAMES = 16 << 20,  /* bytes: below it is not worth giving them back */
	NAMES_AHEAD = 2048,     /* bytes of names that read_ahead() is asked for */
	WORTH_AHEAD = 64 << 20, /* bytes of debug info: crates are large, and will be asked about */
	MAX_NAME = 4096,        /* longer ones are read, but for v0 ones */
	WORTH_A_THREAD = AT_ONCE,
	SYMBOLS_AN_ENTRY = 8, /* that rustc writes, about */
	HASH_END = 17 + 1,    /* of a legacy name: the digits of its hash, and "E" */
	MAX_SUFFIX = 48,      /* what LLVM may put behind: ".llvm.1234567890" */
};

/* All have as many bytes. Legacy mangling ends with a hash. */
static const char legacy[] = "4poll17h", closure[] = "$u7d$17h", into_future[] = "uture17h";
/* In v0 the trait's path stands before the method. */
static const char v0[] = "6Future4poll";
/* "{{closure}}" */
static const char closure_part[] = "_$u7b$$u7b$closure$u7d$$u7d$";
/* What each await calls, and any inliner inlines, for it only gives back its argument. */
static const char trivial[] = "core..future..into_future..IntoFuture$GT$11into_future17h";

/* What one thread finds. */
struct finder {
	entry_vec entries;
	address_vec trivial;
	uint32_t symbol; /* at hand */
	bool skipped;    /* a name */
};

struct reading {
	const struct dwarf_module *dm;
	struct symtab t;
	atomic_size_t next; /* symbol that nobody looks at yet */
	atomic_size_t nfinders;
	struct finder finders[PARALLEL_MAX];
	struct beside beside;
	struct symtab_survey survey; /* that the thread beside makes first */
	sem_t surveyed;
	atomic_bool stop; /* nobody waits for it any more */
};

static void add_form(struct finder *f, enum entry_kind kind, enum poll_form form, const char *name,
                     size_t len, uint64_t pc)
{
	struct poll_symbol entry = {
		.key = map_key_of(name, len),
		.pc = pc,
		.symbol = f->symbol & ((UINT32_C(1) << SYMBOL_BITS) - 1),
		.kind = kind & 3,
		.form = form & 3,
	};

	for (size_t i = f->entries.n; i && f->entries.data[i - 1].pc == pc; i--) {
		if (f->entries.data[i - 1].key == entry.key && f->entries.data[i - 1].kind == kind)
			return;
	}
	if (len)
		*vec_push(&f->entries) = entry;
}

static void add(struct finder *f, enum entry_kind kind, const char *name, size_t len, uint64_t pc)
{
	add_form(f, kind, POLL_FORM_VAGUE, name, len, pc);
}

/* A part of a name; most others begin with a letter. */
static bool is_closure(const char *part, size_t len)
{
	return part[0] == '_' && len >= sizeof(closure_part) - 1 &&
	       memcmp(part, closure_part, sizeof(closure_part) - 1) == 0;
}

/*
 * "_ZN3app3run28_$u7b$$u7b$closure$u7d$$u7d$17h...": by the last part that is no closure. Each
 * part has its length before it.
 */
static void add_closure(struct finder *f, const char *name, const char *end, uint64_t pc)
{
	const char *p = name, *own = NULL;
	size_t own_len = 0;

	if (strncmp(name, "_ZN", 3) != 0)
		return;
	for (p += 3; isdigit((unsigned char)*p);) {
		size_t len = 0;

		while (isdigit((unsigned char)*p) && len < MAX_NAME)
			len = len * 10 + (size_t)(*p++ - '0');
		if ((size_t)(end - p) < len)
			return;
		if (is_closure(p, len)) {
			if (own)
				add(f, ENTRY_CLOSURE, own, own_len, pc);
			return;
		}
		own = p;
		own_len = len;
		p += len;
	}
}

/*
 * "_ZN55_$LT$app..Foo$LT$T$GT$$u20$as$u20$core..future..future..Future$GT$4poll17h...": every
 * identifier of the component counts, for the type may stand in any place of it.
 */
static void add_vague(struct finder *f, const char *name, const char *end, uint64_t pc)
{
	for (const char *p = name; p < end;) {
		const char *start = p;

		if (*p == '$') { /* an escape: "$LT$" */
			const char *close = memchr(p + 1, '$', (size_t)(end - p - 1));

			p = close ? close + 1 : end;
			continue;
		}
		while (p < end && is_identifier(*p))
			p++;
		if (p > start)
			add(f, ENTRY_IDENTIFIER, start, (size_t)(p - start), pc);
		else
			p++;
	}
}

/* "..3app3Foo..": every identifier with its length before it. */
static void add_v0(struct finder *f, const char *name, const char *end, uint64_t pc)
{
	for (const char *p = name; p < end;) {
		size_t len = 0;

		if (!isdigit((unsigned char)*p)) {
			p++;
			continue;
		}
		while (p < end && isdigit((unsigned char)*p) && len < MAX_NAME)
			len = len * 10 + (size_t)(*p++ - '0');
		p += p < end && *p == '_';
		if (len == 0 || len > (size_t)(end - p))
			continue;
		add(f, ENTRY_IDENTIFIER, p, len, pc);
		/* What looks like a length may be part of something else: no jump over it. */
	}
}

static void add_poll(struct finder *f, const char *name, size_t len, uint64_t pc)
{
	struct poll_header header = poll_header_read(name, len);
	const char *end = name + len, *start = end;

	if (header.form != POLL_FORM_VAGUE) {
		add_form(f, ENTRY_PATH, header.form, header.path, header.path_len, pc);
	} else if (len > 4 && memcmp(end - 4, "$GT$", 4) == 0) {
		/* The last component, its length and "_" before it. */
		while (start > name && !(isdigit((unsigned char)start[-1]) && *start == '_'))
			start--;
		add_vague(f, start + (*start == '_'), end, pc);
	}
}

/* Before the "E" of a legacy name, and what may follow it, NULL when it is none. */
static const char *legacy_hash(const char *name, size_t len)
{
	const char *end = name + len;

	for (size_t cut = 0; cut < MAX_SUFFIX && len - cut > HASH_END + 8; cut++, end--) {
		if (end[-1] == 'E' && (cut == 0 || *end == '.') && end[-HASH_END] == 'h')
			return end - HASH_END + 1;
		if (cut == 0 && !isalnum((unsigned char)end[-1]))
			return NULL;
	}
	return NULL;
}

static void read_name(struct finder *f, const char *name, size_t len, uint64_t pc)
{
	if (len < 3 || name[0] != '_')
		return;
	if (name[1] == 'R') {
		const char *at = len < MAX_NAME ? memmem(name, len, v0, sizeof(v0) - 1) : NULL;

		f->skipped |= len >= MAX_NAME;
		if (at)
			add_v0(f, name, at, pc);
		return;
	}
	const char *hash = legacy_hash(name, len);
	if (!hash)
		return;
	const char *end = hash - 8;
	if (memcmp(end, legacy, 8) == 0)
		add_poll(f, name, (size_t)(end - name), pc);
	else if (memcmp(end, closure, 8) == 0)
		add_closure(f, name, name + len, pc);
	else if (memcmp(end, into_future, 8) == 0 && (size_t)(hash - name) >= sizeof(trivial) - 1 &&
	         memcmp(hash - (sizeof(trivial) - 1), trivial, sizeof(trivial) - 1) == 0)
		*vec_push(&f->trivial) = pc;
}

/*
 * Looks at symbols [first, end), and gives the pages of their names back: of all names, for those
 * that several symbols have lie far from the others.
 */
static void read_some(const struct reading *r, struct finder *f, size_t first, size_t end)
{
	struct section names = r->t.names;

	for (size_t i = first; i < end; i++) {
		const Elf64_Sym *sym = &r->t.data[i];
		size_t at = sym->st_name;

		read_ahead(sym, SYMTAB_AHEAD);
		if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC || !sym->st_value || at >= names.size)
			continue;
		const char *name = (const char *)names.data + at;
		read_ahead(name, NAMES_AHEAD);
		size_t len = strnlen(name, names.size - at);
		f->symbol = (uint32_t)i;
		if (len < names.size - at)
			read_name(f, name, len, sym->st_value);
	}
	if (names.size > MANY_NAMES)
		mapped_drop(r->dm, names.data, names.size);
}

static void *run(void *arg)
{
	struct reading *r = arg;
	struct finder *f = &r->finders[atomic_fetch_add(&r->nfinders, 1)];
	size_t first = r->next;

	vec_reserve(&f->entries, (first < r->t.n ? r->t.n - first : 0) / SYMBOLS_AN_ENTRY);
	while (!r->stop && (first = atomic_fetch_add(&r->next, AT_ONCE)) < r->t.n)
		read_some(r, f, first, first + AT_ONCE < r->t.n ? first + AT_ONCE : r->t.n);
	return NULL;
}

static void *run_ahead(void *arg)
{
	struct reading *r = arg;

	symtab_survey(&r->survey);
	sem_post(&r->surveyed);
	return run(r);
}

/* Moves the entries of all: most are one's, who began before the others. */
static void take_entries(struct poll_index *x, struct reading *r)
{
	struct finder *most = r->finders;

	for (size_t i = 1; i < PARALLEL_MAX; i++) {
		if (r->finders[i].entries.n > most->entries.n)
			most = &r->finders[i];
	}
	x->entries = most->entries;
	most->entries = (entry_vec){ 0 };
	for (size_t i = 0; i < PARALLEL_MAX; i++) {
		for (size_t j = 0; j < r->finders[i].entries.n; j++)
			*vec_push(&x->entries) = r->finders[i].entries.data[j];
	}
}

/* Puts what the threads found into one index. */
static void merge(const struct dwarf_module *dm, struct poll_index *x, struct reading *r)
{
	size_t nbuckets = 64;

	take_entries(x, r);
	while (nbuckets < x->entries.n)
		nbuckets *= 2;
	x->buckets = malloc(nbuckets * sizeof(*x->buckets));
	if (!x->buckets)
		out_of_memory();
	x->mask = (uint32_t)nbuckets - 1;
	memset(x->buckets, 0xff, nbuckets * sizeof(*x->buckets));
	for (size_t i = 0; i < x->entries.n; i++) {
		uint32_t *bucket = &x->buckets[x->entries.data[i].key & x->mask];

		x->entries.data[i].next = *bucket;
		*bucket = (uint32_t)i;
	}
	for (size_t i = 0; i < PARALLEL_MAX; i++) {
		struct finder *f = &r->finders[i];

		for (size_t j = 0; j < f->trivial.n; j++)
			*vec_push(&x->trivial) = f->trivial.data[j];
		x->skipped |= f->skipped;
	}
	LOG("dwarf", "%s: %zu names of poll functions and closures in %zu symbols",
	    dm->module->path, x->entries.n, r->t.n);
}

static struct reading *reading_new(struct dwarf_module *dm)
{
	struct reading *r = calloc(1, sizeof(*r));

	if (!r)
		out_of_memory();
	r->dm = dm;
	r->t = symtab_of(dm);
	/* More would be six gigabytes of them. */
	if (r->t.n >> SYMBOL_BITS)
		r->t.n = (size_t)1 << SYMBOL_BITS;
	sem_init(&r->surveyed, 0, 0);
	return r;
}

static void reading_free(struct reading *r)
{
	for (size_t i = 0; i < PARALLEL_MAX; i++) {
		vec_free(&r->finders[i].entries);
		vec_free(&r->finders[i].trivial);
	}
	vec_free(&r->survey.thread_locals);
	sem_destroy(&r->surveyed);
	free(r);
}

struct poll_index *symtab_index_of(struct dwarf_module *dm)
{
	if (!dm->poll_index && symtab_of(dm).data) {
		dm->poll_index = NEW(&dm->di->arena, struct poll_index);
	}
	return dm->poll_index;
}

void symtab_read_ahead(struct dwarf_module *dm)
{
	if (dm->poll_index || dm->sections.info.size < WORTH_AHEAD || !symtab_index_of(dm))
		return;
	struct reading *r = dm->poll_index->reading = reading_new(dm);

	r->survey = symtab_survey_new(dm);
	parallel_start(&r->beside, run_ahead, r);
}

bool symtab_surveyed_ahead(struct dwarf_module *dm, struct symtab_survey *ret)
{
	struct reading *r = dm->poll_index ? dm->poll_index->reading : NULL;

	if (!r || !r->beside.started)
		return false;
	while (sem_wait(&r->surveyed) != 0 && errno == EINTR)
		;
	*ret = r->survey;
	r->survey = (struct symtab_survey){ 0 };
	return true;
}

void symtab_forget(struct dwarf_module *dm)
{
	struct poll_index *x = dm->poll_index;

	if (x && x->reading) {
		x->reading->stop = true;
		parallel_wait(&x->reading->beside);
		reading_free(x->reading);
	}
	if (x) {
		vec_free(&x->entries);
		vec_free(&x->trivial);
		free(x->buckets);
	}
	if (dm->survey)
		vec_free(&dm->survey->thread_locals);
	free(dm->poll_units);
	dm->poll_units = NULL;
	dm->poll_index = NULL;
	dm->survey = NULL;
}

static void make_index(struct dwarf_module *dm, struct poll_index *x)
{
	struct reading *r = x->reading ? x->reading : reading_new(dm);
	size_t threads = r->t.n / WORTH_A_THREAD + 1;

	/* What the thread beside has left. */
	parallel_run(run, r, r->beside.started ? 1 : threads);
	parallel_wait(&r->beside);
	merge(dm, x, r);
	mapped_drop(dm, (const uint8_t *)r->t.data, r->t.n * sizeof(*r->t.data));
	x->known = true;
	x->reading = NULL;
	reading_free(r);
	mapped_trim(dm);
}

struct poll_index *poll_index_read(struct dwarf_module *dm)
{
	struct poll_index *x = symtab_index_of(dm);

	if (!x || dm->poll_units)
		return x;
	if (!x->known)
		make_index(dm, x);
	dm->poll_units = alloc_zeroed((x->entries.n + 1) * sizeof(*dm->poll_units));
	return x;
}
