#include "runtimes/query/merged_code.h"

#include <string.h>

#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "dwarf/frame/await_states.h"
#include "dwarf/module/symtab.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"
#include "dwarf/records/records.h"
#include "dwarf/types/type.h"
#include "runtimes/future/future.h"

/* Limits of the search for awaited coroutines: types and their nesting. */
enum { MAX_TYPES = 1 << 10, MAX_NESTED = 12, MAX_CANDIDATES = 64 };

/* ---- equal code ---- */

/* Length of a coroutine's name up to the generics of its function. */
static size_t source_len(const char *name)
{
	const char *last = qualified_last(name);

	return (size_t)(last - name) + qualified_base_len(last);
}

/* The variant of a coroutine that was not polled yet, whose place is that of the source; or NULL.
 */
static const struct variant *merged_code_declaration(const struct type *coroutine, size_t *nstates)
{
	const struct variant *v = type_variants(coroutine, nstates);

	for (size_t i = 0; i < *nstates; i++) {
		if (v[i].name && strcmp(v[i].name, "Unresumed") == 0)
			return v[i].file && v[i].line ? &v[i] : NULL;
	}
	return NULL;
}

/*
 * May the poll functions of both coroutines be merged? The panics of a coroutine that is polled
 * after its end name its place, so only coroutines of one line have equal code: instances of one
 * generic source, and what one macro declares (rustc 1.95 places both of `pair!(load_users,
 * load_orders)` at the line of the macro). A coroutine without an end that cannot unwind has no
 * such panics. Equal code switches over as many states.
 */
static bool coroutines_may_share(const struct type *t, const struct type *other)
{
	size_t len = source_len(type_name(t)), n, nother;
	const struct variant *v = merged_code_declaration(t, &n),
			     *w = merged_code_declaration(other, &nother);

	if (n != nother)
		return false;
	if (!debuginfo_panics_unwind(type_module(t)))
		return true;
	if (v && w)
		return v->line == w->line && strcmp(v->file, w->file) == 0;
	return source_len(type_name(other)) == len &&
	       memcmp(type_name(t), type_name(other), len) == 0;
}

bool merged_code_may_share(const struct type *t, const struct type *other)
{
	if (type_size(t) != type_size(other) || type_align(t) != type_align(other) ||
	    type_is_coroutine(t) != type_is_coroutine(other))
		return false;
	return !type_is_coroutine(t) || coroutines_may_share(t, other);
}

/* ---- symbols ---- */

struct code_search {
	const char *linkage;
	size_t len;
	uint64_t pc; /* link-time address of the code that may be shared */
	bool here, elsewhere;
	size_t n; /* symbols of that code */
};

static void visit_symbol(const char *name, uint64_t addr, uint64_t size, void *arg)
{
	struct code_search *s = arg;

	(void)size;
	/* ThinLTO appends ".llvm." and a number. */
	if (strncmp(name, s->linkage, s->len) != 0 || (name[s->len] && name[s->len] != '.'))
		return;
	s->here |= addr == s->pc;
	s->elsewhere |= addr != s->pc;
}

struct merged_code_instance_search {
	const char *name; /* of the poll function, with generics */
	bool has_code;
};

static void visit_instance(const char *name, bool has_code, void *arg)
{
	struct merged_code_instance_search *s = arg;

	s->has_code |= has_code && strcmp(name, s->name) == 0;
}

static void merged_code_count_symbol(const char *name, uint64_t addr, uint64_t size, void *arg)
{
	struct code_search *s = arg;

	(void)name, (void)size;
	s->n += addr == s->pc;
}

/*
 * Whether an instance of a generic function, whose linkage name is not known by its type, has its
 * own code: the debug info has code for it, and the linker merged nothing with f.
 */
static bool instance_has_code(const struct type *coroutine, const struct function *f)
{
	static const char env[] = "_env#";
	const char *name = type_name(coroutine), *last = qualified_last(name);
	const char *cut = strstr(last, env), *open = last + qualified_base_len(last);
	struct code_search s = { .pc = module_link_addr(f->dm->module, f->low).v };
	SCRATCH(tmp);

	if (!cut || cut > open)
		return false;
	cut += strlen("_env");
	int before = (int)(cut - strlen("_env") - name);
	struct merged_code_instance_search i = { .name = arena_printf(&tmp, "%.*s%s", before, name,
		                                                      cut) };

	lookup_each_instance(f->dm, type_die(coroutine),
	                     arena_printf(&tmp, "%.*s%.*s", before, name, (int)(open - cut), cut),
	                     visit_instance, &i);
	symtab_each_function(f->dm, merged_code_count_symbol, &s);
	return i.has_code && s.n <= 1;
}

/* Has the poll function of the coroutine code of its own, apart from that of f? */
static bool has_own_code(const struct type *coroutine, const struct function *f)
{
	struct code_search s = { 0 };

	if (!f->dm->module || type_module(coroutine) != f->dm)
		return false;
	if (strchr(qualified_last(type_name(coroutine)), '<'))
		return instance_has_code(coroutine, f);
	s.linkage = lookup_poll_linkage(coroutine);
	if (!s.linkage)
		return false;
	s.len = strlen(s.linkage);
	s.pc = module_link_addr(f->dm->module, f->low).v;
	symtab_each_function(f->dm, visit_symbol, &s);
	return s.elsewhere && !s.here;
}

/* ---- candidates ---- */

struct merged_code_candidates {
	const struct function *f; /* whose code it is */
	const struct type *named; /* the coroutine that the debug info names; NULL: unknown */
	const struct type *t[MAX_CANDIDATES];
	size_t n;
	unsigned ntypes; /* looked at */
};

/* Is f, whose coroutine the debug info does not tell, a poll function declared where t is? */
static bool is_of_line(const struct function *f, const struct type *t)
{
	size_t n;
	const struct variant *first = merged_code_declaration(t, &n);
	const char *file, *dir;
	unsigned line;

	return first && lookup_variable_place(f->dm, f->die, &file, &dir, &line) &&
	       line == first->line && strcmp(file, first->file) == 0;
}

static bool is_candidate(const struct merged_code_candidates *c, const struct type *t)
{
	if (!c->named)
		return is_of_line(c->f, t);
	return t == c->named || strcmp(type_name(t), type_name(c->named)) == 0 ||
	       merged_code_may_share(t, c->named);
}

static void add_candidate(struct merged_code_candidates *c, const struct type *t)
{
	for (size_t i = 0; i < c->n; i++) {
		if (strcmp(type_name(c->t[i]), type_name(t)) == 0)
			return;
	}
	if (c->n < MAX_CANDIDATES && is_candidate(c, t))
		c->t[c->n++] = t;
}

/* Adds the coroutines that a value of the type holds or points at; what these await is theirs. */
static void merged_code_add_held(struct merged_code_candidates *c, const struct type *t,
                                 unsigned nested)
{
	size_t nmembers, nvariants;

	if (!t || nested == MAX_NESTED || c->ntypes++ >= MAX_TYPES)
		return;
	if (type_is_coroutine(t)) {
		add_candidate(c, t);
		return;
	}
	if (type_kind(t) == TYPE_POINTER)
		merged_code_add_held(c, type_target(t), nested + 1);
	const struct member *m = type_members(t, &nmembers);
	const struct variant *v = type_variants(t, &nvariants);

	for (size_t i = 0; i < nmembers; i++)
		merged_code_add_held(c, m[i].type, nested + 1);
	for (size_t i = 0; i < nvariants; i++)
		merged_code_add_held(c, v[i].payload, nested + 1);
}

static bool merged_code_is_named(const struct merged_code_candidates *c, const struct type *t)
{
	return c->named && strcmp(type_name(t), type_name(c->named)) == 0;
}

/* Strikes those whose poll functions have code elsewhere. */
static void strike_others(struct merged_code_candidates *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (merged_code_is_named(c, c->t[i]) || !has_own_code(c->t[i], c->f))
			c->t[n++] = c->t[i];
	}
	c->n = n;
}

/* The awaitee of a state of a poller that stands in that line, or at_line false, of any state. */
static void add_awaited(struct inspector *in, struct merged_code_candidates *c,
                        const struct merged_code_poller *poller, bool at_line, size_t *nstates)
{
	const struct coroutine_plan *plan = coroutine_plan(in, poller->type);

	*nstates = 0;
	for (size_t i = 0; i < plan->nstates; i++) {
		const struct member *awaitee = coroutine_outline(in, plan, i)->awaitee;

		if (!awaitee)
			continue;
		if (at_line) {
			const struct coroutine_state *s =
				coroutine_state(in, poller->type, plan, i);

			if (s->line != poller->line || !s->file_short ||
			    strcmp(s->file_short, poller->file) != 0)
				continue;
		}
		(*nstates)++;
		merged_code_add_held(c, awaitee->type, 0);
	}
}

static void add_polled(struct inspector *in, struct merged_code_candidates *c,
                       const struct merged_code_poller *poller)
{
	size_t nstates = 0;

	if (!poller->type)
		return;
	if (poller->is_runtime || !type_is_coroutine(poller->type)) {
		merged_code_add_held(c, poller->type, 0);
		return;
	}
	if (poller->file)
		add_awaited(in, c, poller, true, &nstates);
	if (!nstates)
		add_awaited(in, c, poller, false, &nstates);
}

/* ---- all of a crate ---- */

struct crate_search {
	struct merged_code_candidates *c;
	struct arena scratch;
	const char *kind; /* last component of the named coroutine's name: "{async_fn_env#0}" */
	size_t kind_len;
};

static void merged_code_visit_coroutine(const char *name, bool has_code, void *arg)
{
	struct crate_search *s = arg;
	const char *last = qualified_last(name);

	(void)has_code;
	if (qualified_base_len(last) != s->kind_len || memcmp(last, s->kind, s->kind_len) != 0)
		return;
	const struct type *t = lookup_type(s->c->f->dm, name, s->c->f->die);

	if (t && type_is_coroutine(t))
		add_candidate(s->c, t);
}

/* The coroutines of the crate that may have the code of c->f, which is that of c->named. */
static void merged_code_add_all(struct merged_code_candidates *c)
{
	struct crate_search s = { .c = c };

	s.kind = qualified_last(type_name(c->named));
	s.kind_len = qualified_base_len(s.kind);
	c->t[c->n++] = c->named;
	lookup_each_instance(c->f->dm, c->f->die, COROUTINE_TYPES, merged_code_visit_coroutine, &s);
	arena_free(&s.scratch);
}

static const char *join_names(struct inspector *in, const struct merged_code_candidates *c,
                              const struct type *except)
{
	STR(text);

	for (size_t i = 0; i < c->n; i++) {
		const char *name = type_name(c->t[i]);

		if (c->t[i] == except)
			continue;
		str_append(&text, text.len ? ", " : "");
		str_append_clean(&text, name, strlen(name));
	}
	return text.len ? arena_strdup(&in->arena, str_text(&text)) : NULL;
}

/* May the code of f be that of other functions, too? In unoptimised code the linker alone merges.
 */
static bool may_be_shared(const struct function *f)
{
	struct code_search s = { .pc = module_link_addr(f->dm->module, f->low).v };
	const struct unit *u = debuginfo_unit_of(f->dm, f->die);

	if (!u || !poll_symbols_is_unoptimised(f->dm, u))
		return true;
	symtab_each_function(f->dm, merged_code_count_symbol, &s);
	return s.n > 1;
}

/* The answer where the poller hides what it polls, or is unknown: the same at each look. */
static const char *aliases_in_crate(struct inspector *in, struct merged_code_candidates *c)
{
	struct coroutine_merged *merged = coroutine_plan(in, c->named)->merged;

	if (!merged->known && may_be_shared(c->f)) {
		merged_code_add_all(c);
		strike_others(c);
		merged->others = join_names(in, c, c->named);
	}
	merged->known = true;
	return merged->others;
}

static const struct type *chosen(const struct merged_code_candidates *c)
{
	for (size_t i = 0; i < c->n; i++) {
		if (merged_code_is_named(c, c->t[i]))
			return c->t[i];
	}
	return c->t[0];
}

void merged_code_polled(struct inspector *in, const struct location *l,
                        const struct merged_code_poller *poller, struct merged_code_polled *ret)
{
	struct merged_code_candidates c = { .f = l->function };

	*ret = (struct merged_code_polled){ 0 };
	if (!c.f)
		return;
	c.named = await_states_coroutine(function_first_argument(c.f));
	add_polled(in, &c, poller);
	/* The debug info of an inlined function describes this call, whose poller may be merged. */
	if (!l->inlined)
		strike_others(&c);
	ret->type = c.named;
	if (!c.n) {
		ret->aliases = c.named && !l->inlined ? aliases_in_crate(in, &c) : NULL;
		return;
	}
	ret->type = chosen(&c);
	if (l->inlined && merged_code_is_named(&c, ret->type))
		return;
	ret->aliases = join_names(in, &c, ret->type);
}

/* ---- the owner of the code ---- */

struct owner_search {
	struct dwarf_module *dm;
	const struct type *other; /* it has no code */
	const struct type *owner; /* NULL: none yet */
	bool several;
};

/* Has the poll function of a coroutine, no instance of a generic one, a symbol? */
static bool merged_code_has_symbol(const struct type *coroutine)
{
	struct code_search s = { .linkage = lookup_poll_linkage(coroutine) };

	if (!s.linkage)
		return false;
	s.len = strlen(s.linkage);
	symtab_each_function(type_module(coroutine), visit_symbol, &s);
	return s.here || s.elsewhere;
}

static void visit_owner(const char *name, bool has_code, void *arg)
{
	struct owner_search *s = arg;

	(void)has_code;
	if (strchr(qualified_last(name), '<') || strcmp(name, type_name(s->other)) == 0)
		return;
	const struct type *t = lookup_type(s->dm, name, type_die(s->other));

	if (!t || !type_is_coroutine(t) || t == s->owner || !merged_code_may_share(t, s->other) ||
	    !merged_code_has_symbol(t))
		return;
	s->several |= s->owner && strcmp(type_name(s->owner), name) != 0;
	s->owner = t;
}

/* The coroutine of the async function; NULL: it is none. */
static const struct type *coroutine_of(struct dwarf_module *dm, const char *path)
{
	SCRATCH(tmp);
	const struct type *t = lookup_type(dm, arena_printf(&tmp, "%s::{async_fn_env#0}", path), 0);

	return t && type_is_coroutine(t) ? t : NULL;
}

bool merged_code_is_async(struct dwarf_module *dm, const char *path)
{
	return coroutine_of(dm, path) != NULL;
}

const char *merged_code_owner(struct dwarf_module *dm, const char *path, struct arena *a)
{
	struct owner_search s = { .dm = dm, .other = coroutine_of(dm, path) };

	if (!s.other || merged_code_has_symbol(s.other))
		return NULL;
	lookup_each_instance(dm, type_die(s.other), COROUTINE_TYPES, visit_owner, &s);
	return s.owner && !s.several ? name_function(a, type_name(s.owner)) : NULL;
}
