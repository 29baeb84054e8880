#include "dwarf/frame/state_set.h"

#include <string.h>

enum { BITS = 64, MAX_STATES = 1 << 20 /* numbers of states in a target may be any */ };

/* Gives the set words of its own, at least n of them. */
static void state_set_own(struct state_set *s, struct arena *a, size_t n)
{
	const struct state_set old = *s;

	s->n = n > old.n ? n : old.n;
	s->words = NEW_ARRAY(a, uint64_t, s->n);
	if (old.n)
		memcpy(s->words, old.words, old.n * sizeof(*old.words));
}

void state_set_add(struct state_set *s, struct arena *a, size_t state)
{
	if (state >= MAX_STATES || state_set_has(s, state))
		return;
	state_set_own(s, a, state / BITS + 1);
	s->words[state / BITS] |= UINT64_C(1) << state % BITS;
}

void state_set_unite(struct state_set *s, struct arena *a, const struct state_set *with)
{
	if (state_set_is_within(with, s))
		return;
	state_set_own(s, a, with->n);
	for (size_t i = 0; i < with->n; i++)
		s->words[i] |= with->words[i];
}

void state_set_keep(struct state_set *s, struct arena *a, const struct state_set *in)
{
	state_set_own(s, a, s->n);
	for (size_t i = 0; i < s->n; i++)
		s->words[i] &= state_set_word(in, i);
}

void state_set_remove(struct state_set *s, struct arena *a, const struct state_set *in)
{
	state_set_own(s, a, s->n);
	for (size_t i = 0; i < s->n; i++)
		s->words[i] &= ~state_set_word(in, i);
}

bool state_set_has(const struct state_set *s, size_t state)
{
	return state_set_word(s, state / BITS) >> state % BITS & 1;
}

bool state_set_is_empty(const struct state_set *s)
{
	return state_set_is_within(s, &(const struct state_set){ 0 });
}

bool state_set_is_within(const struct state_set *s, const struct state_set *other)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->words[i] & ~state_set_word(other, i))
			return false;
	}
	return true;
}

uint64_t state_set_word(const struct state_set *s, size_t i)
{
	return i < s->n ? s->words[i] : 0;
}
