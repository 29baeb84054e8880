/*
 * Parses the headers of an ELF file, from the file or from mapped memory. The input is untrusted:
 * every count and offset is checked.
 */
#ifndef DEBUGGER_ELF_ELF_IMAGE_H
#define DEBUGGER_ELF_ELF_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"

enum { ELF_PAGE = 4096, BUILD_ID_MAX = 64 };

/* Reads all of len bytes at offset, or returns false. */
typedef bool elf_read_fn(void *arg, uint64_t offset, void *buf, size_t len);

struct elf_source {
	elf_read_fn *read;
	void *arg;
	bool mapped; /* offsets are those of the memory image, counted from its first byte */
};
/* An elf_read_fn that reads a file; arg points to its descriptor. */
elf_read_fn elf_read_fd;

struct elf_image {
	Elf64_Ehdr header;
	const Elf64_Phdr *phdrs;
	size_t nphdrs;
	/* Link-time range of all PT_LOADs: start of the first page, end of the last PT_LOAD. */
	uint64_t low, high;
	const Elf64_Phdr *tls; /* NULL: none */
	unsigned char build_id[BUILD_ID_MAX];
	size_t build_id_len;
};

/* Checks whether an ELF header can be used: ELF_OK, or the reason why not. */
enum elf_problem { ELF_OK, ELF_NOT_ELF, ELF_NOT_64BIT, ELF_BIG_ENDIAN, ELF_FOREIGN };
enum elf_problem elf_header_problem(const Elf64_Ehdr *header, uint16_t machine);

/*
 * Parses the headers. False: not an ELF file of this machine with at least one PT_LOAD. phdrs is in
 * arena a.
 */
bool elf_image_read(struct arena *a, const struct elf_source *from, uint16_t machine,
                    struct elf_image *ret);

/* Parses the next note; false at the end or if the data is cut short. *offset starts at 0. */
struct elf_note {
	uint32_t type;
	const char *name; /* name_len bytes with their NUL, or fewer */
	size_t name_len;
	const unsigned char *desc;
	size_t desc_len;
};
bool elf_note_next(const unsigned char *data, size_t len, size_t *offset, struct elf_note *ret);
bool elf_note_is(const struct elf_note *note, const char *name, uint32_t type);

/* The value of an entry of an auxiliary vector; 0 if there is none. */
uint64_t elf_auxv_find(const void *auxv, size_t len, uint64_t type);

/* A build-id as hexadecimal digits, as all tools print it; "none" if it is empty. */
const char *build_id_text(struct arena *a, const unsigned char *id, size_t len);

#endif
