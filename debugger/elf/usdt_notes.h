/*
 * The static probes (USDT) that a program has compiled in, read from its .note.stapsdt sections.
 * The file is untrusted.
 *
 * A note has the owner "stapsdt" and the type 3. Its descriptor is three 64-bit words, the address
 * of the probe, the link-time address of the section .stapsdt.base, and the address of the
 * semaphore, then three strings that end with NUL: provider, name, arguments (sys/sdt.h of
 * SystemTap 4.8). If a tool has moved the file's addresses since it was linked (prelink),
 * .stapsdt.base has moved too, while the notes were left as they are.
 *
 * One probe may have several locations, each with a note of its own.
 */
#ifndef DEBUGGER_ELF_USDT_NOTES_H
#define DEBUGGER_ELF_USDT_NOTES_H

#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"

enum {
	USDT_MAX_PROBES = 1 << 16,  /* more are counted, and left out */
	USDT_MAX_NAME = 255,        /* bytes of a provider or name */
	USDT_MAX_ARGUMENTS = 1023,  /* bytes of the text of all arguments */
	USDT_MAX_SECTION = 64 << 20 /* bytes of all sections; the rest is left out */
};

struct usdt_probe {
	const char
		*file; /* the library that has it, as the program names it; NULL: see the reader */
	const char *provider, *name; /* sanitised, never empty */
	const char *arguments;       /* as written: see usdt_operand_parse(); sanitised, "": none */
	uint64_t location;           /* link-time address */
	uint64_t location_offset;    /* in the file */
	/*
	 * A 16-bit counter: the probe is enabled only while that is not 0. 0: there is none, the
	 * probe is always on. Its address may be odd.
	 */
	uint64_t semaphore;
	uint64_t semaphore_offset; /* in the file; 0: there is none */
};

struct usdt_notes {
	const struct usdt_probe *probes; /* in the order of the file */
	size_t n;
	/* Omissions from probes, 0 in a correct file: */
	size_t bad; /* notes that cannot be used, or the rest of a section that cannot be read */
	const char *bad_why;      /* the first one's reason; NULL if there is none */
	size_t left_out;          /* notes after the first USDT_MAX_PROBES */
	size_t sections_left_out; /* sections that are too large, compressed or cut off */
};

/*
 * Reads the notes of an ELF file for a little-endian machine of 64 bits. The descriptor is
 * borrowed. All of the result is in arena a, without names of files. A file without probes is no
 * error. ERR_UNSUPPORTED: no such file.
 */
struct error *usdt_notes_read(struct arena *a, int fd, struct usdt_notes *ret) MUST_CHECK;

/* How many notes and sections are missing in probes. */
static inline size_t usdt_notes_lost(const struct usdt_notes *notes)
{
	return notes->bad + notes->left_out + notes->sections_left_out;
}

#endif
