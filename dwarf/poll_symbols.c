/*
 * Poll functions by the symbol table. In a large program the units of one crate hold tens of
 * megabytes; where a type's poll function lies among them, its symbol tells. All names are looked
 * through once, as bytes; only those that end as a poll function's are looked at.
 */
#include <ctype.h>
#include <string.h>

#include "debugger/base/log.h"
#include "debugger/base/vec.h"
#include "dwarf/lookup.h"
#include "dwarf/qualified.h"
#include "dwarf/symtab.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { MAX_NAME = 4096, BLOOM_BITS = 1 << 20, PIECE = 8 << 20 };

/* A function whose symbol has an identifier; the next one that has it. */
struct poll_symbol {
	uint64_t pc;
	struct unit *unit; /* that has code there, once looked */
	bool looked;
	struct poll_symbol *next;
};

/* Legacy mangling ends with a hash; in v0 the trait's path stands before the method. */
static const char legacy[] = "4poll17h", v0[] = "6Future4poll";
/* The end of "{{closure}}" with a hash: closures, and poll functions of coroutines. */
static const char closure[] = "$u7d$17h", closure_part[] = "_$u7b$$u7b$closure$u7d$$u7d$";
/* What each await calls, and any inliner inlines, for it only gives back its argument. */
static const char into_future[] = "uture17h",
		  trivial[] = "core..future..into_future..IntoFuture$GT$11into_future17h";

struct finder {
	const struct symtab *t;
	struct map starts; /* offset of a name that ends so, + 1 */
	uint64_t *bloom;   /* of BLOOM_BITS bits, by offset: most names are no such */
	struct map *polls, *closures;
	address_vec *trivial;
	struct arena *a;
};

/* Notes the start of the name that has something at p. */
static void note_name(struct finder *f, const uint8_t *p)
{
	const uint8_t *base = f->t->names.data, *start = p;

	while (start > base && start[-1] && p - start < MAX_NAME)
		start--;
	uint64_t offset = (uint64_t)(start - base);
	map_put(&f->starts, offset + 1, NULL);
	f->bloom[offset % BLOOM_BITS / 64] |= UINT64_C(1) << offset % 64;
}

static bool ends_so(const uint8_t *p)
{
	return memcmp(p, legacy, 8) == 0 || memcmp(p, closure, 8) == 0 ||
	       memcmp(p, into_future, 8) == 0;
}

/* Notes every name with one of the legacy ends, which have "1?h" in common, from p to end. */
static void find_legacy(struct finder *f, const uint8_t *p, const uint8_t *end)
{
#ifdef __SSE2__
	const __m128i one = _mm_set1_epi8('1'), h = _mm_set1_epi8('h');

	for (; end - p >= 16 + 8; p += 16) {
		__m128i a = _mm_loadu_si128((const void *)(p + 5));
		__m128i b = _mm_loadu_si128((const void *)(p + 7));
		unsigned hits = (unsigned)_mm_movemask_epi8(
			_mm_and_si128(_mm_cmpeq_epi8(a, one), _mm_cmpeq_epi8(b, h)));

		for (; hits; hits &= hits - 1) {
			if (ends_so(p + __builtin_ctz(hits)))
				note_name(f, p + __builtin_ctz(hits));
		}
	}
#endif
	for (; end - p >= 8; p++) {
		if (ends_so(p))
			note_name(f, p);
	}
}

/* By pieces, whose pages need not stay. */
static void find_all_legacy(struct finder *f, const struct dwarf_module *dm)
{
	struct section names = f->t->names;

	for (size_t at = 0; at < names.size; at += PIECE) {
		size_t n = names.size - at < PIECE ? names.size - at : PIECE;
		size_t more = names.size - at - n < 8 ? names.size - at - n : 8;

		find_legacy(f, names.data + at, names.data + at + n + more);
		if (names.size > 2 * PIECE)
			mapped_drop(dm, names.data + at, n);
	}
}

static void find_v0(struct finder *f)
{
	const uint8_t *p = f->t->names.data, *end = p + f->t->names.size;

	while (p < end && (p = memmem(p, (size_t)(end - p), v0, sizeof(v0) - 1))) {
		note_name(f, p);
		p += sizeof(v0) - 1;
	}
}

static bool is_identifier(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* lookup_name_key() of the len bytes; 0 when there are more than a name can have. */
static uint64_t key_of(const char *identifier, size_t len)
{
	char name[256];

	if (len == 0 || len >= sizeof(name))
		return 0;
	memcpy(name, identifier, len);
	name[len] = '\0';
	return lookup_name_key(name);
}

static void add(struct finder *f, struct map *to, const char *identifier, size_t len, uint64_t pc)
{
	uint64_t key = key_of(identifier, len);
	struct poll_symbol *next = key ? map_get(to, key) : NULL;

	if (!key || (next && next->pc == pc))
		return;
	struct poll_symbol *s = NEW(f->a, struct poll_symbol);
	*s = (struct poll_symbol){ .pc = pc, .next = next };
	map_put(to, key, s);
}

/*
 * "_ZN3app3run28_$u7b$$u7b$closure$u7d$$u7d$17h...": by the last part that is no closure. Each
 * part has its length before it.
 */
static void add_closure(struct finder *f, const char *name, uint64_t pc)
{
	const char *p = name, *own = NULL;
	size_t own_len = 0;

	if (strncmp(name, "_ZN", 3) != 0)
		return;
	for (p += 3; isdigit((unsigned char)*p);) {
		size_t len = 0;

		while (isdigit((unsigned char)*p) && len < MAX_NAME)
			len = len * 10 + (size_t)(*p++ - '0');
		if (strnlen(p, len) < len)
			return;
		if (strncmp(p, closure_part, sizeof(closure_part) - 1) == 0) {
			if (own)
				add(f, f->closures, own, own_len, pc);
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
static void add_legacy(struct finder *f, const char *name, const char *end, uint64_t pc)
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
			add(f, f->polls, start, (size_t)(p - start), pc);
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
		add(f, f->polls, p, len, pc);
		/* What looks like a length may be part of something else: no jump over it. */
	}
}

static void add_symbol(struct finder *f, const Elf64_Sym *sym)
{
	const char *name = symtab_name(f->t, sym), *at;

	if (!name)
		return;
	if ((at = strstr(name, legacy)) && at - name > 4 && strncmp(at - 4, "$GT$", 4) == 0) {
		/* The last component, its length and "_" before it. */
		const char *start = at;

		while (start > name && !(isdigit((unsigned char)start[-1]) && *start == '_'))
			start--;
		add_legacy(f, start + (*start == '_'), at, sym->st_value);
	} else if (strstr(name, trivial)) {
		*vec_push(f->trivial) = sym->st_value;
	} else if (strstr(name, closure_part)) {
		add_closure(f, name, sym->st_value);
	} else if ((at = strstr(name, v0))) {
		add_v0(f, name, at, sym->st_value);
	}
}

/* Once; false when there is no symbol table. */
static bool read_symbols(struct dwarf_module *dm)
{
	struct symtab table = symtab_of(dm), *t = &table;
	struct finder f = { .t = t,
		            .polls = &dm->poll_symbols,
		            .closures = &dm->closure_symbols,
		            .trivial = &dm->trivial,
		            .a = &dm->di->arena };

	SCRATCH(tmp);
	if (!t->data || dm->poll_symbols_read)
		return t->data != NULL;
	dm->poll_symbols_read = true;
	f.bloom = NEW_ARRAY(&tmp, uint64_t, BLOOM_BITS / 64);
	find_all_legacy(&f, dm);
	if (f.starts.n == 0)
		find_v0(&f);
	for (size_t i = 0; i < t->n; i++) {
		uint32_t name = t->data[i].st_name;

		if (ELF64_ST_TYPE(t->data[i].st_info) == STT_FUNC && t->data[i].st_value &&
		    (f.bloom[name % BLOOM_BITS / 64] >> name % 64 & 1) &&
		    map_has(&f.starts, (uint64_t)name + 1))
			add_symbol(&f, &t->data[i]);
	}
	LOG("dwarf", "%s: %zu names of poll functions in %zu symbols", dm->module->path, f.starts.n,
	    t->n);
	map_free(&f.starts);
	mapped_trim(dm);
	return true;
}

static void visit_all(struct dwarf_module *dm, struct poll_symbol *s, symtab_poll_fn *visit,
                      void *arg)
{
	for (; s; s = s->next) {
		if (!s->looked)
			s->unit = debuginfo_unit_at(dm, s->pc);
		s->looked = true;
		if (s->unit)
			visit(s->unit, arg);
	}
}

bool symtab_is_unoptimised(struct dwarf_module *dm, const struct unit *u)
{
	if (!u->crate_key || !read_symbols(dm))
		return false;
	for (size_t i = 0; i < dm->trivial.n; i++) {
		const struct unit *other = debuginfo_unit_at(dm, dm->trivial.data[i]);

		if (other && other->crate_key)
			map_put(&dm->unoptimised, other->crate_key, NULL);
	}
	dm->trivial.n = 0;
	return map_has(&dm->unoptimised, u->crate_key);
}

/* "Foo" of "app::Foo<T>"; the part of a pointer's or trait object's name that comes last. */
static const char *last_identifier(struct arena *a, const char *type_name)
{
	const char *last = qualified_last(type_name);
	size_t end = qualified_base_len(last), start;

	while (end && !is_identifier(last[end - 1]))
		end--;
	for (start = end; start && is_identifier(last[start - 1]);)
		start--;
	return end > start ? arena_strndup(a, last + start, end - start) : NULL;
}

bool symtab_each_poll(struct dwarf_module *dm, const char *type_name, symtab_poll_fn *visit,
                      void *arg)
{
	SCRATCH(tmp);
	const char *identifier = last_identifier(&tmp, type_name);

	if (!identifier || !read_symbols(dm))
		return false;
	visit_all(dm, map_get(&dm->poll_symbols, lookup_name_key(identifier)), visit, arg);
	return true;
}

bool symtab_each_closure(struct dwarf_module *dm, const char *function, symtab_poll_fn *visit,
                         void *arg)
{
	if (!read_symbols(dm))
		return false;
	visit_all(dm, map_get(&dm->closure_symbols, lookup_name_key(function)), visit, arg);
	return true;
}
