/* Looks up where the variables that hold something are declared. */
#include "dwarf/names/demangle.h"
#include "runtimes/common/type_class.h"
#include "runtimes/ownership/ownership_walk.h"

struct ownership_variable *ownership_saved_variable(struct arena *a, const struct type *coroutine,
                                                    size_t state, const char *name,
                                                    const struct type *type, uint64_t offset)
{
	struct ownership_variable *v = NEW(a, struct ownership_variable);

	*v = (struct ownership_variable){ .coroutine = coroutine,
		                          .state = (unsigned)state,
		                          .name = name,
		                          .type = type,
		                          .offset = offset };
	return v;
}

struct ownership_variable *ownership_running_variable(struct collector *c, const struct type *type,
                                                      struct dwarf_module *dm, uint64_t die)
{
	struct ownership_variable *v = NEW(&c->scratch, struct ownership_variable);

	*v = (struct ownership_variable){ .type = type, .dm = dm, .die = die };
	return v;
}

static bool ask_saved(const struct ownership_variable *v, const char **file, unsigned *line)
{
	const struct saved_variable wanted = {
		.coroutine = v->coroutine,
		.state = v->state,
		.name = v->name,
		.type = type_name(v->type),
		.offset = v->offset,
	};

	return lookup_declaration(&wanted, file, line);
}

static void ownership_declared_ask(struct inspector *in, struct ownership_variable *v)
{
	const char *file, *comp_dir = v->coroutine ? type_comp_dir(v->coroutine) : NULL;
	unsigned line;
	bool found = v->coroutine ? ask_saved(v, &file, &line)
	                          : lookup_variable_place(v->dm, v->die, &file, &comp_dir, &line);

	v->known = true;
	if (!found || !line)
		return;
	v->file = inspector_clean_name(&in->arena, file);
	v->file_short = source_path_of(in->di, &in->arena, file, comp_dir).text;
	v->line = line;
}

void ownership_warm_up(const struct type *coroutine)
{
	size_t nvariants, n;
	const struct variant *variants = type_variants(coroutine, &nvariants);

	for (size_t i = 0; i < nvariants && i < DECLARED_STATES; i++) {
		const struct type *payload = variants[i].payload;
		const struct member *members = payload ? type_members(payload, &n) : NULL;

		for (size_t j = 0; members && j < n; j++) {
			const struct member *m = &members[j];
			const struct ownership_variable v = { .coroutine = coroutine,
				                              .state = (unsigned)i,
				                              .name = m->name,
				                              .type = m->type,
				                              .offset = variants[i].offset +
				                                        m->offset };
			const char *file;
			unsigned line;

			if (m->name && m->name[0] != '_' && m->type && ownership_is_inside(m->type))
				ask_saved(&v, &file, &line);
		}
	}
}

void ownership_declare(struct collector *c, struct found *f)
{
	struct ownership_variable *v = f->variable;

	if (!v)
		return;
	if (!v->known)
		ownership_declared_ask(c->in, v);
	if (!v->file)
		return;
	f->h.file = v->file;
	f->h.file_short = v->file_short;
	f->h.line = v->line;
	f->h.declared = true;
}
