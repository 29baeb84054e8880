#include "commands/incident/by_name.h"

#include <regex.h>
#include <string.h>
#include <unistd.h>

#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "runtimes/survey/async_processes.h"

enum { MAX_LISTED = 20, MAX_COMMAND = 80 };

typedef VEC(const struct process *) process_vec;

static bool has_name(const regex_t *regex, const struct process *p)
{
	return regexec(regex, p->name, 0, NULL, 0) == 0 ||
	       (p->exe && regexec(regex, str_base_name(p->exe), 0, NULL, 0) == 0);
}

static bool has_command(const regex_t *regex, const struct process *p)
{
	return regexec(regex, p->command, 0, NULL, 0) == 0;
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

static void select_all(const struct process_list *list, const regex_t *regex,
                       bool (*matches)(const regex_t *regex, const struct process *p),
                       process_vec *ret)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct process *p = &list->data[i];

		if (!p->zombie && matches(regex, p) && !is_own(list, p))
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

static struct error *several(const char *pattern, const process_vec *found)
{
	STR(text);

	str_printf(&text, "%zu processes match \"%s\"; choose one with -p PID:", found->n, pattern);
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

static struct error *choose(const char *pattern, const struct async_processes *async,
                            const regex_t *regex, process_vec *found, pid_t *ret)
{
	select_all(&async->all, regex, has_name, found);
	if (!found->n)
		select_all(&async->all, regex, has_command, found);
	if (found->n > 1)
		keep_async(async, found);
	if (!found->n)
		return error_new(ERR_USAGE,
		                 "no process matches \"%s\"; \"asyncdbg ps\" lists the async ones",
		                 pattern);
	if (found->n > 1)
		return several(pattern, found);
	*ret = found->data[0]->pid;
	return NULL;
}

struct error *by_name_find(const char *pattern, const struct asyncdbg_options *options, pid_t *ret)
{
	SCRATCH(tmp);
	struct async_processes_options list_options = { .closed = true, .session = *options };
	struct async_processes async;
	process_vec found = { 0 };
	regex_t regex;
	char why[128];
	int failed = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);

	if (failed) {
		regerror(failed, &regex, why, sizeof(why));
		return error_new(ERR_USAGE, "--name \"%s\": %s", pattern, why);
	}
	struct error *err = async_processes_read(&tmp, &list_options, &async);
	if (!err)
		err = choose(pattern, &async, &regex, &found, ret);
	vec_free(&found);
	regfree(&regex);
	return err;
}
