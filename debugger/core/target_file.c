/*
 * An executable file as a target without threads: its memory is what the PT_LOADs have in the file.
 */
#include <string.h>
#include <unistd.h>

#include "debugger/base/file.h"
#include "debugger/target/module.h"
#include "debugger/target/target.h"

struct target_file_state {
	int fd;
	const char *path;
	struct elf_image image;
};

static struct error *image_read(struct target *t, uint64_t addr, void *buf, size_t len, size_t *ret)
{
	struct target_file_state *f = t->private;

	*ret = 0;
	for (size_t i = 0; i < f->image.nphdrs; i++) {
		const Elf64_Phdr *p = &f->image.phdrs[i];

		if (p->p_type != PT_LOAD || addr < p->p_vaddr || addr - p->p_vaddr >= p->p_filesz)
			continue;
		uint64_t offset = addr - p->p_vaddr, left = p->p_filesz - offset;
		ssize_t n =
			pread(f->fd, buf, len < left ? len : left, (off_t)(p->p_offset + offset));

		*ret = n > 0 ? (size_t)n : 0;
		return NULL;
	}
	return NULL;
}

static void image_close(struct target *t)
{
	struct target_file_state *f = t->private;

	if (f->fd >= 0)
		close(f->fd);
}

static const struct target_ops file_ops = {
	.kind = "file",
	.read = image_read,
	.close = image_close,
};

static struct module_file target_file_find(struct target *t, const struct mapping *mapping,
                                           bool is_main, unsigned attempt)
{
	const struct target_file_state *f = t->private;

	(void)mapping, (void)is_main;
	return attempt ? (struct module_file){ 0 } : (struct module_file){ f->path, f->path };
}

static struct error *open_image(struct target *t, const char *path)
{
	struct target_file_state *f = t->private;
	struct elf_source from = { elf_read_fd, &f->fd, false };
	Elf64_Ehdr header;

	TRY(file_open(path, &f->fd));
	if (elf_read_fd(&f->fd, 0, &header, sizeof(header)) &&
	    elf_header_problem(&header, header.e_machine) == ELF_OK)
		TRY(arch_find(header.e_machine, path, &t->arch));
	if (!t->arch || !elf_image_read(&t->arena, &from, t->arch->elf_machine, &f->image))
		return error_new(ERR_USAGE, "%s: not a 64-bit %s program", path,
		                 arch_supported(&t->arena));
	return NULL;
}

struct error *target_file_open(const char *path, struct target **ret)
{
	struct target *t CLEANUP(target_closep) = target_new(&file_ops, NULL, false);
	struct target_file_state *f = NEW(&t->arena, struct target_file_state);
	struct mapping mapping = { .readable = true, .executable = true };

	t->private = f;
	f->fd = -1;
	f->path = arena_strdup(&t->arena, path);
	t->root = "";
	TRY(open_image(t, path));
	/* The executable is treated as loaded at its link-time address. */
	mapping.path = f->path;
	mapping.start = f->image.low;
	mapping.end = f->image.high;
	t->entry = f->image.header.e_entry;
	TRY(modules_report(t, &mapping, 1, target_file_find, false));
	*ret = t;
	t = NULL;
	return NULL;
}
