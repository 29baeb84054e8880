#include "dwarf/test/places.h"
#include "dwarf/values/show.h"

/* once.elf, whose data are std's own new Once: with this number in it, or in .bss. */
enum { IN_BSS = -1 };

static struct fixture open_with(int number)
{
	char whole[4096], bytes[1 << 16];
	int fd = memfd_create("module", MFD_CLOEXEC);
	Elf64_Ehdr *header = (Elf64_Ehdr *)bytes;
	FILE *in;

	snprintf(whole, sizeof(whole), "%s/testdata/unit/once.elf", getenv("SOURCE_DIR"));
	in = fopen(whole, "re");
	assert_non_null(in);
	size_t n = fread(bytes, 1, sizeof(bytes), in);
	fclose(in);
	assert_in_range(n, sizeof(*header), sizeof(bytes) - 1);
	Elf64_Phdr *segments = (Elf64_Phdr *)(bytes + header->e_phoff);
	for (unsigned i = 0; i < header->e_phnum; i++) {
		if (segments[i].p_type != PT_LOAD || !(segments[i].p_flags & PF_W))
			continue;
		if (number == IN_BSS)
			segments[i].p_filesz = 0;
		else
			memcpy(bytes + segments[i].p_offset, &number, 4);
	}
	assert_int_equal(write(fd, bytes, n), n);
	struct fixture f = fixture_open(fd, 0x400000, 0x500000);
	places_map(&f);
	return f;
}

static void check(struct fixture *f, const char *name, unsigned word, const char *expected)
{
	struct value cells = place_of(f, "once::Cells");
	struct value v = member(cells, name);
	struct show_cache cache = { 0 };

	/* The state is the first member of a Once, and that of a OnceLock. */
	struct value once = strcmp(name, "lock") == 0 ? member(v, "once") : v;
	poke(f, once.addr, word, 4);
	assert_string_equal(show_value(f->target, f->di, &cache, &f->arena, v, NULL), expected);
	show_free(&cache);
}

/* rustc numbers the states downwards from a new one: the file says 3 of that. */
static void test_downwards(void **state)
{
	struct fixture f = open_with(3);

	(void)state;
	check(&f, "once", 3, "Once { state: new }");
	check(&f, "once", 2, "Once { state: poisoned }");
	check(&f, "once", 1, "Once { state: running }");
	check(&f, "once", 5, "Once { state: running }");
	check(&f, "once", 0, "Once { state: done }");
	check(&f, "lock", 3, "OnceLock(<uninit>)");
	check(&f, "lock", 0, "OnceLock(0)");
	fixture_close(&f);
}

static void expect_upwards(struct fixture *f)
{
	check(f, "once", 0, "Once { state: new }");
	check(f, "once", 1, "Once { state: poisoned }");
	check(f, "once", 2, "Once { state: running }");
	check(f, "once", 6, "Once { state: running }");
	check(f, "once", 3, "Once { state: done }");
	check(f, "lock", 0, "OnceLock(<uninit>)");
	check(f, "lock", 3, "OnceLock(0)");
}

static void test_upwards(void **state)
{
	struct fixture f = open_with(0);

	(void)state;
	expect_upwards(&f);
	fixture_close(&f);
	f = open_with(IN_BSS);
	expect_upwards(&f);
	fixture_close(&f);
}

/* What a new one holds is neither: only a thread that waits proves a state. */
static void test_unknown(void **state)
{
	static const char members[] = "Once { inner: Once { state_and_queued: 3 } }";
	struct fixture f = open_with(1);

	(void)state;
	check(&f, "once", 3, members);
	check(&f, "once", 5, "Once { state: running }");
	check(&f, "once", 8, "<invalid>");
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_downwards),
		cmocka_unit_test(test_upwards),
		cmocka_unit_test(test_unknown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
