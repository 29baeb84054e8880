/* A profile as folded stacks: the form that flame graphs are drawn from. */
#include <inttypes.h>
#include <string.h>

#include "commands/profile/profile_view.h"
#include "debugger/base/str.h"

enum { NS = 1000 /* nanoseconds in the unit of a line */ };

/* Appends a frame; the form has no other use of ';', and none of a line's end. */
static void append_frame(struct str *s, const char *name)
{
	size_t from = s->len;

	str_append(s, name);
	for (size_t i = from; i < s->len; i++) {
		if (s->data[i] == ';')
			s->data[i] = ',';
	}
	str_append(s, ";");
}

static void append_stack(struct str *s, const struct profile_view *v,
                         const struct profile_node *node)
{
	SCRATCH(tmp);

	if (node->parent)
		append_stack(s, v, node->parent);
	append_frame(s, profile_view_name(&tmp, v, node));
}

void profile_folded_write(FILE *f, const struct profile_view *v)
{
	STR(stack);

	for (const struct profile_node *node = NULL; (node = profile_view_next(v, node));) {
		str_truncate(&stack, 0);
		append_stack(&stack, v, node);
		for (size_t i = 0; i < PROFILE_NSTATES; i++) {
			uint64_t time = (node->self.ns[i] + NS / 2) / NS;

			if (time)
				fprintf(f, "%s[%s] %" PRIu64 "\n", str_text(&stack),
				        profile_state_name(i), time);
		}
	}
}
