/* A core dump as a target: reads its segments, and the mapped files for memory that it lacks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debugger/base/file.h"
#include "debugger/base/log.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "debugger/core/core_file.h"
#include "debugger/elf/elf_image.h"
#include "debugger/target/module.h"
#include "debugger/target/target.h"

struct core {
	struct core_file file;
	const char *exe;                 /* --exe, or NULL */
	const struct core_segment *last; /* the segment of the last read; NULL none */
};

static const struct mapping *mapping_at(const struct core_file *core, uint64_t addr)
{
	size_t low = 0, high = core->nmappings;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (core->mappings[middle].start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && addr < core->mappings[low - 1].end ? &core->mappings[low - 1] : NULL;
}

/*
 * Reads memory of a read-only file mapping, which the core lacks, from the file. Not for writable
 * mappings: the program may have changed the bytes, and the file's would be wrong.
 */
static size_t read_module_file(const struct target *t, uint64_t addr, unsigned char *buf,
                               size_t len)
{
	const struct core *c = t->private;
	const struct mapping *m = mapping_at(&c->file, addr);
	const struct module *module = m && !m->writable ? module_at(t, addr) : NULL;
	struct stat st;

	if (!module || module->fd < 0 || fstat(module->fd, &st) != 0)
		return 0;
	uint64_t offset = m->file_offset + (addr - m->start), size = (uint64_t)st.st_size;
	if (offset < m->file_offset || offset >= size)
		return 0;
	len = len < m->end - addr ? len : m->end - addr;
	size_t there = len < size - offset ? len : size - offset;
	ssize_t n = pread(module->fd, buf, there, (off_t)offset);
	if (n < 0 || (size_t)n < there)
		return n > 0 ? (size_t)n : 0;
	/* The rest of the last page is zero. */
	size_t fill = (ELF_PAGE - (offset + there) % ELF_PAGE) % ELF_PAGE;
	fill = fill < len - there ? fill : len - there;
	memset(buf + there, 0, fill);
	return there + fill;
}

static struct error *core_read(struct target *t, uint64_t addr, void *buf, size_t len, size_t *ret)
{
	struct core *c = t->private;
	unsigned char *to = buf;
	size_t done = 0;

	while (done < len) {
		uint64_t at = addr + done;
		const struct core_segment *s = c->last;
		/* Most reads are in the same segment as the last one. */
		if (!s || at < s->start || at >= s->end)
			s = c->last = core_file_segment(&c->file, at);
		size_t n = s && at - s->start < s->len ? s->len - (at - s->start) : 0;
		if (n > 0) {
			n = n < len - done ? n : len - done;
			memcpy(to + done, s->data + (at - s->start), n);
		} else {
			n = read_module_file(t, at, to + done, len - done);
			if (n == 0)
				break;
		}
		done += n;
	}
	*ret = done;
	return NULL;
}

/* Memory without a segment in the core may be in a known file mapping. */
static bool core_region(struct target *t, struct arena *a, uint64_t addr, struct region *ret)
{
	const struct core *c = t->private;
	const struct core_segment *s = core_file_segment(&c->file, addr);
	const struct mapping *m = mapping_at(&c->file, addr);

	*ret = (struct region){ 0 };
	if (s) {
		ret->start = s->start;
		ret->end = s->end;
		ret->readable = s->readable;
		ret->writable = s->writable;
		ret->executable = s->executable;
	} else if (m) {
		ret->start = m->start;
		ret->end = m->end;
		ret->readable = m->readable;
		ret->writable = m->writable;
		ret->executable = m->executable;
	}
	if (m)
		ret->name = str_clean(a, m->path, strlen(m->path));
	return s || m;
}

static struct error *core_each_writable(struct target *t, memory_fn *visit, void *arg)
{
	const struct core *c = t->private;

	for (size_t i = 0; i < c->file.nsegments; i++) {
		const struct core_segment *s = &c->file.segments[i];

		if (s->writable && s->len && !visit(s->start, s->start + s->len, arg))
			break;
	}
	return NULL;
}

static void core_close(struct target *t)
{
	struct core *c = t->private;

	core_file_close(&c->file);
}

static const struct target_ops core_ops = {
	.kind = "core",
	.read = core_read,
	.close = core_close,
	.region = core_region,
	.each_writable = core_each_writable,
};

static const char *target_core_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Tries --exe, or the recorded path, and the same name next to the core and in the current
 * directory.
 */
static struct module_file target_core_find_file(struct target *t, const struct mapping *m,
                                                bool is_main, unsigned attempt)
{
	static const char deleted[] = " (deleted)";
	const struct core *c = t->private;
	size_t len = strlen(m->path), tail = sizeof(deleted) - 1;
	const char *path = m->path;

	if (is_main && c->exe)
		return attempt == 0 ? (struct module_file){ c->exe, c->exe }
		                    : (struct module_file){ 0 };
	if (len > tail && strcmp(path + len - tail, deleted) == 0)
		path = arena_strndup(&t->arena, path, len - tail);
	if (attempt == 1) {
		int dir = (int)(target_core_base_name(t->path) - t->path);
		path = arena_printf(&t->arena, "%.*s%s", dir, t->path, target_core_base_name(path));
	} else if (attempt == 2) {
		path = target_core_base_name(path);
	}
	return attempt <= 2 ? (struct module_file){ path, path } : (struct module_file){ 0 };
}

/*
 * Without NT_FILE (old kernels, some collectors) the mappings of the executable can still be
 * computed: the auxiliary vector has its entry point, and the stack has its name.
 */
static struct error *guess_mappings(struct target *t)
{
	struct core *c = t->private;
	struct core_file *core = &c->file;
	uint64_t name = elf_auxv_find(core->auxv, core->auxv_len, AT_EXECFN);
	const char *path = c->exe;
	struct elf_image image;

	if (!path && name != 0)
		error_free(target_read_cstr(t, &t->arena, name, 4096, &path));
	int fd = path ? file_open_regular(path) : -1;
	struct elf_source from = { elf_read_fd, &fd, false };
	bool usable = fd >= 0 && elf_image_read(&t->arena, &from, t->arch->elf_machine, &image);
	if (fd >= 0)
		close(fd);
	if (!usable || t->entry == 0) {
		target_note(t,
		            "the core does not name its files: name the program with --exe FILE");
		return NULL;
	}
	target_note(t, "the core does not name its files: only the executable is known");
	uint64_t bias = t->entry - image.header.e_entry;
	core->mappings = NEW_ARRAY(&t->arena, struct mapping, image.nphdrs);
	for (size_t i = 0; i < image.nphdrs; i++) {
		const Elf64_Phdr *p = &image.phdrs[i];
		uint64_t skew = p->p_vaddr % ELF_PAGE;
		if (p->p_type != PT_LOAD || p->p_offset < skew)
			continue;
		core->mappings[core->nmappings++] = (struct mapping){
			.start = bias + p->p_vaddr - skew,
			.end = bias + p->p_vaddr + p->p_filesz,
			.file_offset = p->p_offset - skew,
			.path = path,
			.readable = true,
			.writable = p->p_flags & PF_W,
			.executable = p->p_flags & PF_X,
		};
	}
	return NULL;
}

static struct error *fill_target(struct target *t, const struct target_options *options)
{
	const struct core_file *core = &((struct core *)t->private)->file;

	t->pid = core->pid;
	t->command = core->command;
	t->signal = core->signal;
	t->entry = elf_auxv_find(core->auxv, core->auxv_len, AT_ENTRY);
	t->vdso = elf_auxv_find(core->auxv, core->auxv_len, AT_SYSINFO_EHDR);
	target_set_threads(t, core->threads, core->nthreads);
	if (core->missing > 0)
		target_note(t,
		            "the core is truncated: %" PRIu64 " MiB of memory are missing (was the "
		            "disk full, or ulimit -c set?)",
		            (core->missing >> 20) + 1);
	if (core->notes_cut)
		target_note(t, "the core's notes are cut short: threads may be missing");
	if (core->nmappings == 0)
		TRY(guess_mappings(t));
	return modules_report(t, core->mappings, core->nmappings, target_core_find_file,
	                      options->force);
}

struct error *target_core_open(const char *path, const struct target_options *options,
                               struct target **ret)
{
	struct target *t CLEANUP(target_closep) = target_new(&core_ops, NULL, false);
	struct core *c = NEW(&t->arena, struct core);

	t->private = c;
	c->exe = options->exe;
	t->path = arena_strdup(&t->arena, path);
	t->root = "";
	TRY(core_file_open(&t->arena, path, &c->file));
	t->arch = c->file.arch;
	if (options->exe)
		TRY(module_check_exe(t, options->exe));
	TRY(fill_target(t, options));
	*ret = t;
	t = NULL;
	return NULL;
}
