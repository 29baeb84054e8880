#include "runtimes/common/row_filter.h"

/* Number of a name's bit, of 4,096: by a hash of the name without generics (FNV-1a). */
static unsigned bit_of(const char *name)
{
	uint32_t hash = 2166136261;

	for (; *name && *name != '<'; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619;
	return hash >> 20;
}

void row_filter_add(struct row_filter *f, const char *path)
{
	unsigned bit = bit_of(path);

	f->bits[bit / 64] |= UINT64_C(1) << bit % 64;
}

bool row_filter_may_have(const struct row_filter *f, const char *name)
{
	unsigned bit = bit_of(name);

	return f->bits[bit / 64] >> bit % 64 & 1;
}
