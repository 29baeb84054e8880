/*
 * Writes a trace with everything that the trace writer has, as a tracer would: see run_perfetto.sh.
 *
 * usage: perfetto_sample POLLS >TRACE
 *
 * On standard error it says how many events of which kind there are, "truth KEY VALUE", and by how
 * many kB its memory grew in the second half. Exit status 1 if the trace cannot be written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/perfetto/perfetto.h"

enum { WORKERS = 2, TASKS = 100, PID = 4711, POLL_NS = 1000, LARGEST_TASK = 1 << 30 };

struct sample {
	struct perfetto *trace;
	uint64_t start; /* ns */
	uint64_t workers[WORKERS], tasks[TASKS], alive;
	uint64_t flow;
	/* What the trace must have. */
	uint64_t slices, instants, counters, flows;
};

static struct error *add_tracks(struct sample *s)
{
	char name[64];
	uint64_t group;

	for (int i = 0; i < WORKERS; i++) {
		snprintf(name, sizeof(name), "tokio-rt-%d", i);
		TRY(perfetto_add_thread(s->trace, PID + 1 + i, name, &s->workers[i]));
	}
	TRY(perfetto_add_counter(s->trace, PERFETTO_PROCESS, "alive tasks", "tasks", &s->alive));
	TRY(perfetto_add_counter(s->trace, s->workers[0], "local queue", NULL, &group));
	TRY(perfetto_add_track(s->trace, PERFETTO_PROCESS, "app::handle", &group));
	for (int i = 0; i < TASKS; i++) {
		/* All have one name, with what is no UTF-8 and no text. */
		TRY(perfetto_add_track(s->trace, group, "task \033[1m\xff \xe2\x80\xae",
		                       &s->tasks[i]));
	}
	return NULL;
}

static struct error *begin(struct sample *s, uint64_t time, uint64_t track, const char *name)
{
	s->slices++;
	return perfetto_begin(
		s->trace, &(struct perfetto_event){ .time = time, .track = track, .name = name });
}

static struct error *end(struct sample *s, uint64_t time, uint64_t track)
{
	return perfetto_end(s->trace, &(struct perfetto_event){ .time = time, .track = track });
}

/* Poll i: its task was woken by the one before, and goes to sleep at one of some places. */
static struct error *poll(struct sample *s, uint64_t i)
{
	char place[64];
	uint64_t time = s->start + i * POLL_NS, worker = s->workers[i % WORKERS];
	uint64_t task = s->tasks[i % TASKS];
	const struct perfetto_value id = { .key = "task", .number = (int64_t)(i % LARGEST_TASK) };
	const struct perfetto_value at = { .key = "place", .text = place };

	/* More places than are kept in a table, if there are enough polls. */
	snprintf(place, sizeof(place), "app::handle src/main.rs:%llu",
	         (unsigned long long)(i / 8 % 100000));
	if (i >= TASKS)
		TRY(end(s, time, task)); /* of its waiting */
	TRY(begin(s, time, task, "polling"));
	s->slices++;
	TRY(perfetto_begin(s->trace, &(struct perfetto_event){ .time = time,
	                                                       .track = worker,
	                                                       .name = "app::handle",
	                                                       .values = &id,
	                                                       .nvalues = 1,
	                                                       .flow_in = s->flow }));
	s->flows += s->flow != 0;
	s->instants++;
	TRY(perfetto_instant(s->trace, &(struct perfetto_event){ .time = time + POLL_NS / 2,
	                                                         .track = worker,
	                                                         .name = "task-wake",
	                                                         .flow_out = i + 1 }));
	s->flow = i + 1;
	TRY(perfetto_end(s->trace, &(struct perfetto_event){ .time = time + POLL_NS - 1,
	                                                     .track = worker,
	                                                     .values = &at,
	                                                     .nvalues = 1 }));
	TRY(end(s, time + POLL_NS - 1, task));
	TRY(begin(s, time + POLL_NS - 1, task, "waiting"));
	if (i % 10)
		return NULL;
	s->counters++;
	return perfetto_count(s->trace, time, s->alive, (int64_t)i % TASKS - TASKS / 2);
}

static long memory(void)
{
	long kb = 0, pages = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%ld %ld", &pages, &resident) == 2)
		kb = resident * (sysconf(_SC_PAGESIZE) / 1024);
	if (f)
		fclose(f);
	return kb;
}

static struct error *write_trace(struct sample *s, uint64_t polls, long *growth)
{
	const struct perfetto_clocks clocks = perfetto_clocks_now();

	s->start = clocks.monotonic;
	TRY(perfetto_open(STDOUT_FILENO, &clocks, PID, "sample", &s->trace));
	TRY(add_tracks(s));
	/* An end of a poll that began before. */
	TRY(end(s, s->start, s->workers[0]));
	for (uint64_t i = 0; i < polls; i++) {
		if (i == polls / 2)
			*growth = memory();
		TRY(poll(s, i));
	}
	*growth = memory() - *growth;
	return perfetto_finish(s->trace, s->start + polls * POLL_NS);
}

int main(int argc, char **argv)
{
	struct sample s = { 0 };
	long growth = 0;

	if (argc != 2)
		return 2;
	struct error *err = write_trace(&s, strtoull(argv[1], NULL, 10), &growth);
	if (err) {
		/* What was open goes on for nothing: one error is all. */
		fprintf(stderr, "perfetto_sample: %s\n", err->message);
		if (s.trace && perfetto_finish(s.trace, 0))
			fprintf(stderr, "perfetto_sample: a second error\n");
		error_free(err);
		perfetto_close(s.trace);
		return 1;
	}
	struct perfetto_counts counts = perfetto_counts(s.trace);
	fprintf(stderr,
	        "truth events %llu\ntruth bytes %llu\ntruth slice_begin %llu\n"
	        "truth slice_end %llu\ntruth instant %llu\ntruth counter %llu\ntruth flows %llu\n"
	        "truth unmatched %llu\ntruth growth %ld\n",
	        (unsigned long long)counts.events, (unsigned long long)counts.bytes,
	        (unsigned long long)s.slices, (unsigned long long)s.slices,
	        (unsigned long long)s.instants, (unsigned long long)s.counters,
	        (unsigned long long)s.flows, (unsigned long long)counts.unmatched, growth);
	perfetto_close(s.trace);
	return 0;
}
