/* Finds the functions of a unit by address. */
#include <stdlib.h>

#include "debugger/base/arena.h"
#include "dwarf/scan/scan.h"

enum { NO_FUNCTION = UINT32_MAX };
/* A list in order is made by the search after so many: sorting takes as long as many of them. */
enum { UNSORTED_SEARCHES = 16 };

/*
 * A hash table of functions by their starts: a unit may have thousands, and each may be looked up.
 * A chain links the functions whose starts have the same hash, in the order of DIEs.
 */
struct unit_starts {
	uint32_t mask;
	uint32_t nsearches; /* for functions around an address */
	uint32_t *sorted;   /* all functions by start, those of one start as longer() has it */
	bool is_sorted;     /* they are in order; false: not needed yet */
	uint32_t *next;     /* per function, the next one of its chain */
	uint32_t heads[];   /* mask + 1 chains */
};

static uint32_t *chain_of(struct unit_starts *s, uint64_t low)
{
	return &s->heads[(low * UINT64_C(0x9e3779b97f4a7c15) >> 32) & s->mask];
}

static struct unit_starts *starts_new(const struct unit *u)
{
	size_t nchains = 16;

	while (nchains < u->found.nfunctions)
		nchains *= 2;
	struct unit_starts *s =
		malloc(sizeof(*s) + (nchains + 2 * u->found.nfunctions) * sizeof(s->heads[0]));
	if (!s)
		out_of_memory();
	s->mask = (uint32_t)nchains - 1;
	s->nsearches = 0;
	s->is_sorted = false;
	s->next = s->heads + nchains;
	s->sorted = s->next + u->found.nfunctions;
	memset(s->heads, 0xff, nchains * sizeof(s->heads[0]));
	for (size_t i = u->found.nfunctions; i--;) {
		uint32_t *head = chain_of(s, u->found.functions[i].low);

		s->next[i] = *head;
		*head = (uint32_t)i;
	}
	return s;
}

const struct unit_function *scan_function_from(struct unit *u, uint64_t low,
                                               const struct unit_function *after)
{
	uint32_t i;

	if (!u->found.starts)
		u->found.starts = starts_new(u);
	i = after ? u->found.starts->next[after - u->found.functions]
	          : *chain_of(u->found.starts, low);
	while (i != NO_FUNCTION && u->found.functions[i].low != low)
		i = u->found.starts->next[i];
	return i != NO_FUNCTION ? &u->found.functions[i] : NULL;
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

static int scan_function_compare(const void *a, const void *b, void *functions)
{
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct unit_function *x = &((const struct unit_function *)functions)[i];
	const struct unit_function *y = &((const struct unit_function *)functions)[j];

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return i < j ? -1 : i > j;
}

static void scan_function_sort(struct unit *u)
{
	for (size_t i = 0; i < u->found.nfunctions; i++)
		u->found.starts->sorted[i] = (uint32_t)i;
	qsort_r(u->found.starts->sorted, u->found.nfunctions, sizeof(uint32_t),
	        scan_function_compare, u->found.functions);
	u->found.starts->is_sorted = true;
}

/* The last one in order that starts at pc or before. */
static const struct unit_function *sorted_before(const struct unit *u, uint64_t pc)
{
	size_t low = 0, high = u->found.nfunctions;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (u->found.functions[u->found.starts->sorted[middle]].low <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &u->found.functions[u->found.starts->sorted[low - 1]] : NULL;
}

static const struct unit_function *starts_before(struct unit *u, uint64_t pc)
{
	const struct unit_function *best = NULL;

	if (!u->found.starts->is_sorted && u->found.starts->nsearches++ == UNSORTED_SEARCHES)
		scan_function_sort(u);
	if (u->found.starts->is_sorted)
		return sorted_before(u, pc);
	for (size_t i = 0; i < u->found.nfunctions; i++) {
		const struct unit_function *f = &u->found.functions[i];

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
