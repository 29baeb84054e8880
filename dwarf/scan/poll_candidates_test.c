/* Tests of poll_candidates.c, with hand-made notes of a scan. */
#include "dwarf/scan/poll_candidates.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "dwarf/test/bytes.h"

enum {
	START = 0x1000,            /* of each unit in .debug_info */
	DIE_SIZE = 16,             /* only DIEs that become no scope lie between two scopes */
	NAME_UNKNOWN = 0x7fffffff, /* beyond .debug_str */
};

/* The notes of a unit's scan. Its names are in a .debug_str, which units share. */
struct sample {
	struct bytes *str;
	VEC(struct scope_note) notes;
	VEC(struct unit_result) results;
};

/* Equal names get one offset, as from a linker. */
static uint32_t name_at(struct bytes *str, const char *name, size_t len)
{
	for (size_t at = 0; at < str->n; at += strlen((const char *)str->data + at) + 1) {
		const char *other = (const char *)str->data + at;

		if (strlen(other) == len && memcmp(other, name, len) == 0)
			return (uint32_t)at;
	}
	uint32_t ret = (uint32_t)str->n;
	put(str, name, len);
	put_fixed(str, 0, 1);
	return ret;
}

static uint32_t add_scope(struct sample *s, unsigned tag, uint32_t parent, unsigned flags,
                          uint32_t name)
{
	*vec_push(&s->notes) = (struct scope_note){
		.die = (uint32_t)(s->notes.n + 1) * DIE_SIZE,
		.parent = parent,
		.name = name,
		.tag = (uint16_t)tag,
		.flags = (uint16_t)flags,
	};
	return (uint32_t)s->notes.n - 1;
}

/* Adds a scope whose name is in the notes. */
static uint32_t add_named(struct sample *s, unsigned tag, uint32_t parent, const char *name,
                          size_t len)
{
	return add_scope(s, tag, parent, SCOPE_NAMED | SCOPE_NAME_AT, name_at(s->str, name, len));
}

/* Adds a namespace whose name is not in the notes, because of its form. */
static uint32_t add_unnoted(struct sample *s, uint32_t parent)
{
	return add_scope(s, DW_TAG_namespace, parent, SCOPE_NAMED, 0);
}

/*
 * Adds new scopes for the names between "::". "?" is a namespace without a name in the notes, "!" a
 * structure, "fn" a function.
 */
static uint32_t add_path(struct sample *s, const char *path)
{
	uint32_t scope = SCOPE_NONE;

	for (const char *p = path; *p;) {
		const char *end = strstr(p, "::");
		size_t len = end ? (size_t)(end - p) : strlen(p);

		if (*p == '?')
			scope = add_unnoted(s, scope);
		else if (*p == '!')
			scope = add_named(s, DW_TAG_structure_type, scope, "S", 1);
		else if (len == 2 && memcmp(p, "fn", 2) == 0)
			scope = add_scope(s, DW_TAG_subprogram, scope, SCOPE_DECLARATION, 0);
		else
			scope = add_named(s, DW_TAG_namespace, scope, p, len);
		p += len + (end ? 2 : 0);
	}
	return scope;
}

static uint32_t add_type(struct sample *s, const char *path, const char *name)
{
	return add_named(s, DW_TAG_structure_type, add_path(s, path), name, strlen(name));
}

static uint32_t add_nothing(struct sample *s, uint32_t parent, const char *name)
{
	return add_named(s, DW_TAG_subprogram, parent, name, strlen(name));
}

/* type: offset from the unit's start. */
static uint32_t add_returning(struct sample *s, uint32_t parent, const char *name, uint32_t type)
{
	uint32_t scope = add_nothing(s, parent, name);

	s->notes.data[scope].flags |= SCOPE_TYPE;
	*vec_push(&s->results) = (struct unit_result){ scope, type };
	return scope;
}

static uint32_t die_of(const struct sample *s, uint32_t scope)
{
	return s->notes.data[scope].die;
}

static poll_candidate_vec find(const struct sample *s, struct poll_names **names)
{
	struct dwarf_sections sections = { .str = section_of_bytes(s->str) };
	VEC(uint32_t) voids = { 0 };

	for (size_t i = 0; i < s->notes.n; i++) {
		if (scan_returns_nothing(&s->notes.data[i]))
			*vec_push(&voids) = (uint32_t)i;
	}
	struct unit u = {
		.start = START,
		.end = START + (s->notes.n + 2) * DIE_SIZE,
		.scanned = true,
		.scopes = s->notes.data,
		.nscopes = s->notes.n,
		.results = s->results.data,
		.nresults = s->results.n,
		.voids = voids.data,
		.nvoids = voids.n,
	};
	poll_candidate_vec ret = { 0 };

	poll_candidates_find(&sections, &u, names, &ret);
	vec_free(&voids);
	return ret;
}

static void drop(struct sample *s)
{
	vec_free(&s->notes);
	vec_free(&s->results);
}

enum verdict { NOT_FOUND, OPEN, KNOWN };

/* The verdict on the only function that may be found. */
static enum verdict verdict_on(const struct sample *s, uint32_t function, struct poll_names **names)
{
	poll_candidate_vec found = find(s, names);
	enum verdict ret = NOT_FOUND;

	if (found.n) {
		assert_int_equal(found.n, 1);
		assert_int_equal(found.data[0].scope, function);
		ret = found.data[0].result_is_known ? KNOWN : OPEN;
	}
	vec_free(&found);
	return ret;
}

static const struct row {
	const char *home, *name;
	const char *result; /* path of its return type's scope; NULL: it returns nothing */
	enum verdict verdict;
} rows[] = {
	/* By the return type. */
	{ "app::{impl#0}", "poll", "core::task::poll", KNOWN },
	{ "app::{impl#0}", "poll", "core::ops::coroutine", KNOWN },
	{ "app::{impl#0}", "poll", "core::ops::generator", KNOWN },
	{ "app::{impl#0}", "poll", "app", NOT_FOUND },
	{ "app::{impl#0}", "poll", "", NOT_FOUND },
	{ "app::{impl#0}", "poll", "core", NOT_FOUND },
	{ "app::{impl#0}", "poll", "core::task", NOT_FOUND },
	{ "app::{impl#0}", "poll", "core::task::wake", NOT_FOUND },
	{ "app::{impl#0}", "poll", "core::ops::control_flow", NOT_FOUND },
	{ "app::{impl#0}", "poll", "core::option", NOT_FOUND },
	{ "app::{impl#0}", "poll", "core::poll", NOT_FOUND },
	{ "app::{impl#0}", "poll", "alloc::task::poll", NOT_FOUND },
	{ "app::{impl#0}", "poll", "std::task::poll", NOT_FOUND },
	{ "app::{impl#0}", "poll", "app::task::poll", NOT_FOUND },
	{ "app::{impl#0}", "poll", "app::core::task::poll", NOT_FOUND },
	{ "app::{impl#0}", "poll", "task::poll", NOT_FOUND },
	{ "app::{impl#0}", "poll", "core::task::poll::inner", NOT_FOUND },
	{ "app::{impl#0}", "poll", "core::task::poll::!", NOT_FOUND },
	{ "app::{impl#0}", "poll", "core::task::poll::fn", NOT_FOUND },
	/* By its name. */
	{ "app::{impl#0}", "poll<u8>", "core::task::poll", KNOWN },
	{ "app::{impl#0}", "poll_next", "core::task::poll", NOT_FOUND },
	{ "app::{impl#0}", "pol", "core::task::poll", NOT_FOUND },
	{ "app::run", "{async_fn#0}", "core::task::poll", KNOWN },
	{ "app::run", "{async_block#1}<u8>", "core::task::poll", KNOWN },
	{ "app::run", "{closure#0}", "core::task::poll", NOT_FOUND },
	{ "app::run", "{closure#0}<u8>", "core::task::poll", NOT_FOUND },
	{ "app::run", "{async_fn#0}", "app", NOT_FOUND },
	/* Types without a size count as no return value. */
	{ "app::run", "{async_fn#0}", NULL, KNOWN },
	{ "app::{impl#0}", "poll", NULL, KNOWN },
	{ "app::{impl#0}", "poll<u8>", NULL, KNOWN },
	{ "app::run", "{closure#0}", NULL, NOT_FOUND },
	{ "app", "run", NULL, NOT_FOUND },
	/* By its path. */
	{ "", "poll", "core::task::poll", KNOWN },
	{ "alloc::vec", "poll", "core::task::poll", NOT_FOUND },
	{ "alloc::vec::{impl#3}", "poll", NULL, NOT_FOUND },
	{ "alloc", "poll", "core::task::poll", KNOWN },
	{ "alloc::{impl#0}", "poll", "core::task::poll", NOT_FOUND },
	{ "core::mem", "poll", "core::task::poll", NOT_FOUND },
	{ "core::mem::future", "poll", "core::task::poll", NOT_FOUND },
	{ "core::mem::!", "poll", "core::task::poll", NOT_FOUND },
	{ "core::mem::fn", "{async_fn#0}", NULL, NOT_FOUND },
	{ "core::ops::function", "poll", NULL, NOT_FOUND },
	{ "core", "poll", "core::task::poll", KNOWN },
	{ "std::thread", "poll", "core::task::poll", NOT_FOUND },
	{ "std::rt", "{async_fn#0}", NULL, NOT_FOUND },
	{ "tokio::runtime::task::raw", "poll", "core::task::poll", NOT_FOUND },
	{ "tokio::runtime::task::raw", "poll<u8>", NULL, NOT_FOUND },
	{ "tokio::runtime::task::raw::{impl#0}", "poll", NULL, NOT_FOUND },
	{ "tokio::runtime::task::core::{impl#0}", "poll", "core::task::poll", KNOWN },
	{ "tokio::runtime::raw", "poll", "core::task::poll", KNOWN },
	{ "tokio::task::raw", "poll", "core::task::poll", KNOWN },
	{ "app::runtime::task::raw", "poll", "core::task::poll", KNOWN },
	{ "app::core::mem", "poll", "core::task::poll", KNOWN },
	{ "core::future", "poll", "core::task::poll", KNOWN },
	{ "core::future::mem", "poll", "core::task::poll", KNOWN },
	{ "core::pin", "poll", "core::task::poll", KNOWN },
	{ "core::panic::unwind_safe", "poll", "core::task::poll", KNOWN },
	{ "core::task::poll::{impl#0}", "poll", "core::task::poll", KNOWN },
	{ "core::sync::exclusive", "poll", "core::task::poll", KNOWN },
	{ "core::async_iter", "poll", "core::task::poll", KNOWN },
	{ "alloc::boxed::{impl#0}", "poll", "core::task::poll", KNOWN },
	{ "alloc::boxed", "poll", NULL, KNOWN },
	{ "std::future", "poll", "core::task::poll", KNOWN },
	{ "std::panic", "poll", "core::task::poll", KNOWN },
	{ "std::async_iter", "poll", NULL, KNOWN },
	{ "corelib::mem", "poll", "core::task::poll", KNOWN },
	/*
	 * OPEN if the return type has no name in the notes; the function's path still excludes
	 * some.
	 */
	{ "app::{impl#0}", "poll", "?", OPEN },
	{ "app::{impl#0}", "poll", "?::poll", OPEN },
	{ "app::{impl#0}", "poll", "core::?", OPEN },
	{ "app::{impl#0}", "poll", "core::task::?", OPEN },
	{ "app::{impl#0}", "poll", "core::task::poll::?", OPEN },
	{ "app::{impl#0}", "poll", "app::?", NOT_FOUND },
	{ "app::{impl#0}", "poll", "?::!", NOT_FOUND },
	{ "core::mem", "poll", "?::poll", NOT_FOUND },
	{ "app::run", "{closure#0}", "?::poll", NOT_FOUND },
	{ "?", "poll", "core::task::poll", KNOWN },
	{ "?::mem", "poll", "?::poll", OPEN },
	{ "core::?", "poll", "core::task::poll", KNOWN },
	{ "core::?::mem", "{async_fn#0}", NULL, KNOWN },
	{ "?::{impl#0}", "{closure#0}", NULL, NOT_FOUND },
};
enum { NROWS = sizeof(rows) / sizeof(rows[0]) };

static uint32_t add_row(struct sample *s, const struct row *row)
{
	uint32_t type = row->result ? add_type(s, row->result, "R") : SCOPE_NONE;
	uint32_t home = add_path(s, row->home);

	return row->result ? add_returning(s, home, row->name, die_of(s, type))
	                   : add_nothing(s, home, row->name);
}

/* Each row is a unit of its own. Names of earlier units must have no effect. */
static void test_rows(void **state)
{
	struct poll_names *names = NULL;
	struct bytes str = { 0 };

	(void)state;
	for (size_t i = 0; i < 2 * NROWS; i++) {
		const struct row *row = &rows[i % NROWS];
		struct sample s = { .str = &str };
		uint32_t function = add_row(&s, row);
		enum verdict verdict = verdict_on(&s, function, &names);

		if (verdict != row->verdict)
			fail_msg("%s::%s, result in %s: %d", row->home, row->name,
			         row->result ? row->result : "nothing", verdict);
		drop(&s);
	}
	poll_candidates_free(names);
	free_bytes(&str);
}

/* All rows in one unit: functions that return something come first, each group in order. */
static void test_one_unit(void **state)
{
	struct poll_names *names = NULL;
	struct bytes str = { 0 };
	struct sample s = { .str = &str };
	uint32_t functions[NROWS];

	(void)state;
	for (size_t i = 0; i < NROWS; i++)
		functions[i] = add_row(&s, &rows[i]);
	poll_candidate_vec found = find(&s, &names);
	size_t n = 0;
	for (int nothing = 0; nothing < 2; nothing++) {
		for (size_t i = 0; i < NROWS; i++) {
			if ((rows[i].result != NULL) == nothing || rows[i].verdict == NOT_FOUND)
				continue;
			assert_true(n < found.n);
			assert_int_equal(found.data[n].scope, functions[i]);
			assert_int_equal(found.data[n].result_is_known, rows[i].verdict == KNOWN);
			n++;
		}
	}
	assert_int_equal(found.n, n);
	vec_free(&found);
	poll_candidates_free(names);
	drop(&s);
	free_bytes(&str);
}

/* Return types that are no scope of the unit. */
static void test_types_elsewhere(void **state)
{
	struct poll_names *names = NULL;
	struct bytes str = { 0 };
	struct sample s = { .str = &str };
	uint32_t poll = add_type(&s, "core::task::poll", "Poll<()>");
	uint32_t home = add_path(&s, "app::{impl#0}");
	uint32_t in_mem = add_path(&s, "core::mem");
	uint32_t function = add_returning(&s, home, "poll", 0);
	uint32_t *type = &s.results.data[0].type;
	struct scope_note *note = &s.notes.data[function];

	(void)state;
	/* A type of another unit. */
	assert_int_equal(verdict_on(&s, function, &names), OPEN);
	*type = die_of(&s, poll);
	assert_int_equal(verdict_on(&s, function, &names), KNOWN);
	/* A pointer type, which is between scopes, and a DIE after all scopes. */
	*type = die_of(&s, poll) + 1;
	assert_int_equal(verdict_on(&s, function, &names), NOT_FOUND);
	*type = UINT32_MAX;
	assert_int_equal(verdict_on(&s, function, &names), NOT_FOUND);
	/* A type of another unit; the function's path or name excludes it. */
	*type = 0;
	note->name = name_at(&str, "{closure#0}", 11);
	assert_int_equal(verdict_on(&s, function, &names), NOT_FOUND);
	note->name = name_at(&str, "{async_fn#0}", 12);
	assert_int_equal(verdict_on(&s, function, &names), OPEN);
	note->parent = in_mem;
	assert_int_equal(verdict_on(&s, function, &names), NOT_FOUND);
	poll_candidates_free(names);
	drop(&s);
	free_bytes(&str);
}

/* A name that is not in the notes may be that of a poll function; a missing name cannot. */
static void test_names_not_noted(void **state)
{
	struct poll_names *names = NULL;
	struct bytes str = { 0 };
	struct sample s = { .str = &str };
	uint32_t in_mem = add_path(&s, "core::mem");
	uint32_t function = add_nothing(&s, add_path(&s, "app"), "run");
	struct scope_note *note = &s.notes.data[function];

	(void)state;
	assert_int_equal(verdict_on(&s, function, &names), NOT_FOUND);
	note->flags = SCOPE_NAMED;
	assert_int_equal(verdict_on(&s, function, &names), KNOWN);
	note->flags = 0;
	assert_int_equal(verdict_on(&s, function, &names), NOT_FOUND);
	note->flags = SCOPE_NAMED | SCOPE_NAME_AT;
	note->name = NAME_UNKNOWN;
	assert_int_equal(verdict_on(&s, function, &names), NOT_FOUND);
	note->name = UINT32_MAX;
	assert_int_equal(verdict_on(&s, function, &names), NOT_FOUND);
	/*
	 * A namespace with an offset beyond .debug_str counts as one without a name in the notes.
	 */
	note->name = name_at(&str, "poll", 4);
	note->parent = in_mem;
	assert_int_equal(verdict_on(&s, function, &names), NOT_FOUND);
	s.notes.data[in_mem].name = NAME_UNKNOWN;
	assert_int_equal(verdict_on(&s, function, &names), KNOWN);
	poll_candidates_free(names);
	drop(&s);
	free_bytes(&str);
}

/* Declarations and concrete copies have no type because another DIE has it. */
static void test_returns_nothing(void **state)
{
	struct poll_names *names = NULL;
	struct bytes str = { 0 };
	struct sample s = { .str = &str };
	uint32_t function = add_nothing(&s, add_path(&s, "app"), "{async_fn#0}");
	struct scope_note *note = &s.notes.data[function];
	const uint16_t flags = note->flags;
	static const struct {
		uint16_t flags;
		bool nothing;
	} more[] = {
		{ 0, true },
		{ SCOPE_ADDRESS | SCOPE_RANGES | SCOPE_LINKAGE, true },
		{ SCOPE_TYPE, false },
		{ SCOPE_ORIGIN, false },
		{ SCOPE_DECLARATION, false },
		{ SCOPE_ORIGIN | SCOPE_DECLARATION | SCOPE_LINKAGE, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		note->flags = flags | more[i].flags;
		assert_int_equal(scan_returns_nothing(note), more[i].nothing);
		assert_int_equal(verdict_on(&s, function, &names),
		                 more[i].nothing ? KNOWN : NOT_FOUND);
	}
	note->flags = flags;
	note->tag = DW_TAG_variable;
	assert_false(scan_returns_nothing(note));
	assert_int_equal(verdict_on(&s, function, &names), NOT_FOUND);
	poll_candidates_free(names);
	drop(&s);
	free_bytes(&str);
}

/* Adds n nested namespaces below a path. */
static uint32_t add_nested(struct sample *s, const char *path, size_t n)
{
	uint32_t scope = add_path(s, path);

	while (n--)
		scope = add_named(s, DW_TAG_namespace, scope, "deep", 4);
	return scope;
}

/* Beyond the depth limit nothing is excluded. */
static void test_deep(void **state)
{
	static const struct {
		const char *home;
		size_t home_depth;
		const char *result;
		size_t result_depth;
		enum verdict verdict;
	} deep[] = {
		{ "app", 40, "core::task::poll", 0, KNOWN },
		{ "app", 500, "core::task::poll", 0, KNOWN },
		{ "app", 500, NULL, 0, KNOWN },
		{ "core::mem", 40, "core::task::poll", 0, NOT_FOUND },
		{ "core::mem", 40, NULL, 0, NOT_FOUND },
		{ "core::mem", 500, "core::task::poll", 0, KNOWN },
		{ "core::mem", 500, NULL, 0, KNOWN },
		{ "app", 0, "app", 40, NOT_FOUND },
		{ "app", 0, "app", 500, OPEN },
		{ "app", 500, "app", 500, OPEN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(deep) / sizeof(deep[0]); i++) {
		struct poll_names *names = NULL;
		struct bytes str = { 0 };
		struct sample s = { .str = &str };
		uint32_t home = add_nested(&s, deep[i].home, deep[i].home_depth), function;

		if (deep[i].result) {
			uint32_t in = add_nested(&s, deep[i].result, deep[i].result_depth);
			uint32_t type = add_named(&s, DW_TAG_structure_type, in, "R", 1);

			function = add_returning(&s, home, "poll", die_of(&s, type));
		} else {
			function = add_nothing(&s, home, "poll");
		}
		enum verdict verdict = verdict_on(&s, function, &names);
		if (verdict != deep[i].verdict)
			fail_msg("row %zu: %d", i, verdict);
		poll_candidates_free(names);
		drop(&s);
		free_bytes(&str);
	}
}

/* Each depth around the limit, with the cached answers of enclosing scopes: none is lost. */
static void test_each_depth(void **state)
{
	struct poll_names *names = NULL;
	struct bytes str = { 0 };
	struct sample s = { .str = &str };
	uint32_t poll = add_type(&s, "core::task::poll", "Poll<()>"), scope = add_path(&s, "app");
	enum { DEPTH = 200 };

	(void)state;
	for (size_t i = 0; i < DEPTH; i++) {
		scope = add_named(&s, DW_TAG_namespace, scope, "deep", 4);
		add_returning(&s, scope, "poll", die_of(&s, poll));
	}
	poll_candidate_vec found = find(&s, &names);
	assert_int_equal(found.n, DEPTH);
	for (size_t i = 0; i < DEPTH; i++) {
		assert_int_equal(found.data[i].scope, s.results.data[i].scope);
		assert_true(found.data[i].result_is_known);
	}
	vec_free(&found);
	poll_candidates_free(names);
	drop(&s);
	free_bytes(&str);
}

/* More namespaces, types and names than the cache holds: new ones replace others. */
static void test_many(void **state)
{
	struct poll_names *names = NULL;
	struct bytes str = { 0 };
	struct sample s = { .str = &str };
	enum { MANY = 12000 };
	uint32_t core = add_path(&s, "core"), app = add_path(&s, "app");
	uint32_t in_poll = add_path(&s, "core::task::poll");
	uint32_t *offsets = calloc(MANY, sizeof(*offsets));
	size_t n = 0;

	(void)state;
	assert_non_null(offsets);
	name_at(&str, "poll", 4);
	for (uint32_t i = 0; i < MANY; i++) {
		char name[32];

		/* Added without a search for an equal name. */
		snprintf(name, sizeof(name), "%s%u}", i % 3 ? "{async_fn#" : "{closure#", i);
		offsets[i] = (uint32_t)str.n;
		put_text(&str, name);
	}
	for (uint32_t i = 0; i < MANY; i++) {
		uint32_t type = add_scope(&s, DW_TAG_structure_type, i % 5 ? in_poll : app,
		                          SCOPE_NAMED | SCOPE_NAME_AT, 0);
		uint32_t home = add_scope(&s, DW_TAG_namespace, i % 2 ? core : app,
		                          SCOPE_NAMED | SCOPE_NAME_AT, 0);
		uint32_t die = i % 7 ? die_of(&s, type) : 0;
		uint32_t function = add_returning(&s, home, "poll", die);

		s.notes.data[function].name = offsets[i];
	}
	for (int again = 0; again < 2; again++) {
		poll_candidate_vec found = find(&s, &names);

		n = 0;
		for (uint32_t i = 0; i < MANY; i++) {
			if (i % 2 || i % 3 == 0 || (i % 5 == 0 && i % 7))
				continue;
			assert_true(n < found.n);
			assert_int_equal(found.data[n].scope, s.results.data[i].scope);
			assert_int_equal(found.data[n].result_is_known, i % 7 != 0);
			n++;
		}
		assert_int_equal(found.n, n);
		vec_free(&found);
	}
	assert_true(n > 1000);
	free(offsets);
	poll_candidates_free(names);
	drop(&s);
	free_bytes(&str);
}

/* The same scopes and DIEs with other names: cached answers of the first unit do not apply. */
static void test_second_unit(void **state)
{
	static const struct {
		const char *app[2], *poll[3];
		enum verdict verdict;
	} units[] = {
		{ { "app", "{impl#0}" }, { "core", "task", "poll" }, KNOWN },
		{ { "core", "mem" }, { "core", "task", "poll" }, NOT_FOUND },
		{ { "app", "{impl#0}" }, { "core", "task", "poll" }, KNOWN },
		{ { "app", "{impl#0}" }, { "app", "task", "poll" }, NOT_FOUND },
		{ { "core", "future" }, { "core", "task", "poll" }, KNOWN },
		{ { "app", "{impl#0}" }, { "core", "?", "poll" }, OPEN },
		{ { "std", "future" }, { "core", "ops", "coroutine" }, KNOWN },
	};
	struct poll_names *names = NULL;
	struct bytes str = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		struct sample s = { .str = &str };
		char path[64];

		snprintf(path, sizeof(path), "%s::%s::%s", units[i].poll[0], units[i].poll[1],
		         units[i].poll[2]);
		uint32_t type = add_type(&s, path, "Poll<()>");
		snprintf(path, sizeof(path), "%s::%s", units[i].app[0], units[i].app[1]);
		uint32_t home = add_path(&s, path);
		uint32_t function = add_returning(&s, home, "poll", die_of(&s, type));

		assert_int_equal(function, 6);
		assert_int_equal(verdict_on(&s, function, &names), units[i].verdict);
		drop(&s);
	}
	poll_candidates_free(names);
	free_bytes(&str);
}

/* Results of other units are kept. */
static void test_found_before(void **state)
{
	struct poll_names *names = NULL;
	struct bytes str = { 0 };
	struct sample s = { .str = &str };
	struct unit none = { .start = START, .end = START + DIE_SIZE, .scanned = true };
	uint32_t function = add_nothing(&s, add_path(&s, "app::run"), "{async_fn#0}");
	poll_candidate_vec found = find(&s, &names);

	(void)state;
	poll_candidates_find(&(struct dwarf_sections){ .str = section_of_bytes(&str) }, &none,
	                     &names, &found);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.data[0].scope, function);
	vec_free(&found);
	poll_candidates_free(names);
	poll_candidates_free(NULL);
	drop(&s);
	free_bytes(&str);
}

static void test_names(void **state)
{
	static const struct {
		const char *name;
		bool poll, coroutine, result;
	} all[] = {
		{ "poll", true, false, false },
		{ "poll<u8>", true, false, false },
		{ "polls", false, false, false },
		{ "poll_next<u8>", false, false, false },
		{ "Poll", false, false, false },
		{ "", false, false, false },
		{ "{async_fn#0}", false, true, false },
		{ "{async_block#12}<u8>", false, true, false },
		{ "{async_closure#0}", false, true, false },
		{ "{closure#0}", false, false, false },
		{ "{closure#0}<u8>", false, false, false },
		{ "async_fn#0", false, false, false },
		{ "Poll<()>", false, false, true },
		{ "GeneratorState<(), u8>", false, false, true },
		{ "CoroutineState<(), u8>", false, false, true },
		{ "Polls<u8>", false, false, false },
		{ "GeneratorState", false, false, false },
		{ "Option<Poll<()>>", false, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_int_equal(poll_candidates_is_poll(all[i].name), all[i].poll);
		assert_int_equal(poll_candidates_is_coroutine(all[i].name), all[i].coroutine);
		assert_int_equal(poll_candidates_is_result(all[i].name), all[i].result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_one_unit),
		cmocka_unit_test(test_types_elsewhere),
		cmocka_unit_test(test_names_not_noted),
		cmocka_unit_test(test_returns_nothing),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_each_depth),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_second_unit),
		cmocka_unit_test(test_found_before),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
