#include "commands/shell/invocation.h"

#include <limits.h>
#include <string.h>

#include "commands/shell/short_form.h"

/* Whether the command has all its arguments, so that a further word is none of them. */
static bool is_full(const struct command *const *table, const struct words *command)
{
	SCRATCH(tmp);
	struct call call;
	struct error *err CLEANUP(error_freep) = command_find(&tmp, table, command, &call);

	return !err && call.args.n == call.command->max_args;
}

static bool take_pid(const char *word, pid_t *ret)
{
	uint64_t pid;
	struct error *err CLEANUP(error_freep) = words_number(word, "", INT_MAX, &pid);

	if (err || pid == 0)
		return false;
	*ret = (pid_t)pid;
	return true;
}

bool invocation_takes(const struct command *const *table, const struct words *command,
                      const char *word, struct named *named)
{
	bool is_path = strchr(word, '/') && !short_form_format(word);
	bool has_target = named->pid || named->core;

	if (command->n && !(is_path && is_full(table, command)))
		return false;
	if (!command->n && !has_target && !named->exe && take_pid(word, &named->pid))
		return true;
	if (is_path && !named->exe && !named->exe_is_taken) {
		named->exe = word;
		return true;
	}
	if (named->exe && !has_target && (is_path || !command_begins_with(table, word))) {
		named->core = word;
		return true;
	}
	return false;
}

struct error *invocation_check(const struct named *named)
{
	if (!named->exe || named->pid || named->core)
		return NULL;
	return error_new(ERR_USAGE,
	                 "an executable needs its core: asyncdbg %s CORE; asyncdbg run -- %s "
	                 "starts it; a core or snapshot alone is -c CORE, a process -p PID",
	                 named->exe, named->exe);
}
