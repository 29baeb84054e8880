#include "debugger/elf/elf_image.h"

#include <string.h>
#include <unistd.h>

#include "debugger/base/str.h"

enum { MAX_PHDRS = 4096, MAX_NOTES_SIZE = 1 << 20 };

bool elf_read_fd(void *arg, uint64_t offset, void *buf, size_t len)
{
	const int *fd = arg;

	return offset <= INT64_MAX && pread(*fd, buf, len, (off_t)offset) == (ssize_t)len;
}

enum elf_problem elf_header_problem(const Elf64_Ehdr *header, uint16_t machine)
{
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return ELF_NOT_ELF;
	if (header->e_ident[EI_CLASS] != ELFCLASS64)
		return ELF_NOT_64BIT;
	if (header->e_ident[EI_DATA] != ELFDATA2LSB)
		return ELF_BIG_ENDIAN;
	return header->e_machine == machine ? ELF_OK : ELF_FOREIGN;
}

bool elf_note_next(const unsigned char *data, size_t len, size_t *offset, struct elf_note *ret)
{
	Elf64_Nhdr header;
	size_t at = *offset;

	if (at > len || len - at < sizeof(header))
		return false;
	memcpy(&header, data + at, sizeof(header));
	at += sizeof(header);
	size_t name_space = ((size_t)header.n_namesz + 3) & ~(size_t)3;
	if (name_space > len - at)
		return false;
	ret->type = header.n_type;
	ret->name = (const char *)data + at;
	ret->name_len = header.n_namesz;
	at += name_space;
	if (header.n_descsz > len - at)
		return false;
	ret->desc = data + at;
	ret->desc_len = header.n_descsz;
	size_t desc_space = ((size_t)header.n_descsz + 3) & ~(size_t)3;
	*offset = desc_space > len - at ? len : at + desc_space;
	return true;
}

bool elf_note_is(const struct elf_note *note, const char *name, uint32_t type)
{
	return note->type == type && strnlen(note->name, note->name_len) == strlen(name) &&
	       memcmp(note->name, name, strlen(name)) == 0;
}

static void find_build_id(struct arena *a, const struct elf_source *from, const Elf64_Phdr *p,
                          struct elf_image *image)
{
	/* A mapped image starts with the first page of its first PT_LOAD. */
	uint64_t offset = from->mapped ? p->p_vaddr - image->low : p->p_offset;
	struct elf_note note;

	if (p->p_filesz > MAX_NOTES_SIZE)
		return;
	unsigned char *data = arena_alloc(a, p->p_filesz);
	if (!from->read(from->arg, offset, data, p->p_filesz))
		return;
	for (size_t at = 0; elf_note_next(data, p->p_filesz, &at, &note);) {
		if (elf_note_is(&note, "GNU", NT_GNU_BUILD_ID) && note.desc_len <= BUILD_ID_MAX) {
			memcpy(image->build_id, note.desc, note.desc_len);
			image->build_id_len = note.desc_len;
			return;
		}
	}
}

static bool find_range(struct elf_image *image)
{
	image->low = UINT64_MAX;
	for (size_t i = 0; i < image->nphdrs; i++) {
		const Elf64_Phdr *p = &image->phdrs[i];
		uint64_t end;
		if (p->p_type == PT_TLS)
			image->tls = p;
		if (p->p_type != PT_LOAD)
			continue;
		if (__builtin_add_overflow(p->p_vaddr, p->p_memsz, &end) ||
		    p->p_filesz > p->p_memsz || (p->p_vaddr - p->p_offset) % ELF_PAGE != 0)
			return false;
		uint64_t page = p->p_vaddr & ~(uint64_t)(ELF_PAGE - 1);
		image->low = page < image->low ? page : image->low;
		image->high = end > image->high ? end : image->high;
	}
	return image->low < image->high;
}

bool elf_image_read(struct arena *a, const struct elf_source *from, uint16_t machine,
                    struct elf_image *ret)
{
	struct elf_image image = { 0 };
	const Elf64_Ehdr *h = &image.header;

	if (!from->read(from->arg, 0, &image.header, sizeof(image.header)) ||
	    elf_header_problem(h, machine) != ELF_OK || h->e_phentsize != sizeof(Elf64_Phdr) ||
	    h->e_phnum == 0 || h->e_phnum > MAX_PHDRS)
		return false;
	Elf64_Phdr *phdrs = NEW_ARRAY(a, Elf64_Phdr, h->e_phnum);
	if (!from->read(from->arg, h->e_phoff, phdrs, h->e_phnum * sizeof(*phdrs)))
		return false;
	image.phdrs = phdrs;
	image.nphdrs = h->e_phnum;
	if (!find_range(&image))
		return false;
	for (size_t i = 0; i < image.nphdrs && image.build_id_len == 0; i++) {
		if (phdrs[i].p_type == PT_NOTE)
			find_build_id(a, from, &phdrs[i], &image);
	}
	*ret = image;
	return true;
}

uint64_t elf_auxv_find(const void *auxv, size_t len, uint64_t type)
{
	const char *p = auxv;
	Elf64_auxv_t entry;

	for (; len >= sizeof(entry); len -= sizeof(entry), p += sizeof(entry)) {
		memcpy(&entry, p, sizeof(entry));
		if (entry.a_type == AT_NULL)
			break;
		if (entry.a_type == type)
			return entry.a_un.a_val;
	}
	return 0;
}

const char *build_id_text(struct arena *a, const unsigned char *id, size_t len)
{
	STR(s);

	for (size_t i = 0; i < len; i++)
		str_printf(&s, "%02x", id[i]);
	return len ? arena_strdup(a, str_text(&s)) : "none";
}
