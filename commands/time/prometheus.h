/*
 * Writes numbers in Prometheus' text format, version 0.0.4: families of one name, each with one
 * line for each set of labels. This file knows the format, not the meaning of the numbers.
 */
#ifndef COMMANDS_TIME_PROMETHEUS_H
#define COMMANDS_TIME_PROMETHEUS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct event_histogram;

enum { PROMETHEUS_LABELS = 4 }; /* of a line, beside those that all lines have */

struct prometheus_label {
	const char *name, *value; /* a value of NULL is left out */
};

struct prometheus {
	FILE *f; /* borrowed; its error flag tells whether writing failed */
	const struct prometheus_label *all; /* of each line, a name of NULL at the end */
	const char *name;                   /* of the family; NULL: none has begun */
};

/* Labels, terminated by a NULL name. */
typedef const struct prometheus_label prometheus_labels[PROMETHEUS_LABELS + 1];

/* Begins a family; type: "counter", "gauge", "histogram". */
void prometheus_family(struct prometheus *p, const char *name, const char *type, const char *help);
void prometheus_number(const struct prometheus *p, prometheus_labels labels, uint64_t value);
/* prometheus_number() of a time, in seconds. */
void prometheus_time(const struct prometheus *p, prometheus_labels labels, uint64_t ns);
/* All lines of a histogram, in seconds. */
void prometheus_histogram(const struct prometheus *p, prometheus_labels labels,
                          const struct event_histogram *h);

#endif
