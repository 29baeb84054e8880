#include "dwarf/module/code_map.h"

#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debugger/arch/arch.h"
#include "debugger/base/vec.h"
#include "debugger/elf/elf_image.h"
#include "dwarf/module/symtab.h"
#include "dwarf/records/records.h"
#include "dwarf/unwind/function_table.h"

typedef VEC(struct code_pointer) pointer_vec;

struct symbols {
	VEC(struct code_function) list;
	const struct code_map *map;
};

static void code_map_add_function(const char *name, uint64_t addr, uint64_t size, void *arg)
{
	struct symbols *s = arg;
	const struct code_map *m = s->map;

	if (!size || addr < m->text_address || addr - m->text_address >= m->text_len ||
	    size > m->text_len - (addr - m->text_address))
		return;
	*vec_push(&s->list) = (struct code_function){ name, addr, addr + size };
}

static int code_map_by_address(const void *a, const void *b)
{
	const struct code_function *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	/* The name decides, so that the same symbol of an address is taken each time. */
	return strcmp(x->name, y->name);
}

/* The mangled name that records have for the function at a link-time address. */
static const char *recorded_name(struct dwarf_module *dm, uint64_t low)
{
	struct record record;
	uint64_t die;

	if (!record_find(debuginfo_records(dm), RECORD_CODE, low, NULL, &record))
		return "";
	die = record_number(&record);
	if (!die || !record_find(debuginfo_records(dm), RECORD_FUNCTION, die, NULL, &record))
		return "";
	record_text(&record); /* the name from debug info, which has another spelling */
	const char *linkage = record_text(&record);
	return linkage ? linkage : "";
}

static void add_unnamed(uint64_t low, uint64_t high, void *arg)
{
	const struct symbols *s = arg;

	code_map_add_function(recorded_name(s->map->dm, low), low, high - low, arg);
}

static void read_functions(struct code_map *m, struct arena *a)
{
	struct symbols s = { .map = m };
	size_t n = 0;
	GElf_Addr bias;

	symtab_each_function(m->dm, code_map_add_function, &s);
	m->stripped = !s.list.n;
	if (m->stripped)
		function_table_each(dwfl_module_getelf(m->dm->module->dwfl, &bias), add_unnamed,
		                    &s);
	if (s.list.n)
		qsort(s.list.data, s.list.n, sizeof(*s.list.data), code_map_by_address);
	for (size_t i = 0; i < s.list.n; i++) {
		if (!n || s.list.data[n - 1].low != s.list.data[i].low)
			s.list.data[n++] = s.list.data[i];
	}
	s.list.n = n;
	/* A damaged table may let functions overlap; together they have no more code than the file.
	 */
	for (size_t i = 0; m->stripped && i + 1 < n; i++) {
		if (s.list.data[i].high > s.list.data[i + 1].low)
			s.list.data[i].high = s.list.data[i + 1].low;
	}
	m->n = n;
	m->functions = vec_to_arena(&s.list, a);
}

static struct error *code_map_read_text(struct code_map *m, struct arena *a)
{
	int fd = m->dm->module->fd;
	const struct elf_source from = { elf_read_fd, &fd, false };
	struct elf_image image;
	const Elf64_Phdr *text = NULL;

	if (fd < 0 || !elf_image_read(a, &from, m->dm->di->target->arch->elf_machine, &image))
		return error_new(ERR_NO_DEBUGINFO, "%s: its file cannot be read",
		                 m->dm->module->path);
	for (size_t i = 0; i < image.nphdrs; i++) {
		const Elf64_Phdr *p = &image.phdrs[i];

		if (p->p_type == PT_LOAD && (p->p_flags & PF_X) &&
		    (!text || p->p_filesz > text->p_filesz))
			text = p;
	}
	if (!text || !text->p_filesz || text->p_filesz > CODE_MAX_TEXT)
		return error_new(ERR_UNSUPPORTED, "%s has no code that can be read",
		                 m->dm->module->path);
	uint8_t *bytes = arena_alloc(a, text->p_filesz);
	if (!elf_read_fd(&fd, text->p_offset, bytes, text->p_filesz))
		return error_new(ERR_CORRUPT, "%s is shorter than its headers say",
		                 m->dm->module->path);
	m->text = bytes;
	m->text_len = text->p_filesz;
	m->text_address = text->p_vaddr;
	m->text_offset = text->p_offset;
	return NULL;
}

enum { R_RELATIVE = 8 /* R_X86_64_RELATIVE */ };

static void add_pointers(pointer_vec *list, const Elf_Data *data)
{
	const Elf64_Rela *rela = data ? data->d_buf : NULL;

	for (size_t i = 0; rela && i < data->d_size / sizeof(*rela); i++) {
		if (ELF64_R_TYPE(rela[i].r_info) == R_RELATIVE)
			*vec_push(list) = (struct code_pointer){ rela[i].r_offset,
				                                 (uint64_t)rela[i].r_addend };
	}
}

static int by_place(const void *a, const void *b)
{
	const struct code_pointer *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Reads the relocations of the loaded file. */
static void read_pointers(struct code_map *m, struct arena *a)
{
	pointer_vec list = { 0 };
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(m->dm->module->dwfl, &bias);
	Elf_Scn *scn = NULL;

	while (elf && (scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;

		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_RELA &&
		    shdr.sh_entsize == sizeof(Elf64_Rela) && (shdr.sh_flags & SHF_ALLOC))
			add_pointers(&list, elf_getdata(scn, NULL));
	}
	if (list.n)
		qsort(list.data, list.n, sizeof(*list.data), by_place);
	m->npointers = list.n;
	m->pointers = vec_to_arena(&list, a);
}

uint64_t code_map_pointer(const struct code_map *m, uint64_t addr)
{
	const struct code_pointer key = { .addr = addr };
	const struct code_pointer *found =
		m->npointers ? bsearch(&key, m->pointers, m->npointers, sizeof(key), by_place)
			     : NULL;
	uint64_t value = 0;

	if (found)
		return found->value;
	return debuginfo_initial_number(m->dm, addr, sizeof(value), &value) ? value : 0;
}

struct error *code_map_read(struct dwarf_module *dm, struct arena *a, struct code_map *ret)
{
	struct code_map m = { .dm = dm };

	TRY(code_map_read_text(&m, a));
	debuginfo_need(dm); /* the symbols may be in a debug file */
	read_functions(&m, a);
	read_pointers(&m, a);
	if (!m.n)
		return error_new(ERR_NO_DEBUGINFO,
		                 "%s has neither symbols nor a table for unwinding: its functions "
		                 "cannot be found",
		                 dm->module->path);
	*ret = m;
	return NULL;
}

const struct code_function *code_map_at(const struct code_map *m, uint64_t addr)
{
	size_t low = 0, high = m->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->functions[middle].low <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || addr >= m->functions[low - 1].high)
		return NULL;
	return &m->functions[low - 1];
}

bool code_map_bytes(const struct code_map *m, const struct code_function *f, struct code_bytes *ret)
{
	if (f->low < m->text_address || f->high - m->text_address > m->text_len)
		return false;
	*ret = (struct code_bytes){ f->low, m->text + (f->low - m->text_address),
		                    (size_t)(f->high - f->low) };
	return true;
}

uint64_t code_map_offset(const struct code_map *m, uint64_t addr)
{
	return addr - m->text_address + m->text_offset;
}

/* ---- callers ---- */

/* The pointers to a function, for calls through them. */
struct code_map_slots {
	uint64_t target;
	VEC(uint64_t) list;
};

enum { MAX_SLOTS = 64 };

static void find_slots(const struct code_map *m, struct code_map_slots *s)
{
	for (size_t i = 0; i < m->npointers && s->list.n < MAX_SLOTS; i++) {
		if (m->pointers[i].value == s->target)
			*vec_push(&s->list) = m->pointers[i].addr;
	}
}

static bool has_slot(const struct code_map_slots *s, uint64_t addr)
{
	for (size_t i = 0; i < s->list.n; i++) {
		if (s->list.data[i] == addr)
			return true;
	}
	return false;
}

/* Calls visit where an instruction of these bytes and a distance of 4 bytes may lead to target. */
static void each_with(const struct code_map *m, const uint8_t *opcode, size_t len,
                      const struct code_map_slots *slots, uint64_t target, code_call_fn *visit,
                      void *arg)
{
	size_t whole = len + sizeof(int32_t);

	for (size_t i = 0; i + whole <= m->text_len; i++) {
		const uint8_t *at =
			memmem(m->text + i, m->text_len - i - sizeof(int32_t), opcode, len);
		int32_t distance;

		if (!at)
			return;
		i = (size_t)(at - m->text);
		memcpy(&distance, at + len, sizeof(distance));
		uint64_t next = m->text_address + i + whole;
		uint64_t leads_to = next + (uint64_t)(int64_t)distance;
		if (slots ? has_slot(slots, leads_to) : leads_to == target)
			visit(next, arg);
	}
}

/* Visits anything like a call through that register, in the rest of the function. */
static void each_call_through(const struct code_map *m, size_t at, unsigned reg,
                              code_call_fn *visit, void *arg)
{
	const struct code_function *f = code_map_at(m, m->text_address + at);
	const uint8_t call[] = { 0x41, 0xff, (uint8_t)(0xd0 | (reg & 7)) };
	size_t skip = reg < 8, len = sizeof(call) - skip;
	size_t end = f && f->high - m->text_address < m->text_len ? f->high - m->text_address : at;

	while (at < end) {
		const uint8_t *found = memmem(m->text + at, end - at, call + skip, len);

		if (!found)
			return;
		at = (size_t)(found - m->text) + len;
		visit(m->text_address + at, arg);
	}
}

/* Visits calls through a register into which a pointer to the function is loaded. */
static void each_loaded(const struct code_map *m, const struct code_map_slots *slots,
                        code_call_fn *visit, void *arg)
{
	enum { MOV_LEN = 7 };

	for (size_t i = 0; i + MOV_LEN <= m->text_len; i++) {
		const uint8_t *at = memchr(m->text + i, 0x8b, m->text_len - i - MOV_LEN + 1);
		int32_t distance;

		if (!at)
			return;
		i = (size_t)(at - m->text);
		if (i == 0 || (at[-1] & 0xfb) != 0x48 || (at[1] & 0xc7) != 0x05)
			continue;
		memcpy(&distance, at + 2, sizeof(distance));
		uint64_t after = m->text_address + i + MOV_LEN - 1;
		if (has_slot(slots, after + (uint64_t)(int64_t)distance))
			each_call_through(m, i + MOV_LEN - 1,
			                  (at[1] >> 3 & 7U) | (at[-1] & 4U) << 1, visit, arg);
	}
}

void code_map_each_caller(const struct code_map *m, uint64_t target, code_call_fn *visit, void *arg)
{
	static const uint8_t call[] = { 0xe8 }, call_slot[] = { 0xff, 0x15 };
	struct code_map_slots slots = { .target = target };

	each_with(m, call, sizeof(call), NULL, target, visit, arg);
	find_slots(m, &slots);
	if (slots.list.n) {
		each_with(m, call_slot, sizeof(call_slot), &slots, target, visit, arg);
		each_loaded(m, &slots, visit, arg);
	}
	vec_free(&slots.list);
}
