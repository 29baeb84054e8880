#include "commands/profile/profile_view.h"

#include <inttypes.h>

#include "debugger/base/str.h"
#include "dwarf/names/demangle.h"

static const char *profile_view_clean(struct arena *a, const char *text)
{
	return str_clean(a, text, strlen(text));
}

static const char *type_name(struct arena *a, const struct profile_view *v, const char *type)
{
	if (!type)
		return "unknown type";
	return v->options->full_names ? profile_view_clean(a, type) : name_short(a, type);
}

const char *profile_view_function(struct arena *a, const struct profile_view *v,
                                  const struct profile_node *node)
{
	if (node->kind == PROFILE_TYPE) {
		bool blocking = v->tree->types[node->type].job == TRACE_BLOCKING;

		return arena_printf(a, "%s%s", type_name(a, v, node->name),
		                    blocking ? " [blocking]" : "");
	}
	if (node->kind == PROFILE_CUT)
		return "(more frames, not read)";
	if (node->kind == PROFILE_UNPLACED)
		return "(place unknown)";
	if (node->kind == PROFILE_LEAF)
		return type_name(a, v, node->name);
	return profile_view_clean(a, node->name ? node->name : "unknown function");
}

const char *profile_view_name(struct arena *a, const struct profile_view *v,
                              const struct profile_node *node)
{
	const char *name = profile_view_function(a, v, node);

	if (!node->file || !node->line)
		return name;
	return arena_printf(a, "%s at %s:%u", name, profile_view_clean(a, node->file), node->line);
}

bool profile_view_has(const struct profile_view *v, enum profile_state state)
{
	if (state == PROFILE_OFF)
		return !v->no_off;
	return state != PROFILE_UNKNOWN || v->tree->total.ns[state];
}

/* "1 task", "2 tasks" */
static const char *profile_view_counted(struct arena *a, uint64_t n, const char *noun)
{
	return arena_printf(a, "%" PRIu64 " %s%s", n, noun, n == 1 ? "" : "s");
}

/* A note about CPU samples in polls; NULL: it does not apply. */
static const char *cpu_note(struct arena *a, const struct profile_view *v, enum profile_note note)
{
	if (note == PROFILE_NOTE_NO_CPU && v->no_cpu)
		return arena_printf(a, "%s: %s",
		                    v->cpu.samples ? "not all that runs in polls is seen"
		                                   : "what runs in polls is not seen",
		                    v->no_cpu);
	if (note == PROFILE_NOTE_CPU && v->cpu.samples)
		return arena_printf(a,
		                    "what runs in polls is an estimate from %s, of %" PRIu64
		                    " at %u a second",
		                    profile_view_counted(a, v->cpu.in_polls, "sample"),
		                    v->cpu.samples, v->cpu_hz);
	if (note == PROFILE_NOTE_CPU_LOST && v->cpu.lost)
		return arena_printf(a, "%s lost: they came faster than they could be read",
		                    profile_view_counted(a, v->cpu.lost, "sample"));
	if (note == PROFILE_NOTE_CPU_CUT && v->cpu.cut)
		return arena_printf(a, "the stack of %s could not be unwound to a poll",
		                    profile_view_counted(a, v->cpu.cut, "sample"));
	return NULL;
}

const char *profile_view_note(struct arena *a, const struct profile_view *v, enum profile_note note)
{
	if (note == PROFILE_NOTE_LOST && v->totals.lost)
		return arena_printf(a, "lost %s: what tasks did then is unknown",
		                    profile_view_counted(a, v->totals.lost, "event"));
	if (note == PROFILE_NOTE_SAMPLES && v->samples)
		return arena_printf(a, "looked %s, each %.1f ms: shorter times are estimates",
		                    profile_view_counted(a, v->samples, "time"),
		                    (double)v->duration_ns / 1e6 / (double)v->samples);
	if (note == PROFILE_NOTE_OFF && v->no_off)
		return arena_printf(a, "polling includes time off the CPU: %s", v->no_off);
	if (note == PROFILE_NOTE_UNTRACKED && v->untracked)
		return arena_printf(a, "not followed, because there are so many: %s",
		                    profile_view_counted(a, v->untracked, "task"));
	if (note == PROFILE_NOTE_LATE && v->totals.unmatched)
		return arena_printf(a,
		                    "seen too late, so that they are too long here: the ends of %s",
		                    profile_view_counted(a, v->totals.unmatched, "poll"));
	return cpu_note(a, v, note);
}

struct profile_node *profile_view_next(const struct profile_view *v,
                                       const struct profile_node *node)
{
	if (!node)
		return v->tree->roots;
	if (node->children)
		return node->children;
	while (node && !node->next)
		node = node->parent;
	return node ? node->next : NULL;
}
