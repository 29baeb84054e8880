#include "dwarf/values/queue_length.h"

enum {
	LIST_SHIFT = 1, /* the lowest bit of a position is a flag */
	LIST_LAP = 32,  /* positions of a block, the last of which holds no message */
};

uint64_t queue_length_bounded(uint64_t head, uint64_t tail, uint64_t mark, uint64_t capacity)
{
	uint64_t from = head & (mark - 1), to = tail & (mark - 1);

	if (from < to)
		return to - from;
	if (from > to)
		return capacity - from + to;
	return (tail & ~mark) == head ? 0 : capacity;
}

bool queue_length_unbounded(uint64_t head, uint64_t tail, uint64_t *ret)
{
	head >>= LIST_SHIFT;
	tail >>= LIST_SHIFT;
	/* The last position of a block stands for the first of the next one. */
	head += head % LIST_LAP == LIST_LAP - 1;
	tail += tail % LIST_LAP == LIST_LAP - 1;
	if (tail - head > INT64_MAX)
		return false;
	*ret = tail - tail / LIST_LAP - (head - head / LIST_LAP);
	return true;
}
