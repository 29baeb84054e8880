#include "commands/incident/by_name.h"

#include <regex.h>
#include <string.h>
#include <unistd.h>

#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "debugger/host/unit_cgroup.h"
#include "runtimes/executor_detect/async_processes.h"

enum { MAX_LISTED = 20, MAX_COMMAND = 80 };

typedef VEC(const struct process *) process_vec;

/* The option that chooses a process, --name or --unit. */
struct by_name_wanted {
	const regex_t *regex; /* of --name; NULL: unit is given */
	const char *unit;
	const char *none, *several; /* words behind "no process" and "N processes", for messages */
};

typedef bool matches_fn(const struct by_name_wanted *w, const struct process *p);

static bool has_name(const struct by_name_wanted *w, const struct process *p)
{
	return regexec(w->regex, p->name, 0, NULL, 0) == 0 ||
	       (p->exe && regexec(w->regex, str_base_name(p->exe), 0, NULL, 0) == 0);
}

static bool has_command(const struct by_name_wanted *w, const struct process *p)
{
	return regexec(w->regex, p->command, 0, NULL, 0) == 0;
}

/* No other process has got its pid meanwhile. */
static bool is_of_unit(const struct by_name_wanted *w, const struct process *p)
{
	return unit_cgroup_has_process(w->unit, p->pid) && process_is_there(p);
}

/* This process, or one that it descends from, such as sudo: its command line has the pattern. */
static bool is_own(const struct process_list *list, const struct process *p)
{
	const struct process *own = process_list_find(list, getpid());

	for (size_t i = 0; own && i < list->n; i++) {
		if (own == p)
			return true;
		own = process_list_find(list, own->parent);
	}
	return false;
}

static void select_all(const struct process_list *list, const struct by_name_wanted *w,
                       matches_fn *matches, process_vec *ret)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct process *p = &list->data[i];

		if (!p->zombie && matches(w, p) && !is_own(list, p))
			*vec_push(ret) = p;
	}
}

/* Keeps those with an executor, if there are any. */
static void keep_async(const struct async_processes *async, process_vec *found)
{
	process_vec kept = { 0 };

	for (size_t i = 0; i < found->n; i++) {
		for (size_t j = 0; j < async->n; j++) {
			if (async->data[j].process == found->data[i])
				*vec_push(&kept) = found->data[i];
		}
	}
	if (!kept.n)
		return;
	vec_free(found);
	*found = kept;
}

static struct error *by_name_several(const struct by_name_wanted *w, const process_vec *found)
{
	STR(text);

	str_printf(&text, "%zu processes %s; choose one with -p PID:", found->n, w->several);
	for (size_t i = 0; i < found->n && i < MAX_LISTED; i++) {
		const struct process *p = found->data[i];

		str_printf(&text, "%s %d (%s)", i ? "," : "", (int)p->pid, p->name);
		if (*p->command)
			str_printf(&text, " %.*s", MAX_COMMAND, p->command);
	}
	if (found->n > MAX_LISTED)
		str_printf(&text, " and %zu more", found->n - MAX_LISTED);
	return error_new(ERR_USAGE, "%s", str_text(&text));
}

static struct error *by_name_choose(const struct by_name_wanted *w,
                                    const struct async_processes *async, process_vec *found,
                                    pid_t *ret)
{
	select_all(&async->all, w, w->regex ? has_name : is_of_unit, found);
	if (!found->n && w->regex)
		select_all(&async->all, w, has_command, found);
	if (found->n > 1)
		keep_async(async, found);
	if (!found->n)
		return error_new(ERR_USAGE, "no process %s; \"asyncdbg ps\" lists the async ones",
		                 w->none);
	if (found->n > 1)
		return by_name_several(w, found);
	*ret = found->data[0]->pid;
	return NULL;
}

static struct error *by_name_find_process(const struct by_name_wanted *w,
                                          const struct asyncdbg_options *options, pid_t *ret)
{
	SCRATCH(tmp);
	struct async_processes_options list_options = { .closed = true, .session = *options };
	struct async_processes async;
	process_vec found = { 0 };

	struct error *err = async_processes_read(&tmp, &list_options, &async);
	if (!err)
		err = by_name_choose(w, &async, &found, ret);
	vec_free(&found);
	return err;
}

struct error *by_name_find(const char *pattern, const struct asyncdbg_options *options, pid_t *ret)
{
	SCRATCH(tmp);
	struct by_name_wanted w = { .none = arena_printf(&tmp, "matches \"%s\"", pattern),
		                    .several = arena_printf(&tmp, "match \"%s\"", pattern) };
	regex_t regex;
	char why[128];
	int failed = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);

	if (failed) {
		regerror(failed, &regex, why, sizeof(why));
		return error_new(ERR_USAGE, "--name \"%s\": %s", pattern, why);
	}
	w.regex = &regex;
	struct error *err = by_name_find_process(&w, options, ret);
	regfree(&regex);
	return err;
}

struct error *by_name_find_unit(const char *unit, const struct asyncdbg_options *options,
                                pid_t *ret)
{
	SCRATCH(tmp);
	const struct by_name_wanted w = {
		.unit = unit,
		.none = arena_printf(&tmp, "belongs to the unit \"%s\"", unit),
		.several = arena_printf(&tmp, "belong to the unit \"%s\"", unit)
	};

	return by_name_find_process(&w, options, ret);
}
