#include "runtimes/query/complete_place.h"

#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "dwarf/code/source_path.h"
#include "dwarf/module/function_paths.h"

/* ---- words ---- */

static const char *word_of(struct arena *a, const char *from, bool is_file, const char *partial)
{
	const char *end;

	if (is_file)
		return arena_printf(a, "%s:", from);
	end = strstr(from + strlen(partial), "::");
	return end ? arena_strndup(a, from, (size_t)(end + 2 - from)) : arena_strdup(a, from);
}

size_t complete_place_words(struct arena *a, const char *path, bool is_file, const char *partial,
                            const char *ret[COMPLETE_PLACE_COMPONENTS])
{
	const char *separator = is_file ? "/" : "::";
	size_t n = 0;

	for (const char *p = path; p && *p && n < COMPLETE_PLACE_COMPONENTS;) {
		if (str_begins(p, partial))
			ret[n++] = word_of(a, p, is_file, partial);
		p = strstr(p, separator);
		p = p ? p + strlen(separator) : NULL;
	}
	return n;
}

/* ---- of a program ---- */

struct place_search {
	const char *partial;
	struct arena *a;
	/* Completions from the program's own crates, and from others. */
	struct complete_place_found {
		VEC(const char *) words;
		struct map known;
	} own, other;
};

static void complete_place_add(struct place_search *s, const char *path, bool is_file, bool own)
{
	struct complete_place_found *found = own ? &s->own : &s->other;
	const char *words[COMPLETE_PLACE_COMPONENTS];
	SCRATCH(tmp);
	size_t n = complete_place_words(&tmp, path, is_file, s->partial, words);

	for (size_t i = 0; i < n && found->words.n <= COMPLETE_PLACE_MAX; i++) {
		if (map_put(&found->known, map_key_of_text(words[i]), NULL))
			*vec_push(&found->words) = arena_strdup(s->a, words[i]);
	}
}

static void add_function(const char *path, bool own, void *arg)
{
	complete_place_add(arg, path, false, own);
}

static void add_file(const char *path, bool own, void *arg)
{
	complete_place_add(arg, path, true, own);
}

/* The longest component of the typed text; NULL: there is none. */
static const char *longest_part(struct arena *a, const char *partial)
{
	size_t best = 0, n;
	const char *ret = NULL;

	for (const char *p = partial; *p; p += n + strspn(p + n, ":")) {
		n = strcspn(p, ":");
		if (n > best) {
			best = n;
			ret = p;
		}
	}
	return ret ? arena_strndup(a, ret, best) : NULL;
}

static struct error *search(struct place_search *s, struct debuginfo *di)
{
	SCRATCH(tmp);
	const char *part = longest_part(&tmp, s->partial);
	bool is_path = strstr(s->partial, "::");

	/* Nothing was typed, or it is the number of a line that follows. */
	if (!part || (!is_path && strchr(s->partial, ':')))
		return NULL;
	if (!strpbrk(s->partial, "/."))
		TRY(function_paths_each(di, part, add_function, s));
	return is_path ? NULL : source_path_each(di, s->partial, add_file, s);
}

size_t complete_place_list(struct debuginfo *di, const char *partial, struct arena *a,
                           const char ***ret)
{
	struct place_search all = { .partial = partial, .a = a };
	struct error *err CLEANUP(error_freep) = di ? search(&all, di) : NULL;
	struct complete_place_found *found = all.own.words.n ? &all.own : &all.other;
	size_t n = !err && found->words.n <= COMPLETE_PLACE_MAX ? found->words.n : 0;

	*ret = vec_to_arena(&found->words, a);
	map_free(&all.own.known);
	map_free(&all.other.known);
	vec_free(found == &all.own ? &all.other.words : &all.own.words);
	return n;
}
