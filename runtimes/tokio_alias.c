/*
 * Poll functions that became one. Fat LTO merges functions of equal code: hand-written futures
 * that differ in name only then share one poll, and it names only one of them. What gives the
 * others away is a task cell of theirs without a poll function that has code.
 */
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/qualified.h"
#include "runtimes/tokio.h"

static const char poll_path[] = "tokio::runtime::task::raw::poll";
static const char cell_path[] = "tokio::runtime::task::core::Cell";

struct search {
	struct map with_code; /* hash of "T, S" of a poll function that has code */
	struct map seen;      /* futures that were found */
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
		map_put(&s->with_code, lookup_name_key(args), NULL);
}

static void visit_cell(const char *name, bool has_code, void *arg)
{
	struct search *s = arg;
	const char *args = generics(&s->scratch, name, sizeof(cell_path) - 1);
	const char *future = qualified_first_generic(&s->scratch, name);
	const struct type *t;

	(void)has_code;
	/* Functions for different schedulers can become one too: S does not tell them apart. */
	if (!future || map_has(&s->with_code, lookup_name_key(args)) ||
	    strcmp(future, type_name(s->future)) == 0 ||
	    !map_put(&s->seen, lookup_name_key(future), NULL))
		return;
	t = lookup_type(s->dm, future, s->near);
	/* Functions that become one treat equal bytes; a coroutine panics with its own location. */
	if (!t || type_is_coroutine(t) || type_size(t) != type_size(s->future))
		return;
	str_append(&s->found, s->found.len ? ", " : "");
	str_append_clean(&s->found, future, strlen(future));
}

const char *tokio_poll_aliases(struct inspector *in, const struct function *f,
                               const struct type *future)
{
	struct search s = { .dm = f->dm, .near = f->die, .future = future };
	const char *ret = NULL;

	if (type_is_coroutine(future))
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
