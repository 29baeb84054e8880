#include "runtimes/trace/vtable_scan.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/arch/arch.h"
#include "debugger/base/vec.h"
#include "debugger/elf/elf_image.h"
#include "dwarf/module/code_map.h"
#include "runtimes/common/runtime.h"

enum {
	WORD = 8,
	MAX_TABLES = 32768,
	MAX_OBJECT = 1 << 30,   /* bytes: larger numbers are no distances within one */
	MAX_BETWEEN = 1 << 16,  /* between two parts of an object that are near each other */
	MAX_CONSTANTS = 1 << 28 /* bytes of a segment that are searched for a text */
};

/* ---- does the file have the runtime? ---- */

static bool segment_has(int fd, const Elf64_Phdr *p, const char *text)
{
	SCRATCH(tmp);
	uint64_t len = p->p_filesz < MAX_CONSTANTS ? p->p_filesz : MAX_CONSTANTS;
	uint8_t *bytes = len ? arena_alloc(&tmp, len) : NULL;

	return bytes && elf_read_fd(&fd, p->p_offset, bytes, len) &&
	       memmem(bytes, len, text, strlen(text));
}

static bool file_has(const struct code_map *m, const char *text)
{
	SCRATCH(tmp);
	int fd = m->dm->module->fd;
	const struct elf_source from = { elf_read_fd, &fd, false };
	struct elf_image image;

	if (fd < 0 || !elf_image_read(&tmp, &from, m->dm->di->target->arch->elf_machine, &image))
		return false;
	for (size_t i = 0; i < image.nphdrs; i++) {
		const Elf64_Phdr *p = &image.phdrs[i];

		if (p->p_type == PT_LOAD && !(p->p_flags & PF_X) && segment_has(fd, p, text))
			return true;
	}
	return false;
}

/* ---- tables ---- */

/* The functions of a table whose pointers begin at that index. */
static bool has_functions(const struct code_map *m, size_t first, const struct probe_pattern *p)
{
	if (m->npointers - first < p->nfunctions)
		return false;
	for (size_t i = 0; i < p->nfunctions; i++) {
		const struct code_pointer *x = &m->pointers[first + i];
		const struct code_function *f = code_map_at(m, x->value);

		if (x->addr != m->pointers[first].addr + i * WORD || !f || f->low != x->value)
			return false;
	}
	/* The numbers are no pointers. */
	size_t next = first + p->nfunctions;
	uint64_t end = m->pointers[first].addr + (p->nfunctions + p->nnumbers) * WORD;
	return next == m->npointers || m->pointers[next].addr >= end;
}

/* Whether the numbers are distances in an object: its head, the scheduler, the id, and the end. */
static bool has_numbers(const struct code_map *m, uint64_t table, const struct probe_pattern *p)
{
	uint64_t scheduler, id, trailer;

	if (!debuginfo_initial_number(m->dm, table + p->scheduler_slot, WORD, &scheduler) ||
	    !debuginfo_initial_number(m->dm, table + p->id.id_slot, WORD, &id) ||
	    !debuginfo_initial_number(m->dm, table + p->trailer_slot, WORD, &trailer))
		return false;
	return scheduler >= p->head && scheduler < p->head + MAX_BETWEEN && id >= scheduler &&
	       id < scheduler + MAX_BETWEEN && trailer > id && trailer < MAX_OBJECT &&
	       (scheduler | id | trailer) % WORD == 0;
}

static bool bytes_of(const struct code_map *m, uint64_t function, struct code_bytes *ret)
{
	const struct code_function *f = code_map_at(m, function);

	return f && f->low == function && code_map_bytes(m, f, ret);
}

/* Whether a function never returns, or only jumps on to one that never returns. */
static bool never_returns(const struct code_map *m, uint64_t function)
{
	struct code_bytes bytes;
	struct code_tail tail;

	if (!bytes_of(m, function, &bytes))
		return false;
	if (code_never_returns(&bytes))
		return true;
	return code_tail_jump(&bytes, 0, &tail) &&
	       bytes_of(m, tail.slot ? code_map_pointer(m, tail.slot) : tail.target, &bytes) &&
	       code_never_returns(&bytes);
}

static int vtable_scan_by_poll(const void *a, const void *b)
{
	const struct task_functions *x = a, *y = b;

	return x->poll < y->poll ? -1 : x->poll > y->poll;
}

typedef VEC(struct task_functions) table_vec;

static void vtable_scan_collect(const struct code_map *m, const struct probe_pattern *p,
                                table_vec *found)
{
	for (size_t i = 0; i < m->npointers && found->n < MAX_TABLES; i++) {
		uint64_t table = m->pointers[i].addr;

		if (!has_functions(m, i, p) || !has_numbers(m, table, p))
			continue;
		uint64_t wake = code_map_pointer(m, table + p->wake_slot);
		*vec_push(found) = (struct task_functions){
			.poll = code_map_pointer(m, table + p->id.poll_slot),
			.wake = wake,
			.is_job = never_returns(m, wake),
		};
	}
}

const struct task_functions *vtable_scan_find(const struct code_map *m,
                                              const struct probe_pattern *pattern, struct arena *a,
                                              size_t *n)
{
	table_vec found = { 0 };
	size_t kept = 0;

	*n = 0;
	if (!file_has(m, pattern->text))
		return NULL;
	vtable_scan_collect(m, pattern, &found);
	if (found.n)
		qsort(found.data, found.n, sizeof(*found.data), vtable_scan_by_poll);
	for (size_t i = 0; i < found.n; i++) {
		if (!kept || found.data[kept - 1].poll != found.data[i].poll)
			found.data[kept++] = found.data[i];
		else
			found.data[kept - 1].is_job &= found.data[i].is_job;
	}
	found.n = kept;
	*n = kept;
	return vec_to_arena(&found, a);
}
