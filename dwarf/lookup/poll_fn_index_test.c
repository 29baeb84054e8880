#include "dwarf/lookup/poll_fn_index.h"

#include <stdlib.h>

#include "dwarf/module/die_name.h"
#include "dwarf/module/residency.h"
#include "dwarf/module/symtab.h"
#include "dwarf/test/module.h"

struct never_row {
	const char *name;
	bool never;
};

static void check_never(bool (*never)(const char *type_name), const struct never_row *rows,
                        size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(never(rows[i].name), rows[i].never);
}

static void test_never(void **state)
{
	(void)state;
	static const struct never_row rows[] = {
		{ "alloc::string::String", true },
		{ "alloc::vec::Vec<core::future::ready::Ready<u8>, alloc::alloc::Global>", true },
		{ "core::option::Option<app::Fut>", true },
		{ "std::sync::poison::mutex::Mutex<u8>", true },
		{ "(app::Fut, app::Fut)", true },
		{ "[app::Fut; 2]", true },
		{ "app::run::{async_fn#0}::{closure_env#0}<app::Fut>", true },
		{ "*const app::Fut", true },
		{ "*mut dyn app::Fut", true },
		{ "core::future::ready::Ready<u8>", false },
		{ "core::pin::Pin<&mut app::Fut>", false },
		{ "alloc::boxed::Box<app::Fut, alloc::alloc::Global>", false },
		{ "core::panic::unwind_safe::AssertUnwindSafe<app::Fut>", false },
		{ "app::Fut", false },
		{ "corelib::Fut", false },
		{ "standard::Fut", false },
		{ "&mut app::Fut", false },
		{ "app::run::{async_fn_env#0}", false },
		{ "app::Fut<app::run::{closure_env#0}>", false },
		{ "", false },
	};

	check_never(poll_fn_never_takes, rows, sizeof(rows) / sizeof(rows[0]));
}

static void test_never_behind(void **state)
{
	(void)state;
	static const struct never_row rows[] = {
		{ "alloc::boxed::Box<[u8], alloc::alloc::Global>", true },
		{ "alloc::boxed::Box<(app::Fut, app::Fut), alloc::alloc::Global>", true },
		{ "alloc::boxed::Box<core::option::Option<app::Fut>, alloc::alloc::Global>", true },
		{ "alloc::boxed::Box<(dyn core::error::Error + core::marker::Send)>", true },
		{ "core::pin::Pin<alloc::boxed::Box<dyn core::any::Any>>", true },
		{ "core::pin::Pin<&mut (app::Fut, app::Fut)>", true },
		{ "&mut [app::Fut]", true },
		{ "alloc::boxed::Box<app::Fut, alloc::alloc::Global>", false },
		{ "alloc::boxed::Box<(dyn core::future::future::Future<Output=()>)>", false },
		{ "alloc::boxed::Box<dyn app::Fut>", false },
		{ "alloc::boxed::Box<(dyn app::Fut + core::marker::Send)>", false },
		{ "alloc::boxed::Box<core::future::ready::Ready<u8>>", false },
		{ "alloc::boxed::Box<alloc::boxed::Box<[u8]>>", false },
		{ "core::pin::Pin<&mut app::run::{async_fn_env#0}>", false },
		{ "&[app::Fut]", false },
		{ "[app::Fut; 2]", false },
		{ "alloc::boxed::Box<", false },
		{ "alloc::boxed::Box<(dyn ", false },
		{ "", false },
	};

	check_never(poll_fn_never_takes_pointer_to, rows, sizeof(rows) / sizeof(rows[0]));
}

/* The poll functions of the unit are found by their first argument. */
static void test_has_poll(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(lookup_polled_as(must_find(f, "shapes::Ready")), POLLED_AS_FUTURE);
	assert_int_equal(lookup_polled_as(must_find(f, "shapes::Lists")), 0);
	assert_int_equal(lookup_polled_as(must_find(f, "alloc::string::String")), 0);
	/* The poll function of a coroutine is its body and has its own name. */
	const struct type *leaf = must_find(f, "shapes::leaf::{async_fn_env#0}");
	const char *linkage = lookup_poll_linkage(leaf);
	assert_non_null(linkage);
	assert_non_null(strstr(linkage, "6shapes4leaf"));
}

/* Poll<!> and Poll<Infallible> have no size: in DWARF the function returns nothing. */
static void test_polls_of_what_never_ends(void **state)
{
	struct fixture f = fixture_open_file("testdata/unit/endless.elf");
	const char *linkage =
		lookup_poll_linkage(must_find(&f, "endless::{impl#0}::run::{async_fn_env#0}"));

	(void)state;
	assert_non_null(linkage);
	assert_non_null(strstr(linkage, "6Server3run"));
	assert_int_equal(lookup_polled_as(must_find(&f, "endless::Forever")), POLLED_AS_FUTURE);
	assert_int_equal(lookup_polled_as(must_find(&f, "endless::Selector")), 0);
	fixture_close(&f);
}

/* A generic future of a library may be polled in other crates' units alone. */
static void test_polled_in_another_crate(void **state)
{
	struct fixture f = fixture_open_file("testdata/unit/spread.elf");
	const struct type *keeps = must_find(&f, "spread::Keeps");

	(void)state;
	assert_int_equal(lookup_polled_as(type_member(keeps, "future")->type), POLLED_AS_FUTURE);
	assert_int_equal(lookup_polled_as(type_member(keeps, "unpolled")->type), 0);
	assert_int_equal(lookup_polled_as(type_member(keeps, "plain")->type), 0);
	fixture_close(&f);
}

static void note_unit(const struct poll_place *at, void *arg)
{
	const struct unit **ret = arg;

	assert_true(at->pc > 0);
	*ret = at->u;
}

static void expect_leaf(const struct poll_place *at, void *arg)
{
	struct fixture *f = arg;
	const char *name = poll_symbols_place_name(f->dm, at);
	struct poll_place nowhere = *at;

	assert_non_null(name);
	assert_non_null(strstr(name, "6shapes4leaf"));
	nowhere.symbol = (1 << 27) - 1;
	assert_null(poll_symbols_place_name(f->dm, &nowhere));
}

/* The same from the symbol table. */
static void test_symbols(void **state)
{
	struct fixture *f = *state;
	const struct unit *u = NULL;

	assert_true(poll_symbols_each_poll(f->dm, "shapes::Ready", note_unit, &u));
	assert_ptr_equal(u, &f->dm->units[0]);
	u = NULL;
	assert_true(poll_symbols_each_poll(f->dm, "other::Ready<u8>", note_unit, &u));
	assert_null(u);
	/*
	 * Not a plain path: searched by the last identifier among the symbols without one; none
	 * matches.
	 */
	assert_true(poll_symbols_each_poll(f->dm, "shapes::{impl#1}::Ready", note_unit, &u));
	assert_null(u);
	assert_int_equal(poll_symbols_poll(f->dm, "shapes::Ready", POLLED_AS_FUTURE),
	                 SYMTAB_POLL_ALL);
	assert_int_equal(poll_symbols_poll(f->dm, "shapes::Lists", POLLED_AS_FUTURE),
	                 SYMTAB_POLL_NONE);
	assert_int_equal(poll_symbols_poll(f->dm, "other::Ready", POLLED_AS_FUTURE),
	                 SYMTAB_POLL_NONE);
	assert_int_equal(poll_symbols_poll(f->dm, "shapes::{impl#1}::Ready", POLLED_AS_FUTURE),
	                 SYMTAB_POLL_UNKNOWN);
	assert_int_equal(poll_symbols_poll(f->dm, "&mut shapes::Ready", POLLED_AS_FUTURE),
	                 SYMTAB_POLL_UNKNOWN);
	assert_int_equal(poll_symbols_poll(f->dm, "", POLLED_AS_FUTURE), SYMTAB_POLL_UNKNOWN);
	u = NULL;
	assert_true(poll_symbols_each_poll(f->dm, "shapes::Lists", note_unit, &u));
	assert_null(u);
	assert_true(poll_symbols_each_closure(f->dm, "leaf", note_unit, &u));
	assert_ptr_equal(u, &f->dm->units[0]);
	assert_true(poll_symbols_each_closure(f->dm, "leaf", expect_leaf, f));
	u = NULL;
	assert_true(poll_symbols_each_closure(f->dm, "lea", note_unit, &u));
	assert_null(u);
	assert_false(poll_symbols_each_poll(f->dm, "", note_unit, &u));
}

static void test_symbol_at(void **state)
{
	struct fixture *f = *state;
	size_t n, functions = 0;
	const struct scope *scopes = read_scopes(f, &n);

	for (size_t i = 0; i < n; i++) {
		const struct scope *s = &scopes[i];

		if (s->tag != DW_TAG_subprogram || !s->has_address || !s->linkage)
			continue;
		const char *first = symtab_function_at(f->dm, s->low);
		assert_non_null(first);
		assert_ptr_equal(symtab_function_at(f->dm, s->high - 1), first);
		functions++;
	}
	assert_true(functions > 10);
	assert_null(symtab_function_at(f->dm, 1));
	assert_null(symtab_function_at(f->dm, UINT64_MAX));
}

/* Sections at the distances of the file belong to one mapping; a copy elsewhere does not. */
static void test_mapping(void **state)
{
	(void)state;
	struct file_mapping m = { 0 };
	uint8_t *file = (uint8_t *)0x7000000, *heap = (uint8_t *)0x1230010;

	residency_add(&m, heap, 0x500, 64);
	assert_null(m.base);
	residency_add(&m, NULL, 0, 64);
	assert_null(m.base);
	residency_add(&m, file + 0x2345, 0x2345, 100);
	assert_ptr_equal(m.base, file);
	residency_add(&m, file + 0x1000, 0x1000, 8);
	residency_add(&m, file + 0x9000, 0x8000, 8);
	residency_add(&m, file + 0x4000, 0x4000, 0x10);
	residency_add(&m, file + 16, UINT64_MAX, 32);
	assert_ptr_equal(m.base, file);
	assert_int_equal(m.low, 0x1000);
	assert_int_equal(m.high, 0x4010);
	/* The address is not mapped. */
	residency_confirm(&m);
	assert_int_equal(m.size, 0);
	/* Anonymous memory. */
	uint8_t *heap_pages = mmap(NULL, 0x10000, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(heap_pages != MAP_FAILED);
	m = (struct file_mapping){ 0 };
	residency_add(&m, heap_pages + 0x100, 0x100, 0x1000);
	assert_non_null(m.base);
	residency_confirm(&m);
	assert_int_equal(m.size, 0);
	munmap(heap_pages, 0x10000);
}

/* The number of mappings that overlap [start, start + size). */
static size_t mappings_in(const uint8_t *start, size_t size)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long low, high;
	size_t n = 0;
	char line[8192];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		assert_int_equal(sscanf(line, "%lx-%lx", &low, &high), 2);
		n += low < (uintptr_t)start + size && high > (uintptr_t)start;
	}
	fclose(maps);
	return n;
}

/* The number of resident bytes of the mappings in [start, start + size). */
static size_t resident_in(const uint8_t *start, size_t size)
{
	FILE *smaps = fopen("/proc/self/smaps", "re");
	unsigned long low, high, kib;
	bool inside = false;
	size_t bytes = 0;
	char line[8192];

	assert_non_null(smaps);
	while (fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%lx-%lx ", &low, &high) == 2)
			inside = low < (uintptr_t)start + size && high > (uintptr_t)start;
		else if (inside && sscanf(line, "Rss: %lu kB", &kib) == 1)
			bytes += kib << 10;
	}
	fclose(smaps);
	return bytes;
}

enum { MIB = 1 << 20, SCATTERED_SIZE = 64 * MIB };

/* Maps a file in memory; each page begins with its offset. */
static uint8_t *map_numbered(int *fd)
{
	*fd = memfd_create("numbered", MFD_CLOEXEC);
	assert_int_equal(ftruncate(*fd, SCATTERED_SIZE), 0);
	for (size_t i = 0; i < SCATTERED_SIZE; i += 4096)
		assert_int_equal(pwrite(*fd, &i, sizeof(i), (off_t)i), sizeof(i));
	uint8_t *file = mmap(NULL, SCATTERED_SIZE, PROT_READ, MAP_PRIVATE, *fd, 0);
	assert_true(file != MAP_FAILED);
	return file;
}

/* Touches all pages and checks their offsets. */
static void expect_numbers(const uint8_t *file)
{
	for (size_t i = 0; i < SCATTERED_SIZE; i += 4096)
		assert_memory_equal(file + i, &i, sizeof(i));
}

/* A section with scattered reads is mapped in pieces smaller than a large folio. */
static void test_scattered(void **state)
{
	(void)state;
	struct dwarf_module dm = { 0 };
	uint8_t heap[16];
	int fd;
	uint8_t *file = map_numbered(&fd);

	residency_add(&dm.file, file, 0, MIB);
	residency_add_scattered(&dm.file, file + MIB, MIB, 6 * MIB);
	assert_int_equal(dm.file.scattered.low, MIB);
	assert_int_equal(dm.file.scattered.high, 7 * MIB);
	assert_int_equal(mappings_in(file, SCATTERED_SIZE), 1);
	residency_confirm(&dm.file);
	assert_int_equal(dm.file.size, SCATTERED_SIZE);
	if (access("/sys/kernel/mm/transparent_hugepage", F_OK) == 0)
		assert_in_range(mappings_in(file, SCATTERED_SIZE), 4, 8);
	/* Data elsewhere does not extend the mapping. */
	residency_add_scattered(&dm.file, heap, MIB, MIB);
	residency_add_scattered(&dm.file, heap, UINT64_MAX - MIB, MIB);
	assert_int_equal(dm.file.scattered.high, 7 * MIB);
	munmap(file, SCATTERED_SIZE);
	close(fd);
}

/* Released pages are not resident, and have their bytes again when they are touched. */
static void test_passed_and_released(void **state)
{
	(void)state;
	struct dwarf_module dm = { 0 };
	int fd;
	uint8_t *file = map_numbered(&fd);
	struct residency_pass pass = { &dm, file };

	residency_add(&dm.file, file, 0, SCATTERED_SIZE);
	residency_confirm(&dm.file);
	expect_numbers(file);
	assert_int_equal(resident_in(file, SCATTERED_SIZE), SCATTERED_SIZE);
	residency_passed(&pass, file + MIB); /* too short a distance to release */
	assert_ptr_equal(pass.from, file);
	assert_int_equal(resident_in(file, SCATTERED_SIZE), SCATTERED_SIZE);
	residency_passed(&pass, file + 24 * MIB);
	assert_ptr_equal(pass.from, file + 24 * MIB);
	/* Released up to the huge page of the current position. */
	assert_in_range(resident_in(file, SCATTERED_SIZE), 38 * MIB, 40 * MIB);
	expect_numbers(file);
	residency_drop(&dm, file + 4 * MIB, 4096);
	assert_in_range(resident_in(file, SCATTERED_SIZE), 60 * MIB, 62 * MIB);
	residency_release(&dm);
	assert_int_equal(resident_in(file, SCATTERED_SIZE), 0);
	expect_numbers(file);
	munmap(file, SCATTERED_SIZE);
	close(fd);
}

/* Dropped pages have their bytes again when they are touched. */
static void test_dropped_pages(void **state)
{
	(void)state;
	enum { SIZE = 0x8000 };
	char path[4096];
	struct dwarf_module dm = { 0 };
	SCRATCH(tmp);

	snprintf(path, sizeof(path), "%s/testdata/unit/shapes.elf", getenv("SOURCE_DIR"));
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *file = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(file != MAP_FAILED);
	residency_add(&dm.file, file + 0x10, 0x10, SIZE - 0x10);
	residency_confirm(&dm.file);
	assert_int_equal(dm.file.size, SIZE);
	/* Beyond the mapping. */
	residency_add(&dm.file, file + SIZE, SIZE, 0x1000);
	assert_int_equal(dm.file.high, SIZE);

	const uint8_t *before = arena_memdup(&tmp, file, SIZE);
	residency_drop(&dm, file + 0x10, SIZE - 0x10);
	assert_memory_equal(before, file, SIZE);
	residency_drop(&dm, before, SIZE); /* not in the file's mapping */
	assert_memory_equal(before, file, SIZE);
	munmap(file, SIZE);
	close(fd);
}

/* ---- inlined functions ---- */

static bool is_polled(const struct fixture *f, const char *type_name)
{
	return map_has(&f->dm->polls.polled, map_key_of_text(type_name));
}

static const struct static_place *coroutine_poll(const struct fixture *f, const char *name)
{
	return map_get(&f->dm->polls.coroutines, map_key_of_text(name));
}

static void note_code(const struct poll_place *at, void *arg)
{
	uint64_t *ret = arg;

	assert_non_null(at->u);
	assert_int_equal(*ret, 0);
	*ret = at->pc;
}

/* The address of the only poll function of an async fn of inlined.rs. */
static uint64_t code_of(struct fixture *f, const char *function)
{
	uint64_t pc = 0;

	assert_true(poll_symbols_each_closure(f->dm, function, note_code, &pc));
	assert_true(pc > 0);
	return pc;
}

static struct fixture inlined_open(void)
{
	return fixture_open_file("testdata/unit/inlined.elf");
}

static const char poll_fn_type[] =
	"core::future::poll_fn::PollFn<inlined::outer::{async_fn#0}::{closure_env#0}>";

/* Reads the functions that the optimiser inlined, at any depth, and nothing else of the unit. */
static void test_inlined(void **state)
{
	struct fixture f = inlined_open();
	struct unit *u = &f.dm->units[0];
	uint64_t outer = code_of(&f, "outer"), other = code_of(&f, "other");

	(void)state;
	assert_false(is_polled(&f, "inlined::Leaf"));
	assert_false(is_polled(&f, "inlined::Deep"));
	assert_false(is_polled(&f, poll_fn_type));
	assert_null(coroutine_poll(&f, "inlined::inner::{async_fn#0}"));
	poll_fn_read_inlined(f.dm, u, outer);
	assert_true(is_polled(&f, "inlined::Leaf"));
	assert_true(is_polled(&f, "inlined::Deep"));
	assert_true(is_polled(&f, poll_fn_type));
	/*
	 * Functions named poll with other result types or of other traits, and polls inlined
	 * elsewhere.
	 */
	assert_false(is_polled(&f, "inlined::Selector"));
	assert_false(is_polled(&f, "inlined::Chooser"));
	assert_false(is_polled(&f, "inlined::Elsewhere"));
	assert_int_equal(f.dm->polls.polled.n, 3);
	/*
	 * A coroutine's poll function is recorded by its name without generics; a closure is not.
	 */
	const struct static_place *inner = coroutine_poll(&f, "inlined::inner::{async_fn#0}");
	assert_non_null(inner);
	assert_null(inner->next);
	assert_string_equal(die_name(f.dm, inner->die), "inlined::inner::{async_fn#0}<u8>");
	assert_int_equal(f.dm->polls.coroutines.n, 1);
	/* The unit as a whole was not read. */
	assert_false(u->polled_noted);

	poll_fn_read_inlined(f.dm, u, other);
	assert_true(is_polled(&f, "inlined::Elsewhere"));
	assert_int_equal(f.dm->polls.polled.n, 4);
	assert_int_equal(f.dm->polls.coroutines.n, 1);
	/* A second read adds nothing. */
	poll_fn_read_inlined(f.dm, u, outer);
	assert_ptr_equal(coroutine_poll(&f, "inlined::inner::{async_fn#0}"), inner);
	fixture_close(&f);
}

static void test_inlined_nowhere(void **state)
{
	struct fixture f = inlined_open();
	uint64_t outer = code_of(&f, "outer");
	const uint64_t pcs[] = { 0, 1, outer - 1, outer + 1, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(pcs) / sizeof(pcs[0]); i++)
		poll_fn_read_inlined(f.dm, &f.dm->units[0], pcs[i]);
	assert_int_equal(f.dm->polls.polled.n, 0);
	assert_int_equal(f.dm->polls.coroutines.n, 0);
	fixture_close(&f);
}

/* A unit that was read completely adds nothing again. */
static void test_inlined_of_a_noted_unit(void **state)
{
	static const char name[] = "inlined::inner::{async_fn#0}";
	struct fixture f = inlined_open();
	struct unit *u = &f.dm->units[0];
	uint64_t outer = code_of(&f, "outer");

	(void)state;
	poll_fn_read(f.dm, u);
	size_t npolled = f.dm->polls.polled.n, ncoroutines = f.dm->polls.coroutines.n;
	const struct static_place *inner = coroutine_poll(&f, name);
	assert_true(is_polled(&f, "inlined::Leaf"));
	assert_true(is_polled(&f, "inlined::Elsewhere"));
	assert_non_null(coroutine_poll(&f, "inlined::outer::{async_fn#0}"));
	assert_non_null(inner);
	poll_fn_read_inlined(f.dm, u, outer);
	assert_int_equal(f.dm->polls.polled.n, npolled);
	assert_int_equal(f.dm->polls.coroutines.n, ncoroutines);
	assert_ptr_equal(coroutine_poll(&f, name), inner);
	fixture_close(&f);

	f = inlined_open();
	f.dm->units[0].polled_noted = true;
	poll_fn_read_inlined(f.dm, &f.dm->units[0], code_of(&f, "outer"));
	assert_int_equal(f.dm->polls.polled.n, 0);
	assert_int_equal(f.dm->polls.coroutines.n, 0);
	fixture_close(&f);
}

enum {
	U = 1,
	NAMESPACE,
	STRUCT,
	STATIC,
	POLL,
	DECLARED,
	NOTHING,
	BARE,
	ARGUMENT,
	CALLER,
	EMPTY,
	CALL,
	CALLING,
	CALL_SITE,
	BLOCK,
	STRUCT_AT,
};
enum { FIRST_CALLER = 0x2000, EMPTY_CALLER = 0x2100, SECOND_CALLER = 0x2200 };

static void put_inlined_abbrevs(struct bytes *b)
{
	put_abbrev(b, U, DW_TAG_compile_unit, 1, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(b, NAMESPACE, DW_TAG_namespace, 1, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(b, STRUCT, DW_TAG_structure_type, 0, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(b, STATIC, DW_TAG_variable, 0, DW_AT_name, DW_FORM_string, DW_AT_linkage_name,
	           DW_FORM_string, 0);
	put_abbrev(b, POLL, DW_TAG_subprogram, 1, DW_AT_name, DW_FORM_string, DW_AT_linkage_name,
	           DW_FORM_string, DW_AT_type, DW_FORM_ref4, 0);
	put_abbrev(b, DECLARED, DW_TAG_subprogram, 1, DW_AT_name, DW_FORM_string,
	           DW_AT_linkage_name, DW_FORM_string, DW_AT_type, DW_FORM_ref4, DW_AT_declaration,
	           DW_FORM_flag_present, 0);
	put_abbrev(b, NOTHING, DW_TAG_subprogram, 1, DW_AT_name, DW_FORM_string, DW_AT_linkage_name,
	           DW_FORM_string, 0);
	put_abbrev(b, BARE, DW_TAG_subprogram, 1, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(b, ARGUMENT, DW_TAG_formal_parameter, 0, DW_AT_type, DW_FORM_ref4, 0);
	put_abbrev(b, CALLER, DW_TAG_subprogram, 1, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
	           DW_FORM_data4, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(b, EMPTY, DW_TAG_subprogram, 0, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
	           DW_FORM_data4, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(b, CALL, DW_TAG_inlined_subroutine, 0, DW_AT_call_line, DW_FORM_data1,
	           DW_AT_abstract_origin, DW_FORM_ref_addr, 0);
	put_abbrev(b, CALLING, DW_TAG_inlined_subroutine, 1, DW_AT_abstract_origin,
	           DW_FORM_ref_addr, DW_AT_call_line, DW_FORM_data1, 0);
	put_abbrev(b, CALL_SITE, DW_TAG_GNU_call_site, 0, DW_AT_abstract_origin, DW_FORM_ref_addr,
	           0);
	put_abbrev(b, BLOCK, DW_TAG_lexical_block, 1, 0);
	put_abbrev(b, STRUCT_AT, DW_TAG_structure_type, 0, DW_AT_name, DW_FORM_strp, 0);
	put_fixed(b, 0, 1);
}

static uint32_t put_named(struct bytes *b, unsigned code, const char *name)
{
	uint32_t ret = (uint32_t)b->n;

	put_uleb(b, code);
	put_text(b, name);
	return ret;
}

/* Writes the type core::IN::NAME; returns its offset in the unit. */
static uint32_t put_core(struct bytes *b, const char *in, const char *name, size_t unit)
{
	put_named(b, NAMESPACE, "core");
	put_named(b, NAMESPACE, in);
	uint32_t ret = put_named(b, STRUCT, name) - (uint32_t)unit;
	put_fixed(b, 0, 2);
	return ret;
}

/* Writes a function whose argument and result types are at those offsets in the unit. */
static uint32_t put_poll(struct bytes *b, unsigned code, const char *name, uint32_t argument,
                         uint32_t type)
{
	uint32_t ret = put_named(b, code, name);

	if (code != BARE)
		put_text(b, "_Rpoll");
	if (code == POLL || code == DECLARED)
		put_fixed(b, type, 4);
	put_uleb(b, ARGUMENT);
	put_fixed(b, argument, 4);
	put_fixed(b, 0, 1);
	return ret;
}

static void put_call(struct bytes *b, uint32_t origin)
{
	put_uleb(b, CALL);
	put_fixed(b, 7, 1);
	put_fixed(b, origin, 4);
}

static void begin_calling(struct bytes *b, uint32_t origin)
{
	put_uleb(b, CALLING);
	put_fixed(b, origin, 4);
	put_fixed(b, 7, 1);
}

static void begin_caller(struct bytes *b, unsigned code, uint64_t low)
{
	put_uleb(b, code);
	put_fixed(b, low, 8);
	put_fixed(b, 0x100, 4);
	put_text(b, "caller");
}

static void finish_unit(struct bytes *b, size_t unit)
{
	put_fixed(b, 0, 1);
	end_unit(b, unit);
}

enum origin {
	FUT,
	NEVER,
	CLOSURE,
	COROUTINE,
	COROUTINE_BARE,
	SOME,
	DECLARATION,
	OTHER,
	CALLED,
	SAME_NAME,
	LATER,
	NORIGINS,
};

/* Writes a unit of abstract poll functions and similar functions. */
static void put_polls(struct bytes *b, uint32_t origins[NORIGINS])
{
	static const struct {
		unsigned code;
		const char *name, *pinned;
		bool is_some;
	} rows[NORIGINS] = {
		[FUT] = { POLL, "poll", "Pin<&mut app::Fut>", false },
		[NEVER] = { NOTHING, "poll<u8>", "Pin<&mut app::Never>", false },
		[CLOSURE] = { POLL, "{closure#0}", "Pin<&mut app::Closure>", false },
		[COROUTINE] = { POLL, "{async_fn#0}<u8>", "Pin<&mut app::Coroutine>", false },
		[COROUTINE_BARE] = { BARE, "{async_block#0}", "Pin<&mut app::Bare>", false },
		[SOME] = { POLL, "poll", "Pin<&mut app::Some>", true },
		[DECLARATION] = { DECLARED, "poll", "Pin<&mut app::Declared>", false },
		[OTHER] = { POLL, "poll", "Pin<&app::Shared>", false },
		[CALLED] = { POLL, "poll", "Pin<&mut app::Called>", false },
		[SAME_NAME] = { POLL, "poll", "Pin<&mut app::Same>", false },
		[LATER] = { POLL, "poll", "Pin<&mut app::Later>", false },
	};
	size_t unit = begin_unit(b, 4, 0);

	put_named(b, U, "polls");
	uint32_t result = put_core(b, "task", "Poll<u8>", unit);
	uint32_t option = put_core(b, "option", "Option<u8>", unit);
	for (size_t i = 0; i < NORIGINS; i++) {
		uint32_t pinned = put_core(b, "pin", rows[i].pinned, unit);

		put_named(b, NAMESPACE, "app");
		origins[i] = put_poll(b, rows[i].code, rows[i].name, pinned,
		                      rows[i].is_some ? option : result);
		put_fixed(b, 0, 1);
	}
	finish_unit(b, unit);
}

/* The abstract functions are in other units; a unit that adds nothing is not scanned. */
static void test_inlined_of_other_units(void **state)
{
	struct hand_made h = { 0 };
	struct bytes *b = &h.info;
	uint32_t origins[NORIGINS];

	(void)state;
	put_inlined_abbrevs(&h.abbrev);
	put_polls(b, origins);
	size_t unit = begin_unit(b, 4, 0);
	put_named(b, U, "plain");
	uint32_t option = put_core(b, "option", "Option<u8>", unit);
	uint32_t pinned = put_core(b, "pin", "Pin<&mut app::Plain>", unit);
	uint32_t run = put_poll(b, NOTHING, "run", pinned, 0);
	uint32_t poll = put_poll(b, POLL, "poll", pinned, option);
	finish_unit(b, unit);

	unit = begin_unit(b, 4, 0);
	put_named(b, U, "callers");
	begin_caller(b, CALLER, FIRST_CALLER);
	put_uleb(b, BLOCK);
	begin_calling(b, run);
	put_call(b, origins[FUT]);
	put_fixed(b, 0, 2);
	put_call(b, poll);
	begin_calling(b, origins[SOME]);
	begin_calling(b, origins[CLOSURE]);
	put_fixed(b, 0, 2);
	put_call(b, origins[DECLARATION]);
	put_call(b, origins[OTHER]);
	put_call(b, origins[NEVER]);
	put_call(b, origins[COROUTINE]);
	put_call(b, origins[COROUTINE_BARE]);
	put_uleb(b, CALL_SITE);
	put_fixed(b, origins[CALLED], 4);
	put_fixed(b, 0, 1);
	/* Another function at the same address. */
	begin_caller(b, CALLER, FIRST_CALLER);
	put_call(b, origins[SAME_NAME]);
	put_fixed(b, 0, 1);
	begin_caller(b, EMPTY, EMPTY_CALLER);
	begin_caller(b, CALLER, SECOND_CALLER);
	put_call(b, origins[LATER]);
	put_fixed(b, 0, 1);
	finish_unit(b, unit);
	struct fixture f = hand_made_open(&h);

	assert_int_equal(f.dm->nunits, 3);
	struct unit *polls = &f.dm->units[0], *plain = &f.dm->units[1], *u = &f.dm->units[2];
	assert_false(polls->scanned);
	poll_fn_read_inlined(f.dm, u, FIRST_CALLER);
	assert_true(is_polled(&f, "app::Fut"));
	assert_true(is_polled(&f, "app::Never"));
	assert_true(is_polled(&f, "app::Same"));
	assert_int_equal(f.dm->polls.polled.n, 3);
	const struct static_place *place = coroutine_poll(&f, "app::{async_fn#0}");
	assert_non_null(place);
	assert_int_equal(place->die, origins[COROUTINE]);
	assert_int_equal(f.dm->polls.coroutines.n, 1);
	assert_true(polls->scanned);
	assert_false(plain->scanned);
	poll_fn_read_inlined(f.dm, u, EMPTY_CALLER);
	assert_int_equal(f.dm->polls.polled.n, 3);
	poll_fn_read_inlined(f.dm, u, SECOND_CALLER);
	assert_true(is_polled(&f, "app::Later"));
	assert_int_equal(f.dm->polls.polled.n, 4);
	fixture_close(&f);
}

/* The unit of the abstract functions was read before; the unit of their callers was not. */
static void test_inlined_of_other_noted_units(void **state)
{
	struct hand_made h = { 0 };
	struct bytes *b = &h.info;
	uint32_t origins[NORIGINS], more[NORIGINS];

	(void)state;
	put_inlined_abbrevs(&h.abbrev);
	put_polls(b, origins);
	put_polls(b, more);
	size_t unit = begin_unit(b, 4, 0);
	put_named(b, U, "callers");
	begin_caller(b, CALLER, FIRST_CALLER);
	put_call(b, origins[FUT]);
	put_call(b, origins[COROUTINE]);
	put_call(b, more[LATER]);
	put_fixed(b, 0, 1);
	finish_unit(b, unit);
	struct fixture f = hand_made_open(&h);

	f.dm->units[0].polled_noted = f.dm->units[2].polled_noted = true;
	poll_fn_read_inlined(f.dm, &f.dm->units[2], FIRST_CALLER);
	assert_true(is_polled(&f, "app::Later"));
	assert_int_equal(f.dm->polls.polled.n, 1);
	assert_int_equal(f.dm->polls.coroutines.n, 0);
	assert_false(f.dm->units[0].scanned);
	fixture_close(&f);
}

/* Origins that are not functions or do not exist are skipped; the calls after them are read. */
static void test_inlined_of_what_is_none(void **state)
{
	struct hand_made h = { 0 };
	struct bytes *b = &h.info;
	uint32_t origins[NORIGINS];

	(void)state;
	put_inlined_abbrevs(&h.abbrev);
	put_polls(b, origins);
	size_t unit = begin_unit(b, 4, 0);
	put_named(b, U, "callers");
	uint32_t variable = put_named(b, STATIC, "{async_fn#0}");
	put_text(b, "_Rpoll");
	begin_caller(b, CALLER, FIRST_CALLER);
	const uint32_t bad[] = {
		0, /* the header of the first unit */
		1,
		(uint32_t)unit,
		(uint32_t)unit + 11, /* a unit's own DIE */
		origins[FUT] + 1,    /* in the middle of a name */
		variable,
		(uint32_t)b->n, /* itself */
		0x7fffffff,
		UINT32_MAX,
	};
	put_call(b, (uint32_t)b->n);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		put_call(b, bad[i]);
	put_call(b, origins[FUT]);
	/* The terminators of the function and of the unit are missing. */
	end_unit(b, unit);
	struct fixture f = hand_made_open(&h);

	poll_fn_read_inlined(f.dm, &f.dm->units[1], FIRST_CALLER);
	assert_true(is_polled(&f, "app::Fut"));
	assert_int_equal(f.dm->polls.polled.n, 1);
	assert_int_equal(f.dm->polls.coroutines.n, 0);
	fixture_close(&f);
}

/* Begins a unit of that name, with abbreviations of its own: it is an object file of its own. */
static size_t begin_object(struct hand_made *h, const char *name)
{
	size_t unit = begin_unit(&h->info, 4, (unsigned)h->abbrev.n);

	put_inlined_abbrevs(&h->abbrev);
	put_named(&h->info, U, name);
	return unit;
}

/* Writes namespace app with the type; returns its offset. */
static uint32_t put_app(struct bytes *b, const char *name)
{
	put_named(b, NAMESPACE, "app");
	uint32_t ret = put_named(b, STRUCT, name);
	put_fixed(b, 0, 1);
	return ret;
}

/* Writes core::pin and a type in it, whose name is at that offset of .debug_str. */
static uint32_t put_pinned_at(struct bytes *b, uint32_t name, size_t unit)
{
	put_named(b, NAMESPACE, "core");
	put_named(b, NAMESPACE, "pin");
	uint32_t ret = (uint32_t)(b->n - unit);
	put_uleb(b, STRUCT_AT);
	put_fixed(b, name, 4);
	put_fixed(b, 0, 2);
	return ret;
}

/*
 * A large crate: one unit has types, another one the poll function of one of them, which has no
 * code and so no symbol. A third one is not searched. It makes no difference what is scanned.
 */
static void check_large_crate(bool is_scanned)
{
	struct hand_made h = { 0 };
	struct bytes *b = &h.info;

	put_text(&h.str, "*mut core::pin::Pin<&mut app::Fut>");
	put_text(&h.str, "Pin<&mut app::Unpolled>");
	size_t unit = begin_object(&h, "app/src/main.rs/@/app.1-cgu.0");
	uint32_t fut = put_app(b, "Fut"), unpolled = put_app(b, "Unpolled");
	uint32_t other = put_app(b, "Other");
	finish_unit(b, unit);
	unit = begin_object(&h, "app/src/main.rs/@/app.1-cgu.1");
	uint32_t result = put_core(b, "task", "Poll<u8>", unit);
	uint32_t pinned = put_pinned_at(b, sizeof("*mut core::pin::") - 1, unit);
	put_poll(b, POLL, "poll", pinned, result);
	finish_unit(b, unit);
	unit = begin_object(&h, "app/src/main.rs/@/app.1-cgu.2");
	char *padding = alloc_zeroed(5 << 20);
	memset(padding, 'x', (5 << 20) - 1);
	put_named(b, NAMESPACE, padding);
	free(padding);
	put_fixed(b, 0, 1);
	finish_unit(b, unit);
	struct fixture f = hand_made_open(&h);
	const struct unit *units = f.dm->units;

	assert_int_equal(f.dm->nunits, 3);
	if (is_scanned)
		debuginfo_scan(f.dm, &f.dm->units[1]);
	assert_int_equal(lookup_polled_as(type_at(f.dm, other)), 0);
	assert_int_equal(lookup_polled_as(type_at(f.dm, unpolled)), 0);
	assert_int_equal(units[1].scanned, is_scanned);
	assert_int_equal(lookup_polled_as(type_at(f.dm, fut)), POLLED_AS_FUTURE);
	assert_true(units[1].scanned);
	assert_false(units[2].scanned);
	fixture_close(&f);
}

static void test_large_crate(void **state)
{
	(void)state;
	check_large_crate(false);
	check_large_crate(true);
}

static void test_names_of_poll_functions(void **state)
{
	static const struct {
		const char *name;
		unsigned poll;
		bool coroutine, result;
	} all[] = {
		{ "poll", POLLED_AS_FUTURE, false, false },
		{ "poll<u8>", POLLED_AS_FUTURE, false, false },
		{ "polls", 0, false, false },
		{ "poll_next", POLLED_AS_STREAM, false, false },
		{ "poll_next<u8>", POLLED_AS_STREAM, false, false },
		{ "poll_next_unpin", 0, false, false },
		{ "poll_", 0, false, false },
		{ "Poll", 0, false, false },
		{ "", 0, false, false },
		{ "{async_fn#0}", 0, true, false },
		{ "{async_block#12}<u8>", 0, true, false },
		{ "{async_closure#0}", 0, true, false },
		{ "{closure#0}", 0, false, false },
		{ "{closure#0}<u8>", 0, false, false },
		{ "async_fn#0", 0, false, false },
		{ "Poll<()>", 0, false, true },
		{ "GeneratorState<(), u8>", 0, false, true },
		{ "CoroutineState<(), u8>", 0, false, true },
		{ "Polls<u8>", 0, false, false },
		{ "GeneratorState", 0, false, false },
		{ "Option<Poll<()>>", 0, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_int_equal(poll_fn_kind(all[i].name), all[i].poll);
		assert_int_equal(poll_fn_is_coroutine(all[i].name), all[i].coroutine);
		assert_int_equal(poll_fn_is_result(all[i].name), all[i].result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_never),
		cmocka_unit_test(test_never_behind),
		cmocka_unit_test(test_has_poll),
		cmocka_unit_test(test_polls_of_what_never_ends),
		cmocka_unit_test(test_polled_in_another_crate),
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_symbol_at),
		cmocka_unit_test(test_mapping),
		cmocka_unit_test(test_scattered),
		cmocka_unit_test(test_passed_and_released),
		cmocka_unit_test(test_dropped_pages),
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_inlined_nowhere),
		cmocka_unit_test(test_inlined_of_a_noted_unit),
		cmocka_unit_test(test_inlined_of_other_units),
		cmocka_unit_test(test_inlined_of_other_noted_units),
		cmocka_unit_test(test_inlined_of_what_is_none),
		cmocka_unit_test(test_large_crate),
		cmocka_unit_test(test_names_of_poll_functions),
	};

	return cmocka_run_group_tests(tests, shapes_setup, shapes_teardown);
}
