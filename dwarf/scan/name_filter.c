#include "dwarf/scan/name_filter.h"

#include <dwarf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "debugger/base/parallel.h"
#include "dwarf/scan/form.h"

enum { MAX_ABBREVS = 1 << 16, MAX_ATTRIBUTES = 256, BLOCK = 4 << 20 /* bytes of strings */ };

/* ---- strings ---- */

/* A section of strings that several threads search, block by block. */
struct string_search {
	struct section strings;
	atomic_size_t next; /* offset of the next block that nobody has taken */
	atomic_bool all;
	pthread_mutex_t lock; /* of the filter */
	struct name_filter *f;
	const struct name_filter_watcher *watcher;
};

static void name_filter_add_offset(struct string_search *s, size_t offset)
{
	struct name_filter *f = s->f;

	pthread_mutex_lock(&s->lock);
	if (f->n == NAME_FILTER_MAX)
		s->all = true;
	else
		f->offsets[f->n++] = (uint32_t)offset;
	pthread_mutex_unlock(&s->lock);
}

/* Adds the offsets in [from, to) at which a string of that base begins. */
static void search_block(struct string_search *s, size_t from, size_t to)
{
	size_t len = strlen(s->f->base), left = s->strings.size - to;
	const uint8_t *at = s->strings.data + from;
	const uint8_t *end = s->strings.data + to + (left < len - 1 ? left : len - 1);

	for (; !s->all && (at = memmem(at, (size_t)(end - at), s->f->base, len)); at++) {
		/* The section ends in a NUL, which is not in the base. */
		if (at[len] == '\0' || at[len] == '<')
			name_filter_add_offset(s, (size_t)(at - s->strings.data));
	}
}

static void *search_blocks(void *arg)
{
	struct string_search *s = arg;
	size_t from;

	while ((from = atomic_fetch_add(&s->next, BLOCK)) < s->strings.size) {
		size_t left = s->strings.size - from, size = left < BLOCK ? left : BLOCK;

		search_block(s, from, from + size);
		if (s->watcher)
			s->watcher->done(s->strings.data + from, size, s->watcher->arg);
	}
	return NULL;
}

/* Adds the offsets of a section at which a string of that base begins, also within another one. */
static void add_offsets(struct name_filter *f, struct section strings,
                        const struct name_filter_watcher *watcher)
{
	struct string_search s = { .strings = strings, .f = f, .watcher = watcher };

	/* Otherwise it has no strings: section_string(). */
	if (f->all || !strings.size || strings.data[strings.size - 1] != 0)
		return;
	pthread_mutex_init(&s.lock, NULL);
	parallel_run(search_blocks, &s, strings.size / BLOCK + 1);
	pthread_mutex_destroy(&s.lock);
	f->all = s.all;
}

void name_filter_open(struct name_filter *f, const struct dwarf_sections *s, const char *base,
                      const struct name_filter_watcher *watcher)
{
	*f = (struct name_filter){ .s = s, .base = base, .all = !*base };
	add_offsets(f, s->str, watcher);
	add_offsets(f, s->line_str, watcher);
}

/* ---- forms ---- */

static void note_form(struct name_filter *f, unsigned form)
{
	switch (form) {
	case DW_FORM_strp:
	case DW_FORM_line_strp:
		break;
	case DW_FORM_string:
		f->has_text = true;
		break;
	default:
		f->has_other = true;
	}
}

/* Notes the forms of names in the unit's abbreviations; units of one object file share them. */
static void read_forms(struct name_filter *f, const struct unit *u)
{
	struct reader r = reader_at(f->s->abbrev, u->abbrev_offset, f->s->abbrev.size);
	uint64_t code = 1;

	f->forms = u->first;
	f->has_text = f->has_other = false;
	for (size_t i = 0; i < MAX_ABBREVS && !r.bad && (code = read_uleb(&r)); i++) {
		struct attribute at = { .name = 1 };

		read_uleb(&r);
		read_skip(&r, 1);
		for (size_t j = 0; j < MAX_ATTRIBUTES && !r.bad && (at.name || at.form); j++) {
			at = form_read_attribute(&r);
			if (at.name == DW_AT_name)
				note_form(f, at.form);
		}
		f->has_other |= at.name || at.form;
	}
	f->has_other |= r.bad || code;
}

/* ---- bytes ---- */

typedef uint32_t lanes __attribute__((vector_size(16)));

static bool is_offset(const struct name_filter *f, uint32_t value)
{
	for (size_t i = 0; i < f->n; i++) {
		if (f->offsets[i] == value)
			return true;
	}
	return false;
}

/* Whether one of the offsets is at any of the 16 places from p on; 19 bytes are readable there. */
static bool block_has_offset(const struct name_filter *f, const uint8_t *p)
{
	lanes at[4], found = { 0 };
	uint64_t halves[2];

	for (size_t i = 0; i < 4; i++)
		memcpy(&at[i], p + i, sizeof(at[i]));
	for (size_t i = 0; i < f->n; i++) {
		uint32_t o = f->offsets[i];
		lanes wanted = { o, o, o, o };

		found |= (lanes)(at[0] == wanted) | (lanes)(at[1] == wanted) |
		         (lanes)(at[2] == wanted) | (lanes)(at[3] == wanted);
	}
	memcpy(halves, &found, sizeof(halves));
	return halves[0] | halves[1];
}

static bool name_filter_has_offset(const struct name_filter *f, struct section bytes)
{
	const uint8_t *p = bytes.data, *end = p + bytes.size;
	uint32_t value;

	for (; f->n && end - p >= 19; p += 16) {
		if (block_has_offset(f, p))
			return true;
	}
	for (; f->n && end - p >= 4; p++) {
		memcpy(&value, p, sizeof(value));
		if (is_offset(f, value))
			return true;
	}
	return false;
}

bool name_filter_may_have(struct name_filter *f, const struct unit *u)
{
	struct section bytes = { f->s->info.data + u->start, (size_t)(u->end - u->start) };

	if (f->forms != u->first)
		read_forms(f, u);
	return f->all || f->has_other || name_filter_has_offset(f, bytes) ||
	       (f->has_text && memmem(bytes.data, bytes.size, f->base, strlen(f->base)));
}
