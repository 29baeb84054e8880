/*
 * Addresses of thread-local variables. For modules other than the executable this reads glibc's
 * structures. glibc publishes their offsets for debuggers in its _thread_db_* constants.
 */
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <inttypes.h>
#include <string.h>

#include "debugger/elf/elf_image.h"
#include "debugger/target/module.h"
#include "debugger/target/target.h"

enum { MAX_DYNAMIC = 4096, MAX_LINK_MAPS = 65536, MAX_MODULE_IDS = 1 << 20 };

/* Offsets in struct r_debug and struct link_map of <link.h>, which are public and stable. */
enum { R_DEBUG_MAP = 8, LINK_MAP_ADDR = 0, LINK_MAP_LD = 16, LINK_MAP_NEXT = 24 };
/* Size of glibc's dtv_t; entry -1 holds the number of entries. */
enum { DTV_ENTRY = 16 };

/* A member of struct link_map. */
struct tls_field {
	uint64_t offset, size;
};

struct tls {
	struct tls_field modid, offset;
	bool known;
};

/* The run-time address of a dynamic symbol; 0 if the module does not define it. */
static uint64_t find_symbol(const struct module *m, const char *name)
{
	GElf_Addr bias;
	Elf *elf = m->dwfl ? dwfl_module_getelf(m->dwfl, &bias) : NULL;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym sym;

	while (elf && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM)
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		for (int i = 1; data && gelf_getsym(data, i, &sym); i++) {
			const char *s = elf_strptr(elf, header.sh_link, sym.st_name);
			if (s && sym.st_shndx != SHN_UNDEF && strcmp(s, name) == 0)
				return sym.st_value + m->bias;
		}
	}
	return 0;
}

/* Reads a _thread_db_* constant. It has three words: size in bits, count, offset in bytes. */
static struct error *read_field(struct target *t, const struct module *libc, const char *name,
                                struct tls_field *ret)
{
	uint32_t words[3];
	uint64_t addr = find_symbol(libc, name);

	if (addr == 0)
		return error_new(ERR_UNSUPPORTED, "%s has no %s", libc->path, name);
	TRY(target_read(t, addr, words, sizeof(words)));
	if (words[0] != 64 || words[2] > 65536)
		return error_new(ERR_UNSUPPORTED, "%s: unexpected %s", libc->path, name);
	*ret = (struct tls_field){ .offset = words[2], .size = words[0] / 8 };
	return NULL;
}

static bool is_libc(const struct module *m)
{
	const char *slash = strrchr(m->path, '/');
	const char *name = slash ? slash + 1 : m->path;

	return strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libc-2", 6) == 0 ||
	       strncmp(name, "libpthread", 10) == 0;
}

/* Reads the offsets into t->tls. */
static struct error *find_layout(struct target *t)
{
	struct error *err = NULL;

	if (!t->tls)
		t->tls = NEW(&t->arena, struct tls);
	for (size_t i = 0; i < t->modules.n && !t->tls->known; i++) {
		if (!is_libc(t->modules.data[i]))
			continue;
		error_free(err);
		err = read_field(t, t->modules.data[i], "_thread_db_link_map_l_tls_modid",
		                 &t->tls->modid);
		if (!err)
			err = read_field(t, t->modules.data[i], "_thread_db_link_map_l_tls_offset",
			                 &t->tls->offset);
		t->tls->known = !err;
	}
	if (!t->tls->known)
		return err ? err
		           : error_new(ERR_UNSUPPORTED,
		                       "thread-locals of shared libraries are "
		                       "found through glibc, which this program lacks");
	return NULL;
}

/* Reads DT_DEBUG of the executable: the address of r_debug, which has the list of modules. */
struct error *target_r_debug(struct target *t, uint64_t *ret)
{
	SCRATCH(scratch);
	const struct module *m = t->modules.main;
	struct elf_image image;
	int fd = m ? m->fd : -1;
	struct elf_source from = { elf_read_fd, &fd, false };
	uint64_t dynamic = 0;

	if (!m || !elf_image_read(&scratch, &from, t->arch->elf_machine, &image))
		return error_new(
			ERR_UNSUPPORTED,
			"without the executable it is unknown what the dynamic linker has loaded");
	for (size_t i = 0; i < image.nphdrs; i++) {
		if (image.phdrs[i].p_type == PT_DYNAMIC)
			dynamic = image.phdrs[i].p_vaddr + m->bias;
	}
	for (size_t i = 0; dynamic != 0 && i < MAX_DYNAMIC; i++) {
		Elf64_Dyn entry;
		TRY(target_read(t, dynamic + i * sizeof(entry), &entry, sizeof(entry)));
		if (entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_DEBUG && entry.d_un.d_ptr != 0) {
			*ret = entry.d_un.d_ptr;
			return NULL;
		}
	}
	return error_new(ERR_UNSUPPORTED,
	                 "%s has no DT_DEBUG: it is unknown what the dynamic linker has loaded",
	                 m->path);
}

static struct error *find_link_map(struct target *t, const struct module *m, uint64_t *ret)
{
	uint64_t r_debug = 0, map, bias, ld;

	TRY(target_r_debug(t, &r_debug));
	TRY(target_read_uint(t, r_debug + R_DEBUG_MAP, 8, &map));
	for (size_t i = 0; map != 0 && i < MAX_LINK_MAPS; i++) {
		TRY(target_read_uint(t, map + LINK_MAP_ADDR, 8, &bias));
		TRY(target_read_uint(t, map + LINK_MAP_LD, 8, &ld));
		if (bias == m->bias && ld >= m->start && ld < m->end) {
			*ret = map;
			return NULL;
		}
		TRY(target_read_uint(t, map + LINK_MAP_NEXT, 8, &map));
	}
	return error_new(ERR_CORRUPT, "the dynamic linker's list lacks %s", m->path);
}

/* Finds the start of the module's TLS block in thread th. */
static struct error *find_block(struct target *t, const struct thread *th, const struct module *m,
                                uint64_t *ret, bool *found)
{
	uint64_t map = 0, id, offset, dtv, count, block, tp = th->regs.thread_pointer;

	TRY(find_layout(t));
	TRY(find_link_map(t, m, &map));
	TRY(target_read_uint(t, map + t->tls->offset.offset, t->tls->offset.size, &offset));
	TRY(target_read_uint(t, map + t->tls->modid.offset, t->tls->modid.size, &id));
	/*
	 * l_tls_offset: 0 no block; -1 only in the DTV; else a library loaded at program start,
	 * whose block is at a fixed offset from the thread pointer.
	 */
	*found = offset != 0 && offset != UINT64_MAX;
	if (*found) {
		*ret = arch_tls_at_offset(t->arch, tp, offset);
		return NULL;
	}
	if (id == 0 || id > MAX_MODULE_IDS)
		return error_new(ERR_CORRUPT, "%s: TLS module id %" PRIu64, m->path, id);
	TRY(target_read_uint(t, tp + t->arch->thread_pointer.tcb_dtv, 8, &dtv));
	TRY(target_read_uint(t, dtv - DTV_ENTRY, 8, &count));
	if (id > count)
		return NULL;
	TRY(target_read_uint(t, dtv + id * DTV_ENTRY, 8, &block));
	*found = block != 0 && block != UINT64_MAX;
	*ret = block;
	return NULL;
}

struct error *target_tls_address(struct target *t, const struct thread *th, const struct module *m,
                                 uint64_t offset, uint64_t *ret, bool *found)
{
	uint64_t align = m->tls_align ? m->tls_align : 1, block = 0;

	if (offset >= m->tls_memsz || (align & (align - 1)) != 0)
		return error_new(ERR_LAYOUT, "%s has no thread-local at offset %" PRIu64, m->path,
		                 offset);
	*found = th->regs.thread_pointer != 0 && !m->is_unloaded;
	if (!*found)
		return NULL;
	if (m->is_main) {
		block = arch_tls_block(t->arch, th->regs.thread_pointer, m->tls_memsz, m->tls_vaddr,
		                       align);
	} else {

		TRY(find_block(t, th, m, &block, found));
	}
	if (*found)
		*ret = block + offset;
	return NULL;
}
