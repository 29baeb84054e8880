/*
 * Finds futures whose poll functions were merged. Fat LTO merges functions of equal code:
 * hand-written futures that differ in name only then share one poll, as do instances of one generic
 * async fn. The debug info names only one of them. The others are detected by a task cell of theirs
 * whose poll function has no code.
 */
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/qualified.h"
#include "runtimes/tokio/tokio.h"

static const char poll_path[] = "tokio::runtime::task::raw::poll";
static const char cell_path[] = "tokio::runtime::task::core::Cell";

struct search {
	struct map with_code; /* hash of "T, S" of a poll function that has code */
	struct map seen;      /* futures found so far */
	struct dwarf_module *dm;
	uint64_t near;
	const struct type *future;
	struct str found;
	struct arena scratch;
};

/* "T, S" of "path<T, S>". */
static const char *generics(struct arena *a, const char *name, size_t path_len)
{
	const char *open = name + path_len;
	size_t len = strlen(open);

	return len > 2 ? arena_strndup(a, open + 1, len - 2) : "";
}

static void visit_poll(const char *name, bool has_code, void *arg)
{
	struct search *s = arg;
	const char *args = generics(&s->scratch, name, sizeof(poll_path) - 1);

	if (has_code)
		map_put(&s->with_code, map_key_of_text(args), NULL);
}

/* Length of a coroutine's name up to the generics of its function. */
static size_t source_len(const char *name)
{
	const char *last = qualified_last(name);

	return (size_t)(last - name) + qualified_base_len(last);
}

/*
 * May the poll functions of both types be merged? Their data must have equal size. A coroutine's
 * panics name its own location, so only instances of one source have equal code.
 */
static bool may_share_code(const struct type *t, const struct type *other)
{
	size_t len = source_len(type_name(t));

	if (type_size(t) != type_size(other) || type_is_coroutine(t) != type_is_coroutine(other))
		return false;
	return !type_is_coroutine(t) || (source_len(type_name(other)) == len &&
	                                 memcmp(type_name(t), type_name(other), len) == 0);
}

static void visit_cell(const char *name, bool has_code, void *arg)
{
	struct search *s = arg;
	const char *args = generics(&s->scratch, name, sizeof(cell_path) - 1);
	const char *future = qualified_first_generic(&s->scratch, name);
	const struct type *t;

	(void)has_code;
	/* Functions for different schedulers may be merged too, so S does not matter. */
	if (!future || map_has(&s->with_code, map_key_of_text(args)) ||
	    strcmp(future, type_name(s->future)) == 0 ||
	    !map_put(&s->seen, map_key_of_text(future), NULL))
		return;
	t = lookup_type(s->dm, future, s->near);
	if (!t || !may_share_code(t, s->future))
		return;
	str_append(&s->found, s->found.len ? ", " : "");
	str_append_clean(&s->found, future, strlen(future));
}

const char *tokio_poll_aliases(struct inspector *in, const struct function *f,
                               const struct type *future)
{
	struct search s = { .dm = f->dm, .near = f->die, .future = future };
	const char *ret = NULL;

	/* A source without generics has one instance only. */
	if (type_is_coroutine(future) && !type_name(future)[source_len(type_name(future))])
		return NULL;
	lookup_each_instance(f->dm, f->die, poll_path, visit_poll, &s);
	lookup_each_instance(f->dm, f->die, cell_path, visit_cell, &s);
	if (s.found.len)
		ret = arena_strdup(&in->arena, str_text(&s.found));
	map_free(&s.with_code);
	map_free(&s.seen);
	str_free(&s.found);
	arena_free(&s.scratch);
	return ret;
}
