#include "debugger/core/core_file.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debugger/base/file.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "debugger/elf/elf_image.h"

enum { MAX_PHDRS = 1 << 20, MAX_THREADS = 1 << 20, MAX_FILES = 1 << 20 };

/* Offsets in note descriptors: the kernel's struct elf_prstatus, elf_prpsinfo, siginfo. */
enum {
	PRSTATUS_CURSIG = 12,
	PRSTATUS_PID = 32,
	PRPSINFO_PID = 24,
	PRPSINFO_FNAME = 40,
	PRPSINFO_FNAME_LEN = 16,
	SIGINFO_SIGNO = 0,
	SIGINFO_CODE = 8,
	SIGINFO_ADDR = 16,
};

struct parse {
	struct arena *a;
	const struct arch *arch;
	struct core_file *core;
	VEC(struct core_segment) segments;
	VEC(struct thread) threads;
	struct target_signal info; /* of NT_SIGINFO */
	int cursig;                /* of the first NT_PRSTATUS */
};

static void parse_free(struct parse *p)
{
	vec_free(&p->segments);
	vec_free(&p->threads);
}

/* Reads an integer of size bytes at offset of a descriptor; bytes beyond its end are 0. */
static uint64_t core_file_desc_uint(const struct elf_note *note, size_t offset, size_t size)
{
	uint64_t value = 0;

	if (offset <= note->desc_len && size <= note->desc_len - offset)
		memcpy(&value, note->desc + offset, size);
	return value;
}

static void parse_prstatus(struct parse *p, const struct elf_note *note)
{
	if (note->desc_len < p->arch->regset.prstatus_size || p->threads.n >= MAX_THREADS)
		return;
	if (p->threads.n == 0)
		p->cursig = (int)core_file_desc_uint(note, PRSTATUS_CURSIG, 2);
	struct thread *th = vec_push(&p->threads);
	th->tid = (pid_t)core_file_desc_uint(note, PRSTATUS_PID, 4);
	th->has_regs = true;
	th->regs = arch_regs_from_user(p->arch, p->a, note->desc + p->arch->regset.prstatus_regs);
}

/* A register set other than user_regs, of the thread whose NT_PRSTATUS came last. */
static void parse_thread_pointer(struct parse *p, const struct elf_note *note)
{
	if (p->threads.n > 0)
		arch_regs_add_thread_pointer(p->arch, note->desc, note->desc_len,
		                             &p->threads.data[p->threads.n - 1].regs);
}

static void parse_prpsinfo(struct parse *p, const struct elf_note *note)
{
	if (note->desc_len < PRPSINFO_FNAME + PRPSINFO_FNAME_LEN)
		return;
	p->core->pid = (pid_t)core_file_desc_uint(note, PRPSINFO_PID, 4);
	p->core->command =
		str_clean(p->a, (const char *)note->desc + PRPSINFO_FNAME, PRPSINFO_FNAME_LEN);
}

static bool has_address(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
}

static void parse_siginfo(struct parse *p, const struct elf_note *note)
{
	if (p->info.number != 0)
		return;
	p->info.number = (int)core_file_desc_uint(note, SIGINFO_SIGNO, 4);
	p->info.code = (int)core_file_desc_uint(note, SIGINFO_CODE, 4);
	if (has_address(p->info.number))
		p->info.addr = core_file_desc_uint(note, SIGINFO_ADDR, 8);
}

static int compare_mappings(const void *a, const void *b)
{
	uint64_t x = ((const struct mapping *)a)->start, y = ((const struct mapping *)b)->start;

	return (x > y) - (x < y);
}

/*
 * Parses NT_FILE: a count, the unit of offsets, count triples of start, end, offset, then count
 * strings.
 */
static void parse_file(struct parse *p, const struct elf_note *note)
{
	enum { HEADER = 16, ENTRY = 24 };
	uint64_t count = core_file_desc_uint(note, 0, 8), unit = core_file_desc_uint(note, 8, 8);

	if (p->core->mappings || note->desc_len < HEADER || count == 0 || count > MAX_FILES ||
	    count > (note->desc_len - HEADER) / ENTRY)
		return;
	struct mapping *maps = NEW_ARRAY(p->a, struct mapping, count);
	size_t n = 0, name = HEADER + count * ENTRY;
	for (size_t i = 0; i < count && name < note->desc_len; i++) {
		const char *path = (const char *)note->desc + name;
		size_t len = strnlen(path, note->desc_len - name);
		struct mapping m = { .path = arena_strndup(p->a, path, len) };
		name += len + 1;
		m.start = core_file_desc_uint(note, HEADER + i * ENTRY, 8);
		m.end = core_file_desc_uint(note, HEADER + i * ENTRY + 8, 8);
		if (m.start < m.end &&
		    !__builtin_mul_overflow(core_file_desc_uint(note, HEADER + i * ENTRY + 16, 8),
		                            unit, &m.file_offset))
			maps[n++] = m;
	}
	qsort(maps, n, sizeof(*maps), compare_mappings);
	p->core->mappings = maps;
	p->core->nmappings = n;
}

static void parse_notes(struct parse *p, uint64_t offset, uint64_t size)
{
	struct core_file *core = p->core;
	struct elf_note note;
	size_t at = 0;

	if (offset >= core->size) {
		core->notes_cut = true;
		return;
	}
	if (size > core->size - offset) {
		core->notes_cut = true;
		size = core->size - offset;
	}
	while (elf_note_next(core->data + offset, size, &at, &note)) {
		if (elf_note_is(&note, "CORE", NT_PRSTATUS)) {
			parse_prstatus(p, &note);
		} else if (elf_note_is(&note, "LINUX", p->arch->thread_pointer.regset)) {
			parse_thread_pointer(p, &note);
		} else if (elf_note_is(&note, "CORE", NT_PRPSINFO)) {
			parse_prpsinfo(p, &note);
		} else if (elf_note_is(&note, "CORE", NT_SIGINFO)) {
			parse_siginfo(p, &note);
		} else if (elf_note_is(&note, "CORE", NT_FILE)) {
			parse_file(p, &note);
		} else if (elf_note_is(&note, "CORE", NT_AUXV)) {
			core->auxv = note.desc;
			core->auxv_len = note.desc_len;
		}
	}
}

static void parse_load(struct parse *p, const Elf64_Phdr *ph)
{
	struct core_file *core = p->core;
	struct core_segment s = { .start = ph->p_vaddr };

	if (ph->p_memsz == 0 || __builtin_add_overflow(ph->p_vaddr, ph->p_memsz, &s.end))
		return;
	uint64_t len = ph->p_filesz < ph->p_memsz ? ph->p_filesz : ph->p_memsz;
	uint64_t there = ph->p_offset < core->size ? core->size - ph->p_offset : 0;
	if (len > there) {
		core->missing += len - there;
		len = there;
	}
	s.data = len ? core->data + ph->p_offset : NULL;
	s.len = len;
	s.readable = ph->p_flags & PF_R;
	s.writable = ph->p_flags & PF_W;
	s.executable = ph->p_flags & PF_X;
	*vec_push(&p->segments) = s;
}

static int compare_segments(const void *a, const void *b)
{
	uint64_t x = ((const struct core_segment *)a)->start;
	uint64_t y = ((const struct core_segment *)b)->start;

	return (x > y) - (x < y);
}

/* The number of program headers; above 65534 it is in the first section header. */
static uint64_t count_phdrs(const struct core_file *core, const Elf64_Ehdr *header)
{
	Elf64_Shdr section;

	if (header->e_phnum != PN_XNUM)
		return header->e_phnum;
	if (core->size < sizeof(section) || header->e_shoff > core->size - sizeof(section))
		return 0;
	memcpy(&section, core->data + header->e_shoff, sizeof(section));
	return section.sh_info;
}

static struct error *parse_phdrs(struct parse *p, const char *path, const Elf64_Ehdr *header)
{
	struct core_file *core = p->core;
	uint64_t count = count_phdrs(core, header);

	if (count == 0 || count > MAX_PHDRS || header->e_phentsize != sizeof(Elf64_Phdr) ||
	    header->e_phoff > core->size ||
	    count > (core->size - header->e_phoff) / sizeof(Elf64_Phdr))
		return error_new(ERR_CORRUPT, "%s: the core's headers are cut short or damaged",
		                 path);
	for (uint64_t i = 0; i < count; i++) {
		Elf64_Phdr ph;
		memcpy(&ph, core->data + header->e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_NOTE)
			parse_notes(p, ph.p_offset, ph.p_filesz);
		else if (ph.p_type == PT_LOAD)
			parse_load(p, &ph);
	}
	core->nsegments = p->segments.n;
	core->segments = vec_to_arena(&p->segments, p->a);
	if (core->nsegments > 0)
		qsort(core->segments, core->nsegments, sizeof(*core->segments), compare_segments);
	return NULL;
}

/*
 * Whether the signal ends a process with a core dump. The core of a running process (gcore) also
 * has an NT_SIGINFO: that of the SIGSTOP or SIGTRAP with which the debugger stopped it.
 */
static bool is_deadly(int signal)
{
	switch (signal) {
	case SIGQUIT:
	case SIGILL:
	case SIGABRT:
	case SIGBUS:
	case SIGFPE:
	case SIGSEGV:
	case SIGXCPU:
	case SIGXFSZ:
	case SIGSYS:
		return true;
	default:
		return false;
	}
}

static void core_file_finish(struct parse *p)
{
	struct core_file *core = p->core;

	core->nthreads = p->threads.n;
	core->threads = vec_to_arena(&p->threads, p->a);
	if (core->pid == 0)
		core->pid = core->threads[0].tid;
	if (p->info.number == 0)
		p->info.number = p->cursig;
	if (is_deadly(p->info.number)) {
		core->signal = p->info;
		core->signal.tid = core->threads[0].tid;
	}
	for (size_t i = 0; i < core->nmappings; i++) {
		struct mapping *m = &core->mappings[i];
		const struct core_segment *s = core_file_segment(core, m->start);
		m->readable = !s || s->readable;
		m->writable = s && s->writable;
		/* gcore leaves out segments it does not dump. */
		m->executable = !s || s->executable;
	}
}

static const char *compression(const unsigned char *data)
{
	static const struct {
		const char *magic;
		size_t len;
		const char *command;
	} formats[] = {
		{ "\x28\xb5\x2f\xfd", 4, "zstd -d" },
		{ "\x04\x22\x4d\x18", 4, "lz4 -d" },
		{ "\xfd"
		  "7zXZ",
		  5, "xz -d" },
		{ "\x1f\x8b", 2, "gzip -d" },
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (memcmp(data, formats[i].magic, formats[i].len) == 0)
			return formats[i].command;
	}
	return NULL;
}

static struct error *check_header(const char *path, const Elf64_Ehdr *header,
                                  const struct arch **arch)
{
	const char *command = compression(header->e_ident);

	switch (elf_header_problem(header, header->e_machine)) {
	case ELF_NOT_ELF:
		if (command)
			return error_new(ERR_UNSUPPORTED,
			                 "%s is compressed: decompress it first (%s)", path,
			                 command);
		return error_new(ERR_UNSUPPORTED, "%s is not an ELF file, so not a core dump",
		                 path);
	case ELF_NOT_64BIT:
		return error_new(ERR_UNSUPPORTED,
		                 "%s is a 32-bit program; asyncdbg reads 64-bit ones", path);
	case ELF_BIG_ENDIAN:
	case ELF_FOREIGN:
		return error_new(ERR_UNSUPPORTED,
		                 "%s is from a machine with another byte order; asyncdbg reads "
		                 "little-endian ones",
		                 path);
	case ELF_OK:
		break;
	}
	TRY(arch_find(header->e_machine, path, arch));
	if (header->e_type == ET_EXEC || header->e_type == ET_DYN)
		return error_new(ERR_UNSUPPORTED,
		                 "%s is a program or library, not a core dump (give "
		                 "the core first, the program with --exe)",
		                 path);
	if (header->e_type != ET_CORE)
		return error_new(ERR_UNSUPPORTED, "%s is not a core dump", path);
	return NULL;
}

static struct error *map_file(const char *path, struct core_file *core)
{
	struct stat st;
	struct error *err = NULL;
	int fd = file_open_regular(path);

	if (fd < 0 && errno == EINVAL)
		return error_new(ERR_UNSUPPORTED, "%s is not a file", path);
	if (fd < 0)
		return error_os(errno, "%s", path);
	if (fstat(fd, &st) != 0) {
		err = error_os(errno, "%s", path);
	} else if ((size_t)st.st_size < sizeof(Elf64_Ehdr)) {
		err = error_new(ERR_UNSUPPORTED, "%s is %s, so not a core dump", path,
		                st.st_size ? "too short" : "empty");
	} else {
		void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (p == MAP_FAILED) {
			err = error_os(errno, "mapping %s", path);
		} else {
			core->data = p;
			core->size = (size_t)st.st_size;
		}
	}
	close(fd);
	return err;
}

struct error *core_file_open(struct arena *a, const char *path, struct core_file *ret)
{
	struct core_file core CLEANUP(core_file_close) = { 0 };
	struct parse p CLEANUP(parse_free) = { .a = a, .core = &core };
	Elf64_Ehdr header;

	TRY(map_file(path, &core));
	assert(core.data);
	memcpy(&header, core.data, sizeof(header));
	TRY(check_header(path, &header, &core.arch));
	p.arch = core.arch;
	TRY(parse_phdrs(&p, path, &header));
	if (p.threads.n == 0)
		return error_new(ERR_CORRUPT, "%s has no threads: its notes are %s", path,
		                 core.notes_cut
		                         ? "beyond the end of the file (it is truncated; was "
		                           "the disk full, or ulimit -c set?)"
		                         : "missing");
	core_file_finish(&p);
	*ret = core;
	core.data = NULL;
	return NULL;
}

void core_file_close(struct core_file *core)
{
	if (core->data)
		munmap((void *)(uintptr_t)core->data, core->size);
	core->data = NULL;
}

const struct core_segment *core_file_segment(const struct core_file *core, uint64_t addr)
{
	size_t low = 0, high = core->nsegments;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (core->segments[middle].start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && addr < core->segments[low - 1].end ? &core->segments[low - 1] : NULL;
}
