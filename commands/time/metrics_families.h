/* Families of numbers that the command `metrics` writes, computed from the counts of events. */
#ifndef COMMANDS_TIME_METRICS_FAMILIES_H
#define COMMANDS_TIME_METRICS_FAMILIES_H

#include <stdint.h>
#include <stdio.h>

#include "commands/time/prometheus.h"
#include "runtimes/timeline/event_counts.h"

struct metrics_source {
	const struct event_counts *tally;
	const struct trace_plan *plan; /* events that it does not show have no family */
	struct trace_totals totals;
	uint64_t elapsed_ns, slow_ns;
	const struct prometheus_label *all; /* of each line: the process */
};

void metrics_families_write(FILE *f, const struct metrics_source *m);

#endif
