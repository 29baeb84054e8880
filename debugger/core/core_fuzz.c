/* Fuzzes the parser of core files: headers, notes, segments, and reads of memory. */
#include "debugger/target/module.h"
#include "debugger/target/target.h"
#include "debugger/test/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct target_options options = { 0 };
	char path[FUZZ_PATH], buf[64];
	int fd = fuzz_file(data, size, path);
	struct target *t = NULL;
	struct error *err = target_core_open(path, &options, &t);
	size_t got;

	if (err) {
		error_free(err);
		close(fd);
		return 0;
	}
	fuzz_check_line(t->command);
	for (size_t i = 0; i < t->nnotes; i++)
		fuzz_check_line(t->notes[i]);
	for (size_t i = 0; i < t->nthreads; i++) {
		uint64_t pc = t->threads[i].regs.r[t->arch->pc];

		module_at(t, pc);
		error_free(target_read_some(t, pc, buf, sizeof(buf), &got));
	}
	for (uint64_t addr = 0x10000; addr <= 0x30000; addr += 0x10000)
		error_free(target_read_some(t, addr, buf, sizeof(buf), &got));
	target_close(t);
	close(fd);
	return 0;
}
