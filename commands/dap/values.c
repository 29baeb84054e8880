#include "commands/dap/values.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/dap/source.h"
#include "dwarf/values/parts.h"

void values_make_readable(struct dap *d)
{
	struct target *t = asyncdbg_target(d->s->handle);

	if (t && dap_is_held(d))
		target_invalidate(t);
}

static void put_declaration(struct dap *d, struct request *r, const struct dap_source *at)
{
	int number = at && at->path && at->line
	                     ? ids_of_location(&d->ids, &(struct id_location){ at->path, at->line,
	                                                                       at->library })
	                     : 0;

	if (number)
		json_put_int(r->w, "declarationLocationReference", number);
}

/* Location that an editor opens for a value that names a place, or is code. */
static void put_location(struct dap *d, struct request *r, const struct shown_value *v)
{
	struct dap_source at = v->place ? *v->place : (struct dap_source){ 0 };
	const struct parts_context c = asyncdbg_parts_context(d->s->handle);
	uint64_t code;
	int number;

	if (v->in_memory && parts_code(&c, v->value, &code))
		source_of_address(d, r->a, code, &at);
	if (!at.path || !at.line)
		return;
	number = ids_of_location(&d->ids, &(struct id_location){ at.path, at.line, at.library });
	if (number)
		json_put_int(r->w, "valueLocationReference", number);
}

static void put_reference(struct dap *d, struct json_writer *w, const struct shown_value *v)
{
	const struct parts_context c = asyncdbg_parts_context(d->s->handle);
	struct parts_count count = { 0 };
	char address[32];

	if (v->in_memory) {
		values_make_readable(d);
		error_free(parts_count(&c, v->value, &count));
	}
	const struct id_variables id = { .value = v->value, .name = v->expression };
	bool opens = count.named || count.indexed;

	json_put_int(w, "variablesReference", opens ? ids_of_variables(&d->ids, &id) : 0);
	if (count.named)
		json_put_int(w, "namedVariables", (int64_t)count.named);
	if (count.indexed && count.indexed <= INT32_MAX)
		json_put_int(w, "indexedVariables", (int64_t)count.indexed);
	if (v->in_memory && d->client.memory) {
		snprintf(address, sizeof(address), "0x%" PRIx64, v->value.addr);
		json_put_text(w, "memoryReference", address);
	}
}

const char *values_type(struct request *r, const char *type, const char *doubt)
{
	return doubt ? arena_printf(r->a, "%s (%s)", type ? type : "?", doubt) : type;
}

void values_put(struct dap *d, struct request *r, const char *key, const struct shown_value *v)
{
	struct json_writer *w = r->w;

	if (v->name) {
		json_open_object(w, key);
		json_put_text(w, "name", v->name);
		json_put_text(w, "value", v->text);
		if (v->expression)
			json_put_text(w, "evaluateName", v->expression);
	} else {
		json_put_text(w, "result", v->text);
	}
	if (v->type)
		json_put_text(w, "type", v->type);
	put_reference(d, w, v);
	put_location(d, r, v);
	if (!v->name)
		return;
	put_declaration(d, r, v->declared);
	json_close_object(w);
}

/* "req.uri" of "req" and "uri"; NULL where no expression names the part. */
static const char *part_expression(struct arena *a, const char *whole, const char *part)
{
	bool index = part[0] == '[' && isdigit((unsigned char)part[1]);

	if (!whole || (part[0] == '[' && !index))
		return NULL;
	return arena_printf(a, "%s%s%s", whole, index ? "" : ".", part);
}

static void put_part(struct dap *d, struct request *r, const struct parts_context *c,
                     const struct part *p, const char *whole)
{
	struct shown_value v = { .name = p->name,
		                 .text = parts_text(c, p, r->a),
		                 .type = p->v.type ? type_name(p->v.type) : NULL,
		                 .expression = part_expression(r->a, whole, p->name),
		                 .in_memory = p->v.type && !p->redacted };

	if (v.in_memory)
		v.value = p->v;
	values_put(d, r, NULL, &v);
}

struct error *values_put_parts(struct dap *d, struct request *r, const struct id_variables *v,
                               const char *filter, uint64_t first, uint64_t count)
{
	const struct parts_context c = asyncdbg_parts_context(d->s->handle);
	struct parts_count has;
	struct part *parts;
	size_t n;

	values_make_readable(d);
	TRY(parts_count(&c, v->value, &has));
	if (filter && strcmp(filter, "named") == 0 && !has.named)
		return NULL;
	if (filter && strcmp(filter, "indexed") == 0 && !has.indexed)
		return NULL;
	TRY(parts_list(&c, v->value, first, count ? count : VALUES_DEFAULT, r->a, &parts, &n));
	for (size_t i = 0; i < n; i++)
		put_part(d, r, &c, &parts[i], v->name);
	return NULL;
}

/* ---- one part ---- */

/* Range of parts that may have the name: one element, if it is an index. */
static void choose_range(const char *name, const struct parts_count *has, uint64_t *first,
                         uint64_t *count)
{
	char *end;

	*first = 0;
	*count = PARTS_MAX;
	if (!has->indexed || name[0] != '[' || !isdigit((unsigned char)name[1]))
		return;
	*first = strtoull(name + 1, &end, 10);
	*count = 1;
}

/* The only one of that name; NULL: there is none, or several. */
static const struct part *values_find_named(const struct part *parts, size_t n, const char *name)
{
	const struct part *found = NULL;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(parts[i].name, name) != 0)
			continue;
		if (found)
			return NULL;
		found = &parts[i];
	}
	return found;
}

struct error *values_find_part(struct dap *d, struct arena *a, const struct id_variables *v,
                               const char *name, struct value *ret, const char **text)
{
	const struct parts_context c = asyncdbg_parts_context(d->s->handle);
	uint64_t first, count;
	struct parts_count has;
	struct part *parts;
	size_t n;

	values_make_readable(d);
	TRY(parts_count(&c, v->value, &has));
	choose_range(name, &has, &first, &count);
	TRY(parts_list(&c, v->value, first, count, a, &parts, &n));
	const struct part *p = values_find_named(parts, n, name);
	if (!p)
		return error_new(ERR_STATE, "no member, or more than one, is called %s", name);
	if (p->redacted)
		return error_new(ERR_STATE, "its name suggests a secret");
	if (!p->v.type)
		return error_new(ERR_STATE, "its type is not in the debug info");
	const char *expression = part_expression(a, v->name, p->name);
	*ret = p->v;
	*text = expression ? expression : arena_strdup(a, name);
	return NULL;
}

const char *values_text(struct dap *d, struct arena *a, struct value v)
{
	const struct parts_context c = asyncdbg_parts_context(d->s->handle);

	values_make_readable(d);
	return parts_text(&c, &(struct part){ .v = v }, a);
}
