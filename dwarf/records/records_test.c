/* Tests of records, of the cache, and of hostile files. */
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "dwarf/records/records.h"
#include "dwarf/store/cache.h"
#include "dwarf/test/module.h"

static const struct records_identity identity = { .build_id = "0123456789",
	                                          .build_id_len = 10,
	                                          .fingerprint = 7 };

static void add(struct records *f, enum record_kind kind, uint64_t key, const char *text,
                uint64_t number, const char *attrs)
{
	struct record_writer d;

	record_begin(&d, f, kind, key, text);
	record_add_number(&d, number);
	record_add_text(&d, attrs);
	record_end(&d);
}

static void expect(const struct records *f, enum record_kind kind, uint64_t key, const char *text,
                   uint64_t number, const char *attrs)
{
	struct record record;

	assert_true(record_find(f, kind, key, text, &record));
	assert_int_equal(record_number(&record), number);
	if (attrs)
		assert_string_equal(record_text(&record), attrs);
	else
		assert_null(record_text(&record));
	/* Reads past the end yield nothing. */
	assert_int_equal(record_number(&record), 0);
	assert_null(record_text(&record));
}

/* The same records after a round trip through a file. */
static struct records *through_file(const struct records *f)
{
	struct records *ret = records_new();
	size_t size;
	void *data = records_save(f, &identity, false, &size);

	fail_on(records_load(ret, data, size, &identity));
	return ret;
}

static void test_what_is_recorded_is_found(void **state)
{
	struct records *f = records_new();
	struct record record;

	(void)state;
	add(f, RECORD_PC, 5, NULL, UINT64_MAX, "five");
	add(f, RECORD_NAME, 0, "app::run", 1, NULL);
	add(f, RECORD_PARAM, 9, "T", 2, "");
	for (int round = 0; round < 3; round++) {
		struct records *next;

		expect(f, RECORD_PC, 5, NULL, UINT64_MAX, "five");
		expect(f, RECORD_NAME, 0, "app::run", 1, NULL);
		expect(f, RECORD_PARAM, 9, "T", 2, "");
		assert_false(record_find(f, RECORD_PC, 6, NULL, &record));
		assert_false(record_find(f, RECORD_LINES, 5, NULL, &record));
		assert_false(record_find(f, RECORD_PARAM, 10, "T", &record));
		assert_false(record_find(f, RECORD_PARAM, 9, "S", &record));
		assert_false(record_find(f, RECORD_PC, 0, NULL, &record));
		next = through_file(f);
		records_free(f);
		f = next;
	}
	records_free(f);
	assert_false(record_find(NULL, RECORD_PC, 5, NULL, &record));
}

static void test_a_file_and_what_came_after(void **state)
{
	struct records *f = records_new(), *next;

	(void)state;
	add(f, RECORD_TYPE, 1, NULL, 1, "old");
	add(f, RECORD_TYPE, 3, NULL, 3, "kept");
	next = through_file(f);
	records_free(f);
	assert_false(records_are_new(next));
	add(next, RECORD_TYPE, 1, NULL, 10, "new");
	add(next, RECORD_TYPE, 2, NULL, 2, "kept");
	assert_true(records_are_new(next));
	f = through_file(next);
	records_free(next);
	expect(f, RECORD_TYPE, 1, NULL, 10, "new");
	expect(f, RECORD_TYPE, 2, NULL, 2, "kept");
	expect(f, RECORD_TYPE, 3, NULL, 3, "kept");
	records_free(f);
}

static void test_the_greatest_key_below(void **state)
{
	struct records *f = records_new(), *file;
	uint64_t found;
	struct record record;

	(void)state;
	for (uint64_t key = 10; key <= 30; key += 10)
		add(f, RECORD_CODE, key, NULL, key * 2, NULL);
	file = through_file(f);
	assert_false(record_find_below(file, RECORD_CODE, 9, &found, &record));
	assert_true(record_find_below(file, RECORD_CODE, 10, &found, &record));
	assert_int_equal(found, 10);
	assert_true(record_find_below(file, RECORD_CODE, 29, &found, &record));
	assert_int_equal(found, 20);
	assert_int_equal(record_number(&record), 40);
	assert_true(record_find_below(file, RECORD_CODE, UINT64_MAX, &found, &record));
	assert_int_equal(found, 30);
	records_free(f);
	records_free(file);
}

/* Keys with even gaps, adjacent ones, and some far from all others. */
static void test_keys_that_lie_anyhow(void **state)
{
	enum { N = 3000 };
	struct records *f = records_new(), *file;
	uint64_t keys[N], found;
	struct record record;

	(void)state;
	for (uint64_t i = 0; i < N; i++) {
		keys[i] = i < 1000 ? 1000 + i * 64 : i < 2000 ? 1000000 + i * 2 : i * i * i * i;
		if (i == N - 1)
			keys[i] = UINT64_MAX - 1;
		add(f, RECORD_TYPE, keys[i], NULL, i, NULL);
	}
	file = through_file(f);
	for (uint64_t i = 0; i < N; i++) {
		assert_true(record_find(file, RECORD_TYPE, keys[i], NULL, &record));
		assert_int_equal(record_number(&record), i);
		assert_false(record_find(file, RECORD_TYPE, keys[i] - 1, NULL, &record));
		assert_false(record_find(file, RECORD_TYPE, keys[i] + 1, NULL, &record));
		assert_true(record_find_below(file, RECORD_TYPE, keys[i] + 1, &found, &record));
		assert_int_equal(found, keys[i]);
	}
	assert_false(record_find_below(file, RECORD_TYPE, 999, &found, &record));
	records_free(f);
	records_free(file);
}

static void refuse(const uint8_t *data, size_t size, const struct records_identity *expected)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct records *f = records_new();

	assert_non_null(copy);
	memcpy(copy, data, size);
	struct error *err = records_load(f, copy, size, expected);
	assert_non_null(err);
	error_free(err);
	records_free(f);
}

static void test_other_files_are_refused(void **state)
{
	struct records *f = records_new();
	struct records_identity other = identity;
	size_t size;

	(void)state;
	add(f, RECORD_PC, 5, NULL, 1, "text");
	uint8_t *data = records_save(f, &identity, false, &size);
	for (size_t cut = 0; cut < size; cut++)
		refuse(data, cut, NULL);
	for (size_t i = 0; i < size; i++) {
		data[i] ^= 0x10;
		refuse(data, size, NULL);
		data[i] ^= 0x10;
	}
	other.build_id[3] ^= 1;
	refuse(data, size, &other);
	other = identity;
	other.fingerprint++;
	refuse(data, size, &other);
	free(data);
	records_free(f);
}

/* ---- the cache ---- */

struct place {
	char path[64], file[128];
};

static int make_place(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	strcpy(p->path, "/tmp/asyncdbg-test-XXXXXX");
	if (!mkdtemp(p->path))
		return -1;
	snprintf(p->file, sizeof(p->file), "%s/30313233343536373839.facts", p->path);
	*state = p;
	return 0;
}

static int drop_place(void **state)
{
	struct place *p = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", p->path);
	int status = system(command);
	free(p);
	return status;
}

static void read_back(const char *directory, bool good)
{
	struct records *f = records_new();
	struct error *err = cache_read(directory, &identity, f);

	if (good) {
		fail_on(err);
		expect(f, RECORD_PC, 5, NULL, 1, "text");
	} else {
		assert_non_null(err);
		error_free(err);
	}
	records_free(f);
}

static struct records *some(void)
{
	struct records *f = records_new();

	add(f, RECORD_PC, 5, NULL, 1, "text");
	return f;
}

static void test_written_and_read(void **state)
{
	struct place *p = *state;
	struct records *f = some();
	char deeper[128];
	struct stat st;

	snprintf(deeper, sizeof(deeper), "%s/a/b", p->path);
	read_back(deeper, false);
	fail_on(cache_write(deeper, &identity, f, UINT64_MAX));
	read_back(deeper, true);
	assert_int_equal(stat(deeper, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	fail_on(cache_write(p->path, &identity, f, UINT64_MAX));
	read_back(p->path, true);
	assert_int_equal(stat(p->file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	records_free(f);
}

static void test_a_torn_file_is_written_anew(void **state)
{
	struct place *p = *state;
	struct records *f = some();

	fail_on(cache_write(p->path, &identity, f, UINT64_MAX));
	assert_int_equal(truncate(p->file, 100), 0);
	read_back(p->path, false);
	fail_on(cache_write(p->path, &identity, f, UINT64_MAX));
	read_back(p->path, true);
	records_free(f);
}

/* In every block of the checksum. */
static void test_a_rotten_byte_shows(void **state)
{
	enum { MANY = 60000 };
	struct records *f = records_new();
	size_t size;

	(void)state;
	for (uint64_t i = 0; i < MANY; i++)
		add(f, RECORD_PC, i, NULL, i, "text");
	uint8_t *data = records_save(f, &identity, false, &size);
	assert_true(size > 1 << 20);
	for (size_t at = 0; at <= size; at += size / 16) {
		struct records *other = records_new();
		uint8_t *copy = malloc(size);

		assert_non_null(copy);
		memcpy(copy, data, size);
		copy[at < size ? at : size - 1] ^= 1;
		struct error *err = records_load(other, copy, size, &identity);
		assert_non_null(err);
		error_free(err);
		records_free(other);
	}
	free(data);
	records_free(f);
}

static void not_written(const char *directory, const struct records *f)
{
	struct error *err = cache_write(directory, &identity, f, UINT64_MAX);

	assert_non_null(err);
	error_free(err);
	read_back(directory, false);
}

static void test_what_others_may_change_is_not_used(void **state)
{
	struct place *p = *state;
	struct records *f = some();
	char link[128];

	fail_on(cache_write(p->path, &identity, f, UINT64_MAX));
	assert_int_equal(chmod(p->path, 0777), 0);
	not_written(p->path, f);
	assert_int_equal(chmod(p->path, 0700), 0);
	assert_int_equal(chmod(p->file, 0666), 0);
	read_back(p->path, false);
	assert_int_equal(chmod(p->file, 0600), 0);
	read_back(p->path, true);
	snprintf(link, sizeof(link), "%s/link", p->path);
	assert_int_equal(symlink(p->path, link), 0);
	not_written(link, f);
	/* The file is a symbolic link, or no regular file. */
	snprintf(link, sizeof(link), "%s/real", p->path);
	assert_int_equal(rename(p->file, link), 0);
	assert_int_equal(symlink(link, p->file), 0);
	read_back(p->path, false);
	assert_int_equal(unlink(p->file), 0);
	assert_int_equal(mkfifo(p->file, 0600), 0);
	read_back(p->path, false);
	if (geteuid() == 0) {
		assert_int_equal(chown(p->path, 1, 1), 0);
		not_written(p->path, f);
	}
	not_written("/proc/self/nowhere", f);
	/* Nothing is created in a directory of another user. */
	if (geteuid() == 0) {
		snprintf(link, sizeof(link), "%s/deeper", p->path);
		not_written(link, f);
		assert_int_equal(access(link, F_OK), -1);
	}
	records_free(f);
}

static void test_the_oldest_go(void **state)
{
	struct place *p = *state;
	struct records *f = some();
	struct records_identity other = identity;
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };

	fail_on(cache_write(p->path, &identity, f, UINT64_MAX));
	assert_int_equal(utimensat(AT_FDCWD, p->file, old, 0), 0);
	other.build_id[0] = 'x';
	fail_on(cache_write(p->path, &other, f, 500));
	read_back(p->path, false);
	struct records *kept = records_new();
	fail_on(cache_read(p->path, &other, kept));
	records_free(kept);
	records_free(f);
}

static void leave_unfinished(const struct place *p, pid_t pid, char *ret, size_t size)
{
	snprintf(ret, size, "%s.%d.new", p->file, (int)pid);
	int fd = open(ret, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	close(fd);
}

/* A run that was killed while it wrote leaves an unfinished file, which the next write removes. */
static void test_what_the_dead_left_goes(void **state)
{
	struct place *p = *state;
	struct records *f = some();
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	struct records_identity other = identity;
	char dead[PATH_MAX], alive[PATH_MAX];
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	leave_unfinished(p, child, dead, sizeof(dead));
	leave_unfinished(p, getppid(), alive, sizeof(alive));
	fail_on(cache_write(p->path, &identity, f, UINT64_MAX));
	assert_int_equal(access(dead, F_OK), -1);
	assert_int_equal(access(alive, F_OK), 0);
	/* Files that are being written count. */
	assert_int_equal(utimensat(AT_FDCWD, p->file, old, 0), 0);
	other.build_id[0] = 'x';
	fail_on(cache_write(p->path, &other, f, 1 << 20));
	read_back(p->path, false);
	assert_int_equal(access(alive, F_OK), 0);
	unlink(alive);
	records_free(f);
}

/* Reading a file marks it as used: it is not the first to be deleted. */
static void test_reading_makes_young(void **state)
{
	struct place *p = *state;
	struct records *f = some();
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	struct stat st;

	fail_on(cache_write(p->path, &identity, f, UINT64_MAX));
	assert_int_equal(utimensat(AT_FDCWD, p->file, old, 0), 0);
	read_back(p->path, true);
	assert_int_equal(stat(p->file, &st), 0);
	assert_true(st.st_mtime > 1000);
	records_free(f);
}

/* ---- hostile files ---- */

/* A small pseudo-random generator, with the same numbers in every run. */
static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Calls all accessors of a type, and of the types that it refers to. */
static void ask_type(const struct type *t, int depth)
{
	const struct member *members;
	const struct variant *variants;
	size_t n;

	if (!t || depth > 3)
		return;
	strlen(type_name(t));
	type_kind(t), type_size(t), type_align(t), type_count(t);
	type_is_coroutine(t), type_is_dyn(t), type_single_member(t), type_comp_dir(t);
	ask_type(type_target(t), depth + 1);
	members = type_members(t, &n);
	for (size_t i = 0; i < n && i < 8; i++)
		ask_type(members[i].type, depth + 1);
	variants = type_variants(t, &n);
	for (size_t i = 0; i < n && i < 8; i++)
		ask_type(variants[i].payload, depth + 1);
	type_enumerators(t, &n);
	ask_type(type_param(t, "T"), depth + 1);
}

static void ignore_instance(const char *name, bool has_code, void *arg)
{
	(void)has_code, (void)arg;
	assert_non_null(name);
}

/* Makes all queries that a real session would make. */
static void ask_all(struct fixture *f)
{
	static const char *const names[] = { "shapes::Root", "shapes::Niche", "shapes::Ready",
		                             "shapes::middle::{async_fn_env#0}",
		                             "nowhere::Nothing" };
	struct thread_local *found;
	const char *doubt;
	size_t n;
	SCRATCH(tmp);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct type *t = lookup_type(f->dm, names[i], 0);

		ask_type(t, 0);
		if (t) {
			lookup_polled_as(t);
			lookup_poll_linkage(t);
		}
	}
	for (uint64_t addr = 0x4018c0; addr < 0x402b00; addr += 0x100) {
		const struct function *function = lookup_function(f->di, addr + BIAS);

		if (function) {
			ask_type(function_param(function, "T"), 0);
			ask_type(function_first_argument(function), 0);
			lookup_each_instance(f->dm, function->die, "shapes::poll_task",
			                     ignore_instance, NULL);
		}
		lookup_locations(f->di, addr + BIAS, &tmp, &n);
		lookup_functions_at(f->di, addr + BIAS, &tmp, &n);
	}
	error_free(
		lookup_thread_locals(f->dm, "shapes::context::CONTEXT", &tmp, &found, &n, &doubt));
	lookup_crate_version(f->dm, "shapes");
	debuginfo_rustc_version(f->dm);
}

/* A fixture whose records come from these bytes; whole: it uses no other debug info. */
static struct fixture open_with(const uint8_t *data, size_t size, bool whole)
{
	struct fixture f = shapes_open();
	uint8_t *copy = malloc(size);
	struct records *records = records_new();

	assert_non_null(copy);
	memcpy(copy, data, size);
	error_free(records_load(records, copy, size, NULL));
	records_free(f.dm->records);
	f.dm->records = records;
	if (whole)
		f.dm->dwarf = NULL;
	return f;
}

static void test_hostile_files_do_no_harm(void **state)
{
	enum { MUTATIONS = 3000 };
	struct fixture source = shapes_open();
	uint64_t seed = 88172645463325252u;
	size_t size;

	(void)state;
	ask_all(&source);
	uint8_t *data = records_save(source.dm->records, &identity, false, &size);
	fixture_close(&source);
	struct fixture same = open_with(data, size, false);
	assert_non_null(records_identity(same.dm->records));
	ask_all(&same);
	assert_false(records_are_new(same.dm->records));
	fixture_close(&same);
	for (int i = 0; i < MUTATIONS; i++) {
		uint8_t *bad = malloc(size);

		assert_non_null(bad);
		memcpy(bad, data, size);
		for (uint64_t n = 1 + next_random(&seed) % 16; n; n--)
			bad[next_random(&seed) % size] = (uint8_t)next_random(&seed);
		records_sign(bad, size);
		struct fixture f = open_with(bad, size, i % 2);
		ask_all(&f);
		fixture_close(&f);
		free(bad);
	}
	free(data);
}

static void test_where_the_cache_is(void **state)
{
	struct place *p = *state;
	SCRATCH(tmp);

	setenv("XDG_CACHE_HOME", "/x", 1);
	assert_string_equal(cache_directory(&tmp), "/x/asyncdbg");
	setenv("XDG_CACHE_HOME", "relative", 1);
	setenv("HOME", p->path, 1);
	assert_string_equal(cache_directory(&tmp),
	                    arena_printf(&tmp, "%s/.cache/asyncdbg", p->path));
	unsetenv("XDG_CACHE_HOME");
	assert_non_null(cache_directory(&tmp));
	if (geteuid() == 0) {
		assert_int_equal(chown(p->path, 1, 1), 0);
		assert_null(cache_directory(&tmp));
	}
	setenv("HOME", "relative", 1);
	assert_null(cache_directory(&tmp));
	unsetenv("HOME");
	assert_null(cache_directory(&tmp));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_recorded_is_found),
		cmocka_unit_test(test_a_file_and_what_came_after),
		cmocka_unit_test(test_the_greatest_key_below),
		cmocka_unit_test(test_keys_that_lie_anyhow),
		cmocka_unit_test(test_other_files_are_refused),
		cmocka_unit_test_setup_teardown(test_written_and_read, make_place, drop_place),
		cmocka_unit_test(test_a_rotten_byte_shows),
		cmocka_unit_test_setup_teardown(test_a_torn_file_is_written_anew, make_place,
		                                drop_place),
		cmocka_unit_test_setup_teardown(test_what_others_may_change_is_not_used, make_place,
		                                drop_place),
		cmocka_unit_test_setup_teardown(test_where_the_cache_is, make_place, drop_place),
		cmocka_unit_test_setup_teardown(test_the_oldest_go, make_place, drop_place),
		cmocka_unit_test_setup_teardown(test_what_the_dead_left_goes, make_place,
		                                drop_place),
		cmocka_unit_test_setup_teardown(test_reading_makes_young, make_place, drop_place),
		cmocka_unit_test(test_hostile_files_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
