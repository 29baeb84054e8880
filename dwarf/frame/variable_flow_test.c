/* Facts about variables at lines of unset.rs and slots.rs, whose code is in the memory, too. */
#include "dwarf/frame/variable_flow.h"

#include <string.h>

#include "dwarf/frame/variables.h"
#include "dwarf/test/module.h"

enum {
	STACK = 0x70000000,
	STACK_SIZE = 0x1000,
	SP = STACK + STACK_SIZE / 2,
	OBJECT = 0x60000000,
	MAX_FILE = 1 << 20,
};

static FILE *open_in_tree(struct arena *a, const char *path)
{
	FILE *file = fopen(arena_printf(a, "%s/%s", getenv("SOURCE_DIR"), path), "re");

	assert_non_null(file);
	return file;
}

struct program {
	const char *name;
	struct fixture f;
	struct arena arena;
	unsigned char stack[STACK_SIZE], object[256];
};

/* Relocates like a dynamic linker: calls of other functions go through .got. */
static void relocate(unsigned char *file)
{
	const Elf64_Ehdr *header = (const void *)file;
	const Elf64_Shdr *sections = (const void *)(file + header->e_shoff);
	const char *names = (const char *)file + sections[header->e_shstrndx].sh_offset;

	for (size_t i = 0; i < header->e_shnum; i++) {
		uint64_t *entries = (void *)(file + sections[i].sh_offset);

		if (strcmp(names + sections[i].sh_name, ".got") != 0)
			continue;
		for (size_t j = 0; j < sections[i].sh_size / sizeof(*entries); j++)
			entries[j] += BIAS;
	}
}

/* Maps the segments of the file where they would be loaded. */
static void program_open_named(struct program *p, const char *name)
{
	SCRATCH(a);
	const char *path = arena_printf(&a, "testdata/unit/%s.elf", name);
	unsigned char *file;
	size_t size;

	*p = (struct program){ .name = name, .f = fixture_open_file(path) };
	file = arena_alloc(&p->arena, MAX_FILE);
	FILE *in = open_in_tree(&p->arena, path);
	size = fread(file, 1, MAX_FILE, in);
	fclose(in);
	const Elf64_Ehdr *header = (const void *)file;
	const Elf64_Phdr *segments = (const void *)(file + header->e_phoff);

	assert_in_range(size, sizeof(*header), MAX_FILE - 1);
	relocate(file);
	for (size_t i = 0; i < header->e_phnum; i++) {
		if (segments[i].p_type == PT_LOAD && segments[i].p_filesz)
			target_fake_map(p->f.target, segments[i].p_vaddr + BIAS,
			                file + segments[i].p_offset, segments[i].p_filesz);
	}
	target_fake_map(p->f.target, STACK, p->stack, sizeof(p->stack));
	target_fake_map(p->f.target, OBJECT, p->object, sizeof(p->object));
	for (size_t at = 0; at < STACK_SIZE; at += sizeof(uint64_t)) {
		const uint64_t object = OBJECT;

		memcpy(p->stack + at, &object, sizeof(object));
	}
	target_fake_poke(p->f.target, STACK, p->stack, sizeof(p->stack));
}

static void program_open(struct program *p)
{
	program_open_named(p, "unset");
}

static void program_close(struct program *p)
{
	fixture_close(&p->f);
	arena_free(&p->arena);
}

/* The number of the line that ends in a comment. */
static unsigned line_with(const struct program *p, const char *comment)
{
	SCRATCH(a);
	char *text = NULL;
	size_t size = 0;
	unsigned line = 0, ret = 0;
	FILE *in = open_in_tree(&a, arena_printf(&a, "testdata/unit/%s.rs", p->name));

	while (getline(&text, &size, in) > 0) {
		const char *found = strstr(text, "// ");

		line++;
		if (found && strcspn(found + 3, "\n") == strlen(comment) &&
		    strncmp(found + 3, comment, strlen(comment)) == 0)
			ret = line;
	}
	free(text);
	fclose(in);
	assert_int_not_equal(ret, 0);
	return ret;
}

/* The first address of the line in any function. */
static uint64_t address_of(struct program *p, unsigned line)
{
	size_t n;
	const struct scope *scopes = read_scopes(&p->f, &n);

	for (size_t i = 0; i < n; i++) {
		const struct function *f =
			scopes[i].tag == DW_TAG_subprogram && scopes[i].has_address
				? lookup_function(p->f.di, scopes[i].low + BIAS)
				: NULL;

		for (uint64_t pc = f ? f->low : 0; f && pc < f->high; pc++) {
			SCRATCH(a);
			size_t nlines;
			const struct location *l = lookup_locations(p->f.di, pc, &a, &nlines);

			if (l->line == line && l->file && strstr(l->file, p->name))
				return pc;
		}
	}
	fail_msg("no code of line %u", line);
	return 0;
}

struct query {
	const char *name;
	struct variable_state state;
	bool found;
};

static void take(const struct variable *v, void *arg)
{
	struct query *query = arg;

	if (!v->name || strcmp(v->name, query->name) != 0)
		return;
	query->found = true;
	query->state = v->state;
}

static struct query ask_any(struct program *p, uint64_t pc, const char *name)
{
	uint64_t registers[17];
	struct frame frame = { .pc = pc,
		               .lookup_pc = pc,
		               .sp = SP,
		               .has_sp = true,
		               .regs = registers,
		               .known_regs = (1 << 17) - 1 };
	struct query query = { .name = name };

	for (size_t i = 0; i < 17; i++)
		registers[i] = SP;
	/* First from the code, then from records. */
	variables_in_frame(p->f.di, &frame, 0, take, &query);
	const struct variable_state first = query.state;
	variables_in_frame(p->f.di, &frame, 0, take, &query);
	assert_memory_equal(&first, &query.state, sizeof(first));
	if (!query.found)
		fail_msg("%s is not there at %#" PRIx64, name, pc);
	return query;
}

static struct variable_state ask_at(struct program *p, uint64_t pc, const char *name)
{
	const struct query query = ask_any(p, pc, name);

	if (!query.state.known)
		fail_msg("%s is not known at %#" PRIx64, name, pc);
	return query.state;
}

static struct variable_state ask(struct program *p, const char *comment, const char *name)
{
	return ask_at(p, address_of(p, line_with(p, comment)), name);
}

static void begin_at(struct program *p, const char *fn, const char *state)
{
	const struct type *t =
		must_find(&p->f, arena_printf(&p->arena, "unset::%s::{async_fn_env#0}", fn));
	const struct variant *v = type_variant(t, state);

	assert_non_null(v);
	const unsigned char discr = (unsigned char)v->discr;
	target_fake_poke(p->f.target, OBJECT + type_discr(t)->offset, &discr, 1);
}

static void test_late(void **state)
{
	struct program p;

	(void)state;
	program_open(&p);
	assert_true(ask(&p, "late: before", "value").never);
	assert_false(ask(&p, "late: in a branch", "value").unset);
	assert_false(ask(&p, "late: behind", "value").unset);
	assert_true(ask(&p, "late: behind", "value").used);
	program_close(&p);
}

static void test_large_frame(void **state)
{
	struct program p;

	(void)state;
	program_open(&p);
	assert_true(ask(&p, "large: before", "value").never);
	assert_false(ask(&p, "large: behind", "value").unset);
	assert_false(ask(&p, "large: before", "pages").unset);
	program_close(&p);
}

static void test_prologue(void **state)
{
	struct program p;

	(void)state;
	program_open(&p);
	const struct function *f =
		lookup_function(p.f.di, address_of(&p, line_with(&p, "late: before")));
	assert_true(ask_at(&p, f->low, "number").never);
	assert_false(ask(&p, "late: before", "number").unset);
	program_close(&p);
}

/* The address of what lies in front of the variable is not its own. */
static void test_beside(void **state)
{
	struct program p;

	(void)state;
	program_open(&p);
	assert_true(ask(&p, "beside: before", "table").unset);
	assert_false(ask(&p, "beside: behind", "table").unset);
	program_close(&p);
}

static void test_chain(void **state)
{
	struct program p;

	(void)state;
	program_open(&p);
	assert_true(ask(&p, "chain: before", "x").later);
	assert_false(ask(&p, "chain: inside", "x").unset);
	assert_false(ask(&p, "chain: inside", "x").later);
	assert_true(ask(&p, "chain: behind", "x").unset);
	assert_false(ask(&p, "chain: behind", "x").never);
	assert_true(ask(&p, "chain: behind", "y").later);
	program_close(&p);
}

static void test_moves(void **state)
{
	struct program p;

	(void)state;
	program_open(&p);
	assert_true(ask(&p, "owned: before", "guard").used);
	assert_false(ask(&p, "owned: behind", "guard").used);
	/* The value is moved on one way only: the drop flag tells which one was taken. */
	assert_true(ask(&p, "guarded: before", "guard").used);
	assert_false(ask(&p, "guarded: behind", "guard").used);
	program_close(&p);
}

static void test_drop_flag(void **state)
{
	struct program p;

	(void)state;
	program_open(&p);
	for (unsigned char flag = 0; flag < 2; flag++) {
		memset(p.stack, flag, sizeof(p.stack));
		target_fake_poke(p.f.target, STACK, p.stack, sizeof(p.stack));
		const struct variable_state s = ask(&p, "guarded: behind", "guard");

		assert_int_equal(s.kept, flag == 1);
		assert_int_equal(s.gone, flag == 0);
	}
	program_close(&p);
}

static void test_held(void **state)
{
	struct program p;

	(void)state;
	program_open(&p);
	begin_at(&p, "held", "Suspend0");
	assert_true(ask(&p, "held: before", "value").unset);
	assert_false(ask(&p, "held: behind", "value").unset);
	begin_at(&p, "held", "Suspend1");
	assert_false(ask(&p, "held: resumed", "value").unset);
	program_close(&p);
}

static void test_moved_in_coroutine(void **state)
{
	struct program p;

	(void)state;
	program_open(&p);
	begin_at(&p, "moved", "Suspend0");
	assert_false(ask(&p, "moved: before", "ticket").unset);
	assert_true(ask(&p, "moved: before", "ticket").used);
	assert_false(ask(&p, "moved: between", "ticket").used);
	assert_false(ask(&p, "moved: between", "other").unset);
	begin_at(&p, "moved", "Suspend1");
	assert_true(ask(&p, "moved: behind", "ticket").unset);
	assert_false(ask(&p, "moved: behind", "other").unset);
	assert_true(ask(&p, "moved: behind", "other").used);
	program_close(&p);
}

/* Copy propagation has made one variable of two: nothing shows the move. */
static void test_copied(void **state)
{
	struct program p;

	(void)state;
	program_open(&p);
	assert_true(ask(&p, "copied: before", "first").unset);
	assert_false(ask(&p, "copied: before", "second").unset);
	assert_true(ask(&p, "copied: behind", "first").unset);
	assert_true(ask(&p, "copied: inner", "fourth").unset);
	assert_false(ask(&p, "copied: inner", "third").unset);
	program_close(&p);
}

/* ---- optimised code ---- */

enum uncertainty { SURE, UNSET = 1, STALE = 2 };

static enum uncertainty doubt_at(struct program *p, uint64_t pc, const char *name)
{
	const struct query query = ask_any(p, pc, name);

	assert_false(query.state.known);
	return (query.state.unset ? UNSET : 0) | (query.state.stale ? STALE : 0);
}

static enum uncertainty doubt(struct program *p, const char *comment, const char *name)
{
	return doubt_at(p, address_of(p, line_with(p, comment)), name);
}

static void test_slot_late(void **state)
{
	struct program p;

	(void)state;
	program_open_named(&p, "slots");
	assert_int_equal(doubt(&p, "late: before", "value"), UNSET | STALE);
	assert_int_equal(doubt(&p, "late: in a branch", "value"), UNSET | STALE);
	assert_int_equal(doubt(&p, "late: set", "value"), SURE);
	assert_int_equal(doubt(&p, "late: behind", "value"), SURE);
	assert_int_equal(doubt(&p, "chosen: before", "outcome"), UNSET | STALE);
	assert_int_equal(doubt(&p, "chosen: behind", "outcome"), SURE);
	assert_int_equal(doubt(&p, "returned: before", "table") & UNSET, UNSET);
	assert_int_equal(doubt(&p, "spent: before", "first"), SURE);
	assert_int_equal(doubt(&p, "spent: behind", "first"), SURE);
	program_close(&p);
}

/* The address of a table of jumps is in a register that keeps it over the rounds of a loop. */
static void test_slot_dispatched(void **state)
{
	struct program p;

	(void)state;
	program_open_named(&p, "slots");
	assert_int_equal(doubt(&p, "dispatched: before", "outcome"), UNSET | STALE);
	assert_int_equal(doubt(&p, "dispatched: behind", "outcome"), SURE);
	program_close(&p);
}

/* The block of the closure that has the variable begins where that of its code does. */
static void test_slot_captured(void **state)
{
	struct program p;

	(void)state;
	program_open_named(&p, "slots");
	assert_int_equal(doubt(&p, "captured: inside", "first"), SURE);
	assert_int_equal(doubt(&p, "captured_alone: inside", "total"), SURE);
	program_close(&p);
}

/*
 * The second capture of a closure: in memory after the first capture, in a register in the loop.
 */
static void test_slot_captured_second(void **state)
{
	struct program p;

	(void)state;
	program_open_named(&p, "slots");
	unsigned line = line_with(&p, "captured_promoted: inside");
	const struct function *f =
		lookup_function(p.f.di, address_of(&p, line_with(&p, "captured_promoted: behind")));
	uint64_t pc = f->low;
	for (unsigned here = 0; here != line && pc < f->high; pc++) {
		SCRATCH(a);
		size_t n;

		here = lookup_locations(p.f.di, pc, &a, &n)->line;
	}
	assert_int_equal(doubt_at(&p, pc, "second"), STALE);
	program_close(&p);
}

/* The code does not show where one variable is moved to the other, nor which of both a store
 * changes. */
static void test_slot_merged(void **state)
{
	struct program p;

	(void)state;
	program_open_named(&p, "slots");
	assert_int_equal(doubt(&p, "merged: before", "second") & UNSET, UNSET);
	assert_int_equal(doubt(&p, "merged: behind", "second") & UNSET, UNSET);
	assert_int_equal(doubt(&p, "merged: behind", "first") & UNSET, UNSET);
	assert_int_equal(doubt(&p, "merged_by_index: behind", "earlier") & UNSET, UNSET);
	program_close(&p);
}

/* The bytes have another variable's value, or that of the round before. */
static void test_slot_shared(void **state)
{
	struct program p;

	(void)state;
	program_open_named(&p, "slots");
	assert_int_equal(doubt(&p, "shared: before", "value") & UNSET, UNSET);
	/* The code would be the same if `value` were set before, and moved to `other`. */
	assert_int_equal(doubt(&p, "shared: before", "other"), UNSET);
	assert_int_equal(doubt(&p, "within: behind", "inner"), SURE);
	assert_int_equal(doubt(&p, "repeated: behind", "each"), SURE);
	program_close(&p);
}

/* Each copy of a line in a loop that was unrolled. */
static void test_slot_unrolled(void **state)
{
	struct program p;
	size_t n = 0;

	(void)state;
	program_open_named(&p, "slots");
	unsigned line = line_with(&p, "repeated: before");
	uint64_t first = address_of(&p, line);
	const struct function *f = lookup_function(p.f.di, first);
	for (uint64_t pc = first; pc < f->high; pc++) {
		SCRATCH(a);
		size_t nlines;

		if (lookup_locations(p.f.di, pc, &a, &nlines)->line != line ||
		    (pc > first && lookup_locations(p.f.di, pc - 1, &a, &nlines)->line == line))
			continue;
		assert_int_not_equal(doubt_at(&p, pc, "each"), SURE);
		n++;
	}
	assert_int_equal(n, 2);
	program_close(&p);
}

static void test_slot_promoted(void **state)
{
	struct program p;

	(void)state;
	program_open_named(&p, "slots");
	assert_int_equal(doubt(&p, "promoted: lent", "sum"), SURE);
	assert_int_equal(doubt(&p, "promoted: in the loop", "sum"), STALE);
	assert_int_equal(doubt(&p, "promoted: behind", "sum"), SURE);
	program_close(&p);
}

/* The debug info has no place of `let value`, but what sets it sets `place` as well. */
static void test_slot_early(void **state)
{
	struct program p;

	(void)state;
	program_open_named(&p, "slots");
	assert_int_equal(doubt(&p, "early: before", "place") & UNSET, UNSET);
	assert_int_equal(doubt(&p, "early: behind", "place") & UNSET, UNSET);
	assert_int_equal(doubt(&p, "early_outer: before", "place") & UNSET, UNSET);
	assert_int_equal(doubt(&p, "early_outer: behind", "place") & UNSET, UNSET);
	assert_int_equal(doubt(&p, "make: inside", "place") & UNSET, UNSET);
	assert_int_equal(doubt(&p, "early_inlined: behind", "place"), SURE);
	assert_int_equal(doubt(&p, "plain: behind", "place"), SURE);
	assert_int_equal(doubt(&p, "plain: other", "place"), SURE);
	assert_int_equal(doubt(&p, "plain: other", "other"), SURE);
	program_close(&p);
}

/* LLVM leaves out the last store. The address that is stored is that of another variable. */
static void test_slot_forgotten(void **state)
{
	struct program p;

	(void)state;
	program_open_named(&p, "slots");
	assert_int_equal(doubt(&p, "forgotten: behind", "sums"), STALE);
	program_close(&p);
}

/* Two variables that have the same place: `first = second` may be behind the line. */
static void test_same_place(void **state)
{
	struct program p;

	(void)state;
	program_open_named(&p, "slots");
	assert_int_equal(doubt(&p, "copied: before", "first"), UNSET);
	assert_int_equal(doubt(&p, "copied: before", "second"), SURE);
	assert_int_equal(doubt(&p, "copied_outer: before", "first"), UNSET);
	assert_int_equal(doubt(&p, "copied_outer: before", "second"), SURE);
	assert_int_equal(doubt(&p, "copied_argument: before", "copy"), UNSET);
	assert_int_equal(doubt(&p, "copied_argument: before", "number"), SURE);
	assert_int_equal(doubt(&p, "single: behind", "value"), SURE);
	program_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_large_frame),
		cmocka_unit_test(test_prologue),
		cmocka_unit_test(test_beside),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_drop_flag),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_moved_in_coroutine),
		cmocka_unit_test(test_copied),
		cmocka_unit_test(test_slot_late),
		cmocka_unit_test(test_slot_shared),
		cmocka_unit_test(test_slot_unrolled),
		cmocka_unit_test(test_slot_promoted),
		cmocka_unit_test(test_slot_dispatched),
		cmocka_unit_test(test_slot_captured),
		cmocka_unit_test(test_slot_captured_second),
		cmocka_unit_test(test_slot_merged),
		cmocka_unit_test(test_slot_early),
		cmocka_unit_test(test_slot_forgotten),
		cmocka_unit_test(test_same_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
