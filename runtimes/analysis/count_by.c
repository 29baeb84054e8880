#include "runtimes/analysis/count_by.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "runtimes/analysis/group_hash.h"

struct counted {
	struct count_by_row row;
	struct counted *same_hash;
	size_t place;
};

struct counter {
	struct arena *a;
	struct map rows; /* by hash: heads of chains */
	VEC(struct counted *) list;
};

static void free_counter(struct counter *c)
{
	map_free(&c->rows);
	vec_free(&c->list);
}

static struct counted *count_by_find(struct counter *c, const char *value)
{
	uint64_t hash = hash_text(HASH_START, value) | 1;
	struct counted *first = map_get(&c->rows, hash);

	for (struct counted *row = first; row; row = row->same_hash) {
		if (same_text(row->row.value, value))
			return row;
	}
	struct counted *row = NEW(c->a, struct counted);

	row->row.value = value ? arena_strdup(c->a, value) : NULL;
	row->same_hash = first;
	row->place = c->list.n;
	map_put(&c->rows, hash, row);
	*vec_push(&c->list) = row;
	return row;
}

static int count_by_compare(const void *a, const void *b)
{
	const struct counted *x = *(struct counted *const *)a, *y = *(struct counted *const *)b;

	if (x->row.count.tasks != y->row.count.tasks)
		return x->row.count.tasks > y->row.count.tasks ? -1 : 1;
	return x->place < y->place ? -1 : 1;
}

void count_by_make(struct arena *a, const struct snapshot *s, const struct field *field,
                   const struct task *const *tasks, size_t n, struct count_by *ret)
{
	struct counter c CLEANUP(free_counter) = { .a = a };
	SCRATCH(tmp);

	*ret = (struct count_by){ .field = field };
	for (size_t i = 0; i < n; i++) {
		struct field_of of = { &tmp, s, tasks[i], NULL };
		const char *value = field->value(&of);

		value = value ? str_clean(&tmp, value, strlen(value)) : NULL;
		group_count_add(&count_by_find(&c, value)->row.count, tasks[i]);
		group_count_add(&ret->count, tasks[i]);
		arena_reset(&tmp);
	}
	ret->nrows = c.list.n;
	ret->rows = NEW_ARRAY(a, struct count_by_row, c.list.n);
	if (c.list.n)
		qsort(c.list.data, c.list.n, sizeof(*c.list.data), count_by_compare);
	for (size_t i = 0; i < c.list.n; i++)
		ret->rows[i] = c.list.data[i]->row;
}
