#include "dwarf/module/function_paths.h"

#include <ctype.h>
#include <string.h>
#include <sys/param.h>

#include "debugger/base/nearest.h"
#include "dwarf/module/symtab.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"

enum { INTERRUPT_EVERY = 1 << 14 /* symbols */ };

/* ---- the path of a symbol ---- */

/* Legacy symbols of Rust end in a hash, "17h0123456789abcdefE"; those of C++ do not. */
static bool function_paths_is_rust(const char *symbol)
{
	return strncmp(symbol, "_R", 2) == 0 ||
	       (strncmp(symbol, "_ZN", 3) == 0 && strstr(symbol, "17h"));
}

/* Whether the text can be typed behind `break`. */
static bool is_path(const char *text)
{
	if (!*text || isdigit((unsigned char)*text))
		return false;
	for (; *text; text++) {
		if (!isalnum((unsigned char)*text) && !strchr("_:#", *text) &&
		    !((unsigned char)*text & 0x80))
			return false;
	}
	return true;
}

/* Closures are also in statics, whose names have capitals alone. */
static bool is_static(const char *path)
{
	for (const char *p = qualified_last(path); *p; p++) {
		if (islower((unsigned char)*p))
			return false;
	}
	return true;
}

const char *function_paths_of(struct arena *a, const char *symbol)
{
	if (!function_paths_is_rust(symbol))
		return NULL;
	const char *path = name_without_trait(a, name_without_generics(a, demangle(a, symbol)));
	const char *closure = strstr(path, "::{");

	if (closure)
		path = arena_strndup(a, path, (size_t)(closure - path));
	return is_path(path) && !(closure && is_static(path)) ? path : NULL;
}

/* ---- all of them ---- */

/* The crates of a module that are the program's own: keys of their names. */
static struct map own_crates(const struct dwarf_module *dm)
{
	struct map ret = { 0 };

	for (size_t i = 0; dm->loaded && i < dm->nunits; i++) {
		const struct unit *u = &dm->units[i];

		if (u->crate && own_package_has(dm, u))
			map_put(&ret, map_key_of(u->crate, u->crate_len), NULL);
	}
	return ret;
}

struct function_paths_visit {
	const char *part;
	function_paths_fn *visit;
	void *arg;
	struct map own; /* of the module */
	size_t n;       /* symbols so far */
	struct error *err;
};

static void function_paths_visit_symbol(const char *symbol, uint64_t addr, uint64_t size, void *arg)
{
	struct function_paths_visit *v = arg;
	SCRATCH(tmp);

	(void)addr, (void)size;
	if (v->err || v->n++ >= FUNCTION_PATHS_MAX)
		return;
	if (v->n % INTERRUPT_EVERY == 0)
		v->err = interrupt_check();
	if (v->part && !strstr(symbol, v->part))
		return;
	const char *path = function_paths_of(&tmp, symbol);
	if (path)
		v->visit(path, map_has(&v->own, map_key_of(path, strcspn(path, ":"))), v->arg);
}

struct error *function_paths_each(struct debuginfo *di, const char *part, function_paths_fn *visit,
                                  void *arg)
{
	struct function_paths_visit v = { .part = part, .visit = visit, .arg = arg };

	for (size_t i = 0; i < di->nmodules && !v.err; i++) {
		struct dwarf_module *dm = debuginfo_program_module(di, i);

		if (!dm)
			continue;
		v.own = own_crates(dm);
		v.n = 0;
		symtab_each_function(dm, function_paths_visit_symbol, &v);
		map_free(&v.own);
	}
	return v.err;
}

/* ---- the nearest ---- */

struct near_path {
	const char *path;
	bool own;
	size_t distance, unlike;
};

struct near_search {
	const char *typed, *name; /* name: the last component of typed */
	size_t components;        /* of typed */
	struct arena *a;
	struct near_path best[FUNCTION_PATHS_NEAR]; /* the best first */
	size_t n;
};

static size_t count_components(const char *path)
{
	size_t n = 1;

	for (; (path = strstr(path, "::")) != NULL; path += 2)
		n++;
	return n;
}

/* The last n components of a path; NULL: it has fewer. */
static const char *function_paths_last_components(const char *path, size_t n)
{
	size_t has = count_components(path);

	if (has < n)
		return NULL;
	for (; has > n; has--)
		path = strstr(path, "::") + 2;
	return path;
}

static bool function_paths_is_better(const struct near_path *x, const struct near_path *y)
{
	if (x->own != y->own)
		return x->own;
	if (x->distance != y->distance)
		return x->distance < y->distance;
	return x->unlike < y->unlike;
}

static void offer(const char *path, bool own, void *arg)
{
	struct near_search *s = arg;
	const char *tail = function_paths_last_components(path, s->components);
	struct near_path new = { .path = path, .own = own };
	size_t at;

	/* The name itself must be near, whatever is alike before it. */
	if (!tail ||
	    !nearest_is_near(s->name, function_paths_last_components(path, 1), &new.distance,
	                     &new.unlike) ||
	    !nearest_is_near(s->typed, tail, &new.distance, &new.unlike))
		return;
	for (size_t i = 0; i < s->n; i++) {
		if (strcmp(s->best[i].path, path) == 0)
			return;
	}
	for (at = s->n; at > 0 && function_paths_is_better(&new, &s->best[at - 1]); at--)
		;
	if (at == FUNCTION_PATHS_NEAR)
		return;
	new.path = arena_strdup(s->a, path);
	s->n = MIN(s->n + 1, (size_t)FUNCTION_PATHS_NEAR);
	memmove(&s->best[at + 1], &s->best[at], (s->n - 1 - at) * sizeof(new));
	s->best[at] = new;
}

/* The number of paths that are as near as the best one: only those are of use. */
static size_t as_near_as_best(const struct near_search *s)
{
	size_t n = 0;

	while (n < s->n && s->best[n].own == s->best[0].own &&
	       s->best[n].distance == s->best[0].distance)
		n++;
	return n;
}

struct error *function_paths_near(struct debuginfo *di, const char *typed, struct arena *a,
                                  const char **ret, size_t *n)
{
	struct near_search s = { .typed = typed,
		                 .name = function_paths_last_components(typed, 1),
		                 .components = count_components(typed),
		                 .a = a };

	*n = 0;
	TRY(function_paths_each(di, NULL, offer, &s));
	*n = as_near_as_best(&s);
	for (size_t i = 0; i < *n; i++)
		ret[i] = s.best[i].path;
	return NULL;
}
