#include "commands/shell/invocation.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "commands/shell/short_form.h"
#include "debugger/base/file.h"

/* Whether the command has all its arguments, so that a further word is none of them. */
static bool invocation_is_full(const struct command *const *table, const struct words *command)
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

	if (command->n && !(is_path && invocation_is_full(table, command)))
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

/* The type of an ELF file (e_type); ET_NONE where it is none, or cannot be read. */
static unsigned elf_type(const char *path)
{
	int fd CLEANUP(file_close) = file_open_regular(path);
	Elf64_Ehdr header = { 0 };

	if (fd < 0 || pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return ET_NONE;
	return header.e_type;
}

struct error *invocation_check(const struct named *named)
{
	const char *file = named->exe;

	if (!file || named->pid || named->core)
		return NULL;
	if (access(file, F_OK) != 0)
		return error_new(ERR_USAGE, "%s: %s", file, strerror(errno));
	if (elf_type(file) == ET_CORE)
		return error_new(
			ERR_USAGE,
			"%s is a core: open it with \"asyncdbg -c %s\", or with \"asyncdbg EXE "
			"%s\" to use another executable than the one it names",
			file, file, file);
	return error_new(
		ERR_USAGE,
		"what to do with %s? \"asyncdbg run -- %s\" starts and debugs it; \"asyncdbg -p "
		"PID\" looks at a process, \"asyncdbg -p PID attach\" debugs it; \"asyncdbg %s "
		"CORE\" opens its core, \"asyncdbg -c FILE\" a core or snapshot alone",
		file, file, file);
}
