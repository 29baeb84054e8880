#include "runtimes/common/span.h"

#include <inttypes.h>

#include "dwarf/names/demangle.h"
#include "dwarf/values/path.h"

enum { MAX_NAME = 256 };

/* tracing 0.1: span.rs and tracing-core's metadata.rs */
static const char name_path[] = "span.meta.name";
static const char file_path[] = "span.meta.file.Some.0";
static const char line_path[] = "span.meta.line.Some.0";

static const char *span_text_at(struct collector *c, struct value from, const char *expr)
{
	struct value place;
	const char *text = NULL;
	bool found;
	struct error *err = inspector_eval(c->in, from, expr, &place, &found);

	if (!err && found)
		err = value_string(c->in->target, c->a, place, MAX_NAME, &text);
	error_free(err);
	return text;
}

static uint64_t span_line_of(struct collector *c, struct value from)
{
	const struct path *p;
	uint64_t line = 0;
	bool found;
	struct error *err = inspector_path(c->in, from.type, line_path, &p);

	if (!err)
		err = path_uint(c->in->target, p, from, &line, &found);
	error_free(err);
	return line;
}

const char *span_text(struct collector *c, struct value instrumented)
{
	const char *name = span_text_at(c, instrumented, name_path);
	const char *file = span_text_at(c, instrumented, file_path);
	uint64_t line = span_line_of(c, instrumented);

	if (!name)
		return NULL;
	if (!file)
		return arena_printf(c->a, "span %s", name);
	return arena_printf(c->a, "span %s at %s:%" PRIu64, name,
	                    source_path_of(c->in->di, c->a, file, NULL).text, line);
}
