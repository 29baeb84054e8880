/* For tests of values: memory for one value of a type of shapes.elf, or of another fixture. */
#ifndef DWARF_TEST_PLACES_H
#define DWARF_TEST_PLACES_H

#include "dwarf/test/module.h"
#include "dwarf/values/value.h"

enum {
	PLACE = 0x7000000,     /* of the value */
	ELSEWHERE = 0x7100000, /* what it refers to */
	PLACE_SIZE = 4096,     /* of each */
	HOLE = 0x9000000,      /* not mapped */
};

static inline void places_map(struct fixture *f)
{
	static const char zeros[PLACE_SIZE];

	target_fake_map(f->target, PLACE, zeros, sizeof(zeros));
	target_fake_map(f->target, ELSEWHERE, zeros, sizeof(zeros));
}

/* For cmocka: shapes_setup() with this memory. */
static inline int places_setup(void **state)
{
	int failed = shapes_setup(state);

	if (!failed)
		places_map(*state);
	return failed;
}

/* A place of that type; all memory is zero again. */
static inline struct value place_of(struct fixture *f, const char *name)
{
	static const char zeros[PLACE_SIZE];
	const struct type *t = must_find(f, name);

	assert_true(type_size(t) <= sizeof(zeros));
	target_fake_poke(f->target, PLACE, zeros, sizeof(zeros));
	target_fake_poke(f->target, ELSEWHERE, zeros, sizeof(zeros));
	return (struct value){ t, PLACE };
}

static inline void poke(struct fixture *f, uint64_t addr, uint64_t number, size_t size)
{
	target_fake_poke(f->target, addr, &number, size);
}

static inline struct value member(struct value v, const char *name)
{
	const struct member *m = type_member(v.type, name);

	if (!m)
		fail_msg("no member %s in %s", name, type_name(v.type));
	return (struct value){ m->type, v.addr + m->offset };
}

#endif
