#include "debugger/target/debug_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "debugger/base/file.h"
#include "debugger/base/log.h"
#include "debugger/base/path.h"
#include "debugger/base/str.h"
#include "debugger/elf/debuginfod.h"
#include "debugger/target/module.h"
#include "debugger/target/target.h"

/*
 * Limit for sizes: known debug files have at most about ten GB, while a sparse file can have any
 * size.
 */
static const uint64_t max_size = UINT64_C(1) << 36;

static const char system_directory[] = "/usr/lib/debug";

struct debug_file_search {
	struct target *t;
	struct module *m;
	const struct debug_link *link;
	struct stat main;    /* of the module's own file, to skip it in the search */
	const char *refused; /* why the first rejected file was rejected; NULL: none */
	struct arena scratch;
	int fd;
	char *path; /* of fd */
};

static void search_free(struct debug_file_search *s)
{
	arena_free(&s->scratch);
}

/* ---- checks of a candidate ---- */

/* NULL if the build-id matches, else the problem. */
static const char *compare_build_id(const struct debug_file_search *s, int fd)
{
	const char *problem = NULL;
	const void *id;
	GElf_Ehdr header;

	elf_version(EV_CURRENT);
	/* Do not map the file: another process may truncate it. */
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header)) {
		problem = "is not an ELF file";
	} else if (gelf_getclass(elf) != ELFCLASS64 ||
	           header.e_machine != s->t->arch->elf_machine) {
		problem = "is for another machine";
	} else if (s->link->build_id_len) {
		ssize_t len = dwelf_elf_gnu_build_id(elf, &id);

		if (len <= 0)
			problem = "has no build-id: not used";
		else if ((size_t)len != s->link->build_id_len ||
		         memcmp(id, s->link->build_id, (size_t)len) != 0)
			problem = "has a different build-id: not used";
	}
	elf_end(elf);
	return problem;
}

static const char *compare_checksum(const struct debug_file_search *s, int fd)
{
	enum { BLOCK = 1 << 20 };
	uint8_t *block CLEANUP(file_bytes_free) = malloc(BLOCK);
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t n;

	if (!block)
		out_of_memory();
	while ((n = pread(fd, block, BLOCK, at)) > 0) {
		struct error *interrupted = interrupt_check();

		if (interrupted) {
			error_free(interrupted);
			return "was not read to its end";
		}
		crc = crc32(crc, block, (uInt)n);
		at += n;
	}
	if (n < 0)
		return "cannot be read";
	return crc == s->link->crc ? NULL : "has a different checksum: not used";
}

static const char *debug_file_check(const struct debug_file_search *s, int fd)
{
	const char *problem;
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return "is not a regular file: not used";
	if ((uint64_t)st.st_size > max_size)
		return "is too large to be a debug file";
	problem = compare_build_id(s, fd);
	if (problem || s->link->build_id_len)
		return problem;
	if (!s->link->crc)
		return "is not used: nothing proves that it belongs to this build (it has no "
		       "build-id, and no debug link names it)";
	return compare_checksum(s, fd);
}

static void refuse(struct debug_file_search *s, const char *path, const char *why)
{
	LOG("module", "%s: %s %s", s->m->path, path, why);
	if (!s->refused)
		s->refused = arena_printf(&s->scratch, "%s %s",
		                          str_clean(&s->scratch, path, strlen(path)), why);
}

/* Accepts or closes fd. True if the file matches: the search is over. */
static bool debug_file_take(struct debug_file_search *s, const char *path, int fd)
{
	const char *why = debug_file_check(s, fd);

	if (why) {
		refuse(s, path, why);
		close(fd);
		return false;
	}
	LOG("module", "%s: debug info from %s", s->m->path, path);
	s->fd = fd;
	s->path = strdup(path);
	if (!s->path)
		out_of_memory();
	return true;
}

/* ---- places to search ---- */

static bool debug_file_try_path(struct debug_file_search *s, const char *path)
{
	struct stat st;
	int fd = file_open_regular(path);

	if (fd < 0 && errno == EINVAL)
		refuse(s, path, "is not a regular file: not used");
	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && st.st_dev == s->main.st_dev && st.st_ino == s->main.st_ino) {
		close(fd);
		return false;
	}
	return debug_file_take(s, path, fd);
}

static const char *build_id_path(struct arena *a, const char *directory, const unsigned char *id,
                                 size_t len, const char *ending)
{
	const char *text = build_id_text(a, id, len);

	return arena_printf(a, "%s/.build-id/%.2s/%s.%s", directory, text, text + 2, ending);
}

static bool try_build_id(struct debug_file_search *s, const char *directory)
{
	const struct debug_link *link = s->link;

	return link->build_id_len > 1 &&
	       debug_file_try_path(s, build_id_path(&s->scratch, directory, link->build_id,
	                                            link->build_id_len, "debug"));
}

static bool debug_file_try_named(struct debug_file_search *s, const char *directory,
                                 const char *below, const char *name)
{
	return debug_file_try_path(s, arena_printf(&s->scratch, "%s%s%s/%s", directory,
	                                           *below ? "/" : "", below, name));
}

/* Searches in directory, below the components of own and their tails: DIR/usr/bin, DIR/bin, DIR. */
static bool debug_file_try_mirrored(struct debug_file_search *s, const char *directory,
                                    const char *own, const char *name)
{
	const char *below = *own == '/' ? own + 1 : NULL;

	while (below) {
		if (debug_file_try_named(s, directory, below, name))
			return true;
		below = *below ? strchr(below, '/') : NULL;
		below = below ? below + 1 : NULL;
	}
	return debug_file_try_path(s, arena_printf(&s->scratch, "%s/%s", directory, name));
}

static const char *target_directory(struct arena *a, const struct target *t)
{
	return t->root && *t->root ? arena_printf(a, "%s%s", t->root, system_directory) : NULL;
}

/*
 * Whether a name in the path is "..", which may lead out of the directory that the path is below.
 */
static bool goes_up(const char *name)
{
	for (const char *p = name; (p = strstr(p, "..")); p += 2) {
		if ((p == name || p[-1] == '/') && (!p[2] || p[2] == '/'))
			return true;
	}
	return false;
}

static bool try_name(struct debug_file_search *s, const char *own, const char *name)
{
	const char *inside = target_directory(&s->scratch, s->t);

	return debug_file_try_named(s, own, "", name) ||
	       debug_file_try_named(s, own, ".debug", name) ||
	       (!goes_up(name) && debug_file_try_mirrored(s, system_directory, own, name)) ||
	       (inside && debug_file_try_mirrored(s, inside, own, name));
}

static bool try_names(struct debug_file_search *s, const char *beside)
{
	const char *slash = strrchr(beside, '/');
	const char *base = slash ? slash + 1 : beside;
	const char *own =
		!slash ? "." : arena_printf(&s->scratch, "%.*s", (int)(slash - beside), beside);

	if (s->link->name)
		return *s->link->name && try_name(s, own, s->link->name);
	return *base && (try_name(s, own, arena_printf(&s->scratch, "%s.debug", base)) ||
	                 debug_file_try_named(s, own, ".debug", base) ||
	                 debug_file_try_mirrored(s, system_directory, own, base));
}

/* The path without links. Below the target's root, it is that of the root. NULL: unknown. */
static const char *path_without_links(struct debug_file_search *s, const char *path)
{
	const char *root = s->t->root ? s->t->root : "";
	size_t len = strlen(root);
	char name[64], text[PATH_MAX], top[PATH_MAX];

	if (!len || strncmp(path, root, len) != 0) {
		char *real = realpath(path, NULL);
		const char *copy = real ? arena_strdup(&s->scratch, real) : NULL;

		free(real);
		return copy;
	}
	int fd CLEANUP(file_close) = path_find(path, 0, NULL);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	ssize_t n = fd < 0 ? -1 : readlink(name, text, sizeof(text) - 1);
	ssize_t m = readlink(root, top, sizeof(top) - 1);
	if (n <= 0 || m <= 0)
		return NULL;
	text[n] = top[m] = '\0';
	/* The root of a chroot has a name of its own, which begins the names of its files. */
	size_t skip = strcmp(top, "/") == 0 ? 0 : (size_t)m;
	return strncmp(text, top, skip) == 0 && text[skip] == '/'
	               ? arena_printf(&s->scratch, "%s%s", root, text + skip)
	               : NULL;
}

static bool try_files(struct debug_file_search *s, const char *beside)
{
	const char *inside = target_directory(&s->scratch, s->t);

	if (try_build_id(s, system_directory) || (inside && try_build_id(s, inside)) ||
	    try_names(s, beside))
		return true;
	/* If beside is a link, the debug file may be next to its target. */
	const char *real = path_without_links(s, beside);
	return real && strcmp(real, beside) != 0 && try_names(s, real);
}

/* ---- from a server ---- */

static bool try_server(struct debug_file_search *s)
{
	struct target *t = s->t;
	char *path = NULL;
	int fd = -1;

	/* A query takes seconds: never make one while the program is stopped. */
	if (s->m->is_vdso || t->debuginfod_is_silent || (t->ops->stop && t->stopped))
		return false;
	switch (debuginfod_find(s->link->build_id, s->link->build_id_len, &fd, &path)) {
	case DEBUGINFOD_FOUND:
		debug_file_take(s, path, fd);
		free(path);
		return s->fd >= 0;
	case DEBUGINFOD_SILENT:
		t->debuginfod_is_silent = true;
		s->refused = "debuginfod did not answer in time and is not queried again (see "
			     "DEBUGINFOD_TIMEOUT)";
		break;
	case DEBUGINFOD_INTERRUPTED:
		s->refused = "debuginfod was interrupted";
		break;
	case DEBUGINFOD_ABSENT:
		break;
	}
	return false;
}

int debug_file_find(struct target *t, struct module *m, const char *beside,
                    const struct debug_link *link, char **path)
{
	struct debug_file_search s CLEANUP(
		search_free) = { .t = t, .m = m, .link = link, .fd = -1 };

	if (m->fd < 0 || fstat(m->fd, &s.main) != 0)
		s.main = (struct stat){ 0 };
	if (try_files(&s, beside) || try_server(&s)) {
		*path = s.path;
		return s.fd;
	}
	if (s.refused && !m->debug_note) {
		m->debug_note = strdup(s.refused);
		if (!m->debug_note)
			out_of_memory();
	}
	return -1;
}

const char *debug_file_sibling(struct arena *a, const struct target *t, const struct module *m,
                               const char *ending)
{
	const char *const directories[] = { system_directory, target_directory(a, t) };

	for (size_t i = 0; m->build_id_len > 1 && i < 2; i++) {
		const char *path = directories[i] ? build_id_path(a, directories[i], m->build_id,
		                                                  m->build_id_len, ending)
		                                  : NULL;
		int fd = path ? file_open_regular(path) : -1;

		if (fd < 0)
			continue;
		close(fd);
		return path;
	}
	return NULL;
}
