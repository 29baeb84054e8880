#include "runtimes/inspect/current_task.h"

#include "runtimes/common/inspector.h"
#include "runtimes/common/runtime.h"
#include "runtimes/tokio/tokio.h"

/* Of runtimes whose tasks have numbers. */
static const struct {
	const struct runtime *runtime;
	current_task_fn *find;
} numbered[] = {
	{ &tokio_table, tokio_current_task },
};

enum { NNUMBERED = sizeof(numbered) / sizeof(*numbered) };

static bool is_numbered(const struct runtime *r)
{
	for (size_t i = 0; i < NNUMBERED; i++) {
		if (numbered[i].runtime == r)
			return true;
	}
	return false;
}

bool current_task_find(struct inspector *in, struct current_task *ret)
{
	struct runtime_copy copy;
	size_t n = 0;

	for (size_t i = 0; i < NNUMBERED; i++)
		n += numbered[i].find(in, ret);
	for (const struct runtime *const *r = runtimes_in(in->di); *r; r++)
		ret->zero &= is_numbered(*r) || !(*r)->copy || !(*r)->copy(in, 0, &copy);
	return n == 1;
}
