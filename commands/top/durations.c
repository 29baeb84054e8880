#include "commands/top/durations.h"

#include <stdlib.h>

enum { LOWEST = 8 /* power of two where the buckets begin */ };

static size_t bucket_of(uint64_t ns)
{
	if (ns < 1U << LOWEST)
		return 0;
	unsigned power = 63 - (unsigned)__builtin_clzll(ns);
	size_t i = 1 + (size_t)(power - LOWEST) * 4 + ((ns >> (power - 2)) & 3);
	return i < DURATIONS_BUCKETS ? i : DURATIONS_BUCKETS - 1;
}

static uint64_t bucket_end(size_t i)
{
	if (i == 0)
		return (1U << LOWEST) - 1;
	unsigned power = LOWEST + (unsigned)(i - 1) / 4;
	return ((UINT64_C(5) + (i - 1) % 4) << (power - 2)) - 1;
}

static void use_buckets(struct durations *d, struct arena *a)
{
	if (d->buckets)
		return;
	d->buckets = NEW_ARRAY(a, uint32_t, DURATIONS_BUCKETS);
	for (uint32_t i = 0; i < d->n; i++)
		d->buckets[bucket_of(d->first[i])]++;
}

void durations_add(struct durations *d, struct arena *a, uint64_t ns)
{
	if (d->n == UINT32_MAX)
		return;
	if (d->n < DURATIONS_FIRST && !d->buckets) {
		d->first[d->n] = ns;
	} else {
		use_buckets(d, a);
		d->buckets[bucket_of(ns)]++;
	}
	d->n++;
	d->longest = ns > d->longest ? ns : d->longest;
}

void durations_merge(struct durations *d, struct arena *a, const struct durations *from)
{
	if (!from->buckets) {
		for (uint32_t i = 0; i < from->n; i++)
			durations_add(d, a, from->first[i]);
		return;
	}
	if (from->n > UINT32_MAX - d->n)
		return;
	use_buckets(d, a);
	for (size_t i = 0; i < DURATIONS_BUCKETS; i++)
		d->buckets[i] += from->buckets[i];
	d->n += from->n;
	d->longest = from->longest > d->longest ? from->longest : d->longest;
}

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint64_t durations_percentile(const struct durations *d, unsigned percent)
{
	uint64_t rank = ((uint64_t)d->n * percent + 99) / 100, sum = 0;
	uint64_t sorted[DURATIONS_FIRST];

	if (!rank)
		return 0;
	if (!d->buckets) {
		for (uint32_t i = 0; i < d->n; i++)
			sorted[i] = d->first[i];
		qsort(sorted, d->n, sizeof(*sorted), by_length);
		return sorted[rank - 1];
	}
	for (size_t i = 0; i < DURATIONS_BUCKETS; i++) {
		sum += d->buckets[i];
		if (sum >= rank)
			return bucket_end(i) < d->longest && i < DURATIONS_BUCKETS - 1
			               ? bucket_end(i)
			               : d->longest;
	}
	return d->longest;
}
