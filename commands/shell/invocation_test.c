/* Tests of the words of the command line. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "commands/shell/invocation.h"
#include "debugger/base/str.h"

/*
 * Checks how the words of a line are parsed: "pid N" or "exe E core C", then the words of the
 * command.
 */
static void assert_means(const char *line, struct named named, const char *expected)
{
	SCRATCH(tmp);
	struct words *commands, command;
	size_t n;
	STR(got);

	assert_null(words_split(&tmp, line, &commands, &n));
	assert_int_equal(n, 1);
	command = (struct words){ NEW_ARRAY(&tmp, const char *, commands[0].n + 1), 0 };
	for (size_t i = 0; i < commands[0].n; i++) {
		const char *word = commands[0].word[i];

		if (!invocation_takes(command_table, &command, word, &named))
			command.word[command.n++] = word;
	}
	if (named.pid)
		str_printf(&got, "pid %d ", (int)named.pid);
	if (named.exe)
		str_printf(&got, "exe %s ", named.exe);
	if (named.core)
		str_printf(&got, "core %s ", named.core);
	for (size_t i = 0; i < command.n; i++)
		str_printf(&got, "%s%s", i ? " " : ": ", command.word[i]);
	assert_string_equal(str_text(&got), expected);
}

static const struct named nobody, of_core = { .core = "CORE" }, of_process = { .pid = 7 };

static void words_name_the_target(void **state)
{
	(void)state;
	assert_means("12", nobody, "pid 12 ");
	assert_means("12 async bt all", nobody, "pid 12 : async bt all");
	assert_means("./app ./core.1", nobody, "exe ./app core ./core.1 ");
	assert_means("./app core.1 tasks", nobody, "exe ./app core core.1 : tasks");
	assert_means("/bin/app tasks", of_core, "exe /bin/app core CORE : tasks");
	assert_means("tasks /bin/app", of_core, "exe /bin/app core CORE : tasks");
	assert_means("async bt all /bin/app", of_core, "exe /bin/app core CORE : async bt all");
	assert_means("async task 3 /bin/app", of_core, "exe /bin/app core CORE : async task 3");
	assert_means("./app", of_process, "pid 7 exe ./app ");
	assert_means("./x/8xb", of_process, "pid 7 exe ./x/8xb ");
	assert_means("x/8xb 0x10", of_process, "pid 7 : x/8xb 0x10");
	assert_means("disas/s main", of_process, "pid 7 : disas/s main");
	assert_means("./app disassemble /s main", nobody, "exe ./app : disassemble /s main");
}

/* Arguments of a command stay with it; a command or a prefix of one is never the target. */
static void commands_keep_their_words(void **state)
{
	(void)state;
	assert_means("task 12", nobody, ": task 12");
	assert_means("12", of_core, "core CORE : 12");
	assert_means("0", nobody, ": 0");
	assert_means("save a/b", of_core, "core CORE : save a/b");
	assert_means("save a/b /bin/app", of_core, "exe /bin/app core CORE : save a/b");
	assert_means("diff a/b c/d", nobody, ": diff a/b c/d");
	assert_means("layout target/app", nobody, ": layout target/app");
	assert_means("./app check", nobody, "exe ./app : check");
	assert_means("./app as", nobody, "exe ./app : as");
	assert_means("./app th", nobody, "exe ./app : th");
	assert_means("./app l", nobody, "exe ./app : l");
	assert_means("app core", nobody, ": app core");
	assert_means("async /bin/app", nobody, ": async /bin/app");
}

static void assert_refused(const char *exe, const char *text)
{
	struct named named = { .exe = exe };
	struct error *err CLEANUP(error_freep) = invocation_check(&named);

	assert_non_null(err);
	assert_int_equal(err->kind, ERR_USAGE);
	if (!strstr(err->message, text))
		fail_msg("\"%s\" has no \"%s\"", err->message, text);
}

/* The beginning of an ELF file of that type, which the caller removes. */
static void write_elf(char *path, uint16_t type)
{
	Elf64_Ehdr header = { .e_ident = ELFMAG, .e_type = type };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, &header, sizeof(header)), sizeof(header));
	close(fd);
}

static void an_executable_alone_is_refused_with_advice(void **state)
{
	char exe[] = "/tmp/invocation_test.XXXXXX", core[] = "/tmp/invocation_test.XXXXXX";
	struct named named = { .exe = exe, .pid = 7 };
	SCRATCH(a);

	(void)state;
	write_elf(exe, ET_DYN);
	write_elf(core, ET_CORE);
	assert_refused(exe, arena_printf(&a, "\"asyncdbg run -- %s\"", exe));
	assert_refused(exe, "\"asyncdbg -p PID\"");
	assert_refused(exe, "attach\" debugs it");
	assert_refused(exe, arena_printf(&a, "\"asyncdbg %s CORE\"", exe));
	assert_refused(core, arena_printf(&a, "\"asyncdbg -c %s\"", core));
	assert_null(invocation_check(&named));
	unlink(exe);
	unlink(core);
	assert_refused(exe, "No such file");
	assert_null(invocation_check(&nobody));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_name_the_target),
		cmocka_unit_test(commands_keep_their_words),
		cmocka_unit_test(an_executable_alone_is_refused_with_advice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
