#include "commands/time/prometheus.h"

#include <inttypes.h>

#include "runtimes/timeline/event_counts.h"

enum { SECOND = 1000000000 };

void prometheus_family(struct prometheus *p, const char *name, const char *type, const char *help)
{
	p->name = name;
	fprintf(p->f, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void prometheus_put_value(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++) {
		if (*text == '\n') {
			fputs("\\n", f);
			continue;
		}
		if (*text == '"' || *text == '\\')
			fputc('\\', f);
		fputc(*text, f);
	}
	fputc('"', f);
}

static void prometheus_put_label(FILE *f, const char *name, const char *value,
                                 const char **separator)
{
	fprintf(f, "%s%s=", *separator, name);
	prometheus_put_value(f, value);
	*separator = ",";
}

/* The start of a line, up to the blank before the number. */
static void prometheus_put_series(const struct prometheus *p, const char *suffix,
                                  const struct prometheus_label *labels, const char *bound)
{
	const char *separator = "{";

	fprintf(p->f, "%s%s", p->name, suffix);
	for (const struct prometheus_label *l = p->all; l->name; l++) {
		if (l->value)
			prometheus_put_label(p->f, l->name, l->value, &separator);
	}
	for (const struct prometheus_label *l = labels; l->name; l++) {
		if (l->value)
			prometheus_put_label(p->f, l->name, l->value, &separator);
	}
	if (bound)
		prometheus_put_label(p->f, "le", bound, &separator);
	fputs(*separator == ',' ? "} " : " ", p->f);
}

static void prometheus_put_number(FILE *f, uint64_t value)
{
	fprintf(f, "%" PRIu64 "\n", value);
}

/* Seconds without trailing zeros: "0.0005", "10". */
static void print_seconds(char *text, size_t size, uint64_t ns)
{
	int len = snprintf(text, size, "%" PRIu64 ".%09" PRIu64, ns / SECOND, ns % SECOND);

	while (len > 1 && text[len - 1] == '0')
		text[--len] = 0;
	if (text[len - 1] == '.')
		text[len - 1] = 0;
}

static void put_time(FILE *f, uint64_t ns)
{
	char text[40];

	print_seconds(text, sizeof(text), ns);
	fprintf(f, "%s\n", text);
}

void prometheus_number(const struct prometheus *p, prometheus_labels labels, uint64_t value)
{
	prometheus_put_series(p, "", labels, NULL);
	prometheus_put_number(p->f, value);
}

void prometheus_time(const struct prometheus *p, prometheus_labels labels, uint64_t ns)
{
	prometheus_put_series(p, "", labels, NULL);
	put_time(p->f, ns);
}

void prometheus_histogram(const struct prometheus *p, prometheus_labels labels,
                          const struct event_histogram *h)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < EVENT_COUNTS_BOUNDS; i++) {
		char bound[40];

		print_seconds(bound, sizeof(bound), event_counts_bounds[i]);
		sum += h->buckets[i];
		prometheus_put_series(p, "_bucket", labels, bound);
		prometheus_put_number(p->f, sum);
	}
	prometheus_put_series(p, "_bucket", labels, "+Inf");
	prometheus_put_number(p->f, h->n);
	prometheus_put_series(p, "_sum", labels, NULL);
	put_time(p->f, h->sum_ns);
	prometheus_put_series(p, "_count", labels, NULL);
	prometheus_put_number(p->f, h->n);
}
