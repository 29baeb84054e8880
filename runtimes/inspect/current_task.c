#include "runtimes/inspect/current_task.h"

#include "runtimes/common/inspector.h"
#include "runtimes/common/runtime.h"

bool current_task_find(struct inspector *in, struct current_task *ret)
{
	struct runtime_copy copy;
	size_t n = 0;

	for (const struct runtime *const *r = runtimes_in(in->di); *r; r++)
		n += (*r)->tasks.current_task && (*r)->tasks.current_task(in, ret);
	for (const struct runtime *const *r = runtimes_in(in->di); *r; r++)
		ret->zero &= (*r)->tasks.current_task || !(*r)->copy || !(*r)->copy(in, 0, &copy);
	return n == 1;
}
