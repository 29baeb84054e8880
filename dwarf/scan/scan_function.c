/* Finds the functions of a unit by address. */
#include <stdlib.h>

#include "debugger/base/arena.h"
#include "dwarf/scan/scan.h"

enum { NO_FUNCTION = UINT32_MAX };

/*
 * A hash table of functions by their starts: a unit may have thousands, and each may be looked up.
 * A chain links the functions whose starts have the same hash, in the order of DIEs.
 */
struct unit_starts {
	uint32_t mask;
	uint32_t *next;   /* per function, the next one of its chain */
	uint32_t heads[]; /* mask + 1 chains */
};

static uint32_t *chain_of(struct unit_starts *s, uint64_t low)
{
	return &s->heads[(low * UINT64_C(0x9e3779b97f4a7c15) >> 32) & s->mask];
}

static struct unit_starts *starts_new(const struct unit *u)
{
	size_t nchains = 16;

	while (nchains < u->nfunctions)
		nchains *= 2;
	struct unit_starts *s =
		malloc(sizeof(*s) + (nchains + u->nfunctions) * sizeof(s->heads[0]));
	if (!s)
		out_of_memory();
	s->mask = (uint32_t)nchains - 1;
	s->next = s->heads + nchains;
	memset(s->heads, 0xff, nchains * sizeof(s->heads[0]));
	for (size_t i = u->nfunctions; i--;) {
		uint32_t *head = chain_of(s, u->functions[i].low);

		s->next[i] = *head;
		*head = (uint32_t)i;
	}
	return s;
}

const struct unit_function *scan_function_from(struct unit *u, uint64_t low,
                                               const struct unit_function *after)
{
	uint32_t i;

	if (!u->starts)
		u->starts = starts_new(u);
	i = after ? u->starts->next[after - u->functions] : *chain_of(u->starts, low);
	while (i != NO_FUNCTION && u->functions[i].low != low)
		i = u->starts->next[i];
	return i != NO_FUNCTION ? &u->functions[i] : NULL;
}

/* Chooses among functions that start at one address: the longest, and of equal ones the last. */
static const struct unit_function *longer(const struct unit_function *a,
                                          const struct unit_function *b)
{
	return !a || b->size >= a->size ? b : a;
}

static const struct unit_function *starts_at(struct unit *u, uint64_t pc)
{
	const struct unit_function *best = NULL;

	for (const struct unit_function *f = NULL; (f = scan_function_from(u, pc, f));)
		best = longer(best, f);
	return best;
}

static const struct unit_function *starts_before(const struct unit *u, uint64_t pc)
{
	const struct unit_function *best = NULL;

	for (size_t i = 0; i < u->nfunctions; i++) {
		const struct unit_function *f = &u->functions[i];

		if (f->low <= pc && (!best || f->low >= best->low))
			best = longer(best && best->low == f->low ? best : NULL, f);
	}
	return best;
}

uint32_t scan_function_at(struct unit *u, uint64_t pc)
{
	const struct unit_function *best = starts_at(u, pc);

	best = best ? best : starts_before(u, pc);
	return best && pc - best->low < best->size ? best->scope : SCOPE_NONE;
}
