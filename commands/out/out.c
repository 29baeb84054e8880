#include "commands/out/out.h"

#include <errno.h>
#include <poll.h>

#include "debugger/base/progress.h"
#include "runtimes/analysis/job.h"
#include "runtimes/session/asyncdbg.h"

void out_begin(struct out *o, const struct answer *answer)
{
	progress_end();
	o->answer = *answer;
	o->open = true;
	o->ops->begin(o);
}

void out_part(struct out *o, const struct part_kind *kind, const void *part)
{
	o->ops->part(o, kind, arena_memdup(&o->arena, part, kind->size));
}

/*
 * The error of a failed write. stdio does not keep the cause: errnum is the saved errno, 0 unknown.
 */
static struct error *write_error(struct out *o, int errnum)
{
	errnum = o->errnum ? o->errnum : errnum;

	FILE *f = o->options.answers;
	struct pollfd reader = { .fd = fileno(f) };

	if (!ferror(f))
		return NULL;
	if (poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR))
		return error_os(EPIPE, "standard output");
	return error_os(errnum ? errnum : EIO, "standard output");
}

struct error *out_end(struct out *o)
{
	errno = 0;
	if (o->open)
		o->ops->end(o);
	o->open = false;
	arena_free(&o->arena);
	fflush(o->options.answers);
	progress_end();
	return write_error(o, errno);
}

void out_drop(struct out *o)
{
	if (o->open)
		o->ops->drop(o);
	o->open = false;
	arena_free(&o->arena);
	fflush(o->options.answers);
}

void out_progress(const struct out *o, size_t done, size_t total)
{
	if (o->options.progress && done % PROGRESS_STRIDE == 0)
		progress("writing tasks", done, total);
}

void out_free(struct out *o)
{
	if (!o)
		return;
	arena_free(&o->arena);
	o->ops->free(o);
}

void out_freep(struct out **o)
{
	out_free(*o);
}

struct error *out_check(struct out *o)
{
	TRY(interrupt_check());
	return write_error(o, 0);
}

bool out_runtime_tasks(const struct answer *answer, const struct runtime_info *r, uint64_t *ret)
{
	bool listed = answer->wants & WANT_TASKS;

	if (!listed && !r->has_expected)
		return false;
	*ret = listed ? r->ntasks : r->expected_tasks;
	return true;
}

enum completeness out_completeness(const struct answer *answer, const struct runtime_info *r)
{
	return answer->wants & WANT_TASKS ? r->completeness : COMPLETENESS_UNKNOWN;
}

size_t out_runtime_jobs(const struct answer *answer, const struct runtime_info *r)
{
	return answer->wants & WANT_TASKS ? job_count(answer->snapshot, r->index) : 0;
}

bool out_local_tasks(const struct answer *answer, const struct runtime_info *r, uint64_t *ret)
{
	const struct snapshot *s = answer->snapshot;

	if (!(answer->wants & WANT_TASKS))
		return false;
	*ret = 0;
	for (size_t i = 0; i < s->ntasks; i++)
		*ret += s->tasks[i]->runtime == r->index && s->tasks[i]->local_set != 0 &&
		        !s->tasks[i]->undriven;
	return true;
}

size_t out_undriven_tasks(const struct answer *answer)
{
	const struct snapshot *s = answer->snapshot;
	size_t n = 0;

	for (size_t i = 0; (answer->wants & WANT_TASKS) && i < s->ntasks; i++)
		n += s->tasks[i]->undriven;
	return n;
}
