/*
 * For tests: a fake target with one module, an ELF file with debug info. Its memory is what the
 * test maps. shapes.elf is testdata/unit/shapes.rs,
 * values.elf values.rs beside it.
 */
#ifndef DWARF_TEST_MODULE_H
#define DWARF_TEST_MODULE_H

#include <elf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include "debugger/target/module.h"
#include "debugger/test/target_fake.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/module/debuginfo.h"
#include "dwarf/store/open.h"
#include "dwarf/test/bytes.h"
#include "dwarf/test/hand_file.h"
#include "dwarf/types/type.h"

/* Run-time addresses are link-time ones plus this. */
enum { BIAS = 0x10000000 };

struct fixture {
	struct target *target;
	struct debuginfo *di;
	struct dwarf_module *dm;
	struct arena arena;
};

static inline int no_file(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
                          char **file, Elf **elf)
{
	(void)mod, (void)userdata, (void)name, (void)base, (void)file, (void)elf;
	return -1;
}

static inline void fail_on(struct error *err)
{
	if (err)
		fail_msg("%s", err->message);
}

/* Takes fd; [low, high) are the module's link-time addresses. */
static inline struct fixture fixture_open(int fd, uint64_t low, uint64_t high)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = no_file,
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};
	struct fixture f = { .target = target_fake_open() };
	struct target *t = f.target;
	struct module *m = NEW(&t->arena, struct module);

	t->dwfl = dwfl_begin(&callbacks);
	dwfl_report_begin(t->dwfl);
	*m = (struct module){ .path = "module",
		              .file = "module",
		              .start = low + BIAS,
		              .end = high + BIAS,
		              .bias = BIAS,
		              .is_main = true,
		              .fd = -1 };
	m->dwfl = dwfl_report_elf(t->dwfl, "module", "module", fd, BIAS, true);
	if (!m->dwfl)
		fail_msg("%s", dwfl_errmsg(-1));
	dwfl_report_end(t->dwfl, NULL, NULL);
	t->modules.data = NEW_ARRAY(&t->arena, struct module *, 2);
	*t->modules.data = t->modules.main = m;
	t->modules.n = 1;
	fail_on(dwarf_open(t, &f.di));
	f.dm = debuginfo_module(f.di, m);
	assert_non_null(f.dm);
	return f;
}

static inline void fixture_close(struct fixture *f)
{
	debuginfo_close(f->di);
	target_close(f->target);
	arena_free(&f->arena);
}

/* All scopes of the module's first unit, as their DIEs have them; *nret of them. */
static inline const struct scope *read_scopes(struct fixture *f, size_t *nret)
{
	struct unit *u = &f->dm->units[0];

	debuginfo_scan(f->dm, u);
	struct scope *ret = NEW_ARRAY(&f->arena, struct scope, u->found.nscopes);
	for (size_t i = 0; i < u->found.nscopes; i++)
		ret[i] = scan_scope(&f->dm->sections, u, (uint32_t)i);
	*nret = u->found.nscopes;
	return ret;
}

/* path: below the sources. */
static inline struct fixture fixture_open_file(const char *path)
{
	char whole[4096];

	snprintf(whole, sizeof(whole), "%s/%s", getenv("SOURCE_DIR"), path);
	int fd = open(whole, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail_msg("%s cannot be opened", whole);
	return fixture_open(fd, 0x400000, 0x500000);
}

static inline struct fixture shapes_open(void)
{
	return fixture_open_file("testdata/unit/shapes.elf");
}

/* Types of std. */
static inline struct fixture values_open(void)
{
	return fixture_open_file("testdata/unit/values.elf");
}

/* For cmocka: the fixture that the tests of a file share. */
static inline int shapes_setup(void **state)
{
	struct fixture *f = malloc(sizeof(*f));

	if (!f)
		return -1;
	*f = shapes_open();
	*state = f;
	return 0;
}

static inline int shapes_teardown(void **state)
{
	if (*state)
		fixture_close(*state);
	free(*state);
	return 0;
}

enum { HAND_LOW = 0x1000, HAND_HIGH = 0x9000 };

/* Sections of an ELF file made by hand; data of NULL: left out. */
struct hand_made {
	struct bytes info, abbrev, str, line, aranges, ranges;
};

/* The file with these sections, in memory. */
static inline int hand_made_file(const struct hand_made *h)
{
	const struct hand_section sections[] = {
		{ ".debug_info", section_of_bytes(&h->info), 0 },
		{ ".debug_abbrev", section_of_bytes(&h->abbrev), 0 },
		{ ".debug_str", section_of_bytes(&h->str), 0 },
		{ ".debug_line", section_of_bytes(&h->line), 0 },
		{ ".debug_aranges", section_of_bytes(&h->aranges), 0 },
		{ ".debug_ranges", section_of_bytes(&h->ranges), 0 },
	};

	return hand_file(sections, sizeof(sections) / sizeof(*sections), HAND_LOW, HAND_HIGH);
}

/* Opens what was made by hand and frees its bytes. */
static inline struct fixture hand_made_open(struct hand_made *h)
{
	struct fixture f = fixture_open(hand_made_file(h), HAND_LOW, HAND_HIGH);

	free_bytes(&h->info);
	free_bytes(&h->abbrev);
	free_bytes(&h->str);
	free_bytes(&h->line);
	free_bytes(&h->aranges);
	free_bytes(&h->ranges);
	return f;
}

/* A type of that name that must exist. */
static inline const struct type *must_find(struct fixture *f, const char *name)
{
	const struct type *t = lookup_type(f->dm, name, 0);

	if (!t)
		fail_msg("no type %s", name);
	return t;
}

static inline uint64_t offset_of(const struct type *t, const char *member)
{
	const struct member *m = type_member(t, member);

	if (!m)
		fail_msg("no member %s in %s", member, type_name(t));
	return m->offset;
}

/* The error must be of that kind and say text; it is freed. */
static inline void expect_error(struct error *err, enum error_kind kind, const char *text)
{
	if (!err)
		fail_msg("no error, but '%s' was expected", text);
	if (err->kind != kind || !strstr(err->message, text))
		fail_msg("kind %d: %s", err->kind, err->message);
	error_free(err);
}

#endif
