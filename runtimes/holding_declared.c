/* Where the variable is declared that something was found in. */
#include "dwarf/demangle.h"
#include "runtimes/holding_walk.h"
#include "runtimes/traits.h"

struct holding_variable *holding_saved_variable(struct arena *a, const struct type *coroutine,
                                                size_t state, const char *name,
                                                const struct type *type, uint64_t offset)
{
	struct holding_variable *v = NEW(a, struct holding_variable);

	*v = (struct holding_variable){ .coroutine = coroutine,
		                        .state = (unsigned)state,
		                        .name = name,
		                        .type = type,
		                        .offset = offset };
	return v;
}

struct holding_variable *holding_running_variable(struct collector *c, const struct type *type,
                                                  struct dwarf_module *dm, uint64_t die)
{
	struct holding_variable *v = NEW(&c->scratch, struct holding_variable);

	*v = (struct holding_variable){ .type = type, .dm = dm, .die = die };
	return v;
}

static bool is_same_file(const struct variant *a, const struct variant *b)
{
	return a->file && b->file && strcmp(a->file, b->file) == 0;
}

/* Of an await that a macro wrote the variant has a line inside the macro: none of use here. */
static bool ask_saved(struct inspector *in, const struct holding_variable *v, const char **file,
                      unsigned *line)
{
	const struct coroutine_plan *plan = coroutine_plan(in, v->coroutine);
	const struct coroutine_state *s = &plan->states[v->state];
	const struct saved_variable wanted = {
		.coroutine = v->coroutine,
		.state = v->state,
		.awaitee = s->awaitee ? type_name(s->awaitee->type) : NULL,
		.line = is_same_file(s->variant, plan->states[0].variant) ? s->variant->line : 0,
		.name = v->name,
		.type = type_name(v->type),
		.offset = v->offset,
	};

	if (!s->awaitee && s->state != FUTURE_UNRESUMED)
		return false;
	return lookup_declaration(&wanted, file, line);
}

static void ask(struct inspector *in, struct holding_variable *v)
{
	const struct type *near = v->coroutine ? v->coroutine : v->type;
	const char *file;
	unsigned line;
	bool found = v->coroutine ? ask_saved(in, v, &file, &line)
	                          : lookup_variable_place(v->dm, v->die, &file, &line);

	v->known = true;
	if (!found || !line)
		return;
	v->file = clean_name(&in->arena, file);
	v->file_short = name_file_short(&in->arena, file, type_comp_dir(near));
	v->line = line;
}

void holding_declare(struct collector *c, struct found *f)
{
	struct holding_variable *v = f->variable;

	if (!v)
		return;
	if (!v->known)
		ask(c->in, v);
	if (!v->file)
		return;
	f->h.file = v->file;
	f->h.file_short = v->file_short;
	f->h.line = v->line;
	f->h.declared = true;
}
