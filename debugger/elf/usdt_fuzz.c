/* Fuzzes the notes of static probes in an ELF file, and the operands of their arguments. */
#include "debugger/elf/usdt_notes.h"

#include <elf.h>

#include "debugger/elf/usdt_operand.h"
#include "debugger/test/fuzz.h"

static void check_operand(const struct usdt_operand *o, const char *text)
{
	if (o->kind == USDT_OPERAND_UNKNOWN)
		return;
	if ((o->size != 1 && o->size != 2 && o->size != 4 && o->size != 8) || o->base > 15 ||
	    o->index > 15 || (o->has_index && (o->scale == 0 || o->scale > 8)))
		fuzz_fail("a wrong operand", text);
}

static void check_probe(const struct usdt_probe *p)
{
	struct usdt_operand operands[USDT_MAX_OPERANDS];

	fuzz_check_line(p->provider);
	fuzz_check_line(p->name);
	fuzz_check_line(p->arguments);
	size_t n = usdt_operand_parse(EM_X86_64, p->arguments, operands);
	for (size_t i = 0; i < n && i < USDT_MAX_OPERANDS; i++)
		check_operand(&operands[i], p->arguments);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct usdt_notes notes;
	char path[FUZZ_PATH];
	int fd = fuzz_file(data, size, path);
	SCRATCH(a);

	struct error *err = usdt_notes_read(&a, fd, &notes);
	for (size_t i = 0; !err && i < notes.n; i++)
		check_probe(&notes.probes[i]);
	error_free(err);
	close(fd);
	return 0;
}
