#include "dwarf/names/source.h"

#include <ctype.h>
#include <string.h>

#include "debugger/base/str.h"

/*
 * Directories of packages that are not developed in place. The marker is followed by components
 * that do not identify the package, then by the package's own.
 */
static const struct source_place_data {
	const char *marker;
	unsigned skip; /* components after the marker to skip */
	unsigned name; /* components of the package's directory; 0: none, files only */
} places[] = {
	/* ~/.cargo/registry/src/example.org-0123456789abcdef/tokio-1.54.1/src/lib.rs */
	{ "/registry/src/", 1, 1 },
	/* /usr/share/cargo/registry/tokio-1.54.1/src/lib.rs, of distributions */
	{ "/registry/", 0, 1 },
	/* ~/.cargo/git/checkouts/tokio-0825f59fc9ebe0b6/90b23a9/tokio/src/lib.rs */
	{ "/git/checkouts/", 0, 2 },
	/* /rustc/HASH/library/core/src/future/mod.rs */
	{ "/rustc/", 1, 0 },
	/* ~/.rustup/toolchains/NAME/lib/rustlib/src/rust/library/core/src/future/mod.rs */
	{ "/rustlib/src/rust/", 0, 0 },
	/* /rust/deps/hashbrown-0.15.2/src/raw/mod.rs, of std */
	{ "/rust/deps/", 0, 1 },
	/* of `cargo vendor` */
	{ "/vendor/", 0, 1 },
};

/* Skips n components and the slashes that end them; NULL if there are fewer. */
static const char *behind(const char *p, unsigned n)
{
	for (; n; n--) {
		const char *slash = strchr(p, '/');

		if (!slash || slash == p)
			return NULL;
		p = slash + 1;
	}
	return p;
}

/*
 * Finds the package of a path: [*name, *end) is the name of its directory. False if there is none.
 */
static bool source_find_package(const char *path, const struct source_place_data **place,
                                const char **name, const char **end)
{
	const char *first = NULL;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		const char *at = strstr(path, places[i].marker);
		const char *from =
			at ? behind(at + strlen(places[i].marker), places[i].skip) : NULL;
		const char *to = from ? behind(from, places[i].name) : NULL;

		if (!to || (first && at >= first))
			continue;
		first = at;
		*place = &places[i];
		*name = from;
		*end = to;
	}
	return first != NULL;
}

/*
 * Shortens the directory of a checkout, which is a name with a hash and below it the commit, to
 * "tokio-90b23a9".
 */
static void append_checkout(struct str *s, const char *name, const char *end)
{
	const char *slash = memchr(name, '/', (size_t)(end - name)), *dash = slash;

	while (dash > name && *dash != '-')
		dash--;
	str_append_len(s, name, (size_t)((dash > name ? dash : slash) - name));
	str_append(s, "-");
	str_append_len(s, slash + 1, (size_t)(end - slash - 1));
}

static void append_package(struct str *s, const char *path)
{
	const struct source_place_data *place;
	const char *name, *end;

	if (!source_find_package(path, &place, &name, &end))
		return;
	if (place->name == 2)
		append_checkout(s, name, end);
	else
		str_append_len(s, name, (size_t)(end - name));
	str_append(s, end);
}

const char *source_package(struct arena *a, const char *path)
{
	const struct source_place_data *place;
	const char *name, *end;
	const char *whole = arena_printf(a, "%s/", path);

	if (!source_find_package(whole, &place, &name, &end))
		return NULL;
	return arena_strndup(a, whole, (size_t)(end - whole - 1));
}

/* Is path in the package itself, and not in another package below it? */
static bool source_is_in(const char *path, const char *package)
{
	size_t len = strlen(package);
	const struct source_place_data *place;
	const char *name, *end;

	return strncmp(path, package, len) == 0 && path[len] == '/' &&
	       !source_find_package(path + len, &place, &name, &end);
}

/*
 * The display path of any other file: from the directory that contains its `src`, which has the
 * name of its crate. Without `src`: the last two components after "...".
 */
static const char *source_last_components(struct arena *a, const char *file)
{
	const char *library = strstr(file, "/library/"), *src = NULL;
	unsigned slashes = 0;

	if (library)
		return arena_strdup(a, library + 1);
	for (const char *p = file; (p = strstr(p, "/src/")); p++)
		src = p;
	while (src && src > file && src[-1] != '/')
		src--;
	if (src && *src != '/')
		return arena_strdup(a, src);
	for (const char *p = file + strlen(file); p-- > file + 1;)
		if (*p == '/' && ++slashes == 2)
			return arena_printf(a, "...%s", p);
	return arena_strdup(a, file);
}

/* ---- crates that are developed in place ---- */

/* The path from a directory on; NULL: it is not below it. */
static const char *source_path_below(const char *path, const char *dir, size_t dir_len)
{
	return dir_len && strncmp(path, dir, dir_len) == 0 && path[dir_len] == '/'
	               ? path + dir_len + 1
	               : NULL;
}

/* The last n components of a directory's path; all, where it has fewer. */
static const char *last_of(const char *path, unsigned n)
{
	const char *p = path + strlen(path);

	while (p > path + 1 && (p[-1] != '/' || --n))
		p--;
	return p > path + 1 ? p : path;
}

static bool is_taken(const struct source_dirs *dirs, const char *name, const struct source_dir *by)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < dirs->n; i++) {
		const char *path = dirs->list[i].path;
		size_t size = strlen(path);

		if (&dirs->list[i] != by && size > len && path[size - len - 1] == '/' &&
		    strcmp(path + size - len, name) == 0)
			return true;
	}
	return false;
}

static const char *name_dir(const struct source_dirs *dirs, const char *root,
                            const struct source_dir *dir)
{
	const char *name = root ? source_path_below(dir->path, root, strlen(root)) : NULL;
	const char *longer;

	if (name || (root && strcmp(root, dir->path) == 0))
		return name ? name : "";
	longer = last_of(dir->path, 1);
	for (unsigned n = 2; longer != name && is_taken(dirs, longer, dir); n++) {
		name = longer;
		longer = last_of(dir->path, n);
	}
	return longer;
}

static bool has_dir(const struct source_dirs *dirs, const char *path)
{
	for (size_t i = 0; i < dirs->n; i++) {
		if (strcmp(dirs->list[i].path, path) == 0)
			return true;
	}
	return false;
}

struct source_dirs source_dirs_read(struct arena *a, const char *text)
{
	struct source_dirs ret = { 0 };
	const char *root = NULL, *end;
	size_t n = 0;

	for (const char *p = text; p && *p; p++)
		n += *p == '\n';
	ret.list = NEW_ARRAY(a, struct source_dir, n);
	for (const char *p = text; p && (end = strchr(p, '\n')); p = end + 1) {
		const char *path = arena_strndup(a, p, (size_t)(end - p));

		if (p == text && *path)
			root = path;
		if (*path && ret.n < n && !has_dir(&ret, path))
			ret.list[ret.n++].path = path;
	}
	if (ret.n == 1)
		root = ret.list[0].path;
	for (size_t i = 0; i < ret.n; i++)
		ret.list[i].name = name_dir(&ret, root, &ret.list[i]);
	return ret;
}

/* The innermost one that has the file; NULL: none. */
static const struct source_dir *dir_of(const struct source_dirs *dirs, const char *path)
{
	const struct source_dir *ret = NULL;
	size_t longest = 0;

	for (size_t i = 0; dirs && i < dirs->n; i++) {
		size_t len = strlen(dirs->list[i].path);

		if (len <= longest || !source_path_below(path, dirs->list[i].path, len))
			continue;
		longest = len;
		ret = &dirs->list[i];
	}
	return ret;
}

static struct source in_dir(struct arena *a, const struct source_dir *dir, const char *path)
{
	const char *rest = path + strlen(dir->path) + 1;
	STR(whole);

	str_printf(&whole, "%s%s%s", dir->name, *dir->name ? "/" : "", rest);
	return (struct source){ .text = str_clean(a, whole.data, whole.len) };
}

/* The text of a path, and whether its file is a library's; comp_dir has dir_len bytes. */
static struct source name_path(struct arena *a, const char *path, const char *comp_dir,
                               size_t dir_len, const char *own, const struct source_dirs *dirs)
{
	const struct source_dir *dir;
	STR(package);

	append_package(&package, path);
	if (package.len)
		return (struct source){ .text = str_clean(a, package.data, package.len),
			                .library = !own || !source_is_in(path, own) };
	if ((dir = dir_of(dirs, path)))
		return in_dir(a, dir, path);
	const char *inside = source_path_below(path, comp_dir, dir_len);
	const char *below = inside ? inside : path;
	const char *clean = str_clean(a, below, strlen(below));
	if (inside || path[0] != '/')
		return (struct source){ .text = clean };
	const char *text = source_last_components(a, clean);

	return (struct source){ .text = text, .library = strcmp(text, clean) != 0 };
}

struct source source_of(struct arena *a, const char *file, const char *comp_dir, const char *own,
                        const struct source_dirs *dirs)
{
	size_t dir_len = comp_dir ? strlen(comp_dir) : 0;
	struct source ret;
	STR(path);

	while (dir_len && comp_dir[dir_len - 1] == '/')
		dir_len--;
	if (file[0] != '/' && dir_len)
		str_printf(&path, "%.*s/", (int)dir_len, comp_dir);
	str_append(&path, file);
	ret = name_path(a, str_text(&path), comp_dir, dir_len, own, dirs);
	ret.path = str_clean(a, str_text(&path), path.len);
	return ret;
}
