/*
 * For tests: values of testdata/unit/owned.rs in fake memory, and what the search for owners finds
 * in them.
 */
#ifndef RUNTIMES_TEST_OWNED_H
#define RUNTIMES_TEST_OWNED_H

#include "debugger/base/str.h"
#include "runtimes/ownership/ownership.h"
#include "runtimes/test/futures.h"

enum {
	LOCK = FUTURES_OTHER + 0xf00, /* the lock that guards refer to */
	HEAP = FUTURES_OTHER,         /* what a variable owns there */
	LARGE = 0x8000000,            /* more of it */
	VALUES = FUTURES_ROOT,        /* an owned::Values, whose members are variables */
};

#define GUARD "std::sync::poison::mutex::MutexGuard<u32>"

struct owned {
	struct futures f;
	struct value values;
	struct str text; /* of the last search */
};

static inline struct owned owned_open(void)
{
	struct owned o = { .f = futures_open_file("testdata/unit/owned.elf") };

	o.f.c->want = WANT_OWNERS;
	o.values = futures_value(&o.f, "owned::Values", VALUES);
	return o;
}

static inline void owned_close(struct owned *o)
{
	str_free(&o->text);
	futures_close(&o->f);
}

static inline void write_word(struct owned *o, uint64_t addr, uint64_t word)
{
	target_fake_poke(o->f.fixture.target, addr, &word, 8);
}

/*
 * Puts a guard of the lock into a place, which may be an Option of one: None is the guard that
 * refers to nothing.
 */
static inline void guard_at(struct owned *o, struct value v)
{
	struct value guard = { must_find(&o->f.fixture, GUARD), v.addr };

	write_word(o, futures_member(guard, "lock").addr, LOCK);
}

static inline struct value variable_of(struct owned *o, const char *name)
{
	return futures_member(o->values, name);
}

static inline uint64_t guard_size(struct owned *o)
{
	return type_size(must_find(&o->f.fixture, GUARD));
}

static inline void none_at(struct owned *o, uint64_t addr)
{
	futures_variant(
		&o->f,
		(struct value){ must_find(&o->f.fixture, "core::option::Option<" GUARD ">"), addr },
		"None");
}

/* n guards in a row. */
static inline void guards_at(struct owned *o, uint64_t addr, size_t n)
{
	struct value v = { variable_of(o, "pair.first").type, addr };

	for (size_t i = 0; i < n; i++, v.addr += type_size(v.type))
		guard_at(o, v);
}

static inline void pair_at(struct owned *o, uint64_t addr)
{
	struct value pair = { must_find(&o->f.fixture, "owned::Pair"), addr };

	guard_at(o, futures_member(pair, "first"));
	guard_at(o, futures_member(pair, "second"));
}

/* The findings in order, "std_mutex pair.first; io socket #5?", then what was not searched. */
static inline const char *take_findings(struct owned *o)
{
	struct ownership_data *all = o->f.c->holdings;

	str_free(&o->text);
	for (size_t i = 0; i < all->list.n; i++) {
		const struct holding *h = &all->list.data[i].h;

		str_printf(&o->text, "%s%s %s", i ? "; " : "", h->kind, h->path ? h->path : "-");
		if (h->role == HOLDING_DESCRIPTOR)
			str_printf(&o->text, " #%d", h->fd);
		str_printf(&o->text, "%s%s%s", h->shared ? " shared" : "", h->uncertain ? "?" : "",
		           all->list.data[i].trace ? "?" : "");
	}
	for (size_t i = 0; i < all->unsearched.n; i++)
		str_printf(&o->text, " | %s", all->unsearched.data[i]);
	all->list.n = all->unsearched.n = 0;
	map_free(&all->noted);
	map_free(&all->shared);
	return str_text(&o->text);
}

static inline void search_variable(struct owned *o, struct value v, const char *name,
                                   bool uncertain)
{
	ownership_walk_variable(
		o->f.c, &(struct ownership_start){ .name = name, .v = v, .uncertain = uncertain });
}

static inline void expect_in(struct owned *o, const char *name, const char *expected)
{
	search_variable(o, variable_of(o, name), name, false);
	assert_string_equal(take_findings(o), expected);
}

static inline void expect_uncertain_in(struct owned *o, const char *name, const char *expected)
{
	search_variable(o, variable_of(o, name), name, true);
	assert_string_equal(take_findings(o), expected);
}

static inline void fill_list(struct owned *o, struct value list, uint64_t addr, uint64_t n)
{
	futures_poke(&o->f, list, "buf.inner.ptr.pointer.pointer", addr);
	futures_poke(&o->f, list, "buf.inner.cap.__0", n);
	futures_poke(&o->f, list, "len", n);
}

#endif
