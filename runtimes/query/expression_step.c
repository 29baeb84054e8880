#include "runtimes/query/expression_step.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/names/demangle.h"
#include "dwarf/values/show.h"
#include "dwarf/values/unwrap_newtype.h"

static struct error *expression_step_read_word(struct evaluation *e, const char **ret)
{
	const char *start = e->rest;

	while (isalnum((unsigned char)*e->rest) || *e->rest == '_')
		e->rest++;
	if (*start == '$')
		return error_new(ERR_USAGE, "use \"info registers\" or \"x %s\" for registers",
		                 start);
	if (*start == '&')
		return error_new(ERR_USAGE,
		                 "\"print\" does not show addresses; use \"x %s\" for the address "
		                 "and memory of a variable",
		                 start + 1);
	if (e->rest == start)
		return error_new(ERR_USAGE,
		                 "expected a name before \"%s\"; print takes a path such as "
		                 "*req.headers[0].1",
		                 start);
	*ret = arena_strndup(&e->c->scratch, start, (size_t)(e->rest - start));
	return NULL;
}

/* Length of the path at s: "app::{impl#0}::f::NAME", "app::f<u8, (u8, u8)>::NAME". */
static size_t expression_step_path_length(const char *s)
{
	size_t depth = 0;

	for (size_t n = 0;; n++) {
		bool arrow = n && s[n - 1] == '-';

		if (s[n] == '\0')
			return depth ? 0 : n;
		if (s[n] == ':' && s[n + 1] == ':')
			n++;
		else if (n && s[n] == '<')
			depth++;
		else if (depth && s[n] == '>' && !arrow)
			depth--;
		else if (!depth && !isalnum((unsigned char)s[n]) && !strchr("_{#}", s[n]))
			return n;
	}
}

/* Reads the name of a variable, or of a static with or without its path. */
static struct error *expression_step_read_path(struct evaluation *e, const char **ret)
{
	size_t len = expression_step_path_length(e->rest);
	const char *path = arena_strndup(&e->c->scratch, e->rest, len);

	if (!strstr(path, "::"))
		return expression_step_read_word(e, ret);
	e->rest += len;
	*ret = path;
	return NULL;
}

static void expression_step_skip_blanks(struct evaluation *e)
{
	while (*e->rest == ' ')
		e->rest++;
}

/* ---- one step ---- */

static void name_members(struct str *out, const struct type *t)
{
	size_t n;
	const struct member *members = type_members(t, &n);

	for (size_t i = 0; i < n && i < EXPRESSION_NAMES; i++) {
		const char *name = members[i].name ? members[i].name : "?";

		if (strncmp(name, "__", 2) == 0)
			name += 2;
		str_printf(out, "%s%s", i ? ", " : "; there are: ", name);
	}
}

static struct error *no_member(struct evaluation *e, struct value v, const char *name)
{
	STR(names);

	name_members(&names, v.type);
	return error_new(ERR_USAGE, "no member `%s` in %s%s", name,
	                 name_short(&e->c->scratch, type_name(v.type)), str_text(&names));
}

static struct error *is_not(const char *active, const char *wanted)
{
	return error_new(ERR_USAGE, "it is %s, not %s", active ? active : "?", wanted);
}

/* Steps from an enum to a variant or to a member of the active one; *found false: none matches. */
static struct error *enum_step(struct evaluation *e, struct value *v, const char *name,
                               const char *member, bool *found)
{
	const struct variant *active;
	const struct member *m;

	*found = false;
	if (type_is_coroutine(v->type))
		return error_new(ERR_USAGE, "%s is a future: its variables are those of its frame",
		                 name_short(&e->c->scratch, type_name(v->type)));
	TRY(value_variant(e->c->in->target, *v, &active));
	if (type_variant(v->type, name)) {
		if (strcmp(active->name, name) != 0)
			return is_not(active->name, name);
		*v = value_payload(*v, active);
		*found = true;
		return NULL;
	}
	m = type_member(active->payload, member);
	if (m) {
		*v = (struct value){ m->type, v->addr + active->offset + m->offset };
		*found = true;
		return NULL;
	}
	return NULL;
}

struct error *expression_look_through(struct evaluation *e, struct value *v, bool *found)
{
	struct unwrapped_newtype p = unwrap_newtype(v->type);

	*found = true;
	if (p.member) {
		*v = (struct value){ p.member->type, v->addr + p.member->offset };
		return NULL;
	}
	if (p.variant) {
		const struct variant *active;

		TRY(value_variant(e->c->in->target, *v, &active));
		if (active != p.variant)
			return is_not(active->name, p.variant->name);
		*v = value_payload(*v, active);
		return NULL;
	}
	*found = false;
	return NULL;
}

static struct error *member_step(struct evaluation *e, const char *name)
{
	struct inspector *in = e->c->in;
	const char *member =
		isdigit((unsigned char)name[0]) ? arena_printf(&e->c->scratch, "__%s", name) : name;
	struct value v = e->v, stuck = e->v;

	for (int hop = 0; hop < EXPRESSION_HOPS; hop++) {
		bool found;

		TRY(show_deref(in->target, &in->show, v, &v, &found));
		if (found)
			continue;
		if (!v.type || type_kind(v.type) == TYPE_POINTER)
			return error_new(ERR_USAGE, "a pointer in the path is null");
		const struct member *m = type_member(v.type, member);
		if (m) {
			e->v = (struct value){ m->type, v.addr + m->offset };
			return NULL;
		}
		stuck = v;
		if (type_kind(v.type) == TYPE_ENUM) {
			TRY(enum_step(e, &v, name, member, &found));
			if (found) {
				e->v = v;
				return NULL;
			}
		}
		TRY(expression_look_through(e, &v, &found));
		if (!found)
			break;
	}
	return no_member(e, stuck, name);
}

/* Reads a number; *found false: there is none. */
static struct error *expression_step_read_number(struct evaluation *e, uint64_t *ret, bool *found)
{
	char *end;

	*found = isdigit((unsigned char)*e->rest);
	if (!*found)
		return NULL;
	errno = 0;
	*ret = strtoull(e->rest, &end, strncmp(e->rest, "0x", 2) == 0 ? 16 : 10);
	if (errno)
		return error_new(ERR_USAGE, "%.*s is too large a number", (int)(end - e->rest),
		                 e->rest);
	e->rest = end;
	return NULL;
}

/* Reads "2", "2..5", "2..", "..5" or ".."; an open end is UINT64_MAX. */
static struct error *read_span(struct evaluation *e)
{
	bool first, end;

	e->first = 0;
	TRY(expression_step_read_number(e, &e->first, &first));
	e->ranged = strncmp(e->rest, "..", 2) == 0;
	if (e->ranged) {
		e->rest += 2;
		e->end = UINT64_MAX;
		TRY(expression_step_read_number(e, &e->end, &end));
	}
	if ((!first && !e->ranged) || *e->rest != ']')
		return error_new(ERR_USAGE, "an index must be a number or a range: [0], [2..5]");
	e->rest++;
	return NULL;
}

/* Limits the range to the elements of v. */
static struct error *fit_range(struct evaluation *e, struct value v)
{
	uint64_t count;

	TRY(show_length(e->c->in->target, &e->c->in->show, v, &count));
	if (e->end == UINT64_MAX)
		e->end = count;
	if (e->first > e->end || e->end > count)
		return error_new(ERR_USAGE, "there are %" PRIu64 " elements", count);
	e->v = v;
	return NULL;
}

static struct error *index_step(struct evaluation *e)
{
	struct inspector *in = e->c->in;
	struct value v = e->v;

	TRY(read_span(e));
	for (int hop = 0; hop < EXPRESSION_HOPS; hop++) {
		struct error *err = e->ranged
		                            ? fit_range(e, v)
		                            : show_index(in->target, &in->show, v, e->first, &e->v);
		bool found;

		if (!err || err->kind != ERR_LAYOUT)
			return err;
		error_free(err);
		TRY(show_deref(in->target, &in->show, v, &v, &found));
		if (!found)
			TRY(expression_look_through(e, &v, &found));
		if (!found)
			break;
	}
	return error_new(ERR_USAGE, "%s cannot be indexed",
	                 name_short(&e->c->scratch, type_name(e->v.type)));
}

static struct error *dereference(struct evaluation *e)
{
	struct inspector *in = e->c->in;
	bool found;

	TRY(show_deref(in->target, &in->show, e->v, &e->v, &found));
	if (!found)
		return error_new(ERR_USAGE, "%s cannot be dereferenced",
		                 e->v.type ? name_short(&e->c->scratch, type_name(e->v.type))
		                           : "null");
	return NULL;
}

struct error *expression_leave_register(struct evaluation *e)
{
	if (e->in_memory)
		return NULL;
	if (type_kind(e->v.type) != TYPE_POINTER || !type_target(e->v.type) || e->word == 0)
		return error_new(ERR_STATE, "it is in a register, and has no parts there");
	e->v = (struct value){ type_target(e->v.type), e->word };
	e->in_memory = true;
	return NULL;
}

struct error *expression_follow(struct evaluation *e)
{
	const char *name = NULL;

	for (expression_step_skip_blanks(e); *e->rest; expression_step_skip_blanks(e)) {
		char c = *e->rest++;

		TRY(expression_leave_register(e));
		if (e->ranged)
			return error_new(ERR_USAGE, "a range must be the end of an expression");
		if (c == '[') {
			TRY(index_step(e));
		} else if (c == '.') {
			TRY(expression_step_read_word(e, &name));
			TRY(member_step(e, name));
		} else {
			return error_new(
				ERR_USAGE,
				"cannot parse \"%s\"; print takes a path such as *req.headers[0].1",
				e->rest - 1);
		}
	}
	for (; e->stars; e->stars--) {
		bool was_word = !e->in_memory;

		TRY(expression_leave_register(e));
		if (!was_word)
			TRY(dereference(e));
	}
	return NULL;
}

/* Length of the type at s: up to the end, or to the parenthesis that closes one before it. */
static size_t type_length(const char *s, bool parenthesis)
{
	size_t depth = 0, n = 0;

	for (; s[n] && (!parenthesis || depth || s[n] != ')'); n++) {
		depth += s[n] == '(';
		depth -= depth && s[n] == ')';
	}
	return n;
}

/* Reads "0x7f00 as TYPE" or "(0x7f00 as TYPE)". */
static struct error *read_cast(struct evaluation *e, bool parenthesis)
{
	bool found;
	size_t len;

	e->rest += parenthesis;
	expression_step_skip_blanks(e);
	TRY(expression_step_read_number(e, &e->address, &found));
	expression_step_skip_blanks(e);
	if (!found || strncmp(e->rest, "as ", 3) != 0)
		return error_new(ERR_USAGE,
		                 "an address needs a type: (0x7f00 as app::Request).member");
	e->rest += 2;
	expression_step_skip_blanks(e);
	len = type_length(e->rest, parenthesis);
	e->cast = arena_strndup(&e->c->scratch, e->rest, len);
	e->rest += len;
	if (parenthesis && *e->rest++ != ')')
		return error_new(ERR_USAGE, "missing closing parenthesis");
	return *e->cast ? NULL : error_new(ERR_USAGE, "expected a type after \"as\"");
}

struct error *expression_read_start(struct evaluation *e, const char **name)
{
	for (expression_step_skip_blanks(e); *e->rest == '*'; expression_step_skip_blanks(e)) {
		e->stars++;
		e->rest++;
	}
	if (*e->rest == '(' || isdigit((unsigned char)*e->rest)) {
		TRY(read_cast(e, *e->rest == '('));
		*name = e->cast;
		return NULL;
	}
	return expression_step_read_path(e, name);
}
