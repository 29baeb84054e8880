#include "commands/perfetto/interned.h"

#include <string.h>

#include "debugger/base/str.h"

#define ELLIPSIS "\xe2\x80\xa6"

bool interned_is_full(const struct interned_table *t)
{
	return t->map.n >= INTERNED_MAX || t->arena.total >= INTERNED_MAX_BYTES;
}

void interned_clear(struct interned_table *t)
{
	map_clear(&t->map);
	arena_reset(&t->arena);
	t->last = 0;
}

void interned_free(struct interned_table *t)
{
	map_free(&t->map);
	arena_free(&t->arena);
}

const char *interned_clean(struct arena *a, const char *text)
{
	/* Sanitising makes no text shorter. */
	size_t len = strnlen(text, (size_t)INTERNED_MAX_TEXT * 2);
	char *clean = str_clean(a, text, len);
	size_t end = INTERNED_MAX_TEXT - (sizeof(ELLIPSIS) - 1);

	if (strlen(clean) <= INTERNED_MAX_TEXT)
		return clean;
	/* Characters are not split. */
	while (end > 0 && ((unsigned char)clean[end] & 0xc0) == 0x80)
		end--;
	memcpy(clean + end, ELLIPSIS, sizeof(ELLIPSIS));
	return clean;
}

const struct interned *interned_find(struct interned_table *t, enum interned_kind kind,
                                     const char *text, bool *is_new)
{
	size_t len = strlen(text);
	uint64_t key = map_key_on((uint64_t)kind + 1, text, len);
	struct interned *found = map_get(&t->map, key);

	*is_new = false;
	if (found)
		return found->kind == kind && strcmp(found->given, text) == 0 ? found : NULL;
	if (len > INTERNED_MAX_BYTES / 16)
		return NULL;
	found = NEW(&t->arena, struct interned);
	*found = (struct interned){ .kind = kind, .id = ++t->last };
	found->given = arena_strndup(&t->arena, text, len);
	found->text = interned_clean(&t->arena, text);
	map_put(&t->map, key, found);
	*is_new = true;
	return found;
}
