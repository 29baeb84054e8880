/*
 * Indexes poll functions by the symbol table. In a large program the units of one crate have tens
 * of megabytes; the symbol of a type's poll function tells which unit holds it. All symbols are
 * visited at once, but only names that end like that of a poll function are parsed.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/log.h"
#include "debugger/base/vec.h"
#include "dwarf/module/poll_index.h"
#include "dwarf/module/symtab.h"
#include "dwarf/names/impl_header.h"

enum {
	AT_ONCE = 1 << 16,     /* symbols per batch: the pages of names are dropped after each */
	MANY_NAMES = 16 << 20, /* bytes of names: below, dropping pages does not pay */
	NAMES_AHEAD = 2048,    /* bytes of names to prefetch with read_ahead() */
	MAX_NAME = 4096,       /* longer v0 names are not indexed */
	SYMBOLS_AN_ENTRY = 8,  /* estimated symbols per entry */
	HASH_END = 17 + 1,     /* of a legacy name: the digits of its hash, and "E" */
	MAX_SUFFIX = 48,       /* suffix that LLVM may append: ".llvm.1234567890" */
};

/* The three endings have the same length. Legacy mangling ends with a hash. */
static const char legacy[] = "4poll17h", closure[] = "$u7d$17h", into_future[] = "uture17h";
/* The method of a stream. */
static const char legacy_next[] = "9poll_next17h";
/* Path of the trait, which precedes the method in v0. */
static const char v0[] = "6Future4poll", v0_next[] = "6Stream9poll_next";
/* "{{closure}}" */
static const char closure_part[] = "_$u7b$$u7b$closure$u7d$$u7d$";
/* Each await calls this function. It only returns its argument, so that any inliner removes it. */
static const char trivial[] = "core..future..into_future..IntoFuture$GT$11into_future17h";

struct poll_index_finder {
	struct poll_index *x;
	uint32_t symbol; /* the current one */
	bool stream;     /* it is a poll_next() */
};

static void add_form(struct poll_index_finder *f, enum entry_kind kind, enum poll_form form,
                     const char *name, size_t len, uint64_t pc)
{
	struct poll_symbol entry = {
		.key = map_key_of(name, len),
		.pc = pc,
		.symbol = f->symbol & ((UINT32_C(1) << SYMBOL_BITS) - 1),
		.kind = kind & 3,
		.form = form & 3,
		.stream = f->stream,
	};

	for (size_t i = f->x->entries.n; i && f->x->entries.data[i - 1].pc == pc; i--) {
		if (f->x->entries.data[i - 1].key == entry.key &&
		    f->x->entries.data[i - 1].kind == kind)
			return;
	}
	if (len)
		*vec_push(&f->x->entries) = entry;
}

static void poll_index_add(struct poll_index_finder *f, enum entry_kind kind, const char *name,
                           size_t len, uint64_t pc)
{
	add_form(f, kind, POLL_FORM_VAGUE, name, len, pc);
}

/* Is a part of a name a closure? Most other parts begin with a letter. */
static bool is_closure(const char *part, size_t len)
{
	return part[0] == '_' && len >= sizeof(closure_part) - 1 &&
	       memcmp(part, closure_part, sizeof(closure_part) - 1) == 0;
}

/*
 * Adds "_ZN3app3run28_$u7b$$u7b$closure$u7d$$u7d$17h..." under its last part that is no closure.
 * Each part is preceded by its length.
 */
static void add_closure(struct poll_index_finder *f, const char *name, const char *end, uint64_t pc)
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
				poll_index_add(f, ENTRY_CLOSURE, own, own_len, pc);
			return;
		}
		own = p;
		own_len = len;
		p += len;
	}
}

/*
 * Adds "_ZN55_$LT$app..Foo$LT$T$GT$$u20$as$u20$core..future..future..Future$GT$4poll17h..." under
 * every identifier of the component, because any of them may be that of the type.
 */
static void add_vague(struct poll_index_finder *f, const char *name, const char *end, uint64_t pc)
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
			poll_index_add(f, ENTRY_IDENTIFIER, start, (size_t)(p - start), pc);
		else
			p++;
	}
}

/* Adds "..3app3Foo.." under every identifier; each is preceded by its length. */
static void add_v0(struct poll_index_finder *f, const char *name, const char *end, uint64_t pc)
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
		poll_index_add(f, ENTRY_IDENTIFIER, p, len, pc);
		/* Digits may be part of something else than a length: do not skip by them. */
	}
}

static void add_poll(struct poll_index_finder *f, const char *name, size_t len, uint64_t pc)
{
	struct poll_header header = impl_header_read(name, len);
	const char *end = name + len, *start = end;

	if (header.form != POLL_FORM_VAGUE) {
		add_form(f, ENTRY_PATH, header.form, header.path, header.path_len, pc);
	} else if (len > 4 && memcmp(end - 4, "$GT$", 4) == 0) {
		/* The last component, which its length and "_" precede. */
		while (start > name && !(isdigit((unsigned char)start[-1]) && *start == '_'))
			start--;
		add_vague(f, start + (*start == '_'), end, pc);
	}
}

/*
 * The position before the "E" of a legacy name and a suffix after it; NULL when it is no such name.
 */
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

static void read_v0(struct poll_index_finder *f, const char *name, size_t len, uint64_t pc)
{
	const char *at = NULL;

	f->x->skipped |= len >= MAX_NAME;
	if (len < MAX_NAME && !(at = memmem(name, len, v0, sizeof(v0) - 1))) {
		at = memmem(name, len, v0_next, sizeof(v0_next) - 1);
		f->stream = at != NULL;
	}
	if (at)
		add_v0(f, name, at, pc);
}

/* end: of the method's name in a legacy symbol, where its hash begins. */
static bool is_poll_next(const char *name, const char *end)
{
	size_t len = sizeof(legacy_next) - 1;

	return (size_t)(end - name) >= len && memcmp(end - len, legacy_next, len) == 0;
}

static void read_name(struct poll_index_finder *f, const char *name, size_t len, uint64_t pc)
{
	f->stream = false;
	if (len < 3 || name[0] != '_')
		return;
	if (name[1] == 'R') {
		read_v0(f, name, len, pc);
		return;
	}
	const char *hash = legacy_hash(name, len);
	if (!hash)
		return;
	const char *end = hash - 8;
	if (memcmp(end, legacy, 8) == 0)
		add_poll(f, name, (size_t)(end - name), pc);
	else if ((f->stream = is_poll_next(name, hash)))
		add_poll(f, name, (size_t)(hash - name) - (sizeof(legacy_next) - 1), pc);
	else if (memcmp(end, closure, 8) == 0)
		add_closure(f, name, name + len, pc);
	else if (memcmp(end, into_future, 8) == 0 && (size_t)(hash - name) >= sizeof(trivial) - 1 &&
	         memcmp(hash - (sizeof(trivial) - 1), trivial, sizeof(trivial) - 1) == 0)
		*vec_push(&f->x->trivial) = pc;
}

/*
 * Indexes symbols [first, end), then drops the pages of all names: names that several symbols share
 * lie far from the others.
 */
static void read_some(const struct dwarf_module *dm, const struct symtab *t,
                      struct poll_index_finder *f, size_t first, size_t end)
{
	struct section names = t->names;

	for (size_t i = first; i < end; i++) {
		const Elf64_Sym *sym = &t->data[i];
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
		residency_drop(dm, names.data, names.size);
}

static void make_buckets(struct poll_index *x)
{
	size_t nbuckets = 64;

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
}

void poll_index_forget(struct dwarf_module *dm)
{
	struct poll_index *x = dm->polls.index;

	if (x) {
		vec_free(&x->entries);
		vec_free(&x->trivial);
		vec_free(&x->folded);
		free(x->buckets);
	}
	if (dm->symbols.survey)
		vec_free(&dm->symbols.survey->thread_locals);
	free(dm->polls.units);
	dm->polls.units = NULL;
	dm->polls.index = NULL;
	dm->symbols.survey = NULL;
}

static struct poll_index *poll_index_make(struct dwarf_module *dm)
{
	struct poll_index *x = NEW(&dm->di->arena, struct poll_index);
	struct poll_index_finder f = { .x = x };
	struct symtab t = symtab_of(dm);

	/* More symbols would take more than three gigabytes. */
	if (t.n >> SYMBOL_BITS)
		t.n = (size_t)1 << SYMBOL_BITS;
	vec_reserve(&x->entries, t.n / SYMBOLS_AN_ENTRY);
	for (size_t first = 0; first < t.n; first += AT_ONCE)
		read_some(dm, &t, &f, first, first + AT_ONCE < t.n ? first + AT_ONCE : t.n);
	make_buckets(x);
	LOG("dwarf", "%s: %zu names of poll functions and closures in %zu symbols",
	    dm->module->path, x->entries.n, t.n);
	residency_drop(dm, (const uint8_t *)t.data, t.n * sizeof(*t.data));
	residency_trim(dm);
	return x;
}

struct poll_index *poll_index_read(struct dwarf_module *dm)
{
	if (dm->polls.index || !symtab_of(dm).data)
		return dm->polls.index;
	dm->polls.index = poll_index_make(dm);
	dm->polls.units = alloc_zeroed((dm->polls.index->entries.n + 1) * sizeof(*dm->polls.units));
	return dm->polls.index;
}
