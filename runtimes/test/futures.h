/*
 * For tests: futures in fake memory, decoded as the futures of a task are. Their types are those of
 * testdata/unit/futures.rs; a test pokes what a program would have there.
 */
#ifndef RUNTIMES_TEST_FUTURES_H
#define RUNTIMES_TEST_FUTURES_H

#include "dwarf/test/module.h"
#include "runtimes/common/inspector.h"
#include "runtimes/future/future.h"
#include "runtimes/inspect/inspect.h"

enum {
	FUTURES_ROOT = 0x7000000,  /* the future that is decoded */
	FUTURES_OTHER = 0x7001000, /* what it refers to */
	FUTURES_SIZE = 0x2000,
	FUTURES_HOLE = 0x9000000, /* nothing is mapped there */
};

struct futures {
	struct fixture fixture;
	struct inspector *in;
	struct collector *c;
};

static inline struct futures futures_open_file(const char *path)
{
	static const char zeros[FUTURES_SIZE];
	struct futures f = { .fixture = fixture_open_file(path) };

	target_fake_map(f.fixture.target, FUTURES_ROOT, zeros, sizeof(zeros));
	f.fixture.target->modules.main->tls_memsz = 8; /* tokio's CONTEXT */
	debuginfo_close(f.fixture.di);                 /* the inspector has one of its own */
	f.fixture.di = NULL;
	fail_on(inspector_open(f.fixture.target, NULL, &f.in));
	f.fixture.dm = debuginfo_module(f.in->di, f.fixture.target->modules.main);
	f.c = collector_new(f.in, 0, NULL);
	return f;
}

static inline struct futures futures_open(void)
{
	return futures_open_file("testdata/unit/futures.elf");
}

static inline void futures_close(struct futures *f)
{
	snapshot_free(collector_finish(f->c));
	inspector_close(f->in);
	target_close(f->fixture.target);
	arena_free(&f->fixture.arena);
}

static inline struct value futures_value(struct futures *f, const char *type, uint64_t addr)
{
	return (struct value){ must_find(&f->fixture, type), addr };
}

/* The place of a member, "node.state", by names alone. */
static inline struct value futures_member(struct value v, const char *path)
{
	char name[64];

	while (*path) {
		size_t n = strcspn(path, ".");

		snprintf(name, sizeof(name), "%.*s", (int)n, path);
		const struct member *m = type_member(v.type, name);
		if (!m)
			fail_msg("no member %s in %s", name, type_name(v.type));
		v = (struct value){ m->type, v.addr + m->offset };
		path += n + (path[n] == '.');
	}
	return v;
}

/* The run-time address of what has that name in the debug info. */
static inline uint64_t futures_address_of(struct futures *f, const char *name)
{
	struct dwarf_module *dm = f->fixture.dm;

	for (size_t i = 0; i < dm->nunits; i++) {
		struct unit *u = &dm->units[i];

		debuginfo_scan(dm, u);
		for (uint32_t j = 0; j < u->found.nscopes; j++) {
			struct scope s = scan_scope(&dm->sections, u, j);

			if (s.name && strcmp(s.name, name) == 0)
				return s.low + BIAS;
		}
	}
	fail_msg("no %s", name);
	return 0;
}

/* Sets the active variant of an enum or coroutine and returns its members. */
static inline struct value futures_variant(struct futures *f, struct value v, const char *name)
{
	const struct variant *variant = type_variant(v.type, name);
	const struct member *discr = type_discr(v.type);

	if (!variant)
		fail_msg("no variant %s in %s", name, type_name(v.type));
	target_fake_poke(f->fixture.target, v.addr + discr->offset, &variant->discr,
	                 type_size(discr->type));
	return (struct value){ variant->payload, v.addr };
}

/* Writes a number into a member: as many bytes as it has. */
static inline void futures_poke(struct futures *f, struct value v, const char *path,
                                uint64_t number)
{
	struct value m = futures_member(v, path);
	uint64_t size = type_size(m.type);

	target_fake_poke(f->fixture.target, m.addr, &number, size < 8 ? size : 8);
}

static inline struct future *futures_decode(struct futures *f, struct value v)
{
	struct decoder d = { .c = f->c };

	return future_decode(&d, v);
}

/* As the future of an idle task whose wakers have that data. forgotten: it has no waker. */
static inline struct future *futures_decode_of(struct futures *f, struct value v, uint64_t waker,
                                               bool forgotten)
{
	struct decoder d = { .c = f->c, .waker = waker, .idle = true, .forgotten = forgotten };

	return future_decode(&d, v);
}

/* What a leaf waits for, as people read it. */
static inline void futures_expect(struct futures *f, struct value v, const char *kind,
                                  const char *phrase)
{
	struct future *future = futures_decode(f, v);

	if (future->problem)
		fail_msg("%s", future->problem);
	assert_non_null(future->wait);
	assert_string_equal(future->wait->kind, kind);
	assert_string_equal(future->wait->phrase, phrase);
}

/* One that cannot be read says why. */
static inline void futures_expect_problem(struct futures *f, struct value v, const char *text)
{
	struct future *future = futures_decode(f, v);

	if (!future->problem || !strstr(future->problem, text))
		fail_msg("problem: %s", future->problem ? future->problem : "none");
}

static inline const struct wait_detail *futures_detail(const struct future *f, const char *key)
{
	for (size_t i = 0; f->wait && i < f->wait->ndetails; i++) {
		if (strcmp(f->wait->details[i].key, key) == 0)
			return &f->wait->details[i];
	}
	fail_msg("no detail %s", key);
	return NULL;
}

#endif
