/* disassemble: the machine code of a function. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/ask/ask.h"
#include "commands/base/code_listing.h"
#include "commands/base/focus.h"
#include "commands/parts/parts.h"
#include "debugger/base/str.h"
#include "dwarf/code/source_path.h"
#include "runtimes/query/function_named.h"

enum { NAMED = 4 };

/* Arguments of the command. */
struct disassemble_request {
	bool lines, bytes;
	const char *function;   /* NULL: an address, or nothing */
	bool has_addr, has_end; /* without an end: the function there */
	struct code_range range;
};

static struct error *read_flags(const char *word, struct disassemble_request *ret)
{
	for (const char *p = word + 1; *p; p++) {
		if (*p != 's' && *p != 'm' && *p != 'r')
			return error_new(ERR_USAGE,
			                 "unknown format \"%s\": /s shows source lines, /r bytes",
			                 word);
		ret->lines |= *p != 'r';
		ret->bytes |= *p == 'r';
	}
	return NULL;
}

/* Reads "FROM,TO" and "FROM,+BYTES" behind FROM. */
static struct error *read_end(const char *text, struct disassemble_request *ret)
{
	bool is_length = *text == '+';
	uint64_t number;

	TRY(words_address(text + is_length, &number));
	ret->has_end = true;
	ret->range.high = is_length ? ret->range.low + number : number;
	if (ret->range.high <= ret->range.low)
		return error_new(ERR_USAGE, "the range of addresses is empty");
	return NULL;
}

static struct error *disassemble_read_place(const char *word, struct disassemble_request *ret)
{
	const char *comma = strchr(word, ',');
	SCRATCH(tmp);

	if (*word == '*')
		word++;
	if (*word < '0' || *word > '9') {
		/* Generics have blanks between them. */
		if (!*word || (!strchr(word, '<') && strpbrk(word, " \t")))
			return error_new(ERR_USAGE, "\"%s\" is neither a function nor an address",
			                 word);
		ret->function = word;
		return NULL;
	}
	ret->has_addr = true;
	if (!comma)
		return words_address(word, &ret->range.low);
	TRY(words_address(arena_strndup(&tmp, word, (size_t)(comma - word)), &ret->range.low));
	return read_end(comma + 1, ret);
}

static struct error *read_request(const struct call *call, struct disassemble_request *ret)
{
	size_t i = 0;

	*ret = (struct disassemble_request){ 0 };
	for (; i < call->args.n && call->args.word[i][0] == '/'; i++)
		TRY(read_flags(call->args.word[i], ret));
	if (i < call->args.n)
		TRY(disassemble_read_place(call->args.word[i++], ret));
	if (i < call->args.n)
		return error_new(ERR_USAGE, "unexpected argument \"%s\"", call->args.word[i]);
	return NULL;
}

static struct error *check_disassemble(const struct call *call)
{
	struct disassemble_request request;

	return read_request(call, &request);
}

static struct error *disassemble_find_named(struct debuginfo *di, const char *name, struct arena *a,
                                            struct code_range *ret)
{
	struct code_places places;
	struct code_range *found;
	size_t n;
	STR(names);

	TRY(function_named_places(di, name, a, &places));
	TRY(disassembly_function_named(di, name, &places, a, &found, &n));
	*ret = found[0];
	if (n == 1)
		return NULL;
	for (size_t i = 0; i < n && i < NAMED; i++)
		str_printf(&names, "%s0x%" PRIx64 " %s", i ? ", " : "", found[i].low,
		           found[i].function ? found[i].function : "?");
	if (n > NAMED)
		str_printf(&names, " and %zu more", n - NAMED);
	return error_new(ERR_USAGE, "%s is the name of %zu functions; name one by its address: %s",
	                 name, n, str_text(&names));
}

/* The range to show, and the address of the frame in focus where it is known. */
static struct error *disassemble_find_range(struct session *s,
                                            const struct disassemble_request *request,
                                            struct arena *a, struct code_range *ret, uint64_t *pc)
{
	struct debuginfo *di = asyncdbg_debuginfo(s->handle);
	struct focus f;
	uint64_t lookup = 0;

	if (!di && asyncdbg_kind(s->handle) != ASYNCDBG_NONE)
		return error_new(ERR_STATE, "a saved snapshot has no machine code");
	if (!request->function && !request->has_addr) {
		TRY(focus_native(s, 0, &f));
		lookup = focus_lookup_pc(&f);
		*pc = f.native->pc;
	}
	if (!di)
		return error_new(ERR_USAGE, "disassemble needs a process, a core or an executable");
	*ret = request->range;
	if (request->has_end)
		return NULL;
	if (request->function)
		return disassemble_find_named(di, request->function, a, ret);
	return disassembly_function_at(di, request->has_addr ? ret->low : lookup, a, ret);
}

/* Adds the source lines of a row. */
static void disassemble_add_line(struct session *s, const struct code_row *row,
                                 const struct code_row *before, FILE *messages,
                                 struct code_listing_row *ret)
{
	struct arena *a = &s->answer;
	const struct source_line place = { .file = row->file,
		                           .comp_dir = row->comp_dir,
		                           .line = row->line };

	ret->new_line = row->file && (!before || !before->file || before->line != row->line ||
	                              strcmp(before->file, row->file) != 0);
	if (!row->file)
		return;
	const char *file =
		source_path_of(asyncdbg_debuginfo(s->handle), a, row->file, row->comp_dir).text;
	ret->file = str_clean(a, file, strlen(file));
	if (ret->new_line)
		ret->source = listing_line(s, &place, messages, a);
}

static struct error *run_disassemble(struct session *s, const struct answer *answer,
                                     const struct call *call, struct out *out)
{
	struct arena *a = &s->answer;
	struct code_listing *listing = NEW(a, struct code_listing);
	struct disassembly *code = NEW(a, struct disassembly);
	struct disassemble_request request;
	struct code_range range;
	uint64_t pc = 0;

	TRY(read_request(call, &request));
	TRY(disassemble_find_range(s, &request, a, &range, &pc));
	const struct disassembly_options options = { .syntax = option_has(call, "intel")
		                                                       ? SYNTAX_INTEL
		                                                       : SYNTAX_ATT,
		                                     .lines = request.lines };
	TRY(disassembly_read(asyncdbg_debuginfo(s->handle), &range, &options, a, code));
	*listing =
		(struct code_listing){ .code = code,
		                       .rows = NEW_ARRAY(a, struct code_listing_row, code->nrows),
		                       .bytes = request.bytes,
		                       .lines = request.lines };
	for (size_t i = 0; i < code->nrows; i++) {
		const struct code_row *row = &code->rows[i];

		listing->rows[i].row = row;
		listing->rows[i].current = pc && row->insn.addr == pc;
		if (request.lines)
			disassemble_add_line(s, row, i ? row - 1 : NULL, out->options.messages,
			                     &listing->rows[i]);
	}
	out_begin(out, answer);
	part_disassembly(out, listing);
	if (code->problem)
		s->finding = STATUS_PARTIAL;
	return NULL;
}

static const struct command_option disassemble_options[] = {
	{ "intel", NULL, false, "Use Intel syntax, with the destination first" },
	{ 0 },
};

const struct command disassemble_command = {
	.name = "disassemble",
	.args = "[/s] [/r] [FUNCTION | ADDR | FROM,TO | FROM,+BYTES]",
	.max_args = 3,
	.options = disassemble_options,
	.check = check_disassemble,
	.summary = "Disassemble the selected function, or another one",
	.help = "    => marks the instruction of the selected frame. /s adds source lines, /r\n"
		"    the bytes of each instruction. ADDR means the function that contains it.\n"
		"    The generics of a FUNCTION select one instance; quote a name with blanks.\n"
		"    Breakpoints are not shown: the code is the program's own.",
	.offline = true,
	.of_program = true,
	.run = run_disassemble,
};
