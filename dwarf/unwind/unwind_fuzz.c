/*
 * Fuzzes tables that unwind stacks. An input begins with the sizes of .eh_frame and .eh_frame_hdr,
 * two bytes each; these follow, and .debug_frame is the rest.
 */
#include "debugger/test/fuzz.h"
#include "dwarf/test/module.h"
#include "dwarf/unwind/cfa_rule.h"
#include "dwarf/unwind/cfi_keeps.h"
#include "dwarf/unwind/function_table.h"
#include "dwarf/unwind/unwind.h"

enum { CODE = 0x1000, TABLES = 0x8000, HEADER = 0x20000, END = 0x40000, STACK = 0x70000000 };

static void check_function(uint64_t low, uint64_t high, void *arg)
{
	size_t *n = arg;

	if (low >= high)
		fuzz_fail("a function without code", "");
	++*n;
}

/* The first size bytes of the rest, which is moved behind them. */
static struct section take(struct section *rest, size_t size)
{
	struct section ret = { rest->data, size < rest->size ? size : rest->size };

	rest->data += ret.size;
	rest->size -= ret.size;
	return ret;
}

/* A stack whose words are addresses of code and of the stack itself. */
static void unwind(struct target *t, struct arena *a, uint64_t pc)
{
	static uint64_t words[128];
	struct unwinder *u;
	struct stack stack;

	for (size_t i = 0; i < 128; i++)
		words[i] = i % 2 ? BIAS + CODE + i * 0x11 : STACK + (i * 8 + 16) % sizeof(words);
	struct regs regs = arch_regs_new(t->arch, a);
	for (unsigned i = 0; i < t->arch->nregs; i++)
		regs.r[i] = STACK + i * 8;
	regs.r[t->arch->sp] = STACK;
	regs.r[t->arch->pc] = pc;
	const struct stack_copy copy = { regs.r, (const unsigned char *)words, sizeof(words) };
	struct error *err = unwinder_open(t, &u);
	if (!err) {
		unwind_copy(u, a, &copy, NULL, NULL, &stack);
		if (stack.nframes > STACK_MAX_FRAMES)
			fuzz_fail("too many frames", "");
	}
	error_free(err);
}

static void ask(struct fixture *f, uint64_t pc)
{
	struct target *t = f->target;
	struct cfa_rule rule;
	SCRATCH(a);

	cfa_rule_at(t, pc, &rule);
	if (cfi_keeps(t, pc, 0xffff) & ~UINT64_C(0xffff))
		fuzz_fail("registers that were not asked for", "");
	unwind(t, &a, pc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint16_t sizes[2];

	if (size < sizeof(sizes))
		return 0;
	memcpy(sizes, data, sizeof(sizes));
	struct section rest = { data + sizeof(sizes), size - sizeof(sizes) };
	struct hand_section sections[] = {
		{ ".eh_frame", take(&rest, sizes[0]), TABLES },
		{ ".eh_frame_hdr", take(&rest, sizes[1]), HEADER },
		{ ".debug_frame", rest, 0 },
	};
	struct fixture f = fixture_open(hand_file(sections, 3, CODE, END), CODE, END);
	Dwarf_Addr bias;
	size_t n = 0;

	function_table_each(dwfl_module_getelf(f.target->modules.main->dwfl, &bias), check_function,
	                    &n);
	if (n > sections[0].content.size / 8)
		fuzz_fail("more functions than entries", "");
	for (uint64_t pc = CODE; pc < TABLES; pc += 0x701)
		ask(&f, BIAS + pc);
	fixture_close(&f);
	return 0;
}
