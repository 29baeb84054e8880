/* info registers: those of the native frame in focus. */
#include <stdint.h>
#include <string.h>

#include "commands/ask/ask.h"
#include "commands/base/focus.h"
#include "commands/parts/parts.h"
#include "debugger/base/str.h"

/* Marks the registers that were named, or all. */
static struct error *registers_choose(const struct native_frame *values, const struct words *names,
                                      bool *shown)
{
	STR(known);

	for (size_t i = 0; i < values->nregisters; i++) {
		shown[i] = !names->n;
		str_printf(&known, "%s%s", i ? ", " : "", values->registers[i].name);
	}
	for (size_t k = 0; k < names->n; k++) {
		const char *name = names->word[k] + (names->word[k][0] == '$');
		bool found = false;

		for (size_t i = 0; i < values->nregisters; i++) {
			if (strcmp(values->registers[i].name, name) == 0)
				found = shown[i] = true;
		}
		if (!found)
			return error_new(ERR_USAGE, "no register \"%s\"; there are: %s", name,
			                 str_text(&known));
	}
	return NULL;
}

static struct error *run_registers(struct session *s, const struct answer *answer,
                                   const struct call *call, struct out *out)
{
	struct focus f;

	TRY(focus_native(s, 0, &f));
	bool *shown = NEW_ARRAY(&s->answer, bool, f.values->nregisters);
	TRY(registers_choose(f.values, &call->args, shown));
	out_begin(out, answer);
	part_registers(out, &f, shown);
	return NULL;
}

const struct command info_registers_command = {
	.name = "info registers",
	.args = "[REGISTER...]",
	.max_args = SIZE_MAX,
	.summary = "Show the registers of the selected native frame",
	.help = "    For a caller, the values that they will have when the call returns; those\n"
		"    that the call may have changed are unknown.",
	.offline = true,
	.repeats = true,
	.run = run_registers,
};
