#include "runtimes/query/types.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/names/qualified.h"
#include "runtimes/common/inspector.h"

enum { MAX_LISTED = 8 /* names in a message */ };

/* ---- the search ---- */

/* A type whose name matches, once for each module. */
struct match {
	const char *name;
	struct dwarf_module *dm;
	uint64_t die;
};

struct types_search {
	const regex_t *regex; /* NULL: by ends */
	const char *ends;     /* how the name ends */
	struct arena *a;
	struct map seen;
	VEC(struct match) list;
	bool more;
};

/* Whether name is the whole path, or its last components. */
static bool types_path_ends(const char *path, size_t len, const char *name)
{
	size_t n = strlen(name);

	if (n > len || memcmp(path + len - n, name, n) != 0)
		return false;
	return n == len || (len - n >= 2 && memcmp(path + len - n - 2, "::", 2) == 0);
}

/*
 * Whether the name, without its last generics or as the async function whose future it is, ends in
 * `wanted`.
 */
static bool name_ends(const char *name, const char *wanted)
{
	const char *last = qualified_last(name);
	size_t before = (size_t)(last - name);

	if (name[0] == '(')
		return false; /* a tuple, whose name has no components */
	if (types_path_ends(name, strlen(name), wanted) ||
	    types_path_ends(name, before + qualified_base_len(last), wanted))
		return true;
	return before > 2 && str_begins(last, "{async_fn_env#") &&
	       types_path_ends(name, before - 2, wanted);
}

static struct error *types_note(struct dwarf_module *dm, const char *name, uint64_t die, void *arg)
{
	struct types_search *s = arg;

	if (s->regex ? regexec(s->regex, name, 0, NULL, 0) != 0 : !name_ends(name, s->ends))
		return NULL;
	uint64_t key = map_key_of_pair(map_key_of(name, strlen(name)), (uintptr_t)dm);
	if (s->list.n == TYPES_MAX) {
		s->more = true;
		return NULL;
	}
	if (map_put(&s->seen, key, s))
		*vec_push(&s->list) = (struct match){ arena_strdup(s->a, name), dm, die };
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	const struct match *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->dm->module->path, y->dm->module->path);
}

/* Why there are no types; NULL: there are. */
static struct error *check_known(const struct inspector *in)
{
	if (in->layout)
		return error_new(ERR_NO_DEBUGINFO,
		                 "a layout file has the types of tasks but no list of types");
	if (in->info.tier == TIER_FULL)
		return NULL;
	return error_new(ERR_NO_DEBUGINFO, "types are unknown: %s",
	                 in->info.tier_reason ? in->info.tier_reason : "there is no debug info");
}

/* Fills s->list. */
static struct error *types_search(struct inspector *in, struct types_search *s)
{
	struct error *err = check_known(in);

	for (size_t i = 0; !err && i < in->di->nmodules; i++) {
		struct dwarf_module *dm = debuginfo_program_module(in->di, i);

		if (dm)
			err = lookup_each_type(dm, types_note, s);
	}
	map_free(&s->seen);
	if (s->list.n)
		qsort(s->list.data, s->list.n, sizeof(s->list.data[0]), by_name);
	return err;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static struct type_row types_row_of(struct arena *a, const struct type *t)
{
	return (struct type_row){
		.name = inspector_clean_name(a, type_name(t)),
		.size = type_size(t),
		.module = inspector_clean_name(a, base_name(type_module(t)->module->path)),
	};
}

static struct error *compile(const char *text, regex_t *ret)
{
	char why[128];
	int code = regcomp(ret, text, REG_EXTENDED | REG_NOSUB);

	if (!code)
		return NULL;
	regerror(code, ret, why, sizeof(why));
	return error_new(ERR_USAGE, "\"%s\" is not a valid regular expression: %s", text, why);
}

struct error *types_find(struct inspector *in, const char *regex, size_t limit, struct arena *a,
                         struct type_list *ret)
{
	regex_t compiled;
	struct types_search s = { .regex = &compiled, .a = a };
	struct error *err;

	TRY(compile(regex, &compiled));
	err = types_search(in, &s);
	regfree(&compiled);
	*ret = (struct type_list){ .total = s.list.n, .more = s.more };
	ret->n = s.list.n < limit ? s.list.n : limit;
	ret->rows = NEW_ARRAY(a, struct type_row, ret->n + 1);
	for (size_t i = 0; i < ret->n; i++)
		ret->rows[i] = types_row_of(a, type_at(s.list.data[i].dm, s.list.data[i].die));
	vec_free(&s.list);
	return err;
}

/* ---- one type ---- */

static struct error *types_several(const struct types_search *s, const char *name)
{
	STR(names);

	for (size_t i = 0; i < s->list.n && i < MAX_LISTED; i++)
		str_printf(&names, "%s%s", i ? ", " : "", s->list.data[i].name);
	if (s->list.n > MAX_LISTED)
		str_printf(&names, " and %zu more", s->list.n - MAX_LISTED);
	return error_new(ERR_USAGE, "%zu types are called `%s`; write one of: %s", s->list.n, name,
	                 str_text(&names));
}

static struct error *types_find_by_name(struct inspector *in, const char *name,
                                        const struct type **ret)
{
	SCRATCH(tmp);
	struct types_search s = { .ends = name, .a = &tmp };
	struct error *err;

	*ret = NULL;
	TRY(check_known(in));
	for (size_t i = 0; !*ret && i < in->di->nmodules; i++) {
		struct dwarf_module *dm = debuginfo_program_module(in->di, i);

		*ret = dm ? lookup_type(dm, name, 0) : NULL;
	}
	if (*ret)
		return NULL;
	err = types_search(in, &s);
	if (!err && s.list.n > 1)
		err = types_several(&s, name);
	else if (!err && !s.list.n)
		err = error_new(ERR_USAGE,
		                "the debug info has no type `%s`; \"types REGEX\" lists types",
		                name);
	else if (!err)
		*ret = type_at(s.list.data[0].dm, s.list.data[0].die);
	vec_free(&s.list);
	return err;
}

static const char *kind_name(const struct type *t)
{
	switch (type_kind(t)) {
	case TYPE_STRUCT:
		return type_name(t)[0] == '(' ? "tuple" : "struct";
	case TYPE_ENUM:
		return type_is_coroutine(t) ? "coroutine" : "enum";
	case TYPE_CENUM:
		return "enum";
	case TYPE_UNION:
		return "union";
	case TYPE_POINTER:
		return "pointer";
	case TYPE_ARRAY:
		return "array";
	default:
		return "type";
	}
}

static bool is_twice(const struct member *members, size_t at)
{
	const struct member *m = &members[at];

	for (size_t i = 0; i < at; i++) {
		if (members[i].offset == m->offset && members[i].type == m->type &&
		    members[i].name && m->name && strcmp(members[i].name, m->name) == 0)
			return true;
	}
	return false;
}

static struct type_part *parts_of(struct arena *a, const struct type *t, uint64_t base,
                                  size_t *nret)
{
	size_t n = 0;
	const struct member *members = t ? type_members(t, &n) : NULL;
	struct type_part *ret;
	size_t kept = 0;

	n = n < TYPES_PARTS ? n : TYPES_PARTS;
	ret = NEW_ARRAY(a, struct type_part, n + 1);
	for (size_t i = 0; i < n; i++) {
		const char *name = members[i].name ? members[i].name : "?";

		if (strncmp(name, "__", 2) == 0 && isdigit((unsigned char)name[2]))
			name += 2;
		/* Debug info has the captures of a coroutine twice in some states. */
		if (is_twice(members, i))
			continue;
		ret[kept++] = (struct type_part){
			.name = inspector_clean_name(a, name),
			.type = members[i].type
			                ? inspector_clean_name(a, type_name(members[i].type))
			                : NULL,
			.offset = base + members[i].offset,
			.size = members[i].type ? type_size(members[i].type) : 0,
		};
	}
	*nret = kept;
	return ret;
}

/* A discriminant of a type; t may be NULL. */
static int64_t types_number_of(const struct type *t, uint64_t number)
{
	unsigned unused = t && type_size(t) < 8 ? 64 - 8 * (unsigned)type_size(t) : 0;

	if (!t || type_kind(t) != TYPE_INT || unused == 64)
		return (int64_t)number;
	return (int64_t)(number << unused) >> unused;
}

static void add_variants(struct inspector *in, struct arena *a, const struct type *t,
                         struct type_info *ret)
{
	size_t n;
	const struct variant *variants = type_variants(t, &n);

	ret->ncases = n < TYPES_PARTS ? n : TYPES_PARTS;
	ret->cases = NEW_ARRAY(a, struct type_case, ret->ncases + 1);
	for (size_t i = 0; i < ret->ncases; i++) {
		const struct variant *v = &variants[i];
		struct type_case *c = &ret->cases[i];

		*c = (struct type_case){
			.name = inspector_clean_name(a, v->name ? v->name : "?"),
			.has_number = !v->is_default,
			.number = types_number_of(type_discr(t) ? type_discr(t)->type : NULL,
			                          v->discr),
			.line = v->line,
		};
		if (v->file)
			c->file = source_path_of(in->di, a, v->file, type_comp_dir(t)).text;
		/* A future that has ended keeps nothing, whatever its states share. */
		bool ended = type_is_coroutine(t) && v->name &&
		             (strcmp(v->name, "Returned") == 0 || strcmp(v->name, "Panicked") == 0);
		c->parts = parts_of(a, ended ? NULL : v->payload, v->offset, &c->nparts);
	}
}

static void add_enumerators(struct arena *a, const struct type *t, struct type_info *ret)
{
	size_t n;
	const struct enumerator *list = type_enumerators(t, &n);

	ret->ncases = n < TYPES_PARTS ? n : TYPES_PARTS;
	ret->cases = NEW_ARRAY(a, struct type_case, ret->ncases + 1);
	for (size_t i = 0; i < ret->ncases; i++)
		ret->cases[i] = (struct type_case){
			.name = inspector_clean_name(a, qualified_last(list[i].name)),
			.has_number = true,
			.number = types_number_of(type_target(t), list[i].value),
		};
}

struct error *types_describe(struct inspector *in, const char *name, struct arena *a,
                             struct type_info *ret)
{
	const struct type *t;

	TRY(types_find_by_name(in, name, &t));
	*ret = (struct type_info){ .kind = kind_name(t),
		                   .row = types_row_of(a, t),
		                   .align = type_align(t) };
	if (type_kind(t) == TYPE_ENUM)
		add_variants(in, a, t, ret);
	else if (type_kind(t) == TYPE_CENUM)
		add_enumerators(a, t, ret);
	else
		ret->parts = parts_of(a, t, 0, &ret->nparts);
	return NULL;
}
