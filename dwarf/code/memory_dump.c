#include "dwarf/code/memory_dump.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "debugger/code/instruction.h"
#include "debugger/target/target.h"
#include "dwarf/code/disassembly.h"
#include "dwarf/module/debuginfo.h"

/* ---- formats ---- */

static unsigned memory_dump_size_of(char letter)
{
	switch (letter) {
	case 'b':
		return 1;
	case 'h':
		return 2;
	case 'w':
		return 4;
	case 'g':
		return 8;
	default:
		return 0;
	}
}

/* The size that a format means by itself; 0: that of before. */
static unsigned own_size(char letter, unsigned before)
{
	if (letter == 'a' || (letter == 'f' && before != 4 && before != 8))
		return 8;
	return letter == 'c' ? 1 : 0;
}

struct error *memory_format_read(const char *text, struct memory_format *ret)
{
	struct memory_format f = *ret;
	unsigned size = 0;
	char letter = 0;
	const char *p = text;

	if (isdigit((unsigned char)*p)) {
		for (f.count = 0; isdigit((unsigned char)*p) && f.count <= MEMORY_MAX_UNITS; p++)
			f.count = f.count * 10 + (uint64_t)(*p - '0');
		if (!f.count || f.count > MEMORY_MAX_UNITS)
			return error_new(ERR_USAGE, "\"%s\": the number of units must be 1 to %d",
			                 text, MEMORY_MAX_UNITS);
	}
	for (; *p; p++) {
		if (memory_dump_size_of(*p))
			size = memory_dump_size_of(*p);
		else if (strchr("xduotcafsi", *p))
			letter = *p;
		else
			return error_new(ERR_USAGE,
			                 "\"%s\" is not a format: a count, a letter of xduotcafsi "
			                 "and a size of bhwg, such as 8xb",
			                 text);
	}
	if (letter)
		f.letter = letter;
	if (size || own_size(letter, f.size))
		f.size = size ? size : own_size(letter, f.size);
	if (f.letter == 'f' && f.size < 4)
		return error_new(ERR_USAGE,
		                 "a floating-point number must have 4 or 8 bytes: w or g");
	*ret = f;
	return NULL;
}

/* ---- units ---- */

struct memory_dump_reading {
	struct debuginfo *di;
	const struct memory_format *format;
	struct arena *a;
	struct instruction_reader *instructions; /* NULL unless the format is i */
	VEC(struct memory_unit) units;
	uint64_t at;
};

/* Reads up to len bytes; returns how many there are. */
static struct error *memory_dump_read_bytes(struct memory_dump_reading *r, void *bytes, size_t len,
                                            size_t *ret)
{
	return target_read_through(r->di->target, r->at, bytes, len, ret);
}

static const char *binary(struct arena *a, uint64_t value, unsigned size)
{
	char digits[64 + 1];

	for (unsigned i = 0; i < 8 * size; i++)
		digits[i] = value >> (8 * size - 1 - i) & 1 ? '1' : '0';
	return arena_strndup(a, digits, 8 * size);
}

static int64_t sign_extended(uint64_t value, unsigned size)
{
	unsigned shift = 64 - 8 * size;

	return (int64_t)(value << shift) >> shift;
}

static const char *floating(struct arena *a, uint64_t value, unsigned size)
{
	float narrow;
	double wide;

	if (size == 4) {
		memcpy(&narrow, &value, sizeof(narrow));
		return arena_printf(a, "%.9g", (double)narrow);
	}
	memcpy(&wide, &value, sizeof(wide));
	return arena_printf(a, "%.17g", wide);
}

static const char *character(struct arena *a, uint64_t value, unsigned size)
{
	int64_t number = sign_extended(value, size);

	if (value >= 0x20 && value < 0x7f)
		return arena_printf(a, "%" PRId64 " '%s%c'", number,
		                    value == '\'' || value == '\\' ? "\\" : "", (char)value);
	return arena_printf(a, "%" PRId64, number);
}

static void write_unit(struct memory_dump_reading *r, uint64_t value, struct memory_unit *u)
{
	unsigned size = r->format->size;
	struct arena *a = r->a;

	switch (r->format->letter) {
	case 'd':
		u->text = arena_printf(a, "%" PRId64, sign_extended(value, size));
		break;
	case 'u':
		u->text = arena_printf(a, "%" PRIu64, value);
		break;
	case 'o':
		u->text = arena_printf(a, "0%" PRIo64, value);
		break;
	case 't':
		u->text = binary(a, value, size);
		break;
	case 'c':
		u->text = character(a, value, size);
		break;
	case 'f':
		u->text = floating(a, value, size);
		break;
	case 'a':
		u->text = arena_printf(a, "0x%" PRIx64, value);
		u->symbol = disassembly_symbol(r->di, value, a);
		break;
	default:
		u->text = arena_printf(a, "0x%0*" PRIx64, (int)(2 * size), value);
	}
}

static struct error *read_number(struct memory_dump_reading *r, bool *found)
{
	unsigned char bytes[8] = { 0 };
	uint64_t value = 0;
	size_t got;

	TRY(memory_dump_read_bytes(r, bytes, r->format->size, &got));
	*found = got == r->format->size;
	if (!*found)
		return NULL;
	for (unsigned i = r->format->size; i-- > 0;)
		value = value << 8 | bytes[i];
	struct memory_unit *u = vec_push(&r->units);
	u->addr = r->at;
	write_unit(r, value, u);
	r->at += r->format->size;
	return NULL;
}

static struct error *read_string(struct memory_dump_reading *r, bool *found)
{
	char bytes[MEMORY_MAX_TEXT];
	size_t got;
	STR(clean);

	TRY(memory_dump_read_bytes(r, bytes, sizeof(bytes), &got));
	*found = got > 0;
	if (!got)
		return NULL;
	size_t len = strnlen(bytes, got);
	str_append_clean(&clean, bytes, len);
	*vec_push(&r->units) = (struct memory_unit){
		.addr = r->at,
		.text = arena_printf(r->a, "\"%s\"%s", str_text(&clean), len < got ? "" : "..."),
	};
	r->at += len + (len < got);
	return NULL;
}

static struct error *read_instruction(struct memory_dump_reading *r, bool *found)
{
	uint8_t bytes[INSTRUCTION_BYTES];
	struct instruction in;
	size_t got;

	TRY(memory_dump_read_bytes(r, bytes, sizeof(bytes), &got));
	*found = got > 0;
	if (!got)
		return NULL;
	instruction_read(r->instructions, r->at, bytes, got, &in);
	*vec_push(&r->units) = (struct memory_unit){
		.addr = r->at,
		.text = arena_strdup(r->a, in.text),
		.symbol = in.has_target ? disassembly_symbol(r->di, in.target, r->a) : NULL,
	};
	r->at += in.size;
	return NULL;
}

static struct error *memory_dump_read_units(struct memory_dump_reading *r, bool *found)
{
	*found = true;
	while (r->units.n < r->format->count && *found) {
		if (r->format->letter == 's')
			TRY(read_string(r, found));
		else if (r->format->letter == 'i')
			TRY(read_instruction(r, found));
		else
			TRY(read_number(r, found));
		TRY(interrupt_check());
	}
	return NULL;
}

struct error *memory_dump_read(struct debuginfo *di, uint64_t addr,
                               const struct memory_format *format, struct arena *a,
                               struct memory_dump *ret)
{
	struct instruction_reader *instructions CLEANUP(instruction_reader_close) = NULL;
	struct memory_dump_reading r = { .di = di, .format = format, .a = a, .at = addr };
	bool found;

	if (format->letter == 'i')
		TRY(instruction_reader_open(di->target->arch->elf_machine, SYNTAX_ATT,
		                            &instructions));
	r.instructions = instructions;
	struct error *err = memory_dump_read_units(&r, &found);
	*ret = (struct memory_dump){ .n = r.units.n, .end = r.at };
	ret->units = vec_to_arena(&r.units, a);
	if (!err && !ret->n)
		return error_fault(addr);
	if (!found)
		ret->problem = arena_printf(a, "0x%" PRIx64 " is not readable", ret->end);
	return err;
}
