#include "debugger/elf/usdt_notes.h"

#include <string.h>

#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "debugger/elf/elf_image.h"
#include "debugger/elf/elf_sections.h"

enum { NOTE_TYPE = 3, SEMAPHORE_SIZE = 2 };

/* Behind these words are the strings. */
struct usdt_notes_words {
	uint64_t location, base, semaphore;
};

struct usdt_notes_reader {
	struct arena *arena;
	const struct elf_image *image;
	bool has_base;
	uint64_t base; /* address of .stapsdt.base in the file as it is */
	VEC(struct usdt_probe) probes;
	struct usdt_notes notes;
};

/* The offset in the file of size bytes at a link-time address. */
static bool file_offset(const struct elf_image *image, uint64_t address, uint64_t size,
                        uint32_t flags, uint64_t *ret)
{
	for (size_t i = 0; i < image->nphdrs; i++) {
		const Elf64_Phdr *p = &image->phdrs[i];

		if (p->p_type != PT_LOAD || (p->p_flags & flags) != flags || address < p->p_vaddr)
			continue;
		uint64_t at = address - p->p_vaddr;
		if (at >= p->p_filesz || p->p_filesz - at < size)
			continue;
		return !__builtin_add_overflow(p->p_offset, at, ret);
	}
	return false;
}

/* Takes the next string of at most max bytes; NULL if it is longer or has no NUL. */
static const char *usdt_notes_next_string(const unsigned char **data, size_t *len, size_t max,
                                          size_t *ret)
{
	const char *text = (const char *)*data;
	const char *end = memchr(text, '\0', *len);

	if (!end || (size_t)(end - text) > max)
		return NULL;
	*ret = (size_t)(end - text);
	*data += *ret + 1;
	*len -= *ret + 1;
	return text;
}

/* NULL, or the reason why the note has no names. */
static const char *read_names(struct usdt_notes_reader *r, const unsigned char *data, size_t len,
                              struct usdt_probe *probe)
{
	size_t provider_len = 0, name_len = 0, arguments_len = 0;
	const char *provider = usdt_notes_next_string(&data, &len, USDT_MAX_NAME, &provider_len);
	const char *name =
		provider ? usdt_notes_next_string(&data, &len, USDT_MAX_NAME, &name_len) : NULL;
	const char *arguments =
		name ? usdt_notes_next_string(&data, &len, USDT_MAX_ARGUMENTS, &arguments_len)
		     : NULL;

	if (!arguments)
		return "a string is too long or does not end";
	if (provider_len == 0 || name_len == 0)
		return "it has no name";
	probe->provider = str_clean(r->arena, provider, provider_len);
	probe->name = str_clean(r->arena, name, name_len);
	probe->arguments = str_clean(r->arena, arguments, arguments_len);
	return NULL;
}

/* NULL, or the reason why the note has no place in the file. */
static const char *read_places(const struct usdt_notes_reader *r, const struct usdt_notes_words *w,
                               struct usdt_probe *probe)
{
	/* Addresses wrap around as those of the linker do. */
	uint64_t moved = r->has_base && w->base ? r->base - w->base : 0;

	probe->location = w->location + moved;
	if (!file_offset(r->image, probe->location, 1, PF_X, &probe->location_offset))
		return "its address is not in the program's code";
	if (!w->semaphore)
		return NULL;
	probe->semaphore = w->semaphore + moved;
	if (!file_offset(r->image, probe->semaphore, SEMAPHORE_SIZE, PF_W,
	                 &probe->semaphore_offset))
		return "its semaphore is not in the program's data";
	return NULL;
}

static const char *read_probe(struct usdt_notes_reader *r, const struct elf_note *note,
                              struct usdt_probe *probe)
{
	struct usdt_notes_words words;

	if (!elf_note_is(note, "stapsdt", NOTE_TYPE))
		return "it is of another owner or version";
	if (note->desc_len < sizeof(words))
		return "it is too short";
	memcpy(&words, note->desc, sizeof(words));
	const char *why = read_places(r, &words, probe);
	return why ? why
	           : read_names(r, note->desc + sizeof(words), note->desc_len - sizeof(words),
	                        probe);
}

static void add_bad(struct usdt_notes_reader *r, const char *why)
{
	r->notes.bad++;
	if (!r->notes.bad_why)
		r->notes.bad_why = why;
}

static void read_section(void *arg, const char *data, size_t len)
{
	struct usdt_notes_reader *r = arg;
	struct elf_note note;
	size_t at = 0;

	/* Each turn consumes 12 bytes or more: USDT_MAX_SECTION bounds their number. */
	while (elf_note_next((const unsigned char *)data, len, &at, &note)) {
		struct usdt_probe probe = { 0 };

		if (r->probes.n == USDT_MAX_PROBES) {
			r->notes.left_out++;
			continue;
		}
		const char *why = read_probe(r, &note, &probe);
		if (why)
			add_bad(r, why);
		else
			*vec_push(&r->probes) = probe;
	}
	if (at < len)
		add_bad(r, "a note is cut short");
}

static struct error *read_image(struct arena *a, int fd, struct elf_image *ret)
{
	const struct elf_source from = { .read = elf_read_fd, .arg = &fd };
	Elf64_Ehdr header;

	/*
	 * Files of any machine are read: a caller that knows only one learns it from the operands.
	 */
	if (!elf_read_fd(&fd, 0, &header, sizeof(header)) ||
	    !elf_image_read(a, &from, header.e_machine, ret))
		return error_new(ERR_UNSUPPORTED,
		                 "not an ELF file of 64 bits, little-endian, that can be loaded");
	return NULL;
}

struct error *usdt_notes_read(struct arena *a, int fd, struct usdt_notes *ret)
{
	struct elf_image image;
	SCRATCH(scratch);

	TRY(read_image(&scratch, fd, &image));
	struct usdt_notes_reader r = { .arena = a, .image = &image };
	struct elf_sections *sections = elf_sections_open(fd);
	if (!sections)
		return error_new(ERR_UNSUPPORTED, "libelf cannot read the ELF file");
	r.has_base = elf_sections_address(sections, ".stapsdt.base", &r.base);
	r.notes.sections_left_out =
		elf_sections_each(sections, ".note.stapsdt", USDT_MAX_SECTION, read_section, &r);
	elf_sections_close(sections);
	r.notes.n = r.probes.n;
	r.notes.probes = vec_to_arena(&r.probes, a);
	*ret = r.notes;
	return NULL;
}
