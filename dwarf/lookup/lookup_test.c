#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/module/async_code.h"
#include "dwarf/module/die_name.h"
#include "dwarf/test/module.h"

static const struct scope *find_scope(struct fixture *f, const char *name, unsigned tag)
{
	size_t n;
	const struct scope *scopes = read_scopes(f, &n);

	for (size_t i = 0; i < n; i++) {
		const struct scope *s = &scopes[i];

		if (s->tag == tag && s->name && strcmp(s->name, name) == 0)
			return s;
	}
	fail_msg("no scope %s", name);
	return NULL;
}

/* The run-time address of a function of shapes.rs. */
static uint64_t address_of(struct fixture *f, const char *name)
{
	const struct scope *s = find_scope(f, name, DW_TAG_subprogram);

	assert_true(s->has_address);
	return s->low + BIAS;
}

static void test_function_by_address(void **state)
{
	struct fixture *f = *state;
	uint64_t addr = address_of(f, "boxed");
	const struct function *function = lookup_function(f->di, addr);

	assert_non_null(function);
	assert_string_equal(function->name, "shapes::boxed");
	assert_int_equal(function->low, addr);
	assert_true(function->high > addr);
	/* Every address in it gives the same object. */
	for (uint64_t at = addr; at < function->high; at += 7)
		assert_ptr_equal(lookup_function(f->di, at), function);
	assert_ptr_equal(lookup_function(f->di, function->high - 1), function);
	assert_ptr_not_equal(lookup_function(f->di, function->high), function);
	assert_ptr_not_equal(lookup_function(f->di, addr - 1), function);
}

static void test_addresses_without_a_function(void **state)
{
	struct fixture *f = *state;
	const struct module *m = f->target->modules.data[0];
	const uint64_t addrs[] = { 0,
		                   1,
		                   m->start,
		                   m->end - 1,
		                   m->end,
		                   m->start - 1,
		                   address_of(f, "boxed") - BIAS,
		                   UINT64_MAX };

	for (size_t i = 0; i < sizeof(addrs) / sizeof(addrs[0]); i++)
		assert_null(lookup_function(f->di, addrs[i]));
}

static const struct scope *find_start(struct fixture *f, const char *start)
{
	size_t n;
	const struct scope *scopes = read_scopes(f, &n);

	for (size_t i = 0; i < n; i++) {
		const struct scope *s = &scopes[i];

		if (s->tag == DW_TAG_subprogram && s->has_address && s->name &&
		    strncmp(s->name, start, strlen(start)) == 0)
			return s;
	}
	fail_msg("no function %s...", start);
	return NULL;
}

static void test_template_parameters(void **state)
{
	struct fixture *f = *state;
	struct unit *u = &f->dm->units[0];

	debuginfo_scan(f->dm, u);
	uint64_t addr = find_start(f, "poll_task<")->low + BIAS;
	const struct function *function = lookup_function(f->di, addr);
	assert_string_equal(function->name,
	                    "shapes::poll_task<shapes::middle::{async_fn_env#0}, u64>");
	assert_string_equal(type_name(function_param(function, "T")),
	                    "shapes::middle::{async_fn_env#0}");
	assert_string_equal(type_name(function_param(function, "S")), "u64");
	assert_null(function_param(function, "U"));
	assert_non_null(strstr(function->linkage, "poll_task"));
	assert_string_equal(type_name(function_first_argument(function)),
	                    "core::pin::Pin<&mut shapes::middle::{async_fn_env#0}>");
	/* A local variable in nested blocks of the function. */
	assert_string_equal(type_name(function_variable(function, "harness")), "(&u64, u8)");
	assert_string_equal(type_name(function_variable(function, "scheduler")), "u64");
	assert_null(function_variable(function, "nothing"));
	assert_true(function_has_context(function));
}

/* A function that can poll has a Context as a parameter or a variable of any name. */
static void test_context_of_a_task(void **state)
{
	struct fixture *f = *state;
	const struct function *polls = lookup_function(f->di, address_of(f, "boxed"));
	const struct function *plain = lookup_function(f->di, address_of(f, "enums"));

	assert_true(function_has_context(polls));
	assert_false(function_has_context(plain));
	/* The cached results are the same. */
	assert_true(function_has_context(polls));
	assert_false(function_has_context(plain));
}

static bool creates_context(struct fixture *f, const char *name)
{
	return function_read_creates_context(lookup_function(f->di, address_of(f, name)));
}

/* Executors create a Context; poll functions, also those of coroutines, receive one. */
static void test_created_context(void **state)
{
	struct fixture endless = fixture_open_file("testdata/unit/endless.elf");
	const struct function *coroutine;

	assert_true(creates_context(&endless, "endless"));
	assert_false(creates_context(*state, "boxed"));
	assert_false(creates_context(*state, "enums"));
	coroutine = lookup_function(endless.di, address_of(&endless, "{async_fn#0}"));
	assert_true(function_has_context(coroutine));
	assert_false(function_read_creates_context(coroutine));
	fixture_close(&endless);
}

/* A Context may come in an Option of a tuple, and a closure may have captured it. */
static void test_received_context(void **state)
{
	struct fixture f = fixture_open_file("testdata/unit/executors.elf");
	size_t n, closures = 0;
	const struct scope *scopes = read_scopes(&f, &n);

	(void)state;
	assert_true(creates_context(&f, "drives_timer"));
	assert_false(creates_context(&f, "received_in_option"));
	for (size_t i = 0; i < n; i++) {
		const struct scope *s = &scopes[i];

		if (s->tag != DW_TAG_subprogram || !s->has_address || !s->name ||
		    strncmp(s->name, "{closure#", 9) != 0)
			continue;
		closures += function_has_context(lookup_function_die(f.dm, s->die));
		assert_false(function_read_creates_context(lookup_function_die(f.dm, s->die)));
	}
	assert_int_equal(closures, 2);
	fixture_close(&f);
}

/*
 * These files are not whole programs and lack the panic functions of coroutines; their symbols show
 * async code.
 */
static void test_async_code(void **state)
{
	struct fixture *f = *state;
	struct fixture values = fixture_open_file("testdata/unit/values.elf");

	assert_true(module_has_async_code(f->dm));
	assert_false(module_has_async_code(values.dm));
	fixture_close(&values);
}

static void test_names_of_dies(void **state)
{
	struct fixture *f = *state;
	struct unit *u = &f->dm->units[0];

	debuginfo_scan(f->dm, u);
	const struct scope *blue = find_scope(f, "Blue", DW_TAG_structure_type);
	assert_string_equal(die_name(f->dm, blue->die), "shapes::Niche::Blue");
	assert_null(die_name(f->dm, blue->die + 1));
	assert_null(die_name(f->dm, 0));
	assert_null(die_name(f->dm, UINT64_MAX));
	assert_null(lookup_function_die(f->dm, UINT64_MAX));
}

static void test_types_by_name(void **state)
{
	struct fixture *f = *state;
	const struct type *t = must_find(f, "shapes::Holder<u64>");

	assert_string_equal(type_name(t), "shapes::Holder<u64>");
	assert_ptr_equal(lookup_type(f->dm, "shapes::Holder<u64>", type_die(t)), t);
	assert_ptr_equal(lookup_type(f->dm, "shapes::Holder<u64>", UINT64_MAX), t);
	static const char *const unknown[] = { "shapes::Holder<u32>",
		                               "shapes::Holder",
		                               "Holder<u64>",
		                               "other::Root",
		                               "shapes::context",
		                               "shapes::boxed",
		                               "",
		                               "::",
		                               "shapes::",
		                               "shapes::Niche::Blu",
		                               "<",
		                               ">" };
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		assert_null(lookup_type(f->dm, unknown[i], 0));
		assert_null(lookup_type(f->dm, unknown[i], 0)); /* cached */
	}
}

/* ---- thread-locals ---- */

static void test_thread_local(void **state)
{
	struct fixture *f = *state;
	const struct tls_symbols *symbols = debuginfo_tls_symbols(f->dm);
	struct thread_local *found;
	const char *doubt;
	size_t n, described = 0;

	fail_on(lookup_thread_locals(f->dm, "shapes::context::CONTEXT", &f->arena, &found, &n,
	                             &doubt));
	assert_null(doubt);
	/* thread_local! has an arm for types with a destructor: it is described, but not linked. */
	size_t nscopes;
	const struct scope *scopes = read_scopes(f, &nscopes);
	for (size_t i = 0; i < nscopes; i++) {
		const struct scope *s = &scopes[i];

		described += s->tag == DW_TAG_variable && s->linkage &&
		             strstr(s->linkage, "context7CONTEXT") && strstr(s->linkage, "VAL17h");
	}
	assert_true(described > n);
	assert_int_equal(n, 1);
	const struct symbol *symbol = NULL;
	for (size_t i = 0; i < symbols->n; i++) {
		if (strcmp(symbols->data[i].name, found[0].linkage) == 0)
			symbol = &symbols->data[i];
	}
	assert_non_null(symbol);
	assert_int_equal(found[0].offset, symbol->value);
	assert_int_equal(type_size(found[0].type), symbol->size);
	assert_non_null(strstr(type_name(found[0].type), "Cell<u64>"));
}

static void test_thread_locals_that_are_none(void **state)
{
	static const char *const paths[] = { "shapes::context::NOTHING", "other::context::CONTEXT",
		                             "shapes::CONTEXT", "shapes::boxed" };
	struct fixture *f = *state;
	struct thread_local *found;
	const char *doubt;
	size_t n;

	for (size_t i = 0; i < 4; i++) {
		fail_on(lookup_thread_locals(f->dm, paths[i], &f->arena, &found, &n, &doubt));
		assert_int_equal(n, 0);
		assert_null(doubt);
	}
}

/* ---- statics ---- */

static void test_statics_that_are_none(void **state)
{
	struct fixture *f = *state;
	const struct type *type;
	unsigned thread_locals = 0;
	uint64_t addr;

	size_t n;
	const struct scope *scopes = read_scopes(f, &n);
	for (size_t i = 0; i < n; i++) {
		const struct scope *s = &scopes[i];

		if (s->tag != DW_TAG_variable || !s->is_tls)
			continue;
		/* A thread-local has an offset, which is not an address. */
		const char *name = die_name(f->dm, s->die);
		assert_false(lookup_static(f->dm, name, &type, &addr));
		thread_locals++;
	}
	assert_true(thread_locals > 0);
	assert_false(lookup_static(f->dm, "shapes::boxed", &type, &addr));
	assert_false(lookup_static(f->dm, "shapes::context::NOTHING", &type, &addr));
	assert_false(lookup_static(f->dm, "NOTHING", &type, &addr));
	assert_false(lookup_static(f->dm, "", &type, &addr));
}

/* ---- trait objects ---- */

/* Maps a vtable of four slots at a run-time address. */
static void map_vtable(struct fixture *f, uint64_t addr, uint64_t size, uint64_t poll)
{
	const uint64_t words[] = { 0, size, 8, poll };

	target_fake_map(f->target, addr, words, sizeof(words));
}

static uint64_t vtable_of(struct fixture *f, const char *type)
{
	char start[200];

	snprintf(start, sizeof(start), "<%s as core::future::future::Future>::{vtable}", type);
	debuginfo_scan(f->dm, &f->dm->units[0]);
	return find_scope(f, start, DW_TAG_variable)->low + BIAS;
}

static void test_vtables_that_debug_info_describes(void **state)
{
	static const char *const types[] = { "shapes::leaf::{async_fn_env#0}", "shapes::Ready" };
	struct fixture *f = *state;

	for (size_t i = 0; i < 2; i++) {
		uint64_t addr = vtable_of(f, types[i]);
		bool exact = false;

		/* The memory is not mapped: a core without the pages of the file. */
		const struct type *t = lookup_vtable(f->di, addr, 3, &exact);
		assert_non_null(t);
		assert_string_equal(type_name(t), types[i]);
		assert_true(exact);
		map_vtable(f, addr, type_size(t), 0);
		assert_ptr_equal(lookup_vtable(f->di, addr, 3, &exact), t);
		assert_true(exact);
	}
}

/* A copy of the vtable that no debug info describes: its function tells the type. */
static void test_vtables_by_their_poll_function(void **state)
{
	struct fixture *f = *state;
	const struct type *leaf = must_find(f, "shapes::leaf::{async_fn_env#0}");
	const struct type *ready = must_find(f, "shapes::Ready");
	bool exact = false;

	uint64_t poll = find_scope(f, "{async_fn#0}", DW_TAG_subprogram)->low;
	size_t n;
	const struct scope *scopes = read_scopes(f, &n);
	for (size_t i = 0; i < n; i++) {
		const struct scope *s = &scopes[i];

		if (s->tag == DW_TAG_subprogram && s->linkage &&
		    strstr(s->linkage, "shapes4leaf") && s->has_address &&
		    strcmp(s->name, "{async_fn#0}") == 0)
			poll = s->low;
	}
	map_vtable(f, 0x6000000, type_size(leaf), poll + BIAS);
	assert_ptr_equal(lookup_vtable(f->di, 0x6000000, 3, &exact), leaf);
	assert_true(exact);
	/* A wrong size means that the function belongs to another type. */
	map_vtable(f, 0x6001000, type_size(leaf) + 8, poll + BIAS);
	assert_null(lookup_vtable(f->di, 0x6001000, 3, &exact));

	/* A hand-written poll may be shared by several types. */
	poll = find_scope(f, "poll", DW_TAG_subprogram)->low;
	map_vtable(f, 0x6002000, type_size(ready), poll + BIAS);
	assert_ptr_equal(lookup_vtable(f->di, 0x6002000, 3, &exact), ready);
	assert_false(exact);
}

/* The first method of another trait than Future has a reference, which is not pinned. */
static void test_vtables_by_another_method(void **state)
{
	struct fixture *f = *state;
	const struct type *tagged = must_find(f, "shapes::TaggedU8");
	bool exact = true;

	map_vtable(f, 0x6004000, type_size(tagged), address_of(f, "integers"));
	assert_ptr_equal(lookup_vtable(f->di, 0x6004000, 3, &exact), tagged);
	assert_false(exact);
}

/* The word at the place of a method may lead to any function. */
static void test_vtables_by_a_function_without_arguments(void **state)
{
	struct fixture *f = *state;
	unsigned found = 0;
	size_t n;
	bool exact;

	const struct scope *scopes = read_scopes(f, &n);
	for (size_t i = 0; i < n; i++) {
		const struct scope *s = &scopes[i];
		const struct function *function = s->tag == DW_TAG_subprogram && s->has_address
		                                          ? lookup_function(f->di, s->low + BIAS)
		                                          : NULL;

		if (!function || function_first_argument(function))
			continue;
		found++;
		map_vtable(f, 0x6005000 + 0x1000 * i, 8, s->low + BIAS);
		assert_null(lookup_vtable(f->di, 0x6005000 + 0x1000 * i, 3, &exact));
	}
	assert_true(found > 0);
}

static void test_vtables_that_are_none(void **state)
{
	struct fixture *f = *state;
	bool exact;

	map_vtable(f, 0x6010000, 8, 0);
	map_vtable(f, 0x6011000, 8, address_of(f, "boxed"));
	map_vtable(f, 0x6012000, UINT64_MAX, UINT64_MAX);
	const uint64_t addrs[] = {
		0,         8,         UINT64_MAX, UINT64_MAX - 23,       0x6010000,
		0x6011000, 0x6012000, 0x6010008,  address_of(f, "boxed")
	};
	for (size_t i = 0; i < sizeof(addrs) / sizeof(addrs[0]); i++)
		assert_null(lookup_vtable(f->di, addrs[i], 3, &exact));
}

/* ---- locations ---- */

static void test_locations(void **state)
{
	struct fixture *f = *state;
	uint64_t addr = address_of(f, "boxed");
	size_t n = 0;
	struct location *l = lookup_locations(f->di, addr, &f->arena, &n);

	assert_true(n >= 1);
	assert_string_equal(l[n - 1].function->name, "shapes::boxed");
	assert_false(l[n - 1].inlined);
	assert_string_equal(l[n - 1].file, "/src/shapes.rs");
	assert_true(l[n - 1].line > 100);
	l = lookup_functions_at(f->di, addr, &f->arena, &n);
	assert_null(l[0].file);
	l = lookup_locations(f->di, 12345, &f->arena, &n);
	assert_int_equal(n, 1);
	assert_null(l[0].function);
}

/* ---- wrong debug info ---- */

enum { U = 1, FUNCTION, NAMESPACE, BODY, STRUCT, SPLIT };

static size_t begin_hand(struct hand_made *h)
{
	struct bytes *b = &h->abbrev;

	put_abbrev(b, U, DW_TAG_compile_unit, 1, DW_AT_name, DW_FORM_string, DW_AT_low_pc,
	           DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, 0);
	put_abbrev(b, FUNCTION, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_string, DW_AT_low_pc,
	           DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, 0);
	put_abbrev(b, NAMESPACE, DW_TAG_namespace, 1, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(b, BODY, DW_TAG_subprogram, 0, DW_AT_specification, DW_FORM_ref4, DW_AT_low_pc,
	           DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, 0);
	put_abbrev(b, STRUCT, DW_TAG_structure_type, 0, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(b, SPLIT, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_string, DW_AT_ranges,
	           DW_FORM_sec_offset, 0);
	put_fixed(b, 0, 1);
	size_t unit = begin_unit(&h->info, 4, 0);
	put_uleb(&h->info, U);
	put_text(&h->info, "src/lib.rs/@/odd.1");
	return unit;
}

static void put_range(struct hand_made *h, uint64_t low, uint32_t size)
{
	put_fixed(&h->info, low, 8);
	put_fixed(&h->info, size, 4);
}

static void put_function(struct hand_made *h, const char *name, uint64_t low, uint32_t size)
{
	put_uleb(&h->info, FUNCTION);
	put_text(&h->info, name);
	put_range(h, low, size);
}

static struct fixture end_hand(struct hand_made *h, size_t unit)
{
	put_fixed(&h->info, 0, 1);
	end_unit(&h->info, unit);
	return hand_made_open(h);
}

/* Without .debug_aranges the unit's own range is used. */
static void test_no_aranges(void **state)
{
	(void)state;
	struct hand_made h = { 0 };
	size_t unit = begin_hand(&h);
	put_range(&h, 0x2000, 0x100);
	put_function(&h, "f", 0x2010, 16);
	struct fixture f = end_hand(&h, unit);

	assert_string_equal(lookup_function(f.di, 0x2010 + BIAS)->name, "f");
	assert_null(lookup_function(f.di, 0x2020 + BIAS));
	assert_null(lookup_function(f.di, 0x3000 + BIAS));
	fixture_close(&f);
}

/* Neither the section nor the unit has a range: no function is found. */
static void test_no_ranges_at_all(void **state)
{
	(void)state;
	struct hand_made h = { 0 };
	size_t unit = begin_hand(&h);
	put_range(&h, 0, 0);
	put_function(&h, "f", 0x2010, 16);
	struct fixture f = end_hand(&h, unit);

	assert_null(lookup_function(f.di, 0x2010 + BIAS));
	fixture_close(&f);
}

/* A function in two parts, of a unit that is not the first one. */
static void test_a_split_function(void **state)
{
	static const uint64_t ranges[] = {
		0x10, 0x20, 0x80, 0x90, 0, 0
	}; /* from the unit's address on */

	(void)state;
	struct hand_made h = { 0 };
	size_t unit = begin_hand(&h);
	put_range(&h, 0x1000, 0x100);
	put_fixed(&h.info, 0, 1);
	end_unit(&h.info, unit);
	unit = begin_unit(&h.info, 4, 0);
	put_uleb(&h.info, U);
	put_text(&h.info, "src/lib.rs/@/odd.2");
	put_range(&h, 0x2000, 0x100);
	put_uleb(&h.info, SPLIT);
	put_text(&h.info, "f");
	put_fixed(&h.info, 0, 4);
	put(&h.ranges, ranges, sizeof(ranges));
	struct fixture f = end_hand(&h, unit);

	assert_string_equal(lookup_function(f.di, 0x2010 + BIAS)->name, "f");
	assert_string_equal(lookup_function(f.di, 0x208f + BIAS)->name, "f");
	assert_null(lookup_function(f.di, 0x2020 + BIAS));
	fixture_close(&f);
}

/* Identical functions were merged: several have one address, and all but one have the size 0. */
static void test_several_functions_at_one_address(void **state)
{
	(void)state;
	for (unsigned order = 0; order < 3; order++) {
		struct hand_made h = { 0 };
		size_t unit = begin_hand(&h);

		put_range(&h, 0x2000, 0x100);
		for (unsigned i = 0; i < 3; i++)
			put_function(&h, i == order ? "f" : "empty", 0x2010, i == order ? 16 : 0);
		struct fixture f = end_hand(&h, unit);
		const struct function *function = lookup_function(f.di, 0x2014 + BIAS);

		assert_non_null(function);
		assert_string_equal(function->name, "f");
		fixture_close(&f);
	}
}

static void put_aranges(struct hand_made *h, uint32_t length, uint64_t low, uint64_t size)
{
	struct bytes *b = &h->aranges;

	put_fixed(b, length, 4);
	put_fixed(b, 2, 2);
	put_fixed(b, 0, 4);
	put_fixed(b, 8, 1);
	put_fixed(b, 0, 1);
	put_fixed(b, 0, 4); /* aligned to 16 */
	put_fixed(b, low, 8);
	put_fixed(b, size, 8);
	put_fixed(b, 0, 8);
	put_fixed(b, 0, 8);
}

static void test_aranges(void **state)
{
	static const struct {
		uint32_t length;
		uint64_t low, size;
		bool found;
	} rows[] = {
		{ 44, 0x2000, 0x100, true },         { 44, 0x2000, 0x10, false },
		{ 44, 0x2000, UINT64_MAX, false },   { 28, 0x2000, 0x100, true },
		{ 0x7fffffff, 0x2000, 0x100, true }, { 0, 0x2000, 0x100, true },
	};
	(void)state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct hand_made h = { 0 };
		size_t unit = begin_hand(&h);

		/* If the section is unreadable, the unit's own range is used. */
		put_range(&h, 0x2000, 0x100);
		put_function(&h, "f", 0x2010, 16);
		put_aranges(&h, rows[i].length, rows[i].low, rows[i].size);
		struct fixture f = end_hand(&h, unit);
		assert_int_equal(lookup_function(f.di, 0x2010 + BIAS) != NULL, rows[i].found);
		fixture_close(&f);
	}
}

/* A function that completes itself, and two that complete each other. */
static void test_specifications_in_a_cycle(void **state)
{
	(void)state;
	struct hand_made h = { 0 };
	size_t unit = begin_hand(&h);
	put_range(&h, 0x2000, 0x100);
	for (unsigned i = 0; i < 3; i++) {
		uint32_t self = (uint32_t)h.info.n, size = 1 + 4 + 8 + 4;

		put_uleb(&h.info, BODY);
		put_fixed(&h.info, i == 1 ? self + size : i == 2 ? self - size : self, 4);
		put_range(&h, 0x2000 + i * 16, 16);
	}
	struct fixture f = end_hand(&h, unit);

	for (unsigned i = 0; i < 3; i++) {
		const struct function *function = lookup_function(f.di, 0x2000 + i * 16 + BIAS);

		assert_string_equal(function->name, "?");
		assert_null(function_param(function, "T"));
		assert_null(function_variable(function, "x"));
		assert_null(function_first_argument(function));
	}
	fixture_close(&f);
}

/* Two namespaces of one name, and a type whose path is the tail of another's. */
static void test_names_are_compared_whole(void **state)
{
	(void)state;
	struct hand_made h = { 0 };
	size_t unit = begin_hand(&h);
	put_range(&h, 0x2000, 0x100);
	put_uleb(&h.info, NAMESPACE);
	put_text(&h.info, "a");
	put_uleb(&h.info, NAMESPACE);
	put_text(&h.info, "b");
	put_uleb(&h.info, STRUCT);
	put_text(&h.info, "S<x::Y>");
	put_fixed(&h.info, 0, 2);
	put_uleb(&h.info, NAMESPACE);
	put_text(&h.info, "b");
	uint32_t inner = (uint32_t)h.info.n;
	put_uleb(&h.info, STRUCT);
	put_text(&h.info, "S<x::Y>");
	put_fixed(&h.info, 0, 1);
	struct fixture f = end_hand(&h, unit);

	assert_int_equal(type_die(must_find(&f, "b::S<x::Y>")), inner);
	assert_string_equal(type_name(must_find(&f, "a::b::S<x::Y>")), "a::b::S<x::Y>");
	assert_null(lookup_type(f.dm, "c::b::S<x::Y>", 0));
	assert_null(lookup_type(f.dm, "S<x::Y>", 0));
	assert_null(lookup_type(f.dm, "ab::S<x::Y>", 0));
	fixture_close(&f);
}

/*
 * The variable is found by name, type and offset: a cached result does not answer for another
 * variable.
 */
static void test_declarations(void **state)
{
	struct fixture *f = *state;
	const struct type *t = must_find(f, "shapes::middle::{async_fn_env#0}");
	const struct variant *v = type_variant(t, "Suspend0");
	const char *file;
	unsigned line;

	assert_non_null(v);
	const struct member *m = type_member(v->payload, "name");
	assert_non_null(m);
	struct saved_variable wanted = { .coroutine = t,
		                         .state = (unsigned)v->discr,
		                         .name = m->name,
		                         .type = type_name(m->type),
		                         .offset = v->offset + m->offset };
	for (int i = 0; i < 2; i++) {
		assert_true(lookup_declaration(&wanted, &file, &line));
		assert_string_equal(strrchr(file, '/'), "/shapes.rs");
		assert_int_equal(line, 162);
	}
	wanted.type = "u32";
	wanted.offset += 8;
	assert_false(lookup_declaration(&wanted, &file, &line));
}

static void check_awaitee(struct fixture *f, unsigned nth, unsigned expected)
{
	const char *file;
	unsigned line;
	bool found = lookup_awaitee_line(must_find(f, "shapes::middle::{async_fn_env#0}"),
	                                 "shapes::leaf::{async_fn_env#0}", nth, &file, &line);

	assert_int_equal(found, expected != 0);
	if (found) {
		assert_int_equal(line, expected);
		assert_non_null(strstr(file, "shapes.rs"));
	}
}

static void test_lines_of_awaitees(void **state)
{
	check_awaitee(*state, 0, 163);
	check_awaitee(*state, 1, 164);
	check_awaitee(*state, 2, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_function_by_address),
		cmocka_unit_test(test_addresses_without_a_function),
		cmocka_unit_test(test_declarations),
		cmocka_unit_test(test_template_parameters),
		cmocka_unit_test(test_context_of_a_task),
		cmocka_unit_test(test_created_context),
		cmocka_unit_test(test_received_context),
		cmocka_unit_test(test_async_code),
		cmocka_unit_test(test_names_of_dies),
		cmocka_unit_test(test_types_by_name),
		cmocka_unit_test(test_thread_local),
		cmocka_unit_test(test_thread_locals_that_are_none),
		cmocka_unit_test(test_statics_that_are_none),
		cmocka_unit_test(test_vtables_that_debug_info_describes),
		cmocka_unit_test(test_vtables_by_their_poll_function),
		cmocka_unit_test(test_vtables_by_another_method),
		cmocka_unit_test(test_vtables_by_a_function_without_arguments),
		cmocka_unit_test(test_vtables_that_are_none),
		cmocka_unit_test(test_locations),
		cmocka_unit_test(test_no_aranges),
		cmocka_unit_test(test_no_ranges_at_all),
		cmocka_unit_test(test_a_split_function),
		cmocka_unit_test(test_several_functions_at_one_address),
		cmocka_unit_test(test_aranges),
		cmocka_unit_test(test_specifications_in_a_cycle),
		cmocka_unit_test(test_names_are_compared_whole),
		cmocka_unit_test(test_lines_of_awaitees),
	};

	return cmocka_run_group_tests(tests, shapes_setup, shapes_teardown);
}
