#include "dwarf/polled.h"

#include "dwarf/mapped.h"
#include "dwarf/symtab.h"
#include "dwarf/test/module.h"

static void test_never(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		bool never;
	} rows[] = {
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

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(polled_never(rows[i].name), rows[i].never);
}

/* Each poll function of the unit, by what its first argument says. */
static void test_has_poll(void **state)
{
	struct fixture *f = *state;

	assert_true(lookup_has_poll(must_find(f, "shapes::Ready")));
	assert_false(lookup_has_poll(must_find(f, "shapes::Lists")));
	assert_false(lookup_has_poll(must_find(f, "alloc::string::String")));
	/* A coroutine's is its body, and has a name of its own. */
	const struct type *leaf = must_find(f, "shapes::leaf::{async_fn_env#0}");
	const char *linkage = lookup_poll_linkage(leaf);
	assert_non_null(linkage);
	assert_non_null(strstr(linkage, "6shapes4leaf"));
}

/* Poll<!> and Poll<Infallible> have no size: the function returns nothing, as DWARF has it. */
static void test_polls_of_what_never_ends(void **state)
{
	struct fixture f = fixture_open_file("testdata/unit/endless.elf");
	const char *linkage =
		lookup_poll_linkage(must_find(&f, "endless::{impl#0}::run::{async_fn_env#0}"));

	(void)state;
	assert_non_null(linkage);
	assert_non_null(strstr(linkage, "6Server3run"));
	assert_true(lookup_has_poll(must_find(&f, "endless::Forever")));
	assert_false(lookup_has_poll(must_find(&f, "endless::Selector")));
	fixture_close(&f);
}

static void note_unit(struct unit *u, uint64_t pc, void *arg)
{
	const struct unit **ret = arg;

	assert_true(pc > 0);
	*ret = u;
}

/* The same from names in the symbol table. */
static void test_symbols(void **state)
{
	struct fixture *f = *state;
	const struct unit *u = NULL;

	assert_true(symtab_each_poll(f->dm, "shapes::Ready", note_unit, &u));
	assert_ptr_equal(u, &f->dm->units[0]);
	u = NULL;
	assert_true(symtab_each_poll(f->dm, "other::Ready<u8>", note_unit, &u));
	assert_null(u);
	/* No path: by the last identifier of those that have none, and there is none. */
	assert_true(symtab_each_poll(f->dm, "shapes::{impl#1}::Ready", note_unit, &u));
	assert_null(u);
	assert_int_equal(symtab_poll(f->dm, "shapes::Ready"), SYMTAB_POLL_ALL);
	assert_int_equal(symtab_poll(f->dm, "shapes::Lists"), SYMTAB_POLL_NONE);
	assert_int_equal(symtab_poll(f->dm, "other::Ready"), SYMTAB_POLL_NONE);
	assert_int_equal(symtab_poll(f->dm, "shapes::{impl#1}::Ready"), SYMTAB_POLL_UNKNOWN);
	assert_int_equal(symtab_poll(f->dm, "&mut shapes::Ready"), SYMTAB_POLL_UNKNOWN);
	assert_int_equal(symtab_poll(f->dm, ""), SYMTAB_POLL_UNKNOWN);
	u = NULL;
	assert_true(symtab_each_poll(f->dm, "shapes::Lists", note_unit, &u));
	assert_null(u);
	assert_true(symtab_each_closure(f->dm, "leaf", note_unit, &u));
	assert_ptr_equal(u, &f->dm->units[0]);
	u = NULL;
	assert_true(symtab_each_closure(f->dm, "lea", note_unit, &u));
	assert_null(u);
	assert_false(symtab_each_poll(f->dm, "", note_unit, &u));
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

/* Sections that lie as the file has them belong together; a copy elsewhere does not. */
static void test_mapping(void **state)
{
	(void)state;
	struct file_mapping m = { 0 };
	uint8_t *file = (uint8_t *)0x7000000, *heap = (uint8_t *)0x1230010;

	mapped_add(&m, heap, 0x500, 64);
	assert_null(m.base);
	mapped_add(&m, NULL, 0, 64);
	assert_null(m.base);
	mapped_add(&m, file + 0x2345, 0x2345, 100);
	assert_ptr_equal(m.base, file);
	mapped_add(&m, file + 0x1000, 0x1000, 8);
	mapped_add(&m, file + 0x9000, 0x8000, 8);
	mapped_add(&m, file + 0x4000, 0x4000, 0x10);
	mapped_add(&m, file + 16, UINT64_MAX, 32);
	assert_ptr_equal(m.base, file);
	assert_int_equal(m.low, 0x1000);
	assert_int_equal(m.high, 0x4010);
	/* Nothing is mapped there. */
	mapped_confirm(&m);
	assert_int_equal(m.size, 0);
	/* Memory that is no file's. */
	uint8_t *heap_pages = mmap(NULL, 0x10000, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(heap_pages != MAP_FAILED);
	m = (struct file_mapping){ 0 };
	mapped_add(&m, heap_pages + 0x100, 0x100, 0x1000);
	assert_non_null(m.base);
	mapped_confirm(&m);
	assert_int_equal(m.size, 0);
	munmap(heap_pages, 0x10000);
}

/* Mappings of which a part lies in [start, start + size). */
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

/* Bytes of the mappings in [start, start + size) that are resident. */
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

/* A file in memory; each of its pages begins with its offset. */
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

/* Touches all pages. */
static void expect_numbers(const uint8_t *file)
{
	for (size_t i = 0; i < SCATTERED_SIZE; i += 4096)
		assert_memory_equal(file + i, &i, sizeof(i));
}

/* A section that is read here and there is mapped in pieces smaller than a large folio. */
static void test_scattered(void **state)
{
	(void)state;
	struct dwarf_module dm = { 0 };
	uint8_t heap[16];
	int fd;
	uint8_t *file = map_numbered(&fd);

	mapped_add(&dm.file, file, 0, MIB);
	mapped_add_scattered(&dm.file, file + MIB, MIB, 6 * MIB);
	assert_int_equal(dm.file.scattered.low, MIB);
	assert_int_equal(dm.file.scattered.high, 7 * MIB);
	assert_int_equal(mappings_in(file, SCATTERED_SIZE), 1);
	mapped_confirm(&dm.file);
	assert_int_equal(dm.file.size, SCATTERED_SIZE);
	if (access("/sys/kernel/mm/transparent_hugepage", F_OK) == 0)
		assert_in_range(mappings_in(file, SCATTERED_SIZE), 4, 8);
	/* What lies elsewhere is no part of it. */
	mapped_add_scattered(&dm.file, heap, MIB, MIB);
	assert_int_equal(dm.file.scattered.high, 7 * MIB);
	munmap(file, SCATTERED_SIZE);
	close(fd);
}

/* What is given back is resident no more, and has its bytes when it is touched again. */
static void test_passed_and_released(void **state)
{
	(void)state;
	struct dwarf_module dm = { 0 };
	int fd;
	uint8_t *file = map_numbered(&fd);
	struct mapped_pass pass = { &dm, file };

	mapped_add(&dm.file, file, 0, SCATTERED_SIZE);
	mapped_confirm(&dm.file);
	expect_numbers(file);
	assert_int_equal(resident_in(file, SCATTERED_SIZE), SCATTERED_SIZE);
	mapped_passed(&pass, file + MIB); /* not far enough to ask */
	assert_ptr_equal(pass.from, file);
	assert_int_equal(resident_in(file, SCATTERED_SIZE), SCATTERED_SIZE);
	mapped_passed(&pass, file + 24 * MIB);
	assert_ptr_equal(pass.from, file + 24 * MIB);
	/* As far as the huge page that it came to. */
	assert_in_range(resident_in(file, SCATTERED_SIZE), 38 * MIB, 40 * MIB);
	expect_numbers(file);
	mapped_drop(&dm, file + 4 * MIB, 4096);
	assert_in_range(resident_in(file, SCATTERED_SIZE), 60 * MIB, 62 * MIB);
	mapped_release(&dm);
	assert_int_equal(resident_in(file, SCATTERED_SIZE), 0);
	expect_numbers(file);
	munmap(file, SCATTERED_SIZE);
	close(fd);
}

/* Pages that were given back have their bytes again. */
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
	mapped_add(&dm.file, file + 0x10, 0x10, SIZE - 0x10);
	mapped_confirm(&dm.file);
	assert_int_equal(dm.file.size, SIZE);
	/* Beyond the mapping. */
	mapped_add(&dm.file, file + SIZE, SIZE, 0x1000);
	assert_int_equal(dm.file.high, SIZE);

	const uint8_t *before = arena_memdup(&tmp, file, SIZE);
	mapped_drop(&dm, file + 0x10, SIZE - 0x10);
	assert_memory_equal(before, file, SIZE);
	mapped_drop(&dm, before, SIZE); /* not of the file */
	assert_memory_equal(before, file, SIZE);
	munmap(file, SIZE);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_never),
		cmocka_unit_test(test_has_poll),
		cmocka_unit_test(test_polls_of_what_never_ends),
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_symbol_at),
		cmocka_unit_test(test_mapping),
		cmocka_unit_test(test_scattered),
		cmocka_unit_test(test_passed_and_released),
		cmocka_unit_test(test_dropped_pages),
	};

	return cmocka_run_group_tests(tests, shapes_setup, shapes_teardown);
}
