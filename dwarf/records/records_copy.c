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
	KEY_TEXT_NTH, /* it is record_nth_key() of a DIE */
	KEY_TEXT_HOME /* the number identifies a crate */
};

/*
 * The content of each kind of record: n is a number, s a text, D a DIE; *(...) is a count and then
 * as many repetitions of the content in parentheses.
 */
static const struct {
	enum key_kind key;
	const char *content;
} forms[RECORD_KINDS] = {
	[RECORD_MODULE] = { KEY_NUMBER, "nsssnss" },
	[RECORD_CRATE] = { KEY_TEXT, "s" },
	[RECORD_TYPE] = { KEY_DIE, "nDsnnnn" },
	[RECORD_DETAILS] = { KEY_DIE, "nssDn*(sDn)*(nsnDnsn)*(sn)" },
	[RECORD_NAME] = { KEY_TEXT, "D" },
	[RECORD_FUNCTION] = { KEY_DIE, "ssnn" },
	[RECORD_PC] = { KEY_NUMBER, "D" },
	[RECORD_PARAM] = { KEY_TEXT_DIE, "D" },
	[RECORD_VARIABLE] = { KEY_TEXT_DIE, "D" },
	[RECORD_ARGUMENT] = { KEY_DIE, "D" },
	[RECORD_TLS] = { KEY_TEXT, "s*(nDs)" },
	[RECORD_STATIC] = { KEY_TEXT, "Dn" },
	[RECORD_VTABLE] = { KEY_NUMBER, "Dn" },
	[RECORD_POLL] = { KEY_DIE, "s" },
	[RECORD_AWAITEE] = { KEY_TEXT_NTH, "sn" },
	[RECORD_HOME] = { KEY_DIE, "s" },
	[RECORD_HAS_POLL] = { KEY_TEXT_HOME, "n" },
	[RECORD_INSTANCES] = { KEY_TEXT_HOME, "*(sn)" },
	[RECORD_LINES] = { KEY_NUMBER, "*(Dssssnn)" },
	[RECORD_INLINED] = { KEY_NUMBER, "*(Dssssnn)" },
	[RECORD_FRAME] = { KEY_NUMBER, "*(nn)*(sDDn*(nn))" },
	[RECORD_CODE] = { KEY_NUMBER, "D" },
	[RECORD_INLINES] = { KEY_DIE, "s*(nDsn*(nn))" },
	[RECORD_GLOBALS] = { KEY_TEXT, "n*(sDnn)" },
	[RECORD_DECLARED] = { KEY_TEXT_NTH, "snn" },
	[RECORD_PLACE] = { KEY_DIE, "ssn" },
	[RECORD_GENERICS] = { KEY_DIE, "*(sD)" },
	[RECORD_HELD] = { KEY_NUMBER, "nn*(n)*(n)*(n)" },
	[RECORD_CONTEXT] = { KEY_DIE, "n" },
	[RECORD_EXECUTOR] = { KEY_NUMBER, "s" },
};

/* ---- a walk over a record ---- */

struct records_copy_walk {
	struct record from;
	void (*number)(struct records_copy_walk *w, uint64_t number);
	void (*text)(struct records_copy_walk *w, const char *text);
	void (*die)(struct records_copy_walk *w, uint64_t die);
	void *arg;
};

/* The parenthesis that closes the one at open. */
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

static void records_copy_walk(struct records_copy_walk *w, const char *content, const char *end)
{
	for (const char *p = content; p < end; p++) {
		const char *close;
		size_t n;

		switch (*p) {
		case 'n':
			w->number(w, record_number(&w->from));
			break;
		case 's':
			w->text(w, record_text(&w->from));
			break;
		case 'D':
			w->die(w, record_number(&w->from));
			break;
		default:
			n = record_count(&w->from);
			close = closing(p + 1);
			w->number(w, n);
			while (n--)
				records_copy_walk(w, p + 2, close);
			p = close;
		}
	}
}

static void walk_content(struct records_copy_walk *w, enum record_kind kind)
{
	const char *content = forms[kind].content;

	records_copy_walk(w, content, content + strlen(content));
}

/* ---- find equal types ---- */

struct records_copy_node {
	uint64_t die, hash, next;
};

struct merger {
	const struct records *from;
	VEC(struct records_copy_node) nodes;
	struct map index; /* DIE -> index + 1 in nodes */
	struct map ids;   /* DIE -> number in the new records */
	struct map names; /* hashes of the names of types */
	uint64_t last_id;
	struct records *to;
};

static uint64_t records_copy_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 31;
}

struct hasher {
	struct merger *m;
	uint64_t hash;
};

static void hash_number(struct records_copy_walk *w, uint64_t number)
{
	struct hasher *h = w->arg;

	h->hash = records_copy_mix(h->hash, number + 1);
}

static void hash_text(struct records_copy_walk *w, const char *text)
{
	struct hasher *h = w->arg;

	h->hash = records_copy_mix(h->hash, 2);
	for (; text && *text; text++)
		h->hash = (h->hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
}

/*
 * Hashes a referenced type by its current hash. A DIE that is no known type is hashed by its
 * offset.
 */
static void hash_die(struct records_copy_walk *w, uint64_t die)
{
	struct hasher *h = w->arg;
	uintptr_t at = die ? (uintptr_t)map_get(&h->m->index, die) : 0;

	h->hash = records_copy_mix(h->hash, at ? h->m->nodes.data[at - 1].hash : die);
}

static uint64_t hash_of(struct merger *m, uint64_t die)
{
	static const enum record_kind kinds[] = { RECORD_TYPE, RECORD_DETAILS, RECORD_POLL,
		                                  RECORD_GENERICS };
	struct hasher h = { m, 1 };
	struct records_copy_walk w = {
		.number = hash_number, .text = hash_text, .die = hash_die, .arg = &h
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		h.hash = records_copy_mix(h.hash, i);
		if (record_find(m->from, kinds[i], die, NULL, &w.from))
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
 * Hashes in rounds: after round n the hashes of two types differ if the types differ within n
 * references. Stops when a round separates no more types than the round before.
 */
static void refine(struct merger *m)
{
	enum { MAX_ROUNDS = 1 << 16 }; /* the longest chain of references between types */
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
	const struct records_copy_node *x = a, *y = b;

	return x->die < y->die ? -1 : x->die > y->die;
}

static void find_nodes(struct merger *m)
{
	const struct map *types = &m->from->fresh[RECORD_TYPE];

	for (size_t i = 0; i < types->capacity; i++) {
		if (types->slots[i].key)
			*vec_push(&m->nodes) =
				(struct records_copy_node){ .die = types->slots[i].key };
	}
	if (m->nodes.n)
		qsort(m->nodes.data, m->nodes.n, sizeof(*m->nodes.data), by_die);
	for (size_t i = 0; i < m->nodes.n; i++)
		map_put(&m->index, m->nodes.data[i].die, (void *)(uintptr_t)(i + 1));
}

/* Gives all equal types one number. */
static void number_types(struct merger *m)
{
	struct map first = { 0 };

	for (size_t i = 0; i < m->nodes.n; i++) {
		struct records_copy_node *node = &m->nodes.data[i];
		uintptr_t id = (uintptr_t)map_get(&first, node->hash);

		if (!id) {
			id = (uintptr_t)++m->last_id;
			map_put(&first, node->hash, (void *)id);
		}
		map_put(&m->ids, node->die, (void *)id);
	}
	map_free(&first);
}

static uint64_t records_copy_id_of(struct merger *m, uint64_t die)
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
	struct record_writer writer;
};

static void copy_number(struct records_copy_walk *w, uint64_t number)
{
	record_add_number(&((struct copier *)w->arg)->writer, number);
}

static void copy_text(struct records_copy_walk *w, const char *text)
{
	record_add_text(&((struct copier *)w->arg)->writer, text);
}

static void copy_die(struct records_copy_walk *w, uint64_t die)
{
	struct copier *c = w->arg;

	record_add_number(&c->writer, records_copy_id_of(c->m, die));
}

static bool records_copy_is_drop(const char *path)
{
	return strcmp(path, DROP_GLUE) == 0 || strcmp(path, OWN_DROP) == 0;
}

/*
 * Whether an instance is kept: that of a function that drops a value only if it drops a known type.
 */
static bool is_of_use(const struct merger *m, const char *path, const char *name)
{
	SCRATCH(tmp);

	if (!records_copy_is_drop(path))
		return true;
	const char *type = qualified_first_generic(&tmp, name);
	return type && map_has(&m->names, map_key_of_text(type));
}

typedef VEC(struct {
	const char *name;
	uint64_t has_code;
}) instance_vec;

static void read_instances(const struct merger *m, const char *path, struct record from,
                           instance_vec *ret)
{
	for (size_t n = record_count(&from); n; n--) {
		const char *name = record_text(&from);
		uint64_t has_code = record_number(&from);

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
	struct record_writer d;

	record_begin(&d, m->to, RECORD_INSTANCES, home, path);
	record_add_number(&d, found->n);
	for (size_t i = 0; i < found->n; i++) {
		record_add_text(&d, found->data[i].name);
		record_add_number(&d, found->data[i].has_code);
	}
	record_end(&d);
}

/*
 * Writes the instances of one crate, for look-ups that start from a function, and adds them to
 * those of all crates.
 */
static void copy_instances(struct merger *m, const char *path, uint64_t home, struct record from)
{
	instance_vec found = { 0 };
	struct record before;

	read_instances(m, path, from, &found);
	if (home && !records_copy_is_drop(path))
		write_instances(m, path, home, &found);
	if (record_find(m->to, RECORD_INSTANCES, 0, path, &before))
		read_instances(m, path, before, &found);
	write_instances(m, path, 0, &found);
	vec_free(&found);
}

static void copy_record(enum record_kind kind, uint64_t key, struct record from, void *arg)
{
	struct merger *m = arg;
	struct copier c = { .m = m };
	struct records_copy_walk w = {
		.from = from, .number = copy_number, .text = copy_text, .die = copy_die, .arg = &c
	};
	const char *text = NULL;
	struct record known;

	/* A layout file serves other builds of asyncdbg too. */
	if (kind == RECORD_HELD || (kind == RECORD_HOME && map_has(&m->index, key)))
		return;
	if (forms[kind].key >= KEY_TEXT) {
		text = record_text(&w.from);
		key = record_number(&w.from);
		if (!text)
			return;
	}
	if (forms[kind].key == KEY_DIE || forms[kind].key == KEY_TEXT_DIE)
		key = records_copy_id_of(m, key);
	else if (forms[kind].key == KEY_TEXT_NTH)
		key = record_nth_key(records_copy_id_of(m, record_nth_die(key)),
		                     record_nth_number(key));
	else if (kind == RECORD_HAS_POLL)
		key = 0;
	struct record answer = w.from;
	if (kind == RECORD_HAS_POLL && !(record_number(&answer) & POLLED_BITS))
		return; /* absence from the file already means no */
	if (kind == RECORD_INSTANCES && strcmp(text, UNMERGED_CODE) == 0)
		return; /* true of one crate, which a type of a layout file does not have */
	if (kind == RECORD_INSTANCES) {
		copy_instances(m, text, key, w.from);
		return;
	}
	/* A single record is enough for equal types. */
	if (record_find(m->to, kind, key, text, &known))
		return;
	record_begin(&c.writer, m->to, kind, key, text);
	walk_content(&w, kind);
	record_end(&c.writer);
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Visits in ascending order of keys, so that equal records produce equal files. */
static void each_record(const struct records *f, enum record_kind kind,
                        void (*visit)(enum record_kind kind, uint64_t key, struct record from,
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
		struct record from = { { r->bytes, r->bytes + r->size, false }, f };

		visit(kind, keys.data[i], from, arg);
	}
	vec_free(&keys);
}

/*
 * Adds RECORD_NAME for types that a later look-up may request by name, whether it was requested in
 * this run or not: of a lock that a thread waits for, only the method is known.
 */
static void name_types(struct merger *m)
{
	static const char *const locks[] = { "std::sync::", "parking_lot::", "lock_api::" };

	for (size_t i = 0; i < m->nodes.n; i++) {
		struct record_writer d;
		struct record record;
		const char *name;

		if (!record_find(m->from, RECORD_TYPE, m->nodes.data[i].die, NULL, &record) ||
		    record_number(&record) != 0 /* a declaration, or an alias */)
			continue;
		record_number(&record);
		name = record_text(&record);
		if (!name)
			continue;
		map_put(&m->names, map_key_of_text(name), NULL);
		bool wanted = false;
		for (size_t j = 0; j < sizeof(locks) / sizeof(*locks); j++)
			wanted |= strncmp(name, locks[j], strlen(locks[j])) == 0;
		if (!wanted || record_find(m->to, RECORD_NAME, 0, name, &record))
			continue;
		record_begin(&d, m->to, RECORD_NAME, 0, name);
		record_add_number(&d, records_copy_id_of(m, m->nodes.data[i].die));
		record_end(&d);
	}
}

struct records *records_merged(const struct records *f, size_t ntypes[2])
{
	struct merger m = { .from = f, .to = records_new() };

	find_nodes(&m);
	refine(&m);
	number_types(&m);
	if (ntypes) {
		ntypes[0] = m.nodes.n;
		ntypes[1] = (size_t)m.last_id;
	}
	for (size_t kind = 0; kind < RECORD_KINDS; kind++) {
		each_record(f, (enum record_kind)kind, copy_record, &m);
		if (kind == RECORD_NAME)
			name_types(&m);
	}
	vec_free(&m.nodes);
	map_free(&m.index);
	map_free(&m.ids);
	map_free(&m.names);
	return m.to;
}
