/* readMemory, disassemble, modules */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commands/dap/context.h"
#include "commands/dap/source.h"
#include "commands/dap/values.h"
#include "debugger/base/str.h"
#include "debugger/target/module.h"
#include "dwarf/code/disassembly.h"

enum {
	MEMORY_MAX = 1 << 20, /* bytes of one answer */
	MEMORY_MAX_INSTRUCTIONS = 4096,
};

/* ---- readMemory ---- */

static const char *base64(struct arena *a, const uint8_t *bytes, size_t n)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text = arena_alloc(a, (n + 2) / 3 * 4 + 1), *p = text;

	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i;
		unsigned word = (unsigned)bytes[i] << 16 |
		                (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
		                (left > 2 ? bytes[i + 2] : 0);

		for (size_t j = 0; j < 4; j++)
			*p++ = j <= left ? letters[word >> (18 - 6 * j) & 63] : '=';
	}
	return text;
}

/* The address of a reference with its offset. */
static struct error *read_reference(const struct request *r, uint64_t *ret)
{
	const char *reference = dap_text(r, "memoryReference");

	TRY(words_address(reference ? reference : "", ret));
	*ret += (uint64_t)dap_number(r, "offset", 0);
	return NULL;
}

struct error *dap_read_memory(struct dap *d, struct request *r)
{
	struct target *t = asyncdbg_target(d->s->handle);
	int64_t count = dap_number(r, "count", 0);
	char address[32];
	uint64_t addr;
	size_t got = 0;

	if (!t)
		return error_new(ERR_STATE, "a saved snapshot has no memory");
	TRY(read_reference(r, &addr));
	if (count < 0)
		return error_new(ERR_USAGE, "count must be a number of bytes");
	size_t wanted = count > MEMORY_MAX ? MEMORY_MAX : (size_t)count;
	uint8_t *bytes = arena_alloc(r->a, wanted + 1);
	values_make_readable(d);
	if (wanted)
		TRY(target_read_some(t, addr, bytes, wanted, &got));
	snprintf(address, sizeof(address), "0x%" PRIx64, addr);
	json_put_text(r->w, "address", address);
	if (got < wanted)
		json_put_int(r->w, "unreadableBytes", (int64_t)(wanted - got));
	if (got)
		json_put_text(r->w, "data", base64(r->a, bytes, got));
	return NULL;
}

/* ---- disassemble ---- */

/* Writes an instruction; row NULL: there is none. */
static void memory_put_instruction(struct dap *d, struct request *r, uint64_t addr,
                                   const struct code_row *row)
{
	char text[3 * INSTRUCTION_BYTES + 1] = "";
	struct dap_source at = { 0 };

	json_open_object(r->w, NULL);
	json_put_text(r->w, "address", arena_printf(r->a, "0x%" PRIx64, addr));
	for (unsigned i = 0; row && i < row->insn.size && i < INSTRUCTION_BYTES; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%02x", i ? " " : "",
		         row->bytes[i]);
	if (row)
		json_put_text(r->w, "instructionBytes", text);
	json_put_text(r->w, "instruction",
	              !row          ? "??"
	              : row->symbol ? arena_printf(r->a, "%s <%s>", row->insn.text, row->symbol)
	                            : row->insn.text);
	if (row && row->file) {
		source_of_file(d, r->a, row->file, row->comp_dir, row->line, &at);
		source_put(d, r->w, "location", &at);
		json_put_int(r->w, "line", source_line(d, at.line));
	}
	if (!row)
		json_put_text(r->w, "presentationHint", "invalid");
	json_close_object(r->w);
}

/* The function that covers an address; where none does, what follows the address. */
static void memory_find_range(struct debuginfo *di, uint64_t addr, struct arena *a,
                              struct code_range *ret)
{
	enum { NO_FUNCTION_BYTES = 4096 };
	struct error *err = disassembly_function_at(di, addr, a, ret);

	if (err)
		*ret = (struct code_range){ .low = addr, .high = addr + NO_FUNCTION_BYTES };
	error_free(err);
}

/* Index of the instruction at an address, or of the next; n: there is none. */
static size_t find_instruction(const struct disassembly *code, uint64_t addr)
{
	size_t i = 0;

	while (i < code->nrows && code->rows[i].insn.addr < addr)
		i++;
	return i;
}

struct error *dap_disassemble(struct dap *d, struct request *r)
{
	const struct disassembly_options options = { .lines = true };
	struct debuginfo *di = asyncdbg_debuginfo(d->s->handle);
	int64_t count = dap_number(r, "instructionCount", 0);
	int64_t first = dap_number(r, "instructionOffset", 0);
	struct disassembly code = { 0 };
	struct code_range range;
	uint64_t addr;

	if (!di)
		return error_new(ERR_STATE, "a saved snapshot has no code");
	if (count < 0 || count > MEMORY_MAX_INSTRUCTIONS || first < INT32_MIN || first > INT32_MAX)
		return error_new(ERR_USAGE, "instructionCount must be at most %d",
		                 MEMORY_MAX_INSTRUCTIONS);
	TRY(read_reference(r, &addr));
	values_make_readable(d);
	memory_find_range(di, addr, r->a, &range);
	struct error *err = disassembly_read(di, &range, &options, r->a, &code);
	if (err && err->kind != ERR_FAULT)
		return err;
	error_free(err);
	int64_t at = (int64_t)find_instruction(&code, addr) + first;
	json_open_array(r->w, "instructions");
	for (int64_t i = at; i < at + count; i++) {
		bool there = i >= 0 && i < (int64_t)code.nrows;

		memory_put_instruction(
			d, r, there ? code.rows[i].insn.addr : addr + (uint64_t)(i - at + first),
			there ? &code.rows[i] : NULL);
	}
	json_close_array(r->w);
	return NULL;
}

/* ---- modules ---- */

static void put_module(struct dap *d, struct request *r, const struct module *m)
{
	struct inspector *in = asyncdbg_inspector(d->s->handle);
	const struct target_info *info = m->is_main ? inspector_info(in) : NULL;
	struct json_writer *w = r->w;
	bool full = info && info->tier == TIER_FULL;

	json_open_object(w, NULL);
	json_put_text(w, "id", arena_printf(r->a, "0x%" PRIx64, m->start));
	json_put_text(w, "name", m->is_vdso ? "[vdso]" : str_base_name(m->path));
	json_put_text(w, "path", m->file ? m->file : m->path);
	json_put_text(w, "addressRange",
	              arena_printf(r->a, "0x%" PRIx64 "-0x%" PRIx64, m->start, m->end));
	if (m->build_id_len)
		json_put_text(w, "version", build_id_text(r->a, m->build_id, m->build_id_len));
	if (info)
		json_put_text(w, "symbolStatus",
		              full                ? "Symbols loaded"
		              : info->tier_reason ? info->tier_reason
		                                  : "No symbols");
	json_close_object(w);
}

struct error *dap_modules(struct dap *d, struct request *r)
{
	const struct target *t = asyncdbg_target(d->s->handle);
	int64_t first = dap_number(r, "startModule", 0), count = dap_number(r, "moduleCount", 0);
	size_t n = t ? t->modules.n : 0;

	if (first < 0 || count < 0)
		return error_new(ERR_USAGE, "startModule and moduleCount must be at least 0");
	json_open_array(r->w, "modules");
	for (size_t i = (size_t)first; i < n; i++) {
		if (count && i - (size_t)first >= (size_t)count)
			break;
		put_module(d, r, t->modules.data[i]);
	}
	json_close_array(r->w);
	json_put_int(r->w, "totalModules", (int64_t)n);
	return NULL;
}
