/*
 * Scans units that will be needed with several threads. A scan touches nothing but its unit, so
 * that the result does not depend on which thread ran it, or when.
 */
#include <stdatomic.h>

#include "debugger/base/log.h"
#include "debugger/base/parallel.h"
#include "debugger/base/vec.h"
#include "dwarf/module/debuginfo.h"

enum {
	MUCH = 32 << 20, /* bytes of debug info: above, pages are dropped after the scan */
	WORTH_A_THREAD = 512 * 1024, /* bytes of debug info per thread: to start one costs 50 us */
};

struct job {
	struct dwarf_module *dm;
	struct unit **units;
	size_t n;
	uint64_t bytes;
	atomic_size_t next, nthreads;
};

static void *run(void *arg)
{
	struct job *job = arg;
	struct scanner **scanner = &job->dm->scanners[atomic_fetch_add(&job->nthreads, 1)];
	size_t i;

	if (!*scanner)
		*scanner = scanner_new();
	while ((i = atomic_fetch_add(&job->next, 1)) < job->n) {
		struct unit *u = job->units[i];

		debuginfo_scan_with(job->dm, u, *scanner);
		if (job->bytes > MUCH)
			residency_drop(job->dm, job->dm->sections.info.data + u->start,
			               u->end - u->start);
	}
	return NULL;
}

static void run_job(struct job *job)
{
	size_t threads = (size_t)(job->bytes / WORTH_A_THREAD) + 1;

	parallel_run(run, job, threads < job->n ? threads : job->n);
}

void debuginfo_scan_all(struct dwarf_module *dm, struct unit **units, size_t n)
{
	struct job job = { .dm = dm };
	VEC(struct unit *) wanted = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (!units[i]->scanned && !units[i]->queued) {
			units[i]->queued = true;
			*vec_push(&wanted) = units[i];
			job.bytes += units[i]->end - units[i]->start;
		}
	}
	job.units = wanted.data;
	job.n = wanted.n;
	if (job.n) {
		LOG("dwarf", "scan %zu units", job.n);
		run_job(&job);
		dm->nscanned += job.n;
		residency_read(dm, job.bytes);
	}
	vec_free(&wanted);
}

void debuginfo_prefetch(struct debuginfo *di, const uint64_t *addrs, size_t n)
{
	for (size_t i = 0; i < di->nmodules; i++) {
		struct dwarf_module *dm = di->modules[i];
		VEC(struct unit *) units = { 0 };

		for (size_t j = 0; dm->dwarf && j < n; j++) {
			struct unit *u = debuginfo_unit_of_code(dm, addrs[j]);

			if (u && !u->scanned)
				*vec_push(&units) = u;
		}
		debuginfo_scan_all(dm, units.data, units.n);
		vec_free(&units);
	}
}
