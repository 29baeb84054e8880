#include "runtimes/executor_detect/async_processes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "debugger/base/clock.h"
#include "debugger/base/file.h"
#include "debugger/base/log.h"
#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "debugger/live/live_check.h"
#include "debugger/target/target.h"
#include "runtimes/executor_detect/executor_detect_cache.h"
#include "runtimes/inspect/inspect.h"

/* An executable, shared by the processes that run it. */
struct program {
	struct detected_executors survey;
	bool opened; /* the members below were filled */
	bool known;  /* inspector_is_known() */
	enum debug_source debug;
	const char *debug_reason;
};

struct lister {
	struct arena *a;
	const struct async_processes_options *options;
	struct map programs;  /* key of a file_identity -> struct program */
	struct map libraries; /* key of device and inode -> struct detected_executors */
	struct executor_detect_cache *cache;
	size_t counted;    /* processes that were opened */
	uint64_t spent_ns; /* on them */
};

/* ---- which files contain executors ---- */

static int open_exe(const void *process)
{
	return process_open_exe(((const struct process *)process)->pid);
}

/* Not shared where the process has ended meanwhile: others may run the same program. */
static struct program *program_of(struct lister *l, const struct process *p)
{
	uint64_t key = map_key_of(&p->file, sizeof(p->file));
	struct program *program = map_get(&l->programs, key);

	if (program)
		return program;
	program = NEW(l->a, struct program);
	if (executor_detect_cache_get(l->cache, l->a, &p->file, open_exe, p, &program->survey))
		map_put(&l->programs, key, program);
	return program;
}

struct opened_library {
	int fd;
};

static int async_processes_open_library(const void *opened)
{
	return dup(((const struct opened_library *)opened)->fd);
}

/* NULL: it cannot be read, or the process has ended. */
static const struct detected_executors *detect_in_library(struct lister *l, pid_t pid,
                                                          const struct process_library *library)
{
	uint64_t key = map_key_of_pair(library->device, library->inode);
	struct detected_executors *survey = map_get(&l->libraries, key);
	struct file_identity file;

	if (survey)
		return survey;
	struct opened_library opened = { process_open_library(pid, library) };
	if (opened.fd < 0)
		return NULL;
	survey = NEW(l->a, struct detected_executors);
	if (file_identity_read(opened.fd, &file))
		(void)executor_detect_cache_get(l->cache, l->a, &file, async_processes_open_library,
		                                &opened, survey);
	close(opened.fd);
	map_put(&l->libraries, key, survey);
	return survey;
}

/* Fills the executors of p from its executable, else from its libraries. False: it has none. */
static bool find_executors(struct lister *l, const struct program *program,
                           struct async_process *ret)
{
	SCRATCH(tmp);
	pid_t pid = ret->process->pid;
	struct process_library *libraries;

	ret->executors = program->survey.data;
	ret->nexecutors = program->survey.n;
	if (ret->nexecutors)
		return true;
	size_t n = process_libraries(&tmp, pid, &libraries);
	for (size_t i = 0; i < n; i++) {
		const struct detected_executors *survey = detect_in_library(l, pid, &libraries[i]);

		if (!survey || !survey->n)
			continue;
		ret->executors = survey->data;
		ret->nexecutors = survey->n;
		ret->library = str_clean(l->a, libraries[i].path, strlen(libraries[i].path));
		return true;
	}
	return false;
}

/* ---- its debug info and tasks ---- */

static const char *problem_text(struct arena *a, const struct error *err)
{
	return str_clean(a, err->message, strlen(err->message));
}

static enum debug_source source_of(const struct program *program, const struct target_info *info)
{
	if (info->layout)
		return DEBUG_LAYOUT;
	switch (info->tier) {
	case TIER_FULL:
		return program->survey.has_debug_info ? DEBUG_FULL : DEBUG_SEPARATE;
	case TIER_LINES:
		return DEBUG_LINES;
	default:
		return DEBUG_NONE;
	}
}

static void describe_program(struct lister *l, const struct asyncdbg *d, struct program *program)
{
	const struct target_info *info = inspector_info(asyncdbg_inspector(d));

	program->opened = true;
	program->known = inspector_is_known(asyncdbg_inspector(d));
	program->debug = source_of(program, info);
	if (info->tier_reason)
		program->debug_reason =
			str_clean(l->a, info->tier_reason, strlen(info->tier_reason));
}

/* Whether the tasks of one more process of this program are counted. */
static bool counts(const struct lister *l, const struct program *program)
{
	return l->options->tasks || l->counted < ASYNC_PROCESSES_COUNTED ||
	       (program->known && l->spent_ns < ASYNC_PROCESSES_MS * UINT64_C(1000000));
}

/* Adds up the tasks of all runtimes; leaves them unknown where one is. */
static void count_tasks(struct asyncdbg *d, struct async_process *p)
{
	const struct snapshot *s;
	uint64_t total = 0;
	struct error *err CLEANUP(error_freep) = asyncdbg_snapshot(d, 0, NULL, &s);

	if (err || !s->nruntimes)
		return;
	for (size_t i = 0; i < s->nruntimes; i++) {
		if (!s->runtimes[i].has_expected)
			return;
		total += s->runtimes[i].expected_tasks;
	}
	p->tasks = total;
	p->has_tasks = true;
}

static struct error *open_process(struct lister *l, struct program *program,
                                  struct async_process *p)
{
	struct asyncdbg_options options = l->options->session;
	struct asyncdbg *d CLEANUP(asyncdbg_closep) = NULL;

	options.pid = p->process->pid;
	options.target.stop = (struct stop_options){ .never = true };
	TRY(asyncdbg_open(&options, &d));
	describe_program(l, d, program);
	if (counts(l, program))
		count_tasks(d, p);
	return NULL;
}

/* Opens the process unless one of the same program was, and no tasks are to be counted. */
static void async_processes_look_at(struct lister *l, struct program *program,
                                    struct async_process *p)
{
	const struct arch *arch;
	struct error *err CLEANUP(error_freep) = live_check(p->process->pid, true, &arch);

	if (!err && (!program->opened || counts(l, program))) {
		uint64_t begin = clock_now_ns();

		err = open_process(l, program, p);
		l->spent_ns += clock_since(begin);
		l->counted++;
	}
	p->debug = p->library ? DEBUG_UNKNOWN : program->debug;
	p->debug_reason = p->library ? NULL : program->debug_reason;
	if (err)
		p->problem = problem_text(l->a, err);
}

/* ---- the list ---- */

static void count_denied(struct lister *l, const struct process *p, struct async_processes *ret)
{
	struct error *err CLEANUP(error_freep) = live_denied(p->pid);

	ret->denied++;
	if (!ret->denied_problem)
		ret->denied_problem = problem_text(l->a, err);
}

static struct error *async_processes_list(struct lister *l, struct async_processes *ret)
{
	VEC(struct async_process) found = { 0 };
	struct error *err = NULL;

	for (size_t i = 0; i < ret->all.n && !err; i++) {
		const struct process *process = &ret->all.data[i];
		struct async_process p = { .process = process };

		err = interrupt_check();
		if (err || process->zombie || process->pid == getpid())
			continue;
		if (process->denied) {
			count_denied(l, process, ret);
			continue;
		}
		struct program *program = program_of(l, process);
		if (!find_executors(l, program, &p))
			continue;
		if (!l->options->closed)
			async_processes_look_at(l, program, &p);
		/*
		 * A process that has ended meanwhile is left out: its error is no problem to
		 * report.
		 */
		if (p.problem && !process_is_there(process))
			continue;
		*vec_push(&found) = p;
	}
	ret->n = found.n;
	ret->data = vec_to_arena(&found, l->a);
	return err;
}

/*
 * Whether enough files can be opened: where they cannot (ulimit -n 12), a program whose file fails
 * to open would count as one that is not async, or as one without debug info.
 */
static struct error *check_descriptors(void)
{
	enum { NEEDED = 32 };
	int fds[NEEDED], n = 0, errnum = 0;

	file_raise_limit();
	while (n < NEEDED && !errnum) {
		fds[n] = open("/", O_PATH | O_CLOEXEC);
		errnum = fds[n] < 0 ? errno : 0;
		n += fds[n] >= 0;
	}
	while (n)
		close(fds[--n]);
	return errnum ? error_os(errnum, "the files of all processes cannot be read") : NULL;
}

struct error *async_processes_read(struct arena *a, const struct async_processes_options *options,
                                   struct async_processes *ret)
{
	struct lister l = { .a = a, .options = options };

	TRY(check_descriptors());
	*ret = (struct async_processes){ 0 };
	TRY(process_list_read(a, &ret->all));
	l.cache = executor_detect_cache_open(options->session.inspector.cache);
	struct error *err = async_processes_list(&l, ret);

	LOG("ps", "%zu processes were opened in %" PRIu64 " us", l.counted, l.spent_ns / 1000);
	executor_detect_cache_close(l.cache);
	map_free(&l.programs);
	map_free(&l.libraries);
	return err;
}
