/* The instruction reader of builds without capstone. */
#include "debugger/code/instruction.h"

struct error *instruction_reader_open(uint16_t machine, enum instruction_syntax syntax,
                                      struct instruction_reader **ret)
{
	(void)machine;
	(void)syntax;
	(void)ret;
	return error_new(ERR_UNSUPPORTED,
	                 "this build was made without capstone, which disassembles");
}

void instruction_read(struct instruction_reader *r, uint64_t addr, const uint8_t *bytes, size_t len,
                      struct instruction *ret)
{
	(void)r;
	(void)bytes;
	(void)len;
	*ret = (struct instruction){ .addr = addr, .size = 1, .bad = true };
}

void instruction_reader_close(struct instruction_reader **r)
{
	(void)r;
}
