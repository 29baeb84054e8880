/* x: memory, in units. */
#include <inttypes.h>
#include <string.h>

#include "commands/ask/ask.h"
#include "commands/base/examine.h"
#include "commands/base/focus.h"
#include "commands/parts/parts.h"
#include "debugger/base/str.h"
#include "dwarf/code/disassembly.h"
#include "dwarf/code/memory_dump.h"

static const struct memory_format first_format = { .count = 1, .letter = 'x', .size = 4 };

/* The expression, which may have blanks; "" where there is none. */
static const char *expression_of(const struct call *call, size_t from, struct arena *a)
{
	STR(text);

	for (size_t i = from; i < call->args.n; i++)
		str_printf(&text, "%s%s", i > from ? " " : "", call->args.word[i]);
	return arena_strdup(a, str_text(&text));
}

static struct error *read_call(const struct session *s, const struct call *call, struct arena *a,
                               struct memory_format *format, const char **expression)
{
	bool has_format = call->args.n && call->args.word[0][0] == '/';

	*format = s && s->examined.format.letter ? s->examined.format : first_format;
	format->count = 1;
	if (has_format)
		TRY(memory_format_read(call->args.word[0] + 1, format));
	*expression = expression_of(call, has_format, a);
	return NULL;
}

static struct error *check_x(const struct call *call)
{
	struct memory_format format;
	const char *expression;
	SCRATCH(tmp);

	return read_call(NULL, call, &tmp, &format, &expression);
}

/* ---- where ---- */

/* Reads "+16" behind a register. */
static struct error *read_offset(const char *text, const char *whole, uint64_t *addr)
{
	uint64_t offset;

	while (*text == ' ')
		text++;
	if (!*text)
		return NULL;
	bool minus = *text == '-';
	if (!minus && *text != '+')
		return error_new(ERR_USAGE,
		                 "\"%s\" is not a register with an offset, such as $sp+8", whole);
	text++;
	TRY(words_address(text + strspn(text, " "), &offset));
	*addr += minus ? 0 - offset : offset;
	return NULL;
}

static bool examine_is_name(const char *name, size_t len, const char *text)
{
	return strlen(name) == len && memcmp(name, text, len) == 0;
}

/* "$sp+8", "$rip": of the native frame in focus. */
static struct error *find_register(struct session *s, const char *text, uint64_t *ret)
{
	const struct arch *arch = asyncdbg_target(s->handle)->arch;
	const char *name = text + 1;
	size_t len = strcspn(name, "+- ");
	struct focus f;

	TRY(focus_native(s, 0, &f));
	for (size_t i = 0; i < f.values->nregisters; i++) {
		const struct native_register *r = &f.values->registers[i];

		if (!examine_is_name(r->name, len, name) &&
		    !(i == arch->pc && examine_is_name("pc", len, name)) &&
		    !(i == arch->sp && examine_is_name("sp", len, name)) &&
		    !(i == arch->fp && examine_is_name("fp", len, name)))
			continue;
		if (!r->known)
			return error_new(ERR_STATE, "the register %s is not known in this frame",
			                 r->name);
		*ret = r->value;
		return read_offset(name + len, text, ret);
	}
	return error_new(ERR_USAGE, "no register \"%.*s\"; \"info registers\" lists them", (int)len,
	                 name);
}

/* The address of the value that `print` would show. */
static struct error *find_expression(struct session *s, const char *text, uint64_t *ret)
{
	const char *expression = text + (*text == '&');
	const struct call call = { .command = &print_command,
		                   .args = { (const char *[]){ expression }, 1 } };
	struct question question = { 0 };
	const struct snapshot *snap;

	print_command.ask(s, &call, &question);
	TRY(session_snapshot(s, print_command.wants, &question, &snap));
	const struct local *printed = snap->printed;
	if (!printed || (!printed->value && !printed->addr))
		return error_new(ERR_STATE, "%s: %s", expression,
		                 printed && printed->problem ? printed->problem
		                                             : "not found in this frame");
	if (!printed->addr)
		return error_new(ERR_STATE,
		                 "%s is not in memory: it is in a register, or has no place",
		                 expression);
	*ret = printed->addr;
	return NULL;
}

static struct error *find_address(struct session *s, const char *text, uint64_t *ret)
{
	if (!*text && s->examined.has_next) {
		*ret = s->examined.next;
		return NULL;
	}
	if (!*text)
		return error_new(ERR_USAGE, "x needs an address, for example x/8xb $sp");
	if (*text == '$')
		return find_register(s, text, ret);
	if (*text >= '0' && *text <= '9' && !strchr(text, ' '))
		return words_address(text, ret);
	return find_expression(s, text, ret);
}

static struct error *run_x(struct session *s, const struct answer *answer, const struct call *call,
                           struct out *out)
{
	struct examine_shown *shown = NEW(&s->answer, struct examine_shown);
	struct memory_dump *dump = NEW(&s->answer, struct memory_dump);
	struct memory_format *format = NEW(&s->answer, struct memory_format);
	struct debuginfo *di = asyncdbg_debuginfo(s->handle);
	const char *expression;
	uint64_t addr;

	TRY(read_call(s, call, &s->answer, format, &expression));
	if (!di)
		return error_new(asyncdbg_kind(s->handle) == ASYNCDBG_SAVED ? ERR_STATE : ERR_USAGE,
		                 "there is no memory to read: name a process or a core");
	TRY(find_address(s, expression, &addr));
	TRY(memory_dump_read(di, addr, format, &s->answer, dump));
	s->examined = (struct examined){ *format, true, dump->end };
	*shown = (struct examine_shown){ dump, format, disassembly_symbol(di, addr, &s->answer) };
	out_begin(out, answer);
	part_memory(out, shown);
	return NULL;
}

const struct command x_command = {
	.name = "x",
	.args = "[/FORMAT] [ADDRESS]",
	.max_args = 16,
	.check = check_x,
	.summary = "Examine memory: x/8xb $sp, x/s 0x7f00, x/4i $pc",
	.help = "    FORMAT is a count, a letter of x d u o t c a i s f, and a unit size of b h\n"
		"    w g (1, 2, 4, 8 bytes), as in gdb. ADDRESS is a number, a register of the\n"
		"    selected native frame ($pc, $sp+16), or an expression of print, for its\n"
		"    address. Without it, continues after the memory shown last.",
	.offline = true,
	.of_program = true,
	.goes_on = true,
	.run = run_x,
};
