/* Prints what an answer did not find, and which places no verdict, finding or search for owners
 * covers. */
#include "commands/out/out_text.h"
#include "runtimes/analysis/unsearched.h"

enum { FEW = 4 };

void text_unsearched(struct text *t)
{
	const struct answer *answer = &t->out.answer;
	enum names names = t->out.options.full_names ? NAMES_FULL
	                   : answer->verbose         ? NAMES_SHORT
	                                             : NAMES_FOLDED;
	SCRATCH(tmp);
	size_t n;
	const char *const *lines = unsearched_lines(&tmp, answer->snapshot, names, &n);

	for (size_t i = 0; i < n; i++) {
		str_append(&t->line, "not searched: ");
		if (i == FEW && n > FEW + 1 && names == NAMES_FOLDED) {
			str_printf(&t->line, "%zu more kinds of places (--json has all)", n - i);
			text_end_line(t);
			return;
		}
		text_clean(t, lines[i]);
		text_end_line(t);
	}
}

void text_nothing_found(struct text *t, const char *what)
{
	const struct snapshot *s = t->out.answer.snapshot;

	str_append(&t->line, what);
	if (s->nruntimes == 0 && !s->complete)
		str_append(&t->line, ", but no runtime either: see notes");
	text_end_line(t);
}
