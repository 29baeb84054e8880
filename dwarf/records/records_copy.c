#include "dwarf/records/records_copy.h"

#include <stdlib.h>
#include <string.h>

#include "dwarf/names/qualified.h"
#include "dwarf/records/records_private.h"

enum key_kind {
	KEY_NUMBER,
	KEY_DIE,
	KEY_TEXT,     /* the record begins with the text and a number */
	KEY_TEXT_DIE, /* that number is a DIE */
	KEY_TEXT_NTH, /* it is fact_nth_key() of a DIE */
	KEY_TEXT_HOME /* it stands for a crate */
};

/*
 * What the records hold: n a number, s a text, D a DIE; *(...) that many of it as a number says
 * which comes first.
 */
static const struct {
	enum key_kind key;
	const char *content;
} forms[FACT_KINDS] = {
	[FACT_MODULE] = { KEY_NUMBER, "nsss" },
	[FACT_CRATE] = { KEY_TEXT, "s" },
	[FACT_TYPE] = { KEY_DIE, "nDsnnnn" },
	[FACT_DETAILS] = { KEY_DIE, "nssDn*(sDn)*(nsnDnsn)*(sn)" },
	[FACT_NAME] = { KEY_TEXT, "D" },
	[FACT_FUNCTION] = { KEY_DIE, "ssnn" },
	[FACT_PC] = { KEY_NUMBER, "D" },
	[FACT_PARAM] = { KEY_TEXT_DIE, "D" },
	[FACT_VARIABLE] = { KEY_TEXT_DIE, "D" },
	[FACT_ARGUMENT] = { KEY_DIE, "D" },
	[FACT_TLS] = { KEY_TEXT, "s*(nDs)" },
	[FACT_STATIC] = { KEY_TEXT, "Dn" },
	[FACT_VTABLE] = { KEY_NUMBER, "Dn" },
	[FACT_POLL] = { KEY_DIE, "s" },
	[FACT_AWAITEE] = { KEY_TEXT_NTH, "sn" },
	[FACT_HOME] = { KEY_DIE, "s" },
	[FACT_HAS_POLL] = { KEY_TEXT_HOME, "n" },
	[FACT_INSTANCES] = { KEY_TEXT_HOME, "*(sn)" },
	[FACT_LINES] = { KEY_NUMBER, "*(Dssssnn)" },
	[FACT_INLINED] = { KEY_NUMBER, "*(Dssssnn)" },
	[FACT_FRAME] = { KEY_NUMBER, "*(nn)*(sDDn*(nn))" },
	[FACT_CODE] = { KEY_NUMBER, "D" },
	[FACT_INLINES] = { KEY_DIE, "s*(nDsn*(nn))" },
	[FACT_GLOBALS] = { KEY_TEXT, "n*(sDnn)" },
	[FACT_DECLARED] = { KEY_TEXT_NTH, "snn" },
	[FACT_PLACE] = { KEY_DIE, "ssn" },
	[FACT_GENERICS] = { KEY_DIE, "*(sD)" },
	[FACT_HELD] = { KEY_NUMBER, "nn*(n)*(n)*(n)" },
	[FACT_CONTEXT] = { KEY_DIE, "n" },
	[FACT_EXECUTOR] = { KEY_NUMBER, "s" },
};

/* ---- a walk over a record ---- */

struct walk {
	struct fact from;
	void (*number)(struct walk *w, uint64_t number);
	void (*text)(struct walk *w, const char *text);
	void (*die)(struct walk *w, uint64_t die);
	void *arg;
};

/* The end of what stands in parentheses from open on. */
static const char *closing(const char *open)
{
	int depth = 0;

	for (const char *p = open; *p; p++) {
		depth += *p == '(';
		depth -= *p == ')';
		if (depth == 0)
			return p;
	}
	return open + strlen(open);
}

static void walk(struct walk *w, const char *content, const char *end)
{
	for (const char *p = content; p < end; p++) {
		const char *close;
		size_t n;

		switch (*p) {
		case 'n':
			w->number(w, fact_number(&w->from));
			break;
		case 's':
			w->text(w, fact_text(&w->from));
			break;
		case 'D':
			w->die(w, fact_number(&w->from));
			break;
		default:
			n = fact_count(&w->from);
			close = closing(p + 1);
			w->number(w, n);
			while (n--)
				walk(w, p + 2, close);
			p = close;
		}
	}
}

static void walk_content(struct walk *w, enum fact_kind kind)
{
	const char *content = forms[kind].content;

	walk(w, content, content + strlen(content));
}

/* ---- which types are one ---- */

struct node {
	uint64_t die, hash, next;
};

struct merger {
	const struct facts *from;
	VEC(struct node) nodes;
	struct map index; /* DIE -> index + 1 in nodes */
	struct map ids;   /* DIE -> number in the new facts */
	struct map names; /* hashes of the names of types */
	uint64_t last_id;
	struct facts *to;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 31;
}

struct hasher {
	struct merger *m;
	uint64_t hash;
};

static void hash_number(struct walk *w, uint64_t number)
{
	struct hasher *h = w->arg;

	h->hash = mix(h->hash, number + 1);
}

static void hash_text(struct walk *w, const char *text)
{
	struct hasher *h = w->arg;

	h->hash = mix(h->hash, 2);
	for (; text && *text; text++)
		h->hash = (h->hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
}

/* A type by what is known of it so far; what is no type here is only itself. */
static void hash_die(struct walk *w, uint64_t die)
{
	struct hasher *h = w->arg;
	uintptr_t at = die ? (uintptr_t)map_get(&h->m->index, die) : 0;

	h->hash = mix(h->hash, at ? h->m->nodes.data[at - 1].hash : die);
}

static uint64_t hash_of(struct merger *m, uint64_t die)
{
	static const enum fact_kind kinds[] = { FACT_TYPE, FACT_DETAILS, FACT_POLL, FACT_GENERICS };
	struct hasher h = { m, 1 };
	struct walk w = { .number = hash_number, .text = hash_text, .die = hash_die, .arg = &h };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		h.hash = mix(h.hash, i);
		if (fact_find(m->from, kinds[i], die, NULL, &w.from))
			walk_content(&w, kinds[i]);
	}
	return h.hash ? h.hash : 1;
}

static size_t count_hashes(const struct merger *m)
{
	struct map seen = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < m->nodes.n; i++)
		n += map_put(&seen, m->nodes.data[i].hash, NULL);
	map_free(&seen);
	return n;
}

/*
 * Rounds of hashing: after the nth, types differ in hash that differ within n steps. It is done
 * when a round tells no more apart than the one before.
 */
static void refine(struct merger *m)
{
	enum { MAX_ROUNDS = 1 << 16 }; /* as many as a chain of types is long */
	size_t before = 0;

	for (int round = 0; round < MAX_ROUNDS; round++) {
		for (size_t i = 0; i < m->nodes.n; i++)
			m->nodes.data[i].next = hash_of(m, m->nodes.data[i].die);
		for (size_t i = 0; i < m->nodes.n; i++)
			m->nodes.data[i].hash = m->nodes.data[i].next;
		size_t n = count_hashes(m);
		if (n == before)
			return;
		before = n;
	}
}

static int by_die(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	return x->die < y->die ? -1 : x->die > y->die;
}

static void find_nodes(struct merger *m)
{
	const struct map *types = &m->from->fresh[FACT_TYPE];

	for (size_t i = 0; i < types->capacity; i++) {
		if (types->slots[i].key)
			*vec_push(&m->nodes) = (struct node){ .die = types->slots[i].key };
	}
	if (m->nodes.n)
		qsort(m->nodes.data, m->nodes.n, sizeof(*m->nodes.data), by_die);
	for (size_t i = 0; i < m->nodes.n; i++)
		map_put(&m->index, m->nodes.data[i].die, (void *)(uintptr_t)(i + 1));
}

/* One number for all types that are the same. */
static void number_types(struct merger *m)
{
	struct map first = { 0 };

	for (size_t i = 0; i < m->nodes.n; i++) {
		struct node *node = &m->nodes.data[i];
		uintptr_t id = (uintptr_t)map_get(&first, node->hash);

		if (!id) {
			id = (uintptr_t)++m->last_id;
			map_put(&first, node->hash, (void *)id);
		}
		map_put(&m->ids, node->die, (void *)id);
	}
	map_free(&first);
}

static uint64_t id_of(struct merger *m, uint64_t die)
{
	if (die == 0)
		return 0;
	if (!map_has(&m->ids, die))
		map_put(&m->ids, die, (void *)(uintptr_t)++m->last_id);
	return (uintptr_t)map_get(&m->ids, die);
}

/* ---- the copy ---- */

struct copier {
	struct merger *m;
	struct fact_draft draft;
};

static void copy_number(struct walk *w, uint64_t number)
{
	fact_add_number(&((struct copier *)w->arg)->draft, number);
}

static void copy_text(struct walk *w, const char *text)
{
	fact_add_text(&((struct copier *)w->arg)->draft, text);
}

static void copy_die(struct walk *w, uint64_t die)
{
	struct copier *c = w->arg;

	fact_add_number(&c->draft, id_of(c->m, die));
}

/* Drop glue is worth its place when it is of a type that is known. */
static bool is_of_use(const struct merger *m, const char *path, const char *name)
{
	SCRATCH(tmp);

	if (strcmp(path, DROP_GLUE) != 0)
		return true;
	const char *type = qualified_first_generic(&tmp, name);
	return type && map_has(&m->names, map_key_of_text(type));
}

typedef VEC(struct {
	const char *name;
	uint64_t has_code;
}) instance_vec;

static void read_instances(const struct merger *m, const char *path, struct fact from,
                           instance_vec *ret)
{
	for (size_t n = fact_count(&from); n; n--) {
		const char *name = fact_text(&from);
		uint64_t has_code = fact_number(&from);

		if (!name || !is_of_use(m, path, name))
			continue;
		__typeof__(ret->data) one = vec_push(ret);
		one->name = name;
		one->has_code = has_code;
	}
}

static void write_instances(struct merger *m, const char *path, uint64_t home,
                            const instance_vec *found)
{
	struct fact_draft d;

	fact_begin(&d, m->to, FACT_INSTANCES, home, path);
	fact_add_number(&d, found->n);
	for (size_t i = 0; i < found->n; i++) {
		fact_add_text(&d, found->data[i].name);
		fact_add_number(&d, found->data[i].has_code);
	}
	fact_end(&d);
}

/* Those of one crate for who asks by a function, and those of all crates. */
static void copy_instances(struct merger *m, const char *path, uint64_t home, struct fact from)
{
	instance_vec found = { 0 };
	struct fact before;

	read_instances(m, path, from, &found);
	if (home && strcmp(path, DROP_GLUE) != 0)
		write_instances(m, path, home, &found);
	if (fact_find(m->to, FACT_INSTANCES, 0, path, &before))
		read_instances(m, path, before, &found);
	write_instances(m, path, 0, &found);
	vec_free(&found);
}

static void copy_record(enum fact_kind kind, uint64_t key, struct fact from, void *arg)
{
	struct merger *m = arg;
	struct copier c = { .m = m };
	struct walk w = {
		.from = from, .number = copy_number, .text = copy_text, .die = copy_die, .arg = &c
	};
	const char *text = NULL;
	struct fact known;

	/* A file of layout is for other builds of asyncdbg too. */
	if (kind == FACT_HELD || (kind == FACT_HOME && map_has(&m->index, key)))
		return;
	if (forms[kind].key >= KEY_TEXT) {
		text = fact_text(&w.from);
		key = fact_number(&w.from);
		if (!text)
			return;
	}
	if (forms[kind].key == KEY_DIE || forms[kind].key == KEY_TEXT_DIE)
		key = id_of(m, key);
	else if (forms[kind].key == KEY_TEXT_NTH)
		key = fact_nth_key(id_of(m, fact_nth_die(key)), fact_nth_number(key));
	else if (kind == FACT_HAS_POLL)
		key = 0;
	struct fact answer = w.from;
	if (kind == FACT_HAS_POLL && !fact_number(&answer))
		return; /* what the file does not know is not there */
	if (kind == FACT_INSTANCES) {
		copy_instances(m, text, key, w.from);
		return;
	}
	/* Of the same type one is enough. */
	if (fact_find(m->to, kind, key, text, &known))
		return;
	fact_begin(&c.draft, m->to, kind, key, text);
	walk_content(&w, kind);
	fact_end(&c.draft);
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* In the order of the keys, so that the same facts make the same file. */
static void each_record(const struct facts *f, enum fact_kind kind,
                        void (*visit)(enum fact_kind kind, uint64_t key, struct fact from,
                                      void *arg),
                        void *arg)
{
	const struct map *records = &f->fresh[kind];
	VEC(uint64_t) keys = { 0 };

	for (size_t i = 0; i < records->capacity; i++) {
		if (records->slots[i].key)
			*vec_push(&keys) = records->slots[i].key;
	}
	if (keys.n)
		qsort(keys.data, keys.n, sizeof(*keys.data), by_number);
	for (size_t i = 0; i < keys.n; i++) {
		const struct fresh *r = map_get(records, keys.data[i]);
		struct fact from = { { r->bytes, r->bytes + r->size, false }, f };

		visit(kind, keys.data[i], from, arg);
	}
	vec_free(&keys);
}

/*
 * A name leads to its type, whether it was asked for or not, where it may be asked for: of the lock
 * that a thread waits in only the method is known.
 */
static void name_types(struct merger *m)
{
	static const char *const locks[] = { "std::sync::", "parking_lot::", "lock_api::" };

	for (size_t i = 0; i < m->nodes.n; i++) {
		struct fact_draft d;
		struct fact fact;
		const char *name;

		if (!fact_find(m->from, FACT_TYPE, m->nodes.data[i].die, NULL, &fact) ||
		    fact_number(&fact) != 0 /* a declaration, or an alias */)
			continue;
		fact_number(&fact);
		name = fact_text(&fact);
		if (!name)
			continue;
		map_put(&m->names, map_key_of_text(name), NULL);
		bool wanted = false;
		for (size_t j = 0; j < sizeof(locks) / sizeof(*locks); j++)
			wanted |= strncmp(name, locks[j], strlen(locks[j])) == 0;
		if (!wanted || fact_find(m->to, FACT_NAME, 0, name, &fact))
			continue;
		fact_begin(&d, m->to, FACT_NAME, 0, name);
		fact_add_number(&d, id_of(m, m->nodes.data[i].die));
		fact_end(&d);
	}
}

struct facts *facts_merged(const struct facts *f, size_t ntypes[2])
{
	struct merger m = { .from = f, .to = facts_new() };

	find_nodes(&m);
	refine(&m);
	number_types(&m);
	if (ntypes) {
		ntypes[0] = m.nodes.n;
		ntypes[1] = (size_t)m.last_id;
	}
	for (size_t kind = 0; kind < FACT_KINDS; kind++) {
		each_record(f, (enum fact_kind)kind, copy_record, &m);
		if (kind == FACT_NAME)
			name_types(&m);
	}
	vec_free(&m.nodes);
	map_free(&m.index);
	map_free(&m.ids);
	map_free(&m.names);
	return m.to;
}
