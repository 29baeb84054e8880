/* check: finds problems of a program, for health probes and CI. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "commands/ask/ask.h"
#include "commands/base/interval.h"
#include "debugger/base/str.h"
#include "runtimes/analysis/checks.h"
#include "runtimes/inspect/inspect.h"

#define DEFAULT_INTERVAL 1.0 /* seconds */

static const struct check *check_named(const char *name, size_t len)
{
	for (const struct check *c = checks_table; c->name; c++) {
		if (strlen(c->name) == len && memcmp(c->name, name, len) == 0)
			return c;
	}
	return NULL;
}

/* Reads the next name of a comma-separated list, without blanks around it; false at the end. */
static bool next_name(const char **list, const char **name, size_t *len)
{
	if (!*list)
		return false;
	size_t all = strcspn(*list, ",");

	*name = *list + strspn(*list, " ");
	*len = all > (size_t)(*name - *list) ? all - (size_t)(*name - *list) : 0;
	while (*len && (*name)[*len - 1] == ' ')
		--*len;
	*list = (*list)[all] ? *list + all + 1 : NULL;
	return true;
}

/* Removes ":possible" from the end of a name; returns whether it was there. */
static bool take_possible(const char *name, size_t *len)
{
	static const char end[] = ":possible";
	size_t n = sizeof(end) - 1;

	if (*len < n || memcmp(name + *len - n, end, n) != 0)
		return false;
	*len -= n;
	return true;
}

/* Whether the list has the finding: NAME matches certain findings, NAME:possible all. */
static bool is_listed(const char *list, const struct finding *f)
{
	const char *p;
	size_t len;

	while (next_name(&list, &p, &len)) {
		bool possible = take_possible(p, &len);

		if (strlen(f->check) == len && memcmp(p, f->check, len) == 0 &&
		    (possible || !f->possible))
			return true;
	}
	return false;
}

static struct error *check_list(const char *list)
{
	const char *name;
	size_t len;
	STR(known);

	while (next_name(&list, &name, &len)) {
		size_t all = len;
		bool possible = take_possible(name, &len);
		const struct check *check = check_named(name, len);

		if (check && possible && !check->may_be_unsure)
			return error_new(ERR_USAGE,
			                 "\"%.*s\": what that check finds is never only possible; "
			                 "say %s",
			                 (int)all, name, check->name);
		if (check)
			continue;
		for (const struct check *c = checks_table; c->name; c++)
			str_printf(&known, "%s%s", known.len ? ", " : "", c->name);
		return error_new(ERR_USAGE, "\"%.*s\" is no check; there are %s", (int)all, name,
		                 str_text(&known));
	}
	return NULL;
}

static struct error *read_interval(const char *text, double *ret)
{
	*ret = DEFAULT_INTERVAL;
	return text ? interval_read(text, ret) : NULL;
}

static struct error *check_check(const struct call *call)
{
	const char *list = option_value(call, "fail-on");
	double interval;

	if (list)
		TRY(check_list(list));
	return read_interval(option_value(call, "interval"), &interval);
}

/* Takes a second snapshot of a live process and keeps what the workers did in the first. */
static struct error *look_again(struct session *s, struct answer *answer, struct checks *c)
{
	if (asyncdbg_kind(s->handle) != ASYNCDBG_LIVE || c->interval == 0)
		return NULL;
	c->before = checks_look(c->a, answer->snapshot, &c->nbefore);
	TRY(interval_wait(c->interval));

	/* Unpin: under --exec the second snapshot must be a new one, too. */
	bool pinned = asyncdbg_pin(s->handle, false);
	struct error *err = session_snapshot(s, answer->wants, NULL, &answer->snapshot);
	asyncdbg_pin(s->handle, pinned);
	c->two_looks = !err;
	return err;
}

/* Whether a finding makes the exit code 3. Without a list, certain errors do. */
static bool fails(const struct finding *f, const char *list)
{
	return list ? is_listed(list, f) : f->severity == SEVERITY_ERROR && !f->possible;
}

static void put_worst_first(struct checks *c, struct finding *sorted)
{
	size_t n = 0;

	for (int severity = SEVERITY_ERROR; severity >= SEVERITY_INFO; severity--) {
		for (size_t i = 0; i < c->found.n; i++) {
			if ((int)c->found.data[i].severity == severity)
				sorted[n++] = c->found.data[i];
		}
	}
}

static void free_checks(struct checks *c)
{
	vec_free(&c->found);
	vec_free(&c->skipped);
}

static struct error *run_check(struct session *s, const struct answer *answer,
                               const struct call *call, struct out *out)
{
	const char *list = option_value(call, "fail-on");
	struct answer last = *answer;
	struct checks c CLEANUP(free_checks) = { .a = &s->answer };

	TRY(read_interval(option_value(call, "interval"), &c.interval));
	TRY(snapshot_check_understood(last.snapshot));
	TRY(look_again(s, &last, &c));
	TRY(snapshot_check_understood(last.snapshot));
	c.s = last.snapshot;
	c.v = session_verdicts(s, last.snapshot);
	out_begin(out, &last);
	for (const struct check *row = checks_table; row->name; row++) {
		TRY(out_check(out));
		row->run(&c, row);
	}

	struct finding *sorted = NEW_ARRAY(c.a, struct finding, c.found.n + 1);
	put_worst_first(&c, sorted);
	for (size_t i = 0; i < c.found.n; i++)
		s->finding |= fails(&sorted[i], list) ? STATUS_FOUND : 0;
	const char *const *skipped =
		arena_memdup(c.a, c.skipped.data, c.skipped.n * sizeof(*c.skipped.data));
	out->ops->findings(out, sorted, c.found.n, skipped, c.skipped.n);
	return NULL;
}

static const struct command_option check_options[] = {
	{ "fail-on", "LIST", false,
	  "Exit with 3 when one of these checks, with commas between, finds anything; NAME counts "
	  "what is certain, NAME:possible what is only possible, too" },
	{ "interval", "TIME", false,
	  "Time between two looks at a live process, 1s by default; 0: one look" },
	{ 0 },
};

const struct command check_command = {
	.name = "check",
	.options = check_options,
	.check = check_check,
	.summary = "What is wrong: deadlocks, blocked workers, starved queues and more",
	.help = "    Checks: deadlock, futurelock, no-waker, blocked-worker, long-poll,\n"
		"    starved-queue, panicked-task, closed-channel-wait, huge-future, "
		"many-identical.\n"
		"    Each finding has a severity and the command that shows more. The exit code "
		"is\n"
		"    3 when an error is found, or, with --fail-on, anything of the checks listed "
		"that\n"
		"    is certain. What is only possible counts for NAME:possible, as in\n"
		"    --fail-on deadlock:possible. That can be said of deadlock, futurelock, "
		"no-waker,\n"
		"    long-poll and closed-channel-wait.",
	.wants = WANT_TASKS | WANT_RUNNING | WANT_HOLDINGS,
	.run = run_check,
};
