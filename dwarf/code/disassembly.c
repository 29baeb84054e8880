#include "dwarf/code/disassembly.h"

#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "debugger/target/target.h"
#include "dwarf/lookup/code_places.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/module/symbols.h"
#include "dwarf/module/symtab.h"

typedef VEC(struct code_range) range_vec;

/* ---- functions ---- */

struct error *disassembly_function_at(struct debuginfo *di, uint64_t addr, struct arena *a,
                                      struct code_range *ret)
{
	const struct function *f = lookup_function(di, addr);
	struct symbol_place symbol;

	if (f && f->low < f->high && addr >= f->low && addr < f->high) {
		const char *name = f->name ? str_clean(a, f->name, strlen(f->name)) : NULL;

		*ret = (struct code_range){ f->low, f->high, name, f->low };
		return NULL;
	}
	if (symbol_at(di, addr, a, &symbol) && symbol.name) {
		uint64_t low = addr - symbol.offset;

		const char *name = str_clean(a, symbol.name, strlen(symbol.name));

		*ret = (struct code_range){ low, low + symbol.size, name, low };
		return NULL;
	}
	return error_new(ERR_STATE,
	                 "no function at 0x%" PRIx64 "; FROM,TO or FROM,+BYTES name a range", addr);
}

static void disassembly_add_range(range_vec *found, const struct code_range *range)
{
	for (size_t i = 0; i < found->n; i++) {
		if (found->data[i].low == range->low)
			return;
	}
	*vec_push(found) = *range;
}

/* Symbols of one name. */
struct symbol_search {
	struct dwarf_module *dm;
	const char *name;
	range_vec *found;
};

static void add_symbol(const char *name, uint64_t addr, uint64_t size, void *arg)
{
	struct symbol_search *s = arg;
	uint64_t low = addr + s->dm->module->bias;

	if (size && strcmp(name, s->name) == 0)
		disassembly_add_range(s->found,
		                      &(struct code_range){ low, low + size, s->name, low });
}

static int disassembly_by_address(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

static void find_places(struct debuginfo *di, const struct code_places *places, struct arena *a,
                        range_vec *found)
{
	for (size_t i = 0; i < places->n; i++) {
		struct code_range range;
		struct error *err =
			places->data[i].inlined
				? NULL
				: disassembly_function_at(di, places->data[i].addr, a, &range);

		if (!err && !places->data[i].inlined)
			disassembly_add_range(found, &range);
		error_free(err);
	}
}

static void find_symbols(struct debuginfo *di, const char *name, range_vec *found)
{
	for (size_t i = 0; i < di->nmodules; i++) {
		struct dwarf_module *dm = debuginfo_module(di, di->modules[i]->module);
		struct symbol_search s = { dm, name, found };

		if (dm)
			symtab_each_function(dm, add_symbol, &s);
	}
}

struct error *disassembly_function_named(struct debuginfo *di, const char *name,
                                         const struct code_places *places, struct arena *a,
                                         struct code_range **ret, size_t *nret)
{
	range_vec found = { 0 };

	find_places(di, places, a, &found);
	if (!found.n)
		find_symbols(di, name, &found);
	if (!found.n)
		return error_new(ERR_STATE,
		                 places->n
		                         ? "%s has no code of its own: it was inlined everywhere, "
		                           "first at 0x%" PRIx64
		                         : "no function named %s has code",
		                 name, places->n ? places->data[0].addr : 0);
	qsort(found.data, found.n, sizeof(*found.data), disassembly_by_address);
	*nret = found.n;
	*ret = vec_to_arena(&found, a);
	return NULL;
}

/* ---- code ---- */

const char *disassembly_symbol(struct debuginfo *di, uint64_t addr, struct arena *a)
{
	struct symbol_place symbol;
	const struct function *f;

	if (!symbol_at(di, addr, a, &symbol) || !symbol.name) {
		f = lookup_function(di, addr);
		if (!f || !f->name || addr < f->low || addr >= f->high)
			return NULL;
		symbol = (struct symbol_place){ .name = f->name, .offset = addr - f->low };
	}
	const char *name = str_clean(a, symbol.name, strlen(symbol.name));
	return symbol.offset ? arena_printf(a, "%s+%" PRIu64, name, symbol.offset) : name;
}

/* Calls of other crates and libraries go through pointers of the global offset table. */
static void set_names(struct debuginfo *di, struct code_row *row, struct arena *a)
{
	struct symbol_place symbol;
	uint64_t pointer = 0;
	size_t n;

	if (!row->insn.has_target)
		return;
	row->symbol = disassembly_symbol(di, row->insn.target, a);
	/* The memory of a file has no addresses of a run. */
	if (row->symbol || row->insn.is_branch || strcmp(di->target->ops->kind, "file") == 0)
		return;
	struct error *err =
		target_read_through(di->target, row->insn.target, &pointer, sizeof(pointer), &n);
	if (!err && n == sizeof(pointer) && symbol_at(di, pointer, a, &symbol) && symbol.name &&
	    !symbol.offset)
		row->pointee = str_clean(a, symbol.name, strlen(symbol.name));
	error_free(err);
}

static void disassembly_set_line(struct debuginfo *di, struct code_row *row)
{
	SCRATCH(tmp);
	size_t n;
	const struct location *l = lookup_locations(di, row->insn.addr, &tmp, &n);

	if (!l->file || !l->line)
		return;
	row->file = l->file;
	row->comp_dir = l->comp_dir;
	row->line = l->line;
}

/* The bytes of the range that are there, in arena a; *ret may be 0. */
static struct error *disassembly_read_code(struct debuginfo *di, const struct code_range *range,
                                           struct arena *a, uint8_t **bytes, size_t *ret)
{
	uint64_t size = range->high - range->low + INSTRUCTION_BYTES;

	/* The last instruction may lie across the end. */
	if (size > DISASSEMBLY_MAX_BYTES)
		size = DISASSEMBLY_MAX_BYTES;
	*bytes = arena_alloc(a, (size_t)size);
	return target_read_through(di->target, range->low, *bytes, (size_t)size, ret);
}

static struct error *disassembly_read_rows(struct debuginfo *di, struct instruction_reader *reader,
                                           const uint8_t *bytes, size_t size, bool lines,
                                           struct arena *a, struct disassembly *ret)
{
	VEC(struct code_row) rows = { 0 };
	struct error *err = NULL;
	uint64_t wanted = ret->range.high - ret->range.low;
	size_t at = 0;

	while (at < size && at < wanted && rows.n < DISASSEMBLY_MAX_ROWS && !err) {
		struct code_row *row = vec_push(&rows);

		instruction_read(reader, ret->range.low + at, bytes + at, size - at, &row->insn);
		memcpy(row->bytes, bytes + at, row->insn.size);
		set_names(di, row, a);
		if (lines)
			disassembly_set_line(di, row);
		at += row->insn.size;
		err = interrupt_check();
	}
	if (at < wanted)
		ret->problem = arena_printf(a, "the %" PRIu64 " bytes from 0x%" PRIx64 " on %s",
		                            wanted - at, ret->range.low + at,
		                            at < size || size == DISASSEMBLY_MAX_BYTES
		                                    ? "is too large to show"
		                                    : "cannot be read");
	ret->nrows = rows.n;
	ret->rows = vec_to_arena(&rows, a);
	return err;
}

struct error *disassembly_read(struct debuginfo *di, const struct code_range *range,
                               const struct disassembly_options *options, struct arena *a,
                               struct disassembly *ret)
{
	struct instruction_reader *reader CLEANUP(instruction_reader_close) = NULL;
	uint8_t *bytes;
	size_t size;

	*ret = (struct disassembly){ .range = *range };
	TRY(instruction_reader_open(di->target->arch->elf_machine, options->syntax, &reader));
	if (range->low >= range->high)
		return error_new(ERR_USAGE, "the range of addresses is empty");
	TRY(disassembly_read_code(di, range, a, &bytes, &size));
	if (!size)
		return error_fault(range->low);
	return disassembly_read_rows(di, reader, bytes, size, options->lines, a, ret);
}
