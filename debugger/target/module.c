#include "debugger/target/module.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debugger/base/file.h"
#include "debugger/base/log.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "debugger/elf/claimed_size.h"
#include "debugger/target/debug_file.h"
#include "debugger/target/target.h"

enum { MAX_MODULES = 65536, MAX_ATTEMPTS = 16, MAX_VDSO = 64 * 1024 };

/* Consecutive mappings of one file, the first at its offset 0. */
struct module_group {
	const struct mapping *first;
	uint64_t start, end; /* as mapped */
	uint64_t reserved;   /* end of its PT_LOADs, from the headers in memory */
	bool executable;
	bool seen; /* its headers are readable in memory; they are in image */
	struct elf_image image;
};

struct module_report {
	struct target *t;
	module_file_fn *find_file;
	bool force;
	struct arena scratch;
	VEC(struct module_group) groups;
	VEC(struct module) modules;
	VEC(struct module *) unloaded; /* of the target, see modules_update() */
};

static void report_free(struct module_report *r)
{
	arena_free(&r->scratch);
	vec_free(&r->groups);
	for (size_t i = 0; i < r->modules.n; i++) {
		if (r->modules.data[i].fd >= 0)
			close(r->modules.data[i].fd);
	}
	vec_free(&r->modules);
	vec_free(&r->unloaded);
}

struct memory_source {
	struct target *t;
	uint64_t start;
};

static bool module_read_memory(void *arg, uint64_t offset, void *buf, size_t len)
{
	const struct memory_source *from = arg;
	size_t got = 0;
	struct error *err CLEANUP(error_freep) =
		target_read_some(from->t, from->start + offset, buf, len, &got);

	return !err && got == len;
}

/* Parses the headers in target memory at start. */
static bool image_in_memory(struct module_report *r, uint64_t start, struct elf_image *ret)
{
	struct memory_source memory = { r->t, start };
	struct elf_source from = { module_read_memory, &memory, true };

	return elf_image_read(&r->scratch, &from, r->t->arch->elf_machine, ret);
}

/* Whether the mapping is not an ELF file: a data file that the program has mapped. */
static bool is_data_file(struct module_report *r, const struct mapping *m)
{
	unsigned char magic[SELFMAG];
	struct memory_source memory = { r->t, m->start };

	return module_read_memory(&memory, 0, magic, sizeof(magic)) &&
	       memcmp(magic, ELFMAG, SELFMAG) != 0;
}

static void group_mappings(struct module_report *r, const struct mapping *mappings,
                           size_t nmappings)
{
	struct module_group *g = NULL;

	for (size_t i = 0; i < nmappings && r->groups.n < MAX_MODULES; i++) {
		const struct mapping *m = &mappings[i];
		if (g && m->start < g->reserved && strcmp(m->path, g->first->path) == 0) {
			g->end = m->end;
			g->executable |= m->executable;
			continue;
		}
		if (m->file_offset != 0 || is_data_file(r, m))
			continue;
		g = vec_push(&r->groups);
		*g = (struct module_group){ .first = m, .start = m->start, .end = m->end };
		g->executable = m->executable;
		g->seen = image_in_memory(r, m->start, &g->image);
		g->reserved = g->seen ? m->start + (g->image.high - g->image.low) : UINT64_MAX;
	}
}

/*
 * The bias of an image: run-time address of the page at file offset 0, minus its link-time address.
 */
static uint64_t image_bias(const struct elf_image *image, uint64_t start)
{
	if (image->header.e_type == ET_EXEC)
		return 0;
	for (size_t i = 0; i < image->nphdrs; i++) {
		const Elf64_Phdr *p = &image->phdrs[i];
		if (p->p_type == PT_LOAD && p->p_offset < ELF_PAGE)
			return start - (p->p_vaddr - p->p_offset);
	}
	return start - image->low;
}

/* Result of the search for a module's file. */
struct found_file {
	int fd; /* -1: none matches */
	const char *display;
	struct elf_image image;
	const char *other;    /* a file that does not match; NULL: none */
	const char *other_id; /* its build-id */
};

static bool same_id(const struct elf_image *a, const struct elf_image *b)
{
	return a->build_id_len == b->build_id_len &&
	       memcmp(a->build_id, b->build_id, a->build_id_len) == 0;
}

/*
 * Whether this is the file that is mapped. If the mapped image has a build-id, it must be equal. An
 * executable without one must at least have the entry point that the auxiliary vector contains.
 */
static bool fits(const struct module_report *r, const struct module_group *g, bool is_main,
                 const struct elf_image *image)
{
	if (g->seen && g->image.build_id_len > 0)
		return same_id(&g->image, image);
	return !is_main || r->t->entry == 0 ||
	       r->t->entry == image->header.e_entry + image_bias(image, g->start);
}

static void module_find_file(struct module_report *r, const struct module_group *g, bool is_main,
                             struct found_file *ret)
{
	*ret = (struct found_file){ .fd = -1 };
	for (unsigned attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
		struct module_file file = r->find_file(r->t, g->first, is_main, attempt);
		if (!file.open)
			return;
		int fd = file_open_regular(file.open);
		LOG("module", "%s: try %s: %s", g->first->path, file.open,
		    fd < 0 ? strerror(errno) : "opened");
		if (fd < 0)
			continue;
		struct elf_source from = { elf_read_fd, &fd, false };
		bool usable =
			elf_image_read(&r->scratch, &from, r->t->arch->elf_machine, &ret->image);
		bool same = usable && fits(r, g, is_main, &ret->image);
		if (usable && (same || (r->force && is_main))) {
			if (!same)
				target_note(
					r->t,
					"%s is used although it differs from the running program",
					file.display);
			ret->fd = fd;
			ret->display = file.display;
			return;
		}
		if (usable && !ret->other) {
			ret->other = file.display;
			ret->other_id = build_id_text(&r->scratch, ret->image.build_id,
			                              ret->image.build_id_len);
		}
		close(fd);
	}
}

/* The path without the " (deleted)" that the kernel appends. */
static const char *module_clean_path(struct arena *a, const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(path), tail = sizeof(deleted) - 1;

	if (len > tail && strcmp(path + len - tail, deleted) == 0)
		len -= tail;
	return str_clean(a, path, len);
}

static struct error *missing_file(struct module_report *r, const struct module_group *g,
                                  const struct module *m, const struct found_file *found)
{
	if (found->other && m->is_main && !(g->seen && g->image.build_id_len > 0))
		return error_new(ERR_USAGE,
		                 "%s is not the running program: its entry point differs (find the "
		                 "right file, or use this one with --force)",
		                 found->other);
	if (found->other && m->is_main)
		return error_new(
			ERR_USAGE,
			"%s is not the running program: its build-id is %s, that of the target is "
			"%s (find the right file, or use this one with --force)",
			found->other, found->other_id,
			build_id_text(&r->scratch, g->image.build_id, g->image.build_id_len));
	if (found->other)
		target_note(r->t, "%s differs from the file that is mapped; not used", m->path);
	else if (m->is_main)
		target_note(r->t, "the executable %s was not found: give it with --exe FILE",
		            m->path);
	else
		target_note(r->t, "%s was not found: its frames have no names", m->path);
	return NULL;
}

static void fill_module(struct module *m, const struct elf_image *image, uint64_t start)
{
	m->bias = image_bias(image, start);
	m->start = image->low + m->bias;
	m->end = image->high + m->bias;
	memcpy(m->build_id, image->build_id, image->build_id_len);
	m->build_id_len = image->build_id_len;
	if (image->tls) {
		m->tls_memsz = image->tls->p_memsz;
		m->tls_align = image->tls->p_align;
		m->tls_vaddr = image->tls->p_vaddr;
	}
}

/*
 * Reports the module to libdwfl, which takes over fd. file: the name next to which find_debuginfo()
 * searches debug files.
 */
static void report_dwfl(struct module_report *r, struct module *m, const char *file, int fd)
{
	m->dwfl = dwfl_report_elf(r->t->dwfl, m->path, file, fd, m->bias, true);
	if (!m->dwfl) {
		target_note(r->t, "%s: %s", m->file, dwfl_errmsg(-1));
		close(fd);
		return;
	}
	void **userdata;
	dwfl_module_info(m->dwfl, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = r->t;
	m->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* Only a mapping of a file can be code. "anon_inode:[io_uring]" is the kernel's name of a queue. */
static bool may_be_code(const struct module_group *g)
{
	return g->executable && !str_begins(g->first->path, "anon_inode:");
}

static struct error *add_group(struct module_report *r, const struct module_group *g, bool is_main)
{
	struct module m = { .start = g->start, .end = g->end, .is_main = is_main, .fd = -1 };
	struct found_file found;

	module_find_file(r, g, is_main, &found);
	bool is_elf = g->seen || found.fd >= 0;
	if (!is_elf && !may_be_code(g))
		return NULL;
	m.path = module_clean_path(&r->t->arena, g->first->path);
	if (g->seen)
		fill_module(&m, &g->image, g->start);
	if (found.fd < 0) {
		TRY(missing_file(r, g, &m, &found));
	} else {
		m.file = str_clean(&r->t->arena, found.display, strlen(found.display));
		fill_module(&m, &found.image, g->start);
		report_dwfl(r, &m, found.display, found.fd);
	}
	*vec_push(&r->modules) = m;
	return NULL;
}

/* The vdso has no file: reports a copy of the target's memory to libdwfl. */
static void add_vdso(struct module_report *r)
{
	struct target *t = r->t;
	struct module m = { .path = "[vdso]", .file = "[vdso]", .is_vdso = true, .fd = -1 };
	struct elf_image image;

	if (t->vdso == 0 || !image_in_memory(r, t->vdso, &image))
		return;
	uint64_t size = image.header.e_shoff + image.header.e_shnum * sizeof(Elf64_Shdr);
	size = image.header.e_shoff < MAX_VDSO && size < MAX_VDSO ? size : MAX_VDSO;
	unsigned char *copy = arena_alloc(&r->scratch, size);
	size_t got = 0;
	struct error *err CLEANUP(error_freep) = target_read_some(t, t->vdso, copy, size, &got);
	int fd = err ? -1 : memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, copy, got) != (ssize_t)got) {
		close(fd);
		return;
	}
	fill_module(&m, &image, t->vdso);
	report_dwfl(r, &m, m.file, fd);
	*vec_push(&r->modules) = m;
}

static struct module *module_of(struct target *t, const Dwfl_Module *mod)
{
	for (size_t i = 0; i < t->modules.n; i++) {
		if (t->modules.data[i]->dwfl == mod)
			return t->modules.data[i];
	}
	return NULL;
}

/* Whether the debug file would be too large when it is expanded. Notes the reason. */
static bool is_too_large(struct target *t, struct module *m, int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);

	m->debug_file_problem = elf ? claimed_size_problem(elf, &t->arena) : NULL;
	elf_end(elf);
	return m->debug_file_problem != NULL;
}

/*
 * Callback of libdwfl that finds a debug file. libdwfl's own search is not used: it would open
 * files of any kind, and trust a debuginfod server. libdwfl also calls this for alternate files,
 * with the name in the debug info; those are left to dwarf/module/alternate.h.
 */
/* NOLINTNEXTLINE(readability-function-size): the callback is libdwfl's */
static int find_debuginfo(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
                          const char *file, const char *link, GElf_Word crc, char **ret)
{
	struct target *t = *userdata;
	struct module *m = t ? module_of(t, mod) : NULL;
	GElf_Word own_crc;
	GElf_Addr bias;

	(void)name, (void)base;
	errno = 0;
	if (!m || m->no_debug_file || !file)
		return -1;
	if (link && link != dwelf_elf_gnu_debuglink(dwfl_module_getelf(mod, &bias), &own_crc))
		return -1;
	const struct debug_link wanted = { link, link ? crc : 0, m->build_id, m->build_id_len };
	int fd = debug_file_find(t, m, file, &wanted, ret);
	if (fd >= 0 && is_too_large(t, m, fd)) {
		close(fd);
		free(*ret);
		*ret = NULL;
		fd = -1;
	}
	/* No server is queried while the target is stopped: search again later. */
	m->no_debug_file = fd < 0 && !(t->ops->stop && t->stopped);
	errno = 0;
	return fd;
}

/*
 * Callback of libdwfl that finds an ELF file. Not needed: every module is reported with its file.
 */
static int find_elf(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
                    char **file, Elf **elf)
{
	(void)mod, (void)userdata, (void)name, (void)base, (void)file, (void)elf;
	return -1;
}

static struct error *module_begin(struct target *t)
{
	Dwfl_Callbacks *callbacks = NEW(&t->arena, Dwfl_Callbacks);

	callbacks->find_elf = find_elf;
	callbacks->find_debuginfo = find_debuginfo;
	t->dwfl = dwfl_begin(callbacks);
	if (!t->dwfl)
		return error_new(ERR_UNSUPPORTED, "libdwfl: %s", dwfl_errmsg(-1));
	dwfl_report_begin(t->dwfl);
	return NULL;
}

/*
 * The group that contains the entry point. That is the program even if it was started through an
 * explicit dynamic linker.
 */
static const struct module_group *main_group(const struct module_report *r)
{
	uint64_t entry = r->t->entry;

	for (size_t i = 0; i < r->groups.n; i++) {
		const struct module_group *g = &r->groups.data[i];
		if (entry >= g->start && entry < g->end)
			return g;
	}
	return entry == 0 && r->groups.n > 0 ? &r->groups.data[0] : NULL;
}

static void close_module(struct module *m)
{
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
	free(m->debug_note);
	m->debug_note = NULL;
}

static int compare_modules(const void *a, const void *b)
{
	uint64_t x = (*(struct module *const *)a)->start, y = (*(struct module *const *)b)->start;

	return (x > y) - (x < y);
}

/* Moves those of a report to the target, with those that it has unloaded behind them. */
static void keep_modules(struct module_report *r)
{
	struct target *t = r->t;
	size_t n = t->modules.n + r->modules.n + r->unloaded.n, used = 0;
	struct module **all = NEW_ARRAY(&t->arena, struct module *, n + 1);

	for (size_t i = 0; i < t->modules.n; i++)
		all[used++] = t->modules.data[i];
	for (size_t i = 0; i < r->modules.n; i++)
		all[used++] = arena_memdup(&t->arena, &r->modules.data[i], sizeof(struct module));
	t->modules.n = used;
	for (size_t i = 0; i < r->unloaded.n; i++)
		all[used++] = r->unloaded.data[i];
	r->modules.n = 0;
	qsort(all, t->modules.n, sizeof(struct module *), compare_modules);
	t->modules.data = all;
}

static struct error *check_exe(const struct target *t, const char *exe)
{
	Elf64_Ehdr header;
	int fd CLEANUP(file_close) = -1;

	TRY(file_open(exe, &fd));
	ssize_t n = read(fd, &header, sizeof(header));
	if (n < 0)
		return error_os(errno, "%s", exe);
	if ((size_t)n < sizeof(header) ||
	    elf_header_problem(&header, t->arch->elf_machine) == ELF_NOT_ELF)
		return error_new(ERR_USAGE, "%s: not an ELF file", exe);
	if (elf_header_problem(&header, t->arch->elf_machine) != ELF_OK)
		return error_new(ERR_UNSUPPORTED, "%s: not a 64-bit %s program", exe,
		                 t->arch->name);
	return NULL;
}

struct error *module_check_exe(const struct target *t, const char *exe)
{
	return error_wrap(check_exe(t, exe), "--exe must be the program of the target");
}

struct error *modules_report(struct target *t, const struct mapping *mappings, size_t nmappings,
                             module_file_fn *find_file_, bool force)
{
	struct module_report r CLEANUP(
		report_free) = { .t = t, .find_file = find_file_, .force = force };

	TRY(module_begin(t));
	group_mappings(&r, mappings, nmappings);
	const struct module_group *main = main_group(&r);
	for (size_t i = 0; i < r.groups.n; i++) {
		const struct module_group *g = &r.groups.data[i];
		if (g->executable || g == main)
			TRY(add_group(&r, g, g == main));
		TRY(interrupt_check());
	}
	add_vdso(&r);
	if (dwfl_report_end(t->dwfl, NULL, NULL) != 0)
		return error_new(ERR_CORRUPT, "the target's modules: %s", dwfl_errmsg(-1));
	keep_modules(&r);
	for (size_t i = 0; i < t->modules.n; i++) {
		if (t->modules.data[i]->is_main && t->modules.data[i]->dwfl)
			t->modules.main = t->modules.data[i];
	}
	return NULL;
}

/* ---- a program that has been running on ---- */

/* Whether the module is the one that is mapped there. */
static bool is_of_group(const struct module *m, const struct module_group *g)
{
	SCRATCH(tmp);

	return m->start <= g->start && g->start < m->end &&
	       strcmp(m->path, module_clean_path(&tmp, g->first->path)) == 0 &&
	       (!g->seen || (m->build_id_len == g->image.build_id_len &&
	                     memcmp(m->build_id, g->image.build_id, m->build_id_len) == 0));
}

static bool is_mapped(const struct module_report *r, const struct module *m)
{
	bool found = m->is_vdso || m->is_main;

	for (size_t i = 0; i < r->groups.n && !found; i++)
		found = is_of_group(m, &r->groups.data[i]);
	return found;
}

/*
 * Sorts the modules of the target into those that are mapped, with those that are mapped again, and
 * the unloaded ones. Whether anything has changed.
 */
static bool sort_out_unloaded(struct module_report *r)
{
	struct target *t = r->t;
	size_t n = 0;
	bool changed = false;

	/* Modules behind the first modules.n were unloaded before. */
	for (size_t i = 0; t->modules.data[i]; i++) {
		struct module *m = t->modules.data[i];
		bool was_unloaded = m->is_unloaded;

		/* A module without a build-id may be another build. */
		m->is_unloaded = !is_mapped(r, m) || (was_unloaded && !m->build_id_len);
		changed |= m->is_unloaded != was_unloaded;
		if (m->is_unloaded)
			*vec_push(&r->unloaded) = m;
		else
			t->modules.data[n++] = m;
	}
	t->modules.n = n;
	qsort(t->modules.data, n, sizeof(struct module *), compare_modules);
	return changed;
}

static bool is_reported(const struct target *t, const struct module_group *g)
{
	const struct module *m = module_at(t, g->start);

	return m && is_of_group(m, g);
}

/* libdwfl would take it for the module that was there. */
static bool replaces_another(const struct module_report *r, const struct module_group *g)
{
	for (size_t i = 0; i < r->unloaded.n; i++) {
		const struct module *m = r->unloaded.data[i];

		if (m->dwfl && g->start < m->end && m->start < g->end)
			return true;
	}
	return false;
}

static struct error *add_loaded(struct module_report *r, const struct module_group *g)
{
	SCRATCH(tmp);

	if (!g->executable || is_reported(r->t, g))
		return NULL;
	if (!replaces_another(r, g))
		return add_group(r, g, false);
	target_note(r->t, "%s replaced another library that was unloaded: its frames have no names",
	            module_clean_path(&tmp, g->first->path));
	return NULL;
}

struct error *modules_update(struct target *t, const struct mapping *mappings, size_t nmappings,
                             module_file_fn *find_file_, bool *changed)
{
	struct module_report r CLEANUP(report_free) = { .t = t, .find_file = find_file_ };
	struct error *err = NULL;

	group_mappings(&r, mappings, nmappings);
	*changed = sort_out_unloaded(&r);
	dwfl_report_begin_add(t->dwfl);
	for (size_t i = 0; i < r.groups.n && !err; i++)
		err = add_loaded(&r, &r.groups.data[i]);
	if (dwfl_report_end(t->dwfl, NULL, NULL) != 0 && !err)
		err = error_new(ERR_CORRUPT, "the target's modules: %s", dwfl_errmsg(-1));
	*changed |= r.modules.n != 0;
	keep_modules(&r);
	return err;
}

void modules_close(struct target *t)
{
	for (size_t i = 0; t->modules.data && t->modules.data[i]; i++)
		close_module(t->modules.data[i]);
	if (t->dwfl)
		dwfl_end(t->dwfl);
	t->dwfl = NULL;
	t->modules.data = NULL;
	t->modules.main = NULL;
	t->modules.n = 0;
}

struct module *module_at(const struct target *t, uint64_t addr)
{
	size_t low = 0, high = t->modules.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (t->modules.data[middle]->end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->modules.n && t->modules.data[low]->start <= addr ? t->modules.data[low]
	                                                                 : NULL;
}
