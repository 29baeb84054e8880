/* Tests of saved snapshots: all members, damaged and hostile files, limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "commands/test/answer.h"
#include "debugger/base/str.h"
#include "runtimes/saved/saved_fields.h"
#include "runtimes/saved/saved_lines.h"

enum {
	ALL = WANT_TASKS | WANT_STACKS | WANT_LAYOUT | WANT_RUNNING | WANT_LOCALS |
	      WANT_LOCAL_NAMES | WANT_HOLDINGS | WANT_SOCKETS
};

/* A directory for the files of a test. */
static char directory[256];

static const char *file_named(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static int make_directory(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(directory, sizeof(directory), "%s/saved_test.XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	(void)state;
	unlink(file_named("snap"));
	return rmdir(directory);
}

static void free_if_any(struct snapshot **s)
{
	if (*s)
		free_snapshot(s);
}

static void succeed(struct error *err)
{
	if (err)
		fail_msg("%s", err->message);
}

static void save(const struct snapshot *s, bool values)
{
	struct saved_info info = { .wants = ALL, .values = values, .when = 1234567890 };

	succeed(saved_write(file_named("snap"), s, &info));
}

/* ---- a sample of every member, and whether two are equal ---- */

struct sampler {
	struct arena *a;
	unsigned n, depth;
};

static const char *sample_TEXT(struct sampler *x)
{
	return arena_printf(x->a, "text \"%u\" \\ ü", ++x->n);
}

static const char *sample_ID(struct sampler *x)
{
	return x->n % 2 ? "18446744073709551615" : "async_executor:0xffff8000000000ff";
}

#define sample_NAME(x) sample_TEXT(x)
#define sample_ADDR(x) (UINT64_C(0xffff800000000000) + ++(x)->n)
#define sample_U64(x)  (UINT64_C(1) << 62 | ++(x)->n)
#define sample_U32(x)  (++(x)->n)
#define sample_I32(x)  (-(int)++(x)->n)
#define sample_FLAG(x) true
#define SAMPLE_WORD(how, type, words, last)                                                        \
	static type sample_##how(struct sampler *x)                                                \
	{                                                                                          \
		(void)x;                                                                           \
		return last;                                                                       \
	}
SAVED_WORDS(SAMPLE_WORD)

static const char **sample_TEXTS(struct sampler *x)
{
	const char **texts = NEW_ARRAY(x->a, const char *, 2);

	texts[0] = sample_TEXT(x);
	texts[1] = "";
	return texts;
}

#define SAMPLE(how, member) to->member = sample_##how(x);
#define SAMPLE_LIST(how, member, count)                                                            \
	to->member = sample_##how(x);                                                              \
	to->count = to->member ? 2 : 0;

static struct wait_detail *sample_DETAILS(struct sampler *x)
{
	struct wait_detail *d = NEW_ARRAY(x->a, struct wait_detail, 2);

	d[0] = (struct wait_detail){ .key = "tasks", .kind = DETAIL_LIST, .nlist = 2 };
	d[0].list = sample_TEXTS(x);
	d[1] = (struct wait_detail){ .key = "fd", .kind = DETAIL_INT, .number = -(int)++x->n };
	return d;
}

static struct wait *sample_WAIT(struct sampler *x)
{
	struct wait *to = NEW(x->a, struct wait);

	SAVED_WAIT(SAMPLE, SAMPLE_LIST)
	return to;
}

static struct source_place *sample_SOURCE(struct sampler *x)
{
	struct source_place *to = NEW(x->a, struct source_place);

	SAVED_SOURCE(SAMPLE, SAMPLE_LIST)
	return to;
}

#define SAMPLE_TWO(how, type, fields)                                                              \
	static type *sample_##how(struct sampler *x)                                               \
	{                                                                                          \
		type *two = NEW_ARRAY(x->a, type, 2);                                              \
                                                                                                   \
		for (type *to = two; to < two + 2; to++) {                                         \
			fields(SAMPLE, SAMPLE_LIST)                                                \
		}                                                                                  \
		return two;                                                                        \
	}
SAMPLE_TWO(LOCALS, struct local, SAVED_LOCAL)
SAMPLE_TWO(STACK_FRAMES, struct stack_frame, SAVED_STACK_FRAME)
SAMPLE_TWO(CRATES, struct runtime_crate, SAVED_CRATE)

static struct future **sample_FUTURES(struct sampler *x);

static struct future *sample_FUTURE(struct sampler *x)
{
	struct future *to = NEW(x->a, struct future);

	x->depth++;
	SAVED_FUTURE(SAMPLE, SAMPLE_LIST)
	x->depth--;
	return to;
}

static struct future **sample_FUTURES(struct sampler *x)
{
	if (x->depth > 2)
		return NULL;
	struct future **two = NEW_ARRAY(x->a, struct future *, 2);

	two[0] = sample_FUTURE(x);
	two[1] = sample_FUTURE(x);
	return two;
}

SAMPLE_TWO(RUNTIMES, struct runtime_info, SAVED_RUNTIME)
SAMPLE_TWO(THREADS, struct thread_info, SAVED_THREAD)
SAMPLE_TWO(JOBS, struct job, SAVED_JOB)
SAMPLE_TWO(LAYOUTS, struct layout_info, SAVED_LAYOUT)
SAMPLE_TWO(SOCKETS, struct socket_info, SAVED_SOCKET)
SAMPLE_TWO(TASKS, struct task, SAVED_TASK)
SAMPLE_TWO(TARGETS, struct target_info, SAVED_TARGET)
SAMPLE_TWO(READINGS, struct reading, SAVED_READING)
SAMPLE_TWO(HOLDINGS, struct holding, SAVED_HOLDING)

/* Makes the sample consistent where the reader checks consistency. */
static void settle_sample(struct snapshot *s, struct arena *a)
{
	struct task *tasks = s->tasks ? *s->tasks : NULL;

	for (unsigned i = 0; i < 2; i++) {
		s->runtimes[i].index = i;
		s->threads[i].runtime = (int)i;
		s->jobs[i].runtime = (int)i;
		s->sockets[i].fd = (int)i;
		tasks[i].runtime = i;
		tasks[i].id = i ? arena_uint(a, tasks[i].number) : "compio:0x7f00ffffffffffff";
	}
	tasks[0].number = 0;
	s->tasks = NEW_ARRAY(a, struct task *, 2);
	s->tasks[0] = &tasks[0];
	s->tasks[1] = &tasks[1];
	snapshot_number_frames(s);
	s->holdings[0].task = s->tasks[1];
	s->holdings[0].future = s->tasks[1]->root->children[1];
	s->holdings[1].thread = s->threads[1].number;
	s->holdings[1].future = s->threads[1].root;
	s->descriptors[0] = s->descriptors[1] = s->holdings[1];
	s->descriptors[0].role = s->descriptors[1].role = HOLDING_DESCRIPTOR;
	s->descriptors[1].fd = 9;
	s->holdings[0].role = s->holdings[1].role = HOLDING_LOCK;
}

static struct snapshot *make_sample(void)
{
	struct snapshot *to = calloc(1, sizeof(*to));
	struct sampler sampler = { .a = &to->arena }, *x = &sampler;
	struct task *tasks;

	SAVED_SNAPSHOT(SAMPLE, SAMPLE_LIST)
	to->notes[1] = "another note";
	to->target = *sample_TARGETS(x);
	to->reading = *sample_READINGS(x);
	to->runtimes = sample_RUNTIMES(x);
	to->threads = sample_THREADS(x);
	to->jobs = sample_JOBS(x);
	to->njobs = 2;
	to->layout = sample_LAYOUTS(x);
	to->sockets = sample_SOCKETS(x);
	to->holdings = sample_HOLDINGS(x);
	to->descriptors = sample_HOLDINGS(x);
	to->ndescriptors = 2;
	to->nsockets = 2;
	to->nruntimes = to->nthreads = to->nlayout = to->nholdings = to->ntasks = 2;
	tasks = sample_TASKS(x);
	to->tasks = &tasks;
	settle_sample(to, &to->arena);
	return to;
}

static bool equal_TEXT(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool equal_U64(uint64_t a, uint64_t b)
{
	return a == b;
}

#define equal_NAME(a, b) equal_TEXT(a, b)
#define equal_ID(a, b)   equal_TEXT(a, b)
#define equal_ADDR(a, b) equal_U64(a, b)
#define equal_U32(a, b)  equal_U64(a, b)
#define equal_I32(a, b)  ((a) == (b))
#define equal_FLAG(a, b) ((a) == (b))
#define EQUAL_WORD(how, type, words, last)                                                         \
	static bool equal_##how(type a, type b)                                                    \
	{                                                                                          \
		return a == b;                                                                     \
	}
SAVED_WORDS(EQUAL_WORD)

/* Fails the test with the name of the member. */
#define EQUAL(how, member)                                                                         \
	if (!equal_##how(a->member, b->member))                                                    \
		fail_msg("%s: member %s differs", __func__, #member);
#define EQUAL_LIST(how, member, count)                                                             \
	assert_int_equal(a->count, b->count);                                                      \
	for (size_t i = 0; i < a->count; i++)                                                      \
		equal_##how(a->member, b->member, i);

static void equal_TEXTS(const char *const *a, const char *const *b, size_t i)
{
	assert_string_equal(a[i], b[i]);
}

static void equal_DETAILS(const struct wait_detail *a, const struct wait_detail *b, size_t i)
{
	assert_string_equal(a[i].key, b[i].key);
	assert_int_equal(a[i].kind, b[i].kind);
	if (a[i].kind != DETAIL_LIST) {
		assert_int_equal(a[i].number, b[i].number);
		return;
	}
	assert_int_equal(a[i].nlist, b[i].nlist);
	for (size_t n = 0; n < a[i].nlist; n++)
		equal_TEXTS(a[i].list, b[i].list, n);
}

static bool equal_WAIT(const struct wait *a, const struct wait *b)
{
	SAVED_WAIT(EQUAL, EQUAL_LIST)
	return true;
}

static bool equal_SOURCE(const struct source_place *a, const struct source_place *b)
{
	SAVED_SOURCE(EQUAL, EQUAL_LIST)
	return true;
}

#define EQUAL_ONE(how, type, fields)                                                               \
	static void equal_##how(const type *as, const type *bs, size_t nth)                        \
	{                                                                                          \
		const type *a = &as[nth], *b = &bs[nth];                                           \
                                                                                                   \
		fields(EQUAL, EQUAL_LIST)                                                          \
	}
EQUAL_ONE(LOCALS, struct local, SAVED_LOCAL)
EQUAL_ONE(STACK_FRAMES, struct stack_frame, SAVED_STACK_FRAME)
EQUAL_ONE(CRATES, struct runtime_crate, SAVED_CRATE)

static void equal_FUTURES(struct future *const *a, struct future *const *b, size_t i);

static bool equal_FUTURE(const struct future *a, const struct future *b)
{
	assert_int_equal(a->number, b->number);
	SAVED_FUTURE(EQUAL, EQUAL_LIST)
	return true;
}

static void equal_FUTURES(struct future *const *a, struct future *const *b, size_t i)
{
	equal_FUTURE(a[i], b[i]);
}

EQUAL_ONE(RUNTIMES, struct runtime_info, SAVED_RUNTIME)
EQUAL_ONE(THREADS, struct thread_info, SAVED_THREAD)
EQUAL_ONE(JOBS, struct job, SAVED_JOB)
EQUAL_ONE(LAYOUTS, struct layout_info, SAVED_LAYOUT)
EQUAL_ONE(SOCKETS, struct socket_info, SAVED_SOCKET)
EQUAL_ONE(HOLDINGS, struct holding, SAVED_HOLDING)
EQUAL_ONE(TARGET, struct target_info, SAVED_TARGET)
EQUAL_ONE(READING, struct reading, SAVED_READING)
EQUAL_ONE(TASK, struct task, SAVED_TASK)
EQUAL_ONE(SNAPSHOT, struct snapshot, SAVED_SNAPSHOT)

static void assert_equal_snapshots(const struct snapshot *a, const struct snapshot *b)
{
	equal_SNAPSHOT(a, b, 0);
	equal_TARGET(&a->target, &b->target, 0);
	equal_READING(&a->reading, &b->reading, 0);
	EQUAL_LIST(RUNTIMES, runtimes, nruntimes)
	EQUAL_LIST(THREADS, threads, nthreads)
	EQUAL_LIST(JOBS, jobs, njobs)
	EQUAL_LIST(LAYOUTS, layout, nlayout)
	EQUAL_LIST(SOCKETS, sockets, nsockets)
	EQUAL_LIST(HOLDINGS, holdings, nholdings)
	EQUAL_LIST(HOLDINGS, descriptors, ndescriptors)
	assert_int_equal(a->ntasks, b->ntasks);
	for (size_t i = 0; i < a->ntasks; i++)
		equal_TASK(a->tasks[i], b->tasks[i], 0);
}

static void test_every_member_comes_back(void **state)
{
	struct snapshot *made CLEANUP(free_snapshot) = make_sample();
	struct snapshot *read CLEANUP(free_if_any) = NULL;
	struct saved_info info;

	(void)state;
	save(made, true);
	assert_true(saved_is(file_named("snap")));
	succeed(saved_read(file_named("snap"), &read, &info));
	assert_equal_snapshots(made, read);
	assert_int_equal(info.wants, ALL);
	assert_true(info.values);
	assert_int_equal(info.when, 1234567890);
	assert_ptr_equal(read->holdings[0].task, read->tasks[1]);
	assert_ptr_equal(read->holdings[0].future, read->tasks[1]->root->children[1]);
	assert_null(read->holdings[1].task);
	assert_ptr_equal(read->holdings[1].future, read->threads[1].root);
	/* Room for more notes. */
	for (int i = 0; i < 20; i++)
		snapshot_note(read, "note %d", i);
	assert_int_equal(read->nnotes, 22);
}

/* ---- the lists name every member ---- */

#define NAME_OF(how, member)         #member,
#define NAMES_OF(how, member, count) #member, #count,

static const struct {
	const char *name;
	const char *members[40]; /* saved members, and members that are deliberately not saved */
} structs[] = {
	{ "wait", { SAVED_WAIT(NAME_OF, NAMES_OF) } },
	{ "source_place", { SAVED_SOURCE(NAME_OF, NAMES_OF) } },
	/* Hand-written: put_detail(). */
	{ "wait_detail", { "key", "kind", "nlist", "string", "number", "list" } },
	{ "local", { SAVED_LOCAL(NAME_OF, NAMES_OF) } },
	/* The number is computed from the tree; the place is in the program's memory. */
	{ "future",
	  { "number", "place", "doubted", "shares", "searched", SAVED_FUTURE(NAME_OF, NAMES_OF) } },
	{ "task", { SAVED_TASK(NAME_OF, NAMES_OF) } },
	/* Hand-written: as numbers. */
	{ "holding", { "task", "future", SAVED_HOLDING(NAME_OF, NAMES_OF) } },
	/* Only a program that runs can have others that had its address before. */
	{ "runtime_info", { "serial", SAVED_RUNTIME(NAME_OF, NAMES_OF) } },
	{ "stack_frame", { SAVED_STACK_FRAME(NAME_OF, NAMES_OF) } },
	{ "thread_info", { "poll", "has_poll", SAVED_THREAD(NAME_OF, NAMES_OF) } },
	{ "job", { SAVED_JOB(NAME_OF, NAMES_OF) } },
	{ "layout_info", { SAVED_LAYOUT(NAME_OF, NAMES_OF) } },
	{ "socket_info", { SAVED_SOCKET(NAME_OF, NAMES_OF) } },
	{ "runtime_crate", { SAVED_CRATE(NAME_OF, NAMES_OF) } },
	{ "target_info", { SAVED_TARGET(NAME_OF, NAMES_OF) } },
	{ "reading", { SAVED_READING(NAME_OF, NAMES_OF) } },
	/*
	 * Members with lines of their own, and answers to an expression, which need the program's
	 * memory.
	 */
	{ "snapshot",
	  { "arena",     "target",      "reading",      "runtimes",
	    "nruntimes", "threads",     "nthreads",     "tasks",
	    "ntasks",    "layout",      "nlayout",      "holdings",
	    "nholdings", "descriptors", "ndescriptors", "sockets",
	    "nsockets",  "jobs",        "njobs",        "printed",
	    "native",    "places",      "nplaces",      SAVED_SNAPSHOT(NAME_OF, NAMES_OF) } },
};
enum { NSTRUCTS = sizeof(structs) / sizeof(*structs) };

static bool is_listed(size_t i, const char *member)
{
	for (const char *const *m = structs[i].members; *m; m++) {
		if (strcmp(*m, member) == 0)
			return true;
	}
	return false;
}

/* The last word of text: the name of a declarator, without pointer and array signs. */
static const char *last_word(char *text)
{
	char *end = text + strcspn(text, ":[");

	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	while (end > text && (isalnum((unsigned char)end[-1]) || end[-1] == '_'))
		end--;
	return end;
}

/*
 * Checks the members of a struct. body: the text between the braces, without comments; it is
 * modified.
 */
static void check_members(size_t nth, char *body)
{
	char *rest, *member;
	size_t n = 0;

	for (member = strtok_r(body, ";,{}", &rest); member;
	     member = strtok_r(NULL, ";,{}", &rest)) {
		const char *name = last_word(member);

		if (!*name || strcmp(name, "union") == 0)
			continue;
		if (!is_listed(nth, name))
			fail_msg("struct %s has a member %s that saved_fields.h has not",
			         structs[nth].name, name);
		n++;
	}
	assert_true(n > 1);
}

static void remove_comments(char *text)
{
	for (char *begin; (begin = strstr(text, "/*"));) {
		char *end = strstr(begin, "*/");

		assert_non_null(end);
		memmove(begin, end + 2, strlen(end + 2) + 1);
	}
}

static void test_lists_name_every_member(void **state)
{
	const char *source = getenv("SOURCE_DIR");
	char path[512];
	STR(model);
	int c;

	(void)state;
	snprintf(path, sizeof(path), "%s/runtimes/model/model.h", source ? source : ".");
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	while ((c = getc(f)) != EOF)
		str_append_len(&model, &(char){ (char)c }, 1);
	fclose(f);
	remove_comments(model.data);
	for (size_t i = 0; i < NSTRUCTS; i++) {
		SCRATCH(tmp);
		const char *begin =
			strstr(model.data, arena_printf(&tmp, "\nstruct %s {\n", structs[i].name));

		if (!begin)
			fail_msg("no struct %s", structs[i].name);
		const char *body = strchr(begin, '{') + 1;
		check_members(i, arena_strndup(&tmp, body, (size_t)(strstr(body, "\n};") - body)));
	}
}

/* ---- damaged files ---- */

static void read_plain(struct str *ret)
{
	gzFile gz = gzopen(file_named("snap"), "rb");
	char bytes[4096];
	int n;

	assert_non_null(gz);
	str_truncate(ret, 0);
	while ((n = gzread(gz, bytes, sizeof(bytes))) > 0)
		str_append_len(ret, bytes, (size_t)n);
	gzclose(gz);
}

static void write_plain(const char *bytes, size_t len)
{
	FILE *f = fopen(file_named("snap"), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	fclose(f);
}

/* Prints a snapshot with all commands. */
static void print_all(const struct snapshot *s)
{
	static const struct command *const commands[] = {
		&async_backtrace_all_command,
		&async_backtrace_command,
		&tasks_command,
		&runtimes_command,
		&info_threads_command,
		&threads_command,
		&info_layout_command,
		&info_sockets_command,
		&info_command,
		&locals_command,
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		for (enum format format = TEXT; format <= JSON; format++) {
			struct session session = { 0 };
			CAUGHT(c);

			catch (&c, format);
			struct error *err CLEANUP(error_freep) = run_in_session(
				&c, &session, commands[i], s, NULL, commands[i]->verbose);
			(void)err;
		}
	}
}

/* Reads the file: the result must be an error with a message, or a snapshot that can be printed. */
static bool try_read(void)
{
	struct snapshot *s CLEANUP(free_if_any) = NULL;
	struct error *err CLEANUP(error_freep) = saved_read(file_named("snap"), &s, NULL);

	if (err) {
		assert_non_null(strstr(err->message, "snap"));
		return false;
	}
	print_all(s);
	return true;
}

static void test_flipped_bytes(void **state)
{
	enum { ROUNDS = 300 };
	struct snapshot *s CLEANUP(free_snapshot) = make_sample();
	static const char letters[] = "0123456789{}[]\",:-ntfxe\\u\n";
	size_t good = 0;
	STR(plain);
	STR(changed);

	(void)state;
	save(s, true);
	read_plain(&plain);
	srand(1);
	for (int round = 0; round < ROUNDS; round++) {
		str_truncate(&changed, 0);
		str_append_len(&changed, plain.data, plain.len);
		for (int n = 1 << rand() % 4; n; n--)
			changed.data[(size_t)rand() % plain.len] =
				letters[(size_t)rand() % (sizeof(letters) - 1)];
		write_plain(changed.data, changed.len);
		good += try_read();
	}
	/* Some files must be readable and some not, or the test checks nothing. */
	assert_in_range(good, 1, ROUNDS - 1);
}

/* Replaces each value with a value of another kind. */
static void test_other_values(void **state)
{
	static const char *const others[] = {
		"null", "-1",  "4294967296",  "\"0xffffffffffffffff\"",
		"true", "[]",  "{}",          "[[[]]]",
		"\"\"", "1e3", "{\"a\":[{}]}"
	};
	struct snapshot *s CLEANUP(free_snapshot) = make_snapshot();
	STR(plain);
	STR(changed);

	(void)state;
	make_locals(&s->arena, s->tasks[0]->root);
	save(s, true);
	read_plain(&plain);
	for (size_t at = 0; at < plain.len; at++) {
		size_t end = at + 2 + strcspn(plain.data + at + 1, ",{}[]\n\"");

		if (plain.data[at] != ':' || end >= plain.len)
			continue;
		str_truncate(&changed, 0);
		str_append_len(&changed, plain.data, at + 1);
		str_append(&changed, others[at % (sizeof(others) / sizeof(*others))]);
		if (strchr("{[\"", plain.data[at + 1]))
			str_append(&changed, ",\"x\":");
		else
			end--;
		str_append(&changed,
		           plain.data + (strchr("{[\"", plain.data[at + 1]) ? at + 1 : end));
		write_plain(changed.data, changed.len);
		try_read();
	}
}

static void test_cut_off(void **state)
{
	struct snapshot *s CLEANUP(free_snapshot) = make_snapshot();
	struct stat st;
	size_t refused = 0;

	(void)state;
	save(s, false);
	assert_int_equal(stat(file_named("snap"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	for (off_t len = st.st_size - 1; len > 0; len--) {
		struct snapshot *part CLEANUP(free_if_any) = NULL;

		assert_int_equal(truncate(file_named("snap"), len), 0);
		struct error *err CLEANUP(error_freep) =
			saved_read(file_named("snap"), &part, NULL);
		refused += err != NULL;
		if (err)
			continue;
		/*
		 * Only the 8-byte gzip trailer and the end-of-block code before it, at most 15
		 * bits, may be missing.
		 */
		if (part->complete)
			assert_true(len > st.st_size - 8 - 3);
		else
			assert_non_null(strstr(part->notes[part->nnotes - 1], "damaged"));
	}
	assert_true(refused > 0);
	unlink(file_named("snap"));
}

static void test_tasks_before_the_damage(void **state)
{
	struct snapshot *s CLEANUP(free_snapshot) = make_snapshot();
	struct snapshot *part CLEANUP(free_if_any) = NULL;
	STR(plain);

	(void)state;
	save(s, false);
	read_plain(&plain);
	/* In the middle of the second task. */
	char *second = strstr(strstr(plain.data, "{\"task\"") + 1, "{\"task\"");
	write_plain(plain.data, (size_t)(second - plain.data) + 20);
	succeed(saved_read(file_named("snap"), &part, NULL));
	assert_int_equal(part->ntasks, 1);
	assert_false(part->complete);
	assert_non_null(strstr(part->notes[0], "1 of 2 tasks are there"));
}

static void assert_refused(const char *text, const char *why)
{
	struct snapshot *s CLEANUP(free_if_any) = NULL;

	write_plain(text, strlen(text));
	struct error *err CLEANUP(error_freep) = saved_read(file_named("snap"), &s, NULL);
	assert_non_null(err);
	if (!strstr(err->message, why))
		fail_msg("\"%s\" does not say \"%s\"", err->message, why);
}

#define HEADER "{\"format\":\"asyncdbg-snapshot\",\"version\":2,\"parts\":true,\"tasks\":1}\n"
#define BEGIN                                                                                      \
	HEADER "{\"snapshot\":{\"complete\":true}}\n{\"target\":{\"kind\":\"live\"}}\n"            \
	       "{\"runtime\":{\"workers\":1}}\n"

static void test_refused(void **state)
{
	(void)state;
	assert_refused("", "not a saved snapshot");
	assert_refused("{\"format\":\"other\"}\n", "not a saved snapshot");
	assert_refused("{\"format\":\"asyncdbg-snapshot\",\"version\":3}\n", "a newer asyncdbg");
	assert_refused("{\"format\":\"asyncdbg-snapshot\",\"version\":1}\n", "an older asyncdbg");
	assert_refused(HEADER "{\"end\":1}\n", "describes no program");
	assert_refused(HEADER "{\"target\":{\"kind\":\"live\",\"pid\":\"5\"}}\n",
	               "target.pid is not a whole number");
	assert_refused(BEGIN "{\"thread\":{\"runtime\":1}}\n", "of an unknown runtime");
	assert_refused(BEGIN "{\"thread\":{\"role\":\"boss\"}}\n", "not one of the allowed words");
	assert_refused(BEGIN "{\"thread\":{\"job\":0}}\n", "a number without a name");
	assert_refused(BEGIN "{\"job\":{\"runtime\":1}}\n", "of an unknown runtime");
	assert_refused(BEGIN "{\"job\":{\"spawned_at\":{\"line\":3}}}\n",
	               "has a line without a file");
	assert_refused(BEGIN "{\"thread\":{\"task\":\"1;\"}}\n", "thread.task is not a task id");
	assert_refused(BEGIN "{\"thread\":{\"frames\":[{\"polls_task\":\"#\"}]}}\n",
	               "thread.polls_task is not a task id");
	/* Keys of details become keys of JSON output. */
	assert_refused(BEGIN "{\"names\":[\"lock\",\"x\\\": true, \\\"complete\"]}\n"
	                     "{\"thread\":{\"wait\":{\"kind\":0,\"details\":[[1,true]]}}}\n",
	               "a detail that no wait has");
	assert_refused(BEGIN "{\"names\":[\"lock\",\"kind\"]}\n"
	                     "{\"thread\":{\"wait\":{\"kind\":0,\"details\":[[1,true]]}}}\n",
	               "a detail that no wait has");
	assert_refused(BEGIN "{\"end\":4}\n", "0 tasks but announces 1");
}

/* An error in a task drops that task and the following ones, and adds a note. */
static void assert_noted(const char *task, const char *why)
{
	struct snapshot *s CLEANUP(free_if_any) = NULL;
	STR(text);

	str_printf(&text, BEGIN "{\"task\":%s}\n", task);
	write_plain(text.data, text.len);
	succeed(saved_read(file_named("snap"), &s, NULL));
	assert_int_equal(s->ntasks, 0);
	assert_false(s->complete);
	if (!strstr(s->notes[0], why))
		fail_msg("\"%s\" does not say \"%s\"", s->notes[0], why);
}

static void test_noted(void **state)
{
	static const char *const no_ids[] = { "",
		                              "1; info",
		                              "1 2",
		                              "-1",
		                              "0x7f",
		                              "a:0xg",
		                              "a:0x",
		                              ":0x1",
		                              "A:0x1",
		                              "1\\n",
		                              "111111111111111111111" };
	STR(deep);

	(void)state;
	assert_noted("{\"id\":\"1\",\"number\":1,\"runtime\":1}", "of an unknown runtime");
	assert_noted("{\"runtime\":0}", "a task without an id");
	assert_noted("{\"id\":\"1\",\"number\":2}", "whose id is not its number");
	assert_noted("{\"id\":\"01\",\"number\":1}", "whose id is not its number");
	assert_noted("{\"id\":\"a:0x1\",\"number\":1}", "whose id is not its number");
	for (size_t i = 0; i < sizeof(no_ids) / sizeof(*no_ids); i++) {
		SCRATCH(tmp);

		assert_noted(arena_printf(&tmp, "{\"number\":1,\"id\":\"%s\"}", no_ids[i]),
		             "task.id is not a task id");
		assert_noted(arena_printf(&tmp,
		                          "{\"number\":1,\"id\":\"1\",\"root\":{\"wait\":"
		                          "{\"task\":\"%s\"}}}",
		                          no_ids[i]),
		             "task.task is not a task id");
	}
	assert_noted("{\"id\":\"1\",\"number\":1,\"root\":{\"wait\":{}}}", "a wait without a kind");
	assert_noted("{\"id\":\"1\",\"number\":1,\"root\":{\"children\":{}}}", "is not a list");
	assert_noted("{\"id\":\"1\",\"number\":1,\"root\":{\"children\":[null]}}",
	             "is not an object");
	str_append(&deep, "{\"id\":\"1\",\"number\":1,\"root\":");
	for (int i = 0; i < 300; i++)
		str_append(&deep, "{\"children\":[");
	for (int i = 0; i < 300; i++)
		str_append(&deep, "]}");
	str_append(&deep, "}");
	assert_noted(deep.data, "more frames than any tree");
}

/* ---- how much of it ---- */

/* Writes begin, n times each, and end, compressed. Repetitions of ",{}" compress to a few bytes. */
static void write_many(const char *begin, const char *each, size_t n, const char *end)
{
	gzFile gz = gzopen(file_named("snap"), "wb6");

	assert_non_null(gz);
	gzputs(gz, begin);
	for (size_t i = 0; i < n; i++)
		gzputs(gz, each);
	gzputs(gz, end);
	assert_int_equal(gzclose(gz), Z_OK);
}

#define TOO_MUCH "takes more memory than a snapshot"

static void test_a_few_bytes_take_little(void **state)
{
	enum { MANY = 1500000 };
	struct snapshot *s CLEANUP(free_if_any) = NULL;

	(void)state;
	write_many(BEGIN "{\"thread\":{\"frames\":[{}", ",{}", MANY, "]}}\n{\"end\":5}\n");
	struct error *frames CLEANUP(error_freep) = saved_read(file_named("snap"), &s, NULL);
	assert_non_null(frames);
	assert_non_null(strstr(frames->message, "thread.frames " TOO_MUCH));
	write_many(BEGIN, "{\"thread\":{}}\n", MANY, "{\"end\":5}\n");
	struct error *threads CLEANUP(error_freep) = saved_read(file_named("snap"), &s, NULL);
	assert_non_null(threads);
	assert_non_null(strstr(threads->message, "thread " TOO_MUCH));
	/* The lines before are kept. */
	write_many(BEGIN "{\"names\":[\"mutex\"]}\n", "{\"holding\":{\"kind\":0,\"type\":0}}\n",
	           MANY, "");
	succeed(saved_read(file_named("snap"), &s, NULL));
	assert_false(s->complete);
	assert_non_null(strstr(s->notes[0], "holding " TOO_MUCH));
	assert_in_range(s->nholdings, 1000, MANY - 1);
}

/* Many equal tasks, which compress best. */
static void test_many_tasks_are_read(void **state)
{
	enum { TASKS = 40000, FRAMES = 10 };
	struct snapshot *s CLEANUP(free_if_any) = NULL;
	gzFile gz = gzopen(file_named("snap"), "wb6");

	(void)state;
	assert_non_null(gz);
	gzprintf(gz, "{\"format\":\"asyncdbg-snapshot\",\"version\":2,\"tasks\":%d}\n", TASKS);
	gzputs(gz, "{\"snapshot\":{\"complete\":true}}\n{\"target\":{\"kind\":\"live\"}}\n"
	           "{\"runtime\":{}}\n");
	for (int i = 1; i <= TASKS; i++) {
		gzprintf(gz, "{\"task\":{\"id\":\"%d\",\"number\":%d,\"root\":", i, i);
		for (int f = 1; f < FRAMES; f++)
			gzputs(gz, "{\"children\":[");
		gzputs(gz, "{}");
		for (int f = 1; f < FRAMES; f++)
			gzputs(gz, "]}");
		gzputs(gz, "}}\n");
	}
	gzprintf(gz, "{\"end\":%d}\n", TASKS + 4);
	assert_int_equal(gzclose(gz), Z_OK);
	succeed(saved_read(file_named("snap"), &s, NULL));
	assert_true(s->complete);
	assert_int_equal(s->ntasks, TASKS);
	/* The file, like older ones, does not say that it has lists of variable parts. */
	assert_int_equal(s->nnotes, 1);
	assert_non_null(strstr(s->notes[0], "an older asyncdbg saved this snapshot"));
}

/* Text of the file is printed on terminals: it must be sanitized. */
static void test_control_characters(void **state)
{
	static const char text[] =
		BEGIN "{\"task\":{\"id\":\"0\",\"problem\":\"\\u001b[2J\\n7\"}}\n"
		      "{\"end\":5}\n";
	struct snapshot *s CLEANUP(free_if_any) = NULL;

	(void)state;
	write_plain(text, sizeof(text) - 1);
	succeed(saved_read(file_named("snap"), &s, NULL));
	assert_string_equal(s->tasks[0]->problem, "?[2J?7");
}

/* ---- writing ---- */

static void test_values_are_left_out(void **state)
{
	struct snapshot *s CLEANUP(free_snapshot) = make_snapshot();
	struct snapshot *read CLEANUP(free_if_any) = NULL;
	STR(plain);

	(void)state;
	make_locals(&s->arena, s->tasks[0]->root);
	save(s, true);
	read_plain(&plain);
	assert_non_null(strstr(plain.data, "Request { uri"));
	save(s, false);
	read_plain(&plain);
	assert_null(strstr(plain.data, "Request { uri"));
	succeed(saved_read(file_named("snap"), &read, NULL));
	const struct local *locals = read->tasks[0]->root->locals;
	assert_null(locals[1].value);
	assert_string_equal(locals[1].name, "req");
	assert_non_null(strstr(locals[1].problem, "--values"));
	assert_string_equal(locals[3].problem, "unreadable");
}

/*
 * A variable that is or contains a secret is marked where its value is shown. Where no value is
 * kept, both kinds are alike: whether one contains a secret is not known without it.
 */
static void test_redacted(void **state)
{
	struct snapshot *s CLEANUP(free_snapshot) = make_snapshot();
	struct local *locals;

	(void)state;
	make_locals(&s->arena, s->tasks[0]->root);
	locals = s->tasks[0]->root->locals;
	locals[0].value = "<redacted>";
	locals[1].value = "Account { user: \"alice\", password: <redacted> }";
	locals[0].redacted = locals[1].redacted = true;
	for (int values = 0; values <= 1; values++) {
		struct snapshot *read CLEANUP(free_if_any) = NULL;

		save(s, values);
		succeed(saved_read(file_named("snap"), &read, NULL));
		for (int i = 0; i < 2; i++) {
			const struct local *local = &read->tasks[0]->root->locals[i];

			assert_int_equal(local->value != NULL, values);
			assert_int_equal(local->redacted, values);
		}
	}
}

/* Checks the output of `save FILE --values` for a saved snapshot. */
static void assert_says(struct snapshot *s, const char *expected)
{
	static const struct saved_origin origin;
	struct session session CLEANUP(session_close) = {
		.handle = asyncdbg_from_snapshot(make_snapshot(), ~0U, &origin),
	};
	struct saved_info info;
	SCRATCH(tmp);
	CAUGHT(c);

	catch (&c, TEXT);
	succeed(run_line(&c, &session, s,
	                 arena_printf(&tmp, "save %s --values", file_named("snap"))));
	assert_non_null(strstr(c.answers, expected));
	struct snapshot *read CLEANUP(free_if_any) = NULL;
	succeed(saved_read(file_named("snap"), &read, &info));
	assert_int_equal(info.values, strcmp(expected, "with the") == 0);
}

static void test_values_that_are_gone_are_not_claimed(void **state)
{
	struct snapshot *s CLEANUP(free_snapshot) = make_snapshot();
	struct snapshot *without CLEANUP(free_if_any) = NULL;

	(void)state;
	make_locals(&s->arena, s->tasks[0]->root->children[0]);
	assert_says(s, "with the");
	save(s, false);
	succeed(saved_read(file_named("snap"), &without, NULL));
	assert_says(without, "without the");
	make_locals(&without->arena, without->threads[0].root);
	assert_says(without, "with the");
}

static void test_other_files_stay(void **state)
{
	struct snapshot *s CLEANUP(free_snapshot) = make_snapshot();
	struct saved_info info = { .wants = ALL };
	STR(plain);

	(void)state;
	write_plain("a core", 6);
	struct error *err CLEANUP(error_freep) = saved_write(file_named("snap"), s, &info);
	assert_non_null(err);
	assert_int_equal(err->kind, ERR_USAGE);
	read_plain(&plain);
	assert_string_equal(plain.data, "a core");
	assert_false(saved_is(file_named("snap")));
	assert_false(saved_is(directory));
	succeed(saved_write("/dev/null", s, &info));
	struct error *device CLEANUP(error_freep) = saved_write("/dev/full", s, &info);
	assert_non_null(device);
	assert_int_equal(device->kind, ERR_USAGE);
	/* Overwrite its own file twice. */
	unlink(file_named("snap"));
	save(s, false);
	save(s, true);
}

static void test_names_of_what_is_waited_for(void **state)
{
	struct snapshot *s CLEANUP(free_snapshot) = make_snapshot();
	struct wait *wait = s->tasks[0]->root->children[0]->wait;
	struct saved_names names;

	(void)state;
	wait->name = "self.accounts";
	s->threads[0].wait = NEW(&s->arena, struct wait);
	saved_find_names(s, &names);
	assert_int_equal(names.n, 1);
	saved_show_names(&names, false);
	assert_null(wait->name);
	saved_show_names(&names, true);
	assert_string_equal(wait->name, "self.accounts");
}

/* All wants of commands must be saved, or a saved snapshot could never serve them. */
static void test_all_that_commands_want(void **state)
{
	/* A file has variables without their values, too, for those who show variables. */
	const unsigned saved = save_command.wants | WANT_LOCALS;
	unsigned worded = 0;

	(void)state;
	assert_true(save_command.wants & WANT_LOCAL_NAMES);
	for (const struct want_word *w = saved_want_words; w->word; w++)
		worded |= w->want;
	assert_int_equal(save_command.wants & ~worded, 0);
	for (const struct command *const *c = command_table; *c; c++) {
		if ((*c)->wants & ~saved)
			fail_msg("save does not want all that \"%s\" does", (*c)->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_member_comes_back),
		cmocka_unit_test(test_lists_name_every_member),
		cmocka_unit_test(test_flipped_bytes),
		cmocka_unit_test(test_other_values),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_tasks_before_the_damage),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_noted),
		cmocka_unit_test(test_a_few_bytes_take_little),
		cmocka_unit_test(test_many_tasks_are_read),
		cmocka_unit_test(test_control_characters),
		cmocka_unit_test(test_values_are_left_out),
		cmocka_unit_test(test_redacted),
		cmocka_unit_test(test_values_that_are_gone_are_not_claimed),
		cmocka_unit_test(test_other_files_stay),
		cmocka_unit_test(test_names_of_what_is_waited_for),
		cmocka_unit_test(test_all_that_commands_want),
	};
	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
