#include "dwarf/code/source_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debugger/base/file.h"
#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "dwarf/names/source.h"

enum {
	MAX_TEXTS = 16,          /* texts that are kept */
	MAX_DIRECTORIES = 64,    /* registries or toolchains that are looked at */
	MAX_MANIFEST = 16 << 20, /* bytes of the list of a toolchain's packages */
	MIN_COMMIT = 9,          /* hex digits of a commit that are compared */
	TAB = 8,
};

/* ---- maps ---- */

static size_t source_file_trimmed(const char *path, size_t len)
{
	while (len > 1 && path[len - 1] == '/')
		len--;
	return len;
}

struct error *source_files_add_map(struct source_files *s, const char *text)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text)
		return error_new(ERR_USAGE,
		                 "\"%s\" is not a source map FROM=TO, such as /src=/home/me/app",
		                 text);
	const char *from =
		arena_strndup(&s->arena, text, source_file_trimmed(text, (size_t)(equals - text)));
	const char *to = arena_strndup(&s->arena, equals + 1,
	                               source_file_trimmed(equals + 1, strlen(equals + 1)));
	size_t n = 0;

	for (size_t i = 0; i < s->maps.n; i++) {
		if (strcmp(s->maps.data[i].from, from) != 0)
			s->maps.data[n++] = s->maps.data[i];
	}
	s->maps.n = n;
	if (*to)
		*vec_push(&s->maps) = (struct source_map){ from, to };
	return NULL;
}

/* The part of path behind a directory, with its slash; NULL: it is not below it. */
static const char *source_file_below(const char *path, const char *directory)
{
	size_t len = strlen(directory);

	if (strncmp(path, directory, len) != 0)
		return NULL;
	if (len && directory[len - 1] == '/')
		return path + len - 1;
	return path[len] == '/' || path[len] == '\0' ? path + len : NULL;
}

/* ---- where a file may be ---- */

/* The paths to try, in arena a. */
struct source_file_candidates {
	struct arena a;
	const char *path[SOURCE_MAX_TRIED];
	size_t n;
	const char *remedy; /* advice for the user */
};

static void source_file_add(struct source_file_candidates *c, const char *path)
{
	for (size_t i = 0; i < c->n; i++) {
		if (strcmp(c->path[i], path) == 0)
			return;
	}
	if (c->n < SOURCE_MAX_TRIED)
		c->path[c->n++] = path;
}

static void add_mapped(struct source_file_candidates *c, const struct source_files *s,
                       const char *path)
{
	for (size_t i = 0; i < s->maps.n; i++) {
		const char *rest = source_file_below(path, s->maps.data[i].from);

		if (rest)
			source_file_add(c, arena_printf(&c->a, "%s%s", s->maps.data[i].to, rest));
	}
}

/* The directory of a variable, else one below the home directory; NULL: unknown. */
static const char *source_file_home_of(struct arena *a, const char *variable, const char *name)
{
	const char *dir = getenv(variable), *home = getenv("HOME");

	if (dir && *dir)
		return dir;
	return home && *home ? arena_printf(a, "%s/%s", home, name) : NULL;
}

static void close_directory(DIR **d)
{
	if (*d)
		closedir(*d);
}

typedef void name_fn(struct source_file_candidates *c, const char *directory, const char *rest);

/* Calls visit with each entry of a directory. */
static void each_entry(struct source_file_candidates *c, const char *directory, const char *rest,
                       name_fn *visit)
{
	DIR *d CLEANUP(close_directory) = opendir(directory);
	const struct dirent *entry;

	for (size_t n = 0; d && n < MAX_DIRECTORIES && (entry = readdir(d)) != NULL;) {
		if (entry->d_name[0] == '.')
			continue;
		visit(c, arena_printf(&c->a, "%s/%s", directory, entry->d_name), rest);
		n++;
	}
}

static void in_registry(struct source_file_candidates *c, const char *directory, const char *rest)
{
	const char *path = arena_printf(&c->a, "%s%s", directory, rest);

	/* A registry is mentioned only if it has the package: there may be several. */
	if (access(path, F_OK) == 0)
		source_file_add(c, path);
}

/* A package in a registry: ".../registry/src/index-0123/tokio-1.54.1/src/lib.rs". */
static void add_package(struct source_file_candidates *c, const char *cargo, const char *text)
{
	const char *rest = arena_printf(&c->a, "/%s", text);
	size_t before = c->n;

	each_entry(c, arena_printf(&c->a, "%s/registry/src", cargo), rest, in_registry);
	if (c->n == before)
		source_file_add(c, arena_printf(&c->a, "%s/registry/src/*%s", cargo, rest));
}

/* text: the path as answers show it, of a file in a package. */
static void add_dependency(struct source_file_candidates *c, const char *path, const char *text)
{
	static const char checkouts[] = "/git/checkouts/";
	const char *cargo = source_file_home_of(&c->a, "CARGO_HOME", ".cargo");
	const char *checkout = strstr(path, checkouts);

	if (!checkout && !strstr(path, "/registry/"))
		return;
	c->remedy = "\"cargo fetch\" in the package of the program fetches it";
	if (cargo && checkout)
		source_file_add(c, arena_printf(&c->a, "%s%s", cargo, checkout));
	else if (cargo)
		add_package(c, cargo, text);
}

/* ---- std ---- */

/* "59807616e" of "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/..." */
static const char *commit_of(struct arena *a, const char *path, const char **library)
{
	static const char marker[] = "/rustc/";
	const char *hash = source_file_below(path, "/rustc") ? path + sizeof(marker) - 1 : NULL;
	size_t len = hash ? strspn(hash, "0123456789abcdef") : 0;

	if (len < MIN_COMMIT || strncmp(hash + len, "/library/", 9) != 0)
		return NULL;
	*library = hash + len;
	return arena_strndup(a, hash, MIN_COMMIT);
}

/* Whether a toolchain's rustc is of that commit: its list of packages has the version's text. */
static bool is_of_commit(struct arena *a, const char *toolchain, const char *commit)
{
	const char *path =
		arena_printf(a, "%s/lib/rustlib/multirust-channel-manifest.toml", toolchain);
	uint8_t *bytes CLEANUP(file_bytes_free) = NULL;
	int fd CLEANUP(file_close) = file_open_regular(path);
	size_t size;

	if (fd < 0)
		return false;
	struct error *err CLEANUP(error_freep) = file_read(fd, path, MAX_MANIFEST, &bytes, &size);
	const char *needle = arena_printf(a, "(%s ", commit);

	return !err && memmem(bytes, size, needle, strlen(needle)) != NULL;
}

static void in_toolchain(struct source_file_candidates *c, const char *toolchain, const char *rest)
{
	const char *library;
	const char *commit = commit_of(&c->a, rest, &library);

	if (is_of_commit(&c->a, toolchain, commit))
		source_file_add(
			c, arena_printf(&c->a, "%s/lib/rustlib/src/rust%s", toolchain, library));
}

static void add_std(struct source_file_candidates *c, const char *path)
{
	const char *rustup = source_file_home_of(&c->a, "RUSTUP_HOME", ".rustup"), *library;

	if (!commit_of(&c->a, path, &library))
		return;
	c->remedy = "\"rustup component add rust-src\" for the toolchain that built the program "
		    "installs it";
	if (rustup)
		each_entry(c, arena_printf(&c->a, "%s/toolchains", rustup), path, in_toolchain);
}

/* ---- all ---- */

/* The path of a file from the root on, where that is known. */
static const char *whole_path(struct arena *a, const char *file, const char *comp_dir)
{
	while (str_begins(file, "./"))
		file += 2;
	if (file[0] == '/' || !comp_dir || !*comp_dir)
		return file;
	return arena_printf(a, "%.*s/%s", (int)source_file_trimmed(comp_dir, strlen(comp_dir)),
	                    comp_dir, file);
}

/* Only the program's own files are looked for in the working directory: others have its names. */
static void add_own(struct source_file_candidates *c, const char *path, const char *comp_dir)
{
	bool known = comp_dir && *comp_dir;
	const char *rest = known ? source_file_below(path, comp_dir) : NULL;

	if (path[0] != '/')
		source_file_add(c, path);
	else if (rest && rest[0] == '/' && rest[1])
		source_file_add(c, rest + 1);
	if (!c->remedy)
		c->remedy = arena_printf(&c->a, "\"set source-map %s=DIRECTORY\" sets where it is",
		                         known ? comp_dir : "FROM");
}

static void find_candidates(struct source_file_candidates *c, const struct source_files *s,
                            const char *file, const char *comp_dir)
{
	const char *path = whole_path(&c->a, file, comp_dir);
	struct source source = source_of(&c->a, file, comp_dir, NULL, NULL);

	const char *rest = comp_dir && *comp_dir ? source_file_below(path, comp_dir) : NULL;

	/* A FROM that is relative is below the directory of the unit, however the file is named. */
	add_mapped(c, s, path);
	if (rest && rest[0] == '/')
		add_mapped(c, s, rest + 1);
	if (path[0] == '/')
		source_file_add(c, path);
	if (source.library)
		add_dependency(c, path, source.text);
	add_std(c, path);
	if (!source.library)
		add_own(c, path, comp_dir);
	if (!c->remedy)
		c->remedy = "\"set source-map FROM=TO\" sets where it is";
}

static struct error *nowhere(const struct source_file_candidates *c, const char *file)
{
	STR(tried);

	for (size_t i = 0; i < c->n; i++)
		str_printf(&tried, "%s%s", i ? ", " : "", c->path[i]);
	return error_new(ERR_STATE, "source file %s not found: tried %s; %s", file,
	                 c->n ? str_text(&tried) : "nothing", c->remedy);
}

/* ---- reading ---- */

static void text_free(struct source_text *t)
{
	free(t->bytes);
	free(t->starts);
	free((void *)(uintptr_t)t->path);
	free(t);
}

static void find_lines(struct source_text *t)
{
	VEC(uint32_t) starts = { 0 };

	for (size_t at = 0; at < t->size;) {
		const uint8_t *end = memchr(t->bytes + at, '\n', t->size - at);

		*vec_push(&starts) = (uint32_t)at;
		at = end ? (size_t)(end - t->bytes) + 1 : t->size;
	}
	t->starts = starts.data;
	t->nlines = starts.n;
}

/* Identifies the contents of a file, as far as its status tells. */
static uint64_t source_file_key_of(const char *path, const struct stat *st)
{
	const uint64_t parts[] = { map_key_of_text(path),        (uint64_t)st->st_dev,
		                   (uint64_t)st->st_ino,         (uint64_t)st->st_size,
		                   (uint64_t)st->st_mtim.tv_sec, (uint64_t)st->st_mtim.tv_nsec };

	return map_key_of(parts, sizeof(parts));
}

static struct source_text *kept(const struct source_files *s, uint64_t key)
{
	for (size_t i = 0; i < s->read.n; i++) {
		if (s->read.data[i]->key == key)
			return s->read.data[i];
	}
	return NULL;
}

static void forget_texts(struct source_files *s)
{
	for (size_t i = 0; i < s->read.n; i++)
		text_free(s->read.data[i]);
	s->read.n = 0;
}

/* Reads a path; an error that is no ERR_OS: there is something, but no source file. */
static struct error *source_file_read_text(struct source_files *s, const char *path,
                                           struct source_text **ret)
{
	int fd CLEANUP(file_close) = -1;
	struct stat st;

	TRY(file_open(path, &fd));
	if (fstat(fd, &st) != 0)
		return error_os(errno, "%s", path);
	*ret = kept(s, source_file_key_of(path, &st));
	if (*ret)
		return NULL;
	struct source_text text = { .modified = st.st_mtim.tv_sec,
		                    .key = source_file_key_of(path, &st) };
	TRY(file_read(fd, path, SOURCE_MAX_BYTES, &text.bytes, &text.size));
	if (s->read.n >= MAX_TEXTS)
		forget_texts(s);
	struct source_text *t = malloc(sizeof(*t));
	text.path = strdup(path);
	if (!t || !text.path)
		out_of_memory();
	*t = text;
	find_lines(t);
	*vec_push(&s->read) = t;
	*ret = t;
	return NULL;
}

static void free_candidates(struct source_file_candidates *c)
{
	arena_free(&c->a);
}

struct error *source_files_open(struct source_files *s, const char *file, const char *comp_dir,
                                const struct source_text **ret)
{
	struct source_file_candidates c CLEANUP(free_candidates) = { 0 };
	struct error *bad CLEANUP(error_freep) = NULL;
	struct source_text *t;

	find_candidates(&c, s, file, comp_dir);
	for (size_t i = 0; i < c.n; i++) {
		struct error *err = source_file_read_text(s, c.path[i], &t);

		if (!err) {
			t->moved = strcmp(c.path[i], whole_path(&c.a, file, comp_dir)) != 0;
			*ret = t;
			return NULL;
		}
		/* An existing file that cannot be a source is reported rather than missing ones. */
		if (err->kind != ERR_OS && !bad)
			bad = error_new(ERR_STATE, "%s", err->message);
		error_free(err);
	}
	struct error *err = bad ? bad : nowhere(&c, file);
	bad = NULL;
	return err;
}

const char *source_text_line(const struct source_text *t, unsigned n, struct arena *a)
{
	STR(text);
	STR(clean);

	if (n == 0 || n > t->nlines)
		return NULL;
	size_t at = t->starts[n - 1], end = n < t->nlines ? t->starts[n] : t->size;

	while (end > at && (t->bytes[end - 1] == '\n' || t->bytes[end - 1] == '\r'))
		end--;
	if (end - at > SOURCE_MAX_LINE)
		end = at + SOURCE_MAX_LINE;
	for (; at < end; at++) {
		if (t->bytes[at] != '\t')
			str_append_len(&text, (const char *)&t->bytes[at], 1);
		else
			str_append_len(&text, "        ", TAB - text.len % TAB);
	}
	str_append_clean(&clean, str_text(&text), text.len);
	return arena_strdup(a, str_text(&clean));
}

bool source_files_is_news(struct source_files *s, const struct source_text *t)
{
	for (size_t i = 0; i < s->warned.n; i++) {
		if (s->warned.data[i] == t->key)
			return false;
	}
	*vec_push(&s->warned) = t->key;
	return true;
}

void source_files_close(struct source_files *s)
{
	forget_texts(s);
	vec_free(&s->read);
	vec_free(&s->maps);
	vec_free(&s->warned);
	arena_free(&s->arena);
}
