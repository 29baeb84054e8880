/* Tests of notes in ELF files that are built by hand, hostile ones among them. */
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "debugger/base/vec.h"
#include "debugger/elf/usdt_notes.h"

/* What the file has at which offsets; addresses are larger by these. */
enum {
	CODE = 0x1000,
	DATA = 0x2000,
	PART = 0x1000,
	NOTES = 0x3000,
	CODE_MOVED = 0x400000,
	DATA_MOVED = 0x600000,
	BASE = CODE + CODE_MOVED + 0x800, /* the address of .stapsdt.base */
	LOCATION = CODE + CODE_MOVED + 0x10,
	SEMAPHORE = DATA + DATA_MOVED + 0x21, /* an odd one */
};

typedef VEC(unsigned char) bytes;

static void put(bytes *b, const void *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		*vec_push(b) = ((const unsigned char *)data)[i];
}

struct note {
	const char *owner;
	uint32_t type;
	uint64_t location, base, semaphore;
	const char *strings; /* with '|' for each NUL */
};

static const struct note good = {
	"stapsdt", 3, LOCATION, BASE, SEMAPHORE, "app|start|8@%rdi -4@$3|"
};

static void put_padded(bytes *b, const void *data, size_t len)
{
	put(b, data, len);
	put(b, "\0\0\0", -len & 3);
}

static void put_note(bytes *b, const struct note *n)
{
	char desc[4096];
	size_t len = strlen(n->strings);
	uint64_t words[] = { n->location, n->base, n->semaphore };
	Elf64_Nhdr header = { .n_namesz = (Elf64_Word)strlen(n->owner) + 1,
		              .n_descsz = (Elf64_Word)(sizeof(words) + len),
		              .n_type = n->type };

	memcpy(desc, words, sizeof(words));
	for (size_t i = 0; i < len; i++)
		desc[sizeof(words) + i] = n->strings[i] == '|' ? '\0' : n->strings[i];
	put(b, &header, sizeof(header));
	put_padded(b, n->owner, header.n_namesz);
	put_padded(b, desc, header.n_descsz);
}

static void write_at(int fd, const void *data, size_t len, uint64_t offset)
{
	assert_int_equal(pwrite(fd, data, len, (off_t)offset), len);
}

static const char section_names[] = "\0.note.stapsdt\0.stapsdt.base\0.shstrtab";
enum { NAME_NOTES = 1, NAME_BASE = 15, NAME_NAMES = 29 };

/* copies: how many sections have the same notes; flags: of each. */
static void write_sections(int fd, const bytes *notes, size_t copies, uint64_t flags)
{
	uint64_t names_at = NOTES + notes->n, sections_at = (names_at + 256) & ~(uint64_t)7;
	const Elf64_Shdr none = { 0 };
	const Elf64_Shdr base = { .sh_name = NAME_BASE,
		                  .sh_type = SHT_PROGBITS,
		                  .sh_flags = SHF_ALLOC,
		                  .sh_addr = BASE,
		                  .sh_offset = BASE - CODE_MOVED,
		                  .sh_size = 1 };
	const Elf64_Shdr names = { .sh_name = NAME_NAMES,
		                   .sh_type = SHT_STRTAB,
		                   .sh_offset = names_at,
		                   .sh_size = sizeof(section_names) };
	const Elf64_Shdr note = { .sh_name = NAME_NOTES,
		                  .sh_type = SHT_NOTE,
		                  .sh_flags = flags,
		                  .sh_offset = NOTES,
		                  .sh_size = notes->n,
		                  .sh_addralign = 4 };
	const Elf64_Shdr *first[] = { &none, &names, &base };
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
		                           ELFDATA2LSB, EV_CURRENT },
		              .e_type = ET_DYN,
		              .e_machine = EM_X86_64,
		              .e_version = EV_CURRENT,
		              .e_ehsize = sizeof(header),
		              .e_phoff = sizeof(header),
		              .e_phentsize = sizeof(Elf64_Phdr),
		              .e_phnum = 2,
		              .e_shoff = sections_at,
		              .e_shentsize = sizeof(Elf64_Shdr),
		              .e_shnum = (Elf64_Half)(3 + copies),
		              .e_shstrndx = 1 };

	write_at(fd, &header, sizeof(header), 0);
	write_at(fd, section_names, sizeof(section_names), names_at);
	for (size_t i = 0; i < 3; i++)
		write_at(fd, first[i], sizeof(Elf64_Shdr), sections_at + i * sizeof(Elf64_Shdr));
	for (size_t i = 3; i < 3 + copies; i++)
		write_at(fd, &note, sizeof(note), sections_at + i * sizeof(note));
}

static int write_file(bytes *notes, size_t copies, uint64_t flags)
{
	int fd = memfd_create("notes", MFD_CLOEXEC);
	const Elf64_Phdr loads[] = { { .p_type = PT_LOAD,
		                       .p_flags = PF_R | PF_X,
		                       .p_offset = CODE,
		                       .p_vaddr = CODE + CODE_MOVED,
		                       .p_filesz = PART,
		                       .p_memsz = PART },
		                     { .p_type = PT_LOAD,
		                       .p_flags = PF_R | PF_W,
		                       .p_offset = DATA,
		                       .p_vaddr = DATA + DATA_MOVED,
		                       .p_filesz = 0x100,
		                       .p_memsz = PART } };

	assert_true(fd >= 0);
	write_sections(fd, notes, copies, flags);
	write_at(fd, loads, sizeof(loads), sizeof(Elf64_Ehdr));
	write_at(fd, notes->data, notes->n, NOTES);
	vec_free(notes);
	return fd;
}

struct fixture {
	struct arena arena;
	struct usdt_notes notes;
};

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct fixture));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	arena_free(&f->arena);
	free(f);
	return 0;
}

static void read_file(struct fixture *f, int fd)
{
	struct error *err = usdt_notes_read(&f->arena, fd, &f->notes);

	if (err)
		fail_msg("%s", err->message);
	close(fd);
}

static void read_note(struct fixture *f, const struct note *n)
{
	bytes b = { 0 };

	put_note(&b, n);
	read_file(f, write_file(&b, 1, 0));
}

static void assert_bad(struct fixture *f, const struct note *n, const char *why)
{
	read_note(f, n);
	assert_int_equal(f->notes.n, 0);
	assert_int_equal(f->notes.bad, 1);
	assert_string_equal(f->notes.bad_why, why);
}

static void it_reads_a_probe(void **state)
{
	struct fixture *f = *state;

	read_note(f, &good);
	assert_int_equal(f->notes.n, 1);
	assert_int_equal(f->notes.bad + f->notes.left_out + f->notes.sections_left_out, 0);
	const struct usdt_probe *p = f->notes.probes;
	assert_string_equal(p->provider, "app");
	assert_string_equal(p->name, "start");
	assert_string_equal(p->arguments, "8@%rdi -4@$3");
	assert_int_equal(p->location, LOCATION);
	assert_int_equal(p->location_offset, LOCATION - CODE_MOVED);
	assert_int_equal(p->semaphore, SEMAPHORE);
	assert_int_equal(p->semaphore_offset, SEMAPHORE - DATA_MOVED);
}

static void it_follows_a_base_that_has_moved(void **state)
{
	struct fixture *f = *state;
	struct note n = good;

	n.location -= 0x100000;
	n.base -= 0x100000;
	n.semaphore -= 0x100000;
	read_note(f, &n);
	assert_int_equal(f->notes.n, 1);
	assert_int_equal(f->notes.probes[0].location, LOCATION);
	assert_int_equal(f->notes.probes[0].semaphore, SEMAPHORE);

	n = good;
	n.base = 0; /* it says nothing */
	read_note(f, &n);
	assert_int_equal(f->notes.probes[0].location, LOCATION);
}

static void a_probe_may_have_no_semaphore_and_no_arguments(void **state)
{
	struct fixture *f = *state;
	struct note n = good;

	n.semaphore = 0;
	n.strings = "app|start||";
	read_note(f, &n);
	assert_int_equal(f->notes.n, 1);
	assert_string_equal(f->notes.probes[0].arguments, "");
	assert_int_equal(f->notes.probes[0].semaphore, 0);
	assert_int_equal(f->notes.probes[0].semaphore_offset, 0);
}

static void several_locations_and_sections(void **state)
{
	struct fixture *f = *state;
	struct note other = good;
	bytes b = { 0 };

	other.location += 0x20;
	put_note(&b, &good);
	put_note(&b, &other);
	read_file(f, write_file(&b, 3, 0));
	assert_int_equal(f->notes.n, 6);
	assert_int_equal(f->notes.probes[5].location, LOCATION + 0x20);
}

static void addresses_outside_of_the_file_are_refused(void **state)
{
	struct note n = good;

	n.location = DATA + DATA_MOVED; /* not executable */
	assert_bad(*state, &n, "its address is not in the program's code");
	n.location = CODE + CODE_MOVED + PART;
	assert_bad(*state, &n, "its address is not in the program's code");
	n.location = UINT64_MAX;
	assert_bad(*state, &n, "its address is not in the program's code");
	n = good;
	n.base = 1;
	assert_bad(*state, &n, "its address is not in the program's code");
	n = good;
	n.semaphore = LOCATION; /* not writable */
	assert_bad(*state, &n, "its semaphore is not in the program's data");
	n.semaphore = DATA + DATA_MOVED + 0xff; /* its second byte is not in the file */
	assert_bad(*state, &n, "its semaphore is not in the program's data");
}

static void strings_are_checked(void **state)
{
	char text[2000];
	struct note n = good;

	n.strings = "app|start|8@%rdi"; /* no NUL at the end */
	assert_bad(*state, &n, "a string is too long or does not end");
	n.strings = "app";
	assert_bad(*state, &n, "a string is too long or does not end");
	n.strings = "";
	assert_bad(*state, &n, "a string is too long or does not end");
	n.strings = "|start||";
	assert_bad(*state, &n, "it has no name");
	n.strings = "app|||";
	assert_bad(*state, &n, "it has no name");
	snprintf(text, sizeof(text), "app|%0256d||", 0);
	n.strings = text;
	assert_bad(*state, &n, "a string is too long or does not end");
	snprintf(text, sizeof(text), "app|start|%01024d|", 0);
	assert_bad(*state, &n, "a string is too long or does not end");
}

static void names_are_sanitised(void **state)
{
	struct fixture *f = *state;
	struct note n = good;

	n.strings = "\033[1m|a\n\xff||";
	read_note(f, &n);
	assert_string_equal(f->notes.probes[0].provider, "?[1m");
	assert_string_equal(f->notes.probes[0].name, "a?\xef\xbf\xbd");
}

static void notes_of_others_are_refused(void **state)
{
	struct note n = good;

	n.type = 2;
	assert_bad(*state, &n, "it is of another owner or version");
	n = good;
	n.owner = "GNU";
	assert_bad(*state, &n, "it is of another owner or version");
}

static void a_note_that_is_cut_short_ends_the_section(void **state)
{
	struct fixture *f = *state;
	Elf64_Nhdr header = { .n_namesz = 8, .n_descsz = UINT32_MAX, .n_type = 3 };
	bytes b = { 0 };

	put_note(&b, &good);
	put(&b, &header, sizeof(header));
	put(&b, "stapsdt", 8);
	read_file(f, write_file(&b, 1, 0));
	assert_int_equal(f->notes.n, 1);
	assert_int_equal(f->notes.bad, 1);
	assert_string_equal(f->notes.bad_why, "a note is cut short");

	header = (Elf64_Nhdr){ .n_namesz = UINT32_MAX, .n_descsz = 0, .n_type = 3 };
	put(&b, &header, sizeof(header));
	read_file(f, write_file(&b, 1, 0));
	assert_int_equal(f->notes.bad, 1);

	header = (Elf64_Nhdr){ .n_namesz = 8, .n_descsz = 23, .n_type = 3 };
	put(&b, &header, sizeof(header));
	put_padded(&b, "stapsdt", 8);
	put_padded(&b, "0123456789abcdef0123456", 23);
	read_file(f, write_file(&b, 1, 0));
	assert_int_equal(f->notes.n, 0);
	assert_string_equal(f->notes.bad_why, "it is too short");
}

static void a_million_notes_are_too_many(void **state)
{
	enum { MANY = 1000000 };
	struct fixture *f = *state;
	struct note n = good;
	bytes b = { 0 };

	n.strings = "a|b||"; /* 12 + 8 + 29 bytes, with padding 52: fewer than are read at most */
	put_note(&b, &n);
	size_t one = b.n;
	assert_true(one * MANY < USDT_MAX_SECTION);
	vec_reserve(&b, one * MANY);
	for (size_t i = 1; i < MANY; i++)
		memcpy(b.data + i * one, b.data, one);
	b.n = one * MANY;
	read_file(f, write_file(&b, 1, 0));
	assert_int_equal(f->notes.n, USDT_MAX_PROBES);
	assert_int_equal(f->notes.left_out, MANY - USDT_MAX_PROBES);
	assert_int_equal(f->notes.bad, 0);
}

static void sections_that_cannot_be_read_are_counted(void **state)
{
	struct fixture *f = *state;
	bytes b = { 0 };

	put_note(&b, &good);
	read_file(f, write_file(&b, 2, SHF_COMPRESSED));
	assert_int_equal(f->notes.n, 0);
	assert_int_equal(f->notes.sections_left_out, 2);

	/* A thousand sections that are all the same half megabyte. */
	vec_reserve(&b, 1 << 19);
	while (b.n < 1 << 19)
		*vec_push(&b) = 0xff;
	read_file(f, write_file(&b, 1000, 0));
	assert_int_equal(f->notes.n, 0);
	assert_int_equal(f->notes.bad, USDT_MAX_SECTION >> 19);
	assert_int_equal(f->notes.sections_left_out, 1000 - (USDT_MAX_SECTION >> 19));
}

static void no_notes_is_no_error(void **state)
{
	struct fixture *f = *state;
	bytes b = { 0 };

	read_file(f, write_file(&b, 0, 0));
	assert_int_equal(f->notes.n, 0);
	assert_int_equal(f->notes.bad, 0);
	read_file(f, write_file(&b, 1, 0)); /* an empty section */
	assert_int_equal(f->notes.n + f->notes.bad + f->notes.sections_left_out, 0);
}

static void what_is_no_elf_file_is_an_error(void **state)
{
	struct fixture *f = *state;
	int fd = memfd_create("text", MFD_CLOEXEC);

	for (int i = 0; i < 2; i++) {
		struct error *err = usdt_notes_read(&f->arena, fd, &f->notes);
		assert_non_null(err);
		assert_int_equal(err->kind, ERR_UNSUPPORTED);
		error_free(err);
		write_at(fd, "not an ELF file", 11, 0);
	}
	close(fd);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_reads_a_probe),
		TEST(it_follows_a_base_that_has_moved),
		TEST(a_probe_may_have_no_semaphore_and_no_arguments),
		TEST(several_locations_and_sections),
		TEST(addresses_outside_of_the_file_are_refused),
		TEST(strings_are_checked),
		TEST(names_are_sanitised),
		TEST(notes_of_others_are_refused),
		TEST(a_note_that_is_cut_short_ends_the_section),
		TEST(a_million_notes_are_too_many),
		TEST(sections_that_cannot_be_read_are_counted),
		TEST(no_notes_is_no_error),
		TEST(what_is_no_elf_file_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
