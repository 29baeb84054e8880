/* The sections of an ELF file by name, read by libelf. The file is untrusted. */
#ifndef DEBUGGER_ELF_ELF_SECTIONS_H
#define DEBUGGER_ELF_ELF_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_sections;

/* NULL: no ELF file. The descriptor is borrowed, and must stay open. */
struct elf_sections *elf_sections_open(int fd);
/* NULL is allowed. */
void elf_sections_close(struct elf_sections *s);

/* Has the file a section of that name with contents? */
bool elf_sections_has(struct elf_sections *s, const char *name);
/* The link-time address of the first such section; false if there is none. */
bool elf_sections_address(struct elf_sections *s, const char *name, uint64_t *ret);
/*
 * Calls visit with the contents of each section of that name, of at most max bytes together.
 * Returns how many were left out: those that are beyond max, compressed or not in the file. The
 * contents live until elf_sections_close().
 */
typedef void elf_section_fn(void *arg, const char *data, size_t len);
size_t elf_sections_each(struct elf_sections *s, const char *name, size_t max,
                         elf_section_fn *visit, void *arg);

#endif
